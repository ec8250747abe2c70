"""The data of an ONNX file's tensors as arrays: also what the structural reader skips, and external files beside it."""

from __future__ import annotations

import os
import stat
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.dialects.onnx.file.messages import messages
from specgate.dialects.onnx.file.schema import STORED
from specgate.dialects.onnx.file.values import SUB_BYTE
from specgate.dialects.onnx.file.varints import WireError
from specgate.dialects.onnx.file.wire import Reader, Span
from specgate.errors import InputError
from specgate.execution.kernels.narrow import numbers_of
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from specgate.dialects.onnx.file.structure import OnnxTensor

__all__ = ["Weights"]

# The way to a tensor's data, by the field numbers of onnx/onnx.proto in onnx 1.23.2.
_PROTO: Final = messages("""
ModelProto 0: 7 GraphProto graph
GraphProto 0: 1 repeated NodeProto node; 5 repeated TensorProto initializer
NodeProto 0: 5 repeated AttributeProto attribute
AttributeProto 0: 1 string name; 5 TensorProto t
TensorProto 0: 4 repeated float float_data; 5 repeated int32 int32_data; 6 repeated bytes string_data;
    7 repeated int64 int64_data; 9 bytes raw_data; 10 repeated double double_data; 11 repeated uint64 uint64_data
""")
_BITS: Final = ("FLOAT16", "BFLOAT16")  # int32_data holds their bits


class Weights:
    """Reads tensors of the model at `path`, together at most `budget` bytes of elements."""

    def __init__(self, path: str, budget: int) -> None:
        self.path = path
        self.budget = budget
        self._spans: dict[str, list[Span]] = {}

    def initializer(self, index: int, tensor: OnnxTensor) -> NDArray[Any]:
        """Return the array of the graph's initializer number `index`; raise InputError or NoKernel."""
        return self._array(tensor, "initializer", index)

    def constant(self, index: int, tensor: OnnxTensor) -> NDArray[Any]:
        """Return the array in the attribute ``value`` of the graph's node number `index`."""
        return self.attribute(index, tensor, "value")

    def attribute(self, index: int, tensor: OnnxTensor, name: str) -> NDArray[Any]:
        """Return the array in an attribute of the graph's node number `index`."""
        return self._array(tensor, "node", index, name)

    def _array(self, tensor: OnnxTensor, field: str, index: int, attribute: str = "") -> NDArray[Any]:
        known = dialect("onnx")
        if tensor.elem_type not in known.types or min(tensor.dims, default=0) < 0:
            raise InputError(f"a tensor of {tensor.elem_type:.40} and sizes {list(tensor.dims)} holds no values")
        dtype = numpy_type(known, tensor.elem_type)
        needed, packed = prod(tensor.dims) * dtype.itemsize, SUB_BYTE.get(tensor.elem_type)
        if needed > self.budget:
            raise InputError(f"a tensor needs {needed} bytes, more than the {self.budget} left of the limit")
        self.budget -= needed
        values = tensor.values()
        if values is not None:
            flat = _from_values(values, dtype)
        elif tensor.location == "external":
            stored = -(-prod(tensor.dims) * packed // 8) if packed else needed
            flat = _decoded(self._external(tensor, stored), dtype, packed)
        else:
            flat = self._reread(tensor, dtype, field, index, attribute)
        if packed:  # the last byte may hold more
            flat = flat[: prod(tensor.dims)]
        if flat.size != prod(tensor.dims):
            raise InputError(f"a tensor of sizes {list(tensor.dims)} holds {flat.size} elements")
        try:
            return flat.reshape(tensor.dims)
        except (ValueError, OverflowError):  # numpy has at most 64 dimensions, and sizes of 63 bits beside one of 0
            raise InputError(f"a tensor of {len(tensor.dims)} dimensions cannot be held as an array") from None

    def _external(self, tensor: OnnxTensor, needed: int) -> bytes:
        location = tensor.external.get("location", "")
        try:
            folder = Path(self.path).parent.resolve()
            path = (folder / location).resolve()
            state = path.stat()
            offset = int(tensor.external.get("offset") or 0)
            length = int(tensor.external.get("length") or needed)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"external data {location!r:.80} cannot be read: {reason:.80}") from None
        if not path.is_relative_to(folder) or not stat.S_ISREG(state.st_mode):
            raise InputError(f"expected external data in a file beside the model, found {location!r:.80}")
        if offset < 0 or length != needed or offset + needed > state.st_size:
            raise InputError(f"external data {location!r:.80} does not have {needed} bytes from byte {offset} on")
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(needed)

    def _reread(self, tensor: OnnxTensor, dtype: np.dtype[Any], field: str, index: int, attribute: str) -> NDArray[Any]:
        try:
            with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123  # as the structural reader does
                reader = Reader(file, os.fstat(file.fileno()).st_size)
                if not self._spans:
                    self._spans = _indexed(reader)
                spans = [self._spans[field][index]]
                if field == "node":
                    spans = _tensor_attribute(reader, spans, attribute)
                return _read_tensor(reader, spans, tensor.elem_type, dtype)
        except WireError as error:
            raise InputError(error.message, file=self.path, place=f"byte {error.offset}") from None
        except (OSError, LookupError) as error:
            raise InputError(f"cannot be read again: {error}", file=self.path) from None


