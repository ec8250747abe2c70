"""The data of an ONNX file's tensors as arrays: also what the structural reader skips, and external files beside it."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.dialects.onnx.file.messages import messages
from specgate.dialects.onnx.file.schema import STORED
from specgate.dialects.onnx.file.varints import WireError
from specgate.dialects.onnx.file.wire import Reader, Span
from specgate.errors import InputError
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
ListProto 0: 1 string name; 7 repeated float floats; 8 repeated int64 ints; 9 repeated bytes strings
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
        return self._array(tensor, "node", index)

    def attribute(self, index: int, name: str, tensor: OnnxTensor) -> NDArray[Any]:
        """Return the array in an attribute of the graph's node number `index`."""
        return self._array(tensor, "node", index, name)

    def listed(self, index: int, names: set[str]) -> dict[str, list[Any]]:
        """Return the numbers or texts (bytes) in attributes of the graph's node number `index`, however many."""
        found: dict[str, list[Any]] = {}
        with self._again() as reader:
            for _, begin, end in reader.fields([self._spans["node"][index]], _PROTO["NodeProto"]):
                (name, *fields) = sorted(reader.fields([(begin, end)], _PROTO["ListProto"]), key=_behind_name)
                if name[0] == "name" and name[1] in names:
                    found[name[1]] = self._items(reader, fields)
        return found

    def _items(self, reader: Reader, fields: list[tuple[str, Any, int]]) -> list[Any]:
        found: list[Any] = []
        for kind, begin, end in fields:
            if kind == "strings":
                found.append(reader.read(begin, end))
            elif not end:
                found.append(begin[0] if isinstance(begin, tuple) else begin)
            elif kind == "floats":
                found += np.frombuffer(reader.read(begin, end), "<f4").tolist()
            else:
                found += reader.packed(begin, end, "int64")
            if 8 * len(found) > self.budget:
                raise InputError(f"a list needs more than the {self.budget} bytes left of the limit")
        self.budget -= 8 * len(found)
        return found

    def _array(self, tensor: OnnxTensor, field: str, index: int, name: str = "value") -> NDArray[Any]:
        known = dialect("onnx")
        if tensor.elem_type not in known.types or min(tensor.dims, default=0) < 0:
            raise InputError(f"a tensor of {tensor.elem_type:.40} and sizes {list(tensor.dims)} holds no values")
        dtype = numpy_type(known, tensor.elem_type)
        needed = prod(tensor.dims) * dtype.itemsize
        if needed > self.budget:
            raise InputError(f"a tensor needs {needed} bytes, more than the {self.budget} left of the limit")
        self.budget -= needed
        values = tensor.values()
        if values is not None:
            flat = _from_values(values, dtype)
        elif tensor.location == "external":
            flat = _decoded(self._external(tensor, needed), dtype)
        else:
            flat = self._reread(tensor, dtype, field, index, name)
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

    def _reread(self, tensor: OnnxTensor, dtype: np.dtype[Any], field: str, index: int, name: str) -> NDArray[Any]:
        with self._again() as reader:
            spans = [self._spans[field][index]]
            if field == "node":
                spans = _tensor_attribute(reader, spans, name)
            return _read_tensor(reader, spans, tensor.elem_type, dtype)

    @contextmanager
    def _again(self) -> Iterator[Reader]:
        """Open the file anew, with the places of its initializers and nodes."""
        try:
            with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123  # as the structural reader does
                reader = Reader(file, os.fstat(file.fileno()).st_size)
                if not self._spans:
                    self._spans = _indexed(reader)
                yield reader
        except WireError as error:
            raise InputError(error.message, file=self.path, place=f"byte {error.offset}") from None
        except (OSError, LookupError) as error:
            raise InputError(f"cannot be read again: {error}", file=self.path) from None


def _behind_name(field: tuple[str, Any, int]) -> bool:
    return field[0] != "name"


def _indexed(reader: Reader) -> dict[str, list[Span]]:
    graphs = [(begin, end) for _, begin, end in reader.fields([(0, reader.size)], _PROTO["ModelProto"])]
    found: dict[str, list[Span]] = {"initializer": [], "node": []}
    for name, begin, end in reader.fields(graphs, _PROTO["GraphProto"]):
        found[name].append((begin, end))
    return found


def _tensor_attribute(reader: Reader, node: list[Span], wanted: str) -> list[Span]:
    for _, begin, end in reader.fields(node, _PROTO["NodeProto"]):
        fields = list(reader.fields([(begin, end)], _PROTO["AttributeProto"]))
        if ("name", wanted, 0) in fields:
            return [(start, stop) for name, start, stop in fields if name == "t"]
    return []


def _read_tensor(reader: Reader, spans: list[Span], elem_type: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    found: dict[str, list[tuple[Any, int]]] = {}
    for name, begin, end in reader.fields(spans, _PROTO["TensorProto"]):
        found.setdefault(name, []).append((begin, end))
    if "raw_data" in found:
        return _decoded(reader.read(*found["raw_data"][-1]), dtype)
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
    return wide.astype(dtype)


def _floats(reader: Reader, items: list[tuple[Any, int]], item: np.dtype[Any]) -> Iterator[bytes]:
    for begin, end in items:
        data = reader.read(begin, end) if end else np.array(begin, item).tobytes()
        if len(data) % item.itemsize:
            raise InputError(f"expected packed numbers of {item.itemsize} bytes, found {len(data)} bytes")
        yield data


def _decoded(data: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype == np.object_ or len(data) % dtype.itemsize:
        raise InputError(f"{len(data)} bytes of raw data are no elements of {dtype}")
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8).astype(dtype)
    little: NDArray[Any] = np.frombuffer(data, dtype.newbyteorder("<"))
    return little.astype(dtype, copy=False)


def _from_values(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype == np.object_:
        try:
            values = [value.decode() if isinstance(value, bytes) else value for value in values]
        except UnicodeDecodeError:
            raise InputError("expected UTF-8 in a tensor of strings") from None
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, dtype)
