"""Compile an operator resolved for one level into a function that answers yes, no or unknown.

It is what `specgate.validate.explain` says in the end, for descriptors in which something is unknown. A rule, or a part
of one, that is not written here or has no value is left to the evaluator.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.language import Context
from specgate.rules.open_cells import CellCheck, Fewer, Strangers, stated, tensors_in
from specgate.rules.open_parts import FUNCTIONS, of_tensors
from specgate.rules.translate import assign, call, check_of, is_none, load
from specgate.rules.translate_open import OpenTranslator, Unwritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.descriptors.core import TensorDesc
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

    #: The value of a rule by the evaluator: True, False, UNKNOWN, or what says why it has none.
    Judge = Callable[[RuleForm, Context], Any]

__all__ = ["compile_open"]

_ERRORS: Final = (LookupError, TypeError, ArithmeticError, ValueError, AttributeError, NameError)


def compile_open(resolved: Resolved, judge: Judge, undefined: type[Exception]) -> Callable[[Mapping[str, Any]], Any]:
    """Return `f(fields)`: True, False, UNKNOWN, or None where the explaining path must look.

    It may be asked about descriptors in which nothing is odd.

    judge: the evaluator. undefined: what it raises where a part has no value.
    """
    builder = _Builder(resolved, judge)
    body = builder.statements()
    context = Context({}, resolved.numbers, resolved.spec.dialect.bits)
    scope = {**FUNCTIONS, **of_tensors(context), **builder.constants, "_errors": (undefined, *_ERRORS)}
    return check_of(body, f"{resolved.spec.name} at {resolved.level}, open", scope)


class _Builder:
    """Collects statements. A field X is in the local t_X as it is given."""

    def __init__(self, resolved: Resolved, judge: Judge) -> None:
        self.resolved = resolved
        self.judge = judge
        self.constants: dict[str, Any] = {"_stated": stated}
        self.locals: set[str] = set()
        self.out: list[ast.stmt] = []

    def statements(self) -> list[ast.stmt]:
        self.out.append(assign("open_", ast.Constant(value=False)))
        for name, info in self.resolved.fields.items():
            get = ast.Attribute(load("fields"), "get", ast.Load())
            self.out.append(assign(f"t_{name}", ast.Call(get, [ast.Constant(name), self.constant(info.default)], [])))
        self.structure()
        for name, info in self.resolved.fields.items():
            if info.fuses:
                continue
            cell = self.resolved.cells.get(name)
            if cell is not None or info.words:
                self.answered(call(self.constant_name(CellCheck(info, cell)), load(f"t_{name}")))
        for name, info in self.resolved.fields.items():
            if info.type in {"tensor", "tensor[]"}:
                self.obey_tensor_rules(name, info)
        whole = self.constant_name(self.evaluator())
        for form in self.resolved.rules:
            self.rule(form, {}, call(whole, self.constant(form), load("fields")))
        unknown = ast.IfExp(load("open_"), load("_unknown"), ast.Constant(value=True))
        return [*self.out, ast.Return(unknown)]

    def structure(self) -> None:
        """Refuse what lacks a field, or has one of another level; leave what holds operators and graphs to others."""
        dialect = self.resolved.spec.dialect
        for name, info in self.resolved.fields.items():
            if not dialect.may_omit(info):
                self.out.append(_if(is_none(f"t_{name}"), ast.Constant(value=False)))
            if info.min_count is not None:
                few = call(self.constant_name(Fewer(info.min_count)), load(f"t_{name}"))
                self.out.append(_if(few, ast.Constant(value=False)))
            if info.type.removesuffix("[]") in {
                "operator",
                "graph",
                "tensor-proto",
                "sparse-tensor-proto",
                "type-proto",
            }:
                given = ast.Compare(load(f"t_{name}"), [ast.IsNot()], [ast.Constant(None)])
                self.out.append(_if(given, ast.Constant(None)))
        strangers = frozenset(self.resolved.strangers)
        if strangers:
            strange = call(self.constant_name(Strangers(strangers)), load("fields"))
            self.out.append(_if(strange, ast.Constant(value=False)))

    def constant(self, value: Any) -> ast.expr:
        if value is None or isinstance(value, bool | int | float | str):
            return ast.Constant(value)
        return load(self.constant_name(value))

    def constant_name(self, value: Any) -> str:
        key = f"_c{len(self.constants)}"
        self.constants[key] = value
        return key

    def local(self, name: str, value: ast.expr) -> ast.expr:
        """Return a local that holds a value, which is worked out before the statement that reads it."""
        if name not in self.locals:
            self.locals.add(name)
            self.out.append(assign(name, value))
        return load(name)

    def answered(self, value: ast.expr, read: Iterable[str] = (), *, counts: bool = True) -> None:
        """Append what becomes of a part's value. read: outputs; what hangs on one without a type is not open."""
        self.out.append(assign("v", value))
        wrong = _if(ast.Compare(load("v"), [ast.Is()], [ast.Constant(value=False)]), ast.Constant(value=False))
        odd = _if(ast.Compare(load("v"), [ast.IsNot()], [load("_unknown")]), ast.Constant(None))
        unstated = [load(f"t_{name}") for name in read]
        opens: ast.expr = call("_stated", *unstated) if unstated else ast.Constant(value=True)
        more = [assign("open_", ast.BoolOp(ast.Or(), [load("open_"), opens]))] if counts else []
        isnt_true = ast.Compare(load("v"), [ast.IsNot()], [ast.Constant(value=True)])
        self.out.append(ast.If(isnt_true, [wrong, odd, *more], []))

    def obey_tensor_rules(self, name: str, info: FieldInfo) -> None:
        """Check what every tensor that is given obeys, one by one in an array."""
        forms = [form for form in self.resolved.tensor_rules if form.applies_to(info)]
        if not forms:
            return
        item = f"0{name}"  # no field can be called so
        outer, self.out, known = self.out, [], set(self.locals)
        alone = self.constant_name(self.evaluator_of_tensors())
        for form in forms:
            self.rule(form, {"tensor": item}, call(alone, self.constant(form), load(f"t_{item}")))
        body, self.out, self.locals = self.out, outer, known
        given = call(self.constant_name(tensors_in), load(f"t_{name}"))
        self.out.append(ast.For(ast.Name(f"t_{item}", ast.Store()), given, body, []))

    def rule(self, form: RuleForm, bound: Mapping[str, str], slow: ast.expr) -> None:
        """Append one rule. slow: its value by the evaluator."""
        fields = bound or self.resolved.fields
        if any(path.partition(".")[0] not in fields for path in form.needs):
            return  # it reads a field that this level does not have: it never applies
        outputs = [] if bound else [name for name in sorted(form.fields) if self.infers(name)]
        before, self.out, known = self.out, [], set(self.locals)
        try:
            value = self.applied(form, OpenTranslator(self, bound))
        except Unwritten:
            self.out, self.locals = before, known
            self.answered(slow, counts=form.variable is None)
            return
        loaded, self.out = self.out, before
        self.out += loaded
        fallback = ast.ExceptHandler(load("_errors"), None, [assign("w", slow)])
        self.out.append(ast.Try([assign("w", value)], [fallback], [], []))
        self.answered(load("w"), outputs, counts=form.variable is None)

    def applied(self, form: RuleForm, translate: OpenTranslator) -> ast.expr:
        """Return a rule's value, True where it does not apply."""
        value = translate(form.require.tree)
        guards = [_absent(translate, path) for path in sorted(form.needs)]
        if form.when is not None:
            applying = ast.NamedExpr(ast.Name("a", ast.Store()), translate(form.when.tree))
            open_ = ast.Compare(applying, [ast.Is()], [ast.Constant(value=False)])
            value = ast.IfExp(open_, ast.Constant(value=True), call("_applied", load("a"), value))
        if not guards:
            return value
        idle = guards[0] if len(guards) == 1 else ast.BoolOp(ast.Or(), guards)
        return ast.IfExp(idle, ast.Constant(value=True), value)

    def infers(self, name: str) -> bool:
        info = self.resolved.fields.get(name)
        return info is not None and info.kind == "output"

    def evaluator(self) -> Callable[[RuleForm, Mapping[str, Any]], Any]:
        """Return what asks the evaluator for a rule on a whole descriptor."""
        resolved, judge = self.resolved, self.judge
        infos, dialect, defines = resolved.fields, resolved.spec.dialect, resolved.spec.scope.defines

        def evaluated(form: RuleForm, fields: Mapping[str, Any]) -> Any:
            given = {name: fields.get(name, info.default) for name, info in infos.items()}
            return judge(form, Context(given, resolved.numbers, dialect.bits, defines))

        return evaluated

    def evaluator_of_tensors(self) -> Callable[[RuleForm, TensorDesc], Any]:
        """Return what asks the evaluator for a rule on one tensor."""
        resolved, judge = self.resolved, self.judge

        def evaluated(form: RuleForm, tensor: TensorDesc) -> Any:
            return judge(form, Context({"tensor": tensor}, resolved.numbers, resolved.spec.dialect.bits))

        return evaluated


def _absent(translate: OpenTranslator, path: str) -> ast.expr:
    name, _, attribute = path.partition(".")
    local = translate.field(name)
    return call("_absent", load(local), ast.Constant(attribute)) if attribute else is_none(local)


def _if(condition: ast.expr, answer: ast.expr) -> ast.stmt:
    return ast.If(condition, [ast.Return(answer)], [])
