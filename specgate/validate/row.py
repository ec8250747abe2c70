"""Failures and undecided parts of a descriptor at one level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import (
    UNSTATED,
    Descriptor,
    NumberedWord,
    TensorDesc,
    format_value,
    is_record,
    placed_items,
)
from specgate.rules.evaluate import UNKNOWN
from specgate.rules.explain import decisive_parts, explain
from specgate.rules.walk import walk
from specgate.rules.words import words
from specgate.slotted import replace
from specgate.validate.conditional_rows import NO_CASE
from specgate.validate.facts import Facts
from specgate.validate.failures import (
    CheckedDescriptor,
    Failure,
    bound_value,
    broken_failure,
    plain_value,
    rule_failures,
)
from specgate.validate.message import field_elsewhere
from specgate.validate.moved import moves_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Malformed
    from specgate.rules.evaluate import Context, Undefined
    from specgate.rules.explain import Leaf
    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Case, Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.moved import Move


def row_failures(descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool = False) -> list[Failure]:
    """Return every failure of `descriptor` by a row without cases.

    Rules that only repeat another failure are left out. bare: only count failures and report whether they are certain,
    which is much faster.
    """
    key = (id(descriptor), id(resolved))
    if not bare and key in facts.rows:
        return facts.rows[key][1]
    move = moves_of(descriptor, resolved)
    if move is not None and move.readings:
        failures = _moved_failures(move, descriptor, resolved, bare=bare)
        if not bare:
            facts.rows[key] = resolved, failures
        return failures
    context = facts.context(descriptor, resolved)
    explaining = _FailureEngine(CheckedDescriptor(descriptor, resolved, facts, row_failures, bare), context)
    failures = [*explaining.oddities()]
    for step in walk(resolved.steps, explaining):
        failures += step
    if explaining.hidden:
        failures = [failure for failure in failures if not explaining.hides(failure)]
    broken_rules = explaining.broken
    if broken_rules and not any(not f.unknown for f in failures):
        # no other failure explains why these rules have no value, so they are reported themselves
        failures += [broken_failure(form, place, error) for form, place, error in broken_rules]
    if not bare:
        facts.rows[key] = resolved, failures
    return failures


def _moved_failures(move: Move, descriptor: Descriptor, resolved: Resolved, *, bare: bool) -> list[Failure]:
    """Return one failure for moved fields, and those after the move."""
    rest = [row_failures(reading, resolved, Facts(), bare=bare) for reading in move.readings]
    least = min(rest, key=lambda failures: sum(not failure.unknown for failure in failures))
    return [move.failure(resolved, descriptor), *(least if move.complete else (f for f in least if not f.unknown))]


class _FailureEngine:
    """Engine that lists the failures of each step.

    lost: missing or odd fields; rules that read them would only repeat the failure. hidden: parts of cells already
    reported. broken: rules without a value.
    """

    def __init__(self, judged_fields: CheckedDescriptor, context: Context) -> None:
        self.judged = judged_fields
        self.context = context
        self.lost: set[str] = set()
        self.hidden: set[tuple[str, str]] = set()
        self.broken: list[tuple[RuleForm, str, Undefined]] = []
        self.odd = {oddity.where for oddity in judged_fields.descriptor.oddities}

    def hides(self, failure: Failure) -> bool:
        """Return whether a cell's failure only repeats another one."""
        return (failure.rule.partition(".")[0], failure.aspect + "s") in self.hidden

    def oddities(self) -> Iterator[Failure]:
        """Yield failures of parts that the reader reported as odd."""
        for oddity in self.judged.descriptor.oddities:
            if is_excused(oddity, self.judged.resolved):
                continue
            name = oddity.where.partition("[")[0]
            failure = _oddity_failure(oddity, name, self.judged.resolved)
            self.lost |= {name, failure.where}
            if oddity.code == "unknown-word":  # already reported as an oddity
                self.hidden.add((name, "types"))
            elif oddity.code == "wrong-kind":
                self.hidden.add((name, "values"))
            yield failure

    def presence(self, info: FieldInfo) -> Iterable[Failure]:
        """Return the failure of a missing field or a too short array."""
        name, result = info.name, self.judged.descriptor.fields.get(info.name)
        if result is None and name not in self.odd and not self.judged.resolved.spec.dialect.may_omit(info):
            message = f"{info.vendor_name} is required, but missing"
        elif info.min_count is not None and isinstance(result, list | tuple) and len(result) < info.min_count:
            message = f"{name} has {len(result)} elements; at least {info.min_count} are required"
        else:
            return ()
        self.lost.add(name)
        return (Failure(f"{name}.required", name, message, aspect="structure", structural=True),)

    def absence(self, name: str) -> Iterable[Failure]:
        """Return the failure of a field that the level does not have."""
        result = self.judged.descriptor.fields.get(name)
        if result is None:
            return ()
        self.lost.add(name)
        message = field_elsewhere(self.judged.resolved.spec, name, self.judged.resolved.level)
        return (
            Failure(f"{name}.exists", name, message, {name: plain_value(result)}, aspect="structure", structural=True),
        )

    def cell(self, info: FieldInfo, cell: Cell | None) -> Iterable[Failure]:
        """Return the failures of a field's value by its cell."""
        resolved, value = self.judged.resolved, self.context.fields[info.name]
        if not self.judged.descriptor.oddities and not info.fuses and resolved.cell_checks[info.name](value) is True:
            return ()
        return cell_failures(info, cell, value, resolved)

    def tensors(self, info: FieldInfo, _forms: tuple[RuleForm, ...]) -> Iterable[Failure]:
        """Yield the failures of tensor rules on a field."""
        facts, rules = self.judged.facts, self.judged.resolved.rules_of_tensors[info.kind]
        for name, place, inner in facts.tensors(self.context):
            if name != info.name or facts.satisfies(rules, inner):
                continue
            for failure, form in rule_failures(rules.forms, inner, place, self.broken, frozenset(), self.judged):
                yield failure
                if not failure.unknown:
                    self.hidden.update((name, aspect) for aspect in form.hides)

    def rules(self, forms: tuple[RuleForm, ...]) -> Iterable[Failure]:
        """Yield the failures of the operator's rules."""
        for failure, _ in rule_failures(forms, self.context, "", self.broken, frozenset(self.lost), self.judged):
            yield failure


