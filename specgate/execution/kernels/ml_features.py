"""Classical ML feature columns: scaling, imputing, encoding, mapping.

ai.onnx.ml ArrayFeatureExtractor, Binarizer, CastMap, CategoryMapper, DictVectorizer, FeatureVectorizer, Imputer,
LabelEncoder, Normalizer, OneHotEncoder, Scaler, ZipMap.
"""

from __future__ import annotations

import re
from math import floor, isnan, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.gather import places_in
from specgate.execution.kernels.linear_models import features_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def array_feature_extractor(inputs: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Return the last-dimension elements selected by `columns`.

    A 1-D input is one row.
    """
    if not inputs.ndim:
        raise InputError("array_feature_extractor: expected an input of rank 1 or more")
    if (columns < 0).any():
        raise InputError("array_feature_extractor: an index is negative")
    places = places_in("array_feature_extractor", columns.reshape(-1), inputs.shape[-1])
    rows = np.atleast_2d(inputs)
    result = memory.empty((*rows.shape[:-1], places.size), inputs.dtype)
    result[...] = rows[..., places]
    return result


def binarizer(inputs: NDArray[Any], *, threshold: float = 0.0) -> NDArray[Any]:
    """Return 1 where an element exceeds the threshold, else 0, in its type."""
    if inputs.dtype.kind == "i" and not isnan(threshold):
        ends = np.iinfo(inputs.dtype)  # integers are compared exactly
        low = floor(max(min(threshold, 2.0**64), -(2.0**64)))
        is_above = np.full(inputs.shape, low < ends.min) if not ends.min <= low <= ends.max else inputs > low
    else:
        is_above = inputs > threshold
    result = memory.empty(inputs.shape, inputs.dtype)
    result[...] = is_above
    return result


def feature_vectorizer(parts: Sequence[NDArray[Any]], *, widths: Sequence[int] | None = None) -> NDArray[np.float32]:
    """Return the columns of all parts concatenated as float32.

    A 1-D input is one row. widths: number of columns per part, zero-padded or truncated; default its own.
    """
    rows = [np.atleast_2d(part) for part in parts]
    if not rows or any(part.ndim > 2 or not part.size == len(part) * part.shape[1] for part in rows):
        raise InputError("feature_vectorizer: expected 1-D or 2-D inputs")
    if any(part.ndim == 0 for part in parts) or len({len(part) for part in rows}) != 1:
        raise InputError("feature_vectorizer: expected inputs with the same number of rows")
    column_counts = [part.shape[1] for part in rows] if widths is None else list(widths)
    if len(column_counts) != len(rows) or min(column_counts) < 0:
        raise InputError(f"feature_vectorizer: expected {len(rows)} widths of at least 0")
    result = memory.empty((len(rows[0]), sum(column_counts)), np.dtype(np.float32))
    result[...] = 0
    begin = 0
    for part, width in zip(rows, column_counts, strict=True):
        value = min(width, part.shape[1])
        result[:, begin : begin + value] = part[:, :value]
        begin += width
    return result


def imputer(
    inputs: NDArray[Any],
    *,
    floats: Sequence[float] | None = None,
    integers: Sequence[int] | None = None,
    replaced_float: float = 0.0,
    replaced_integer: int = 0,
) -> NDArray[Any]:
    """Return the elements with one value replaced; nan equals nan.

    floats, integers: the replacement by element kind: one for all, or one per index along the last dimension.
    """
    new: Any = floats if inputs.dtype.kind == "f" else integers
    old = replaced_float if inputs.dtype.kind == "f" else replaced_integer
    if new is None or len(new) not in {1, inputs.shape[-1] if inputs.ndim else 1}:
        raise InputError(f"imputer: expected one {inputs.dtype} value, or one per feature")
    if inputs.dtype.kind == "i":
        ends = np.iinfo(inputs.dtype)
        if any(not ends.min <= number <= ends.max for number in new):
            raise InputError(f"imputer: a value does not fit {inputs.dtype}")
        is_old_value = inputs == old if ends.min <= old <= ends.max else np.zeros(inputs.shape, np.bool_)
    else:
        is_old_value = np.isnan(inputs) if isnan(old) else inputs == old
    values = np.array(new).astype(inputs.dtype)
    result = memory.empty(inputs.shape, inputs.dtype)
    result[...] = np.where(is_old_value, values if len(values) != 1 else values[0], inputs)
    return result


def scaler(
    inputs: NDArray[Any], *, offset: Sequence[float] | None = None, scale: Sequence[float] | None = None
) -> NDArray[np.float32]:
    """Return (inputs - offset) * scale as float32.

    offset, scale: one each, or one per feature.
    """
    if inputs.dtype.kind not in "if" or offset is None or scale is None or len(offset) != len(scale):
        raise InputError("scaler: expected numbers, and the same number of offsets and scales")
    if len(scale) != 1 and (not 1 <= inputs.ndim <= 2 or len(scale) != inputs.shape[-1]):
        raise InputError(f"scaler: {len(scale)} scales do not match an input of shape {list(inputs.shape)}")
    offsets, times = (np.asarray(array, np.float32).astype(np.float64) for array in (offset, scale))
    result = memory.empty(inputs.shape, np.dtype(np.float32))
    result[...] = (inputs - offsets) * times if len(scale) != 1 else (inputs - offsets[0]) * times[0]
    return result


def normalize_rows(inputs: NDArray[Any], *, norm: str = "MAX") -> NDArray[np.float32]:
    """Return each row divided by its norm, as float32.

    A row with norm 0 stays. norm: MAX, the largest element; L1, the sum of magnitudes; L2, the root of the sum of
    squares.
    """
    rows = features_of("normalize_rows", inputs)
    if norm == "MAX":
        norms = np.fmax.reduce(rows, axis=1, keepdims=True, initial=-np.inf)
        norms = np.where(np.isneginf(norms) & np.isnan(rows).all(axis=1, keepdims=True), np.nan, norms)
    elif norm == "L1":
        norms = np.abs(rows).sum(axis=1, keepdims=True)
    elif norm == "L2":
        norms = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    else:
        raise InputError(f"normalize_rows: expected norm MAX, L1 or L2, found {norm!r:.40}")
    result = memory.empty(inputs.shape, np.dtype(np.float32))
    result[...] = np.divide(rows, norms, out=rows.copy(), where=norms != 0).reshape(inputs.shape)
    return result


def _find_indices(inputs: NDArray[Any], places: Mapping[Any, int], *, of_nan: int = -1) -> NDArray[np.intp]:
    """Return the index of each element: -1 if missing, `of_nan` for nan."""
    flat = inputs.reshape(-1)
    if inputs.dtype == np.object_:
        array = np.fromiter((places.get(key, -1) for key in memory.within_time_limit(flat)), np.intp, flat.size)
    else:
        distinct_keys, inverse = np.unique(flat, return_inverse=True)
        key_places = (places.get(key, of_nan if key != key else -1) for key in distinct_keys.tolist())  # noqa: PLR0124
        array = np.fromiter(key_places, np.intp, distinct_keys.size)[inverse.reshape(-1)]
    return array.reshape(inputs.shape)


def _select_values(values: NDArray[Any], default: Any, places: NDArray[np.intp]) -> NDArray[Any]:
    """Return the value at each index, `default` at -1."""
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


def _require_single_list(
    name: str, noun: str, lists: Sequence[tuple[Sequence[Any] | NDArray[Any] | None, Any]]
) -> NDArray[Any]:
    arrays = [_array(values, kind) for values, kind in lists if values is not None]
    if len(arrays) != 1:
        raise InputError(f"{name}: expected one list of {noun}, found {len(arrays)}")
    return arrays[0]


def label_encoder(
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
    """Return the value of the key equal to each element, or the default.

    One list of keys and one of values are given, of equal length. repeated: whether the first or last of equal keys
    counts. nan equals nan. default: one element of the values' type, which replaces the other defaults. by_place: map
    strings to their int64 indices in `names`, or back.
    """
    if by_place:
        return category_mapper(
            inputs,
            numbers=range(len(names)),
            names=names,
            integer_default=integer_default,
            text_default=text_default,
        )
    name = "label_encoder"
    key_array = _require_single_list(
        name,
        "keys",
        [(integer_keys, np.int64), (float_keys, np.float32), (text_keys, np.object_), (keys, None)],
    )
    array = _require_single_list(
        name,
        "values",
        [(integer_values, np.int64), (float_values, np.float32), (text_values, np.object_), (values, None)],
    )
    if key_array.size != array.size or key_array.dtype != inputs.dtype:
        raise InputError(
            f"{name}: {key_array.size} keys of {key_array.dtype} and {array.size} values do not match the input type "
            f"{inputs.dtype}"
        )
    pairs = [(key, place) for place, key in enumerate(key_array.tolist())]
    if repeated == "first":
        pairs.reverse()
    of_nan = [place for key, place in pairs if isinstance(key, float) and isnan(key)]
    if default is not None:
        if default.size != 1 or default.dtype != array.dtype:
            raise InputError(f"{name}: expected a default of one element of {array.dtype}")
        other: Any = default.reshape(-1)[0]
    else:
        other = {"O": text_default, "f": float_default}.get(array.dtype.kind, integer_default)
    if array.dtype.kind == "i" and not np.iinfo(array.dtype).min <= int(other) <= np.iinfo(array.dtype).max:
        raise InputError(f"{name}: {other} is not a valid {array.dtype} value")
    return _select_values(array, other, _find_indices(inputs, dict(pairs), of_nan=of_nan[-1] if of_nan else -1))


def category_mapper(
    inputs: NDArray[Any],
    *,
    numbers: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    integer_default: int = -1,
    text_default: str = "_Unused",
) -> NDArray[Any]:
    """Return the number of each string, or the string of each int64.

    Of repeated names the last counts.
    """
    if numbers is None or names is None:
        raise InputError("category_mapper: expected integers and strings")
    if inputs.dtype == np.object_:
        return label_encoder(inputs, text_keys=names, integer_values=numbers, integer_default=integer_default)
    return label_encoder(inputs, integer_keys=numbers, text_values=names, text_default=text_default)


def one_hot_encoder(
    inputs: NDArray[Any],
    *,
    integers: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
    unknown_is_zeros: bool = True,
) -> NDArray[np.float32]:
    """Return the float32 one-hot encoding along a new last dimension.

    Numbers are first truncated to int64. Of equal categories the last counts. Unless unknown_is_zeros, an unknown
    number raises InputError and an unknown string is masked.
    """
    name = "one_hot_encoder"
    categories: Sequence[Any] | None = integers if texts is None else texts
    if categories is None or (integers is not None and texts is not None):
        raise InputError(f"{name}: expected categories of either integers or strings")
    if (inputs.dtype == np.object_) != (texts is not None):
        raise InputError(f"{name}: elements of {inputs.dtype} are not in the categories")
    if inputs.dtype.kind == "f":
        truncated = np.trunc(inputs.astype(np.float64))
        in_range = np.abs(truncated) < 2.0**63
        array = _find_indices(
            np.where(in_range, truncated, 0).astype(np.int64), {c: i for i, c in enumerate(categories)}
        )
        array = np.where(in_range, array, -1)
    else:
        array = _find_indices(inputs, {c: i for i, c in enumerate(categories)})
    result = memory.empty((*inputs.shape, len(categories)), np.dtype(np.float32))
    result[...] = 0
    known_places = np.flatnonzero(array.reshape(-1) >= 0)
    result.reshape(prod(inputs.shape), len(categories))[known_places, array.reshape(-1)[known_places]] = 1
    if unknown_is_zeros or (array >= 0).all():
        return result
    if texts is None:
        raise InputError(f"{name}: an element is not in the categories")
    return np.ma.MaskedArray(result, mask=np.broadcast_to((array < 0)[..., None], result.shape))


_NUMBER: Final = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|\s*[+-]?(inf|infinity|nan)", re.IGNORECASE)
_INTEGER_PATTERN: Final = re.compile(r"\s*([+-]?\d+)")


def zip_map(
    inputs: NDArray[Any], *, integers: Sequence[int] | None = None, texts: Sequence[str] | None = None
) -> list[dict[Any, float]]:
    """Return one map per row with integer or string keys.

    Of equal keys the last counts; a 1-D input is one row.
    """
    keys: Sequence[Any] | None = integers if texts is None else texts
    if keys is None or (integers is not None and texts is not None):
        raise InputError("zip_map: expected keys of either integers or strings")
    if not 1 <= inputs.ndim <= 2 or inputs.shape[-1] != len(keys):
        raise InputError(f"zip_map: {len(keys)} keys do not match an input of shape {list(inputs.shape)}")
    rows = np.atleast_2d(inputs)
    memory.check_budget((len(rows), 3 * len(keys) + 4), np.dtype(np.float64))  # accepted by Python as a mapping
    return [dict(zip(keys, row.tolist(), strict=True)) for row in memory.within_time_limit(rows)]


def dict_vectorizer(
    mapping: tuple[NDArray[Any], NDArray[Any]],
    *,
    integers: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Return a row with the map's value for each word, default 0 or "".

    integers, texts: the words, of the keys' type. Keys outside of the words are ignored.
    """
    keys, values = mapping
    words: Sequence[Any] | None = texts if keys.dtype == np.object_ else integers
    if words is None or (integers is not None and texts is not None):
        raise InputError("dict_vectorizer: expected a vocabulary of the type of the map's keys")
    result = memory.empty((1, len(words)), values.dtype)
    result[...] = "" if values.dtype == np.object_ else 0
    places = {key: place for place, key in enumerate(keys.tolist())}
    for word_index, word in enumerate(words):
        if word in places:
            result[0, word_index] = values[places[word]]
    return result


def cast_map(
    mapping: tuple[NDArray[Any], NDArray[Any]],
    *,
    kind: str = "TO_FLOAT",
    form: str = "DENSE",
    length: int = 1,
    missing_text: str = "",
) -> NDArray[Any]:
    """Return a row with the map's values in ascending order of integer keys.

    kind: TO_FLOAT, TO_INT64 or TO_STRING, the result type; values that are not numbers are masked. form: DENSE, or
    SPARSE, where a key is the index of its value in a row of `length`, larger keys are ignored, and other elements are
    0 or missing_text. With SPARSE a negative key raises InputError.
    """
    keys, values = mapping
    if kind not in _KINDS or form not in {"DENSE", "SPARSE"}:
        raise InputError(f"cast_map: unknown cast_to {kind!r:.40} or map_form {form!r:.40}")
    dtype, convert = _KINDS[kind]
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys)) if form == "DENSE" else keys[order]
    if len(keys) and places[0] < 0:
        raise InputError(f"cast_map: the key {int(places[0])} is not a valid index")
    if form == "SPARSE" and length < 1:
        raise InputError(f"cast_map: {length} is not a valid length")
    result = memory.empty((1, len(keys) if form == "DENSE" else length), np.dtype(dtype))
    result[...] = missing_text if dtype is object else 0
    is_missing = np.zeros(result.shape, np.bool_)
    for place, value in memory.within_time_limit(zip(places.tolist(), values[order].tolist(), strict=True)):
        if place < result.shape[1]:
            outcome = convert(value)
            is_missing[0, place] = outcome is None
            result[0, place] = result[0, place] if outcome is None else outcome
    return np.ma.MaskedArray(result, mask=is_missing) if is_missing.any() else result


def _as_float(value: float | str) -> float | None:
    if not isinstance(value, str):
        return value
    match = _NUMBER.match(value)
    return float(match[0]) if match else None


def _as_int64(value: float | str) -> int | None:
    if isinstance(value, str):
        match = _INTEGER_PATTERN.match(value)
        number = int(match[1]) if match and len(match[1]) < 32 else None
    else:
        number = int(value) if abs(value) < 2.0**63 else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def _as_text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:f}"


_KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "TO_FLOAT": (np.float32, _as_float), "TO_INT64": (np.int64, _as_int64), "TO_STRING": (object, _as_text),
}  # fmt: skip
