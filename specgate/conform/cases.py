"""Descriptors for campaigns: drawn from an operator's table, and shrunk."""

from __future__ import annotations

from dataclasses import replace
from math import log2, prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor, TensorDesc, is_record
from specgate.errors import InputError
from specgate.execution.kernels import SUM_KERNELS
from specgate.execution.observed import tolerance_of
from specgate.execution.types import as_array, numpy_type
from specgate.generate.moves import Mutator
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.repair import consistent_constants
from specgate.generate.seeds import counterexamples_at, examples_at, rule_numbers
from specgate.generate.walk import valid_descriptors
from specgate.oracles.cases import boundary_arrays, laid_out, small_arrays
from specgate.spec.tables import dialect as tables
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

_ROUNDS: Final = 60
_LAYOUT: Final = ("strides", "size_in_bytes", "alignment", "flags", "value")


def shrink(
    descriptor: Descriptor, spec: OperatorSpec, reproduce: Callable[[Sequence[Descriptor]], Sequence[bool]]
) -> Descriptor:
    """Return the smallest descriptor found for which `reproduce` holds.

    `reproduce` is called with many descriptors at once.
    """
    types = _number_types(spec.dialect.types)
    texts: set[str] = set()
    for _ in range(_ROUNDS):
        now = size_of(descriptor)
        candidates = []
        for candidate in _smaller(descriptor, types):
            key = repr(candidate.fields)
            if key not in texts and size_of(candidate) < now:
                texts.add(key)
                candidates.append(candidate)
        if not candidates:
            return descriptor
        survivors = [c for c, result in zip(candidates, reproduce(candidates), strict=True) if result]
        if not survivors:
            return descriptor
        descriptor = min(survivors, key=size_of)
    return descriptor


def _number_types(types: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(types)}


def size_of(descriptor: Descriptor) -> tuple[int, float, int]:
    """Return a size to compare descriptors.

    It consists of the number of parts, the magnitude of numbers, and the position of types.
    """
    types = _number_types(tables(descriptor.dialect).types)
    field_count, numbers, unusual = 0, 0.0, 0
    for value in descriptor.fields.values():
        for tensor in value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else [value]:
            if isinstance(tensor, TensorDesc):
                layout = [getattr(tensor, name) for name in _LAYOUT]
                field_count += 2 + len(tensor.sizes or ()) + sum(2 for item in layout if item is not None)
                numbers += sum(_weight(item) for item in (tensor.sizes, *layout))
                unusual += types.get(str(tensor.type), len(types))
            elif isinstance(tensor, Descriptor):
                inner = size_of(tensor)
                field_count, numbers = field_count + 1 + inner[0], numbers + inner[1]
            elif tensor is not None:
                field_count += 1
                numbers += _weight(tensor)
    return field_count, numbers, unusual


def _weight(value: Any) -> float:
    """Return a weight for a number or a list of numbers.

    It grows with each number, steeply at first, so that every step down counts.
    """
    if isinstance(value, bool | str) or value is None:
        return int(value is True)
    if isinstance(value, int):
        size = abs(value)
        return 2 * size + (value < 0) if size < 64 else 1024 * log2(size) - 6016
    if isinstance(value, float):
        return 0 if value == 0 else 1 if value == 1 else 2
    return sum(_weight(item) for item in value) if isinstance(value, list | tuple) else 1


def _smaller(descriptor: Descriptor, types: dict[str, int]) -> Iterator[Descriptor]:
    fields = descriptor.fields

    def with_changes(changes: dict[str, Any]) -> Descriptor:
        new_fields = {name: changes.get(name, value) for name, value in fields.items()}
        left = {name: value for name, value in new_fields.items() if value is not None}
        return replace(descriptor, fields=left, plain=False)

    tensors = {name: value for name, value in fields.items() if isinstance(value, TensorDesc)}
    for name in fields:
        yield with_changes({name: None})
    ranks = {len(tensor.sizes) for tensor in tensors.values() if tensor.sizes}
    for rank in ranks:
        same_rank = {name: t for name, t in tensors.items() if t.sizes is not None and len(t.sizes) == rank}
        for axis in range(rank):
            yield with_changes({name: _drop_axis(tensor, axis) for name, tensor in same_rank.items()})
            for new in (1, 2, 3):
                yield with_changes({name: _set_size(tensor, axis, new) for name, tensor in same_rank.items()})
    for text in list(types)[:4]:
        for current in {tensor.type for tensor in tensors.values()} - {text}:
            yield with_changes({n: t._replace(type=text, value=None) for n, t in tensors.items() if t.type == current})
    for name, value in fields.items():
        for candidate in _values(value, types):
            yield with_changes({name: candidate})


def _drop_axis(tensor: TensorDesc, axis: int) -> TensorDesc:
    sizes, strides = tensor.sizes or (), tensor.strides
    cut = None if strides is None or len(strides) != len(sizes) else strides[:axis] + strides[axis + 1 :]
    return tensor._replace(sizes=sizes[:axis] + sizes[axis + 1 :], strides=cut, value=None)


