"""Values of Constant nodes and tensors of an ONNX model."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.dialects.onnx.file.schema import DATA_FIELDS, WireError, messages
from specgate.dialects.onnx.file.structure import SUB_BYTE, OnnxTensor
from specgate.dialects.onnx.file.wire import Reader
from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.narrow_types import numbers_of
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode
    from specgate.dialects.onnx.file.wire import Span
    from specgate.dialects.onnx.run.flow import Scope

_CONSTANTS: Final = {
    "value_float": "FLOAT", "value_floats": "FLOAT", "value_int": "INT64", "value_ints": "INT64",
    "value_string": "STRING", "value_strings": "STRING",
}  # fmt: skip


def is_constant(node: OnnxNode) -> bool:
    """Return True for a Constant node."""
    return node.op_type == "Constant" and not node.domain


def constant_value(scope: Scope, attributes: Mapping[str, OnnxAttribute], outputs: int) -> Any:
    """Return a Constant node's value; raise InputError or NoKernel."""
    count = len(attributes)
    if count != 1 or outputs != 1:
        raise InputError(f"expected a Constant of one attribute and one output, found {count} attributes")
    ((name, attribute),) = attributes.items()
    if name in {"value", "sparse_value"} and isinstance(attribute.value, OnnxTensor):
        return scope.run.constant(attribute.value, keep_cached=scope.depth > 0)
    kind = _CONSTANTS.get(name)
    if kind is None or attribute.value is None or attribute.kind != name.removeprefix("value_").upper():
        raise NoKernel(f"a Constant with the attribute {name!r:.60} of kind {attribute.kind} is not supported")
    values = attribute.value
    if kind == "STRING":
        values = [_text(item) for item in values] if isinstance(values, list) else _text(values)
    return np.array(values, numpy_type(scope.run.tables, kind))


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 in a string") from None


# Fields of attributes and tensors that hold data, with their numbers in onnx/onnx.proto in onnx 1.23.2.
_PROTO: Final = messages("""
AttributeProto 0: 4 bytes s; 7 repeated float floats; 8 repeated int64 ints; 9 repeated bytes strings
TensorProto 0: 4 repeated float float_data; 5 repeated int32 int32_data; 6 repeated bytes string_data;
    7 repeated int64 int64_data; 9 bytes raw_data; 10 repeated double double_data; 11 repeated uint64 uint64_data
""")