def is_excused(oddity: Malformed, resolved: Resolved) -> bool:
    """Return whether a level accepts an oddity that a reader reported.

    It does where builds read another value or ignore the attribute. An attribute with a name that only the page uses is
    rejected, because builds ignore its value.
    """
    if oddity.code == "unknown-attribute":
        is_ignored = resolved.ignores_attributes and oddity.where not in resolved.spec.layout(resolved.level).page_names
        return oddity.where in resolved.attributes or is_ignored
    if oddity.code != "wrong-kind" or resolved.side != "observed":
        return False
    return oddity.read_as is not None or (resolved.ignores_attributes and oddity.where not in resolved.fields)


def _oddity_failure(oddity: Malformed, field_name: str, resolved: Resolved) -> Failure:
    name = f"{field_name}.{oddity.code}" if field_name in resolved.fields else oddity.code
    place = oddity.where if oddity.where.isprintable() and len(oddity.where) <= 60 else format_value(oddity.where)
    text = oddity.message
    page_names = resolved.spec.layout(resolved.level).page_names
    if oddity.code == "unknown-attribute" and oddity.where not in page_names:  # the level knows its attributes
        words = [info.vendor_name for info in resolved.fields.values() if info.kind == "attribute"]
        text += f" (supported: {', '.join(words) or 'none'})"
    return Failure(name, place, text, {place: bound_value(oddity.value)}, aspect="structure", structural=True)


