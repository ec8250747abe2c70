"""Helpers of all renderers of a campaign, and the campaign as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.result import KIND_ORDER
from specgate.report.clean import well_formed
from specgate.report.jsonreport import dumps, safe_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.conform.result import Difference, Kind, Result, RuleCount, Tally


def render(result: Result) -> str:
    """Return the result as indented ASCII JSON."""
    return dumps(document(result))


def document(result: Result) -> dict[str, Any]:
    """Return ``Result.as_dict()`` with values that JSON supports.

    Tuples become lists. Lone surrogates, and NaN in descriptors, are replaced.
    """
    data = result.as_dict()
    all_differences = [difference for tally in data["values"] for difference in tally["differing"]]
    descriptors = [(d, safe_values(d.pop("descriptor"))) for d in (*data["differences"], *all_differences)]
    for difference, descriptor in descriptors:
        difference["descriptor"] = descriptor
    plain_data: dict[str, Any] = _to_plain_data(data)
    return plain_data


def _to_plain_data(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _to_plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain_data(item) for item in value]
    return value


_WIDTH: Final = 96


def one_line(descriptor: Mapping[str, Any]) -> str:
    """Return a descriptor as ASCII JSON on one line.

    It cannot contain a workflow command of a CI server.
    """
    return _dump(safe_values(descriptor))


def format_descriptor(descriptor: Mapping[str, Any]) -> str:
    """Return a descriptor as ASCII JSON, with line breaks in long lines."""
    return _format_json(safe_values(descriptor), 0)


def _format_json(value: Any, indent: int) -> str:
    line = _dump(value)
    if len(line) + indent <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{_dump(key)}: {_format_json(item, indent + 2)}" for key, item in value.items()]
        begin, end = "{}"
    else:
        parts = [_format_json(item, indent + 2) for item in value]
        begin, end = "[]"
    return f"{begin}\n{pad}" + f",\n{pad}".join(parts) + f"\n{' ' * indent}{end}"


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    # Both only occur in strings, where the escape is equivalent.
    return text.replace("##", "#\\u0023").replace("::", ":\\u003a")


_NOT_TESTABLE: Final = "not testable"
_ACCEPTED: Final = "known to be accepted"
_REASONS: Final = {
    _NOT_TESTABLE: "not expressible in any implementation's input",
    _ACCEPTED: "recorded as accepted by implementations",
}


@dataclass(frozen=True, slots=True)
class MissingCases:
    """The levels at which a rule lacks the same cases.

    The cases are like ``("rejecting", "oracle")``. explained: the oracle case is missing because no oracle is available
    or because builds are known to accept it.
    """

    cases: tuple[str, ...]
    levels: tuple[str, ...]
    explained: str = ""

    def __str__(self) -> str:
        explanation = f" ({self.explained})" if self.explained else ""
        return f"no {', no '.join(self.cases)} case{explanation} at {', '.join(self.levels)}"


@dataclass(frozen=True, slots=True)
class Rule:
    """The counts of a rule summed over all levels, and its missing cases."""

    operator: str
    finding: str
    accepting: int
    rejecting: int
    oracle: int
    lacks: tuple[MissingCases, ...]

    @property
    def open(self) -> tuple[MissingCases, ...]:
        """The unexplained missing cases."""
        return tuple(missing_case for missing_case in self.lacks if not missing_case.explained)


def rules_met(rules: Iterable[RuleCount]) -> list[Rule]:
    """Return the rules by operator and finding, summed over levels."""
    groups: dict[tuple[str, str], list[RuleCount]] = {}
    for rule in sorted(rules, key=lambda r: (natural_key(r.operator), natural_key(r.finding), natural_key(r.level))):
        groups.setdefault((rule.operator, rule.finding), []).append(rule)
    return [
        Rule(
            *key,
            accepting=sum(r.accepting for r in group),
            rejecting=sum(r.rejecting for r in group),
            oracle=sum(r.oracle for r in group),
            lacks=_missing_cases(group),
        )
        for key, group in groups.items()
    ]


def describe_coverage(covered_rules: Sequence[Rule]) -> str:
    """Return the number of covered rules, and reasons for the others."""
    open_count = sum(bool(rule.open) for rule in covered_rules)
    whys = Counter(missing_case.explained for rule in covered_rules if not rule.open for missing_case in rule.lacks[:1])
    complete = len(covered_rules) - open_count - whys.total()
    text = f"{complete:,} of {count(len(covered_rules), 'rule and cell', 'rules and cells')} have"
    text += " an accepting, a rejecting and an oracle case at every level"
    return "; ".join(
        [text, *(f"{number:,} have no oracle case because it is {_REASONS[reason]}" for reason, number in whys.items())]
    )


def _missing_cases(group: list[RuleCount]) -> tuple[MissingCases, ...]:
    texts_by_key: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for rule in group:
        missing_names = tuple(name for name in ("accepting", "rejecting", "oracle") if not getattr(rule, name))
        if missing_names:
            texts_by_key.setdefault(
                (missing_names, _explain_rule(rule) if missing_names == ("oracle",) else ""), []
            ).append(rule.level)
    return tuple(MissingCases(cases, tuple(levels), reason) for (cases, reason), levels in texts_by_key.items())


def _explain_rule(rule: RuleCount) -> str:
    if rule.unasked == rule.rejecting:
        return _NOT_TESTABLE
    return _ACCEPTED if rule.unasked + rule.waived == rule.rejecting else ""


_VERDICTS: Final = ("accepted", "rejected")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key for natural sorting, ignoring case.

    ``opset9`` sorts before ``opset13``, and ``2.1`` before ``10.0``.
    """
    digits = "0123456789"
    runs = ("".join(run) for _, run in groupby(text.casefold(), digits.__contains__))
    keys = ((0, len(n := run.lstrip("0")), n) if run[0] in digits else (1, 0, run) for run in runs)
    return (*keys, (-1, 0, text))  # shorter first; a definite order for names that differ in case or zeros only


