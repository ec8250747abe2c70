"""Many descriptors of one operator at once, as columns: which of them a target takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.columns import ColumnReader
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.descriptors.sources import several
from specgate.dialects import package
from specgate.rules.column_checks import asked
from specgate.rules.column_values import Words, both, either, negation
from specgate.spec.tables import dialect as tables
from specgate.validate.check import accepts, demanded
from specgate.validate.device import required_capabilities
from specgate.validate.releases import newer_types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.sources import Group
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.verdict import Basis

__all__ = ["accepted_rows"]

#: Rows that are judged together: few enough for what is computed on the way to stay in a processor's cache.
BLOCK: Final = 2**16


def accepted_rows(
    operator: str, columns: Mapping[str, Any], target: Target, basis: Basis, device: frozenset[str] | None
) -> NDArray[np.bool_]:
    """Return for each row whether `target` takes the descriptor; see `specgate.accepts_many`."""
    spec = tables(target.dialect).operator(package(target.dialect).named(operator))
    level = spec.level_for(target.level)
    reader = ColumnReader(spec, level)
    fields = reader.fields(columns)
    count = 1 if reader.count is None else reader.count
    result = np.zeros(count, bool)
    judge = None if level is None or not count else _Judge(spec, level, basis, target, device)
    if judge is None or judge.resolved is None:
        return result
    for group in several(fields, count):
        wide = False if reader.wide is None else reader.wide[group.which]
        result[group.which] = judge.group(group, wide)
    return result


class _Judge:
    """What is asked of every row."""

    def __init__(
        self, spec: OperatorSpec, level: str, basis: Basis, target: Target, device: frozenset[str] | None
    ) -> None:
        self.spec = spec
        self.level = level
        self.basis = basis
        self.by = target.by
        home = tables(target.dialect)
        self.known: Callable[[Any], bool] = lambda word: word in home.types or home.knows_type(str(word))
        self.resolved = demanded(target.dialect, spec.name, level, basis, target.by)
        refused = (
            set()
            if device is None
            else {
                kind for kind, needs in required_capabilities(target.dialect, level).items() if device.isdisjoint(needs)
            }
        )
        if basis != "documented" and "." not in spec.name:
            refused |= set(newer_types(target))
        self.refused = frozenset(refused)

    def group(self, group: Group, wide: Any) -> NDArray[np.bool_]:
        """Return the answers for rows that are alike. wide: rows that are asked one by one in any case."""
        result = np.zeros(group.count, bool)
        plain = Descriptor(self.spec.dialect.name, self.spec.name, group.row(0)).plain
        for start in range(0, group.count, BLOCK):
            which = slice(start, min(start + BLOCK, group.count))
            unsure = wide if wide is False else wide[which]
            result[which] = self._block(group, which, unsure, plain=plain)
        return result

    def _block(self, group: Group, which: slice, wide: Any, *, plain: bool) -> Any:
        fields = group.block(which)
        taken = self._types_taken(fields)
        if taken is False:
            return False
        assert self.resolved is not None  # asked before any row is  # noqa: S101
        accepted, left = asked(self.resolved, fields, which.stop - which.start) if plain else (True, True)
        accepted, left = both(either(accepted, wide), taken), either(left, wide)
        waiting = both(accepted, left)
        if waiting is False:
            return accepted
        answers = np.full(which.stop - which.start, accepted)
        rows = np.flatnonzero(np.broadcast_to(waiting, answers.shape))
        for row in rows.tolist():
            made = Descriptor(self.spec.dialect.name, self.spec.name, group.row(which.start + row), plain=plain)
            answers[row] = accepts(made, self.level, self.basis, self.by) is True
        return answers

    def _types_taken(self, fields: Mapping[str, Any]) -> Any:
        """Return which rows have types that exist and that the device and the release know."""
        found: Any = True
        for value in fields.values():
            for tensor in value if isinstance(value, list) else (value,):
                if isinstance(tensor, TensorDesc):
                    found = both(found, negation(_lacking(tensor.type, self._not_taken)))
        return found

    def _not_taken(self, word: Any) -> bool:
        return word in self.refused or not self.known(word)


def _lacking(kind: Any, test: Callable[[Any], bool]) -> Any:
    return kind.among(test) if isinstance(kind, Words) else test(kind)