class Weights:
    """Reader of tensors of the model at `path`, up to `budget` bytes each."""

    def __init__(self, path: str, budget: int) -> None:
        self.path = path
        self.budget = budget

    def array(self, tensor: OnnxTensor) -> NDArray[Any]:
        """Return a tensor's elements, dense even if sparse.

        Raises InputError or NoKernel.
        """
        if tensor.sparse is not None:
            return self._to_dense(tensor, *tensor.sparse)
        table = dialect("onnx")
        if tensor.elem_type not in table.types or min(tensor.dims, default=0) < 0:
            raise InputError(f"a tensor of {tensor.elem_type:.40} and sizes {list(tensor.dims)} has no values")
        dtype = numpy_type(table, tensor.elem_type)
        count = prod(tensor.dims)
        if count * dtype.itemsize > self.budget:
            size_text = f"a tensor needs {count * dtype.itemsize} bytes"
            raise InputError(f"{size_text}, but only {self.budget} of the limit are left")
        values = tensor.values()
        if values is not None:
            flat = _from_values(values, dtype)
        elif tensor.location == "external":
            bits = SUB_BYTE.get(tensor.elem_type, 8 * dtype.itemsize)
            flat = _decode_raw_data(self._external(tensor, (count * bits + 7) // 8), tensor.elem_type, dtype, count)
        elif tensor.data is not None:
            flat = _check_element_count(tensor, dtype, count)
        else:
            flat = self._reread(tensor, dtype, count)
        if flat.size != count:
            raise InputError(f"a tensor of sizes {list(tensor.dims)} holds {flat.size} elements")
        try:
            return flat.reshape(tensor.dims)
        except (ValueError, OverflowError):  # beyond numpy's limits on rank and sizes
            raise InputError(f"a tensor of {len(tensor.dims)} dimensions cannot be stored as an array") from None

    def read_elements(self, attribute: OnnxAttribute) -> Any:
        """Return the elements of an attribute that the structural reader skipped.

        Strings are bytes.
        """
        items: list[Any] = []
        with self._reopen_file() as reader:
            for kind, begin, end in reader.fields(list(attribute.spans), _PROTO["AttributeProto"]):
                if kind in {"s", "strings"}:
                    items.append(reader.read(begin, end))
                elif not end:
                    items.append(begin)
                elif kind == "floats":
                    items += np.concatenate(
                        [np.frombuffer(part, "<f4") for part in _floats(reader, [(begin, end)], np.dtype("<f4"))]
                    ).tolist()
                else:
                    items += reader.decode_packed(begin, end, "int64")
                if 8 * len(items) > self.budget:
                    raise InputError(f"a list needs more than the {self.budget} bytes that are left of the limit")
        return items[-1] if attribute.kind == "STRING" and items else items

    def _to_dense(self, tensor: OnnxTensor, values: OnnxTensor, indices: OnnxTensor) -> NDArray[Any]:
        """Return a sparse tensor as a dense array.

        Its indices are linear or one per dimension.
        """
        array, places = self.array(values).reshape(-1), self.array(indices)
        if min(tensor.dims, default=0) < 0 or prod(tensor.dims) * array.itemsize > self.budget:
            raise InputError(f"a sparse tensor of sizes {list(tensor.dims)} exceeds the rest of the limit")
        if places.dtype != np.int64 or places.shape not in {(array.size,), (array.size, len(tensor.dims))}:
            raise InputError(f"expected an index for each of the {array.size} values of a sparse tensor")
        sizes = np.array(tensor.dims if places.ndim == 2 else (prod(tensor.dims),), np.int64)
        if places.size and (places.min() < 0 or (places.reshape(array.size, -1) >= sizes).any()):
            raise InputError(f"an index of a sparse tensor is outside its sizes {list(tensor.dims)}")
        dense = np.zeros(prod(tensor.dims), array.dtype)
        flat = places if places.ndim == 1 else np.ravel_multi_index(tuple(places.T), tensor.dims)
        dense[flat] = array
        return dense.reshape(tensor.dims)

    def _external(self, tensor: OnnxTensor, needed_bytes: int) -> bytes:
        location = tensor.external.get("location", "")
        try:
            folder = Path(self.path).parent.resolve()
            path = (folder / location).resolve()
            state = path.stat()
            offset = int(tensor.external.get("offset") or 0)
            length = int(tensor.external.get("length") or needed_bytes)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"external data {location!r:.80} cannot be read: {reason:.80}") from None
        if not path.is_relative_to(folder) or not stat.S_ISREG(state.st_mode):
            raise InputError(f"expected external data in a file next to the model, found {location!r:.80}")
        if offset < 0 or length != needed_bytes or offset + needed_bytes > state.st_size:
            raise InputError(f"external data {location!r:.80} does not have {needed_bytes} bytes from byte {offset} on")
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(needed_bytes)

    def _reread(self, tensor: OnnxTensor, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        if tensor.segment:
            raise NoKernel("a segmented tensor is not supported")
        with self._reopen_file() as reader:
            return _read_tensor(reader, list(tensor.spans), tensor.elem_type, dtype, count)

    @contextmanager
    def _reopen_file(self) -> Iterator[Reader]:
        """Reopen the model file."""
        try:
            with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123  # like the structural reader
                yield Reader(file, os.fstat(file.fileno()).st_size)
        except WireError as error:
            raise InputError(error.message, file=self.path, place=f"byte {error.offset}") from None
        except OSError as error:
            raise InputError(f"cannot be read again: {error}", file=self.path) from None


def _check_element_count(tensor: OnnxTensor, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return the elements of a small tensor whose data and sizes disagree.

    Raises InputError if the data cannot be used.
    """
    if isinstance(tensor.data, bytes):
        return _decode_raw_data(tensor.data, tensor.elem_type, dtype, count)
    field = DATA_FIELDS.get(tensor.elem_type, "int32_data")
    if not tensor.data and field not in tensor.stored_counts:
        raise InputError(f"expected a tensor with raw_data or {field}, found neither")
    description = f"{len(tensor.data or ())} numbers of {field}"
    raise InputError(f"a tensor of sizes {list(tensor.dims)} has {description}, expected {count} elements of {dtype}")


def _read_tensor(reader: Reader, spans: list[Span], elem_type: str, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    pairs_by_name: dict[str, list[tuple[Any, int]]] = {}
    for name, begin, end in reader.fields(spans, _PROTO["TensorProto"]):
        pairs_by_name.setdefault(name, []).append((begin, end))
    if "raw_data" in pairs_by_name:
        return _decode_raw_data(reader.read(*pairs_by_name["raw_data"][-1]), elem_type, dtype, count)
    field = DATA_FIELDS.get(elem_type, "int32_data")
    if field not in pairs_by_name:
        raise InputError(f"expected a tensor with raw_data or {field}, found neither")
    items = pairs_by_name[field]
    if field == "string_data":
        return _from_values([reader.read(*item) for item in items], dtype)
    if field in {"float_data", "double_data"}:
        item = np.dtype("<f4" if field == "float_data" else "<f8")
        parts = [np.frombuffer(part, item) for part in _floats(reader, items, item)]
        numbers = np.concatenate(parts).astype(item.newbyteorder("="))
        if numbers.nbytes % dtype.itemsize:
            raise InputError(f"{numbers.size} numbers are not elements of {dtype}")
        return numbers.view(dtype)
    kind = field.removesuffix("_data")
    integers: list[int] = []
    for begin, end in items:
        integers.extend(reader.decode_packed(begin, end, kind) if end else [begin])
    if dtype.kind in "fV" and dtype.itemsize <= 2:  # int32_data holds bit patterns
        if SUB_BYTE.get(elem_type) == 6:  # not packed
            return numbers_of(np.array([integer & 63 for integer in integers], np.uint8), dtype)
        bits = np.array(integers, np.int64).astype(f"<u{dtype.itemsize}")
        return _decode_raw_data(bits.tobytes(), elem_type, dtype, count)
    wide_values = np.array(integers, np.uint64 if kind == "uint64" else np.int64)
    return wide_values.astype(dtype)


def _floats(reader: Reader, items: list[tuple[Any, int]], item: np.dtype[Any]) -> Iterator[bytes]:
    for begin, end in items:
        data = reader.read(begin, end) if end else np.array(begin, item).tobytes()
        if len(data) % item.itemsize:
            raise InputError(f"expected packed numbers of {item.itemsize} bytes, found {len(data)} bytes")
        yield data


def _decode_raw_data(data: bytes, elem_type: str, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Return the elements of raw_data.

    They are little-endian; types of less than 8 bits are packed.
    """
    if elem_type in SUB_BYTE:
        return _unpack_numbers(data, elem_type, dtype, count)
    if dtype == np.object_ or len(data) % dtype.itemsize:
        raise InputError(f"{len(data)} bytes of raw data are not a whole number of {dtype} elements")
    if dtype == np.bool_:
        return np.frombuffer(data, np.uint8).astype(dtype)
    if dtype.kind == "V":  # ml_dtypes types, which have no byte order
        unit = np.dtype(f"<u{dtype.itemsize}")
        return np.frombuffer(data, unit).astype(unit.newbyteorder("=")).view(dtype)
    little: NDArray[Any] = np.frombuffer(data, dtype.newbyteorder("<"))
    return little.astype(dtype, copy=False)


def _unpack_numbers(data: bytes, elem_type: str, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Unpack `count` elements of less than 8 bits, lowest bits first."""
    width = SUB_BYTE[elem_type]
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    if not count * width <= bits.size < count * width + 8 * 3:
        raise InputError(f"{len(data)} bytes of raw data cannot hold {count} elements of {dtype}")
    rows = bits[: count * width].reshape(count, width)
    return numbers_of(np.packbits(rows, axis=1, bitorder="little").reshape(-1), dtype)


def _from_values(values: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype == np.object_:
        try:
            values = [value.decode() if isinstance(value, bytes) else value for value in values]
        except UnicodeDecodeError:
            raise InputError("expected UTF-8 in a tensor of strings") from None
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(values, dtype)
