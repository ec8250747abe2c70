"""The entries of spec files as the compiled tables have them, for type checkers only.

`model.py`, `model_rows.py` and `dialect_model.py` say what a file may have and what it means; a test holds these
against them.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

__all__ = [
    "Counterexample", "DialectEntry", "EnvironmentEntry", "Example", "ImplementationEntry", "LevelEntry",
    "ObservedEntry", "Recipe", "ReplacedByEntry", "SourceEntry", "TypeEntry", "UnstatedEntry", "ValuesEntry",
]  # fmt: skip


class SourceEntry(TypedDict, total=False):
    """Where facts are from."""

    name: str
    page: str
    repository: str
    path: str
    commit: str
    package: str
    version: str
    measured: str
    note: str


class Example(TypedDict):
    """A use of the operator."""

    source: str
    since: NotRequired[str]
    until: NotRequired[str]
    descriptor: dict[str, Any]
    inputs: NotRequired[dict[str, Any]]
    outputs: NotRequired[dict[str, Any]]


class Counterexample(TypedDict):
    """An example with a change."""

    of: str
    operator: NotRequired[str]
    at: NotRequired[str]
    set: dict[str, Any]


class ValuesEntry(TypedDict):
    """A difference in what is computed."""

    what: str
    when: NotRequired[str]
    elements: NotRequired[str]
    arguments: NotRequired[dict[str, Any]]
    kernel: NotRequired[str]
    fields: NotRequired[dict[str, str | None]]
    types: NotRequired[dict[str, str]]
    conversion: NotRequired[str]
    all_builds: NotRequired[bool]


class ObservedEntry(TypedDict):
    """Where builds differ from the page."""

    builds: list[str] | str
    by: NotRequired[str]
    support: NotRequired[dict[str, dict[str, Any]]]
    not_enforced: NotRequired[list[str]]
    attributes: NotRequired[list[str]]
    rules: NotRequired[dict[str, Any]]
    values: NotRequired[dict[str, ValuesEntry]]
    nondeterministic: NotRequired[list[str]]
    partially_enforced: NotRequired[list[str]]
    tools_write: NotRequired[list[str]]
    evidence: str
    bug: NotRequired[bool]


class ReplacedByEntry(TypedDict):
    """An operator that computes the same where one was removed."""

    operator: str
    inputs: dict[str, str]
    attributes: NotRequired[dict[str, Any]]
    empty: NotRequired[list[str]]
    evidence: str


class Recipe(TypedDict):
    """How the operator is computed; the constants of a level stand beside these under its name."""

    kernel: str
    arrays: dict[str, str | list[str]]
    arguments: NotRequired[dict[str, str]]
    output_type: NotRequired[dict[str, str | list[str]]]
    outputs: list[str | list[str]]
    sized_by_values: NotRequired[list[str]]
    since: NotRequired[str]
    unsupported_types: NotRequired[dict[str, list[str]]]


class ImplementationEntry(TypedDict):
    """A program that is asked."""

    what: str
    ignores: NotRequired[list[str]]
    infers_outputs: NotRequired[bool]
    reads_text: NotRequired[bool]
    title: NotRequired[str | None]
    target: NotRequired[str | None]
    releases: NotRequired[list[str]]


class DialectEntry(TypedDict):
    """A dialect as a whole."""

    dialect: str
    title: str
    level: str
    level_name: NotRequired[str]
    unstated_outputs: bool
    sources: NotRequired[list[SourceEntry]]
    implementations: NotRequired[dict[str, ImplementationEntry]]
    type_variables: NotRequired[bool]
    builds_ignore_attributes: NotRequired[bool]
    rows_are_versions: NotRequired[bool]
    domains: NotRequired[list[str]]
    foreign: NotRequired[dict[str, str]]
    stand_ins: NotRequired[dict[str, str]]
    complete: NotRequired[bool]
    loose: NotRequired[list[str]]
    short_names: NotRequired[list[str]]


class LevelEntry(TypedDict, total=False):
    """A level; dialects record more of it, such as its release or whether it is unfinished."""

    limits: dict[str, int]
    domains: dict[str, str]
    asked: bool
    ir_version: int
    release: str
    target_version: str
    unfinished: bool
    carries: list[str]
    version: str


class TypeEntry(TypedDict, total=False):
    """An element type; of a word that is none it is asked too, and is empty then."""

    value: int | None
    bits: int | None
    numpy: str | None
    ml_dtypes: str
    since: str
    release: str | None
    capability: list[dict[str, Any]]
    tensor: str
    ir_version: int
    ir: str


class EnvironmentEntry(TypedDict):
    """A release that users know."""

    name: str
    title: str
    kind: str
    level: str
    ir_version: NotRequired[int]
    via: str | None
    source: str


class UnstatedEntry(TypedDict):
    """Releases of an unknown level."""

    instead: str
    releases: dict[str, str]
