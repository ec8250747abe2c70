"""Input arrays for oracles, with boundary values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc, integer_limits
from specgate.dialects import package
from specgate.dialects.protocols import MemoryLayout
from specgate.execution.containers import is_container, make_container
from specgate.execution.types import integer_range, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.dialect_spec import Dialect

_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, float("nan"), float("inf"), float("-inf"), 1e30)
_WORDS: Final = ("", "off", "on", "\x00")
#: Sizes of the arrays in sequences and optionals.
_CONTAINER_SIZES: Final = (2, 3)
#: Sums and products of these values are exact in 32 bits in any order. Partial results neither overflow nor lose
#: precision.
_SUMMANDS: Final = (*(n / 64 for n in range(-128, 129)), *3 * (-0.0, float("nan"), float("inf"), float("-inf")))
_EDGES: Final = tuple(n + d for n in (0, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64) for d in (-1, 0, 1))
#: Sign, exponent and fraction of a float as strings of repeated digits: the first and the last one.
_SHAPES: Final = (
    ("0", "00", "00"), ("1", "00", "00"), ("0", "11", "00"), ("1", "11", "00"), ("0", "11", "10"), ("1", "11", "10"),
    ("0", "11", "11"), ("0", "11", "01"), ("0", "00", "01"), ("1", "00", "11"), ("0", "10", "00"), ("1", "01", "10"),
)  # fmt: skip


def boundary_arrays(descriptor: Descriptor, random: Random, *, limits_sums: bool = False) -> dict[str, Any]:
    """Return arrays of boundary values.

    Integers are sizes, their neighbours with both signs, and the limits of their type. Floats include infinities,
    denormals, negative zero and various nan.

    limits_sums: the order of sums is unspecified. No finite float is then large or tiny, and infinities and nan are
    rare, so that most sums are finite.
    """
    near_sizes = {s * sign + d for s in _sizes(descriptor) for sign in (1, -1) for d in (-1, 0, 1)}

    def fill_boundary(tensor: TensorDesc) -> NDArray[Any]:
        palette = _palette(dialect(descriptor.dialect), tensor, near_sizes, limits_sums=limits_sums)
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        chosen_indices = [random.randrange(len(palette)) for _ in range(prod(shape))]
        array: NDArray[Any] = palette[np.array(chosen_indices, np.intp)].reshape(shape)
        return array

    return _each_input(descriptor, fill_boundary)


def small_arrays(descriptor: Descriptor, random: Random) -> dict[str, Any]:
    """Return arrays of small values.

    Integers from 0 to 7, floats from -2 to 2 in steps of 1/64, short strings.
    """

    def fill_tame(tensor: TensorDesc) -> NDArray[Any]:
        dtype = numpy_type(dialect(descriptor.dialect), str(tensor.type))
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        if dtype.kind == "O":
            return np.array([random.choice(_WORDS) for _ in range(prod(shape))], object).reshape(shape)
        limits = (0, 7) if dtype.kind == "b" else integer_range(dtype)
        is_integer, max_value = limits is not None, min(8, limits[1] + 1 if limits else 8)
        drawn_numbers = [
            random.randrange(max_value) if is_integer else random.randint(-128, 128) / 64 for _ in range(prod(shape))
        ]
        array = np.array(drawn_numbers, np.int8 if is_integer else np.float64).astype(dtype).reshape(shape)
        array[array != array] = np.ones((), dtype)  # noqa: PLR0124  # of a type without negative numbers
        return array

    return _each_input(descriptor, fill_tame)


def _each_input(descriptor: Descriptor, fill: Callable[[TensorDesc], NDArray[Any]]) -> dict[str, Any]:
    """Return a value for every input.

    Sequences, optionals and maps contain two arrays of one shape.
    """
    tables = dialect(descriptor.dialect)

    def fill_tensor(tensor: TensorDesc) -> Any:
        if tensor.type is None or not is_container(tables, tensor.type):
            return fill(tensor)
        return make_container(tensor.type, tables, lambda word: fill(TensorDesc(word, _CONTAINER_SIZES)), 2)

    return {name: _map_tensors(value, fill_tensor) for name, value in inputs_of(descriptor)}


def _sizes(descriptor: Descriptor) -> set[int]:
    return {size for _, tensor in descriptor.tensors() for size in tensor.sizes or () if isinstance(size, int)}


def inputs_of(descriptor: Descriptor) -> Iterator[tuple[str, Any]]:
    """Yield the tensors of a descriptor's inputs by name.

    The value is one tensor, or a list for an array of tensors.
    """
    for info in dialect(descriptor.dialect).operator(descriptor.operator).inputs:
        value = descriptor.fields.get(info.name)
        if value is not None:
            yield info.name, value


def _map_tensors(value: Any, convert: Callable[[TensorDesc], Any]) -> Any:
    return convert(value) if isinstance(value, TensorDesc) else [convert(item) for item in value]


def _palette(tables: Dialect, tensor: TensorDesc, near_sizes: set[int], *, limits_sums: bool) -> NDArray[Any]:
    kind = str(tensor.type)
    dtype = numpy_type(tables, kind)
    limits = integer_range(dtype)
    if limits is None and dtype.itemsize == 1 and dtype.kind in "fV":
        return np.arange(2 ** (tables.bits[kind] or 8), dtype=np.uint8).view(dtype)  # exhaustive
    if limits is None and dtype.kind in "fcV" and limits_sums:
        return np.array(_SUMMANDS).astype(dtype)
    if limits is None and dtype.kind in "fcV":
        special_values = _special_floats(dtype) if dtype.kind == "f" else np.array(_FLOATS)
        sizes = np.array(sorted(near_sizes | {0, 1, 2, 3}))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([special_values, sizes]).astype(dtype)
    if dtype.kind in "bO":
        return np.array([False, True] if dtype.kind == "b" else _WORDS, dtype)
    low, high = integer_limits(tables.bits[kind] or 8, signed=limits is not None and limits[0] < 0)
    small = [n for n in sorted(near_sizes) if low <= n <= high]
    edges = [n for n in (*_EDGES, *(-n for n in _EDGES)) if low <= n <= high]
    numbers = [*small * (1 + len(edges) // max(1, len(small))), *edges]
    return np.array(numbers, np.int8 if dtype.kind == "V" else dtype).astype(dtype)


def _special_floats(dtype: np.dtype[Any]) -> NDArray[Any]:
    bits = dtype.itemsize * 8
    exponent = {16: 5, 32: 8, 64: 11}[bits]
    widths = (1, exponent, bits - 1 - exponent)
    words = ["".join(s[0] * (w - 1) + s[-1] for s, w in zip(shape, widths, strict=True)) for shape in _SHAPES]
    special_values = np.array([int(word, 2) for word in words], f"u{dtype.itemsize}").view(dtype)
    return np.concatenate([special_values, np.array([1, -1, 2.5, np.finfo(dtype).max, 1 + np.finfo(dtype).eps], dtype)])


def laid_out(descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays as an implementation reads them.

    Elements that share memory are equal.
    """
    owner = package(descriptor.dialect)
    return owner.laid_out(descriptor, arrays) if isinstance(owner, MemoryLayout) else arrays
