"""The schema of the configuration.

Only imported if there is a configuration, because it needs pydantic.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from specgate.errors import InputError
from specgate.linting.files import compile_pattern
from specgate.report.selection import FailOn  # noqa: TC001  # pydantic reads the annotations
from specgate.verdict import Basis, Severity  # noqa: TC001


def _non_blank(text: str) -> str:
    if not text.strip():
        raise PydanticKnownError("string_type")
    return text


def _pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except InputError as error:
        raise ValueError(error.message) from None
    return text


def _rule(text: str) -> str:
    if "**" in text:
        raise PydanticCustomError("any_segments", "expected a * for each segment")
    return text


def _parse_day(value: object) -> object:
    with suppress(ValueError):
        if isinstance(value, str) and str(day := date.fromisoformat(value)) == value:  # accepts week dates too
            return day
    return value


Text = Annotated[str, AfterValidator(_non_blank), Field(json_schema_extra={"pattern": r"\S"})]
Texts = Annotated[list[Text], Field(min_length=1)]
Pattern = Annotated[Text, AfterValidator(_pattern)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PathTable(_Table):
    """One ``[[paths]]`` entry."""

    match: Pattern = Field(description="a gitignore-style pattern of files")
    targets: Texts = Field(default=[], description="targets of these files")
    exclude: bool | None = Field(default=None, description="skip these files")

    @model_validator(mode="before")
    @classmethod
    def _mark_neither(cls, data: Any) -> Any:
        """Set targets to None in an entry without settings.

        TOML has no null, so validation then reports this mistake together with others.
        """
        lacks_both = isinstance(data, dict) and not {"targets", "exclude"} & data.keys()
        return {**data, "targets": None} if lacks_both else data


class IgnoreTable(_Table):
    """One ``[[ignore]]`` entry."""

    rule: Annotated[Text, AfterValidator(_rule)] = Field(description="a rule id, perhaps with * and ?")
    path: Pattern | None = Field(default=None, description="a gitignore-style pattern of files")
    node: Text | None = Field(default=None, description="a glob of node paths")
    target: Text | None = Field(default=None, description="a dialect's level or a release")
    reason: Text = Field(description="why the findings are ignored")
    until: Annotated[date | None, BeforeValidator(_parse_day)] = Field(
        default=None, description="last day on which the ignore applies"
    )


def _kind(entry: object) -> str | None:
    return "table" if isinstance(entry, dict) else "text" if isinstance(entry, str) and entry.strip() else None


_Ignored = Annotated[
    Annotated[IgnoreTable, Tag("table")] | Annotated[Text, Tag("text")],
    Discriminator(_kind, custom_error_type="entry_type", custom_error_message="expected a table or a text"),
]


class ConfigFile(_Table):
    """``specgate.toml``, or ``[tool.specgate]`` in ``pyproject.toml``."""

    targets: Texts = Field(default=[], description="targets of files: levels, releases or queries")
    basis: Basis = Field(
        default="both", description="documented: the vendor's pages; observed: real builds; both: what both accept"
    )
    baseline: Text | None = Field(default=None, description="file of known findings")
    format: Text | None = Field(default=None, description="report format")
    severity: Severity | None = Field(default=None, description="lowest severity to show")
    fail_on: FailOn | None = Field(default=None, description="lowest severity that makes the exit code 1")
    select: Texts = Field(default=[], description="report only these rules, by id or prefix")
    severities: dict[Text, Severity] = Field(default={}, description="severity of findings by rule id or prefix")
    statistics: bool = Field(default=False, description="report how many findings each rule has")
    custom_domains: Texts = Field(default=[], description="custom operator domains that the targets support")
    paths: list[PathTable] = Field(default=[], description="settings for some files; the last matching entry wins")
    ignore: list[_Ignored] = Field(default=[], description="findings to ignore, everywhere or in some files")
