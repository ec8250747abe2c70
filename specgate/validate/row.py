"""Every cell and rule of one support row, with all that fails and all that stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNSTATED, Descriptor, Numbered, TensorDesc, is_record, shown
from specgate.rules.evaluate import UNKNOWN, Undefined
from specgate.slotted import replace
from specgate.validate.facts import Facts
from specgate.validate.failures import Failure, found, plain
from specgate.validate.message import field_elsewhere
from specgate.validate.moved import moves_of
from specgate.validate.rule_failures import Judged, broken_failure, rule_failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Malformed
    from specgate.rules.evaluate import Context
    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.moved import Move

__all__ = ["cell_failures", "is_excused", "row_failures", "structure_failures"]


def row_failures(descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool = False) -> list[Failure]:
    """Return every failure of `descriptor` by a row without cases: causes without their echoes.

    bare: whether only their number and whether they are certain counts, which takes a fraction of the time.
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
    failures = list(structure_failures(descriptor, resolved))
    odd = [(o.where.partition("[")[0], o.code) for o in descriptor.oddities if not is_excused(o, resolved)]
    # Rules that read these would only say again what is wrong with them.
    lost = frozenset([*(f.where for f in failures), *(name for name, _ in odd)])
    broken: list[tuple[RuleForm, str, Undefined]] = []
    judged = Judged(descriptor, resolved, facts, row_failures, bare)
    hidden = {(name, "types") for name, code in odd if code == "unknown-word"}  # the oddity says it
    hidden |= {(name, "values") for name, code in odd if code == "wrong-kind"}
    tensor_failures = _tensor_failures(context, broken, hidden, judged)
    for name in _doubtful(descriptor, resolved, context):
        of_cell = cell_failures(name, resolved, context.fields[name])
        failures += [f for f in of_cell if (name, f.aspect + "s") not in hidden]
    failures += tensor_failures
    failures += [failure for failure, _ in rule_failures(resolved.rules, context, "", broken, lost, judged)]
    if broken and not any(not f.unknown for f in failures):
        # Nothing else explains why these rules have no value, so they are the cause themselves.
        failures += [broken_failure(form, where, error) for form, where, error in broken]
    if not bare:
        facts.rows[key] = resolved, failures
    return failures


def _moved_failures(move: Move, descriptor: Descriptor, resolved: Resolved, *, bare: bool) -> list[Failure]:
    """Return one failure for fields of the wrong kind, and what fails once they are moved."""
    rest = [row_failures(reading, resolved, Facts(), bare=bare) for reading in move.readings]
    least = min(rest, key=lambda failures: sum(not failure.unknown for failure in failures))
    return [move.failure(resolved, descriptor), *(least if move.complete else (f for f in least if not f.unknown))]


def _tensor_failures(
    context: Context,
    broken: list[tuple[RuleForm, str, Undefined]],
    hidden: set[tuple[str, str]],
    judged: Judged,
) -> list[Failure]:
    """Return what tensors do not obey; add to `hidden` the parts of cells that this says already."""
    resolved, facts = judged.resolved, judged.facts
    found: list[Failure] = []
    if not resolved.tensor_rules:
        return found
    for name, place, inner in facts.tensors(context):
        rules = resolved.rules_of_tensors[resolved.fields[name].kind]
        if facts.hold(rules, inner):
            continue
        for failure, form in rule_failures(rules.forms, inner, place, broken, frozenset(), judged):
            found.append(failure)
            if not failure.unknown:
                hidden.update((name, aspect) for aspect in form.hides)
    return found


def _doubtful(descriptor: Descriptor, resolved: Resolved, context: Context) -> Iterable[str]:
    """Return the fields whose values the row may refuse: where nothing is odd, most are seen to be taken."""
    if descriptor.oddities:
        return resolved.fields
    fields = context.fields
    refused = {name for name, check in resolved.cell_checks if check(fields[name]) is not True}
    return [name for name, info in resolved.fields.items() if name in refused or info.fuses]


def is_excused(oddity: Malformed, resolved: Resolved) -> bool:
    """Return whether a level accepts what a reader found odd: what builds read otherwise, or read nothing of.

    An attribute under a name that only the page has is rejected although builds pass over it: its value is lost there.
    """
    if oddity.code == "unknown-attribute":
        ignored = resolved.ignores_attributes and oddity.where not in resolved.spec.layout(resolved.level).page_names
        return oddity.where in resolved.attributes or ignored
    if oddity.code != "wrong-kind" or resolved.side != "observed":
        return False
    return oddity.read_as is not None or (resolved.ignores_attributes and oddity.where not in resolved.fields)


def structure_failures(descriptor: Descriptor, resolved: Resolved) -> Iterator[Failure]:
    """Yield what is missing, too much, or of the wrong kind."""
    dialect = resolved.spec.dialect
    for oddity in descriptor.oddities:
        if is_excused(oddity, resolved):
            continue
        field_name = oddity.where.partition("[")[0]
        name = f"{field_name}.{oddity.code}" if field_name in resolved.fields else oddity.code
        where = oddity.where if oddity.where.isprintable() and len(oddity.where) <= 60 else shown(oddity.where)
        said = oddity.message
        page_names = resolved.spec.layout(resolved.level).page_names
        if oddity.code == "unknown-attribute" and oddity.where not in page_names:  # the level says which there are
            words = [info.vendor_name for info in resolved.fields.values() if info.kind == "attribute"]
            said += f" (it has: {', '.join(words) or 'none'})"
        yield Failure(name, where, said, {where: found(oddity.value)}, aspect="structure", structural=True)
    wrong = {oddity.where for oddity in descriptor.oddities}
    for name, info in resolved.fields.items():
        given = descriptor.fields.get(name)
        message = None
        if given is None and name not in wrong and not dialect.may_omit(info):
            message = f"{info.vendor_name} is required, but it is not given"
        elif info.min_count is not None and isinstance(given, list | tuple) and len(given) < info.min_count:
            message = f"{name} holds {len(given)}, and at least {info.min_count} are required"
        if message is not None:
            yield Failure(f"{name}.required", name, message, aspect="structure", structural=True)
    for name in resolved.strangers:
        if descriptor.fields.get(name) is not None:
            message = field_elsewhere(resolved.spec, name, resolved.level)
            yield Failure(
                f"{name}.exists",
                name,
                message,
                {name: plain(descriptor.fields[name])},
                aspect="structure",
                structural=True,
            )