def count(number: int, noun: str, nouns: str = "") -> str:
    """Return ``1 case`` or ``1,200 cases``."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def percent(part: int, total: int) -> str:
    """Return a percentage with two decimals, rounded down.

    Only all is ``100.00``, and only none is ``0.00``.
    """
    if total <= 0:
        return "-"
    hundredths = part * 10_000 // total
    return "<0.01" if part > 0 and hundredths == 0 else f"{hundredths // 100}.{hundredths % 100:02}"


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of tallies."""

    cases: int
    accepted: int
    documented: int
    observed: int

    @classmethod
    def of(cls, tallies: Iterable[Tally]) -> Sum:
        """Return the sum of `tallies`."""
        rows = [(t.cases, t.accepted, t.documented, t.observed) for t in tallies]
        return cls(*(sum(column) for column in zip(*rows, strict=True))) if rows else cls(0, 0, 0, 0)

    @property
    def percents(self) -> tuple[str, str, str]:
        """Return acceptance, documented and observed agreement in percent."""
        return (
            percent(self.accepted, self.cases),
            percent(self.documented, self.cases),
            percent(self.observed, self.cases),
        )


def sort_tallies(result: Result) -> list[Tally]:
    """Return the tallies by operator, level and implementation.

    Implementations are in the order of `result.versions`.
    """
    return sorted(
        result.tallies,
        key=lambda t: (
            natural_key(t.operator),
            natural_key(t.level),
            _rank(result, t.implementation),
            t.implementation,
        ),
    )


def _rank(result: Result, implementation: str) -> int:
    """Return the position of an implementation in `result.versions`.

    Entries may be the name alone, or the name with levels.
    """
    names = (name == implementation or name.startswith(f"{implementation} ") for name in result.versions)
    return next((index for index, result in enumerate(names) if result), len(result.versions))


