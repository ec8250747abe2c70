"""Kernel arguments from an operator's `execute` entry at a level."""

from __future__ import annotations

import math
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, BodyDesc, Descriptor, Symbol, TensorDesc, format_value
from specgate.dialects import package
from specgate.errors import InputError, NoKernel
from specgate.execution.kernels import find_kernel
from specgate.execution.types import as_array, numpy_type
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate
from specgate.rules.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import Recipe


def recipe_of(spec: OperatorSpec) -> Recipe:
    """Return the `execute` entry of an operator.

    Raises NoKernel where the table names no kernel.
    """
    recipe = spec.table.recipe
    if recipe is None:
        raise NoKernel(f"{spec.dialect.name} {spec.name} is not implemented")
    return recipe


def array_fields(spec: OperatorSpec, level: str) -> dict[str, str]:
    """Return the input field of each array argument of the kernel at `level`."""
    entries = recipe_of(spec)["arrays"].items()
    return {name: field for name, entry in entries if (field := _present_field(entry, spec, level)) is not None}


def output_fields(spec: OperatorSpec, level: str) -> list[str | None]:
    """Return the output field of each kernel result at `level`.

    None for outputs that the level does not define.
    """
    return [_present_field(entry, spec, level) for entry in recipe_of(spec)["outputs"]]


def _present_field(entry: Any, spec: OperatorSpec, level: str) -> str | None:
    fields: list[str] = entry if isinstance(entry, list) else [entry]
    return next((name for name in fields if spec.field_at(name, level) is not None), None)


#: Larger integers are not exact as floats.
_MAX_INTEGER: Final = 2**128
_PYTHON_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "bool": bool, "float": (int, float), "scalar": (int, float), "string": str,
    **dict.fromkeys(("uint", "int", "uint64", "int64"), int),
}  # fmt: skip


