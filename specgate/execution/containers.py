"""Values that are not arrays: sequences, optionals and maps.

A sequence is a list, an optional a `ArrayList`, a map a dict for users and an `ArrayMap` here. Types are spelled as in
operator schemas: ``seq(tensor(float))``, ``map(int64, float)``, ``optional(tensor(float))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.types import as_array, numpy_type
from specgate.spec.type_names import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from specgate.spec.dialect_spec import Dialect


@dataclass(frozen=True, slots=True, eq=False)
class ArrayList:
    """An optional value.

    `value` is an array, a sequence or a map; None if the optional is empty.
    """

    value: Any


class ArrayMap(NamedTuple):
    """A map as an array of keys and an array of their values."""

    keys: NDArray[Any]
    values: NDArray[Any]


def map_types(dialect: Dialect, word: str | None) -> tuple[str, str] | None:
    """Return the element types of a map's keys and values.

    For a type spelled ``map(int64, float)``; None for other types.
    """
    tree = None if word is None or word in dialect.types else parse_type(word)
    if tree is None or tree.word != "map" or len(tree.parts) != 2:
        return None
    key, value = (dialect.type_elements.get(part.element) for part in tree.parts)
    return (key, value) if key and value else None


def array_map(value: Any, word: str, dialect: Dialect, place: str) -> ArrayMap:
    """Return a dict as arrays of the map type `word`.

    Raises InputError for any other value.
    """
    types = map_types(dialect, word)
    if types is None:
        raise NoKernel(f"{word} has no kernel: only maps between numbers and strings are supported")
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


def is_container(dialect: Dialect, word: str | None) -> bool:
    """Return whether a type is a sequence, a map or an optional."""
    return word is not None and word not in dialect.types and dialect.knows_type(word)


def type_of(value: Any, dialect: Dialect, *, is_spelled_out: bool = False) -> str | None:
    """Return the type of a value, None if unknown, as for an empty sequence.

    is_spelled_out: write an array's type as ``tensor(float)``, not as ``FLOAT``.
    """
    if isinstance(value, np.ndarray):
        word = _element_type(value.dtype, dialect)
        return str(dialect.types[word]["tensor"]) if is_spelled_out and word in dialect.types else word
    if isinstance(value, list):
        return _wrap_type("seq", type_of(value[0], dialect, is_spelled_out=True)) if value else None
    if isinstance(value, ArrayList):
        return (
            None if value.value is None else _wrap_type("optional", type_of(value.value, dialect, is_spelled_out=True))
        )
    if isinstance(value, ArrayMap):
        key, text = (type_of(part, dialect, is_spelled_out=True) for part in value)
        return f"map({_bare(key)}, {_bare(text)})"
    if isinstance(value, dict) and value:
        key, item = next(iter(value.items()))
        text = type_of(np.asarray(item), dialect, is_spelled_out=True)
        inner = None if text is None else _bare(text)
        return _wrap_type(f"map({'string' if isinstance(key, str) else 'int64'},", inner)
    return None


def _bare(word: str | None) -> str:
    """Return ``float`` for ``tensor(float)``, the spelling inside map types."""
    return (word or "").removeprefix("tensor(").removesuffix(")")


def _wrap_type(word: str, inner: str | None) -> str | None:
    if inner is None:
        return None
    return f"{word} {inner})" if word.endswith(",") else f"{word}({inner})"


def _element_type(dtype: np.dtype[Any], dialect: Dialect) -> str:
    for name, info in dialect.types.items():
        if info["numpy"] is not None and dtype == info["numpy"]:
            return name
    return next((name for name, info in dialect.types.items() if info.get("ml_dtypes") == dtype.name), dtype.name)


_WORDS: Final = {"seq": "a list", "map": "a dict", "optional": "a value or None"}


def convert_container(value: Any, word: str, dialect: Dialect, place: str) -> Any:
    """Return `value` as one of the type `word`.

    Raises InputError for other values. Arrays in it must already have their type; a bare value becomes an optional that
    holds it.
    """
    tree = parse_type(word)
    if tree is None or tree.element or len(tree.parts) != dialect.tables.containers.get(tree.word):
        return _tensor(value, word, dialect, place)
    kind, inner = tree.word, str(tree.parts[-1])
    if kind == "optional":
        result = value.value if isinstance(value, ArrayList) else value
        return ArrayList(None if result is None else convert_container(result, inner, dialect, place))
    if kind == "seq" and isinstance(value, list | tuple):
        return [convert_container(item, inner, dialect, f"{place}[{index}]") for index, item in enumerate(value)]
    if kind == "map" and isinstance(value, dict | ArrayMap):
        return array_map(value, word, dialect, place)
    raise InputError(f"expected {_WORDS.get(kind, word)} for {word}, found {type(value).__name__}", place=place)


def _tensor(value: Any, word: str, dialect: Dialect, place: str) -> NDArray[Any]:
    name = next((name for name, info in dialect.types.items() if word in {name, info.get("tensor")}), None)
    if name is None:
        raise InputError(f"{word} is not a type with values", place=place)
    return as_array(value, numpy_type(dialect, name), None, place)


def make_container(word: str, dialect: Dialect, array: Callable[[str], NDArray[Any]], count: int) -> Any:
    """Return a container of type `word` with `count` elements.

    `array` creates an array of an element type. Keys of a map count from 0, as integers or as text.
    """
    tree = parse_type(word)
    kind, parts = ("", ()) if tree is None else (tree.word, tree.parts)
    if kind == "seq":
        return [make_container(str(parts[0]), dialect, array, count) for _ in range(count)]
    if kind == "optional":
        return ArrayList(make_container(str(parts[0]), dialect, array, count) if count else None)
    if kind == "map":
        key, value = parts
        keys = [str(number) if key.word == "string" else number for number in range(count)]
        values = make_container(str(value), dialect, array, count).reshape(-1)
        return {
            name: values[index % values.size].item() if values.dtype != object else values[index % values.size]
            for index, name in enumerate(keys)
        }
    words = {word, f"tensor({word})"}
    name = next((name for name, info in dialect.types.items() if name in words or info.get("tensor") in words), None)
    if name is None:
        raise InputError(f"{word} is not a type with values")
    return array(name)


def arrays_in(value: Any) -> list[NDArray[Any]]:
    """Return the arrays inside a value."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, ArrayList):
        return arrays_in(value.value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [array for part in parts for array in arrays_in(np.asarray(part) if np.isscalar(part) else part)]


def to_user_value(value: Any) -> Any:
    """Return a value for users.

    Maps become dicts, an optional becomes its content or None.
    """
    if isinstance(value, ArrayList):
        return to_user_value(value.value)
    if isinstance(value, ArrayMap):
        return dict(zip(value.keys.tolist(), value.values.tolist(), strict=True))
    return [to_user_value(item) for item in value] if isinstance(value, list) else value
