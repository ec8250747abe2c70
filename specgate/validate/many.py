"""Checks of many descriptors of one operator at once, as columns."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.columns import ColumnReader, split_rows
from specgate.descriptors.core import Descriptor, TensorDesc, format_value
from specgate.dialects import package
from specgate.errors import InputError
from specgate.rules.columns import Words, compile_columns, rows_of
from specgate.spec.tables import dialect as tables
from specgate.spec.tables import on_change
from specgate.validate.check import accepts, required_rows
from specgate.validate.conditional_rows import list_rows
from specgate.validate.device import required_capabilities
from specgate.validate.releases import newer_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.columns import Leaves
    from specgate.targets import Target
    from specgate.verdict import Basis

    Check = Callable[[Mapping[str, Any]], tuple[Any, Any]]

#: Rows per block: small enough for intermediate results to stay in the processor's cache.
BLOCK: Final = 2**16

_checks: dict[tuple[str, str, str, Basis, str | None], list[list[Check]]] = {}


@on_change
def _forget() -> None:
    _checks.clear()


def accepted_rows(
    operator: str, columns: Mapping[str, Any], target: Target, basis: Basis, device: frozenset[str] | None
) -> NDArray[np.bool_]:
    """Return which rows `target` accepts; see `specgate.accepts_many`."""
    if not isinstance(operator, str):
        raise InputError(f"expected the name of an operator, found {format_value(operator)}")
    spec = tables(target.dialect).operator(package(target.dialect).vendor_name(operator))
    level = spec.level_for(target.level)
    reader = ColumnReader(spec, level)
    leaves = reader.read(columns)
    count = 1 if reader.count is None else reader.count
    result = np.zeros(count, bool)
    checks = [] if level is None else _compile_columns(target.dialect, spec.name, level, basis, target.by)
    if level is None or not checks or not count:
        return result
    refused = _refused_types(spec.name, level, target, basis, device)
    for which, number, group in split_rows(leaves, count):
        answers = np.empty(number, bool)

        def descriptors(rows: Sequence[int], group: Leaves = group, *, plain: bool = False) -> Iterator[Descriptor]:
            for row in zip(*(leaf.rows(rows) for leaf in group.values()), strict=True):
                fields = reader.join(dict(zip(group, row, strict=True)))
                yield Descriptor(target.dialect, spec.name, fields, plain=plain)

        plain = all(descriptor.plain for descriptor in descriptors([0]))
        for start in range(0, number, BLOCK):
            rows = slice(start, start + BLOCK)
            fields = reader.join({path: leaf.block(rows) for path, leaf in group.items()})
            supported = _have_types(fields, target.dialect, refused)
            passed, certain = (True, False) if not plain else _check_rows(checks, fields)
            answers[rows] = passed & supported
            undecided = (start + np.flatnonzero(answers[rows] & np.logical_not(certain))).tolist()
            for row, descriptor in zip(undecided, descriptors(undecided, plain=plain), strict=True):
                answers[row] = accepts(descriptor, level, basis, target.by) is True
        result[which] = answers
    return result


def _check_rows(sides: list[list[Check]], fields: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the rows that some support row of each side accepts, and those of them that are decided."""
    every: tuple[Any, Any] = (True, True)
    for checks in sides:
        passed = certain = False
        for check in checks:
            accepted, undecided = check(fields)
            passed, certain = passed | accepted, certain | (accepted ^ undecided)
        every = every[0] & passed, every[1] & certain
    return every


def _refused_types(operator: str, level: str, target: Target, basis: Basis, device: frozenset[str] | None) -> set[str]:
    """Return the types that the device or the release does not support."""
    needs_by_type = {} if device is None else required_capabilities(target.dialect, level)
    refused = {kind for kind, needs in needs_by_type.items() if (device or frozenset()).isdisjoint(needs)}
    return refused if basis == "documented" or "." in operator else refused | set(newer_types(target))


def _have_types(fields: Mapping[str, Any], dialect: str, refused: set[str]) -> Any:
    """Return which rows have types that exist and are supported."""
    table = tables(dialect)

    def is_supported(word: Any) -> bool:
        return word not in refused and (word in table.types or table.knows_type(str(word)))

    tensors = [item for value in fields.values() for item in (value if isinstance(value, list) else [value])]
    kinds = [item.type for item in tensors if isinstance(item, TensorDesc)]
    tests = (kind.look_up(is_supported) if isinstance(kind, Words) else is_supported(kind) for kind in kinds)
    return rows_of(reduce(and_, tests, True))


def _compile_columns(dialect: str, operator: str, level: str, basis: Basis, by: str | None) -> list[list[Check]]:
    """Return the column checks of each support row, per side of `basis`."""
    key = (dialect, operator, level, basis, by)
    if key not in _checks:
        _checks[key] = [[compile_columns(row) for row in list_rows(side)] for side in required_rows(*key)]
    return _checks[key]
