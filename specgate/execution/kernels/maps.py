"""Maps as arrays, and rows of arrays as maps.

A map is a pair of lists of one length: its keys, and the value of each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["maps_of_rows", "row_of_map", "values_at_words"]

_NUMBER: Final = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|\s*[+-]?(inf|infinity|nan)", re.IGNORECASE)
_WHOLE: Final = re.compile(r"\s*([+-]?\d+)")


def maps_of_rows(
    inputs: NDArray[Any], *, integers: Sequence[int] | None = None, texts: Sequence[str] | None = None
) -> list[dict[Any, float]]:
    """Return a map for each row: keys are the integers or texts, of equal ones the last; a list is one row."""
    keys: Sequence[Any] | None = integers if texts is None else texts
    if keys is None or (integers is not None and texts is not None):
        raise InputError("maps_of_rows: expected keys that are integers or texts, and not both")
    if not 1 <= inputs.ndim <= 2 or inputs.shape[-1] != len(keys):
        raise InputError(f"maps_of_rows: {len(keys)} keys do not fit {list(inputs.shape)}")
    rows = np.atleast_2d(inputs)
    memory.hold((len(rows), 3 * len(keys) + 4), np.dtype(np.float64))  # what Python takes for maps
    return [dict(zip(keys, row.tolist(), strict=True)) for row in memory.in_time(rows)]


def values_at_words(
    held: tuple[NDArray[Any], NDArray[Any]],
    *,
    integers: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Return a row with the map's value for each word, 0 or an empty text where it has none.

    integers, texts: the words, of the type of its keys. Keys that are no word have no place.
    """
    keys, values = held
    words: Sequence[Any] | None = texts if keys.dtype == np.object_ else integers
    if words is None or (integers is not None and texts is not None):
        raise InputError("values_at_words: expected words of the type of the map's keys, and no others")
    result = memory.empty((1, len(words)), values.dtype)
    result[...] = "" if values.dtype == np.object_ else 0
    places = {key: place for place, key in enumerate(keys.tolist())}
    for at, word in enumerate(words):
        if word in places:
            result[0, at] = values[places[word]]
    return result


def row_of_map(
    held: tuple[NDArray[Any], NDArray[Any]],
    *,
    kind: str = "TO_FLOAT",
    form: str = "DENSE",
    length: int = 1,
    missing_text: str = "",
) -> NDArray[Any]:
    """Return a row with the map's values in rising order of its keys, which are integers.

    kind: TO_FLOAT, TO_INT64 or TO_STRING, what values become; what no number can be made of is masked. form: DENSE, or
    SPARSE, where a key is the place of its value in a row of `length`, larger keys have no place, and other places are
    0 or missing_text. Raises InputError for a negative key then.
    """
    keys, values = held
    if kind not in _KINDS or form not in {"DENSE", "SPARSE"}:
        raise InputError(f"row_of_map: there is no {kind!r:.40} or no {form!r:.40}")
    dtype, convert = _KINDS[kind]
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys)) if form == "DENSE" else keys[order]
    if len(keys) and places[0] < 0:
        raise InputError(f"row_of_map: the key {int(places[0])} is no place")
    if form == "SPARSE" and length < 1:
        raise InputError(f"row_of_map: {length} is no length")
    result = memory.empty((1, len(keys) if form == "DENSE" else length), np.dtype(dtype))
    result[...] = missing_text if dtype is object else 0
    lacking = np.zeros(result.shape, np.bool_)
    for place, value in memory.in_time(zip(places.tolist(), values[order].tolist(), strict=True)):
        if place < result.shape[1]:
            made = convert(value)
            lacking[0, place] = made is None
            result[0, place] = result[0, place] if made is None else made
    return np.ma.MaskedArray(result, mask=lacking) if lacking.any() else result


def _as_float(value: float | str) -> float | None:
    if not isinstance(value, str):
        return value
    found = _NUMBER.match(value)
    return float(found[0]) if found else None


def _as_int64(value: float | str) -> int | None:
    if isinstance(value, str):
        found = _WHOLE.match(value)
        number = int(found[1]) if found and len(found[1]) < 32 else None
    else:
        number = int(value) if abs(value) < 2.0**63 else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _as_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:f}"


_KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "TO_FLOAT": (np.float32, _as_float), "TO_INT64": (np.int64, _as_int64), "TO_STRING": (object, _as_text),
}  # fmt: skip
