"""Compile an operator resolved for one level into one straight-line function that answers a plain yes, or not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS
from specgate.rules import primitives
from specgate.rules.spelling import TEXT_FUNCTIONS
from specgate.rules.translate import Translator, answer, assign, call, check_of, is_none, load, slot
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

__all__ = ["compile_resolved"]


def compile_resolved(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool`: True when every cell and rule holds, False when the explaining path must look.

    It may be asked only about plain descriptors (nothing unknown, nothing odd); whatever it cannot evaluate is False.
    """
    builder = _Builder(resolved)
    body = builder.statements()
    scope = {**_GLOBALS, **primitives.layout_functions(), **builder.constants}
    name = f"{resolved.spec.name} at {resolved.level}"
    check: Callable[[Mapping[str, Any]], bool] = check_of(
        [ast.Try(body, [_handler(builder.errors)], [], [])], name, scope
    )
    return check


def _handler(errors: list[str]) -> ast.ExceptHandler:
    return ast.ExceptHandler(ast.Tuple([load(e) for e in errors], ast.Load()), None, [answer(value=False)])


def _at(sequence: Any, index: int) -> Any:
    """Index without Python's negative wrap-around: rules index dimensions, and -1 is none."""
    if index < 0:
        raise IndexError("negative")
    return sequence[index]


def _single(value: Any) -> Any:
    if value is None or len(value) != 1 or not isinstance(value[0], int | float):
        raise ValueError("no single number")
    return value[0]


def _numbers(value: Any) -> Any:
    """Return the elements of a constant, None where they are not known to be numbers."""
    return value if value is not None and all(isinstance(item, int | float) for item in value) else None


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("left out")
    return value


_GLOBALS: Final[Mapping[str, Any]] = {
    "_at": _at,
    "_few": primitives.few,
    "_single": _single,
    "_numbers": _numbers,
    "_product": primitives.product,
    "_range": primitives.bounded_range,
    "_given": _given,
    "_power_of_two": primitives.power_of_two,
    **{f"_{name}": function for name, function in TEXT_FUNCTIONS.items()},
}


def _refuse_unless(condition: ast.expr) -> ast.stmt:
    return ast.If(ast.UnaryOp(ast.Not(), condition), [answer(value=False)], [])


