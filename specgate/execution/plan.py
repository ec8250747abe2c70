"""Execution plan of a descriptor, which is completed from the arrays."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import ref

import numpy as np

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.execution import memory
from specgate.execution.arguments import array_fields, output_fields
from specgate.execution.containers import type_of
from specgate.execution.guard import depends_on_arrays
from specgate.execution.kernels import needs_of
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect, on_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.execution.observed import RecordedDifference
    from specgate.spec.operator_spec import OperatorSpec

    _Kind = tuple[np.dtype[Any], tuple[int, ...]]

#: Larger constants stay unknown: rules read the elements of axes, sizes and scales only.
_MAX_ELEMENTS: Final = 4096


def fill_descriptor(descriptor: Descriptor, arrays: Mapping[str, Any], outputs: Mapping[str, Any]) -> Descriptor:
    """Return a descriptor with all types, sizes and small inputs' elements."""
    fields = dict(descriptor.fields)
    tables = dialect(descriptor.dialect)

    def describe_array(value: Any, *, with_elements: bool) -> TensorDesc:
        if not isinstance(value, np.ndarray):
            return TensorDesc(type_of(value, tables), None)
        elements = (
            tuple(np.ma.getdata(value).ravel().tolist()) if with_elements and value.size <= _MAX_ELEMENTS else None
        )
        return TensorDesc(type_of(value, tables), value.shape, value=elements)

    for values, has_elements in ((arrays, True), (outputs, False)):
        for name, value in values.items():
            is_list = isinstance(value, list) and isinstance(fields.get(name), list)
            fields[name] = (
                [describe_array(item, with_elements=has_elements) for item in value]
                if is_list
                else describe_array(value, with_elements=has_elements)
            )
    return replace(descriptor, fields=fields)


