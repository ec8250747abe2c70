"""Descriptors with inputs whose values are recorded."""

from __future__ import annotations

from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.oracle.cases import laid_out
from specgate.generate.seeds import find_operator
from specgate.generate.walk import valid_descriptors
from specgate.oracles.cases import boundary_arrays, small_arrays
from specgate.rules.functions import extent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor

__all__ = ["Drawn", "draw_cases", "features"]

#: The number of descriptors drawn per requested case.
_POOL: Final = 10


class Drawn(NamedTuple):
    """A valid descriptor and its inputs; elements in shared memory are equal."""

    descriptor: Descriptor
    runs: list[dict[str, Any]]


def draw_cases(operator: str, level: str, count: int, seed: int, *, runs: int, max_elements: int) -> Iterator[Drawn]:
    """Yield `count` valid descriptors with inputs, repeatable by seed.

    Documentation and builds accept the descriptors. They are selected from a larger set to cover types, ranks, layouts
    and attributes. runs: inputs per descriptor, one of small values, the others with boundary values. max_elements: of
    all tensors of a descriptor together; if many are larger, fewer descriptors are returned. Raises InputError if no
    valid descriptor is found.
    """
    random = Random(f"{operator} {level} {seed}")  # noqa: S311  # repeatable on purpose
    source = valid_descriptors(find_operator("directml", operator, level), level, "both")
    drawn = [*source.descriptors, *(source.draw(random.randint) for _ in range(_POOL * count))]
    pool = [descriptor for descriptor in drawn if descriptor.known_elements <= max_elements]
    for descriptor in _covering(pool, count):
        arrays = [small_arrays(descriptor, random)]
        arrays += [boundary_arrays(descriptor, random) for _ in range(runs - 1)]
        yield Drawn(descriptor, [laid_out(descriptor, each) for each in arrays])


def features(descriptor: Descriptor) -> set[tuple[Any, ...]]:
    """Return the features that a descriptor covers, as comparable tuples.

    Features are the type, rank, layout and last dimension above 1 of each tensor, the combination of types, and
    attributes with the rank of the first tensor.
    """
    items: set[tuple[Any, ...]] = set()
    tensors = {name: value for name, value in descriptor.fields.items() if isinstance(value, TensorDesc)}
    first = next((len(tensor.sizes or ()) for tensor in tensors.values()), 0)
    for name, tensor in tensors.items():
        sizes = [size for size in tensor.sizes or () if isinstance(size, int)]
        larger = [len(sizes) - d for d, size in enumerate(sizes) if size > 1]
        items |= {
            (name, "type", tensor.type),
            (name, "rank", len(sizes)),
            (name, "last", larger[-1:] == [1], len(larger)),
        }
        items |= {(name, "layout", tensor.type, word) for word in _layout(sizes, tensor)}
    items.add(("types", *(tensor.type for tensor in tensors.values())))
    items |= {(n, repr(v), first) for n, v in descriptor.fields.items() if n not in tensors}
    return items


def _layout(sizes: list[int], tensor: TensorDesc) -> set[str]:
    strides = tensor.strides
    if strides is None:
        return {"packed"}
    pairs = [(stride, size) for stride, size in zip(strides, sizes, strict=True) if size > 1]
    words = {"broadcast"} if any(stride == 0 for stride, _ in pairs) else set()
    if pairs != sorted(pairs, key=lambda pair: -pair[0]):
        words.add("permuted")
    if extent(sizes, strides) > prod(size for stride, size in pairs if stride):
        words.add("gaps")
    return words or {"strided"}


def _covering(pool: list[Descriptor], count: int) -> list[Descriptor]:
    """Return descriptors ordered by new coverage, small ones first if equal.

    A type counts twice, as each type has separate shaders.
    """

    def count_added(i: int) -> int:
        new = left[i] - covered
        return len(new) + len([feature for feature in new if feature[1] == "type"])

    left = {i: features(descriptor) for i, descriptor in enumerate(pool)}
    sizes = [descriptor.known_elements for descriptor in pool]
    chosen: list[int] = []
    covered: set[tuple[Any, ...]] = set()
    while left and len(chosen) < count:
        best = max(left, key=lambda i: (count_added(i), -sizes[i] if count_added(i) else 0, -i))
        covered |= left.pop(best)
        chosen.append(best)
    return [pool[i] for i in chosen]
