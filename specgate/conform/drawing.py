"""Descriptors for campaigns: valid ones and violations of rules.

They come from a walk over an operator's table.
"""

from __future__ import annotations

from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.descriptors.core import TensorDesc
from specgate.errors import InputError
from specgate.execution.kernels import SUMMING
from specgate.execution.tolerance import tolerance_of
from specgate.execution.types import as_array, numpy_type
from specgate.generate.constants import consistent_constants
from specgate.generate.moves import Mutator
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.seeds import counterexamples_at, examples_at, rule_numbers
from specgate.generate.walk import valid_descriptors
from specgate.oracles.cases import boundary_arrays, laid_out, tame_arrays
from specgate.spec.tables import dialect as tables
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

__all__ = ["Drawn", "Pool", "draw_cases", "fill", "pool_of", "shown_descriptors"]

#: The number of valid descriptors to draw in addition to the walk's collection.
_VALID: Final = 40
#: The number of invalid descriptors to draw per finding.
_BROKEN: Final = 2


class Drawn(NamedTuple):
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
    broken: list[Drawn]
    ids: list[str]
    numbers: list[int]


_known: WeakKeyDictionary[OperatorSpec, dict[Any, Pool]] = WeakKeyDictionary()


def pool_of(spec: OperatorSpec, level: str, seed: str) -> Pool:
    """Return the cached pool of an operator at a level; do not modify it.

    Only the part of the seed before the first slash matters. Raises InputError if the operator does not exist or no
    valid descriptor is found.
    """
    resolved = spec.resolve(level)
    if resolved is None:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.label(level)}")
    kept = _known.setdefault(spec, {})
    seed = seed.partition("/")[0]
    key = (resolved.key, seed)
    if key not in kept:
        kept[key] = _draw_pool(spec, level, Random(f"{seed}/{spec.name}"))  # noqa: S311  # reproducible
    return kept[key]


def shown_descriptors(spec: OperatorSpec, level: str, changes: int, seed: str = "0") -> Iterator[Descriptor]:
    """Yield examples, counterexamples and random changes of examples.

    `changes` is the number of random changes. Does not search for valid descriptors.
    """
    examples = list(examples_at(spec, level))
    yield from examples
    yield from counterexamples_at(spec, level)
    resolved = spec.resolve(level, "observed")
    random = Random(f"{seed}/{spec.name}/{level}")  # noqa: S311  # reproducible
    mover = Mutator(spec, random.randint, rule_numbers(resolved) if resolved else [0, 1, 2], examples)
    for _ in range(changes if examples else 0):
        yield mover.moved(random.choice(examples), 1 + random.randrange(3))


def _draw_pool(spec: OperatorSpec, level: str, random: Random) -> Pool:
    shown = list(examples_at(spec, level))
    valid = [descriptor for descriptor in shown if accepts(descriptor, level, "documented")]
    walk = valid_descriptors(spec, level, proven=not valid)
    valid += walk.descriptors
    valid += [walk.draw(random.randint) for _ in range(_VALID if walk.descriptors else 0)]
    broken = [
        *_failing(spec, level),
        *(Drawn(descriptor, "broken") for descriptor in shown if not accepts(descriptor, level, "documented")),
    ]
    breaking = broken_descriptors(spec, level)
    for aim in breaking.ids:
        for _ in range(_BROKEN):
            miss = breaking.draw(aim, random.randint)
            broken += [] if miss is None else [Drawn(miss.descriptor, miss.breaks)]
    ids = list(dict.fromkeys(drawn.origin for drawn in broken if drawn.origin != "broken"))
    resolved = spec.resolve(level, "observed")
    return Pool(valid, broken, ids, walk.numbers if resolved is None else rule_numbers(resolved))


def _failing(spec: OperatorSpec, level: str) -> Iterator[Drawn]:
    """Yield the counterexamples that fail at a level."""
    for descriptor in counterexamples_at(spec, level):
        findings = check_at(descriptor, level, "documented").findings
        if findings:
            yield Drawn(descriptor, findings[0].id)


