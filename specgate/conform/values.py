"""Values: the executor's outputs beside those of real implementations, element by element."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.compare import values_kind
from specgate.conform.draw import draw_cases
from specgate.conform.fill import fill
from specgate.conform.result import Difference, ValueTally
from specgate.conform.shrink import size_of
from specgate.conform.sides import open_values
from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import write_dict
from specgate.errors import Error
from specgate.execution.engine import execute_at
from specgate.execution.tolerance import differing, tolerance_of
from specgate.rules.primitives import extent
from specgate.spec.tables import dialect as tables
from specgate.testing.helpers import reproduce
from specgate.validate.check import accepts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.conform.result import Kind
    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Values
    from specgate.spec.tables import OperatorSpec

__all__ = ["compare_values", "same_values"]

#: Sets of arrays for each descriptor: making it ready is the dear part.
_RUNS: Final = 4
#: Places of the largest tensor's buffer; more only take time.
_MAX_ELEMENTS: Final = 2**14


@dataclass(slots=True)
class _Count:
    cases: int = 0
    equal: int = 0
    unavailable: Counter[str] = field(default_factory=Counter)
    differing: dict[tuple[Kind, str], list[Any]] = field(default_factory=dict)


def compare_values(
    dialect: str, operator: str, level: str, cases: int, seed: int, until: float
) -> tuple[list[ValueTally], Mapping[str, str]]:
    """Return a tally for each implementation that computes values at a level, and their versions.

    There are none where the operator has no kernel.

    cases: executions, four for each descriptor drawn. What the page leaves undefined (masked) may be anything.
    """
    spec = tables(dialect).operator(operator)
    if spec.raw.get("execute") is None:
        return [], {}
    random = Random(f"{seed}/{operator}/{level}/values")  # noqa: S311  # repeatable on purpose
    counts: dict[str, _Count] = {}
    oracle = open_values(dialect, level)
    if oracle is None:
        return [], {}
    versions = {f"{name} (values)": version for name, version in getattr(oracle, "value_versions", {}).items()}
    try:
        for descriptor in _executable(spec, level, max(1, cases // _RUNS), seed):
            try:
                sets = [fill(descriptor, level, random, tame=run % 2 == 1) for run in range(_RUNS)]
            except Error as error:
                counts.setdefault("specgate", _Count()).unavailable[str(error)] += _RUNS
                continue
            for arrays, answers in zip(sets, oracle.values_many(descriptor, sets), strict=True):
                _compare(spec, level, descriptor, arrays, answers, counts)
            if time.time() > until:
                break
    finally:
        oracle.close()
    return [_tally(spec, level, name, count) for name, count in counts.items()], versions


def _executable(spec: OperatorSpec, level: str, count: int, seed: int) -> Iterator[Descriptor]:
    """Yield descriptors that the page and builds accept, of which no tensor is large."""
    drawn = (each.descriptor for each in draw_cases(spec, level, 8 * count, f"{seed}/{spec.name}/{level}/values"))
    fitting = (made for made in drawn if accepts(made, level, "both") and _elements(made) <= _MAX_ELEMENTS)
    yield from islice(fitting, count)


def _elements(descriptor: Descriptor) -> int:
    """Return how many places the largest tensor's buffer has."""
    sizes = [0]
    for _, tensor in descriptor.tensors():
        shape = [size for size in tensor.sizes or () if isinstance(size, int)]
        sizes.append(max(prod(shape), extent(shape, tensor.strides) if tensor.strides else 0))
    return max(sizes)


def _compare(
    spec: OperatorSpec,
    level: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    answers: Mapping[str, Values],
    counts: dict[str, _Count],
) -> None:
    try:
        ours: dict[str, NDArray[Any]] | str = execute_at(descriptor, arrays, level)
    except Error as error:
        ours = f"the executor refuses: {error}"
    for name, answer in answers.items():
        count = counts.setdefault(name, _Count())
        if answer.arrays is None:
            count.unavailable[f"{answer.reply.word}: {_kind(answer.reply.detail)}".rstrip(": ")] += 1
            continue
        count.cases += 1
        problem = ours if isinstance(ours, str) else _difference(ours, answer.arrays, tolerance_of(descriptor, level))
        if not problem:
            count.equal += 1
            continue
        kind, what = values_kind(spec, level, name, descriptor)
        if what:
            problem = f"{what}; {problem}"
        types = "/".join(str(v.type) for v in descriptor.fields.values() if isinstance(v, TensorDesc))
        found = count.differing.setdefault((kind, what or types), [0, problem, descriptor])
        found[0] += 1
        if size_of(descriptor) < size_of(found[2]):
            found[1:] = [problem, descriptor]


def _kind(detail: str) -> str:
    """Return a reason without the numbers in it, so that equal reasons are counted together."""
    return re.sub(r"\d+", "N", detail)[:80]


def _difference(ours: Mapping[str, Any], theirs: Mapping[str, Any], tolerance: float = 0.0) -> str:
    """Return where the outputs differ first by more than the table's tolerance, "" if nowhere."""
    for name, mine in ours.items():
        if name not in theirs:
            return f"{name}: not computed"
        problem = same_values(mine, theirs[name], tolerance)
        if problem:
            return f"{name}: {problem}"
    return ""


def same_values(mine: Any, other: Any, tolerance: float = 0.0) -> str:
    """Return how two outputs differ, "" if they do not: bit by bit without a tolerance, any nan like any other.

    Masked elements of ours may be anything; masked ones of theirs were not written, and ours must be masked there.
    """
    import numpy as np

    theirs = np.ma.getdata(other)
    own = np.ma.getdata(mine)
    if own.shape != theirs.shape or own.dtype != theirs.dtype:
        return f"{own.dtype} {list(own.shape)}, theirs {theirs.dtype} {list(theirs.shape)}"
    if not own.size:
        return ""
    free = np.ma.getmaskarray(mine)
    if own.dtype.kind == "O":
        wrong = np.asarray(own != theirs, dtype=bool)
    else:
        flat = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(own.size, -1) for a in (own, theirs)]
        wrong = (flat[0] != flat[1]).any(axis=1).reshape(own.shape)
        if own.dtype.kind in "fcV":
            with np.errstate(invalid="ignore"):
                wrong &= ~((own != own) & (theirs != theirs))  # noqa: PLR0124  # nan, also in types that isnan lacks
    if tolerance:
        wrong &= differing(own, theirs, tolerance)
    wrong = (wrong | np.ma.getmaskarray(other)) & ~free
    if not wrong.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0]) if own.ndim else ()
    return f"{int(wrong.sum())} of {own.size} elements, at {list(place)} {own[place]!s} and {theirs[place]!s}"


def _tally(spec: OperatorSpec, level: str, name: str, count: _Count) -> ValueTally:
    examples = sorted(count.differing.items(), key=lambda item: (item[0][0] != "unexplained", -item[1][0]))
    differences = tuple(
        Difference(
            operator=spec.name,
            level=level,
            implementation=name,
            kind=kind,
            findings=(),
            theirs="other values",
            detail=problem,
            count=number,
            descriptor=write_dict(descriptor),
            command=reproduce(descriptor, f"{spec.dialect.name}:{level}"),
        )
        for (kind, _), (number, problem, descriptor) in examples
    )
    return ValueTally(spec.name, level, name, count.cases, count.equal, dict(count.unavailable), differences)
