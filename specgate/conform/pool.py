"""Descriptors that campaigns start from: what a walk over an operator's table collects, and what breaks its rules."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.errors import InputError
from specgate.generate.moves import Mutator
from specgate.generate.near import broken_descriptors
from specgate.generate.seeds import counterexamples_at, examples_at, rule_numbers
from specgate.generate.walk import valid_descriptors
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Drawn", "Pool", "pool_of", "shown_descriptors"]

#: Valid descriptors to draw beside those of the walk's collection.
_VALID: Final = 40
#: Descriptors with one thing wrong to draw, for each thing.
_BROKEN: Final = 2


class Drawn(NamedTuple):
    """A descriptor to ask about.

    origin: ``valid``, ``boundary``, the id of the finding that was aimed at, or ``broken``: made from one of these.
    """

    descriptor: Descriptor
    origin: str


class Pool(NamedTuple):
    """What cases are made from: valid by the page at a level, not so, and the numbers that its rules mention.

    ids: the findings that can be brought about.
    """

    valid: list[Descriptor]
    broken: list[Drawn]
    ids: list[str]
    numbers: list[int]


_known: WeakKeyDictionary[OperatorSpec, dict[Any, Pool]] = WeakKeyDictionary()


def pool_of(spec: OperatorSpec, level: str, seed: str) -> Pool:
    """Return the pool of an operator at a level, the same one for the part of a seed before its first slash.

    Do not change it.

    Raises InputError where the operator does not exist, or nothing valid is found.
    """
    resolved = spec.resolve(level)
    if resolved is None:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.label(level)}")
    kept = _known.setdefault(spec, {})
    seed = seed.partition("/")[0]
    key = (resolved.key, seed)
    if key not in kept:
        kept[key] = _made(spec, level, Random(f"{seed}/{spec.name}"))  # noqa: S311  # repeatable on purpose
    return kept[key]


def shown_descriptors(spec: OperatorSpec, level: str, changes: int, seed: str = "0") -> Iterator[Descriptor]:
    """Yield an operator's examples and counterexamples, and `changes` of its examples changed at random: no search."""
    examples = list(examples_at(spec, level))
    yield from examples
    yield from counterexamples_at(spec, level)
    resolved = spec.resolve(level, "observed")
    random = Random(f"{seed}/{spec.name}/{level}")  # noqa: S311  # repeatable on purpose
    mover = Mutator(spec, random.randint, rule_numbers(resolved) if resolved else [0, 1, 2], examples)
    for _ in range(changes if examples else 0):
        yield mover.moved(random.choice(examples), 1 + random.randrange(3))


def _made(spec: OperatorSpec, level: str, random: Random) -> Pool:
    shown = list(examples_at(spec, level))
    valid = [made for made in shown if accepts(made, level, "documented")]
    walk = valid_descriptors(spec, level, proven=not valid)
    valid += walk.found
    valid += [walk.draw(random.randint) for _ in range(_VALID if walk.found else 0)]
    broken = [
        *_failing(spec, level),
        *(Drawn(made, "broken") for made in shown if not accepts(made, level, "documented")),
    ]
    breaking = broken_descriptors(spec, level)
    for aim in breaking.ids:
        for _ in range(_BROKEN):
            made = breaking.draw(aim, random.randint)
            broken += [] if made is None else [Drawn(made.descriptor, made.breaks)]
    ids = list(dict.fromkeys(drawn.origin for drawn in broken if drawn.origin != "broken"))
    resolved = spec.resolve(level, "observed")
    return Pool(valid, broken, ids, walk.numbers if resolved is None else rule_numbers(resolved))


def _failing(spec: OperatorSpec, level: str) -> Iterator[Drawn]:
    """Yield the counterexamples that fail at a level, as the first of their findings there."""
    for made in counterexamples_at(spec, level):
        findings = check_at(made, level, "documented").findings
        if findings:
            yield Drawn(made, findings[0].id)
