"""Values that are no tensors: a map is a dict to the user, and two arrays of one length to a kernel.

Sequences of maps are lists of dicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.types import as_array, numpy_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from specgate.spec.dialect_spec import Dialect

__all__ = ["ArrayMap", "array_map", "map_types", "plain"]


class ArrayMap(NamedTuple):
    """A map: its keys, and the value of each."""

    keys: NDArray[Any]
    values: NDArray[Any]


def map_types(dialect: Dialect, word: str | None) -> tuple[str, str] | None:
    """Return the element types of a map's keys and values, spelt ``map(int64, float)``; None of no map."""
    if word is None or word in dialect.types or not word.startswith("map(") or not dialect.knows_type(word):
        return None
    spelt = {str(info.get("tensor")): name for name, info in dialect.types.items()}
    parts = word.removeprefix("map(").removesuffix(")").split(", ", 1)
    key, value = (spelt.get(part) or spelt.get(f"tensor({part})") for part in parts)
    return (key, value) if key and value else None


def array_map(value: Any, word: str, dialect: Dialect, place: str) -> ArrayMap:
    """Return a dict as arrays of the types that `word` spells; raise InputError for another value."""
    types = map_types(dialect, word)
    if types is None:
        raise NoKernel(f"{word} has no kernel: it holds no map of numbers and texts")
    dtypes = [numpy_type(dialect, name) for name in types]
    if isinstance(value, ArrayMap):
        if [part.dtype for part in value] != dtypes:
            raise InputError(
                f"expected {word}, found a map of {value.keys.dtype} and {value.values.dtype}", place=place
            )
        return value
    if not isinstance(value, dict):
        raise InputError(f"expected a map ({word}) as a dict, found {type(value).__name__}", place=place)
    parts = (list(value), list(value.values()))
    for part, dtype in zip(parts, dtypes, strict=True):
        if any(isinstance(item, str) != (dtype == np.object_) for item in part):
            raise InputError(f"expected {word}, found another key or value", place=place)
    return ArrayMap(*(as_array(part, dtype, (len(value),), place) for part, dtype in zip(parts, dtypes, strict=True)))


def plain(value: Any) -> Any:
    """Return a map as a dict; anything else as it is."""
    return dict(zip(value.keys.tolist(), value.values.tolist(), strict=True)) if isinstance(value, ArrayMap) else value
