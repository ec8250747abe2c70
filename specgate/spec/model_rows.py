"""What a support row may say, and the names that all spec files use: pydantic models."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_serializer,
)

from specgate.rules.shorthand import FORMULA

__all__ = [
    "AttributeName", "Cell", "CellRule", "DefineKey", "Expression", "Implementation", "Level", "Name", "RequiredRule",
    "RuleName", "SetName", "Support", "ValueRule", "VariableRule",
]  # fmt: skip

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=120)]
AttributeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=120)]
RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=60)]
CellRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.(value|type|rank)$", max_length=130)]
VariableRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.same-type$", max_length=130)]
ValueRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.value$", max_length=130)]
RequiredRule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.required$", max_length=130)]
Implementation = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$", max_length=60)]
Level = Annotated[str, StringConstraints(min_length=1, max_length=20)]
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$", max_length=60)]
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"


def _define_key(value: str) -> str:
    if not re.fullmatch(_WORD, value) and not FORMULA.fullmatch(value):
        raise ValueError("expected a name (window), or one with parameters (window(i, n))")
    return value


#: ``window``, or ``window(i)`` for a define with parameters.
DefineKey = Annotated[
    str,
    StringConstraints(max_length=120),
    AfterValidator(_define_key),
    WithJsonSchema({"type": "string", "pattern": rf"^({_WORD}|{FORMULA.pattern})$"}),
]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=2000)]

_RANGE = re.compile(r"-?[0-9]{1,19}\.\.(-?[0-9]{1,19})?")


def _ranks(value: int | str | list[int]) -> int | str | list[int]:
    if isinstance(value, str) and value != "any" and not _RANGE.fullmatch(value):
        raise ValueError('expected a rank (4), a range ("1..8", "1.."), a list ([4, 5]) or "any"')
    return value


def _range(value: str) -> str:
    if not _RANGE.fullmatch(value):
        raise ValueError('expected a range such as "0..3" or "1.."')
    return value


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Cell(_File):
    """What a support row allows for one field."""

    types: Annotated[list[str], Field(min_length=1)] | str | None = Field(
        default=None, description="type names and sets ($NAME of sets.yaml), one of them, a name of type_sets, or any"
    )
    ranks: Annotated[int | str | list[int], AfterValidator(_ranks)] | None = None
    values: Annotated[list[str | int], Field(min_length=1)] | None = None
    range: Annotated[str, AfterValidator(_range)] | None = None
    operators: list[str] | str | None = Field(
        default=None,
        description="what a field may hold that fuses operators, sets of them ($NAME of sets.yaml) among them; RELU is "
        "short for ACTIVATION_RELU",
    )

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep null, which takes away what the row before says."""
        taken = {name: None for name in type(self).model_fields if name in self.model_fields_set}
        return {**taken, **handler(self)}


class SupportRow(BaseModel):
    """What one level allows from there on: a cell per field, and the type sets that cells may name.

    A row says only what changes from the row before: it keeps all cells that it leaves out, and of a cell the parts
    that it leaves out. null takes away a cell, a part of one or a type set.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Cell | None] = Field(init=False)

    deprecated: bool = Field(default=False, description="the vendor withdrew this version: no level of the row has it")
    type_sets: dict[Name, list[str] | str | None] = Field(
        default={}, description="type variable -> types or a set ($NAME of sets.yaml), as in ONNX's schemas"
    )


class SupportCase(BaseModel):
    """The support rows of those descriptors for which a condition holds, by their levels."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, SupportRow] = Field(init=False)

    when: Expression = Field(description="whose rows these are; no two of an operator's cases may hold at once")


def _form_of_support(value: Any) -> str:
    return "cases" if isinstance(value, list) else "rows"


Support = Annotated[
    Annotated[dict[Level, SupportRow], Tag("rows")] | Annotated[list[SupportCase], Tag("cases")],
    Discriminator(_form_of_support),
]
