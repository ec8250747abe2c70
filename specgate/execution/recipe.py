"""Which fields an operator's `execute` entry means at a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.errors import NoKernel

if TYPE_CHECKING:
    import numpy as np

    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.table_types import Recipe

__all__ = ["array_fields", "carrier_of", "output_fields", "recipe_of"]


def recipe_of(spec: OperatorSpec) -> Recipe:
    """Return how an operator is computed; raise NoKernel where the table names no kernel."""
    recipe = spec.table.recipe
    if recipe is None:
        raise NoKernel(f"{spec.dialect.name} {spec.name} has no kernel yet")
    return recipe


def carrier_of(spec: OperatorSpec, field: str, kind: str) -> np.dtype[Any]:
    """Return the numpy type of the arrays that an input's elements of type `kind` come in; raise NoKernel for none."""
    import numpy as np

    from specgate.execution.types import numpy_type

    recipe = spec.table.recipe
    word = recipe.get("carried", {}).get(field, {}).get(kind) if recipe is not None else None
    return numpy_type(spec.dialect, kind) if word is None else np.dtype(word)


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
