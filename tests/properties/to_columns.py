"""Convert descriptors to the columns that `specgate.accepts_many` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import RECORDS, TensorDesc
from specgate.dialects import package
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor

__all__ = ["columns_of"]


def columns_of(descriptors: Sequence[Descriptor]) -> dict[str, list[Any]]:
    """Return the columns of descriptors, one row each.

    The descriptors must not have unknown values. None marks an omitted field.
    """
    first = descriptors[0]
    words = package(first.dialect).tensor_words
    types = dialect(first.dialect).types
    items_by_name: dict[str, list[Any]] = {}
    for name, info in dialect(first.dialect).operator(first.operator).fields.items():
        values = [descriptor.fields.get(name) for descriptor in descriptors]
        if all(value is None for value in values):
            continue
        if info.type == "tensor":
            items_by_name.update(_tensor(name, values, words, next(iter(types))))
        elif info.type == "tensor[]":
            for place in range(max(len(value or ()) for value in values)):
                items = [value[place] if value and place < len(value) else None for value in values]
                items_by_name.update(_tensor(f"{name}[{place}]", items, words, next(iter(types))))
        elif (record := RECORDS.get(info.type)) is not None:
            parts = record._fields  # a NamedTuple
            items_by_name |= {f"{name}.{part}": [getattr(value, part, None) for value in values] for part in parts}
        else:
            items_by_name[name] = values
    return items_by_name


def _tensor(
    name: str, tensors: Sequence[TensorDesc | None], words: Any, some_type: str
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the columns of a tensor's members.

    some_type: the type in rows without the tensor, whose sizes mark it as absent.
    """
    for word, slot in words.items():
        values = [None if tensor is None else getattr(tensor, slot) for tensor in tensors]
        if slot == "type":
            yield f"{name}.{word}", [some_type if value is None else value for value in values]
        elif slot == "sizes" or any(value is not None for value in values):
            yield f"{name}.{word}", values