def kernel_arguments(
    descriptor: Descriptor, spec: OperatorSpec, level: str, other_arguments: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the keyword arguments of the kernel.

    They are `arguments` of the table, constants of its level rows, and `output_type`. other_arguments: constants that
    replace those; for a fused operator, the name of the kernel that computes it. An argument that is an attribute's
    bare name gets the attribute's value, and is omitted where an optional attribute is absent; one that names an array
    of tensors gets the sizes of each. A fused operator is passed as a function of one array, a tensor attribute as an
    array. output_type is the numpy type that a tensor declares, or whose number or name an attribute holds; it is
    omitted where none is declared, and `other_arguments` may name another type. Raises InputError where a required
    value is unknown, and NoKernel for a fused operator without a kernel.
    """
    infos = {name: spec.field_at(name, level) or info for name, info in spec.fields.items()}
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    recipe = recipe_of(spec)
    settled_arguments: dict[str, Any] = {}
    expressions = dict(recipe.get("arguments", {}))
    for name, value in {**spec.behaviour(level), **(other_arguments or {})}.items():
        fused = infos.get(expressions.pop(name, ""))
        if fused is not None and fused.type == "operator":
            settled_arguments[name] = find_kernel(value)
        elif isinstance(value, dict):
            expressions[name] = value["expression"]
        else:
            settled_arguments[name] = value
    for name, text in expressions.items():
        info = infos.get(text)
        if info is not None and info.type == "tensor[]":
            settled_arguments[name] = _sizes_of_each(fields[text], info)
        elif info is None or info.kind != "attribute":
            settled_arguments[name] = _evaluate_text(text, context, spec)
        elif text not in descriptor.fields and not spec.dialect.holds(level, info.since, info.until):
            continue
        elif fields[text] is not None:
            settled_arguments[name] = _attribute_value(fields[text], info, spec, level)
        elif not _may_be_missing(info, spec, level):
            raise InputError(f"{text} must be known to execute {spec.name}")
    for name, entry in recipe.get("output_type", {}).items():
        stated_types = (
            _stated_type(fields[text], spec.dialect) for text in (entry if isinstance(entry, list) else [entry])
        )
        word = settled_arguments.get(name) or next((word for word in stated_types if word is not None), None)
        if word is not None:
            settled_arguments[name] = numpy_type(spec.dialect, word)
    return settled_arguments


def _stated_type(value: Any, tables: Dialect) -> str | None:
    """Return the numpy type that a tensor declares or an attribute names.

    None without such a type.
    """
    if isinstance(value, TensorDesc):
        return value.type if value.type in tables.types else None
    if value is None or isinstance(value, str):
        return value if value in tables.types else None
    return next((word for word, info in tables.types.items() if info.get("value") == value), None)


def _may_be_missing(info: FieldInfo, spec: OperatorSpec, level: str) -> bool:
    return info.optional or not spec.dialect.holds(level, info.since, info.until)


def _sizes_of_each(tensors: Any, info: FieldInfo) -> list[tuple[int, ...]]:
    numbers = []
    for index, tensor in enumerate(tensors or ()):
        sizes = tensor.sizes if isinstance(tensor, TensorDesc) else None
        integers = tuple(size for size in sizes or () if isinstance(size, int))
        if sizes is None or len(integers) != len(sizes):
            raise InputError("expected a tensor whose sizes are known", place=f"{info.name}[{index}]")
        numbers.append(integers)
    return numbers


def _evaluate_text(text: str, context: Context, spec: OperatorSpec) -> Any:
    rule = parse(text, spec.scope, expect=None)
    is_missing = any(context.absent(path) for path in rule.needs)
    try:
        value = UNKNOWN if is_missing else evaluate(rule, context)
    except Undefined as error:
        raise InputError(str(error)) from None
    items = value if isinstance(value, list | tuple) else (value,)
    if any(item is UNKNOWN or item is None or isinstance(item, Symbol) for item in items):
        raise InputError(f"{text} must be known to execute {spec.name}")
    return value


def _attribute_value(value: Any, info: FieldInfo, spec: OperatorSpec, level: str) -> Any:
    """Return an attribute's value as kernels expect it.

    Fused operators (single or in a list) and bodies become functions, a tensor becomes an array.
    """
    if info.type.startswith("sparse-"):
        raise NoKernel(f"{spec.name} has no kernel for a sparse tensor as {info.name}")
    if info.type == "graph":
        if not isinstance(value, BodyDesc):
            raise NoKernel(f"{info.name} of {spec.name} can be executed only inside a model")
        return value.call
    if info.type == "operator":
        return _fused_function(value, spec.dialect, level, info.name)
    if info.type == "operator[]":
        items = value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else [value]
        return [_fused_function(item, spec.dialect, level, f"{info.name}[{index}]") for index, item in enumerate(items)]
    if info.type == "tensor-proto":
        return _constant(value, spec.dialect, info.name)
    if not _has_field_type(value, info.type):
        raise InputError(f"expected the type {info.type}, found {format_value(value)}", place=info.name)
    return _float32(value) if info.type == "float" and package(spec.dialect.name).single_floats else value


def _constant(value: Any, tables: Dialect, place: str) -> NDArray[Any]:
    """Return the elements of a tensor attribute as an array of its shape."""
    if not isinstance(value, TensorDesc) or not value.concrete or value.value is None:
        raise InputError("expected a tensor whose elements are known", place=place)
    if value.type not in tables.types:
        raise InputError(f"{value.type} is not a type with values", place=place)
    texts = (item.decode("utf-8", "replace") if isinstance(item, bytes) else item for item in value.value)
    flat = as_array(list(texts), numpy_type(tables, value.type), None, place)
    if flat.size != value.known_elements:
        raise InputError(f"holds {flat.size} elements, expected {value.known_elements}", place=place)
    return flat.reshape(tuple(size for size in value.sizes or () if isinstance(size, int)))


def _float32(value: float) -> float:
    """Return the FLOAT nearest to a number.

    Attributes hold FLOAT values only, whatever type the kernel computes in.
    """
    try:
        return float(unpack("f", pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _has_field_type(value: Any, kind: str) -> bool:
    """Return whether a value has its field's type.

    Checked as far as kernels rely on it.
    """
    if kind.endswith("[]"):
        return isinstance(value, list | tuple) and all(_has_field_type(item, kind.removesuffix("[]")) for item in value)
    if kind in RECORDS:
        return isinstance(value, RECORDS[kind]) and all(_has_field_type(part, "float") for part in value)
    if kind not in _PYTHON_TYPES:
        return True
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_INTEGER:
        return False
    return isinstance(value, _PYTHON_TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))


def _fused_function(value: Any, tables: Dialect, level: str, place: str) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a fused operator as a function of one array, from its own table."""
    if not isinstance(value, Descriptor) or value.dialect != tables.name:
        raise InputError(f"expected an operator of {tables.name}, found {format_value(value)}", place=place)
    spec = tables.operator(value.operator)
    if level not in spec.levels:
        raise InputError(f"{spec.name} does not exist at {tables.label(level)}", place=place)
    for oddity in value.oddities:
        raise InputError(oddity.message, place=f"{place}.{oddity.where}")
    names = {info.name for info in spec.attributes if tables.holds(level, info.since, info.until)}
    for name, part in value.fields.items():
        if part is not None and name not in names:
            raise InputError(f"expected only attributes of {spec.name}, found {format_value(name)}", place=place)
    recipe = recipe_of(spec)
    if len(recipe["arrays"]) != 1 or len(recipe["outputs"]) != 1:
        raise NoKernel(f"{spec.name} cannot be fused, because it is not a unary element-wise operator")
    (name,) = recipe["arrays"]
    kernel = find_kernel(recipe["kernel"])
    arguments = kernel_arguments(value, spec, level)

    def function(array: NDArray[Any]) -> NDArray[Any]:
        result: NDArray[Any] = kernel(**{name: array}, **arguments)
        return result

    return function
