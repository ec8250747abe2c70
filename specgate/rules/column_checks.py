"""Everything an operator asks at one level, of the rows of many descriptors at once: what `compile` asks of one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import RECORDS
from specgate.rules.column_compare import among, within
from specgate.rules.column_functions import of_tensor
from specgate.rules.column_values import Broken, Open, both, either, negation
from specgate.rules.columns import ColumnRules, sequence_of, truth_of
from specgate.rules.fused import Fusible
from specgate.rules.language import member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.rules.language import Rule
    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm

    Check = Callable[[], Any]

__all__ = ["asked"]

_REFUSED: Final = (False, False)


def asked(resolved: Resolved, fields: Mapping[str, Any], count: int) -> tuple[Any, Any]:
    """Return which rows are accepted, and where among them that is open: each a truth, or one for each row.

    fields: those that are given, as values of rules (see `columns`). count: of the rows.
    """
    with np.errstate(all="ignore"):  # of rows that are open, or not asked
        if not resolved.cases:
            return _Table(resolved, fields, count).asked()
        accepted: Any = False
        left: Any = True
        for case in resolved.cases:
            table = _Table(case.resolved, fields, count)
            one, unsure = table.asked(case.when)
            certain = both(one, negation(unsure))
            left = both(left, negation(certain))
            accepted = either(accepted, one)
        return accepted, both(left, accepted)


class _Table:
    """One support row and the rules beside it, asked of a block of rows."""

    def __init__(self, resolved: Resolved, fields: Mapping[str, Any], count: int) -> None:
        self.resolved = resolved
        spec = resolved.spec
        self.given = fields
        held = {
            name: fields.get(name, info.default if info.optional else None) for name, info in resolved.fields.items()
        }
        self.rows = ColumnRules(count, held, resolved.numbers, spec.dialect.bits, spec.scope.defines)
        self.fields = held

    def asked(self, when: Rule | None = None) -> tuple[Any, Any]:
        """Return which rows are accepted, and where among them that is open. when: the condition of a case."""
        if self._strange():
            return _REFUSED
        accepted: Any = True
        left: Any = False
        first: list[Check] = [] if when is None else [partial(self.covered, when)]
        for check in (*first, *self._checks()):
            passed, unsure = self._made(check)
            accepted = both(accepted, passed)
            left = either(left, unsure)
            if accepted is False or (accepted is not True and not accepted.any()):
                return _REFUSED
        return accepted, both(accepted, left)

    def _made(self, check: Check) -> tuple[Any, Any]:
        """Return which rows pass one check, and where that is open, which passes for the time being."""
        try:
            passed = truth_of(check())
        except Broken:
            passed = False
        except Open:
            self.rows.noted()
            return True, True
        broken, unsure = self.rows.noted()
        passed = both(passed, negation(broken))
        return either(passed, unsure), unsure

    def _strange(self) -> bool:
        """Whether a field of another level is given, or one is missing that no descriptor can do without."""
        held = self.resolved.fields
        if any(name not in held for name in self.given):
            return True
        return any(self.fields[name] is None and not self._omissible(info) for name, info in held.items())

    def _omissible(self, info: FieldInfo) -> bool:
        unstated = self.resolved.spec.dialect.infers_outputs and info.kind == "output"
        return (info.optional and info.default is None) or unstated

    def _checks(self) -> Iterator[Check]:
        """Yield the checks, those that cost least first."""
        for name, info in self.resolved.fields.items():
            if self.fields[name] is not None:
                yield partial(self._cell, self.fields[name], info, self.resolved.cells.get(name))
        for form in self.resolved.rules:
            yield partial(self._rule, form, {})
        for name, info in self.resolved.fields.items():
            for tensor in self._tensors(name, info):
                for form in self.resolved.tensor_rules:
                    if form.applies_to(info):
                        yield partial(self._rule, form, {"tensor": tensor})

    def _tensors(self, name: str, info: FieldInfo) -> list[Any]:
        value = self.fields[name]
        if value is None or info.type not in {"tensor", "tensor[]"}:
            return []
        return [value] if info.tensor else list(value)

    def _cell(self, value: Any, info: FieldInfo, cell: Cell | None) -> Any:
        if not info.type.endswith("[]"):
            return self._single(value, info, cell)
        items = sequence_of(value)
        element = replace(info, type=info.type.removesuffix("[]"))
        parts = (partial(self._single, item, element, cell) for item in items)
        if info.min_count is not None and len(items) < info.min_count:
            return False
        return self.rows.chain(parts, decisive=False)

    def _single(self, value: Any, info: FieldInfo, cell: Cell | None) -> Any:
        found: Any = True
        if cell is not None and cell.types is not None:
            found = both(found, among(of_tensor(self.rows, "type", value), frozenset(cell.types)))
        if cell is not None and cell.ranks is not None:
            bounds = cell.ranks
            found = both(found, within(of_tensor(self.rows, "rank", value), bounds.low, bounds.high, bounds.only))
        if info.fuses:
            fusible = Fusible(self.resolved.spec.dialect, self.resolved.level, cell.operators if cell else None)
            found = both(found, fusible.fits(value))
        values = cell.values if cell is not None and cell.values is not None else info.words
        record = RECORDS.get(info.rule_kind)
        numbers = [value] if record is None else [getattr(value, part) for part in record._fields]
        for number in numbers:
            if values is not None:
                found = both(found, among(number, frozenset(values)))
            if cell is not None and cell.range is not None:
                found = both(found, within(number, cell.range.low, cell.range.high, cell.range.only))
        return found

    def _rule(self, form: RuleForm, bound: Mapping[str, Any]) -> Any:
        """Return where a rule holds, or does not apply. bound: the tensor that it is about, if it is about each."""
        for path in form.needs:
            field, _, attribute = path.partition(".")
            if field not in bound and field not in self.fields:
                return True  # it reads a field that this level does not have: it never applies
            owner = bound[field] if field in bound else self.fields[field]
            if owner is None or (attribute and member(owner, attribute) is None):
                return True
        when, require = form.when, form.require
        parts = [lambda: truth_of(self.rows.value(require.tree, bound))]
        if when is not None:
            parts.insert(0, lambda: negation(truth_of(self.rows.value(when.tree, bound))))
        return self.rows.chain(parts, decisive=True)

    def covered(self, when: Rule) -> Any:
        """Return whether a case's condition holds; what it reads must be there."""
        for path in when.needs:
            field, _, attribute = path.partition(".")
            owner = self.fields.get(field)
            if owner is None or (attribute and member(owner, attribute) is None):
                return False
        return truth_of(self.rows.value(when.tree, {}))
