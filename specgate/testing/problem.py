"""What a valid descriptor of one operator at one level must satisfy, or one with exactly one thing wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.testing.constraints import Budget, Constraint, reads_of
from specgate.testing.draft import Draft, Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.spec.forms import Cell, FieldInfo, Resolved, RuleForm
    from specgate.spec.tables import OperatorSpec

__all__ = ["LAYOUT", "MAX_ARRAY", "MAX_RANK", "Goal", "Problem"]

LAYOUT: Final = ("strides", "size_in_bytes", "alignment", "flags")
#: An array of tensors is drawn with at most so many.
MAX_ARRAY: Final = 3
MAX_ELEMENTS: Final = {"input": 256, "output": 4096}
_USUAL_RANK: Final = 6
MAX_RANK: Final = 9


@dataclass(frozen=True, slots=True)
class Goal:
    """The one thing that shall be wrong.

    kind: rule, tensor (a rule that every tensor obeys), type, rank or value (a cell of a support row). name: the
    rule's or the field's. tied: where fields must agree, others may break the same kind of cell along with it.
    wild: numbers may be huge.
    """

    kind: Literal["rule", "tensor", "type", "rank", "value"]
    name: str
    tied: bool = False
    wild: bool = False


class Problem:
    """Domains and constraints of one operator at one level, on one side or both."""

    def __init__(self, sides: Sequence[Resolved], goal: Goal | None = None, slot: str | None = None) -> None:
        """`slot`: the tensor on which the goal's shared rule shall fail."""
        self.sides = sides
        self.spec: OperatorSpec = sides[0].spec
        self.goal = goal
        self.slot = slot
        shared = set.intersection(*(set(side.fields) for side in sides))
        self.fields: dict[str, FieldInfo] = {n: f for n, f in sides[0].fields.items() if n in shared}
        self.constraints = list(self._constraints())
        self.by_key: dict[Key, list[Constraint | Budget]] = {}
        for constraint in self.constraints:
            for key in constraint.reads:
                self.by_key.setdefault(key, []).append(constraint)
        self.read = frozenset(self.by_key)
        self.order = {aspect: self._order(aspect) for aspect in ("type", "shape")}

    @cached_property
    def structural(self) -> Problem:
        """The same without the rules that a kernel can do without."""
        kept = replace_rules(self.sides, lambda form: form.structural)
        return Problem(kept, self.goal, self.slot)

    @property
    def unstated_outputs(self) -> bool:
        return self.spec.dialect.unstated_outputs

    def draft(self) -> Draft:
        """Return a draft with nothing chosen."""
        return Draft(self.spec, dict(self.sides[0].numbers))

    def slots(self) -> Iterator[str]:
        """Yield every place where a tensor may stand."""
        for name, info in self.fields.items():
            if info.type == "tensor[]":
                yield from (f"{name}[{index}]" for index in range(MAX_ARRAY))
            elif info.tensor:
                yield name

    def _constraints(self) -> Iterator[Constraint | Budget]:
        for form in dict.fromkeys(form for side in self.sides for form in side.rules):
            yield from self._rule(form, None)
        shared = dict.fromkeys(form for side in self.sides for form in side.tensor_rules)
        for slot in self.slots():
            for form in shared:
                if form.applies_to(self.fields[slot.partition("[")[0]]):
                    yield from self._rule(form, slot)
            if self.goal is None or not self.goal.wild:
                yield Budget(slot, MAX_ELEMENTS[self.fields[slot.partition("[")[0]].kind])

    def _rule(self, form: RuleForm, slot: str | None) -> Iterator[Constraint]:
        goal = self.goal
        kind = "rule" if slot is None else "tensor"
        broken = goal is not None and (goal.kind, goal.name) == (kind, form.name) and slot == self.slot
        if goal is not None and not broken:
            same = (goal.kind, goal.name) == (kind, form.name)
            if (same and goal.tied) or (goal.kind == kind and goal.name in form.after and slot == self.slot):
                return  # it may fail too, unseen: an echo of the goal, or the same finding elsewhere
        defines = self.spec.scope.defines
        reads = reads_of(form.require.tree, defines, slot)
        if form.when is not None:
            reads |= reads_of(form.when.tree, defines, slot)
        reads |= {Key(path.partition(".")[0], "present") for path in form.require.needs if slot is None}
        yield Constraint(form, reads, slot, broken=broken, lenient=goal is not None and not broken)

    def _order(self, aspect: str) -> dict[str, int]:
        """Return an order of the tensors in which each shares a rule on `aspect` with an earlier one if it can.

        The one that shall be wrong comes first, so that the others follow it.
        """
        names = list(self.slots())
        links = [{key.slot for key in c.reads if key.aspect == aspect} for c in self.constraints]
        aimed = self.slot or (self.goal.name if self.goal is not None else "")
        order = [name for name in names if name.partition("[")[0] == aimed]
        while len(order) < len(names):
            near = next((n for n in names if n not in order and any(n in k and k & set(order) for k in links)), None)
            order.append(near or next(n for n in names if n not in order))
        return {name: position for position, name in enumerate(order)}

    def omissible(self, name: str) -> bool:
        """Return whether a descriptor may leave a field out."""
        info = self.fields[name]
        if self.goal is not None and name in {self.goal.name, self.slot}:
            return False
        return info.optional or info.default is not None or (self.unstated_outputs and info.kind == "output")

    def cells(self, name: str) -> list[Cell]:
        return [side.cells[name] for side in self.sides if name in side.cells]

    def _domain(self, kind: str, name: str, every: Sequence[Any], legal: Callable[[Any], bool]) -> list[Any]:
        inside = [item for item in every if legal(item)]
        goal = self.goal
        if goal is None or goal.kind != kind:
            return inside
        outside = [item for item in every if not legal(item)]
        return outside if goal.name == name else inside + outside if goal.tied else inside

    def types(self, slot: str) -> list[str]:
        """Return the types that the tensor at `slot` may have, those of its support row first."""
        name = slot.partition("[")[0]
        limits = [cell.types for cell in self.cells(name) if cell.types is not None]
        return self._domain("type", name, list(self.spec.dialect.types), lambda t: all(t in lim for lim in limits))

    def ranks(self, slot: str) -> list[int]:
        """Return the ranks that the tensor at `slot` may have."""
        name = slot.partition("[")[0]
        limits = [cell.ranks for cell in self.cells(name) if cell.ranks is not None]
        if self.goal is not None and self._rank_cell_hidden(slot):
            return list(range(MAX_RANK + 1))
        if self.goal is not None and self.goal.kind == "rank":
            top = MAX_RANK
        else:
            top = min((lim.high for lim in limits if lim.high is not None), default=_USUAL_RANK)
        return self._domain("rank", name, range(top + 1), lambda r: all(r in lim for lim in limits))

    def _rank_cell_hidden(self, slot: str) -> bool:
        """Return whether the goal's finding replaces the one on this tensor's rank."""
        goal = self.goal
        if goal is None or goal.kind != "tensor" or not (slot == self.slot or goal.tied):
            return False
        forms = (form for side in self.sides for form in side.tensor_rules)
        return any(form.name == goal.name and "ranks" in form.hides for form in forms)

    def words(self, name: str) -> Sequence[Any] | None:
        """Return the only values that an attribute may have, None where it is not limited to a list."""
        info = self.fields[name]
        if self.goal is not None and (self.goal.kind, self.goal.name) == ("value", name):
            return None
        lists = [cell.values for cell in self.cells(name) if cell.values is not None]
        if info.words is not None and not lists:
            lists = [info.words]
        if not lists:
            return None
        return [word for word in lists[0] if all(word in other for other in lists)]

    def legal(self, name: str, value: Any) -> bool:
        """Return whether an attribute's value (or element) is within its cells, or outside where that is the goal."""
        info = self.fields[name]
        cells: Sequence[Cell | None] = self.cells(name) or [None]
        inside = all(_within(info, cell, value) for cell in cells)
        goal = self.goal
        if goal is not None and goal.kind == "value":
            return not inside if goal.name == name else inside or goal.tied
        return inside


def replace_rules(sides: Sequence[Resolved], keep: Callable[[RuleForm], bool]) -> list[Resolved]:
    """Return the same sides with only the rules to `keep`."""
    return [
        replace(
            side,
            rules=tuple(form for form in side.rules if keep(form)),
            tensor_rules=tuple(form for form in side.tensor_rules if keep(form)),
        )
        for side in sides
    ]


def _within(info: FieldInfo, cell: Cell | None, value: Any) -> bool:
    values = cell.values if cell is not None and cell.values is not None else info.words
    if values is not None and value not in values:
        return False
    return cell is None or cell.range is None or value in cell.range
