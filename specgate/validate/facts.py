"""Cached rule values for one descriptor, shared between levels and sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.rules.explain import Leaf
    from specgate.rules.language import Rule
    from specgate.rules.tensor_rules import TensorRules
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.failures import Failure


class Facts:
    """Rule values for one descriptor, also as other levels read it.

    Keys are the identities of rule and context, which live as long as the tables and this object.
    """

    __slots__ = (
        "_contexts",
        "_failures",
        "_holds",
        "_inner",
        "_leaves",
        "_tensors",
        "_values",
        "answers",
        "quick_check",
        "rows",
    )

    #: Whether a level accepts the descriptor, by the level's id.
    answers: dict[int, bool | None]
    #: Failures by descriptor and row; the row is kept so that its id is not reused.
    rows: dict[tuple[int, int], tuple[Resolved, list[Failure]]]
    #: Whether the level accepts the fields of a plain descriptor, where the check is compiled.
    quick_check: Callable[[Mapping[str, Any]], bool] | None

    def __init__(self) -> None:
        self._contexts: dict[tuple[Any, ...], tuple[Descriptor, Context]] = {}
        self._inner: dict[tuple[Any, ...], Context] = {}
        self._tensors: dict[int, list[tuple[str, str, Context]]] = {}
        self._values: dict[tuple[int, int], Any] = {}
        self._leaves: dict[tuple[int, int], tuple[Leaf, ...]] = {}
        self._holds: dict[tuple[int, int], bool] = {}
        self._failures: dict[tuple[int, int, str], Failure] = {}
        self.answers = {}
        self.rows = {}
        self.quick_check = None

    def context(self, descriptor: Descriptor, resolved: Resolved) -> Context:
        """Return the context for rules, shared by levels with equal fields."""
        key = id(descriptor), resolved.read
        pair = self._contexts.get(key)
        if pair is None:
            entries, spec = descriptor.fields, resolved.spec
            numbered = spec.dialect.words_of_numbers  # messages translate the numbers of an enum to words
            fields = {n: numbered(info, entries.get(n, info.default)) for n, info in resolved.fields.items()}
            pair = descriptor, Context(fields, resolved.numbers, spec.dialect.bits, spec.scope.defines)
            self._contexts[key] = pair
        return pair[1]

    def tensors(self, context: Context) -> list[tuple[str, str, Context]]:
        """Return (field, place, context) per tensor; equal tensors share one."""
        parts = self._tensors.get(id(context))
        if parts is None:
            limits = tuple(context.numbers.items())
            placed_tensors = _places(context.fields)
            parts = [(name, place, self._of(tensor, limits, context)) for name, place, tensor in placed_tensors]
            self._tensors[id(context)] = parts
        return parts

    def _of(self, tensor: TensorDesc, limits: tuple[Any, ...], context: Context) -> Context:
        own_value: Any = tensor if tensor.value is None else id(tensor)  # a constant may be large
        try:
            inner = self._inner.get((own_value, limits))
        except TypeError:  # built by hand with lists, which are not hashable
            own_value = id(tensor)
            inner = self._inner.get((own_value, limits))
        if inner is None:
            inner = Context({"tensor": tensor}, context.numbers, context.bits)
            self._inner[own_value, limits] = inner
        return inner

    def judge(self, form: RuleForm, context: Context) -> Any:
        """Return True, False, UNKNOWN, or the Undefined raised by the rule."""
        key = (id(form), id(context))
        result = self._values.get(key)
        if result is None:
            try:
                result = judge(form, context)
            except Undefined as error:
                result = error
            self._values[key] = result
        return result

    def satisfies(self, rules: TensorRules, context: Context) -> bool:
        """Return whether all rules of a tensor hold."""
        key = (id(rules), id(context))
        result = self._holds.get(key)
        if result is None:
            result = rules.certainly_hold(context.fields["tensor"]) or all(
                self.judge(form, context) is True for form in rules.forms
            )
            self._holds[key] = result
        return result

    def holds(self, condition: Rule, context: Context) -> Any:
        """Return True, False or UNKNOWN.

        A condition on an absent field, or one without a value, does not hold.
        """
        key = (id(condition), id(context))
        result = self._values.get(key)
        if result is None:
            try:
                result = not any(context.absent(path) for path in condition.needs) and evaluate(condition, context)
            except Undefined:
                result = False
            self._values[key] = result
        return result

    def failure_of(self, form: RuleForm, context: Context, place: str, make_failure: Callable[[], Failure]) -> Failure:
        """Return the failure of a tensor rule at `place`, from the cache or `make_failure`."""
        key = (id(form), id(context), place)
        failure = self._failures.get(key)
        if failure is None:
            failure = self._failures[key] = make_failure()
        return failure

    def decisive(self, rule: Rule, context: Context) -> tuple[Leaf, ...]:
        """Return the parts of a rule that decide its value."""
        key = (id(rule), id(context))
        leafs = self._leaves.get(key)
        if leafs is None:
            from specgate.rules.explain import decisive_parts  # most rules hold

            leafs = self._leaves[key] = decisive_parts(rule, context)
        return leafs


class ChangedFacts(Facts):
    """Facts about a modified descriptor, reusing rules that are unaffected.

    before: facts about the original. context: what the rules read from the modified descriptor, also when another row
    asks.
    """

    __slots__ = ("_before", "_context", "_fields")

    def __init__(self, before: Facts, context: Context, fields: frozenset[str]) -> None:
        super().__init__()
        self._before = before
        self._context = context
        self._fields = fields

    def _of(self, tensor: TensorDesc, limits: tuple[Any, ...], context: Context) -> Context:
        return self._before._of(tensor, limits, context)  # noqa: SLF001  # same class

    def judge(self, form: RuleForm, context: Context) -> Any:
        is_cached = self._same_context(form, context)
        return super().judge(form, context) if is_cached is None else self._before.judge(form, is_cached)

    def satisfies(self, rules: TensorRules, context: Context) -> bool:
        return self._before.satisfies(rules, context)

    def failure_of(self, form: RuleForm, context: Context, place: str, make_failure: Callable[[], Failure]) -> Failure:
        is_cached = self._same_context(form, context)
        return (
            super().failure_of(form, context, place, make_failure)
            if is_cached is None
            else self._before.failure_of(form, is_cached, place, make_failure)
        )

    def _same_context(self, form: RuleForm, context: Context) -> Context | None:
        """Return the earlier context in which a rule has the same value.

        None without such a context.
        """
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
    """Return whether a rule holds or does not apply.

    A rule that depends on an unstated output type never fails. Raises Undefined where it has no value.
    """
    try:
        answer = _answer(form, context)
    except Undefined:
        if _reads_unstated(form, context):
            return True
        raise
    return True if answer is UNKNOWN and _reads_unstated(form, context) else answer


def _reads_unstated(form: RuleForm, context: Context) -> bool:
    """Return whether the rule reads an output without a stated type."""
    values = (context.fields.get(name) for name in form.fields)
    return any(
        value is UNSTATED or (value.__class__ is list and any(item is UNSTATED for item in value)) for value in values
    )


def _answer(form: RuleForm, context: Context) -> Any:
    """Return whether a rule holds or does not apply.

    Where its condition is UNKNOWN, a failure is UNKNOWN too.
    """
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
    """Return whether the condition holds; raise Undefined without a value."""
    for path in form.require.needs:
        if context.absent(path):
            return False
    if form.when is None:
        return True
    for path in form.when.needs:
        if context.absent(path):
            return False
    return evaluate(form.when, context)
