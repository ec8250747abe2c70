"""Arrays on their way to OpenVINO and back."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc, format_value
from specgate.dialects.openvino.oracle.exchange import Blob
from specgate.dialects.openvino.oracle.layer import NotExpressibleError
from specgate.dialects.openvino.weights import pack_bits, unpack_bits
from specgate.errors import Error
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor

_INT32: Final = (-(2**31), 2**31 - 1)


def blobs_of(descriptor: Descriptor, arrays: Mapping[str, Any]) -> list[Blob]:
    """Return the arrays of all inputs in order, constants included.

    Raises NotExpressibleError for an array that is missing, differs from its declaration or from the constant, or has a
    type that numpy does not support.
    """
    spec = dialect("openvino").operator(descriptor.operator)
    names = {info.name for info in spec.inputs}
    stranger = next((name for name in arrays if name not in names), None)
    if stranger is not None:
        raise NotExpressibleError(f"{format_value(stranger)} is not an input of {spec.name}")
    blobs = []
    for info in spec.layout(descriptor.layout or descriptor.version).inputs:
        declared_output, result = descriptor.fields.get(info.name), arrays.get(info.name)
        if info.type == "tensor[]":
            tensors = declared_output or []
            values = [None] * len(tensors) if result is None else list(result)
            if len(values) != len(tensors):
                raise NotExpressibleError(f"{info.name} has {len(tensors)} tensors, found {len(values)} arrays")
            blobs += [_blob(info.name, tensor, value) for tensor, value in zip(tensors, values, strict=True)]
        elif isinstance(declared_output, TensorDesc):
            blobs.append(_blob(info.name, declared_output, result))
    return blobs


def _blob(name: str, tensor: TensorDesc, result: Any) -> Blob:

    if tensor.type is None:
        raise NotExpressibleError(f"the type of {name} is unknown")
    try:
        dtype = numpy_type(dialect("openvino"), tensor.type)
        shape = tuple(s for s in tensor.sizes or () if isinstance(s, int))
        array = None if result is None else as_array(result, dtype, None, name)
        if tensor.value is not None:
            constant = as_array(list(tensor.value), dtype, None, name).reshape(shape)
            if array is not None and (array.shape != constant.shape or array.tobytes() != constant.tobytes()):
                raise NotExpressibleError(f"{name} is a constant of the descriptor, but the array differs from it")
            array = constant
    except (Error, ValueError) as error:
        raise NotExpressibleError(str(error)) from None
    if array is None:
        raise NotExpressibleError(f"missing array for {name}")
    if not _as_declared(tensor, array.shape):
        raise NotExpressibleError(
            f"{name} is declared as {format_value(tensor.sizes)}, the array has {list(array.shape)}"
        )
    if dtype.kind != "O":
        return Blob(tensor.type, array.shape, _bytes(array, tensor.type))
    texts = list(array.reshape(-1))
    if not all(isinstance(text, str) and not text.endswith("\0") for text in texts):
        raise NotExpressibleError(
            f"{name} has an element that is not a string, or a string that ends in a zero character"
        )
    return Blob(tensor.type, array.shape, texts)


def _bytes(array: np.ndarray[Any, Any], kind: str) -> bytes:
    """Return elements in row-major order, packed if smaller than a byte."""
    bits = dialect("openvino").bits[kind] or 8
    return pack_bits(array, bits) if bits < 8 else array.tobytes()


def _as_declared(tensor: TensorDesc, shape: tuple[int, ...]) -> bool:
    return tensor.sizes is None or (
        len(tensor.sizes) == len(shape)
        and all(not isinstance(size, int) or size == n for size, n in zip(tensor.sizes, shape, strict=True))
    )


def narrowing_reason(blobs: Sequence[Blob]) -> str:
    """Return why the CPU plugin would alter these values, "" if it would not.

    It converts 64-bit and unsigned 32-bit integers to i32, and f64 to f32, with infinity as the largest number.
    """
    for index, blob in enumerate(blobs):
        if blob.type not in {"i64", "u64", "u32", "f64"} or isinstance(blob.data, list):
            continue
        array = np.frombuffer(blob.data, np.dtype({"i64": "i8", "u64": "u8", "u32": "u4", "f64": "f8"}[blob.type]))
        if blob.type == "f64":
            with np.errstate(over="ignore", invalid="ignore"):
                is_equal = np.array_equal(array.astype(np.float32).astype(np.float64), array, equal_nan=True)
            is_exact = is_equal and not np.isinf(array).any()
        else:
            is_exact = all(_INT32[0] <= int(x) <= _INT32[1] for x in (array.min(), array.max())) if array.size else True
        if not is_exact:
            narrow = "f32" if blob.type == "f64" else "i32"
            return f"the CPU plugin narrows {blob.type} to {narrow}, and input {index} has values that do not fit"
    return ""


def arrays_of(descriptor: Descriptor, outputs: Sequence[Blob]) -> dict[str, np.ndarray[Any, Any]]:
    """Return outputs by name; variadic outputs are ``name[0]`` and so on.

    Raises NotExpressibleError for a type that numpy does not support.
    """
    spec = dialect("openvino").operator(descriptor.operator)
    names: list[str] = []
    for info in spec.layout(descriptor.layout or descriptor.version).outputs:
        is_list = info.type == "tensor[]"
        names += [f"{info.name}[{i}]" for i in range(len(outputs) - len(names))] if is_list else [info.name]
    return {name: _array(blob) for name, blob in zip(names, outputs, strict=False)}


def _array(blob: Blob) -> np.ndarray[Any, Any]:
    try:
        dtype = numpy_type(dialect("openvino"), blob.type)
    except Error as error:
        raise NotExpressibleError(str(error)) from None
    if isinstance(blob.data, bytes):
        bits = dialect("openvino").bits[blob.type] or 8
        if bits < 8:
            return unpack_bits(blob.data, prod(blob.shape), dtype, bits).reshape(blob.shape)
        return np.frombuffer(bytearray(blob.data), dtype).reshape(blob.shape)
    array = np.empty(len(blob.data), object)
    array[:] = blob.data
    return array.reshape(blob.shape)
