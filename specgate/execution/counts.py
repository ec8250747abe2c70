"""Attributes that count the elements of arrays, held against them before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import shown
from specgate.errors import InputError

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["hold_counts"]


def hold_counts(descriptor: Descriptor, spec: OperatorSpec, level: str) -> None:
    """Raise InputError where a field counts arrays and one of those that are there has another length.

    Implementations read as many elements as the count says, and kernels read arrays only.
    """
    for name, info in spec.fields.items():
        stated = descriptor.fields.get(name)
        if not info.counts or stated is None or spec.field_at(name, level) is None:
            continue
        for counted in info.counts:
            length = _length(descriptor.fields.get(counted))
            if length is not None and stated != length:
                raise InputError(f"is {shown(stated)}, but {counted} has {length} elements", place=name)


def _length(value: Any) -> int | None:
    """How many elements a field has, None where it is left out or not known."""
    return len(value) if isinstance(value, list | tuple) else None
