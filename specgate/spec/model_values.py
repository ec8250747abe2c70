"""What spec files may say of values that builds compute instead of the page's: a pydantic model."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from specgate.spec.model_rows import Expression, Name  # noqa: TC001 (pydantic reads them)

__all__ = ["OtherValues", "is_constant"]


def is_constant(value: Any) -> bool:
    """Return whether a kernel argument is a constant, or ``{expression: TEXT}``."""
    return isinstance(value, str | int | bool | float) or (isinstance(value, dict) and list(value) == ["expression"])


class OtherValues(BaseModel):
    """A difference in what is computed, not in what is accepted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    what: str = Field(description="what is computed instead of what the page says, in our words")
    when: Expression | None = Field(default=None, description="only descriptors for which this holds may differ")
    elements: Expression | None = Field(
        default=None,
        description="only elements for which this holds may differ: a tensor's name is the element of it at the same "
        "place, and `ours` and `theirs` are the results there",
    )
    arguments: dict[Name, Any] = Field(
        default={},
        description="kernel argument -> constant, or expression: …, with which the kernel computes this where the "
        "values of builds are asked for",
    )
    kernel: Name | None = Field(
        default=None,
        description="kernel that computes this instead of the operator's; it gets the same arrays and arguments",
    )
    fields: dict[Name, Expression | None] = Field(
        default={},
        description="attribute -> expression for the value that builds compute with instead of the stated one; null: "
        "as if it were left out",
    )
    types: dict[Name, Name] = Field(
        default={},
        description="type variable or field -> element type that builds compute in; inputs are converted to it, and "
        "results back to their own types",
    )
    conversion: Literal["round", "cut"] = Field(
        default="round",
        description="how results of `types` become integers: the nearest one, or without the fraction; what the type "
        "does not hold becomes its least or greatest value",
    )
    all_builds: bool = Field(
        default=False,
        description="every build of these levels computes this, so values follow it by default, with a note; only "
        "basis documented gives the page's",
    )

    @property
    def computed(self) -> bool:
        """Whether the entry says how the executor computes this."""
        return bool(self.arguments or self.kernel or self.fields or self.types)

    @model_validator(mode="after")
    def _followed(self) -> OtherValues:
        if self.all_builds and not self.computed:
            raise ValueError(
                "expected arguments, kernel, fields or types: values follow all builds only where it says how"
            )
        return self

    @model_validator(mode="after")
    def _constants(self) -> OtherValues:
        if not all(map(is_constant, self.arguments.values())):
            raise ValueError("expected arguments to be constants, or expression: …")
        return self
