"""The state of a node during lowering, and exceptions that end it.

`lower` converts each exception to a `NotLowered`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN, Symbol, TensorDesc
from specgate.rules.evaluate import Context, Evaluator, Undefined
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.rules.language import Rule


class ProviderRefusal(Exception):
    """A check of the provider that fails before it calls DirectML.

    rule: the id of the check. The message says why.
    """

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule


class UnknownValue(Exception):
    """A size or the elements of an input are unknown but required."""


#: The value of an expression that reads an omitted optional field.
ABSENT: Final = None
#: A tensor in a table: a field's name, or an element of an array of tensors.
TENSOR_NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(.+)\])?")


class State:
    """The values of a node's fields, for evaluating expressions.

    lists: the named lists of its table, each computed on first use. types: DirectML's name of each ONNX element type.
    least, most: minimum and maximum number of dimensions of tensors. origins: pairs of a created tensor and the node's
    tensor. partial: expressions may be UNKNOWN instead of raising Open.
    """

    __slots__ = ("_evaluator", "_pending", "_values", "least", "most", "operator", "origins", "partial", "types")

    def __init__(
        self,
        values: dict[str, Any],
        defines: Mapping[str, Rule],
        lists: Mapping[str, Callable[[State, int], Any]],
        general: Mapping[str, Any],
        operator: str,
        *,
        partial: bool = False,
    ) -> None:
        self._values = values
        self._pending = dict(lists)
        self._evaluator = Evaluator(Context(values, bits=dialect("onnx").bits, defines=defines))
        self.types: Mapping[str, str] = general["types"]
        self.least: int = general["dimensions"]["least"]
        self.most: int = general["dimensions"]["most"]
        self.operator = operator
        self.partial = partial
        self.origins: list[tuple[TensorDesc, TensorDesc]] = []

    def get(self, name: str) -> Any:
        """Return a field's value, None if it is omitted."""
        return self._values.get(name)

    def value(self, rule: Rule, i: int) -> Any:
        """Return an expression's value, `ABSENT` if it reads an omitted part.

        Raises Open or Refused. i: the index of the enclosing loop.
        """
        for name in rule.fields:
            form = self._pending.pop(name, None)
            if form is not None:
                self._values[name] = form(self, 0)
        for path in rule.needs:
            name, _, part = path.partition(".")
            outcome = self._values.get(name) is not None
            if not outcome and (not part or name in rule.needs):  # otherwise the expression tests for it first
                return ABSENT
            if outcome and part and self._evaluator.context.absent(path):
                if self.partial:
                    return UNKNOWN
                raise UnknownValue(f"the elements of {name} are unknown before the first run")
        try:
            result = self._evaluator.value(rule.tree, {"i": i})
        except Undefined as error:
            if self.partial:
                return UNKNOWN
            raise ProviderRefusal("unusable", f"{rule.text}: {error}") from None
        if self.partial:
            return UNKNOWN if isinstance(result, Symbol) else result
        items = result if isinstance(result, list | tuple) else (result,)
        if any(item is UNKNOWN or isinstance(item, Symbol) for item in items):
            raise UnknownValue(f"{rule.text} is unknown before the first run")
        return result

    def holds(self, rule: Rule | None, i: int = 0) -> bool:
        """Return whether a condition holds; False if it reads an omitted part."""
        return rule is None or self.value(rule, i) is True

    def dml_type(self, tensor: TensorDesc) -> str:
        """Return DirectML's name of a tensor's element type.

        Raises Refused if DirectML lacks the type, and Open if it is unknown.
        """
        if tensor.type is None:
            raise UnknownValue("the type of a tensor is unknown")
        word = self.types.get(tensor.type)
        if word is None:
            raise ProviderRefusal("type", f"DirectML does not support tensors of type {tensor.type}")
        return word