def cell_failures(info: FieldInfo, cell: Cell | None, value: Any, resolved: Resolved) -> Iterator[Failure]:
    """Yield the rejected and undecided aspects of a field's value."""
    if info.fuses:
        yield from _fused_failures(info.name, cell, value, resolved)
    elif cell is not None or info.words:
        yield from _cell(info, cell, value, resolved.spec)


def _cell(info: FieldInfo, cell: Cell | None, value: Any, spec: OperatorSpec) -> Iterator[Failure]:
    """Yield the aspects that a row rejects.

    Where another row of the table supports them, a kernel may still compute the result.
    """
    name = info.name
    for place, item in placed_items(name, value) if value is not None else ():
        if isinstance(item, TensorDesc):
            for failure in _tensor_cell(name, place, cell, item) if cell is not None and item is not UNSTATED else ():
                yield replace(
                    failure, structural=not failure.unknown and not spec.support_union.loose(name, failure.aspect, item)
                )
        elif is_record(item):
            for member, number in item._asdict().items():
                yield from _value_cell(f"{place}.{member}", info, cell, number, spec)
        else:
            yield from _value_cell(place, info, cell, item, spec)


def _fused_failures(name: str, cell: Cell | None, value: Any, resolved: Resolved) -> Iterator[Failure]:
    """Yield the problems of fused operators, nothing for absent ones."""
    if value is None:
        return
    from specgate.rules.fused import Fusible

    allowed = cell.operators if cell is not None else None
    fusible = Fusible(resolved.spec.dialect, resolved.level, allowed)
    for item_place, item in placed_items(name, value):
        for flaw in fusible.flaws(item):
            place = f"{item_place}.{flaw.field}" if flaw.field else item_place
            yield Failure(
                f"{name}.operator",
                place,
                f"{item_place} {flaw.message}",
                {item_place: format_value(item, 200)},
                fix=f"{flaw.change} {place}" if flaw.change else None,
                aspect="value",
                structural=flaw.structural
                or (flaw.listed and not resolved.spec.support_union.loose(name, "value", item)),
                allowed=(allowed or ()) if flaw.listed else (),
            )


def _tensor_cell(name: str, place: str, cell: Cell, tensor: TensorDesc) -> Iterator[Failure]:
    if cell.types is not None and tensor.type not in cell.types:
        unknown = tensor.type is None
        message = f"{place} has an unknown type" if unknown else f"{place} is {tensor.type}"
        values = {f"type({place})": tensor.type}
        allowed = tuple(cell.types)
        yield Failure(f"{name}.type", place, message, values, unknown=unknown, aspect="type", allowed=allowed)
    if cell.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in cell.ranks):
        unknown = tensor.sizes is None
        rank = None if tensor.sizes is None else len(tensor.sizes)
        message = f"{place} has an unknown rank" if unknown else f"{place} has rank {rank}"
        ranks = {f"rank({place})": rank}
        yield Failure(f"{name}.rank", place, message, ranks, unknown=unknown, aspect="rank", allowed=(str(cell.ranks),))


def _value_cell(place: str, info: FieldInfo, cell: Cell | None, value: Any, spec: OperatorSpec) -> Iterator[Failure]:
    values = cell.values if cell is not None and cell.values is not None else info.words
    if value is UNKNOWN:
        yield from _unknown_value(info.name, place, cell, None if values is None else _words(info, values, spec))
        return
    refused_words = [_words(info, values, spec)] if values is not None and value not in values else []
    if cell is not None and cell.range is not None and value not in cell.range:
        refused_words.append((str(cell.range),))
    for allowed in refused_words:
        yield Failure(
            f"{info.name}.value",
            place,
            f"{place} is {format_value(value, 80)}",
            {place: plain_value(value)},
            aspect="value",
            structural=not spec.support_union.loose(info.name, "value", value),
            allowed=allowed,
        )


