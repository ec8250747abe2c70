"""What an oracle is asked to compute: descriptors that cover much, and arrays of values at which things change."""

from __future__ import annotations

from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.oracle.layout import read_out
from specgate.execution.types import numpy_type
from specgate.generate.seeds import find_operator
from specgate.generate.walk import valid_descriptors
from specgate.rules.primitives import extent
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.tables import Dialect

__all__ = ["Drawn", "boundary_arrays", "draw_cases", "features", "laid_out", "tame_arrays"]

#: For each case that is wanted, so many descriptors are drawn to choose from.
_POOL: Final = 10
_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, float("nan"), float("inf"), float("-inf"), 1e30)
_WORDS: Final = ("", "off", "on", "\x00")
#: Their sums and products are exact in 32 bits, in any order: no partial one is lost beside a larger one, or overflows.
_SUMMANDS: Final = (*(n / 64 for n in range(-128, 129)), *3 * (-0.0, float("nan"), float("inf"), float("-inf")))
_EDGES: Final = tuple(n + d for n in (0, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64) for d in (-1, 0, 1))
#: Of a float's bits: sign, exponent and fraction as strings of their first and last digit repeated.
_SHAPES: Final = (
    ("0", "00", "00"), ("1", "00", "00"), ("0", "11", "00"), ("1", "11", "00"), ("0", "11", "10"), ("1", "11", "10"),
    ("0", "11", "11"), ("0", "11", "01"), ("0", "00", "01"), ("1", "00", "11"), ("0", "10", "00"), ("1", "01", "10"),
)  # fmt: skip


class Drawn(NamedTuple):
    """A valid descriptor and inputs for it, each laid out so that elements which share memory are equal."""

    descriptor: Descriptor
    runs: list[dict[str, Any]]


def draw_cases(operator: str, level: str, count: int, seed: int, *, runs: int, max_elements: int) -> Iterator[Drawn]:
    """Yield `count` descriptors of a DirectML operator that build and page take, the same ones for the same seed.

    They are chosen from more so that types, ranks, layouts and attributes all come. runs: inputs for each, one of small
    values, the others at boundaries. max_elements: of all tensors of a descriptor together; fewer descriptors come
    where too many are larger. Raises InputError where nothing valid is found.
    """
    random = Random(f"{operator} {level} {seed}")  # noqa: S311  # repeatable on purpose
    source = valid_descriptors(find_operator("directml", operator, level), level, "both")
    drawn = [*source.found, *(source.draw(random.randint) for _ in range(_POOL * count))]
    pool = [made for made in drawn if _elements(made) <= max_elements]
    for descriptor in _covering(pool, count):
        arrays = [tame_arrays(descriptor, random)]
        arrays += [boundary_arrays(descriptor, random) for _ in range(runs - 1)]
        yield Drawn(descriptor, [laid_out(descriptor, each) for each in arrays])


def boundary_arrays(descriptor: Descriptor, random: Random, *, summed: bool = False) -> dict[str, Any]:
    """Return arrays of values at which something may change.

    Integers are sizes and their neighbours, positive and negative, and the ends of types; floats are infinite,
    denormal, negative zero and various nan among others. summed: where the order of sums is left open, so that no
    finite float may be large or tiny; few are infinite or nan, so that few sums are.
    """
    near = {s * sign + d for s in _sizes(descriptor) for sign in (1, -1) for d in (-1, 0, 1)}

    def filled(tensor: TensorDesc) -> NDArray[Any]:
        palette = _palette(dialect(descriptor.dialect), tensor, near, summed=summed)
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        chosen = [random.randrange(len(palette)) for _ in range(prod(shape))]
        made: NDArray[Any] = palette[np.array(chosen, np.intp)].reshape(shape)
        return made

    return {name: _mapped(value, filled) for name, value in _inputs(descriptor)}


def tame_arrays(descriptor: Descriptor, random: Random) -> dict[str, Any]:
    """Return arrays of small values: integers from 0 to 7, floats from -2 to 2 in steps of 1/64, short strings."""

    def filled(tensor: TensorDesc) -> NDArray[Any]:
        dtype = numpy_type(dialect(descriptor.dialect), str(tensor.type))
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        if dtype.kind == "O":
            return np.array([random.choice(_WORDS) for _ in range(prod(shape))], object).reshape(shape)
        drawn = [
            random.randrange(8) if dtype.kind in "iub" else random.randint(-128, 128) / 64 for _ in range(prod(shape))
        ]
        return np.array(drawn, dtype).reshape(shape)

    return {name: _mapped(value, filled) for name, value in _inputs(descriptor)}


