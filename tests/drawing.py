"""Descriptors of an operator near its examples."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from specgate.generate.moves import Mutator
from specgate.generate.seeds import counterexamples_at, examples_at, rule_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec


def shown_descriptors(spec: OperatorSpec, level: str, changes: int, seed: str = "0") -> Iterator[Descriptor]:
    """Yield examples, counterexamples and random changes of examples.

    `changes` is the number of random changes. Does not search for valid descriptors.
    """
    examples = list(examples_at(spec, level))
    yield from examples
    yield from counterexamples_at(spec, level)
    resolved = spec.resolve(level, "observed")
    random = Random(f"{seed}/{spec.name}/{level}")
    mover = Mutator(spec, random.randint, rule_numbers(resolved) if resolved else [0, 1, 2], examples)
    for _ in range(changes if examples else 0):
        yield mover.mutate_descriptor(random.choice(examples), 1 + random.randrange(3))
