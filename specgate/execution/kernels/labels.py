"""Labels in place of others, and their places among categories."""

from __future__ import annotations

from math import isnan, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["map_labels", "map_names", "mark_categories"]

_INT64 = range(-(2**63), 2**63)


def _looked_up(inputs: NDArray[Any], places: Mapping[Any, int], *, of_nan: int = -1) -> NDArray[np.intp]:
    """Return the place of each element, -1 of one that has none, of a nan `of_nan`."""
    flat = inputs.reshape(-1)
    if inputs.dtype == np.object_:
        found = np.fromiter((places.get(each, -1) for each in memory.in_time(flat)), np.intp, flat.size)
    else:
        different, inverse = np.unique(flat, return_inverse=True)
        sought = (places.get(each, of_nan if each != each else -1) for each in different.tolist())  # noqa: PLR0124
        found = np.fromiter(sought, np.intp, different.size)[inverse.reshape(-1)]
    return found.reshape(inputs.shape)


def _placed(values: NDArray[Any], default: Any, places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the value at each place, `default` at -1."""
    choices = np.empty(values.size + 1, values.dtype)
    choices[:-1], choices[-1] = values, default
    result = memory.empty(places.shape, values.dtype)
    result[...] = choices[places]
    return result


def _array(values: Sequence[Any] | NDArray[Any], kind: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values.reshape(-1)
    array = np.empty(len(values), kind)
    array[:] = values
    return array


def _one(name: str, what: str, lists: Sequence[tuple[Sequence[Any] | NDArray[Any] | None, Any]]) -> NDArray[Any]:
    given = [_array(values, kind) for values, kind in lists if values is not None]
    if len(given) != 1:
        raise InputError(f"{name}: expected one list of {what}, found {len(given)}")
    return given[0]


def map_labels(
    inputs: NDArray[Any],
    *,
    repeated: str = "last",
    by_place: bool = False,
    names: Sequence[str] = (),
    integer_keys: Sequence[int] | None = None,
    float_keys: Sequence[float] | None = None,
    text_keys: Sequence[str] | None = None,
    keys: NDArray[Any] | None = None,
    integer_values: Sequence[int] | None = None,
    float_values: Sequence[float] | None = None,
    text_values: Sequence[str] | None = None,
    values: NDArray[Any] | None = None,
    integer_default: int = -1,
    float_default: float = -0.0,
    text_default: str = "_Unused",
    default: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return, for each element, the value of the key that it equals, or the default of the values' type.

    One list of keys and one of values are given, of one length. repeated: which of equal keys counts, first or last.
    A nan equals any nan. default: one element of the values' type, in place of the others. by_place: keys and values
    are names and their places instead, from texts to int64 or the other way.
    """
    if by_place:
        return map_names(
            inputs,
            numbers=range(len(names)),
            names=names,
            integer_default=integer_default,
            text_default=text_default,
        )
    name = "map_labels"
    sought = _one(
        name,
        "keys",
        [(integer_keys, np.int64), (float_keys, np.float32), (text_keys, np.object_), (keys, None)],
    )
    held = _one(
        name,
        "values",
        [(integer_values, np.int64), (float_values, np.float32), (text_values, np.object_), (values, None)],
    )
    if sought.size != held.size or sought.dtype != inputs.dtype:
        raise InputError(
            f"{name}: {sought.size} keys of {sought.dtype} and {held.size} values do not fit elements of {inputs.dtype}"
        )
    pairs = [(key, place) for place, key in enumerate(sought.tolist())]
    if repeated == "first":
        pairs.reverse()
    of_nan = [place for key, place in pairs if isinstance(key, float) and isnan(key)]
    if default is not None:
        if default.size != 1 or default.dtype != held.dtype:
            raise InputError(f"{name}: expected a default of one element of {held.dtype}")
        other: Any = default.reshape(-1)[0]
    else:
        other = {"O": text_default, "f": float_default}.get(held.dtype.kind, integer_default)
    if held.dtype.kind == "i" and not np.iinfo(held.dtype).min <= int(other) <= np.iinfo(held.dtype).max:
        raise InputError(f"{name}: {other} is no value of {held.dtype}")
    return _placed(held, other, _looked_up(inputs, dict(pairs), of_nan=of_nan[-1] if of_nan else -1))


def map_names(
    inputs: NDArray[Any],
    *,
    numbers: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    integer_default: int = -1,
    text_default: str = "_Unused",
) -> NDArray[Any]:
    """Return the number of each text, or the text of each int64; of those that occur twice the last."""
    if numbers is None or names is None:
        raise InputError("map_names: expected numbers and names")
    if inputs.dtype == np.object_:
        return map_labels(inputs, text_keys=names, integer_values=numbers, integer_default=integer_default)
    return map_labels(inputs, integer_keys=numbers, text_values=names, text_default=text_default)


def mark_categories(
    inputs: NDArray[Any],
    *,
    integers: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
    unknown_is_zeros: bool = True,
) -> NDArray[np.float32]:
    """Return float32 with one dimension more: 1 at the place of each element among the categories, 0 elsewhere.

    Numbers are truncated to int64 first. Of equal categories the last counts. Unless unknown_is_zeros, a number that is
    none of them raises InputError, and what such a text has is masked.
    """
    name = "mark_categories"
    categories: Sequence[Any] | None = integers if texts is None else texts
    if categories is None or (integers is not None and texts is not None):
        raise InputError(f"{name}: expected categories that are integers or texts, and not both")
    if (inputs.dtype == np.object_) != (texts is not None):
        raise InputError(f"{name}: elements of {inputs.dtype} are none of the categories")
    if inputs.dtype.kind == "f":
        whole = np.trunc(inputs.astype(np.float64))
        inside = np.abs(whole) < 2.0**63
        found = _looked_up(np.where(inside, whole, 0).astype(np.int64), {c: i for i, c in enumerate(categories)})
        found = np.where(inside, found, -1)
    else:
        found = _looked_up(inputs, {c: i for i, c in enumerate(categories)})
    result = memory.empty((*inputs.shape, len(categories)), np.dtype(np.float32))
    result[...] = 0
    at = np.flatnonzero(found.reshape(-1) >= 0)
    result.reshape(prod(inputs.shape), len(categories))[at, found.reshape(-1)[at]] = 1
    if unknown_is_zeros or (found >= 0).all():
        return result
    if texts is None:
        raise InputError(f"{name}: an element is none of the categories")
    return np.ma.MaskedArray(result, mask=np.broadcast_to((found < 0)[..., None], result.shape))
