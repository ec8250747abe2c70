"""Changes to a valid descriptor that may make one finding appear, and had better change nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, Descriptor, TensorDesc, whole_numbers
from specgate.generate.domains import WILD, base_type
from specgate.generate.edits import alike, changed, put, reranked, resized, retyped
from specgate.generate.invent import fused_operators, given
from specgate.generate.mend import row_of
from specgate.generate.moves import MAX_RANK, Mutator
from specgate.generate.picks import one_of, rotated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.generate.aims import Aim
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved

__all__ = ["broken_by"]

#: Changes that are tried of one descriptor for one finding.
_TRIED: Final = 4
_NUMBERS: Final = (0, 1, 2, 3, 4, 5, 7, 8, 16, 100, -1, -2, -9)
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, 1e30)


def broken_by(aim: Aim, base: Descriptor, resolved: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Yield a few changes of a valid descriptor after which the finding of `aim` may be there."""
    row = row_of(base, resolved)
    ways = {
        "type": _types, "rank": _ranks, "value": _values, "operator": _operators, "rule": _rule, "tensor": _tensor,
        "case": _cases,
    }  # fmt: skip
    for number, made in enumerate(ways[aim.kind](aim, base, row if aim.kind != "case" else resolved, pick)):
        if number == _TRIED:
            return
        yield made


def _tensors_of(name: str, base: Descriptor) -> dict[str, TensorDesc]:
    """Return the tensors of one field by their places."""
    return {place: tensor for place, tensor in base.tensors() if place.partition("[")[0] == name}


