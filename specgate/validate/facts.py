"""What is known of one descriptor: the value of each rule on it. Levels and sides that share a rule share its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.rules.explain import Leaf
    from specgate.rules.language import Rule
    from specgate.rules.obeying import TensorRules
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.failures import Failure

__all__ = ["Changed", "Facts", "applies", "judge"]


class Facts:
    """The values of rules on one descriptor (and on the same one as other levels read it).

    They are kept by the identity of rule and context, which live as long as the tables and as this object.
    """

    __slots__ = ("_contexts", "_held", "_inner", "_leaves", "_tensors", "_told", "_values", "answers", "rows", "takes")

    #: By what a level says (its id) whether it takes the descriptor.
    answers: dict[int, bool | None]
    #: What fails by a row, by the descriptor and the row (which is kept, so that its id stays its own).
    rows: dict[tuple[int, int], tuple[Resolved, list[Failure]]]
    #: Whether the level judged takes the fields of a plain descriptor, where that is compiled.
    takes: Callable[[Mapping[str, Any]], bool] | None

    def __init__(self) -> None:
        self._contexts: dict[tuple[Any, ...], tuple[Descriptor, Context]] = {}
        self._inner: dict[tuple[Any, ...], Context] = {}
        self._tensors: dict[int, list[tuple[str, str, Context]]] = {}
        self._values: dict[tuple[int, int], Any] = {}
        self._leaves: dict[tuple[int, int], tuple[Leaf, ...]] = {}
        self._held: dict[tuple[int, int], bool] = {}
        self._told: dict[tuple[int, int, str], Failure] = {}
        self.answers = {}
        self.rows = {}
        self.takes = None

    def context(self, descriptor: Descriptor, resolved: Resolved) -> Context:
        """Return what the rules of a level read: one for all levels that have the same fields and limits."""
        key = id(descriptor), resolved.read
        pair = self._contexts.get(key)
        if pair is None:
            entries, spec = descriptor.fields, resolved.spec
            numbered = spec.dialect.numbered  # so that messages have words for the numbers of an enum
            fields = {n: numbered(info, entries.get(n, info.default)) for n, info in resolved.fields.items()}
            pair = descriptor, Context(fields, resolved.numbers, spec.dialect.bits, spec.scope.defines)
            self._contexts[key] = pair
        return pair[1]

    def tensors(self, context: Context) -> list[tuple[str, str, Context]]:
        """Return the field, the place and the context of each tensor; equal tensors share theirs."""
        parts = self._tensors.get(id(context))
        if parts is None:
            limits = tuple(context.numbers.items())
            placed = _places(context.fields)
            parts = [(name, place, self._of(tensor, limits, context)) for name, place, tensor in placed]
            self._tensors[id(context)] = parts
        return parts

    def _of(self, tensor: TensorDesc, limits: tuple[Any, ...], context: Context) -> Context:
        own: Any = tensor if tensor.value is None else id(tensor)  # a constant may be large
        try:
            inner = self._inner.get((own, limits))
        except TypeError:  # made by hand, with lists in it
            own = id(tensor)
            inner = self._inner.get((own, limits))
        if inner is None:
            inner = Context({"tensor": tensor}, context.numbers, context.bits)
            self._inner[own, limits] = inner
        return inner

    def judge(self, form: RuleForm, context: Context) -> Any:
        """Return True, False, UNKNOWN, or the Undefined that says why the rule has no value."""
        key = (id(form), id(context))
        result = self._values.get(key)
        if result is None:
            try:
                result = judge(form, context)
            except Undefined as error:
                result = error
            self._values[key] = result
        return result

    def hold(self, rules: TensorRules, context: Context) -> bool:
        """Return whether all of the rules of a tensor hold."""
        key = (id(rules), id(context))
        result = self._held.get(key)
        if result is None:
            result = rules.surely_hold(context.fields["tensor"]) or all(
                self.judge(form, context) is True for form in rules.forms
            )
            self._held[key] = result
        return result

    def holds(self, when: Rule, context: Context) -> Any:
        """Return True, False or UNKNOWN; a condition on what is left out, or that has no value, does not hold."""
        key = (id(when), id(context))
        result = self._values.get(key)
        if result is None:
            try:
                result = not any(context.absent(path) for path in when.needs) and evaluate(when, context)
            except Undefined:
                result = False
            self._values[key] = result
        return result

    def told(self, form: RuleForm, context: Context, where: str, say: Callable[[], Failure]) -> Failure:
        """Return what was said already of a rule that does not hold on the tensor at `where`, else what `say` does."""
        key = (id(form), id(context), where)
        failure = self._told.get(key)
        if failure is None:
            failure = self._told[key] = say()
        return failure

    def decisive(self, rule: Rule, context: Context) -> tuple[Leaf, ...]:
        """Return the parts that give a rule its value."""
        key = (id(rule), id(context))
        leafs = self._leaves.get(key)
        if leafs is None:
            from specgate.rules.explain import decisive  # most rules hold

            leafs = self._leaves[key] = decisive(rule, context)
        return leafs


class Changed(Facts):
    """What is known of a descriptor that was changed in some fields: rules that do not read these are as they were.

    before: what is known of the other one. context: what its rules read, by the row that is asked of this one, too.
    """

    __slots__ = ("_before", "_context", "_fields")

    def __init__(self, before: Facts, context: Context, fields: frozenset[str]) -> None:
        super().__init__()
        self._before = before
        self._context = context
        self._fields = fields

    def _of(self, tensor: TensorDesc, limits: tuple[Any, ...], context: Context) -> Context:
        return self._before._of(tensor, limits, context)  # noqa: SLF001  # it is the same class

    def judge(self, form: RuleForm, context: Context) -> Any:
        same = self._same(form, context)
        return super().judge(form, context) if same is None else self._before.judge(form, same)

    def hold(self, rules: TensorRules, context: Context) -> bool:
        return self._before.hold(rules, context)

    def told(self, form: RuleForm, context: Context, where: str, say: Callable[[], Failure]) -> Failure:
        same = self._same(form, context)
        return super().told(form, context, where, say) if same is None else self._before.told(form, same, where, say)

    def _same(self, form: RuleForm, context: Context) -> Context | None:
        """Return the context on which a rule was judged before as it must be here, None where there is none."""
        if form.scope == "tensor":
            return context
        return self._context if self._fields.isdisjoint(form.fields) else None


def _places(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, TensorDesc]]:
    for name, value in fields.items():
        if isinstance(value, TensorDesc):
            if value is not UNSTATED:
                yield name, name, value
        elif value.__class__ is list or value.__class__ is tuple:
            for index, item in enumerate(value):
                if isinstance(item, TensorDesc) and item is not UNSTATED:
                    yield name, f"{name}[{index}]", item


def judge(form: RuleForm, context: Context) -> Any:
    """Return whether a rule holds or does not apply; what hangs on a type that an output leaves out is never wrong.

    Raises Undefined where it has no value.
    """
    try:
        answer = _answer(form, context)
    except Undefined:
        if _unstated(form, context):
            return True
        raise
    return True if answer is UNKNOWN and _unstated(form, context) else answer


def _unstated(form: RuleForm, context: Context) -> bool:
    """Whether the rule reads an output that is given, at least in part, without a type."""
    values = (context.fields.get(name) for name in form.fields)
    return any(
        value is UNSTATED or (value.__class__ is list and any(item is UNSTATED for item in value)) for value in values
    )


def _answer(form: RuleForm, context: Context) -> Any:
    """Return whether a rule holds or does not apply; where it is open whether it applies, a failure is open too."""
    applying = applies(form, context)
    if applying is False:
        return True
    try:
        answer = evaluate(form.require, context)
    except Undefined:
        if applying is True:
            raise
        return UNKNOWN
    return UNKNOWN if applying is UNKNOWN and answer is False else answer


def applies(form: RuleForm, context: Context) -> Any:
    """Return True, False or UNKNOWN; raise Undefined where the rule's condition has no value."""
    for path in form.require.needs:
        if context.absent(path):
            return False
    if form.when is None:
        return True
    for path in form.when.needs:
        if context.absent(path):
            return False
    return evaluate(form.when, context)