def _set_size(tensor: TensorDesc, axis: int, size: int) -> TensorDesc:
    sizes = tensor.sizes or ()
    return tensor._replace(sizes=(*sizes[:axis], size, *sizes[axis + 1 :]), value=None)


def _values(value: Any, types: dict[str, int]) -> Iterator[Any]:
    """Yield smaller variants of one field's value."""
    if isinstance(value, TensorDesc):
        yield from (value._replace(**{name: None}) for name in _LAYOUT if getattr(value, name) is not None)
        yield from (value._replace(type=name) for name in list(types)[:4] if name != value.type)
        for axis, size in enumerate(value.sizes or ()):
            yield _drop_axis(value, axis)
            yield from (_set_size(value, axis, new) for new in _numbers(size) if new >= 0)
        for name in ("strides", "value"):
            yield from (value._replace(**{name: items}) for items in _lists(getattr(value, name), types))
        for name in ("size_in_bytes", "alignment", "flags"):
            yield from (value._replace(**{name: new}) for new in _numbers(getattr(value, name)))
    elif is_record(value):
        yield from (value._replace(**{k: new}) for k, part in value._asdict().items() for new in _numbers(part))
    elif isinstance(value, Descriptor):
        yield from _smaller(value, types)
    elif isinstance(value, list | tuple):
        yield from _lists(value, types)
    elif isinstance(value, bool):
        yield False
    elif isinstance(value, int | float):
        yield from _numbers(value)


def _lists(items: Any, types: dict[str, int]) -> Iterator[Any]:
    for index, item in enumerate(items or ()):
        yield type(items)([*items[:index], *items[index + 1 :]])
        for candidate in _values(item, types):
            yield type(items)([*items[:index], candidate, *items[index + 1 :]])


def _numbers(number: Any) -> list[Any]:
    if isinstance(number, float):
        return [new for new in (0.0, 1.0) if new != number]
    if not isinstance(number, int):
        return [] if number is None else [1]
    options = [0, 1, 2, *(number - (number >> shift) for shift in range(1, abs(number).bit_length())), number - 1]
    return [new for new in dict.fromkeys(options) if new != number]


#: The number of valid descriptors to draw in addition to the walk's collection.
_VALID: Final = 40
#: The number of invalid descriptors to draw per finding.
_BROKEN: Final = 2


class DrawnCase(NamedTuple):
    """A descriptor to ask about.

    origin: ``valid``, ``boundary``, the id of the expected finding, or ``broken`` for a mutation of one of these.
    """

    descriptor: Descriptor
    origin: str


class Pool(NamedTuple):
    """The source of cases: valid and invalid descriptors, and numbers.

    The numbers are those that the rules mention. ids: the findings that can be triggered.
    """

    valid: list[Descriptor]
    broken: list[DrawnCase]
    ids: list[str]
    numbers: list[int]


_pools: WeakKeyDictionary[OperatorSpec, dict[Any, Pool]] = WeakKeyDictionary()


def pool_of(spec: OperatorSpec, level: str, seed: str) -> Pool:
    """Return the cached pool of an operator at a level; do not modify it.

    Only the part of the seed before the first slash matters. Raises InputError if the operator does not exist or no
    valid descriptor is found.
    """
    resolved = spec.resolve(level)
    if resolved is None:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.label(level)}")
    pool = _pools.setdefault(spec, {})
    seed = seed.partition("/")[0]
    key = (resolved.key, seed)
    if key not in pool:
        pool[key] = _draw_pool(spec, level, Random(f"{seed}/{spec.name}"))  # noqa: S311  # reproducible
    return pool[key]


def _draw_pool(spec: OperatorSpec, level: str, random: Random) -> Pool:
    level_examples = list(examples_at(spec, level))
    valid = [descriptor for descriptor in level_examples if accepts(descriptor, level, "documented")]
    walk = valid_descriptors(spec, level, proven=not valid)
    valid += walk.descriptors
    valid += [walk.draw(random.randint) for _ in range(_VALID if walk.descriptors else 0)]
    broken_cases = [
        *_failing_examples(spec, level),
        *(
            DrawnCase(descriptor, "broken")
            for descriptor in level_examples
            if not accepts(descriptor, level, "documented")
        ),
    ]
    breaking = broken_descriptors(spec, level)
    for aim in breaking.ids:
        for _ in range(_BROKEN):
            miss = breaking.draw(aim, random.randint)
            broken_cases += [] if miss is None else [DrawnCase(miss.descriptor, miss.breaks)]
    ids = list(dict.fromkeys(drawn_case.origin for drawn_case in broken_cases if drawn_case.origin != "broken"))
    resolved = spec.resolve(level, "observed")
    return Pool(valid, broken_cases, ids, walk.numbers if resolved is None else rule_numbers(resolved))


def _failing_examples(spec: OperatorSpec, level: str) -> Iterator[DrawnCase]:
    """Yield the counterexamples that fail at a level."""
    for descriptor in counterexamples_at(spec, level):
        findings = check_at(descriptor, level, "documented").findings
        if findings:
            yield DrawnCase(descriptor, findings[0].id)


