"""The law over every operator that has a kernel: ``python -m tests.properties.campaign [--cases N] [NAME …]``.

Prints what is wrong, by class, and how many descriptors each operator computes although they are rejected, with the loose
rules that they break. Exit code 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.read import write_dict
from specgate.generate.cases import cases_of as levels_of
from specgate.generate.seeds import counterexamples_at
from specgate.spec.tables import dialect
from specgate.testing import Case, cases, operators
from tests.properties.law import ask, cases_of, empty_cases_of, with_arrays
from tests.properties.single_changes import changed_once

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = [
    "Report", "executed", "executed_cases_of", "executed_operators", "run", "run_counterexamples", "run_each", "run_empty",
]  # fmt: skip

#: Descriptors at each version or level of an operator.
CASES: Final = 200


@dataclass
class Report:
    """Counts over descriptors. loose: by operator, how often each rule was broken by what was computed nevertheless.

    wrong: by operator, kind and reason, the descriptors with their levels.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    loose_cases: Counter[str] = field(default_factory=Counter)
    loose: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return what is wrong, each class with one descriptor, then the loose cases by operator and the counts."""
        told = [
            f"{operator} {kind} {len(shown)}: {why}\n    {shown[0][:1000]}"
            for (operator, kind, why), shown in sorted(self.wrong.items())
        ]
        told += [
            f"loose {operator} {self.loose_cases[operator]}: "
            + ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
            for operator, rules in sorted(self.loose.items())
        ]
        return [*told, ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())]


def executed(names: Iterable[str] = ()) -> list[Case]:
    """Return every operator (of `names`, if any) at every level where it differs and has a kernel."""
    wanted = set(names)
    return [
        case
        for case in cases()
        if (not wanted or wanted & {case.operator, case.dialect, f"{case.dialect}/{case.operator}"})
        and dialect(case.dialect).operator(case.operator).has_kernel(case.level)
    ]


def executed_operators() -> list[tuple[str, str]]:
    """Return (dialect, operator) of every operator with a kernel: what tests run over, which is cheap to collect."""
    specs = {key: dialect(key[0]).operator(key[1]) for key in operators()}
    return [key for key, spec in specs.items() if any(spec.has_kernel(level) for level in spec.levels)]


@cache
def executed_cases_of(name: str, operator: str) -> list[Case]:
    """Return one operator at every level where it differs and has a kernel."""
    spec = dialect(name).operator(operator)
    return [case for case in levels_of(name, operator) if spec.has_kernel(case.level)]


def run(chosen: Iterable[Case], count: int, seed: str = "0", *, search: bool = False) -> Report:
    """Ask about `count` descriptors of each case; search: and those that a search through the rules finds."""
    return _asked((case, cases_of(_spec(case), case.level, count, seed, search=search)) for case in chosen)


def run_empty(chosen: Iterable[Case], count: int | None = None, seed: str = "0") -> Report:
    """Ask about descriptors with sizes of 0: `count` of each case, all dimensions of all examples if None."""
    return _asked((case, empty_cases_of(_spec(case), case.level, count, seed)) for case in chosen)


def run_each(chosen: Iterable[Case], seed: str = "0") -> Report:
    """Ask about the examples of each case with one thing changed, all such changes."""
    drawn = ((case, changed_once(_spec(case), case.level), Random(f"{seed}/{case.operator}")) for case in chosen)
    return _asked((case, with_arrays(_spec(case), case.level, made, random)) for case, made, random in drawn)


def run_counterexamples(chosen: Iterable[Case], seed: str = "0") -> Report:
    """Ask about the counterexamples of each case, without their outputs where these may be left out."""
    return _asked((case, with_arrays(_spec(case), case.level, _counterexamples(case), Random(seed))) for case in chosen)


def _counterexamples(case: Case) -> Iterator[Descriptor]:
    spec = _spec(case)
    outputs = {info.name for info in spec.outputs} if spec.dialect.infers_outputs else set()
    for made in counterexamples_at(spec, case.level):
        yield replace(made, fields={name: value for name, value in made.fields.items() if name not in outputs})


def _spec(case: Case) -> OperatorSpec:
    return dialect(case.dialect).operator(case.operator)


def _asked(chosen: Iterable[tuple[Case, Iterable[tuple[Descriptor, dict[str, Any]]]]]) -> Report:
    report = Report()
    for case, drawn in chosen:
        spec = _spec(case)
        for descriptor, arrays in drawn:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                answer = ask(spec, descriptor, arrays, case.level)
            report.kinds[answer.kind] += 1
            if answer.kind == "loose":
                report.loose_cases[f"{case.dialect}/{case.operator}"] += 1
                report.loose.setdefault(f"{case.dialect}/{case.operator}", Counter()).update(answer.rules)
            if answer.violation:
                key = (f"{case.dialect}/{case.operator}", answer.kind, answer.why)
                shown = f"{case.level} {json.dumps(write_dict(descriptor), default=str)} {answer.rules}"
                report.wrong.setdefault(key, []).append(shown)
    return report


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.properties.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", help="dialects or operators (onnx, onnx/Add, JOIN); all if left out")
    parser.add_argument("--cases", type=int, default=CASES, help="descriptors at each level of an operator")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--search", action="store_true", help="search for more descriptors, which takes long")
    parser.add_argument("--empty", action="store_true", help="sizes of 0 in each dimension of the examples instead")
    parser.add_argument("--each", action="store_true", help="the examples with one thing changed instead")
    given = parser.parse_args(arguments)
    if given.empty:
        report = run_empty(executed(given.names), seed=given.seed)
    elif given.each:
        report = run_each(executed(given.names), given.seed)
    else:
        report = run(executed(given.names), given.cases, given.seed, search=given.search)
    print("\n".join(report.lines()))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
