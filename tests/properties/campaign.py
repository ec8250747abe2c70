"""The law for every operator with a kernel.

``python -m tests.properties.campaign [--cases N] [NAME …]`` prints violations by class, and per operator the number of
rejected descriptors that it computes, with the loose rules that they break. Exit code 1 if there is a violation.
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
    "Report", "execute_all", "executed_cases_of", "executed_operators", "run", "run_counterexamples", "run_each", "run_empty",
]  # fmt: skip

#: Descriptors per version or level of an operator.
CASES: Final = 200


@dataclass
class Report:
    """Counts over descriptors.

    loose: by operator, how often computed descriptors broke each rule. wrong: by operator, kind and reason, the
    descriptors with their levels.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    loose_cases: Counter[str] = field(default_factory=Counter)
    loose: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the violations, one descriptor per class, then loose cases and counts."""
        messages = [
            f"{operator} {kind} {len(shown)}: {why}\n    {shown[0][:1000]}"
            for (operator, kind, why), shown in sorted(self.wrong.items())
        ]
        messages += [
            f"loose {operator} {self.loose_cases[operator]}: "
            + ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
            for operator, rules in sorted(self.loose.items())
        ]
        return [*messages, ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())]


def execute_all(names: Iterable[str] = ()) -> list[Case]:
    """Return every operator with a kernel at every level where it differs.

    names: only these, if any.
    """
    expected = set(names)
    return [
        case
        for case in cases()
        if (not expected or expected & {case.operator, case.dialect, f"{case.dialect}/{case.operator}"})
        and dialect(case.dialect).operator(case.operator).has_kernel(case.level)
    ]


def executed_operators() -> list[tuple[str, str]]:
    """Return (dialect, operator) of every operator with a kernel, quickly."""
    specs = {key: dialect(key[0]).operator(key[1]) for key in operators()}
    return [key for key, spec in specs.items() if any(spec.has_kernel(level) for level in spec.levels)]


@cache
def executed_cases_of(name: str, operator: str) -> list[Case]:
    """Return one operator at every level where it differs and has a kernel."""
    spec = dialect(name).operator(operator)
    return [case for case in levels_of(name, operator) if spec.has_kernel(case.level)]


def run(chosen: Iterable[Case], count: int, seed: str = "0", *, search: bool = False) -> Report:
    """Check `count` descriptors of each case.

    search: also those that a search through the rules finds.
    """
    return _ask((case, cases_of(_spec(case), case.level, count, seed, search=search)) for case in chosen)


def run_empty(chosen: Iterable[Case], count: int | None = None, seed: str = "0") -> Report:
    """Check `count` descriptors of each case with sizes of 0.

    None: all dimensions of all examples.
    """
    return _ask((case, empty_cases_of(_spec(case), case.level, count, seed)) for case in chosen)


def run_each(chosen: Iterable[Case], seed: str = "0") -> Report:
    """Check the examples of each case with every single change."""
    drawn = ((case, changed_once(_spec(case), case.level), Random(f"{seed}/{case.operator}")) for case in chosen)
    return _ask(
        (case, with_arrays(_spec(case), case.level, descriptors, random)) for case, descriptors, random in drawn
    )


def run_counterexamples(chosen: Iterable[Case], seed: str = "0") -> Report:
    """Check the counterexamples of each case, without outputs where optional."""
    return _ask((case, with_arrays(_spec(case), case.level, _counterexamples(case), Random(seed))) for case in chosen)


def _counterexamples(case: Case) -> Iterator[Descriptor]:
    spec = _spec(case)
    outputs = {info.name for info in spec.outputs} if spec.dialect.infers_outputs else set()
    for descriptor in counterexamples_at(spec, case.level):
        yield replace(
            descriptor, fields={name: value for name, value in descriptor.fields.items() if name not in outputs}
        )


def _spec(case: Case) -> OperatorSpec:
    return dialect(case.dialect).operator(case.operator)


def _ask(chosen: Iterable[tuple[Case, Iterable[tuple[Descriptor, dict[str, Any]]]]]) -> Report:
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
    inputs = parser.parse_args(arguments)
    if inputs.empty:
        report = run_empty(execute_all(inputs.names), seed=inputs.seed)
    elif inputs.each:
        report = run_each(execute_all(inputs.names), inputs.seed)
    else:
        report = run(execute_all(inputs.names), inputs.cases, inputs.seed, search=inputs.search)
    print("\n".join(report.lines()))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