def cell_failures(name: str, resolved: Resolved, value: Any) -> Iterator[Failure]:
    """Yield what the row refuses, or leaves open, in the value of the field `name`."""
    info, cell = resolved.fields[name], resolved.cells.get(name)
    if info.fuses:
        yield from _fused(name, cell, value, resolved)
    elif cell is not None or info.words:
        yield from _cell(info, cell, value, resolved.spec)


def _cell(info: FieldInfo, cell: Cell | None, value: Any, spec: OperatorSpec) -> Iterator[Failure]:
    """What the row refuses; where another row of the table takes it, a kernel may compute it nevertheless."""
    name = info.name
    for where, item in _items(name, value) if value is not None else ():
        if isinstance(item, TensorDesc):
            for failure in _tensor_cell(name, where, cell, item) if cell is not None and item is not UNSTATED else ():
                yield replace(
                    failure, structural=not failure.unknown and not spec.taken.loose(name, failure.aspect, item)
                )
        elif is_record(item):
            for member, number in item._asdict().items():
                yield from _value_cell(f"{where}.{member}", info, cell, number, spec)
        else:
            yield from _value_cell(where, info, cell, item, spec)


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a field's value, or the elements of an array, each with its place."""
    if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) and not is_record(value):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    else:
        yield name, value


def _fused(name: str, cell: Cell | None, value: Any, resolved: Resolved) -> Iterator[Failure]:
    """What is wrong with operators that a field holds; nothing is with one that is left out."""
    if value is None:
        return
    from specgate.rules.fused import Fusible

    allowed = cell.operators if cell is not None else None
    fusible = Fusible(resolved.spec.dialect, resolved.level, allowed)
    for where, item in _items(name, value):
        for flaw in fusible.flaws(item):
            place = f"{where}.{flaw.field}" if flaw.field else where
            yield Failure(
                f"{name}.operator",
                place,
                f"{where} {flaw.message}",
                {where: shown(item, 200)},
                fix=f"{flaw.change} {place}" if flaw.change else None,
                aspect="value",
                structural=flaw.structural or (flaw.listed and not resolved.spec.taken.loose(name, "value", item)),
                allowed=(allowed or ()) if flaw.listed else (),
            )


def _tensor_cell(name: str, where: str, cell: Cell, tensor: TensorDesc) -> Iterator[Failure]:
    if cell.types is not None and tensor.type not in cell.types:
        unknown = tensor.type is None
        message = f"{where} has an unknown type" if unknown else f"{where} is {tensor.type}"
        values = {f"type({where})": tensor.type}
        allowed = tuple(cell.types)
        yield Failure(f"{name}.type", where, message, values, unknown=unknown, aspect="type", allowed=allowed)
    if cell.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in cell.ranks):
        unknown = tensor.sizes is None
        rank = None if tensor.sizes is None else len(tensor.sizes)
        message = f"{where} has an unknown rank" if unknown else f"{where} has rank {rank}"
        ranks = {f"rank({where})": rank}
        yield Failure(f"{name}.rank", where, message, ranks, unknown=unknown, aspect="rank", allowed=(str(cell.ranks),))


def _value_cell(where: str, info: FieldInfo, cell: Cell | None, value: Any, spec: OperatorSpec) -> Iterator[Failure]:
    values = cell.values if cell is not None and cell.values is not None else info.words
    if value is UNKNOWN:
        yield from _unknown_value(info.name, where, cell, None if values is None else _words(info, values, spec))
        return
    refused = [_words(info, values, spec)] if values is not None and value not in values else []
    if cell is not None and cell.range is not None and value not in cell.range:
        refused.append((str(cell.range),))
    for allowed in refused:
        yield Failure(
            f"{info.name}.value",
            where,
            f"{where} is {shown(value, 80)}",
            {where: plain(value)},
            aspect="value",
            structural=not spec.taken.loose(info.name, "value", value),
            allowed=allowed,
        )


def _words(info: FieldInfo, values: tuple[Any, ...], spec: OperatorSpec) -> tuple[str, ...]:
    """What a field may hold, as a message lists it: words, also where the field holds their numbers."""
    known = (spec.dialect.numbered(info, value) for value in values)
    return tuple(value.word if isinstance(value, Numbered) else str(value) for value in known)


def _unknown_value(name: str, where: str, cell: Cell | None, values: tuple[str, ...] | None) -> Iterator[Failure]:
    bounds = () if cell is None or cell.range is None else (str(cell.range),)
    allowed = (*(values or ()), *bounds)
    if allowed:
        message = f"{where} has an unknown value"
        yield Failure(f"{name}.value", where, message, {where: None}, unknown=True, aspect="value", allowed=allowed)
