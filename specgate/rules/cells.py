"""Checks of a field's whole value, parts of which may be unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNKNOWN, UNSTATED, TensorDesc, is_record

if TYPE_CHECKING:
    from specgate.spec.fields import Cell, FieldInfo

__all__ = ["CellCheck", "stated"]


class CellCheck:
    """What a row says of a field's value: whether it takes it, as far as it is known."""

    def __init__(self, info: FieldInfo, cell: Cell | None) -> None:
        self.types = None if cell is None or cell.types is None else frozenset(cell.types)
        self.ranks = None if cell is None else cell.ranks
        values = cell.values if cell is not None and cell.values is not None else info.words
        self.values = None if values is None else frozenset(values)
        self.range = None if cell is None else cell.range

    def __call__(self, value: Any) -> Any:
        if value.__class__ is TensorDesc:
            return self.tensor(value)
        if value is None:
            return True
        if isinstance(value, list) or value.__class__ is tuple:
            answers = [self.tensor(one) if one.__class__ is TensorDesc else self.value(one) for one in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        return self.value(value)

    def tensor(self, tensor: TensorDesc) -> Any:
        if tensor is UNSTATED:
            return True
        open_ = False
        if self.types is not None and tensor.type not in self.types:
            if tensor.type is not None:
                return False
            open_ = True
        if self.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in self.ranks):
            if tensor.sizes is not None:
                return False
            open_ = True
        return UNKNOWN if open_ else True

    def value(self, value: Any) -> Any:
        if is_record(value):
            answers = [self.value(number) for number in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        if value is UNKNOWN:
            return UNKNOWN if self.values or self.range is not None else True
        if self.values is not None and value not in self.values:
            return False
        return self.range is None or value in self.range


def stated(*values: Any) -> bool:
    """Whether no output among `values` is given, or holds one, without a type."""
    return not any(
        value is UNSTATED or (value.__class__ is list and any(one is UNSTATED for one in value)) for value in values
    )