#: Of ten cases: valid, with one error, moved to a boundary.
_MIX: Final = ("valid", "broken", "valid", "broken", "boundary", "valid", "broken", "valid", "broken", "boundary")
#: Valid according to documentation, builds, or both.
_BASES: Final[tuple[Basis, ...]] = ("documented", "both", "both", "observed")
_ATTEMPTS: Final = 12


def draw_cases(spec: OperatorSpec, level: str, count: int, seed: str) -> Iterator[Drawn]:
    """Yield at most `count` different descriptors of an operator at a level.

    The same seed gives the same descriptors. Its part before the first slash is the seed of the pool, which levels may
    share. Yields fewer if a number of attempts gives nothing new. Raises InputError if no valid descriptor is found.
    """
    source = _Source(spec, level, seed)
    seen: set[str] = set()
    for index in range(count):
        for _ in range(_ATTEMPTS):
            drawn = source.draw(_MIX[index % len(_MIX)])
            key = repr(drawn and (drawn.descriptor.fields, drawn.descriptor.oddities))
            if drawn is not None and key not in seen:
                seen.add(key)
                yield drawn
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
            "valid": [Drawn(descriptor, "valid") for descriptor in pool.valid],
            "broken": list(pool.broken),
            "boundary": [],
        }
        for kind in self.waiting.values():
            self.random.shuffle(kind)
        self.mover = Mutator(spec, self.random.randint, pool.numbers, self.valid)

    def draw(self, kind: str) -> Drawn | None:
        """Return a descriptor of one kind; None if the attempt failed."""
        if self.waiting[kind]:
            return self.waiting[kind].pop()
        if kind == "broken" and self.broken:
            return self._broken()
        if kind == "boundary":
            return Drawn(
                self.mover.moved(self._any(self.accepted or self.valid), 1 + self.random.randrange(2)), "boundary"
            )
        return self._valid()

    def _any(self, items: list[Any]) -> Any:
        return items[self.random.randrange(len(items))]

    def _valid(self) -> Drawn | None:
        basis = self._any(list(_BASES))
        known = self.accepted if basis == "both" and self.accepted else self.valid
        descriptor: Descriptor = self.mover.moved(self._any(known), 1 + self.random.randrange(4))
        if not accepts(descriptor, self.level, basis):
            return None
        if basis == "documented" or known is self.accepted:
            known[self.random.randrange(len(known))] = descriptor  # so that changes accumulate
        return Drawn(descriptor, "valid")

    def _broken(self) -> Drawn | None:
        base: Drawn = self._any(self.broken)
        descriptor = self.mover.moved(base.descriptor, 1 + self.random.randrange(3))
        return None if accepts(descriptor, self.level, "documented") else Drawn(descriptor, "broken")


def fill(descriptor: Descriptor, level: str, random: Random, *, tame: bool = False) -> dict[str, Any]:
    """Return input arrays by name, without constants.

    Contains boundary values or, if `tame`, small values. For kernels with sums, omits values that depend on the order
    of summation. An input that rules read (such as a depth) gets values that are consistent with the descriptor.

    Raises InputError and NoKernel like `specgate.testing.arrays`.
    """
    table = tables(descriptor.dialect)
    if tame:
        new_entries = tame_arrays(descriptor, random)
    else:
        new_entries = boundary_arrays(descriptor, random, summed=_summed(descriptor, level))
    for name, elements in consistent_constants(descriptor, level, random.randint).items():
        tensor = descriptor.fields[name]
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        new_entries[name] = as_array(list(elements), numpy_type(table, str(tensor.type)), (prod(shape),), name).reshape(
            shape
        )
    entries = {n: array for n, array in new_entries.items() if not _constant(descriptor.fields.get(n))}
    return laid_out(descriptor, entries) if table.tensor_rules else entries  # other kinds have no memory layout


def _summed(descriptor: Descriptor, level: str) -> bool:
    """Return whether the outputs are sums in an unspecified order.

    Such outputs are not compared bitwise.
    """
    recipe = tables(descriptor.dialect).operator(descriptor.operator).table.recipe
    if recipe is None or recipe["kernel"] not in SUMMING:
        return False
    try:
        return tolerance_of(descriptor, level) > 0
    except InputError:  # the types of the outputs are not declared yet
        return True


def _constant(value: Any) -> bool:
    return isinstance(value, TensorDesc) and value.value is not None
