"""What one execution of a descriptor found out, for the next ones of the same: all that its arrays do not change."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import ref

import numpy as np

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.execution import memory
from specgate.execution.guard import asks_arrays
from specgate.execution.kernels import needs_of
from specgate.execution.recipe import array_fields, output_fields, recipe_of
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.operator_spec import OperatorSpec

    _Kind = tuple[np.dtype[Any], tuple[int, ...]]

__all__ = ["Settled", "declared_elements", "keep", "needed", "settled", "shape_of"]


class Settled(NamedTuple):
    """What holds for every execution of a descriptor, at `level`.

    read: the descriptor as it is read there, None for itself, which nothing here may hold on to. asked: the level, the
    basis and the implementation that were asked for. fields: what the descriptor held then. arguments: of the kernel,
    beside its arrays; elements, item_size: of the arrays among them. places: the field whose array each argument of the
    kernel gets. outputs: the field of each result. declared: how many elements the outputs have as declared. expected:
    type and shape of each input where the descriptor says them. guards: whether guards have to be asked for other
    arrays. needs: bytes that the kernel works with for its inputs, bytes for each element of an output, and all bytes
    with the declared outputs; None where the descriptor does not say the type and shape of all arrays. complete:
    whether it says them of all inputs that it has. kernel: its name.
    """

    spec: OperatorSpec
    level: str
    read: Descriptor | None
    asked: tuple[str, str, str | None]
    fields: Mapping[str, Any]
    arguments: Mapping[str, Any]
    elements: int
    item_size: int
    places: Mapping[str, str]
    outputs: list[str | None]
    declared: int
    expected: Mapping[str, _Kind | list[_Kind]]
    guards: bool
    needs: tuple[int, float, int] | None
    complete: bool
    kernel: str

    def as_expected(self, arrays: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arrays if they are all inputs that the descriptor has, each of the type and shape it says."""
        expected = self.expected
        if not self.complete or len(arrays) != len(expected):
            return None
        for name, array in arrays.items():
            if array.__class__ is np.ndarray:
                found: object = array.dtype, array.shape
            elif array.__class__ is list and all(each.__class__ is np.ndarray for each in array):
                found = [(each.dtype, each.shape) for each in array]
            else:
                return None
            if found != expected.get(name):
                return None
        return dict(arrays)


#: By the id of a descriptor that lives; lists are copied, since they may be written into.
_settled: Final[dict[int, tuple[ref[Descriptor], Settled]]] = {}


def settled(descriptor: Descriptor, asked: tuple[str, str, str | None]) -> Settled | None:
    """Return what was kept for this very descriptor, if it and the tables still are what they were."""
    entry = _settled.get(id(descriptor))
    if entry is None or entry[0]() is not descriptor or entry[1].asked != asked:
        return None
    found = entry[1]
    same = found.fields == descriptor.fields and not descriptor.oddities
    return found if same and dialect(descriptor.dialect).operator(descriptor.operator) is found.spec else None


def keep(
    descriptor: Descriptor,
    asked: tuple[str, str, str | None],
    read: tuple[OperatorSpec, str, Descriptor],
    arguments: Mapping[str, Any],
) -> Settled:
    """Return what an execution found out, and keep it as long as `descriptor` lives.

    read: the operator, the level that applies and the descriptor there. Nothing is kept of fused operators, whose
    kernels may be registered anew, and where the kernel gets an array beside its inputs, since an output may be that.
    """
    spec, level, there = read
    fields = descriptor.fields
    places, expected, declared = array_fields(spec, level), _expected(there, spec), declared_elements(there, spec)
    held = [expected.get(field) for field in places.values() if there.fields.get(field) is not None]
    elements = sum(map(memory.elements, arguments.values()))
    item_size = max(map(memory.item_size, arguments.values()), default=0)
    needs = None
    if None not in held:
        known = [each for given in held for each in (given if isinstance(given, list) else [given]) if each is not None]
        widest = max((dtype.itemsize for dtype, _ in known), default=0)
        count = elements + sum(prod(shape) for _, shape in known)
        needs = needed(spec, max(widest, item_size), count, declared)
    found = Settled(
        spec,
        level,
        None if there is descriptor else there,
        asked,
        {name: [*value] if isinstance(value, list) else value for name, value in fields.items()},
        arguments,
        elements,
        item_size,
        places,
        output_fields(spec, level),
        declared,
        expected,
        asks_arrays(there, spec, level),
        needs,
        all(info.name in expected for info in spec.inputs if there.fields.get(info.name) is not None),
        recipe_of(spec)["kernel"],
    )
    if not found.elements and not any(map(_fused, fields.values())):
        key, all_of_them = id(descriptor), _settled  # which is gone before the last descriptors at the end
        _settled[key] = (ref(descriptor, lambda _: all_of_them.pop(key, None)), found)
    return found


def needed(spec: OperatorSpec, item_size: int, elements: int, declared: int) -> tuple[int, float, int]:
    """Return the `needs` of inputs with so many elements, the widest of item_size bytes, and declared outputs."""
    for_input, for_output = needs_of(recipe_of(spec)["kernel"], item_size)
    taken = int(for_input * elements)
    return taken, for_output, taken + int(for_output * declared)


def _expected(descriptor: Descriptor, spec: OperatorSpec) -> dict[str, _Kind | list[_Kind]]:
    found: dict[str, _Kind | list[_Kind]] = {}
    for info in spec.inputs:
        given = descriptor.fields.get(info.name)
        if isinstance(given, TensorDesc):
            kind = _kind(given, spec)
            if kind is not None:
                found[info.name] = kind
        elif isinstance(given, list | tuple):
            kinds = [_kind(each, spec) if isinstance(each, TensorDesc) else None for each in given]
            known = [kind for kind in kinds if kind is not None]
            if len(known) == len(kinds):
                found[info.name] = known
    return found


def _kind(tensor: TensorDesc, spec: OperatorSpec) -> _Kind | None:
    """Return the type and shape of a tensor's array where the descriptor says both."""
    shape = shape_of(tensor)
    return (
        (numpy_type(spec.dialect, tensor.type), shape)
        if tensor.type in spec.dialect.types and shape is not None
        else None
    )


def declared_elements(descriptor: Descriptor, spec: OperatorSpec) -> int:
    """Return how many elements the outputs have that are declared with known sizes."""
    declared = 0
    for info in spec.outputs:
        value = descriptor.fields.get(info.name)
        for tensor in value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else (value,):
            shape = shape_of(tensor) if isinstance(tensor, TensorDesc) else None
            declared += 0 if shape is None else prod(shape)
    return declared


def shape_of(tensor: TensorDesc) -> tuple[int, ...] | None:
    """Return the declared shape where every size is a number."""
    if tensor.sizes is None or not all(isinstance(size, int) for size in tensor.sizes):
        return None
    return tuple(size for size in tensor.sizes if isinstance(size, int))


def _fused(value: Any) -> bool:
    return isinstance(value, Descriptor) or (isinstance(value, list | tuple) and any(map(_fused, value[:64])))