def _words(info: FieldInfo, values: tuple[Any, ...], spec: OperatorSpec) -> tuple[str, ...]:
    """Return the allowed values of a field as words for a message."""
    words = (spec.dialect.words_of_numbers(info, value) for value in values)
    return tuple(value.word if isinstance(value, NumberedWord) else str(value) for value in words)


def _unknown_value(name: str, place: str, cell: Cell | None, values: tuple[str, ...] | None) -> Iterator[Failure]:
    bounds = () if cell is None or cell.range is None else (str(cell.range),)
    allowed = (*(values or ()), *bounds)
    if allowed:
        message = f"{place} has an unknown value"
        yield Failure(f"{name}.value", place, message, {place: None}, unknown=True, aspect="value", allowed=allowed)


def explain_at(
    descriptor: Descriptor, resolved: Resolved, facts: Facts | None = None, *, bare: bool = False
) -> list[Failure]:
    """Return every failure of `descriptor` at the level of `resolved`.

    Rules that only repeat another failure are left out. facts: cached facts about the descriptor. bare: as in
    `row_failures`.
    """
    return (_failures_by_case if resolved.cases else row_failures)(descriptor, resolved, facts or Facts(), bare=bare)


def _failures_by_case(descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool) -> list[Failure]:
    """Return every failure by the row of the matching case."""
    context = facts.context(descriptor, resolved)
    answers = [(case, facts.holds(case.when, context)) for case in resolved.cases]
    failures = [row_failures(descriptor, case.resolved, facts, bare=bare) for case, answer in answers if answer is True]
    if failures:
        return min(failures, key=_rank_failures)
    shared = row_failures(descriptor, replace(resolved, cases=()), facts)
    fields_read = {name for condition_rule in resolved.spec.conditions for name in condition_rule.fields}
    if any(f.where.partition("[")[0] in fields_read for f in shared if not f.unknown):
        return shared  # a field that selects the case is invalid itself
    open_cases = [case for case, answer in answers if answer is UNKNOWN]
    if not open_cases:
        return [*shared, _no_case_failure(resolved, context)]
    texts = {failure.key for failure in shared if not failure.unknown}
    certain_failures = [f for f in _in_all(descriptor, open_cases, facts) if f.key not in texts]
    return [*shared, *certain_failures, _no_case_failure(resolved, context, unknown=True)]


def _rank_failures(failures: list[Failure]) -> int:
    """Return 0 for an accepting case, 1 for an undecided one, 2 otherwise.

    Conditions should be exclusive. Where two hold, an accepting case wins, as on the fast path.
    """
    return 0 if not failures else 1 if all(f.unknown for f in failures) else 2


def _in_all(descriptor: Descriptor, cases: list[Case], facts: Facts) -> list[Failure]:
    """Return the failures common to all `cases`."""
    first, *other_failures = [
        {f.key: f for f in row_failures(descriptor, case.resolved, facts) if not f.unknown} for case in cases
    ]
    return [f for key, f in first.items() if all(key in failures_by_texts for failures_by_texts in other_failures)]


def _no_case_failure(resolved: Resolved, context: Context, *, unknown: bool = False) -> Failure:
    whens = resolved.spec.conditions
    values: dict[str, Any] = {}
    leaves: list[Leaf] = []
    for case in resolved.cases:
        if not any(context.absent(path) for path in case.when.needs):
            leaves += decisive_parts(case.when, context)
            values.update(explain(case.when, context))
    fields_read = {name for condition_rule in whens for name in condition_rule.fields}
    place = next((name for name in resolved.spec.fields if name in fields_read), "")
    state = (
        "Unknown values leave undecided which row of the support table applies"
        if unknown
        else "No row of the support table applies"
    )
    facts = words(leaves, context)
    return Failure(
        NO_CASE,
        place,
        f"{state}: {facts}" if facts else state,
        {text: plain_value(v) for text, v in values.items()},
        unknown=unknown,
        formula=" or ".join(case.when.text for case in resolved.cases),
    )
