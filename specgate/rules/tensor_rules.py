"""Tensor rules per field kind and level, compiled when used often.

Operators with equal rules share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import TensorDesc
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

#: Compiling costs as much as this many evaluations.
MIN_EVALUATIONS: Final = 96


class TensorRules:
    """Tensor rules of a level.

    key: equal for rules that accept the same tensors, within a dialect.
    """

    def __init__(self, resolved: Resolved, kind: str) -> None:
        self.forms: tuple[RuleForm, ...] = tuple(f for f in resolved.tensor_rules if f.on is None or f.on == kind)
        self.key = (*map(id, self.forms), *resolved.numbers.items())
        self._resolved = resolved
        self._calls = 0
        self._check: Callable[[Mapping[str, Any]], bool] | None = None

    def certainly_hold(self, tensor: TensorDesc) -> bool:
        """Return whether all rules certainly hold; False means undecided."""
        if self._check is None:
            self._calls += 1
            if self._calls <= MIN_EVALUATIONS:
                return False
            self._check = self._compile_rules()
        return tensor.concrete and self._check({"tensor": tensor})

    def _compile_rules(self) -> Callable[[Mapping[str, Any]], bool]:
        from specgate.rules.compile import compile_resolved  # most runs stay below the limit

        info: FieldInfo = next(iter(self._resolved.fields.values()))
        single_info = replace(
            info, name="tensor", kind="input", type="tensor", optional=False, default=None, words=None
        )
        resolved = replace(
            self._resolved, fields={"tensor": single_info}, cells={}, rules=self.forms, tensor_rules=(), cases=()
        )
        return compile_resolved(resolved)