class ExecutionPlan(NamedTuple):
    """Facts that hold for every execution of a descriptor at `level`.

    read: the descriptor as read there, None for itself, to which nothing here may keep a reference. question: the
    requested level, basis and implementation. fields: the descriptor's content then. arguments: of the kernel, except
    its arrays; elements, item_size: of the arrays among them. places: the field of each array argument of the kernel.
    outputs: the field of each result. declared: number of declared output elements. expected: type and shape of each
    input where the descriptor states them. guards: whether guards must be evaluated again for other arrays. needs:
    bytes that the kernel works with for its inputs, bytes per output element, and total bytes with the declared
    outputs; None where the descriptor does not state the type and shape of all arrays. kernel: its name. recorded: the
    differences of builds that apply. direct_inputs: argument, field and `expected` of each input; None where an input
    is not exactly one argument, and where guards or `needs` depend on the arrays. stated: type and shape of an output
    that needs no further check, or None for any array.
    """

    spec: OperatorSpec
    level: str
    read: Descriptor | None
    question: tuple[str, str, str | None]
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
    kernel: str
    recorded: RecordedDifference
    direct_inputs: tuple[tuple[str, str, _Kind | list[_Kind]], ...] | None
    stated: Mapping[str, _Kind | None]

    def as_expected(self, arrays: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the kernel's arrays if all types and shapes are as expected."""
        if self.direct_inputs is None or len(arrays) != len(self.direct_inputs):
            return None
        entries = {**self.arguments}
        for name, field, expected in self.direct_inputs:
            array = arrays.get(field)
            if array.__class__ is np.ndarray:
                if (array.dtype, array.shape) != expected:
                    return None
            elif array.__class__ is not list or [_kind_of(item) for item in array] != expected:
                return None
            entries[name] = array
        return entries

    def is_stated(self, name: str, output: Any) -> bool:
        """Return whether an output is known to match its declaration."""
        if output.__class__ is not np.ndarray or name not in self.stated:
            return False
        kind = self.stated[name]
        return kind is None or kind == (output.dtype, output.shape)


#: By the id of a live descriptor; lists are copied because they may be modified.
_settled: Final[dict[int, tuple[ref[Descriptor], ExecutionPlan]]] = {}
on_change(_settled.clear)


def get_plan(descriptor: Descriptor, level: str, basis: str, by: str | None) -> ExecutionPlan | None:
    """Return the plan kept for this descriptor.

    None if the descriptor or the tables have changed.
    """
    entry = _settled.get(id(descriptor))
    if entry is None or entry[0]() is not descriptor:
        return None
    result = entry[1]
    is_reusable = (
        result.question == (level, basis, by) and result.fields == descriptor.fields and not descriptor.oddities
    )
    return result if is_reusable else None


def store_plan(
    descriptor: Descriptor,
    texts: tuple[str, str, str | None],
    spec_question: tuple[OperatorSpec, str, Descriptor],
    arguments: Mapping[str, Any],
    recorded_difference: RecordedDifference,
) -> ExecutionPlan:
    """Return an execution plan, and keep it as long as `descriptor` lives.

    spec_question: the operator, the level that applies and the descriptor there. Nothing is kept for fused operators,
    whose kernels may be registered again; where the kernel gets an array that is not an input, since an output may be
    that array; or where `recorded_difference` depends on the arrays.
    """
    spec, level, exists = spec_question
    fields = descriptor.fields
    places, expected, declared_count = (
        array_fields(spec, level),
        _expected_kinds(exists, spec),
        declared_elements(exists, spec),
    )
    outputs = output_fields(spec, level)
    items = [expected.get(field) for field in places.values() if exists.fields.get(field) is not None]
    elements = sum(map(memory.elements, arguments.values()))
    item_size = max(map(memory.item_size, arguments.values()), default=0)
    needed_bytes = None
    if None not in items:
        tensors = [
            item for result in items for item in (result if isinstance(result, list) else [result]) if item is not None
        ]
        widest = max((dtype.itemsize for dtype, _ in tensors), default=0)
        count = elements + sum(prod(shape) for _, shape in tensors)
        needed_bytes = estimate_needs(recorded_difference.kernel, max(widest, item_size), count, declared_count)
    result = ExecutionPlan(
        spec,
        level,
        None if exists is descriptor else exists,
        texts,
        {name: [*value] if isinstance(value, list) else value for name, value in fields.items()},
        arguments,
        elements,
        item_size,
        places,
        outputs,
        declared_count,
        expected,
        depends_on_arrays(exists, spec, level),
        needed_bytes,
        recorded_difference.kernel,
        recorded_difference,
        None,
        _stated_outputs(exists, spec, outputs),
    )
    if needed_bytes is not None and not result.guards:
        result = result._replace(direct_inputs=_direct_inputs(exists, result))
    if recorded_difference.lasting and not result.elements and not any(map(_is_fused, fields.values())):
        key, plans = id(descriptor), _settled  # module globals are gone before the last descriptors at exit
        _settled[key] = (ref(descriptor, lambda _: plans.pop(key, None)), result)
    return result


def _direct_inputs(
    descriptor: Descriptor, result: ExecutionPlan
) -> tuple[tuple[str, str, _Kind | list[_Kind]], ...] | None:
    """Return each input with its argument.

    None where one is not expected or not exactly one argument.
    """
    texts = [info.name for info in result.spec.inputs if descriptor.fields.get(info.name) is not None]
    arguments = {name: field for name, field in result.places.items() if field in texts}
    if sorted(arguments.values()) != sorted(texts) or arguments.keys() & result.arguments.keys():
        return None
    if any(field not in result.expected for field in texts):
        return None
    return tuple((name, field, result.expected[field]) for name, field in arguments.items())


def _stated_outputs(descriptor: Descriptor, spec: OperatorSpec, outputs: list[str | None]) -> dict[str, _Kind | None]:
    """Return `stated`: outputs declared by type and sizes only, or inferred."""
    pairs_by_name: dict[str, _Kind | None] = {}
    for name in outputs:
        declared = None if name is None else descriptor.fields.get(name)
        if name is None or (declared is None and not spec.dialect.infers_outputs):
            continue
        if declared is None or declared == TensorDesc(None, None):
            pairs_by_name[name] = None
        elif isinstance(declared, TensorDesc) and declared.strides is None and declared.size_in_bytes is None:
            kind = _kind(declared, spec)
            if kind is not None:
                pairs_by_name[name] = kind
    return pairs_by_name


def _kind_of(array: Any) -> _Kind | None:
    return (array.dtype, array.shape) if array.__class__ is np.ndarray else None


def estimate_needs(kernel: str, item_size: int, elements: int, declared_count: int) -> tuple[int, float, int]:
    """Return the `needs` of inputs and declared outputs.

    elements: number of input elements, the widest of item_size bytes.
    """
    for_input, for_output = needs_of(kernel, item_size)
    number = int(for_input * elements)
    return number, for_output, number + int(for_output * declared_count)


def _expected_kinds(descriptor: Descriptor, spec: OperatorSpec) -> dict[str, _Kind | list[_Kind]]:
    entries: dict[str, _Kind | list[_Kind]] = {}
    for info in spec.inputs:
        result = descriptor.fields.get(info.name)
        if isinstance(result, TensorDesc):
            kind = _kind(result, spec)
            if kind is not None:
                entries[info.name] = kind
        elif isinstance(result, list | tuple):
            kinds = [_kind(tensor, spec) if isinstance(tensor, TensorDesc) else None for tensor in result]
            known_kinds = [kind for kind in kinds if kind is not None]
            if len(known_kinds) == len(kinds):
                entries[info.name] = known_kinds
    return entries


def _kind(tensor: TensorDesc, spec: OperatorSpec) -> _Kind | None:
    """Return the type and shape of a tensor's array if both are stated."""
    shape = shape_of(tensor)
    return (
        (numpy_type(spec.dialect, tensor.type), shape)
        if tensor.type in spec.dialect.types and shape is not None
        else None
    )


def declared_elements(descriptor: Descriptor, spec: OperatorSpec) -> int:
    """Return the number of elements of outputs with known declared sizes."""
    declared_count = 0
    for info in spec.outputs:
        value = descriptor.fields.get(info.name)
        for tensor in value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else (value,):
            shape = shape_of(tensor) if isinstance(tensor, TensorDesc) else None
            declared_count += 0 if shape is None else prod(shape)
    return declared_count


def shape_of(tensor: TensorDesc) -> tuple[int, ...] | None:
    """Return the declared shape where every size is a number."""
    if tensor.sizes is None or not all(isinstance(size, int) for size in tensor.sizes):
        return None
    return tuple(size for size in tensor.sizes if isinstance(size, int))


def _is_fused(value: Any) -> bool:
    return isinstance(value, Descriptor) or (isinstance(value, list | tuple) and any(map(_is_fused, value[:64])))
