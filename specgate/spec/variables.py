"""Rules derived from type variables.

Fields whose cells name the same type set of a row must have the same type.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from specgate.rules.parse import parse_later
from specgate.spec.forms import RuleForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

#: The suffix of rules derived from a type variable: ``T.same-type``.
SAME_TYPE: Final = "same-type"


def variable_forms(spec: OperatorSpec) -> list[RuleForm]:
    """Return the rules derived from an operator's type variables.

    Each rule covers the rows that use the variable. Tensors of a variable are compared in pairs with a required tensor,
    so that an absent one does not hide a difference between others.
    """
    if spec.conditions:
        return []
    rows = spec.table.only_rows
    stretches: dict[tuple[str, str, str], list[str | None]] = {}
    pairs = []
    for level, next_level in zip(spec.rows, (*spec.rows[1:], None), strict=True):
        for pair in _pairs(rows[level], spec.fields_at(level)):
            before = stretches.get(pair)
            if before is not None and before[1] == level:
                before[1] = next_level
                continue
            stretches[pair] = stretch = [level, next_level]
            pairs.append((pair, stretch))
    return [_form(pair, since, until_level, spec) for pair, (since, until_level) in pairs]


def _form(pair: tuple[str, str, str], since: str | None, until_level: str | None, spec: OperatorSpec) -> RuleForm:
    variable, first, other = pair
    fields = [spec.fields[name] for name in (first, other)]
    text = _expression(*fields)
    output = any(info.kind == "output" for info in fields)
    subject = f"{first} and {other}" if first != other else f"the tensors of {first}"
    return RuleForm(
        name=f"{variable}.{SAME_TYPE}",
        require=parse_later(text, spec.scope.scope_between(since, until_level)),
        since=None if since == spec.rows[0] else since,
        until=until_level,
        because=f"{subject} must have the same type ({variable})",
        structural=output,
        guard=output and any(_is_composed(spec.table.only_rows[level].get(other, {})) for level in spec.rows),
        variable=variable,
    )


def _pairs(row: Mapping[str, Any], fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, str, str]]:
    """Yield (variable, field, field) for tensors that must have equal types.

    An array of tensors forms a pair with itself, for its elements.
    """
    groups: dict[str, list[FieldInfo]] = {}
    for name, info in fields.items():
        variable = row.get(name, {}).get("variable")
        if variable is not None and not info.heterogeneous:
            groups.setdefault(variable, []).append(info)
    for variable, group in groups.items():
        yield from ((variable, info.name, info.name) for info in group if info.type == "tensor[]")
        required_inputs = [info for info in group if info.kind == "input" and not info.optional]
        if required_inputs:
            anchor = next((info for info in required_inputs if info.type == "tensor"), required_inputs[0])
            yield from ((variable, anchor.name, info.name) for info in group if info is not anchor)
        else:
            yield from ((variable, first.name, other.name) for first, other in combinations(group, 2))


def _is_composed(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell has a composed type.

    An empty value of a composed type does not reveal its type.
    """
    return any("(" in word for word in cell.get("types") or ())


def _expression(info: FieldInfo, other: FieldInfo) -> str:
    item = next(word for word in ("item", "item_", "item__") if word not in {info.name, other.name})
    if info.type != "tensor[]" and other.type != "tensor[]":
        return f"type({info.name}) == type({other.name})"
    if info.type == "tensor[]" and other.type == "tensor[]":
        return f"all(type({item}) == type({info.name}[0]) for {item} in {other.name})"
    single, list_info = (info, other) if other.type == "tensor[]" else (other, info)
    return f"all(type({item}) == type({single.name}) for {item} in {list_info.name})"
