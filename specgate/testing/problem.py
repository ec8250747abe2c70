"""What a valid descriptor of one operator at one level must satisfy, or one with exactly one thing wrong."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.caching import cached_property
from specgate.rules.parse import FUNCTIONS
from specgate.spec.forms import RuleForm
from specgate.testing.bounds import settled
from specgate.testing.constraints import Budget, Constraint, reads_of
from specgate.testing.draft import Draft, Key
from specgate.testing.places import MAX_ARRAY, MAX_ELEMENTS, MAX_RANK, Places
from specgate.testing.ranges import TOP, Span, Values, meet
from specgate.validate.cases import NO_CASE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.rules.parse import Rule
    from specgate.spec.forms import Cell, FieldInfo, Resolved
    from specgate.spec.tables import OperatorSpec
    from specgate.testing.bounds import Ref, View

__all__ = ["LAYOUT", "Goal", "Problem", "rows_of"]

LAYOUT: Final = ("strides", "size_in_bytes", "alignment", "flags")
_USUAL_RANK: Final = 6


@dataclass(frozen=True, slots=True)
class Goal:
    """The one thing that shall be wrong.

    kind: rule, tensor (a rule that every tensor obeys), type, rank, value or operator (a cell of a support row),
    case (no row applies). name: the rule's or the field's. tied: where fields must agree, others may break
    the same kind of cell along with it. echoed: rules that say the same of the field again may fail too.
    wild: numbers may be huge. form: which of the rule's forms, where it has several.
    """

    kind: Literal["rule", "tensor", "type", "rank", "value", "operator", "case"]
    name: str
    tied: bool = False
    echoed: bool = False
    wild: bool = False
    form: RuleForm | None = None


class Problem:
    """Domains and constraints of one operator at one level, on one side or both."""

    def __init__(
        self, sides: Sequence[Resolved], goal: Goal | None = None, slot: str | None = None, when: Rule | None = None
    ) -> None:
        """`slot`: the tensor on which the goal's shared rule shall fail. `when`: the condition of the sides' rows."""
        self.sides = sides
        self.when = when
        self.spec: OperatorSpec = sides[0].spec
        self.goal = goal
        self.slot = slot
        shared = set.intersection(*(set(side.fields) for side in sides))
        self.fields: dict[str, FieldInfo] = {n: f for n, f in sides[0].fields.items() if n in shared}
        self.echoes: set[str] = set()
        self.constraints = list(self._constraints())
        self.by_key: dict[Key, list[Constraint | Budget]] = {}
        for constraint in self.constraints:
            for key in constraint.reads:
                self.by_key.setdefault(key, []).append(constraint)
        self.read = frozenset(self.by_key)
        self.order = {aspect: self._order(aspect) for aspect in ("type", "shape")}
        self.places = Places(self)
        self._operators: dict[str, tuple[list[str], list[str]]] = {}
        self._turns: dict[tuple[ast.GeneratorExp, str], bool] = {}
        self._names: dict[ast.expr, frozenset[str]] = {}

    def names(self, node: ast.expr) -> frozenset[str]:
        """Return every name in an expression, with those in what it names."""
        found = self._names.get(node)
        if found is None:
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            defines: dict[str, Rule] = dict(self.spec.scope.defines)
            inner = (self.names(defines[name].tree) for name in names if name in defines)
            found = self._names[node] = frozenset(names).union(*inner)
        return found

    def turn_by_turn(self, loop: ast.GeneratorExp, name: str) -> bool:
        """Return whether each turn of a loop reads only its own dimension or element of the field `name`."""
        key = (loop, name)
        if key not in self._turns:
            self._turns[key] = self._by_turns(loop, name)
        return self._turns[key]

    def _by_turns(self, loop: ast.GeneratorExp, name: str) -> bool:
        over = loop.generators[0]
        inside = [node for part in (loop.elt, *over.ifs) for node in ast.walk(part)]
        if not isinstance(over.iter, ast.Call):
            info = self.fields.get(name)
            listed = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(over.iter))
            return listed and info is not None and info.type != "tensor[]" and name not in self.names(loop.elt)
        if over.iter.func.id not in {"dims", "range"}:  # type: ignore[attr-defined]  # parse() has checked it
            return False
        own = {over.target.id} | {n.target.id for n in inside if isinstance(n, ast.comprehension)}  # type: ignore[attr-defined]
        scope = self.spec.scope
        known = {*scope.fields, *scope.numbers, *scope.words, *scope.defines, *FUNCTIONS, "all", "any"}
        names = [node.id for node in inside if isinstance(node, ast.Name)]
        if any(used in scope.defines and name in self.names(scope.defines[used].tree) for used in names):
            return False
        spoken_of = {name} | (set(names) - known - own)  # and what a loop further out runs over
        direct = sum(_reads_own(node, over.target.id, spoken_of) for node in inside)  # type: ignore[attr-defined]
        return direct == sum(used in spoken_of for used in names)

    def allowed(self, view: View, ref: Ref) -> Values | None:
        """Return what may stand at an open place by every rule that is not met in `view`; None: anything."""
        result: Values | None = None
        size = ref.aspect == "size"
        if size:
            result = (Span(self.places.least(ref.slot), self.places.room(view.draft, ref, view.room)),)
        for constraint in self.by_key.get(ref.key, ()):
            if constraint in view.met or (size and constraint.slot is not None and not constraint.broken):
                continue
            if view.skips(constraint, ref):
                continue
            result = meet(result, constraint.allows(view, ref))
            if result is not None and settled(result):
                break
        return result

    @cached_property
    def structural(self) -> Problem:
        """The same without the rules that a kernel can do without."""
        kept = _without_rules(self.sides, lambda form: form.structural)
        return Problem(kept, self.goal, self.slot, self.when)

    @property
    def unstated_outputs(self) -> bool:
        return self.spec.dialect.unstated_outputs

    def draft(self) -> Draft:
        """Return a draft with nothing chosen."""
        draft = Draft(self.spec, dict(self.sides[0].numbers), self.sides[0].level)
        draft.fields.update(dict.fromkeys(self.fields))
        return draft

    def slots(self) -> Iterator[str]:
        """Yield every place where a tensor may stand."""
        for name, info in self.fields.items():
            if info.type == "tensor[]":
                yield from (f"{name}[{index}]" for index in range(MAX_ARRAY))
            elif info.tensor:
                yield name

    def _constraints(self) -> Iterator[Constraint | Budget]:
        whens = [self.when] if self.when is not None else []
        if self.goal is not None and self.goal.kind == "case":
            whens = [case.when for case in self.sides[0].cases]
        for when in whens:
            yield from self._rule(RuleForm(NO_CASE, when, scope="case"), None)
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
        kind = "case" if form.scope == "case" else "rule" if slot is None else "tensor"
        broken = goal is not None and (goal.kind, goal.name) == (kind, form.name) and slot == self.slot
        broken = broken and (goal is None or goal.form in {None, form})
        if goal is not None and not broken:
            same = (goal.kind, goal.name) == (kind, form.name)
            if (same and goal.tied) or (goal.kind == kind and goal.name in form.after and slot == self.slot):
                return  # it may fail too, unseen: an echo of the goal, or the same finding elsewhere
            if goal.echoed and kind == "rule" and self._about(form, goal):
                self.echoes.add(form.name)
                return
        defines = self.spec.scope.defines
        reads, needs = reads_of(form.require.tree, defines, self.spec.fields, slot), form.require.needs
        if form.when is not None:
            reads |= reads_of(form.when.tree, defines, self.spec.fields, slot)
            needs |= form.when.needs
        reads |= {Key(path.partition(".")[0], "present") for path in needs if slot is None}
        yield Constraint(form, reads, slot, broken=broken, lenient=goal is not None and not broken)

    def _about(self, form: RuleForm, goal: Goal) -> bool:
        """Return whether a rule reads the part of a field that shall be wrong."""
        reads = reads_of(form.require.tree, self.spec.scope.defines, self.spec.fields)
        aspect = {"rank": "shape", "type": "type"}.get(goal.kind, "attribute")
        return any(key.slot.partition("[")[0] == goal.name and key.aspect == aspect for key in reads)

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

    def operators(self, name: str) -> tuple[list[str], list[str]]:
        """Return the operators that a field may hold, fused into its own, and the others that have a table."""
        if name not in self._operators:
            dialect, level = self.spec.dialect, self.sides[0].level
            limits = [cell.operators for cell in self.cells(name) if cell.operators is not None]
            every = [n for n in dialect.operators if level in dialect.operator(n).levels]
            inside = [n for n in every if all(n in limit for limit in limits)]
            self._operators[name] = (inside, [n for n in every if n not in inside])
        return self._operators[name]

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

    def row_range(self, name: str) -> Values | None:
        """Return the numbers that support rows take for an attribute, None where they do not limit it."""
        if self.goal is not None and self.goal.kind == "value":
            return None
        result: Values | None = None
        for cell in self.cells(name):
            if cell.range is not None and cell.range.only is not None:
                result = meet(result, tuple(Span(n, n, 0) for n in cell.range.only))
            elif cell.range is not None:
                high = TOP if cell.range.high is None else cell.range.high
                result = meet(result, (Span(cell.range.low, high),))
        return result


def _reads_own(node: ast.AST, variable: str, names: set[str]) -> bool:
    """Whether it is X.sizes[variable], X[variable], or asks for the rank or type of X, for an X in `names`."""
    owner: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == variable:
        owner = node.value.value if isinstance(node.value, ast.Attribute) else node.value
    elif isinstance(node, ast.Call) and node.func.id in {"rank", "type"}:  # type: ignore[attr-defined]
        owner = node.args[0]
    return isinstance(owner, ast.Name) and owner.id in names


def rows_of(sides: Sequence[Resolved]) -> list[tuple[list[Resolved], Rule | None]]:
    """Return the sides and the condition of each support row that may apply: one, or one for each case they share."""
    first, *others = sides
    if not first.cases:
        return [(list(sides), None)]
    found: list[tuple[list[Resolved], Rule | None]] = []
    for case in first.cases:
        same = [next((c.resolved for c in side.cases if c.when.text == case.when.text), None) for side in others]
        rows = [row for row in (case.resolved, *same) if row is not None]
        if len(rows) == len(sides):
            found.append((rows, case.when))
    return found


def _without_rules(sides: Sequence[Resolved], keep: Callable[[RuleForm], bool]) -> list[Resolved]:
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
