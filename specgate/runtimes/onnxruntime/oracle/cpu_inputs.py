"""Inputs for a session's first run.

The given arrays come first, then ones, zeros and random numbers of the declared types.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["MOST_ELEMENTS", "NotFed", "feeds_of", "values_of"]

#: ONNX Runtime's names of element types, and numpy's.
_TYPES: Final = {
    "float": "float32", "double": "float64", "float16": "float16", "bool": "bool", "string": "object",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
#: Types that numpy lacks: TensorProto.DataType, bits of storage, and the bits of the number 1.
_RAW: Final = {
    "bfloat16": (16, 16, 0x3F80),
    "float8e4m3fn": (17, 8, 0x38),
    "float8e4m3fnuz": (18, 8, 0x40),
    "float8e5m2": (19, 8, 0x3C),
    "float8e5m2fnuz": (20, 8, 0x40),
    "uint4": (21, 8, 0x11),
    "int4": (22, 8, 0x11),
    "float4e2m1": (23, 8, 0x22),
    "float8e8m0": (24, 8, 0x7F),
    "uint2": (25, 8, 0x55),
    "int2": (26, 8, 0x55),
}
#: Fill methods, with the size of each symbolic dimension.
_WAYS: Final = (("ones", 2), ("zeros", 1), ("random", 2), ("random", 1), ("random", 3))
#: Maximum elements of an input; a session with a larger input is not run.
MOST_ELEMENTS: Final = 2**24
_TENSOR: Final = re.compile(r"tensor\((\w+)\)")
_WRAPPED: Final = re.compile(r"(seq|optional)\((.*)\)")


class NotFed(Exception):
    """An input whose type lacks a Python value, or that is too large."""


def feeds_of(inputs: Sequence[Any], tables: Sequence[Mapping[str, NDArray[Any]]]) -> Iterator[dict[str, Any]]:
    """Yield sets of inputs by name.

    inputs: a session's. tables: arrays that replace generated ones in the first sets. A session without inputs has one
    set. Raises NotFed for an unsupported input.
    """
    random = np.random.default_rng(0)
    whole = [*tables, *({},) * (len(_WAYS) if inputs else 1)]
    for index, known in enumerate(whole):
        way, size = _WAYS[max(0, index - len(tables))]
        yield {
            info.name: known[info.name] if info.name in known else _drawn(info.type, info.shape, way, size, random)
            for info in inputs
        }


def _drawn(word: str, shape: Sequence[Any] | None, way: str, size: int, random: Any) -> Any:
    wrapped = _WRAPPED.fullmatch(word)
    if wrapped:
        inner = _drawn(wrapped[2], (2, 3), way, size, random)
        return [inner, inner] if wrapped[1] == "seq" else inner
    match = _TENSOR.fullmatch(word)
    if match is None or (match[1] not in _TYPES and match[1] not in _RAW):
        raise NotFed(f"no input of type {word}")
    sizes = [one if isinstance(one, int) and one >= 0 else size for one in shape or ()]
    if prod(sizes) > MOST_ELEMENTS:
        raise NotFed(f"an input has {prod(sizes)} elements")
    if match[1] in _RAW:
        _, bits, one = _RAW[match[1]]
        return np.full(sizes, 0 if way == "zeros" else one, f"uint{bits}")
    dtype = np.dtype(_TYPES[match[1]])
    if dtype.kind == "O":
        return np.full(sizes, "1" if way == "ones" else "a", dtype)
    if way != "random":
        return np.full(sizes, way == "ones", dtype)
    return (random.uniform(-2, 2, sizes) if dtype.kind == "f" else random.integers(0, 4, sizes)).astype(dtype)


def values_of(runtime: Any, inputs: Sequence[Any], feed: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a set of inputs as the runtime's values, None if unsupported.

    Inputs with strings or sequences are unsupported: the Python interface accepts them as numpy or Python values only.
    Raises NotFed if another input has a type that numpy lacks.
    """
    words = {info.name: _TENSOR.fullmatch(info.type) for info in inputs}
    if any(match is None or match[1] == "string" for match in words.values()):
        raw_ones = [info.type for info in inputs if (match := words[info.name]) and match[1] in _RAW]
        if raw_ones:
            raise NotFed(f"no input of type {raw_ones[0]} next to strings or sequences")
        return None
    entries = {}
    for name, array in feed.items():
        match = words[name]
        raw = _RAW.get(match[1]) if match else None
        if raw is None:
            entries[name] = runtime.OrtValue.ortvalue_from_numpy(array)
        elif str(array.dtype) != f"uint{raw[1]}":  # a numpy extension type of another package
            entries[name] = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"uint{raw[1]}"), raw[0])
        else:
            entries[name] = runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, raw[0])
    return entries