def differences_by_kind(result: Result) -> dict[Kind, list[Difference]]:
    """Return the differences by kind, unexplained ones first."""
    kinds = {kind: [d for d in result.differences if d.kind == kind] for kind in KIND_ORDER}
    return {kind: differences for kind, differences in kinds.items() if differences}


def describe_our_verdict(findings: Sequence[str]) -> str:
    """Return our side of a difference in words."""
    return f"rejected by {', '.join(findings)}" if findings else "accepted"


def size(differences: Sequence[Difference]) -> str:
    """Return ``12 cases in 3 classes``."""
    return f"{count(sum(d.count for d in differences), 'case')} in {count(len(differences), 'class', 'classes')}"


def agreements(result: Result) -> dict[str, Sum]:
    """Return the sum per implementation, in order of `result.versions`."""
    names = sorted({t.implementation for t in result.tallies}, key=lambda name: (_rank(result, name), name))
    return {name: Sum.of(t for t in result.tallies if t.implementation == name) for name in names}


def answers(words: Mapping[str, int]) -> str:
    """Return the replies other than ``accepted`` and ``rejected``, counted."""
    other = sorted((word, number) for word, number in words.items() if word not in _VERDICTS and number)
    return ", ".join(f"{word} {number:,}" for word, number in other)


def count_uncomputed(result: Result) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Return why values are missing, the most frequent reason first.

    Each entry has implementation, reason, count, and operators.
    """
    pairs_by_texts: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for tally in result.values:
        for reason, number in tally.unavailable.items():
            pairs_by_texts.setdefault((tally.implementation, reason), []).append((number, tally.operator))
    rows = [
        (
            implementation,
            reason,
            sum(n for n, _ in entries),
            tuple(sorted({operator for _, operator in entries}, key=natural_key)),
        )
        for (implementation, reason), entries in pairs_by_texts.items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[:2]))


def value_lines(result: Result) -> list[tuple[str, str, str, int, int, int]]:
    """Return one tuple per value tally, in order.

    It has operator, level, implementation, cases, equal, not computed.
    """
    return sorted(
        ((v.operator, v.level, v.implementation, v.cases, v.equal, sum(v.unavailable.values())) for v in result.values),
        key=lambda row: (natural_key(row[0]), natural_key(row[1]), row[2]),
    )


def headline(result: Result) -> str:
    """Return a one-sentence summary, unexplained differences first."""
    total = Sum.of(result.tallies)
    values = [sum(column) for column in zip(*((v.cases, v.equal) for v in result.values), strict=True)] or [0, 0]
    open_values = sum(d.count for v in result.values for d in v.differing if d.kind == "unexplained")
    if not total.cases and not values[0]:
        texts = ["nothing was compared"]
    elif result.unexplained:
        of_values = f" ({open_values:,} of them values)" if open_values else ""
        texts = [f"{count(result.unexplained, 'case')} UNEXPLAINED{of_values}"]
    else:
        texts = ["nothing unexplained"]
    texts.append(f"{count(result.cases, 'descriptor')}, {count(total.cases, 'verdict')}")
    if total.cases:
        texts.append(f"agreement {total.percents[1]} % documented, {total.percents[2]} % observed")
    if values[0]:
        explained = percent(values[0] - open_values, values[0])
        texts.append(f"{percent(values[1], values[0])} % of {count(values[0], 'value')} equal, {explained} % explained")
    if result.capped:
        texts.append("STOPPED BY THE TIME LIMIT")
    return "; ".join(texts)


def values_by_kind(result: Result) -> list[tuple[Kind, list[Difference]]]:
    """Return the value differences by kind, unexplained ones first."""
    differences = [d for tally in result.values for d in tally.differing]
    pairs = [(kind, [d for d in differences if d.kind == kind]) for kind in KIND_ORDER]
    return [(kind, kind_differences) for kind, kind_differences in pairs if kind_differences]


def repeat_command(result: Result, form: str) -> str:
    """Return the shell command that repeats the campaign in format `form`."""
    return f"{result.command} --format {form}"