def _indexed(reader: Reader) -> dict[str, list[Span]]:
    graphs = [(begin, end) for _, begin, end in reader.fields([(0, reader.size)], _PROTO["ModelProto"])]
    found: dict[str, list[Span]] = {"initializer": [], "node": []}
    for name, begin, end in reader.fields(graphs, _PROTO["GraphProto"]):
        found[name].append((begin, end))
    return found


def _tensor_attribute(reader: Reader, node: list[Span], attribute: str) -> list[Span]:
    for _, begin, end in reader.fields(node, _PROTO["NodeProto"]):
        fields = list(reader.fields([(begin, end)], _PROTO["AttributeProto"]))
        if ("name", attribute, 0) in fields:
            return [(start, stop) for name, start, stop in fields if name == "t"]
    return []


def _read_tensor(reader: Reader, spans: list[Span], elem_type: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    found: dict[str, list[tuple[Any, int]]] = {}
    for name, begin, end in reader.fields(spans, _PROTO["TensorProto"]):
        found.setdefault(name, []).append((begin, end))
    if "raw_data" in found:
        return _decoded(reader.read(*found["raw_data"][-1]), dtype, SUB_BYTE.get(elem_type))
    field = STORED.get(elem_type, "int32_data")
    if field not in found:
        raise InputError(f"expected a tensor with raw_data or {field}, found neither")
    items = found[field]
    if field == "string_data":
        return _from_values([reader.read(*item) for item in items], dtype)
    if field in {"float_data", "double_data"}:
        item = np.dtype("<f4" if field == "float_data" else "<f8")
        parts = [np.frombuffer(part, item) for part in _floats(reader, items, item)]
        numbers = np.concatenate(parts).astype(item.newbyteorder("="))
        if numbers.nbytes % dtype.itemsize:
            raise InputError(f"{numbers.size} numbers are no elements of {dtype}")
        return numbers.view(dtype)
    kind = field.removesuffix("_data")
    integers: list[int] = []
    for begin, end in items:
        integers.extend(reader.packed(begin, end, kind) if end else [begin])
    if elem_type in _BITS:
        return np.array([integer & 0xFFFF for integer in integers], np.uint16).view(dtype)
    wide = np.array(integers, np.uint64 if kind == "uint64" else np.int64)
    if dtype.kind in "Vf" and dtype.itemsize == 1:  # the codes of narrow types, packed but for those of 6 bits
        bits = SUB_BYTE.get(elem_type, 8)
        codes = (wide & (63 if bits == 6 else 255)).astype(np.uint8)
        return numbers_of(codes if bits == 6 else _unpacked(codes, bits), dtype)
    return wide.astype(dtype)


def _floats(reader: Reader, items: list[tuple[Any, int]], item: np.dtype[Any]) -> Iterator[bytes]:
    for begin, end in items:
        data = reader.read(begin, end) if end else np.array(begin, item).tobytes()
        if len(data) % item.itemsize:
            raise InputError(f"expected packed numbers of {item.itemsize} bytes, found {len(data)} bytes")
        yield data


def _decoded(data: bytes, dtype: np.dtype[Any], packed: int | None = None) -> NDArray[Any]:
    """Return elements from raw data. packed: how many bits each takes, where that is less than a byte."""
    if packed:
        return numbers_of(_unpacked(np.frombuffer(data, np.uint8), packed), dtype)
    if dtype == np.object_ or len(data) % dtype.itemsize:
        raise InputError(f"{len(data)} bytes of raw data are no elements of {dtype}")
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8).astype(dtype)
    little: NDArray[Any] = np.frombuffer(data, dtype.newbyteorder("<"))
    return little.astype(dtype, copy=False)


def _unpacked(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Return the elements in bytes that hold several, or four in three bytes, the first in the lowest bits."""
    if bits == 8:
        return codes
    if bits == 6:
        whole = np.unpackbits(codes, bitorder="little")
        rows = whole[: whole.size // bits * bits].reshape(-1, bits)
        return np.packbits(rows, axis=1, bitorder="little").reshape(-1)
    parts = [codes >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(-1)


def _from_values(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype == np.object_:
        try:
            values = [value.decode() if isinstance(value, bytes) else value for value in values]
        except UnicodeDecodeError:
            raise InputError("expected UTF-8 in a tensor of strings") from None
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, dtype)
