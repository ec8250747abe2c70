"""Every finding that the checks of one operator at one level can raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.generate.moves import MAX_RANK
from specgate.rules.evaluate import Context, evaluate
from specgate.spec.variables import SAME_TYPE
from specgate.validate.cases import NO_CASE
from specgate.validate.message import rule_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.fields import Bounds
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["STRUCTURE", "Aim", "aims_of"]

STRUCTURE: Final = frozenset({"required", "exists", "wrong-kind", "unknown-attribute"})


class Aim(NamedTuple):
    """One finding to bring about.

    kind: rule, tensor (a rule that every tensor obeys), type, rank, value or operator (a cell of a support row), case
    (no row applies), or one of `STRUCTURE`. name: the rule's or the field's. id: the finding's.
    """

    kind: str
    name: str
    id: str


def aims_of(spec: OperatorSpec, resolved: Resolved) -> Iterator[Aim]:
    """Yield every finding that the checks at one level can raise, but for those that never come alone."""

    def made(kind: str, name: str, rule: str, scope: str = "operator") -> Aim:
        return Aim(kind, name, rule_id(spec.dialect.name, spec.name, rule, scope))

    if resolved.cases and not _exhaustive(resolved):
        yield made("case", NO_CASE, NO_CASE)
    for name in dict.fromkeys(form.name for form in resolved.rules if not _of_one_type(form, resolved)):
        yield made("rule", name, name)
    for name in dict.fromkeys(form.name for form in resolved.tensor_rules):
        yield made("tensor", name, name, "tensor")
    for name, info in resolved.fields.items():
        cells = [cell for row in resolved.alternatives if (cell := row.cells.get(name)) is not None]
        if any(cell.types is not None and set(spec.dialect.types) - set(cell.types) for cell in cells):
            yield made("type", name, f"{name}.type")
        if any(cell.ranks is not None and _breakable(cell.ranks, resolved) for cell in cells):
            yield made("rank", name, f"{name}.rank")
        if info.words is not None or any(cell.values is not None or cell.range is not None for cell in cells):
            yield made("value", name, f"{name}.value")
        if info.fuses:
            yield made("operator", name, f"{name}.operator")
        if not spec.dialect.may_omit(info):
            yield made("required", name, f"{name}.required")
        if info.kind == "attribute":
            yield made("wrong-kind", name, f"{name}.wrong-kind")
    for name in spec.fields:
        if name not in resolved.fields:
            yield made("exists", name, f"{name}.exists")
    if not spec.table.unchecked_attributes:
        yield made("unknown-attribute", "", "unknown-attribute")


def _of_one_type(form: RuleForm, resolved: Resolved) -> bool:
    """Return whether a rule asks for equal types of fields that take one type only: another one is refused as it is."""
    if not form.name.endswith(f".{SAME_TYPE}"):
        return False
    cells = [row.cells[name] for row in resolved.alternatives for name in form.fields if name in row.cells]
    return all(cell.types is not None for cell in cells) and len({kind for c in cells for kind in c.types or ()}) == 1


def _exhaustive(resolved: Resolved) -> bool:
    """Return whether a case holds for every word of the one attribute that decides which it is."""
    read = {name for case in resolved.cases for name in case.when.fields}
    info = resolved.fields.get(next(iter(read))) if len(read) == 1 else None
    if info is None or info.words is None:
        return False
    contexts = [Context({info.name: word}, resolved.numbers) for word in info.words]
    return all(any(evaluate(case.when, context) is True for case in resolved.cases) for context in contexts)


def _breakable(ranks: Bounds, resolved: Resolved) -> bool:
    """Return whether some rank is outside `ranks` without breaking a shared rule that is reported instead."""
    hiding = [form for form in resolved.tensor_rules if "ranks" in form.hides and form.when is None]

    def hidden(rank: int) -> bool:
        context = Context({"tensor": TensorDesc(None, (1,) * rank)}, resolved.numbers)
        return any(evaluate(form.require, context) is False for form in hiding)

    return any(rank not in ranks and not hidden(rank) for rank in range(MAX_RANK + 1))
