"""A table's examples with one change: sizes, ranks, constants, attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc
from specgate.generate.moves import replace_tensors
from specgate.generate.seeds import examples_at, make_concrete

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["changed_once"]

#: Number of examples per operator.
_EXAMPLES: Final = 2
_INTEGERS: Final = (-9, -2, -1, 0, 1, 2, 3, 7, 100, 2**31)
_FLOATS: Final = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf"))
_FIRST: Final[dict[str, tuple[Any, ...]]] = {
    "int": _INTEGERS, "uint": _INTEGERS[3:], "float": _FLOATS, "bool": (True, False), "int[]": ((1,), (0,), (-1,), (1, 1)),
}  # fmt: skip


def changed_once(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    """Yield the descriptors, without optional outputs, which could hide the change."""
    infos = spec.fields_at(level)
    outputs = {name for name, info in infos.items() if info.kind == "output"} if spec.dialect.infers_outputs else set()
    seen = set()
    for example in list(map(make_concrete, examples_at(spec, level)))[:_EXAMPLES]:
        base = replace(example, fields={name: value for name, value in example.fields.items() if name not in outputs})
        for descriptor in (*_other_tensors(base, spec, level), *_other_attributes(base, spec, level)):
            key = repr(descriptor.fields)
            if key not in seen:
                seen.add(key)
                yield descriptor


def _other_tensors(base: Descriptor, spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    infos = spec.fields_at(level)
    for place, tensor in base.tensors():
        info = infos.get(place.partition("[")[0])
        if info is None or info.kind != "input":
            continue
        bare = tensor._replace(strides=None, size_in_bytes=None, value=None)
        yield from (replace_tensors(base, {place: bare._replace(sizes=sizes)}) for sizes in _shapes(tensor.sizes or ()))
        for value in _lists(tuple(tensor.value or ())):
            if len(value) == len(tensor.value or ()) or len(tensor.sizes or ()) == 1:
                sizes = (len(value),) if len(tensor.sizes or ()) == 1 else tensor.sizes
                yield replace_tensors(base, {place: tensor._replace(value=value, sizes=sizes)})
        if info.optional and place == info.name:
            yield replace(base, fields={**base.fields, place: None})


def _shapes(sizes: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from ((1, *sizes), (*sizes, 1), (2, *sizes), sizes[1:], sizes[:-1])
    for at, size in enumerate(sizes):
        near = (size + 1, max(1, size - 1)) if isinstance(size, int) else (2, 3)
        yield from ((*sizes[:at], other, *sizes[at + 1 :]) for other in (0, 1, *near))


def _other_attributes(base: Descriptor, spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    for name, info in spec.fields_at(level).items():
        if info.kind != "attribute":
            continue
        value = base.fields.get(name, info.default)
        others = _FIRST.get(info.type, ()) if value is None else _others(value)
        yield from (replace(base, fields={**base.fields, name: other}) for other in others)
        if name in base.fields:
            yield replace(base, fields={field: value for field, value in base.fields.items() if field != name})


def _others(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from _INTEGERS if isinstance(value, int) else _FLOATS
    elif isinstance(value, str):
        yield from ("", "zzz")
    elif isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
        yield from _lists(tuple(value))


def _lists(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield a list shorter, longer, of one number, and with each number changed."""
    if not value or not all(isinstance(item, int | float) for item in value):
        return
    yield from (value[1:], (*value, value[-1]), (), (value[0],) * len(value))
    for at, item in enumerate(value):
        yield from ((*value[:at], type(item)(other), *value[at + 1 :]) for other in (-1, 0, 1, 2, 9))
