"""Execution of one descriptor.

Accepts its arrays, calls the kernel that its table names, and checks the results against the declared outputs. The
engine never calls the validator: property tests measure whether the two agree.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.positional import read_by_page_names, reordered_for
from specgate.dialects import package
from specgate.dialects.protocols import MemoryLayout
from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.arguments import kernel_arguments, recipe_of
from specgate.execution.containers import ArrayList, ArrayMap, arrays_in, convert_container, is_container
from specgate.execution.guard import require_counts, require_guards, require_rows
from specgate.execution.kernels import find_kernel
from specgate.execution.kernels.arithmetic import round_to, to_float64
from specgate.execution.kernels.elementwise import store_as
from specgate.execution.observed import Outputs, all_notes, other_types, recorded_values
from specgate.execution.plan import estimate_needs, get_plan, shape_of, store_plan
from specgate.execution.types import as_array, integer_range, numpy_type
from specgate.spec.operator_spec import REQUIRED
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.execution.plan import ExecutionPlan
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

#: The start of numpy's message for a shape too large for any array, also if a size is 0 and the array needs no memory.
_NEGATIVE: Final = "negative dimensions are not allowed"
_NUMPY_SIZE_ERRORS: Final = ("array is too big", "Maximum allowed ")


def execute_at(
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    level: str,
    *,
    max_bytes: int | None = None,
    budget: memory.Budget | None = None,
    basis: Basis = "documented",
    by: str | None = None,
) -> Outputs:
    """Return the outputs of `descriptor` at `level`, by output name.

    Omitted optional outputs are absent. arrays: logical arrays by input name, in any memory order, of the declared type
    and shape; Python numbers and nested lists are converted if they fit. An array of tensors is a list, both as an
    input and as an output. Inputs that the descriptor holds as constants may be omitted. max_bytes: memory for the
    kernel, outputs included; budget: memory and time shared with other executions. basis: values as documented
    (documented), values of builds of `level` as far as recorded differences can be computed (observed), or documented
    values except where all builds differ (both). by: the implementation whose own entries apply as well. Raises
    InputError for what cannot be computed or exceeds the budget, NoKernel where the table names no kernel. Elements
    that the documentation leaves undefined are masked (`numpy.ma`), with basis observed also those that builds leave
    undefined.
    """
    full_budget = budget or memory.budget_of(max_bytes)
    plan = get_plan(descriptor, level, basis, by)
    arguments = plan and plan.as_expected(arrays)
    if not plan and (computed := _in_other_types(descriptor, arrays, (level, basis, by), full_budget)) is not None:
        return computed
    if not plan or arguments is None:
        plan, descriptor, inputs = _prepare_execution(descriptor, arrays, (level, basis, by), plan)
        entries = {name: inputs[field] for name, field in plan.places.items() if field in inputs}
        left, arguments = _remaining_budget(plan, entries, full_budget), {**entries, **plan.arguments}
    else:
        descriptor, left = plan.read or descriptor, _remaining_budget(plan, arguments, full_budget)
    try:
        results = memory.within(left, find_kernel(plan.kernel), arguments)
    except MemoryError as error:
        raise InputError(f"out of memory: {error}") from None
    except OverflowError as error:
        raise InputError(f"a number does not fit its type: {error}") from None
    except ValueError as error:
        if str(error) == _NEGATIVE:
            raise InputError("a size of the result would be negative") from None
        if not str(error).startswith(_NUMPY_SIZE_ERRORS):
            raise
        raise InputError(f"the sizes or values are larger than any array: {error}") from None
    outputs = _outputs(plan, results if results.__class__ is tuple else (results,), descriptor)
    if plan.recorded.undefined:
        outputs.update({name: _mask_all(value) for name, value in outputs.items()})
    if plan.recorded.notes or plan.recorded.by_elements:
        outputs.notes = all_notes(plan, descriptor, arguments, outputs)
    return outputs


def _mask_all(value: Any) -> Any:
    """Return arrays with all elements masked; lists of arrays likewise."""
    if isinstance(value, list):
        return [_mask_all(item) for item in value]
    return np.ma.MaskedArray(value, True) if isinstance(value, np.ndarray) else value


def _in_other_types(
    descriptor: Descriptor, arrays: Mapping[str, Any], texts: tuple[str, Basis, str | None], budget: memory.Budget
) -> Outputs | None:
    """Return the outputs of builds that compute in other element types.

    None where builds compute in the descriptor's types.
    """
    level, basis, by = texts
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    if basis == "documented" or not any(values.types for overlay in spec.overlays for values in overlay.values):
        return None
    level, descriptor = _resolve_level(descriptor, spec, level, basis)
    inputs = _inputs(descriptor, arrays, spec, {})
    other = other_types(descriptor, inputs, spec, (level, basis, by))
    if other is None:
        return None
    kinds = {name: numpy_type(spec.dialect, word) for name, word in other.fields.items()}
    results = {name: numpy_type(spec.dialect, word) for name, word in other.results.items()}
    outputs = execute_at(
        other.retype_descriptor(descriptor),
        {name: _cast(value, kinds[name]) if name in kinds else value for name, value in inputs.items()},
        level,
        budget=budget,
        basis=basis,
        by=by,
    )
    for name, dtype in results.items():
        if name in outputs:
            outputs[name] = _convert_floats(outputs[name], dtype, other.conversion)
    return outputs


def _convert_floats(value: Any, dtype: np.dtype[Any], conversion: str) -> Any:
    """Return floats in another type.

    Integers are rounded, or truncated with conversion cut. With odd_up, bfloat16 is the upper half of float32, rounded
    up only if it is odd and at least half a unit remains. Integers of up to 8 bits are clamped to their range. Numbers
    beyond 32 bits or the range of a wider type, and nan, are masked: conversion instructions leave them undefined.
    """
    if isinstance(value, list):
        return [_convert_floats(item, dtype, conversion) for item in value]
    array, mask, cut = np.ma.getdata(value), np.ma.getmaskarray(value), conversion == "cut"
    limits = integer_range(dtype)
    if limits is None and conversion == "odd_up" and dtype.name == "bfloat16":
        bits = array.astype(np.float32).view(np.uint32)
        result = ((bits + ((bits & 0x10000) >> 1)) >> 16).astype(np.uint16).view(dtype)
    elif limits is None:
        if dtype.kind == "b":
            result = (array if cut else np.rint(array)) != 0
        elif dtype.name == "float8_e8m0fnu":  # powers of two from the smallest up: the type has no 0
            least = np.maximum(to_float64(array), 2.0**-127)
            result = np.ldexp(0.5, np.frexp(least)[1]).astype(dtype)
        else:
            result = round_to(array, dtype)
    else:
        wide_values = to_float64(array)
        with np.errstate(invalid="ignore"):
            wide_values = np.trunc(wide_values) if cut else np.rint(wide_values)
            mask |= np.isnan(wide_values)
            low, high = limits if dtype.itemsize > 1 else (-(2**31), 2**31 - 1)  # converted by way of 32 bits
            mask |= ~((wide_values >= low) & (wide_values < high + 1.0))
            integers_array = store_as(wide_values, dtype if dtype.kind in "iu" else np.dtype(np.int64))
        result = (
            integers_array if dtype.kind in "iu" else np.clip(integers_array, *limits).astype(np.int8).astype(dtype)
        )
    return np.ma.array(result, mask=mask) if mask.any() else result


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        return [array.astype(dtype) for array in value] if isinstance(value, list) else value.astype(dtype)


def _prepare_execution(
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    texts: tuple[str, Basis, str | None],
    plan: ExecutionPlan | None,
) -> tuple[ExecutionPlan, Descriptor, dict[str, Any]]:
    """Return a descriptor's execution plan, the descriptor and its inputs.

    The descriptor is returned as read at the level, inputs by name. texts: the level, the basis and the implementation.
    known: an earlier plan, None if there is none.
    """
    stated_descriptor, (level, basis, by) = descriptor, texts
    if plan:
        spec, level, descriptor = plan.spec, plan.level, plan.read or descriptor
    else:
        spec, level, descriptor = require_executable(descriptor, level, basis)
    inputs = _inputs(descriptor, arrays, spec, plan.expected if plan else {})
    if plan is None:
        descriptor, recorded_difference = recorded_values(descriptor, inputs, spec, level, basis, by)
        _require_complete(descriptor, spec, level, basis)
    if plan is None or plan.guards:
        require_guards(descriptor, inputs, spec, level, by if basis == "observed" else None, builds=basis == "observed")
    if plan is None:
        arguments = kernel_arguments(descriptor, spec, level, recorded_difference.arguments)
        plan = store_plan(stated_descriptor, texts, (spec, level, descriptor), arguments, recorded_difference)
    return plan, descriptor, inputs


def require_executable(
    descriptor: Descriptor, level: str, basis: Basis = "documented"
) -> tuple[OperatorSpec, str, Descriptor]:
    """Return the operator, the applicable level and the descriptor there.

    Raises for every error that does not depend on arrays. basis: whose values are computed; with observed, attributes
    are as builds read them, and missing attributes may be filled in.
    """
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    recipe = recipe_of(spec)
    level, descriptor = _resolve_level(descriptor, spec, level, basis)
    if not spec.has_kernel(level):
        raise NoKernel(
            f"{spec.dialect.name} {spec.name} is implemented only from {spec.dialect.label(recipe['since'])} on"
        )
    if basis != "observed":
        _require_complete(descriptor, spec, level, basis)
    require_counts(descriptor, spec, level)
    require_rows(descriptor, spec)
    return spec, level, descriptor


def _estimate_bytes(plan: ExecutionPlan, arrays: Mapping[str, Any]) -> tuple[int, float, int]:
    """Return the equivalent of `ExecutionPlan.needs` for these kernel arrays."""
    item_size = max(map(memory.item_size, arrays.values()), default=0)
    count = plan.elements + sum(map(memory.elements, arrays.values()))
    return estimate_needs(plan.kernel, max(item_size, plan.item_size), count, plan.declared)


def _remaining_budget(plan: ExecutionPlan, arrays: Mapping[str, Any], full_budget: memory.Budget) -> memory.Budget:
    """Return the budget that remains after the kernel's inputs.

    Raises InputError at once where inputs and declared outputs exceed it.
    """
    number, for_output, all_bytes = plan.needs or _estimate_bytes(plan, arrays)
    full_budget.check_time()
    full_budget.check(all_bytes, f"executing {plan.spec.name}")
    return full_budget.less(number, for_output)


def _outputs(plan: ExecutionPlan, results: tuple[Any, ...], descriptor: Descriptor) -> Outputs:
    """Return kernel results by output name, as the descriptor declares them."""
    outputs = Outputs()
    for name, result in zip(plan.outputs, results, strict=True):
        if name is None:
            continue
        output = np.asarray(result) if isinstance(result, np.generic) else result  # 0-D results may be scalars
        if plan.is_stated(name, output) or _has_output(name, output, descriptor, plan.spec):
            outputs[name] = output
    return outputs


def _has_output(name: str, output: Any, descriptor: Descriptor, spec: OperatorSpec) -> bool:
    """Return whether the descriptor has this output.

    Raises InputError for a declaration that differs from the computed value.
    """
    declared_output = descriptor.fields.get(name)
    if declared_output is None:
        return spec.dialect.infers_outputs and output is not None
    if output is None:
        raise NoKernel(f"{name} of {spec.name} is not computed by its kernel")
    if not isinstance(output, list) or spec.fields[name].type != "tensor[]":
        _check_declaration(name, output, declared_output, spec)
        return True
    if len(declared_output) != len(output):
        raise InputError(
            f"is computed as {len(output)} tensors, but the descriptor declares another number",
            place=name,
        )
    for index, (array, tensor) in enumerate(zip(output, declared_output, strict=True)):
        _check_declaration(f"{name}[{index}]", array, tensor, spec)
    return True


def _resolve_level(descriptor: Descriptor, spec: OperatorSpec, level: str, basis: Basis) -> tuple[str, Descriptor]:
    """Return the applicable level, and the descriptor as read there.

    The level is the descriptor's own, else the target's; it must define the operator and every field of the descriptor.
    An attribute under a documentation-only name counts with the documented basis and is dropped with the observed
    basis. With basis both, unknown attributes that all builds ignore are dropped.
    """
    spec.dialect.check_level(level)
    own_level = descriptor.version or level
    spec.dialect.check_level(own_level)
    if own_level not in spec.levels:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.label(own_level)}")
    descriptor = reordered_for(descriptor, spec, own_level)
    builds = basis == "observed"
    ignoring = builds and spec.dialect.ignores_attributes
    ignored_names: Collection[str] = ()
    if descriptor.oddities:
        ignored_names = (
            spec.layout(own_level).page_names if basis == "documented" else spec.ignored_requirements(own_level)
        )
    for oddity in descriptor.oddities:
        if oddity.code == "unknown-attribute" and (ignoring or oddity.where in ignored_names):
            continue
        if not builds or oddity.read_as is None:
            raise InputError(oddity.message, place=oddity.where)
    if ignoring and (renamed := read_by_page_names(descriptor, spec)):
        names = {info.name for info in spec.attributes if info.vendor_name in renamed}
        kept_fields = {name: value for name, value in descriptor.fields.items() if name not in names}
        descriptor = replace(descriptor, fields=kept_fields)
    for name, info in spec.fields.items():
        if ignoring and info.kind == "attribute":
            continue
        if descriptor.fields.get(name) is not None and spec.field_at(name, own_level) is None:
            raise InputError(f"is not a field of {spec.name} at {spec.dialect.label(own_level)}", place=name)
    return own_level, descriptor


def _require_complete(descriptor: Descriptor, spec: OperatorSpec, level: str, basis: Basis) -> None:
    """Raise InputError for a missing required field, even an unused one.

    With basis both, fields that the default verdict does not require may be missing.
    """
    excused = spec.ignored_requirements(level) if basis == "both" else ()
    for name, info in spec.fields_at(level).items():
        if f"{name}{REQUIRED}" in excused:
            continue
        if info.kind == "output" and spec.dialect.infers_outputs:
            continue
        if not info.optional and info.default is None and descriptor.fields.get(name) is None:
            raise InputError(f"{name} is required, but missing from the descriptor")


def _inputs(
    descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec, expected: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the inputs by name.

    expected: type and shape of arrays that need no further check.
    """
    names = {info.name for info in spec.inputs}
    for name in arrays:
        if name not in names:
            raise InputError(f"{name!r:.60} is not an input of {spec.name}; expected {', '.join(sorted(names))}")
    inputs: dict[str, Any] = {}
    for info in spec.inputs:
        tensor = descriptor.fields.get(info.name)
        value = arrays.get(info.name)
        if tensor is None:
            if value is not None:
                raise InputError("has an array, but is missing from the descriptor", place=info.name)
        elif value.__class__ is np.ndarray and (value.dtype, value.shape) == expected.get(info.name):
            inputs[info.name] = value
        elif isinstance(tensor, TensorDesc):
            inputs[info.name] = _input(info.name, tensor, value, spec)
        else:
            inputs[info.name] = _convert_tensors(info, tensor, value, spec)
    return inputs


