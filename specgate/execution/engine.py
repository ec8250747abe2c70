"""Execute one descriptor: take its arrays, call the kernel its table names, hold the result against the declaration.

The engine never asks the validator: that the two agree is a result, which the property tests measure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import TensorDesc
from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels import find_kernel
from specgate.execution.types import as_array, numpy_type
from specgate.rules.evaluate import UNKNOWN, Broken, Context, evaluate
from specgate.rules.parse import parse
from specgate.rules.primitives import minimum_size
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.tables import OperatorSpec

__all__ = ["execute_at"]


def execute_at(
    descriptor: Descriptor, arrays: Mapping[str, Any], level: str, *, max_bytes: int = memory.MAX_BYTES
) -> dict[str, NDArray[Any]]:
    """Return the outputs of `descriptor` at `level`, by the operator's output names.

    arrays: logical arrays by the operator's input names, in any memory order, of the declared type and sizes; Python
    numbers and nested lists are converted when they fit. Inputs that the descriptor holds as constants may be left out.
    Raises InputError for what cannot be computed, NoKernel where the table names no kernel. Elements that the page
    leaves undefined are masked (`numpy.ma`).
    """
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    recipe = spec.raw.get("execute")
    if recipe is None:
        raise NoKernel(f"{spec.dialect.name} {spec.name} has no kernel yet")
    for oddity in descriptor.oddities:
        raise InputError(oddity.message, place=oddity.where)
    level = _level(descriptor, spec, level)
    kernel = find_kernel(recipe["kernel"])
    inputs = _inputs(descriptor, arrays, spec)
    arguments: dict[str, Any] = {name: inputs[field] for name, field in recipe["arrays"].items() if field in inputs}
    arguments.update(_arguments(descriptor, spec, level))
    with memory.limit(max_bytes):
        results = kernel(**arguments)
    names = recipe["outputs"]
    outputs = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))
    for name, array in outputs.items():
        _hold_against_declaration(name, array, descriptor.fields.get(name), spec)
    return outputs


def _level(descriptor: Descriptor, spec: OperatorSpec, level: str) -> str:
    """The level whose behaviour applies: the descriptor's own, else the target's; it must have the operator."""
    spec.dialect.check_level(level)
    own = descriptor.version or level
    spec.dialect.check_level(own)
    if own not in spec.levels:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.spoken(own)}")
    for name, info in spec.fields.items():
        if descriptor.fields.get(name) is not None and not spec.dialect.holds(own, info.since, info.until):
            raise InputError(f"is not a field of {spec.name} at {spec.dialect.spoken(own)}", place=name)
    return own


def _inputs(descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec) -> dict[str, NDArray[Any]]:
    known = {info.name for info in spec.inputs}
    for name in arrays:
        if name not in known:
            raise InputError(f"{name!r:.60} is not an input of {spec.name}; expected {', '.join(sorted(known))}")
    inputs = {}
    for info in spec.inputs:
        tensor = descriptor.fields.get(info.name)
        if tensor is None:
            if not info.optional:
                raise InputError(f"{info.name} is needed, but the descriptor does not have it")
            continue
        if not isinstance(tensor, TensorDesc):
            raise NoKernel(f"{info.name} is an array of tensors, which no kernel takes yet")
        inputs[info.name] = _input(info.name, tensor, arrays, spec)
    return inputs


def _input(name: str, tensor: TensorDesc, arrays: Mapping[str, Any], spec: OperatorSpec) -> NDArray[Any]:
    _hold_layout(name, tensor, spec)
    value = arrays.get(name)
    shape = _shape(tensor)
    if value is None:
        if tensor.value is None:
            raise InputError(f"no array for the input {name}")
        if tensor.type is None or shape is None:
            raise InputError("a constant needs its type and sizes", place=name)
        flat = as_array(list(tensor.value), numpy_type(spec.dialect, tensor.type), None, name)
        if flat.size != _count(shape):
            raise InputError(f"holds {flat.size} elements, expected the shape {list(shape)}", place=name)
        return flat.reshape(shape)
    if tensor.type is None:
        raise InputError("the descriptor does not know its type, so it cannot be executed", place=name)
    if tensor.type not in spec.dialect.types:
        raise InputError(f"{tensor.type} is no type that holds values", place=name)
    array = as_array(value, numpy_type(spec.dialect, tensor.type), shape, name)
    _hold_sizes(name, array, tensor)
    return array


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _shape(tensor: TensorDesc) -> tuple[int, ...] | None:
    """The declared shape where every size is a number."""
    if tensor.sizes is None or not all(isinstance(size, int) for size in tensor.sizes):
        return None
    return tuple(size for size in tensor.sizes if isinstance(size, int))


def _hold_sizes(name: str, array: NDArray[Any], tensor: TensorDesc) -> None:
    """Hold an array against sizes of which some are unknown."""
    if tensor.sizes is None:
        return
    same = len(tensor.sizes) == array.ndim and all(
        not isinstance(declared, int) or declared == found
        for declared, found in zip(tensor.sizes, array.shape, strict=False)
    )
    if not same:
        declared = [s if isinstance(s, int) else "?" for s in tensor.sizes]
        raise InputError(f"has the shape {list(array.shape)}, but {declared} is declared", place=name)


def _hold_layout(name: str, tensor: TensorDesc, spec: OperatorSpec) -> None:
    """A declared memory layout must be able to hold the elements."""
    shape = _shape(tensor)
    if shape is None:
        return
    if tensor.strides is not None and len(tensor.strides) != len(shape):
        raise InputError(f"has {len(tensor.strides)} strides for {len(shape)} sizes", place=name)
    bits = spec.dialect.bits.get(tensor.type) if tensor.type is not None else None
    if tensor.size_in_bytes is not None and bits is not None:
        needed = minimum_size(bits, shape, tensor.strides)
        if tensor.size_in_bytes < needed:
            raise InputError(f"needs {needed} bytes, but {tensor.size_in_bytes} are declared", place=name)


def _arguments(descriptor: Descriptor, spec: OperatorSpec, level: str) -> dict[str, Any]:
    """Evaluate the kernel's arguments: expressions over the fields, then constants of the latest level rows."""
    fields = {name: descriptor.fields.get(name, info.default) for name, info in spec.fields.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    settled: dict[str, Any] = {}
    expressions = dict(spec.raw["execute"].get("arguments", {}))
    for name, value in spec.behaviour(level).items():
        expressions.pop(name, None)
        if isinstance(value, dict):
            expressions[name] = value["expression"]
        else:
            settled[name] = value
    for name, text in expressions.items():
        rule = parse(text, spec.scope, expect=None)
        missing = sorted(path for path in rule.needs if context.absent(path))
        try:
            value = UNKNOWN if missing else evaluate(rule, context)
        except Broken as error:
            raise InputError(str(error)) from None
        if value is UNKNOWN:
            raise InputError(f"{text} must be known to execute {spec.name}")
        settled[name] = value
    return settled


def _hold_against_declaration(name: str, array: NDArray[Any], tensor: Any, spec: OperatorSpec) -> None:
    """Refuse a declared output whose type or sizes are not what the kernel computed."""
    if not isinstance(tensor, TensorDesc):
        return
    if tensor.type is not None and (
        tensor.type not in spec.dialect.types or array.dtype != numpy_type(spec.dialect, tensor.type)
    ):
        raise InputError(f"is computed as {array.dtype}, but {tensor.type} is declared", place=name)
    _hold_sizes(name, array, tensor)
    _hold_layout(name, tensor, spec)
