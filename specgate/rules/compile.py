"""Compile a resolved operator into one straight-line boolean function."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, TensorDesc
from specgate.rules import functions as rule_functions
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import ATTRIBUTES, LAYOUT_FUNCTIONS, NUMBERS, WORDS
from specgate.rules.walk import walk
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.rules.language import Rule
    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

_NO_POSITION: Final = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}


def slot(attribute: str) -> int | None:
    """Return the TensorDesc index of `attribute`, None for other names."""
    matching_attribute = ATTRIBUTES.get(attribute)
    name = attribute if matching_attribute is None else matching_attribute.slot
    return TensorDesc._fields.index(name) if name in TensorDesc._fields else None


def load(identifier: str) -> ast.Name:
    """Return a read of a local or global."""
    return ast.Name(identifier, ast.Load())


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function of the generated module."""
    return ast.Call(load(function), list(arguments), [])


def answer(*, value: bool) -> ast.Return:
    """Return a return statement."""
    return ast.Return(ast.Constant(value))


def assign(name: str, value: ast.expr) -> ast.Assign:
    """Return an assignment to a local."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def is_none(name: str) -> ast.Compare:
    """Return a test whether a local is None."""
    return ast.Compare(load(name), [ast.Is()], [ast.Constant(None)])


def check_of(body: list[ast.stmt], name: str, scope: dict[str, Any], parameters: str = "fields") -> Callable[..., Any]:
    """Return a function with the statements of `body`.

    name: shown in tracebacks. scope: the globals that it reads.
    """
    tree = ast.parse(f"def check({parameters}): pass")
    tree.body[0].body = body  # type: ignore[attr-defined]
    _locate(tree)
    exec(compile(tree, f"<{name}>", "exec"), scope)  # noqa: S102  # a tree of whitelisted nodes
    check: Callable[..., Any] = scope["check"]
    return check


def _locate(tree: ast.AST) -> None:
    """Set the location of every node, five times as fast as the ast module.

    It replaces `ast.fix_missing_locations`; generated nodes have no source.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        node.__dict__.update(_NO_POSITION)
        for part in node.__dict__.values():
            if isinstance(part, ast.AST):
                waiting.append(part)
            elif type(part) is list:
                waiting += [item for item in part if isinstance(item, ast.AST)]


def _counts(tree: ast.expr) -> bool:
    """Return whether a loop variable over `tree` counts from 0 up."""
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in {"dims", "range"}


#: The attributes that are computed from another, with the function.
_DERIVED: Final = {"rank": ("len", "sizes"), "elements": ("_product", "sizes"), "numbers": ("_numbers", "value")}


def derive(attribute: str, read: Callable[[str], ast.expr]) -> ast.expr:
    """Return the expression of an attribute that is computed from another."""
    function, source = _DERIVED[attribute]
    return call(function, read(source))