def _convert_tensors(info: FieldInfo, tensors: Any, values: Any, spec: OperatorSpec) -> list[NDArray[Any]]:
    """Return the arrays of an array of tensors.

    A list that is omitted as a whole consists of constants.
    """
    if values is None:
        values = [None] * len(tensors)
    if not isinstance(values, list | tuple) or len(values) != len(tensors):
        raise InputError(f"expected a list of {len(tensors)} arrays", place=info.name)
    pairs = enumerate(zip(tensors, values, strict=True))
    return [_input(f"{info.name}[{index}]", tensor, value, spec) for index, (tensor, value) in pairs]


def _input(name: str, tensor: TensorDesc, value: Any, spec: OperatorSpec) -> Any:
    if (word := tensor.type) is not None and is_container(spec.dialect, word):
        if value is None:
            raise InputError(f"no value for the input {name}")
        return convert_container(value, word, spec.dialect, name)
    if word is None and isinstance(value, list | dict | ArrayList | ArrayMap) and not arrays_in(value):
        return value  # an empty sequence has no element type
    _require_layout(name, tensor, spec)
    shape = shape_of(tensor)
    if value is None:
        if tensor.value is None:
            raise InputError(f"no array for the input {name}")
        if tensor.type is None or shape is None:
            raise InputError("a constant needs its type and sizes", place=name)
        flat = as_array(list(tensor.value), numpy_type(spec.dialect, tensor.type), None, name)
        if flat.size != prod(shape):
            raise InputError(f"holds {flat.size} elements, expected the shape {list(shape)}", place=name)
        return flat.reshape(shape)
    if tensor.type is None:
        raise InputError("its type is unknown in the descriptor", place=name)
    if tensor.type not in spec.dialect.types:
        raise InputError(f"{tensor.type} is not a type with values", place=name)
    array = as_array(value, numpy_type(spec.dialect, tensor.type), shape, name)
    _require_sizes(name, array, tensor)
    return array