#: Of ten cases: valid, with one error, moved to a boundary.
_MIX: Final = ("valid", "broken", "valid", "broken", "boundary", "valid", "broken", "valid", "broken", "boundary")
#: Valid according to documentation, builds, or both.
_BASES: Final[tuple[Basis, ...]] = ("documented", "both", "both", "observed")
_ATTEMPTS: Final = 12


def draw_cases(spec: OperatorSpec, level: str, count: int, seed: str) -> Iterator[DrawnCase]:
    """Yield at most `count` different descriptors of an operator at a level.

    The same seed gives the same descriptors. Its part before the first slash is the seed of the pool, which levels may
    share. Yields fewer if a number of attempts gives nothing new. Raises InputError if no valid descriptor is found.
    """
    source = _Source(spec, level, seed)
    texts: set[str] = set()
    for index in range(count):
        for _ in range(_ATTEMPTS):
            drawn_case = source.draw(_MIX[index % len(_MIX)])
            key = repr(drawn_case and (drawn_case.descriptor.fields, drawn_case.descriptor.oddities))
            if drawn_case is not None and key not in texts:
                texts.add(key)
                yield drawn_case
                break


class _Source:
    """Draws the pool's descriptors in random order, then mutations of them."""

    def __init__(self, spec: OperatorSpec, level: str, seed: str) -> None:
        self.level = level
        self.random = Random(seed)  # noqa: S311  # reproducible
        pool = pool_of(spec, level, seed)
        self.valid = list(pool.valid)
        self.accepted = [descriptor for descriptor in pool.valid if accepts(descriptor, level, "both")]
        self.broken = pool.broken
        self.waiting = {
            "valid": [DrawnCase(descriptor, "valid") for descriptor in pool.valid],
            "broken": list(pool.broken),
            "boundary": [],
        }
        for kind in self.waiting.values():
            self.random.shuffle(kind)
        self.mover = Mutator(spec, self.random.randint, pool.numbers, self.valid)

    def draw(self, kind: str) -> DrawnCase | None:
        """Return a descriptor of one kind; None if the attempt failed."""
        if self.waiting[kind]:
            return self.waiting[kind].pop()
        if kind == "broken" and self.broken:
            return self._draw_broken()
        if kind == "boundary":
            return DrawnCase(
                self.mover.mutate_descriptor(
                    self._pick_item(self.accepted or self.valid), 1 + self.random.randrange(2)
                ),
                "boundary",
            )
        return self._valid()

    def _pick_item(self, items: list[Any]) -> Any:
        return items[self.random.randrange(len(items))]

    def _valid(self) -> DrawnCase | None:
        basis = self._pick_item(list(_BASES))
        descriptors = self.accepted if basis == "both" and self.accepted else self.valid
        descriptor: Descriptor = self.mover.mutate_descriptor(
            self._pick_item(descriptors), 1 + self.random.randrange(4)
        )
        if not accepts(descriptor, self.level, basis):
            return None
        if basis == "documented" or descriptors is self.accepted:
            descriptors[self.random.randrange(len(descriptors))] = descriptor  # so that changes accumulate
        return DrawnCase(descriptor, "valid")

    def _draw_broken(self) -> DrawnCase | None:
        base: DrawnCase = self._pick_item(self.broken)
        descriptor = self.mover.mutate_descriptor(base.descriptor, 1 + self.random.randrange(3))
        return None if accepts(descriptor, self.level, "documented") else DrawnCase(descriptor, "broken")


def fill(descriptor: Descriptor, level: str, random: Random, *, tame: bool = False) -> dict[str, Any]:
    """Return input arrays by name, without constants.

    Contains boundary values or, if `tame`, small values. For kernels with sums, omits values that depend on the order
    of summation. An input that rules read (such as a depth) gets values that are consistent with the descriptor.

    Raises InputError and NoKernel like `specgate.testing.strategies`.
    """
    table = tables(descriptor.dialect)
    if tame:
        new_entries = small_arrays(descriptor, random)
    else:
        new_entries = boundary_arrays(descriptor, random, limits_sums=_has_unordered_sums(descriptor, level))
    for name, elements in consistent_constants(descriptor, level, random.randint).items():
        tensor = descriptor.fields[name]
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        new_entries[name] = as_array(list(elements), numpy_type(table, str(tensor.type)), (prod(shape),), name).reshape(
            shape
        )
    entries = {n: array for n, array in new_entries.items() if not _constant(descriptor.fields.get(n))}
    return laid_out(descriptor, entries) if table.tensor_rules else entries  # other kinds have no memory layout


def _has_unordered_sums(descriptor: Descriptor, level: str) -> bool:
    """Return whether the outputs are sums in an unspecified order.

    Such outputs are not compared bitwise.
    """
    recipe = tables(descriptor.dialect).operator(descriptor.operator).table.recipe
    if recipe is None or recipe["kernel"] not in SUM_KERNELS:
        return False
    try:
        return tolerance_of(descriptor, level) > 0
    except InputError:  # the types of the outputs are not declared yet
        return True


def _constant(value: Any) -> bool:
    return isinstance(value, TensorDesc) and value.value is not None