def features(descriptor: Descriptor) -> set[tuple[Any, ...]]:
    """Return what a descriptor covers, as words to compare.

    They are types, ranks, layouts and the last larger dimension of each tensor, the types together, and attributes with
    the rank of the first tensor.
    """
    found: set[tuple[Any, ...]] = set()
    tensors = {name: value for name, value in descriptor.fields.items() if isinstance(value, TensorDesc)}
    first = next((len(tensor.sizes or ()) for tensor in tensors.values()), 0)
    for name, tensor in tensors.items():
        sizes = [size for size in tensor.sizes or () if isinstance(size, int)]
        larger = [len(sizes) - d for d, size in enumerate(sizes) if size > 1]
        found |= {
            (name, "type", tensor.type),
            (name, "rank", len(sizes)),
            (name, "last", larger[-1:] == [1], len(larger)),
        }
        found |= {(name, "layout", tensor.type, word) for word in _layout(sizes, tensor)}
    found.add(("types", *(tensor.type for tensor in tensors.values())))
    found |= {(n, repr(v), first) for n, v in descriptor.fields.items() if n not in tensors}
    return found


def _layout(sizes: list[int], tensor: TensorDesc) -> set[str]:
    strides = tensor.strides
    if strides is None:
        return {"packed"}
    known = [(stride, size) for stride, size in zip(strides, sizes, strict=True) if size > 1]
    words = {"broadcast"} if any(stride == 0 for stride, _ in known) else set()
    if known != sorted(known, key=lambda pair: -pair[0]):
        words.add("permuted")
    if extent(sizes, strides) > prod(size for stride, size in known if stride):
        words.add("gaps")
    return words or {"strided"}


def _covering(pool: list[Descriptor], count: int) -> list[Descriptor]:
    """Choose those first that add most to what is covered already, the small ones among equals; then the rest.

    A type counts twice: each type has shaders of its own.
    """

    def added(i: int) -> int:
        new = left[i] - covered
        return len(new) + len([feature for feature in new if feature[1] == "type"])

    left = {i: features(descriptor) for i, descriptor in enumerate(pool)}
    sizes = [_elements(descriptor) for descriptor in pool]
    chosen: list[int] = []
    covered: set[tuple[Any, ...]] = set()
    while left and len(chosen) < count:
        best = max(left, key=lambda i: (added(i), -sizes[i] if added(i) else 0, -i))
        covered |= left.pop(best)
        chosen.append(best)
    return [pool[i] for i in chosen]


def _sizes(descriptor: Descriptor) -> set[int]:
    return {size for _, tensor in descriptor.tensors() for size in tensor.sizes or () if isinstance(size, int)}


def _elements(descriptor: Descriptor) -> int:
    return sum(prod(s for s in tensor.sizes or () if isinstance(s, int)) for _, tensor in descriptor.tensors())


def _inputs(descriptor: Descriptor) -> Iterator[tuple[str, Any]]:
    for info in dialect(descriptor.dialect).operator(descriptor.operator).inputs:
        value = descriptor.fields.get(info.name)
        if value is not None:
            yield info.name, value


def _mapped(value: Any, one: Callable[[TensorDesc], Any]) -> Any:
    return one(value) if isinstance(value, TensorDesc) else [one(each) for each in value]


def _palette(tables: Dialect, tensor: TensorDesc, near: set[int], *, summed: bool) -> NDArray[Any]:
    kind = str(tensor.type)
    dtype = numpy_type(tables, kind)
    if dtype.kind in "fcV" and summed:
        return np.array(_SUMMANDS).astype(dtype)
    if dtype.kind in "fcV":
        special = _special_floats(dtype) if dtype.kind == "f" else np.array(_FLOATS)
        sizes = np.array(sorted(near | {0, 1, 2, 3}))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([special, sizes]).astype(dtype)
    if dtype.kind in "bO":
        return np.array([False, True] if dtype.kind == "b" else _WORDS, dtype)
    bits = tables.bits[kind] or 8
    low, high = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    small = [n for n in sorted(near) if low <= n <= high]
    edges = [n for n in (*_EDGES, *(-n for n in _EDGES)) if low <= n <= high]
    return np.array([*small * (1 + len(edges) // max(1, len(small))), *edges], dtype)


def _special_floats(dtype: np.dtype[Any]) -> NDArray[Any]:
    bits = dtype.itemsize * 8
    exponent = {16: 5, 32: 8, 64: 11}[bits]
    widths = (1, exponent, bits - 1 - exponent)
    words = ["".join(s[0] * (w - 1) + s[-1] for s, w in zip(shape, widths, strict=True)) for shape in _SHAPES]
    special = np.array([int(word, 2) for word in words], f"u{dtype.itemsize}").view(dtype)
    return np.concatenate([special, np.array([1, -1, 2.5, np.finfo(dtype).max, 1 + np.finfo(dtype).eps], dtype)])


def laid_out(descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays as a build reads them: elements that share memory are equal."""
    made = dict(arrays)
    for name, value in _inputs(descriptor):
        if name in made:
            many = isinstance(value, TensorDesc)
            pairs = [(made[name], value)] if many else list(zip(made[name], value, strict=True))
            read = [read_out(array, tensor, name) for array, tensor in pairs]
            made[name] = read[0] if many else read
    return made
