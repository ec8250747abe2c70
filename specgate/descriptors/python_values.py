"""Numbers and arrays of numpy and its kin as the Python values that descriptors hold; nothing is imported for it."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["is_array_value", "python_values"]

_MAX_DEPTH: Final = 200
_PLAIN: Final = frozenset({int, float, str, bool, bytes, type(None)})


def is_array_value(value: object) -> bool:
    """Whether a value is an array or one of its scalars: numpy, ml_dtypes, torch and others have these two members."""
    return value.__class__ not in _PLAIN and hasattr(value, "dtype") and hasattr(value, "tolist")


def python_values(value: Any, depth: int = _MAX_DEPTH) -> Any:
    """Return `value` with array scalars as Python numbers and arrays as lists; the same object where it has none."""
    if value.__class__ in _PLAIN or depth == 0:
        return value
    if is_array_value(value):
        return value.tolist()
    if isinstance(value, dict):
        changed = {key: python_values(item, depth - 1) for key, item in value.items()}
        return value if all(changed[key] is item for key, item in value.items()) else changed
    if value.__class__ in {list, tuple}:
        items = [python_values(item, depth - 1) for item in value]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else value.__class__(items)
    return value
