"""Fused operators: which ones a field accepts, and their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import Descriptor, format_value
from specgate.errors import NoTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.dialect_spec import Dialect

MAX_NAME: Final = 60


class FusedProblem(NamedTuple):
    """A problem of a fused operator.

    message: a clause that follows the name of the containing field. field: the fused operator's field with the problem,
    "" for the operator itself. change: the fix for that field. structural: whether the result cannot be computed.
    listed: whether the only problem is that the row does not list the operator.
    """

    message: str
    field: str = ""
    change: str | None = None
    structural: bool = False
    listed: bool = False


class _Parts(NamedTuple):
    attributes: frozenset[str]
    required: frozenset[str]
    tensors: frozenset[str]


def _name(text: str) -> str:
    return text if text.isprintable() and 0 < len(text) <= MAX_NAME else format_value(text)


class Fusible:
    """Fusible operators of a field at a level.

    allowed: full names, None where the row does not limit them.
    """

    def __init__(self, dialect: Dialect, level: str, allowed: tuple[str, ...] | None) -> None:
        self.dialect = dialect
        self.level = level
        self.allowed = allowed
        self._parts_by_name: dict[str, _Parts | None] = {}

    def fits(self, value: Any) -> bool:
        """Return whether `flaws` is empty, in a third of the time."""
        if not isinstance(value, Descriptor) or value.dialect != self.dialect.name or value.oddities:
            return False
        if not self.accepts(value.operator):
            return False
        parts = self._parts(value.operator)
        present_names = {name for name, part in value.fields.items() if part is not None}
        return parts is None or parts.required <= present_names <= parts.attributes

    def accepts(self, operator: str) -> bool:
        """Return whether the operator may be fused.

        The row must list it; a row without a list accepts every operator of the level.
        """
        if self.allowed is not None:
            return operator in self.allowed
        try:
            return self.level in self.dialect.operator(operator).levels
        except NoTable:
            return False

    def flaws(self, value: Any) -> Iterator[FusedProblem]:
        """Yield the problems of a field's value, or of an array element."""
        if not isinstance(value, Descriptor) or value.dialect != self.dialect.name:
            yield FusedProblem(
                f"is {format_value(value)}, but an operator of {self.dialect.name} is expected", structural=True
            )
            return
        level_label = self.dialect.label(self.level)
        if not self.accepts(value.operator):
            level_text = "" if self.allowed is not None else f", which {level_label} does not have"
            yield FusedProblem(f"is {_name(value.operator)}{level_text}", listed=self.allowed is not None)
        for oddity in value.oddities:
            yield FusedProblem(f"has an invalid field: {oddity.message}", _name(oddity.where), structural=True)
        parts = self._parts(value.operator)
        if parts is None:
            return
        present_names = [name for name, part in value.fields.items() if part is not None]
        for name in present_names:
            if name in parts.tensors:
                message = f"states {name}, but a fused operator has no separate tensors"
                yield FusedProblem(message, name, "leave out")
            elif name not in parts.attributes:
                message = f"states {_name(name)}, which is not an attribute of {value.operator} at {level_label}"
                yield FusedProblem(message, _name(name), "leave out", structural=True)
        for name in sorted(parts.required.difference(present_names)):
            message = f"does not state {name}, which {value.operator} requires"
            yield FusedProblem(message, name, "state", structural=True)

    def _parts(self, operator: str) -> _Parts | None:
        """Return the defined and required attributes of an operator at the level.

        None where it does not have a table.
        """
        if operator not in self._parts_by_name:
            try:
                spec = self.dialect.operator(operator)
            except NoTable:
                return None
            infos = [f for f in spec.attributes if self.dialect.holds(self.level, f.since, f.until)]
            required = frozenset(f.name for f in infos if not f.optional and f.default is None)
            tensors = frozenset(f.name for f in (*spec.inputs, *spec.outputs))
            self._parts_by_name[operator] = _Parts(frozenset(f.name for f in infos), required, tensors)
        return self._parts_by_name[operator]
