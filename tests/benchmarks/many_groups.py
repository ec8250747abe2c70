"""Many descriptors of one operator as columns, against checks in a loop."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import specgate
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.benchmarks.peers import directml_creates
from tests.benchmarks.timing import Contender, Group
from tests.drawing import shown_descriptors
from tests.properties.to_columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["many_contenders", "many_groups"]

LEVEL: Final = "6.2"
OPERATORS: Final = ("ONE_HOT", "GEMM", "CONVOLUTION")
ROWS: Final = 200_000
CHANGES: Final = 2_000  # per operator; rows are the accepted changes of examples with the same structure
SINGLE: Final = 1_000


def many_groups() -> Iterator[Group]:
    """Time per descriptor, as columns and in a loop."""
    for operator in OPERATORS:
        descriptors = alike_of(operator)
        with directml_creates(descriptors[0], LEVEL) as created:
            contenders = [*many_contenders(operator, descriptors), created]
            yield Group(f"one of {ROWS} descriptors of {operator}, as columns", contenders)


def many_contenders(operator: str, descriptors: Sequence[Descriptor]) -> list[Contender]:
    """Return a function that checks accepted descriptors and returns seconds each."""
    columns = {name: _repeat(values) for name, values in columns_of(descriptors).items()}
    if not specgate.accepts_many(operator, columns, f"directml:{LEVEL}").all():
        raise specgate.Error(f"columns of accepted descriptors of {operator} are rejected: timing means nothing")
    rows = [descriptors[row % len(descriptors)] for row in range(SINGLE)]
    return [
        Contender("specgate.accepts_many", partial(_many, operator, columns), own=True, reports=True),
        Contender("accepts, one by one", partial(_single, rows), own=True, reports=True),
    ]


def alike_of(operator: str) -> Sequence[Descriptor]:
    """Return the largest set of accepted changes with the same structure.

    Fields, ranks and lengths of arrays are the same.
    """
    descriptors_by_items: dict[tuple[Any, ...], list[Descriptor]] = defaultdict(list)
    for descriptor in shown_descriptors(dialect("directml").operator(operator), LEVEL, CHANGES):
        fused = any(isinstance(value, Descriptor) for value in descriptor.fields.values())
        if not fused and accepts(descriptor, LEVEL) and accepts(descriptor, LEVEL, "observed"):
            descriptors_by_items[tuple((name, _shape(value)) for name, value in descriptor.fields.items())].append(
                descriptor
            )
    return max(descriptors_by_items.values(), key=len)


def _shape(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return tuple(len(part) if isinstance(part, tuple) else part is None for part in value[1:])
    return len(value) if isinstance(value, list) else None


def _repeat(values: Sequence[Any]) -> Any:
    """Return a column of ROWS rows, with words as categories."""
    picks = np.arange(ROWS) % len(values)
    if all(isinstance(value, str) for value in values):
        kinds = sorted(set(values))
        codes = np.array([kinds.index(value) for value in values], np.int8)
        return SimpleNamespace(codes=codes[picks], categories=kinds)
    return np.array(values)[picks]


def _many(operator: str, columns: dict[str, Any]) -> float:
    start = process_time()
    specgate.accepts_many(operator, columns, f"directml:{LEVEL}")
    return (process_time() - start) / ROWS


def _single(rows: Sequence[Descriptor]) -> float:
    start = process_time()
    for descriptor in rows:
        accepts(descriptor, LEVEL)
    return (process_time() - start) / len(rows)
