"""Convert array values to Python values without importing numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAX_DEPTH: Final = 200
_ELEMENTS: Final = "value"  # elements of a constant tensor
_PLAIN_TYPES: Final = frozenset({int, float, str, bool, bytes, type(None)})


def is_array_value(value: object) -> bool:
    """Return whether a value is an array or an array scalar.

    numpy, ml_dtypes, torch and others are recognized by two members.
    """
    return value.__class__ not in _PLAIN_TYPES and hasattr(value, "dtype") and hasattr(value, "tolist")


def python_values(value: Any) -> Any:
    """Return `value` with arrays as lists and array scalars as numbers.

    A value without arrays is returned unchanged.
    """
    return _convert_value(value, {}, _MAX_DEPTH)


def _convert_value(value: Any, converted: dict[int, Any], depth: int) -> Any:
    """Return one converted value.

    converted: converted objects by identity, because a value may occur repeatedly or contain itself.
    """
    if value.__class__ in _PLAIN_TYPES or depth == 0:
        return value
    if is_array_value(value):
        return value.tolist()
    is_dict = isinstance(value, dict)
    if not is_dict and value.__class__ not in {list, tuple}:
        return value
    if id(value) in converted:
        return converted[id(value)]
    converted[id(value)] = value
    if is_dict:
        new_items = {key: _convert_value(item, converted, depth - 1) for key, item in value.items()}
        is_unchanged = all(new_items[key] is item for key, item in value.items())
        converted[id(value)] = value if is_unchanged else new_items
    else:
        items = [_convert_value(item, converted, depth - 1) for item in value]
        is_unchanged = all(new is old for new, old in zip(items, value, strict=True))
        converted[id(value)] = value if is_unchanged else value.__class__(items)
    return converted[id(value)]


def without_arrays(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a descriptor without arrays.

    Fields without arrays are returned unchanged. Elements of constants are not converted, because they may be many and
    are never compared.
    """
    if not any(map(_holds_array, fields.values())):
        return fields
    return {name: _convert(value) for name, value in fields.items()}


def _holds_array(value: Any) -> bool:
    if value.__class__ in _PLAIN_TYPES:
        return False
    if names := getattr(value, "_fields", None):  # a tensor or a record
        return any(_holds_array(part) for name, part in zip(names, value, strict=True) if name != _ELEMENTS)
    if value.__class__ is list or value.__class__ is tuple:
        return any(item.__class__ not in _PLAIN_TYPES and _holds_array(item) for item in value)
    return is_array_value(value)


def _convert(value: Any) -> Any:
    if names := getattr(value, "_fields", None):
        parts = (part if name == _ELEMENTS else python_values(part) for name, part in zip(names, value, strict=True))
        make: Callable[..., Any] = value.__class__
        return make(*(tuple(part) if isinstance(part, list) else part for part in parts))
    if value.__class__ is list or value.__class__ is tuple:
        return value.__class__(map(_convert, value))
    return python_values(value)
