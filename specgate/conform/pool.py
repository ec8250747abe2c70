"""Descriptors to start from: the tables' own examples, and others that a search through the rules finds.

A search takes tens of milliseconds, so it is made once for all levels at which the operator is the same.
"""

from __future__ import annotations

import ast
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.conform.moves import Mover
from specgate.descriptors.positional import relaid
from specgate.descriptors.read import read_dict
from specgate.errors import Error, InputError
from specgate.spec.examples import counterexample
from specgate.testing.broken import broken_descriptors
from specgate.testing.generate import valid_descriptors
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.tables import OperatorSpec

__all__ = ["Drawn", "Pool", "pool_of", "shown_descriptors"]

#: Valid descriptors to search for, and fruitless searches after which there are no more.
_VALID: Final = 40
_FRUITLESS: Final = 3
_SEARCHES: Final = 4
#: Descriptors with one thing wrong to search for, for each thing.
_BROKEN: Final = 2


class Drawn(NamedTuple):
    """A descriptor to ask about.

    origin: ``valid``, ``boundary``, the id of the finding that was searched for, or ``broken``: made from one of these.
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
    """Return the pool of an operator at a level, the same one for what stands before a seed's first slash.

    Do not change it.

    Raises InputError where the operator does not exist, or nothing valid is found.
    """
    resolved = spec.resolve(level)
    if resolved is None:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.spoken(level)}")
    kept = _known.setdefault(spec, {})
    seed = seed.partition("/")[0]
    key = (resolved.key, seed)
    if key not in kept:
        kept[key] = _made(spec, level, Random(f"{seed}/{spec.name}"))  # noqa: S311  # repeatable on purpose
    return kept[key]


def shown_descriptors(spec: OperatorSpec, level: str, changes: int, seed: str = "0") -> Iterator[Descriptor]:
    """Yield an operator's examples and counterexamples, and `changes` of its examples changed at random: no search."""
    examples = list(_examples(spec, level))
    yield from examples
    yield from _counterexamples(spec, level)
    random = Random(f"{seed}/{spec.name}/{level}")  # noqa: S311  # repeatable on purpose
    mover = Mover(spec, random, _rule_numbers(spec, level), examples, layouts=True)
    for _ in range(changes if examples else 0):
        yield mover.moved(random.choice(examples), 1 + random.randrange(3))


def _made(spec: OperatorSpec, level: str, random: Random) -> Pool:
    shown = list(_examples(spec, level))
    valid = [made for made in shown if accepts(made, level, "documented")]
    search = valid_descriptors(spec, level, proven=not valid)
    wanted, fruitless = len(valid) + _VALID, 0
    while len(valid) < wanted and fruitless < _FRUITLESS:
        found = search.draw(random.randint, _SEARCHES)
        fruitless = fruitless + 1 if found is None else 0
        valid += [] if found is None else [found]
    broken = [
        *_failing(spec, level),
        *(Drawn(made, "broken") for made in shown if not accepts(made, level, "documented")),
    ]
    breaking = broken_descriptors(spec, level)
    for aim in breaking.ids if valid and fruitless < _FRUITLESS else ():
        for _ in range(_BROKEN):
            made = breaking.draw(aim, random.randint)
            broken += [] if made is None else [Drawn(made.descriptor, made.breaks)]
    ids = list(dict.fromkeys(drawn.origin for drawn in broken if drawn.origin != "broken"))
    return Pool(valid, broken, ids, _rule_numbers(spec, level))


def _examples(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    for example in spec.raw.get("examples", {}).values():
        yield from _read(spec, level, example["descriptor"])


def _counterexamples(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    for entry in spec.raw.get("counterexamples", {}).values():
        yield from _read(spec, level, counterexample(spec, entry)[0])


def _failing(spec: OperatorSpec, level: str) -> Iterator[Drawn]:
    """Yield the counterexamples that fail at a level, as the first of their findings there."""
    for made in _counterexamples(spec, level):
        findings = check_at(made, level, "documented").findings
        if findings:
            yield Drawn(made, findings[0].id)


def _read(spec: OperatorSpec, level: str, data: Mapping[str, Any]) -> Iterator[Descriptor]:
    try:
        yield relaid(read_dict(dict(data), spec.dialect.name), spec, level)
    except Error:  # what an example ought to be, `specgate spec check` says
        return


def _rule_numbers(spec: OperatorSpec, level: str) -> list[int]:
    """Return the numbers that rules and cells at a level compare with, and their neighbours."""
    resolved = spec.resolve(level, "observed")
    found = {0, 1, 2, *(resolved.numbers.values() if resolved else ())}
    for form in (*resolved.rules, *resolved.tensor_rules) if resolved else ():
        for tree in (form.require.tree, *([form.when.tree] if form.when is not None else [])):
            found.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int)
    near = {number + step for number in found for step in (-1, 0, 1)}
    return sorted(number for number in near if 0 <= number < 2**32)
