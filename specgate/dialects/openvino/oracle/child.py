"""Subprocess of the OpenVINO oracle.

It creates nodes with an opset's factory, reads models with the IR reader, and computes values. A question is (column,
layer, sets of arrays). The answer for `factory` and `ir` is (word, detail), for `evaluate` and `cpu` a list of (word,
detail, outputs), one per set.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import struct
import sys
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from specgate.caching import cached_property
from specgate.descriptors.core import format_value
from specgate.dialects.openvino.oracle.exchange import Blob, ComputedOutputs, python_module
from specgate.dialects.openvino.oracle.layer import NotExpressibleError, ir_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specgate.dialects.openvino.oracle.exchange import Question
    from specgate.dialects.openvino.oracle.layer import Layer, Port

_MAX_MEMORY: Final = 4 * 2**30
_MAX_OUTPUT: Final = 2**28
_MAX_DETAIL: Final = 200
#: Error texts that concern the factory, not the operation. The factory only supports attributes of plain types, does
#: not create constants, and does not know variables of other operations. A Parameter represents an input of unknown
#: value, which may be a constant.
_NOT_TESTABLE: Final = {
    "No AttributeVisitor support": "the factory does not accept attributes of this kind",
    "NodeFactory doesn't support": "the factory does not create this operation",
    "Can't find variable": "the variable belongs to another operation",
    "must be connected to a Constant": "the descriptor does not state the value of an input that must be a constant",
}
#: Layer types with another name in the factory.
_FACTORY_NAMES: Final = {"Const": "Constant"}
#: With an f32 hint the plugin computes f16 and bf16 in f32 and rounds graph outputs. Without a hint it chooses the
#: precision, and with f16 it computes even f32 in f16.
_CPU: Final = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
#: Layer types that the plugin compiles only at the end of a model.
_ENDS: Final = frozenset({"result", "assign"})
#: Types that the plugin supports in constants but not in Parameters.
_NO_PARAMETERS: Final = frozenset({"u1", "u3", "u6"})
#: Types whose elements numpy serializes; OpenVINO's constructor would convert 64-bit integers through doubles.
_NUMPY: Final = {"f64": "f8", "f32": "f4", "f16": "f2", "boolean": "?", "i64": "i8", "i32": "i4", "i16": "i2"} | {
    "i8": "i1",
    "u64": "u8",
    "u32": "u4",
    "u16": "u2",
    "u8": "u1",
}


def make_asker(level: str) -> Callable[[Question], Any]:
    """Return the function that answers questions about the opset `level`."""
    sys.modules["openvino_telemetry"] = cast("Any", None)  # prevents telemetry when importing openvino
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        resource: Any = importlib.import_module("resource")
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (_MAX_MEMORY, hard))
    return _LayerRunner(level).answer


def _line(error: BaseException) -> str:
    """Return the last line of an OpenVINO error, after source locations."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[-1].split(" (#define")[0] if lines else type(error).__name__
    return text if len(text) <= _MAX_DETAIL else text[: _MAX_DETAIL - 1] + "…"


def _refusal(error: BaseException) -> tuple[str, str]:
    if isinstance(error, NotExpressibleError):
        return "not asked", str(error)
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return "not asked", "it needs more memory than the process limit"
    unaskable = next((meaning for words, meaning in _NOT_TESTABLE.items() if words in str(error)), None)
    if unaskable is not None:
        return "not asked", unaskable
    return "rejected", _line(error)


class _LayerRunner:
    def __init__(self, level: str) -> None:
        self.ov: Any = importlib.import_module("openvino")
        self.op: Any = python_module("op")
        self.np: Any = importlib.import_module("numpy")
        self.native: Any = importlib.import_module("openvino._pyopenvino")
        self.core = self.ov.Core()
        self.factories: dict[str, Any] = {}
        self.level = level

    def answer(self, question: Question) -> Any:
        column, layer, sets = question
        if column == "cpu" and not sets:
            word, detail = self.verdict(layer, self.create)
            return self.verdict(layer, self.compile_layer) if word == "accepted" else (word, detail)
        if column in {"factory", "ir"}:
            return self.verdict(layer, self.read if column == "ir" else self.create)
        word, detail = self.verdict(layer, self.create)
        if word != "accepted":
            return [ComputedOutputs(word, detail) for _ in sets]
        return self.evaluate(layer, sets) if column == "evaluate" else self.infer(layer, sets)

    def verdict(self, layer: Layer, ask_layer: Callable[[Layer], Any]) -> tuple[str, str]:
        try:
            self.factory(layer.version)
            ask_layer(layer)
        except Exception as error:  # noqa: BLE001  # any exception is a rejection
            return _refusal(error)
        return "accepted", ""

    def factory(self, version: str) -> Any:
        """Return an opset's factory, which creates every operator by name.

        The opset modules lack some operators.
        """
        if version not in self.factories:
            try:
                self.factories[version] = self.native.NodeFactory(version)
            except RuntimeError:
                raise NotExpressibleError(
                    f"OpenVINO {self.ov.__version__} does not have {format_value(version)}"
                ) from None
        return self.factories[version]

    def create(self, layer: Layer) -> None:
        if layer.bodies:
            raise NotExpressibleError("the factory does not accept bodies")
        sources = self.sources(layer)
        node = self.node(layer, sources)
        for index, stated_port in enumerate(layer.outputs):
            self.compare(node, index, stated_port)

    def node(self, layer: Layer, sources: Sequence[Any]) -> Any:
        create, outputs = self.factory(layer.version).create, [source.output(0) for source in sources]
        try:
            return create(layer.kind, outputs, dict(layer.data))
        except RuntimeError as error:
            other = _FACTORY_NAMES.get(layer.kind) or self.spellings.get(layer.kind.lower(), layer.kind)
            if other == layer.kind or "Couldn't create operation" not in str(error):
                raise
        return create(other, outputs, dict(layer.data))

    @cached_property
    def spellings(self) -> dict[str, str]:
        """Return operator names in the factory's spelling by lower-case name.

        The factory is case-sensitive, unlike IRs.
        """
        modules = Path(self.op.__file__).parent.parent.glob("opset*/ops.py")
        texts = (module.read_text(encoding="utf-8") for module in modules)
        return {name.lower(): name for text in texts for name in re.findall(r'\.create\(\s*"(\w+)"', text)}

    def compare(self, node: Any, index: int, stated_port: Port | None) -> None:
        """Raise if the node lacks a stated output, or if its type differs."""
        if index >= node.get_output_size():
            raise ValueError(f"output {index} is declared, but the node has only {node.get_output_size()} outputs")
        if stated_port is None:
            return
        kind, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
        if stated_port.type is not None and kind.is_static() and kind.get_type_name() != stated_port.type:
            raise ValueError(f"output {index} is stated as {stated_port.type}, inferred is {kind.get_type_name()}")
        if not self.shape(stated_port).compatible(shape):
            raise ValueError(f"output {index} is stated as {self.shape(stated_port)}, inferred is {shape}")

    def sources(self, layer: Layer) -> list[Any]:
        """Return a Parameter or Constant per input.

        Raises NotExpressibleError on failure, because that says nothing about the operation.
        """
        try:
            return [self.parameter(p) if p.value is None else self.constant(p) for p in layer.inputs]
        except Exception as error:  # noqa: BLE001  # concerns our input, not the operation
            raise NotExpressibleError(f"the inputs cannot be built: {_line(error)}") from None

    def shape(self, port: Port) -> Any:
        sizes = port.sizes
        if sizes is None:
            return self.ov.PartialShape.dynamic()
        return self.ov.PartialShape([-1 if size is None else size for size in sizes])

    def parameter(self, port: Port) -> Any:
        kind = self.ov.Type.dynamic if port.type is None else getattr(self.ov.Type, port.type)
        return self.op.Parameter(kind, self.shape(port))

    def constant(self, port: Port) -> Any:
        kind, value = str(port.type), list(port.value or ())
        shape = tuple(size for size in port.sizes or () if size is not None)
        if kind == "string":
            return self.op.Constant(self.tensor(Blob(kind, shape, value)))
        if kind in _NUMPY:
            with self.np.errstate(over="ignore"):
                data = self.np.array(value, _NUMPY[kind]).tobytes()
            return self.op.Constant(self.tensor(Blob(kind, shape, data)))
        return self.op.Constant(getattr(self.ov.Type, kind), self.ov.Shape(shape), value)

    def tensor(self, blob: Blob) -> Any:
        kind, shape = getattr(self.ov.Type, blob.type), self.ov.Shape(blob.shape)
        tensor = self.ov.Tensor(kind, shape)
        if not prod(blob.shape):
            return tensor
        if isinstance(blob.data, bytes):
            result = tensor.data  # for packed elements, the bytes
            result[...] = self.np.frombuffer(blob.data, result.dtype).reshape(result.shape)
        else:
            tensor.str_data = self.np.array(blob.data).reshape(blob.shape)
        return tensor

    def blob(self, tensor: Any) -> Blob:
        kind, shape = tensor.element_type.get_type_name(), tuple(tensor.shape)
        if kind == "string":
            return Blob(kind, shape, self.texts(tensor) if prod(shape) else [])
        return Blob(kind, shape, tensor.data.tobytes())

    def texts(self, tensor: Any) -> list[str]:
        try:  # str_data is fixed-width and loses trailing zeros
            return list(self.op.Constant(tensor).get_value_strings())
        except UnicodeDecodeError:
            raise NotExpressibleError("an output contains strings that are not UTF-8") from None

    def read(self, layer: Layer) -> None:
        try:
            blobs = [None if p.value is None else self.weights(p) for p in layer.inputs]
        except Exception as error:  # noqa: BLE001  # concerns our input, not the operation
            raise NotExpressibleError(f"the inputs cannot be built: {_line(error)}") from None
        xml, weights = ir_of(layer, blobs)
        self.core.read_model(xml, weights)

    def weights(self, port: Port) -> bytes:
        if port.type != "string":
            data: bytes = self.constant(port).data.tobytes()
            return data
        texts = [text.encode() for text in port.value or ()]
        ends = [sum(map(len, texts[:index])) for index in range(len(texts) + 1)]
        return struct.pack(f"<{len(texts) + 2}I", len(texts), *ends) + b"".join(texts)

    def evaluate(self, layer: Layer, sets: list[list[Blob]]) -> list[ComputedOutputs]:
        return [self.evaluate_layer(layer, blobs) for blobs in sets]

    def evaluate_layer(self, layer: Layer, blobs: list[Blob]) -> ComputedOutputs:
        try:
            tensors = [self.tensor(blob) for blob in blobs]
            node = self.node(layer, [self.op.Constant(tensor) for tensor in tensors])
            outputs = self.room(node)
            if not node.evaluate(outputs, tensors):
                return ComputedOutputs("no kernel", "Node.evaluate returns False")
            return ComputedOutputs("accepted", "", [self.blob(output) for output in outputs])
        except Exception as error:  # noqa: BLE001  # any exception is a rejection
            return ComputedOutputs(*_refusal(error))

    def room(self, node: Any) -> list[Any]:
        """Return output tensors for a node with constant inputs.

        Raises NotExpressibleError if they are too large.
        """
        outputs = []
        for index in range(node.get_output_size()):
            kind, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
            sizes = list(shape.to_shape()) if shape.is_static else [0]
            if prod(sizes) * max(kind.bitwidth, 8) // 8 > _MAX_OUTPUT:
                raise NotExpressibleError(f"output {index} is {shape}: more than {_MAX_OUTPUT} bytes")
            outputs.append(self.ov.Tensor(kind, self.ov.Shape(sizes)))
        return outputs

    def compile_layer(self, layer: Layer) -> tuple[Any, int]:
        """Return the layer compiled for the CPU, and its number of outputs."""
        if layer.kind.lower() in _ENDS:
            raise NotExpressibleError("a model output cannot be compiled alone")
        sources = self.sources(layer)
        for port in layer.inputs:
            if port.value is None and port.type in _NO_PARAMETERS:
                raise NotExpressibleError(f"the CPU plugin does not accept a Parameter of {port.type}")
        node = self.node(layer, sources)
        results = [self.op.Result(node.output(index)) for index in range(node.get_output_size())]
        parameters = [s for s, port in zip(sources, layer.inputs, strict=True) if port.value is None]
        return self.core.compile_model(self.ov.Model(results, parameters, "one"), "CPU", _CPU), len(results)

    def infer(self, layer: Layer, sets: list[list[Blob]]) -> list[ComputedOutputs]:
        try:
            compiled, count = self.compile_layer(layer)
            request = compiled.create_infer_request()
        except Exception as error:  # noqa: BLE001  # any exception is a rejection
            word, detail = _refusal(error)
            return [ComputedOutputs("no kernel" if word == "rejected" else word, detail) for _ in sets]
        return [self.infer_layer(layer, request, count, blobs) for blobs in sets]

    def infer_layer(self, layer: Layer, request: Any, count: int, blobs: list[Blob]) -> ComputedOutputs:
        try:
            tensors = [self.tensor(blob) for blob in blobs]
            self.check_output_sizes(layer, tensors)
            free = [tensor for tensor, port in zip(tensors, layer.inputs, strict=True) if port.value is None]
            for index, tensor in enumerate(free):
                request.set_input_tensor(index, tensor)
            request.infer()
            return ComputedOutputs(
                "accepted", "", [self.blob(request.get_output_tensor(tensor_index)) for tensor_index in range(count)]
            )
        except Exception as error:  # noqa: BLE001  # any exception is a rejection
            return ComputedOutputs(*_refusal(error))

    def check_output_sizes(self, layer: Layer, tensors: list[Any]) -> None:
        """Raise if outputs are too large; the plugin reports all other errors."""
        node = None
        with contextlib.suppress(Exception):
            node = self.node(layer, [self.op.Constant(tensor) for tensor in tensors])
        if node is not None:
            self.room(node)
