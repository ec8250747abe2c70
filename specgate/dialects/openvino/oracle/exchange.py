"""What the oracle and the process that it asks hand to each other."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import TensorDesc, shown
from specgate.dialects.openvino.oracle.layer import NotExpressibleError
from specgate.dialects.openvino.weights import packed, unpacked
from specgate.errors import Error
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.openvino.oracle.layer import Layer

__all__ = ["Blob", "Computed", "Question", "arrays_of", "blobs_of", "narrowed", "python_module", "version"]


class Blob(NamedTuple):
    """An array on its way: bytes of its elements in row-major order, packed where OpenVINO packs; or strings."""

    type: str
    shape: tuple[int, ...]
    data: bytes | list[str]


class Computed(NamedTuple):
    """What came of one set of arrays."""

    word: str
    detail: str = ""
    outputs: list[Blob] | None = None


#: Column, layer, and for each set of arrays those of all inputs, constants too.
Question = tuple[str, "Layer", "list[list[Blob]]"]


def version() -> str:
    """Return the package's version, "unknown" where it was built from source."""
    try:
        return metadata_version("openvino")
    except PackageNotFoundError:
        return "unknown"


def python_module(name: str) -> Any:
    """Return a module of the package; releases before 2025.0 have it one package deeper."""
    try:
        return importlib.import_module(f"openvino.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(f"openvino.runtime.{name}")


_INT32: Final = (-(2**31), 2**31 - 1)


def blobs_of(descriptor: Descriptor, arrays: Mapping[str, Any]) -> list[Blob]:
    """Return the arrays of all inputs in order; a constant's is the descriptor's own.

    Raises NotExpressibleError for an array that is missing, is not as declared, is another than the constant, or has a
    type that numpy does not carry.
    """
    spec = dialect("openvino").operator(descriptor.operator)
    known = {info.name for info in spec.inputs}
    stranger = next((name for name in arrays if name not in known), None)
    if stranger is not None:
        raise NotExpressibleError(f"{shown(stranger)} is not an input of {spec.name}")
    blobs = []
    for info in spec.layout(descriptor.layout or descriptor.version).inputs:
        declared, result = descriptor.fields.get(info.name), arrays.get(info.name)
        if info.type == "tensor[]":
            tensors = declared or []
            values = [None] * len(tensors) if result is None else list(result)
            if len(values) != len(tensors):
                raise NotExpressibleError(f"{info.name} has {len(tensors)} tensors, found {len(values)} arrays")
            blobs += [_blob(info.name, tensor, value) for tensor, value in zip(tensors, values, strict=True)]
        elif isinstance(declared, TensorDesc):
            blobs.append(_blob(info.name, declared, result))
    return blobs


def _blob(name: str, tensor: TensorDesc, result: Any) -> Blob:

    if tensor.type is None:
        raise NotExpressibleError(f"the type of {name} is not known")
    try:
        dtype = numpy_type(dialect("openvino"), tensor.type)
        shape = tuple(s for s in tensor.sizes or () if isinstance(s, int))
        array = None if result is None else as_array(result, dtype, None, name)
        if tensor.value is not None:
            constant = as_array(list(tensor.value), dtype, None, name).reshape(shape)
            if array is not None and (array.shape != constant.shape or array.tobytes() != constant.tobytes()):
                raise NotExpressibleError(f"{name} is a constant of the descriptor, and the array is another")
            array = constant
    except (Error, ValueError) as error:
        raise NotExpressibleError(str(error)) from None
    if array is None:
        raise NotExpressibleError(f"there is no array for {name}")
    if not _as_declared(tensor, array.shape):
        raise NotExpressibleError(f"{name} is declared as {shown(tensor.sizes)}, the array has {list(array.shape)}")
    if dtype.kind != "O":
        return Blob(tensor.type, array.shape, _bytes(array, tensor.type))
    texts = list(array.reshape(-1))
    if not all(isinstance(text, str) and not text.endswith("\0") for text in texts):
        raise NotExpressibleError(f"{name} holds what is no string, or one that ends in a zero character")
    return Blob(tensor.type, array.shape, texts)


def _bytes(array: np.ndarray[Any, Any], kind: str) -> bytes:
    """Return elements in row-major order as OpenVINO holds them: those of less than a byte packed."""
    bits = dialect("openvino").bits[kind] or 8
    return packed(array, bits) if bits < 8 else array.tobytes()


def _as_declared(tensor: TensorDesc, shape: tuple[int, ...]) -> bool:
    return tensor.sizes is None or (
        len(tensor.sizes) == len(shape)
        and all(not isinstance(size, int) or size == n for size, n in zip(tensor.sizes, shape, strict=True))
    )


def narrowed(blobs: Sequence[Blob]) -> str:
    """Return why the CPU plugin would not compute with these very values, "" if it does.

    It takes 64-bit and unsigned 32-bit integers as i32, and f64 as f32, where infinity becomes the largest number.
    """
    for at, blob in enumerate(blobs):
        if blob.type not in {"i64", "u64", "u32", "f64"} or isinstance(blob.data, list):
            continue
        array = np.frombuffer(blob.data, np.dtype({"i64": "i8", "u64": "u8", "u32": "u4", "f64": "f8"}[blob.type]))
        if blob.type == "f64":
            with np.errstate(over="ignore", invalid="ignore"):
                same = np.array_equal(array.astype(np.float32).astype(np.float64), array, equal_nan=True)
            kept = same and not np.isinf(array).any()
        else:
            kept = all(_INT32[0] <= int(x) <= _INT32[1] for x in (array.min(), array.max())) if array.size else True
        if not kept:
            narrow = "f32" if blob.type == "f64" else "i32"
            return f"the CPU plugin narrows {blob.type} to {narrow}, and input {at} has values that do not fit"
    return ""


def arrays_of(descriptor: Descriptor, outputs: Sequence[Blob]) -> dict[str, np.ndarray[Any, Any]]:
    """Return computed outputs by name; several of one field are ``name[0]`` and so on.

    Raises NotExpressibleError for a type that numpy does not carry.
    """
    spec = dialect("openvino").operator(descriptor.operator)
    names: list[str] = []
    for info in spec.layout(descriptor.layout or descriptor.version).outputs:
        many = info.type == "tensor[]"
        names += [f"{info.name}[{i}]" for i in range(len(outputs) - len(names))] if many else [info.name]
    return {name: _array(blob) for name, blob in zip(names, outputs, strict=False)}


def _array(blob: Blob) -> np.ndarray[Any, Any]:
    try:
        dtype = numpy_type(dialect("openvino"), blob.type)
    except Error as error:
        raise NotExpressibleError(str(error)) from None
    if isinstance(blob.data, bytes):
        bits = dialect("openvino").bits[blob.type] or 8
        if bits < 8:
            return unpacked(blob.data, prod(blob.shape), dtype, bits).reshape(blob.shape)
        return np.frombuffer(bytearray(blob.data), dtype).reshape(blob.shape)
    array = np.empty(len(blob.data), object)
    array[:] = blob.data
    return array.reshape(blob.shape)