class Translator:
    """Rewrites a rule's tree to read the locals of the generated function."""

    def __init__(self, builder: Builder, bound: Mapping[str, str]) -> None:
        self.builder = builder
        self.bound = bound
        self.variables: frozenset[str] = frozenset()
        self.counters: frozenset[str] = frozenset()
        self.loops = 0

    def __call__(self, node: ast.expr) -> ast.expr:
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is not None:
            result: ast.expr = method(node)
            return result
        return self._children(node)

    def _children(self, node: ast.expr) -> ast.expr:
        changed_nodes: dict[str, Any] = {}
        for key, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                changed_nodes[key] = self(value)
            elif isinstance(value, list):
                changed_nodes[key] = [self(item) if isinstance(item, ast.expr) else item for item in value]
            else:
                changed_nodes[key] = value
        return type(node)(**changed_nodes)

    def field(self, name: str) -> str:
        return self.bound.get(name, name)

    def on_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name in self.variables:
            return load(f"v_{name}")
        resolved = self.builder.resolved
        defines: Mapping[str, Rule] = resolved.spec.scope.defines
        if name in defines:
            variables, self.variables = self.variables, frozenset()
            define_source = self(defines[name].tree)
            self.variables = variables
            return define_source
        if self.field(name) in resolved.fields:
            return load(f"t_{self.field(name)}")
        return ast.Constant(resolved.numbers.get(name, name))

    def on_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id not in self.variables:
            return self.builder.part(self.field(node.value.id), node.attr)
        if isinstance(node.value, ast.Attribute):
            return self.builder.member(self(node.value), node.attr)
        value = self._slot(self(node.value), node.attr)
        return value if node.attr == "sizes" else call("_given", value)

    @staticmethod
    def _slot(tensor: ast.expr, attribute: str) -> ast.expr:
        """Return a read of an attribute of an array's tensor."""
        if attribute in _DERIVED:
            return derive(attribute, partial(Translator._slot, tensor))
        return ast.Subscript(tensor, ast.Constant(slot(attribute)), ast.Load())

    def on_Subscript(self, node: ast.Subscript) -> ast.expr:
        sequence, index = self(node.value), self(node.slice)
        if self._is_non_negative(node.slice):
            return ast.Subscript(sequence, index, ast.Load())
        return call("_at", sequence, index)

    def _is_non_negative(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and node.value >= 0
        if isinstance(node, ast.Name):
            if node.id in self.variables:
                return node.id in self.counters
            info = self.builder.resolved.fields.get(node.id)
            return info is not None and info.type in {"uint", "uint64"}
        return False

    def on_Compare(self, node: ast.Compare) -> ast.expr:
        """Return a comparison in which sequences compare by elements.

        Tuples, lists and ranges may be mixed.
        """
        parts = [node.left, *node.comparators]
        part_sources = [self(part) for part in parts]
        if any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            part_sources = [
                call("tuple", w) if self._sequence(p) else w for p, w in zip(parts, part_sources, strict=True)
            ]
        return ast.Compare(part_sources[0], node.ops, part_sources[1:])

    def _sequence(self, node: ast.expr) -> bool:
        match node:
            case ast.Tuple() | ast.List():
                return True
            case ast.Attribute():
                return node.attr in {"sizes", "strides"}
            case ast.Call(func=ast.Name(id=function)):
                return function in {"dims", "range", "values"}
            case ast.IfExp():
                return self._sequence(node.body)
            case ast.Name(id=name) if name not in self.variables:
                scope = self.builder.resolved.spec.scope
                kind = scope.defines[name].kind if name in scope.defines else scope.fields.get(name)
                return kind in {NUMBERS, WORDS}
        return False

    def on_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id  # type: ignore[attr-defined]  # checked by parse()
        argument = node.args[0]
        if name in {"all", "any"}:
            return call(name, self(argument))
        if name == "present":
            return self._present(argument)
        if name == "operator":
            return self.builder.member(self(argument), "operator")
        if name in LAYOUT_FUNCTIONS or FUNCTIONS[name].of_tensor:
            return self._tensor_call(name, argument)
        argument_sources = [self(part) for part in node.args]
        if name == "len" and isinstance(argument, ast.GeneratorExp):
            argument_sources = [call("tuple", *argument_sources)]
        return call(f"_{name}", *argument_sources)

    def _tensor_call(self, name: str, tensor: ast.expr) -> ast.expr:
        """Return a call of a tensor function on a field, or on an array's tensor."""
        if isinstance(tensor, ast.Name) and tensor.id not in self.variables:
            read: Callable[[str], ast.expr] = partial(self.builder.part, self.field(tensor.id))
        else:
            read = partial(self._slot, self(tensor))
        match name:
            case "rank" | "type" | "elements":
                return read(name)
            case "dims":
                return call("range", read("rank"))
            case "bits":
                return self.bits(read("type"))
            case "value":
                return ast.Subscript(call("_numbers", call("_single", read("value"))), ast.Constant(0), ast.Load())
            case "values":
                return call("_given", read("numbers"))  # evaluated once, however often a rule reads them
            case _:
                return self.layout(name, *map(read, ("type", "sizes", "strides")))

    def bits(self, kind: ast.expr) -> ast.expr:
        """Return a read of the bits per element of a type."""
        return ast.Subscript(load("_bits"), kind, ast.Load())

    def layout(self, name: str, kind: ast.expr, sizes: ast.expr, strides: ast.expr) -> ast.expr:
        """Return a call of a registered layout function."""
        bits = self.bits(kind) if LAYOUT_FUNCTIONS[name].needs_bits else ast.Constant(0)
        return call(f"_{name}", bits, sizes, strides)

    def _present(self, argument: ast.expr) -> ast.expr:
        if isinstance(argument, ast.Attribute):
            base = argument.value
            if isinstance(base, ast.Name) and base.id not in self.variables:
                tested = self.builder.part(self.field(base.id), argument.attr)
            else:
                tested = self._slot(self(base), argument.attr)
        else:
            field = self.field(argument.id)  # type: ignore[attr-defined]
            if field not in self.builder.resolved.fields:
                return ast.Constant(value=False)
            tested = load(f"t_{field}")
        return ast.Compare(tested, [ast.IsNot()], [ast.Constant(None)])

    def on_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        loop = node.generators[0]
        iterated = self(loop.iter)
        variable = loop.target.id  # type: ignore[attr-defined]
        outer = self.variables, self.counters
        self.variables |= {variable}
        self.counters = self.counters | {variable} if _counts(loop.iter) else self.counters - {variable}
        self.loops += 1
        element, tests = self(node.elt), [self(test) for test in loop.ifs]
        inner = any(isinstance(part, ast.GeneratorExp) for tree in (element, *tests) for part in ast.walk(tree))
        if inner or self.loops > 1:
            iterated = call("_few", iterated)
        self.loops -= 1
        self.variables, self.counters = outer
        target = ast.Name(f"v_{variable}", ast.Store())
        return ast.GeneratorExp(element, [ast.comprehension(target, iterated, tests, 0)])

    def loop(self, tree: ast.expr) -> ast.stmt:
        """Return `all(...)` as a for statement, twice as fast as a generator."""
        generator = self.on_GeneratorExp(tree.args[0])  # type: ignore[attr-defined]
        loop = generator.generators[0]  # type: ignore[attr-defined]
        test: ast.expr = ast.UnaryOp(ast.Not(), generator.elt)  # type: ignore[attr-defined]
        if loop.ifs:
            test = ast.BoolOp(ast.And(), [*loop.ifs, test])
        return ast.For(loop.target, loop.iter, [ast.If(test, [answer(value=False)], [])], [])


def compile_resolved(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool`: True when every cell and rule holds.

    False means that the explaining path must decide. It supports only plain descriptors (nothing unknown, nothing odd);
    it returns False for anything it cannot evaluate.
    """
    builder = Builder(resolved)
    body = builder.statements()
    functions = {f"_{name}": function.compute for name, function in FUNCTIONS.items()}
    layout = {f"_{name}": function.compute for name, function in LAYOUT_FUNCTIONS.items()}
    scope = {**functions, **layout, **GLOBALS, **builder.constants}
    name = f"{resolved.spec.name} at {resolved.level}"
    handler = ast.ExceptHandler(load("_ERRORS"), None, [answer(value=False)])
    return check_of([ast.Try(body, [handler], [], [])], name, scope)


def index_safely(sequence: Any, index: int) -> Any:
    """Index without Python's negative wrap-around: -1 is not a dimension."""
    if index < 0:
        raise IndexError("negative")
    return sequence[index]


def _single_value(value: Any) -> Any:
    if len(value) != 1:
        raise ValueError("no single number")
    return value


def _numbers(value: Any) -> Any:
    """Return the elements of a constant, None if they may not be numbers."""
    return value if value is not None and all(isinstance(item, int | float) for item in value) else None


def _present_value(value: Any) -> Any:
    if value is None:
        raise ValueError("left out")
    return value


#: Exceptions of an undefined value, which fails the check.
ERRORS: Final = (LookupError, TypeError, ArithmeticError, ValueError, AttributeError)
#: The functions of the generated code.
GLOBALS: Final[Mapping[str, Any]] = {
    "_ERRORS": ERRORS,
    "_at": index_safely,
    "_few": rule_functions.check_nesting,
    "_single": _single_value,
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
            count_test = ast.Compare(call("len", load(f"t_{info.name}")), [ast.GtE()], [ast.Constant(info.min_count)])
            self._guard_checks([count_test], info)

    def absence(self, name: str) -> None:
        """Reject a field of another level (an attribute not yet introduced)."""
        self.refuse_unless(ast.Compare(ast.Constant(name), [ast.NotIn()], [load("fields")]))

    def cell(self, info: FieldInfo, cell: Cell | None) -> None:
        """Check a field, or each element of an array, against the row."""
        if info.type.endswith("[]"):
            with self._each_element(info) as element:
                self._guard_checks(self._cell_checks(element, cell), None)
        else:
            self._guard_checks(self._cell_checks(info, cell), info)

    def tensors(self, info: FieldInfo, forms: tuple[RuleForm, ...]) -> None:
        """Check the tensor rules of a field; an absent optional tensor passes."""
        if not info.tensor:
            with self._each_element(info) as element:
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
    def _each_element(self, info: FieldInfo) -> Iterator[FieldInfo]:
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
        is_unstated = self.resolved.spec.dialect.infers_outputs and info.kind == "output"
        return (info.optional and info.default is None) or is_unstated

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
            if attribute in _DERIVED:
                value = derive(attribute, partial(self.part, field))
            elif self.fields[field].tensor and (slot_index := slot(attribute)) is not None:
                value = ast.Subscript(tensor, ast.Constant(slot_index), ast.Load())
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
        if high is None:
            return ast.Compare(value, [ast.GtE()], [ast.Constant(low)])
        return ast.Compare(ast.Constant(low), [ast.LtE(), ast.LtE()], [value, ast.Constant(high)])

    def _cell_checks(self, info: FieldInfo, cell: Cell | None) -> list[ast.expr]:
        name, checks = info.name, list[ast.expr]()
        if cell is not None and cell.types is not None:
            checks.append(self.among(self.part(name, "type"), cell.types))
        if cell is not None and cell.ranks is not None:
            checks.append(self._test_bounds(self.part(name, "rank"), cell.ranks))
        if info.fuses:
            checks.append(self._fits(name, cell))
        numbers = [self.member(load(f"t_{name}"), m) for m in _members(info)] or [load(f"t_{name}")]
        values = cell.values if cell is not None and cell.values is not None else info.words
        if values is not None:
            checks += [self.among(number, values) for number in numbers]
        if cell is not None and cell.range is not None:
            checks += [self._test_bounds(number, cell.range) for number in numbers]
        return checks

    def _test_bounds(self, value: ast.expr, bounds: Bounds) -> ast.expr:
        if bounds.only is not None:
            return self.among(value, bounds.only)
        return self.within(value, bounds.low, bounds.high)

    def member(self, record: ast.expr, name: str) -> ast.expr:
        """Return a read of a record's member; other objects fail the check."""
        return ast.Attribute(record, name, ast.Load())

    def _fits(self, name: str, cell: Cell | None) -> ast.expr:
        """Return a call that tests whether a fused operator is supported."""
        from specgate.rules.fused import Fusible

        key = f"_c{len(self.constants)}"
        resolved = self.resolved
        self.constants[key] = Fusible(resolved.spec.dialect, resolved.level, cell.operators if cell else None).fits
        return call(key, load(f"t_{name}"))

    def _guard_checks(self, checks: list[ast.expr], info: FieldInfo | None) -> None:
        """Append checks that reject.

        info: the field that the checks read; None where it is always present.
        """
        omissible = info is not None and self._omissible(info)
        for check in checks:
            self.refuse_unless(self.any_of([is_none(f"t_{info.name}"), check]) if info and omissible else check)

    def _rule(self, form: RuleForm, bound: Mapping[str, str]) -> None:
        """Append one rule; `bound` is the field of the name `tensor`."""
        paths_read = sorted(form.needs)
        if any(bound.get(path.partition(".")[0], path.partition(".")[0]) not in self.fields for path in paths_read):
            return  # it reads a field that this level does not define: it never applies
        translate = self.translator(self, bound)
        guards = [self._absent(path, bound) for path in paths_read]
        if form.when is not None:
            guards.append(translate(ast.UnaryOp(ast.Not(), form.when.tree)))
        tree = form.require.tree
        if self.translator is Translator and not guards and getattr(getattr(tree, "func", None), "id", "") == "all":
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