class _Builder:
    """Collects statements; a tensor X lives in locals t_X, p_type_X, p_sizes_X …, loaded once and only when read."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self.fields: dict[str, FieldInfo] = dict(resolved.fields)
        self.constants: dict[str, Any] = {"_bits": resolved.spec.dialect.bits}
        self.errors = ["LookupError", "TypeError", "ArithmeticError", "ValueError", "AttributeError"]
        self.loaded: set[str] = set()
        self.out: list[ast.stmt] = []

    def statements(self) -> list[ast.stmt]:
        for name, info in self.resolved.fields.items():
            self._load(name, info)
        self._refuse_strangers()
        for name, info in self.resolved.fields.items():
            if info.type.endswith("[]"):
                self._each(name, info)
                continue
            checks = self._cell_checks(name, info, self.resolved.cells.get(name))
            self._guarded(checks, name if self._omissible(info) else None)
        for name, info in self.resolved.fields.items():
            if info.tensor:
                self._obey_tensor_rules(name, info)
        for form in self.resolved.rules:
            self._rule(form, {})
        return [*self.out, answer(value=True)]

    def _obey_tensor_rules(self, name: str, info: FieldInfo) -> None:
        """Check what every tensor obeys; a tensor that may be left out obeys it where it is given."""
        outer, self.out, loaded = self.out, [], set(self.loaded)
        for form in self.resolved.tensor_rules:
            if form.applies_to(info):
                self._rule(form, {"tensor": name})
        body, self.out = self.out, outer
        if not (self._omissible(info) or info.optional):
            self.out += body
        elif body:
            self.loaded = loaded  # what was loaded within is not there outside
            given = ast.Compare(load(f"t_{name}"), [ast.IsNot()], [ast.Constant(None)])
            self.out.append(ast.If(given, body, []))

    def _each(self, name: str, info: FieldInfo) -> None:
        """Check the elements of an array one by one: their cell, and what every tensor obeys."""
        item = f"0{name}"  # no field can be called so
        self.fields[item] = element = replace(info, name=item, type=info.type.removesuffix("[]"))
        outer, self.out = self.out, []
        self._guarded(self._cell_checks(item, element, self.resolved.cells.get(name)), None)
        for form in self.resolved.tensor_rules if element.tensor else ():
            if form.applies_to(info):
                self._rule(form, {"tensor": item})
        body, self.out = self.out, outer
        if info.min_count is not None:
            many = ast.Compare(call("len", load(f"t_{name}")), [ast.GtE()], [ast.Constant(info.min_count)])
            self._guarded([many], name if self._omissible(info) else None)
        if body:
            elements = ast.IfExp(is_none(f"t_{name}"), ast.Tuple([], ast.Load()), load(f"t_{name}"))
            self.out.append(ast.For(ast.Name(f"t_{item}", ast.Store()), elements, body, []))

    def _omissible(self, info: FieldInfo) -> bool:
        unstated = self.resolved.spec.dialect.infers_outputs and info.kind == "output"
        return (info.optional and info.default is None) or unstated

    def _load(self, name: str, info: FieldInfo) -> None:
        if self._omissible(info) or info.optional:
            get = ast.Attribute(load("fields"), "get", ast.Load())
            value: ast.expr = ast.Call(get, [ast.Constant(name), self._constant(info.default)], [])
        else:
            value = ast.Subscript(load("fields"), ast.Constant(name), ast.Load())
        self.out.append(assign(f"t_{name}", value))

    def _refuse_strangers(self) -> None:
        """A field of another level (an attribute not yet introduced) must not pass unseen."""
        for name in self.resolved.strangers:
            condition = ast.Compare(ast.Constant(name), [ast.NotIn()], [load("fields")])
            self.out.append(_refuse_unless(condition))

    def _constant(self, value: Any) -> ast.expr:
        if isinstance(value, list | dict | set | frozenset):
            key = f"_c{len(self.constants)}"
            self.constants[key] = value
            return load(key)
        return ast.Constant(value)

    def part(self, field: str, attribute: str) -> ast.expr:
        """Return the local that holds FIELD.attribute, loading it before the statement that reads it."""
        local = f"p_{attribute}_{field}"
        if local not in self.loaded:
            self.loaded.add(local)
            tensor = load(f"t_{field}")
            value: ast.expr
            if attribute == "rank":
                value = call("len", self.part(field, "sizes"))
            elif attribute == "elements":
                value = call("_product", self.part(field, "sizes"))
            elif attribute == "numbers":
                value = call("_numbers", self.part(field, "value"))
            elif self.fields[field].tensor and (at := slot(attribute)) is not None:
                value = ast.Subscript(tensor, ast.Constant(at), ast.Load())
            elif self.fields[field].fuses:
                fields = self.member(tensor, "fields")
                value = ast.Call(ast.Attribute(fields, "get", ast.Load()), [ast.Constant(attribute)], [])
            else:
                value = self.member(tensor, attribute)
            if self._omissible(self.fields[field]):
                value = ast.IfExp(is_none(f"t_{field}"), ast.Constant(None), value)
            self.out.append(assign(local, value))
        return load(local)

    def _cell_checks(self, name: str, info: FieldInfo, cell: Cell | None) -> list[ast.expr]:
        checks: list[ast.expr] = []
        if cell is not None and cell.types is not None:
            types = self._constant(frozenset(cell.types))
            checks.append(ast.Compare(self.part(name, "type"), [ast.In()], [types]))
        if cell is not None and cell.ranks is not None:
            checks.append(self._within(self.part(name, "rank"), cell.ranks.low, cell.ranks.high, cell.ranks.only))
        if info.fuses:
            checks.append(self._fits(name, cell))
        members = [self.member(load(f"t_{name}"), m) for m in _members(info)]
        numbers = members or [load(f"t_{name}")]
        values = cell.values if cell is not None and cell.values is not None else info.words
        if values is not None:
            allowed = self._constant(frozenset(values))
            checks += [ast.Compare(number, [ast.In()], [allowed]) for number in numbers]
        if cell is not None and cell.range is not None:
            limits = cell.range.low, cell.range.high, cell.range.only
            checks += [self._within(number, *limits) for number in numbers]
        return checks

    def member(self, record: ast.expr, name: str) -> ast.expr:
        """Return what reads a record's member; what stands there instead of a record has none."""
        self.errors = [*dict.fromkeys([*self.errors, "AttributeError"])]
        return ast.Attribute(record, name, ast.Load())

    def _fits(self, name: str, cell: Cell | None) -> ast.expr:
        """Return a call that asks whether the field, or the array's element, holds an operator that may be fused."""
        from specgate.rules.fused import Fusible

        key = f"_c{len(self.constants)}"
        resolved = self.resolved
        self.constants[key] = Fusible(resolved.spec.dialect, resolved.level, cell.operators if cell else None).fits
        return call(key, load(f"t_{name}"))

    def _within(self, value: ast.expr, low: int, high: int | None, only: tuple[int, ...] | None) -> ast.expr:
        if only is not None:
            return ast.Compare(value, [ast.In()], [self._constant(frozenset(only))])
        if low == high:
            return ast.Compare(value, [ast.Eq()], [ast.Constant(low)])
        if high is None:
            return ast.Compare(value, [ast.GtE()], [ast.Constant(low)])
        return ast.Compare(ast.Constant(low), [ast.LtE(), ast.LtE()], [value, ast.Constant(high)])

    def _guarded(self, checks: list[ast.expr], optional: str | None) -> None:
        for check in checks:
            guard = ast.BoolOp(ast.Or(), [is_none(f"t_{optional}"), check]) if optional else check
            self.out.append(_refuse_unless(guard))

    def _rule(self, form: RuleForm, bound: Mapping[str, str]) -> None:
        """Append one rule; `bound` says which field the name `tensor` stands for."""
        needs = sorted(form.needs)
        if any(bound.get(path.partition(".")[0], path.partition(".")[0]) not in self.fields for path in needs):
            return  # it reads a field that this level does not have: it never applies
        translate = Translator(self, bound)
        guards = [self._absent(path, bound) for path in needs]
        if form.when is not None:
            guards.append(ast.UnaryOp(ast.Not(), translate(form.when.tree)))
        tree = form.require.tree
        if not guards and _is_all(tree):
            self.out.append(translate.loop(tree))
            return
        condition = translate(tree)
        self.out.append(_refuse_unless(ast.BoolOp(ast.Or(), [*guards, condition]) if guards else condition))

    def _absent(self, path: str, bound: Mapping[str, str]) -> ast.expr:
        field, _, attribute = path.partition(".")
        field = bound.get(field, field)
        if not attribute:
            return is_none(f"t_{field}")
        return ast.Compare(self.part(field, attribute), [ast.Is()], [ast.Constant(None)])


def _members(info: FieldInfo) -> tuple[str, ...]:
    record = RECORDS.get(info.rule_kind)
    return () if record is None else tuple(record._fields)  # a NamedTuple


def _is_all(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "all"