def _types(aim: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    base = given(base, row.fields[aim.name], [row])
    cell = row.cells.get(aim.name)
    places = list(_tensors_of(aim.name, base))
    if cell is None or cell.types is None or not places:
        return
    outside = [kind for kind in row.spec.dialect.types if kind not in cell.types]
    place = one_of(pick, places)
    for kind in rotated(pick, outside):
        yield retyped(base, [place], kind)
        yield from (retyped(base, group, kind) for group in alike(base, place, "type") if len(group) > 1)


def _ranks(aim: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    base = given(base, row.fields[aim.name], [row])
    cell = row.cells.get(aim.name)
    tensors = _tensors_of(aim.name, base)
    if cell is None or cell.ranks is None or not tensors:
        return
    place = one_of(pick, list(tensors))
    own = len(tensors[place].sizes or ())
    outside = [rank for rank in range(MAX_RANK + 1) if rank not in cell.ranks]
    for rank in rotated(pick, outside):
        yield from (reranked(base, group, rank - own) for group in alike(base, place, "rank"))


def _values(aim: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    base = given(base, row.fields[aim.name], [row])
    info, cell = row.fields[aim.name], row.cells.get(aim.name)
    legal = cell.values if cell is not None and cell.values is not None else info.words
    for value in rotated(pick, _candidates(info)):
        inside = legal is None or value in legal
        if cell is not None and cell.range is not None and not isinstance(value, str):
            inside = inside and value in cell.range
        if inside:
            continue
        own: Any = base.fields.get(aim.name)
        if info.type.endswith("[]"):
            items = list(own) if isinstance(own, list | tuple) and own else [value]
            items[pick(0, len(items) - 1)] = value
            yield changed(base, row.spec, {aim.name: items})
        elif hasattr(own, "_fields"):
            yield changed(base, row.spec, {aim.name: own._replace(**{one_of(pick, own._fields): value})})
        else:
            yield changed(base, row.spec, {aim.name: value})


def _candidates(info: FieldInfo) -> list[Any]:
    base = base_type(info)
    whole = base in RECORDS and whole_numbers(RECORDS[base])
    if base == "float" or (base in RECORDS and not whole):
        return list(_FLOATS)
    if whole or base in {"uint", "int", "uint64", "int64", "scalar"}:
        found = [*_NUMBERS, *WILD]
        return [n for n in found if n >= 0 or not (whole or base in {"uint", "uint64"})]
    return [*(info.words or ()), "specgate", ""]


def _operators(aim: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    info = row.fields[aim.name]
    many = info.type.endswith("[]")
    inside, outside = list(fused_operators(info, row)), list(fused_operators(info, row, outside=True))
    damaged = [made for each in inside for made in _damaged(each, row)]
    for value in rotated(pick, outside[:_TRIED] + damaged):
        own = base.fields.get(aim.name)
        items = [*own[:-1], value] if many and own else [value]
        yield changed(base, row.spec, {aim.name: items if many else value})


def _damaged(operator: Descriptor, row: Resolved) -> Iterator[Descriptor]:
    """Yield an operator to fuse with a tensor of its own, and without an attribute that it requires."""
    spec = row.spec.dialect.operator(operator.operator)
    name = next((info.name for info in spec.inputs), None)
    if name is not None:
        tensor = TensorDesc(next(iter(spec.dialect.types)), (1, 1, 1, 1))
        yield changed(operator, spec, {name: tensor})
    required = next((info.name for info in spec.attributes if not info.optional and info.default is None), None)
    if required is not None and required in operator.fields:
        yield changed(operator, spec, {required: None})


def _cases(_: Aim, base: Descriptor, resolved: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Change the fields that decide which row applies until none does."""
    names = sorted({name for case in resolved.cases for name in case.when.fields})
    name = one_of(pick, names)
    info = resolved.fields.get(name)
    if info is None:
        return
    if info.tensor:
        for place in _tensors_of(name, base):
            for kind in rotated(pick, list(resolved.spec.dialect.types)):
                yield from (retyped(base, group, kind) for group in alike(base, place, "type"))
        return
    for value in rotated(pick, [*_candidates(info), True, False] if info.type != "bool" else [True, False]):
        yield changed(base, resolved.spec, {name: value})


def _rule(aim: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Change what the rule reads: a size, a number, a type, whether something is there."""
    forms = [form for form in row.rules if form.name == aim.name]
    if not forms:
        return
    form = one_of(pick, forms)
    names = [name for name in sorted(form.fields) if name in row.fields]
    mover = Mutator(row.spec, pick, [0, 1, 2, 3], [base])
    for _ in range(_TRIED):
        name = one_of(pick, names) if names else ""
        made = given(base, row.fields[name], [row]) if pick(0, 1) and names else base
        yield _touched(made, row, name, mover, pick)


def _touched(base: Descriptor, row: Resolved, name: str, mover: Mutator, pick: Callable[[int, int], int]) -> Descriptor:
    """Return the descriptor with something of one field changed."""
    tensors = _tensors_of(name, base)
    if not tensors:
        return mover.revalued(base, name) if base.fields.get(name) is not None else base
    place = one_of(pick, list(tensors))
    tensor = tensors[place]
    sizes = tensor.sizes or ()
    how = pick(0, 5)
    if how <= 2 and sizes:
        axis = pick(0, len(sizes) - 1)
        size = one_of(pick, [1, 2, 3, 5, 0, sizes[axis] + 1, *WILD])  # type: ignore[operator]
        return put(base, {place: resized(tensor, axis, size)})
    if how == 3:
        cell = row.cells.get(name)
        kinds = cell.types if cell is not None and cell.types is not None else tuple(row.spec.dialect.types)
        return retyped(base, [place], one_of(pick, kinds))
    if how == 4:
        return reranked(base, [place], one_of(pick, [1, -1]))
    if tensor.value:
        return mover.revalued(base, place)
    return changed(base, row.spec, {name: None})


def _tensor(_: Aim, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Change the memory layout of a tensor, or its sizes, to something that no tensor may have."""
    mover = Mutator(row.spec, pick, [0, 1, 2, 3, *WILD], [base])
    tensors = dict(base.tensors())
    for _turn in range(_TRIED):
        place = one_of(pick, list(tensors))
        tensor = tensors[place]
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        how = pick(0, 4)
        if how == 0 and sizes:
            axis = pick(0, len(sizes) - 1)
            yield put(base, {place: resized(tensor, axis, one_of(pick, WILD))})
        elif how == 1:
            strides = one_of(pick, [(), (1,), (1,) * (len(sizes) + 1), (0,) * len(sizes), (2**32 - 1,) * len(sizes)])
            yield put(base, {place: tensor._replace(strides=strides)})
        elif how == 2:
            yield reranked(base, [place], one_of(pick, [-len(sizes), MAX_RANK - len(sizes)]))
        else:
            yield put(base, {place: mover.laid_out(mover.laid_out(tensor))})
