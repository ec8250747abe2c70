"""Compile a resolved operator into one straight-line boolean function."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS
from specgate.rules import primitives
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import LAYOUT_FUNCTIONS
from specgate.rules.translate import Translator, answer, assign, call, check_of, is_none, load, slot
from specgate.rules.walk import walk
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

__all__ = ["Builder", "compile_resolved"]


def compile_resolved(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool`: True when every cell and rule holds.

    False means that the explaining path must decide. It supports only plain descriptors (nothing unknown, nothing odd);
    it returns False for anything it cannot evaluate.
    """
    builder = Builder(resolved)
    body = builder.statements()
    functions = {f"_{name}": function.compute for name, function in FUNCTIONS.items()}
    layout = {f"_{name}": function.compute for name, function in LAYOUT_FUNCTIONS.items()}
    scope = {**functions, **layout, **_GLOBALS, **builder.constants}
    name = f"{resolved.spec.name} at {resolved.level}"
    check: Callable[[Mapping[str, Any]], bool] = check_of(
        [ast.Try(body, [_handler(builder.errors)], [], [])], name, scope
    )
    return check


def _handler(errors: list[str]) -> ast.ExceptHandler:
    return ast.ExceptHandler(ast.Tuple([load(e) for e in errors], ast.Load()), None, [answer(value=False)])


def _at(sequence: Any, index: int) -> Any:
    """Index without Python's negative wrap-around: -1 is not a dimension."""
    if index < 0:
        raise IndexError("negative")
    return sequence[index]


def _single(value: Any) -> Any:
    if value is None or len(value) != 1 or not isinstance(value[0], int | float):
        raise ValueError("no single number")
    return value[0]


def _numbers(value: Any) -> Any:
    """Return the elements of a constant, None if they may not be numbers."""
    return value if value is not None and all(isinstance(item, int | float) for item in value) else None


def _present_value(value: Any) -> Any:
    if value is None:
        raise ValueError("left out")
    return value


_GLOBALS: Final[Mapping[str, Any]] = {
    "_at": _at,
    "_few": primitives.few,
    "_single": _single,
    "_numbers": _numbers,
    "_given": _present_value,
}


