"""Values for a field that a descriptor lacks.

Tensors similar to its other tensors, words, small numbers, and operators to fuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, Descriptor, TensorDesc
from specgate.generate.domains import base_type, objects
from specgate.generate.moves import change_fields
from specgate.generate.seeds import examples_at
from specgate.rules.fused import Fusible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved

_NUMBERS: Final = (1, 0, 2, 3, -1)
_FLOATS: Final = (1.0, 0.0, 0.5)
_LENGTHS: Final = (1, 2, 4, 3)


def values_for(info: FieldInfo, descriptor: Descriptor, sides: Sequence[Resolved]) -> Iterator[Any]:
    """Yield candidate values for a field; a check may reject them.

    sides: the rows that apply to it.
    """
    cells = [side.cells[info.name] for side in sides if info.name in side.cells]
    base, is_list = base_type(info), info.type.endswith("[]")
    if base == "tensor":
        for tensor in _tensors(descriptor, cells, sides):
            yield [tensor] * max(info.min_count or 1, 1) if is_list else tensor
        return
    options = list(_elements(info, base, cells, sides))
    if not is_list:
        yield from options
        return
    ranks = [len(tensor.sizes or ()) for _, tensor in descriptor.tensors()]
    lengths = dict.fromkeys([*ranks, *(2 * rank for rank in ranks), *_LENGTHS])
    yield from ([value] * length for length in lengths for value in options[:3])


def with_value(descriptor: Descriptor, info: FieldInfo, sides: Sequence[Resolved]) -> Descriptor:
    """Return a descriptor with a value for the field of `info`.

    Without a candidate value, returns the same descriptor.
    """
    if descriptor.fields.get(info.name) is not None:
        return descriptor
    first = next(values_for(info, descriptor, sides), None)
    return descriptor if first is None else change_fields(descriptor, sides[0].spec, {info.name: first})


def _tensors(descriptor: Descriptor, cells: Sequence[Cell], sides: Sequence[Resolved]) -> Iterator[TensorDesc]:
    """Yield tensors similar to the existing ones, and tensors of size 1.

    They have the types and ranks of the row.
    """
    types = next((cell.types for cell in cells if cell.types), tuple(sides[0].spec.dialect.types))
    ranks = next((cell.ranks for cell in cells if cell.ranks is not None), None)
    for _, tensor in descriptor.tensors():
        kind = tensor.type if tensor.type in types else types[0]
        yield TensorDesc(kind, tensor.sizes or ())
    low = 0 if ranks is None else ranks.low
    for kind in types[:3]:
        for rank in (low, low + 1):
            yield TensorDesc(kind, (1,) * rank)


def _elements(info: FieldInfo, base: str, cells: Sequence[Cell], sides: Sequence[Resolved]) -> Iterator[Any]:
    words = next((cell.values for cell in cells if cell.values is not None), info.words)
    if info.default is not None and not info.type.endswith("[]"):
        yield info.default
    if words is not None:
        yield from words
    elif base == "bool":
        yield from (True, False)
    elif base in RECORDS:
        yield from (RECORDS[base](n, n) for n in (1, 2, 0))
    elif base == "operator":
        yield from fused_operators(info, sides[0])
    elif values := objects(sides[0].spec.dialect, base):
        yield from values
    elif base == "float":
        yield from _FLOATS
    elif base == "string":
        yield from ("a", "")
    else:
        ranges = [cell.range for cell in cells if cell.range is not None]
        edges = [n for r in ranges for n in (*(r.only or ()), r.low, r.high) if n is not None]
        yield from dict.fromkeys([*edges, *_NUMBERS])


def fused_operators(info: FieldInfo, side: Resolved, *, outside_set: bool = False) -> Iterator[Descriptor]:
    """Yield operators to fuse, with the attributes of their examples.

    outside_set: yield the operators that the row does not support instead.
    """
    dialect, cell = side.spec.dialect, side.cells.get(info.name)
    allowed = cell.operators if cell is not None else None
    fusible = Fusible(dialect, side.level, allowed)
    for name in dialect.operators:
        spec = dialect.operator(name)
        if side.level not in spec.levels or fusible.accepts(name) is outside_set:
            continue
        for example in examples_at(spec, side.level):
            fields = {n: v for n, v in example.fields.items() if n in spec.fields and _attribute(spec.fields[n])}
            descriptor = Descriptor(dialect.name, name, fields)
            if outside_set or fusible.fits(descriptor):
                yield descriptor
                break


def _attribute(info: FieldInfo) -> bool:
    return info.kind == "attribute" and not info.fuses