def _require_sizes(name: str, array: NDArray[Any], tensor: TensorDesc) -> None:
    """Raise InputError where an array differs from the known sizes."""
    if tensor.sizes is None:
        return
    has_declared_sizes = len(tensor.sizes) == array.ndim and all(
        not isinstance(declared_size, int) or declared_size == result
        for declared_size, result in zip(tensor.sizes, array.shape, strict=False)
    )
    if not has_declared_sizes:
        declared_sizes = [s if isinstance(s, int) else "?" for s in tensor.sizes]
        raise InputError(f"has the shape {list(array.shape)}, but {declared_sizes} is declared", place=name)


def _require_layout(name: str, tensor: TensorDesc, spec: OperatorSpec) -> None:
    """Raise InputError where a memory layout cannot hold the elements."""
    shape = shape_of(tensor)
    if shape is None:
        return
    if tensor.strides is not None and len(tensor.strides) != len(shape):
        raise InputError(f"has {len(tensor.strides)} strides for {len(shape)} sizes", place=name)
    bits = spec.dialect.bits.get(tensor.type) if tensor.type is not None else None
    if tensor.size_in_bytes is not None and bits is not None:
        owner = package(spec.dialect.name)
        needed_bytes = owner.least_bytes(bits, shape, tensor.strides) if isinstance(owner, MemoryLayout) else 0
        if tensor.size_in_bytes < needed_bytes:
            raise InputError(f"needs {needed_bytes} bytes, but {tensor.size_in_bytes} are declared", place=name)


def _check_declaration(name: str, array: Any, tensor: Any, spec: OperatorSpec) -> None:
    """Raise InputError for an output declaration that differs from the result.

    Types and sizes are compared.
    """
    if not isinstance(tensor, TensorDesc):
        return
    if tensor.type is not None and is_container(spec.dialect, tensor.type):
        convert_container(array, tensor.type, spec.dialect, name)
        return
    if not isinstance(array, np.ndarray):
        if tensor.type is not None or tensor.sizes is not None:
            raise InputError(f"is not computed, but declared as {tensor.type}", place=name)
        return
    if tensor.type is not None and (
        tensor.type not in spec.dialect.types or array.dtype != numpy_type(spec.dialect, tensor.type)
    ):
        raise InputError(f"is computed as {array.dtype}, but {tensor.type} is declared", place=name)
    _require_sizes(name, array, tensor)
    _require_layout(name, tensor, spec)