class Builder:
    """Collects statements.

    A tensor X is in locals t_X, p_type_X, p_sizes_X and so on, each loaded once and only if it is read.
    """

    translator: type[Translator] = Translator

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self.fields: dict[str, FieldInfo] = dict(resolved.fields)
        self.constants: dict[str, Any] = {"_bits": resolved.spec.dialect.bits}
        self.errors = ["LookupError", "TypeError", "ArithmeticError", "ValueError", "AttributeError"]
        self.loaded: set[str] = set()
        self.out: list[ast.stmt] = []

    def statements(self) -> list[ast.stmt]:
        for name, info in self.fields.items():
            self._load(name, info)
        for _ in walk(self.resolved.steps, self):
            pass
        return [*self.out, answer(value=True)]

    def presence(self, info: FieldInfo) -> None:
        """Reject arrays that are too short.

        Loading a field and checking its cell reject a missing field.
        """
        if info.min_count is not None:
            many = ast.Compare(call("len", load(f"t_{info.name}")), [ast.GtE()], [ast.Constant(info.min_count)])
            self._guarded([many], info)

    def absence(self, name: str) -> None:
        """Reject a field of another level (an attribute not yet introduced)."""
        self.refuse_unless(ast.Compare(ast.Constant(name), [ast.NotIn()], [load("fields")]))

    def cell(self, info: FieldInfo, cell: Cell | None) -> None:
        """Check a field, or each element of an array, against the row."""
        if info.type.endswith("[]"):
            with self._each(info) as element:
                self._guarded(self._cell_checks(element, cell), None)
        else:
            self._guarded(self._cell_checks(info, cell), info)

    def tensors(self, info: FieldInfo, forms: tuple[RuleForm, ...]) -> None:
        """Check the tensor rules of a field; an absent optional tensor passes."""
        if not info.tensor:
            with self._each(info) as element:
                self._all_of(forms, element)
            return
        outer, self.out, loaded = self.out, [], set(self.loaded)
        self._all_of(forms, info)
        body, self.out = self.out, outer
        if not (self._omissible(info) or info.optional):
            self.out += body
        elif body:
            self.loaded = loaded  # locals loaded inside the branch are not set outside
            compare = ast.Compare(load(f"t_{info.name}"), [ast.IsNot()], [ast.Constant(None)])
            self.out.append(ast.If(compare, body, []))

    def _all_of(self, forms: tuple[RuleForm, ...], info: FieldInfo) -> None:
        for form in forms:
            self._rule(form, {"tensor": info.name})

    def rules(self, forms: tuple[RuleForm, ...]) -> None:
        for form in forms:
            self._rule(form, {})

    @contextmanager
    def _each(self, info: FieldInfo) -> Iterator[FieldInfo]:
        """Yield the element of an array; code added meanwhile runs per element."""
        item = f"0{info.name}"  # not a valid field name
        self.fields[item] = element = replace(info, name=item, type=info.type.removesuffix("[]"))
        outer, self.out, loaded = self.out, [], set(self.loaded)
        yield element
        body, self.out, self.loaded = self.out, outer, loaded
        if body:
            elements = ast.IfExp(is_none(f"t_{info.name}"), ast.Tuple([], ast.Load()), load(f"t_{info.name}"))
            self.out.append(ast.For(ast.Name(f"t_{item}", ast.Store()), elements, body, []))

    def _omissible(self, info: FieldInfo) -> bool:
        unstated = self.resolved.spec.dialect.infers_outputs and info.kind == "output"
        return (info.optional and info.default is None) or unstated

    def _load(self, name: str, info: FieldInfo) -> None:
        if self._omissible(info) or info.optional:
            get = ast.Attribute(load("fields"), "get", ast.Load())
            value: ast.expr = ast.Call(get, [ast.Constant(name), self.constant(info.default)], [])
        else:
            value = ast.Subscript(load("fields"), ast.Constant(name), ast.Load())
        self.out.append(assign(f"t_{name}", value))

    def constant(self, value: Any) -> ast.expr:
        if isinstance(value, list | dict | set | frozenset):
            key = f"_c{len(self.constants)}"
            self.constants[key] = value
            return load(key)
        return ast.Constant(value)

    def part(self, field: str, attribute: str) -> ast.expr:
        """Return the local of FIELD.attribute, loading it before its first read."""
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

    def refuse_unless(self, condition: ast.expr) -> None:
        """Append a return of False unless a condition holds."""
        self.out.append(ast.If(ast.UnaryOp(ast.Not(), condition), [answer(value=False)], []))

    def any_of(self, parts: list[ast.expr]) -> ast.expr:
        """Return a disjunction that stops at the first true condition."""
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.Or(), parts)

    def among(self, value: ast.expr, allowed: Iterable[Any]) -> ast.expr:
        """Return a test whether a value is among a row's values."""
        return ast.Compare(value, [ast.In()], [self.constant(frozenset(allowed))])

    def within(self, value: ast.expr, low: int, high: int | None) -> ast.expr:
        """Return a test whether a number is in a row's range."""
        if low == high:
            return ast.Compare(value, [ast.Eq()], [ast.Constant(low)])
        if high is None:
            return ast.Compare(value, [ast.GtE()], [ast.Constant(low)])
        return ast.Compare(ast.Constant(low), [ast.LtE(), ast.LtE()], [value, ast.Constant(high)])

    def _cell_checks(self, info: FieldInfo, cell: Cell | None) -> list[ast.expr]:
        name, checks = info.name, list[ast.expr]()
        if cell is not None and cell.types is not None:
            checks.append(self.among(self.part(name, "type"), cell.types))
        if cell is not None and cell.ranks is not None:
            checks.append(self._bounded(self.part(name, "rank"), cell.ranks))
        if info.fuses:
            checks.append(self._fits(name, cell))
        numbers = [self.member(load(f"t_{name}"), m) for m in _members(info)] or [load(f"t_{name}")]
        values = cell.values if cell is not None and cell.values is not None else info.words
        if values is not None:
            checks += [self.among(number, values) for number in numbers]
        if cell is not None and cell.range is not None:
            checks += [self._bounded(number, cell.range) for number in numbers]
        return checks

    def _bounded(self, value: ast.expr, bounds: Bounds) -> ast.expr:
        if bounds.only is not None:
            return self.among(value, bounds.only)
        return self.within(value, bounds.low, bounds.high)

    def member(self, record: ast.expr, name: str) -> ast.expr:
        """Return a read of a record's member; other objects fail the check."""
        self.errors = [*dict.fromkeys([*self.errors, "AttributeError"])]
        return ast.Attribute(record, name, ast.Load())

    def _fits(self, name: str, cell: Cell | None) -> ast.expr:
        """Return a call that tests whether a fused operator is supported."""
        from specgate.rules.fused import Fusible

        key = f"_c{len(self.constants)}"
        resolved = self.resolved
        self.constants[key] = Fusible(resolved.spec.dialect, resolved.level, cell.operators if cell else None).fits
        return call(key, load(f"t_{name}"))

    def _guarded(self, checks: list[ast.expr], info: FieldInfo | None) -> None:
        """Append checks that reject.

        info: the field that the checks read; None where it is always present.
        """
        omissible = info is not None and self._omissible(info)
        for check in checks:
            self.refuse_unless(self.any_of([is_none(f"t_{info.name}"), check]) if info and omissible else check)

    def _rule(self, form: RuleForm, bound: Mapping[str, str]) -> None:
        """Append one rule; `bound` is the field of the name `tensor`."""
        needs = sorted(form.needs)
        if any(bound.get(path.partition(".")[0], path.partition(".")[0]) not in self.fields for path in needs):
            return  # it reads a field that this level does not define: it never applies
        translate = self.translator(self, bound)
        guards = [self._absent(path, bound) for path in needs]
        if form.when is not None:
            guards.append(translate(ast.UnaryOp(ast.Not(), form.when.tree)))
        self.require(form.require.tree, guards, translate)

    def require(self, tree: ast.expr, guards: list[ast.expr], translate: Translator) -> None:
        """Append a rule's expression.

        guards: conditions under which it does not apply.
        """
        if not guards and _is_all(tree):
            self.out.append(translate.loop(tree))
        else:
            self.refuse_unless(self.any_of([*guards, translate(tree)]))

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
