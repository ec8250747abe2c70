"""Checks of many descriptors of one operator at once, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.column_sources import several
from specgate.descriptors.columns import ColumnReader
from specgate.descriptors.core import Descriptor, TensorDesc, format_value
from specgate.dialects import package
from specgate.errors import InputError
from specgate.rules.column_values import Words, both, either, negation
from specgate.rules.columns import compile_columns
from specgate.spec.tables import dialect as tables
from specgate.spec.tables import until_change
from specgate.validate.check import accepts, required_rows
from specgate.validate.conditional_rows import list_rows
from specgate.validate.device import required_capabilities
from specgate.validate.releases import newer_types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.column_sources import Group
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.verdict import Basis

    Check = Callable[[Mapping[str, Any], int], tuple[Any, Any]]

__all__ = ["accepted_rows"]

#: Rows per block: small enough for intermediate results to stay in the processor's cache.
BLOCK: Final = 2**16


def accepted_rows(
    operator: str, columns: Mapping[str, Any], target: Target, basis: Basis, device: frozenset[str] | None
) -> NDArray[np.bool_]:
    """Return which rows `target` accepts; see `specgate.accepts_many`."""
    if not isinstance(operator, str):
        raise InputError(f"expected the name of an operator, found {format_value(operator)}")
    spec = tables(target.dialect).operator(package(target.dialect).vendor_name(operator))
    level = spec.level_for(target.level)
    reader = ColumnReader(spec, level)
    fields = reader.fields(columns)
    count = 1 if reader.count is None else reader.count
    result = np.zeros(count, bool)
    checks = (
        None if level is None or not count else _compile_columns(target.dialect, spec.name, level, basis, target.by)
    )
    if level is None or checks is None:
        return result
    judge = _RowChecks(spec, level, basis, target, device, checks)
    for group in several(fields, count):
        result[group.which] = judge.group(group)
    return result


@until_change
def _compile_columns(dialect: str, operator: str, level: str, basis: Basis, by: str | None) -> list[Check] | None:
    """Return the column checks, one per support row.

    None where the level does not define the operator.
    """
    resolved = required_rows(dialect, operator, level, basis, by)
    return None if resolved is None else [compile_columns(row) for row in list_rows(resolved)]


class _RowChecks:
    """The checks that apply to every row."""

    def __init__(
        self,
        spec: OperatorSpec,
        level: str,
        basis: Basis,
        target: Target,
        device: frozenset[str] | None,
        checks: list[Check],
    ) -> None:
        self.spec = spec
        self.level = level
        self.basis = basis
        self.by = target.by
        home = tables(target.dialect)
        self.is_known: Callable[[Any], bool] = lambda word: word in home.types or home.knows_type(str(word))
        self.checks = checks
        refused_types = (
            set()
            if device is None
            else {
                kind
                for kind, capabilities in required_capabilities(target.dialect, level).items()
                if device.isdisjoint(capabilities)
            }
        )
        if basis != "documented" and "." not in spec.name:
            refused_types |= set(newer_types(target))
        self.refused = frozenset(refused_types)

    def group(self, group: Group) -> NDArray[np.bool_]:
        """Return the answers for rows with equal structure."""
        result = np.zeros(group.count, bool)
        is_plain = Descriptor(self.spec.dialect.name, self.spec.name, group.row(0)).plain
        for start in range(0, group.count, BLOCK):
            row_range = slice(start, min(start + BLOCK, group.count))
            result[row_range] = self._block(group, row_range, is_plain=is_plain)
        return result

    def _check(self, fields: Mapping[str, Any], count: int) -> tuple[Any, Any]:
        """Return the accepted rows, and the rows that are undecided."""
        is_accepted = is_certain = False
        for check in self.checks:
            has_passed, uncertain = check(fields, count)
            is_accepted, is_certain = (
                either(is_accepted, has_passed),
                either(is_certain, both(has_passed, negation(uncertain))),
            )
        return is_accepted, both(is_accepted, negation(is_certain))

    def _block(self, group: Group, row_range: slice, *, is_plain: bool) -> Any:
        fields = group.block(row_range)
        types_pass = self._supported_types(fields)
        if types_pass is False:
            return False
        is_accepted, left = self._check(fields, row_range.stop - row_range.start) if is_plain else (True, True)
        is_accepted = both(is_accepted, types_pass)
        waiting = both(is_accepted, left)
        if waiting is False:
            return is_accepted
        answers = np.full(row_range.stop - row_range.start, is_accepted)
        rows = np.flatnonzero(np.broadcast_to(waiting, answers.shape))
        for row in rows.tolist():
            descriptor = Descriptor(
                self.spec.dialect.name, self.spec.name, group.row(row_range.start + row), plain=is_plain
            )
            answers[row] = accepts(descriptor, self.level, self.basis, self.by) is True
        return answers

    def _supported_types(self, fields: Mapping[str, Any]) -> Any:
        """Return which rows have types that exist and are supported.

        Both the device and the release must support them.
        """
        result: Any = True
        for value in fields.values():
            for tensor in value if isinstance(value, list) else (value,):
                if isinstance(tensor, TensorDesc):
                    result = both(result, negation(_test_missing(tensor.type, self._is_unsupported)))
        return result

    def _is_unsupported(self, word: Any) -> bool:
        return word in self.refused or not self.is_known(word)


def _test_missing(kind: Any, test: Callable[[Any], bool]) -> Any:
    return kind.among(test) if isinstance(kind, Words) else test(kind)
