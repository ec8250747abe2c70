"""Which fields an operator's `execute` entry means at a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.errors import NoKernel

if TYPE_CHECKING:
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.table_types import Recipe

__all__ = ["array_fields", "output_fields", "recipe_of"]


def recipe_of(spec: OperatorSpec) -> Recipe:
    """Return how an operator is computed; raise NoKernel where the table names no kernel."""
    recipe = spec.table.recipe
    if recipe is None:
        raise NoKernel(f"{spec.dialect.name} {spec.name} has no kernel yet")
    return recipe


def array_fields(spec: OperatorSpec, level: str) -> dict[str, str]:
    """Return the tensor field whose array each argument of the kernel gets at `level`."""
    entries = recipe_of(spec)["arrays"].items()
    return {name: field for name, entry in entries if (field := _there(entry, spec, level)) is not None}


def output_fields(spec: OperatorSpec, level: str) -> list[str | None]:
    """Return the output field of each result of the kernel at `level`, None for those that the level lacks."""
    return [_there(entry, spec, level) for entry in recipe_of(spec)["outputs"]]


def _there(entry: Any, spec: OperatorSpec, level: str) -> str | None:
    fields: list[str] = entry if isinstance(entry, list) else [entry]
    return next((name for name in fields if spec.field_at(name, level) is not None), None)
