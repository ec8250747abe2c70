"""Input arrays for single-node models, random graphs and model files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from specgate.conform.cases import draw_cases, fill
from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.oracle.child import NotExpressible, runtime_model
from specgate.dialects.onnx.oracle.oracle import make_question
from specgate.errors import Error, InputError
from specgate.execution.types import as_array, numpy_type
from specgate.generate.cases import cases_of
from specgate.linting.files import read_content
from specgate.runtimes.onnxruntime.conform.compare import is_opset_in_range
from specgate.runtimes.onnxruntime.oracle.cpu_child import MAX_ELEMENTS
from specgate.runtimes.onnxruntime.registrations import runtime_tables
from specgate.runtimes.onnxruntime.run_outcomes import run_failure, with_open_outputs
from specgate.runtimes.onnxruntime.table_references import MODELS
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.oracle.cpu import Feed

#: Whether each set is tame: small values, boundary values, and small values again.
_SETS: Final = (True, False, True)
#: Maximum elements of an input whose values rules may read, such as sizes, axes or a depth.
_MAX_VALUES: Final = 64


def fitting_feeds(descriptor: Descriptor, level: str) -> list[Feed]:
    """Return sets of arrays by input name, empty if no valid values exist.

    Inputs that rules read get elements that satisfy the rules. Constants keep their values, because a model may declare
    them as inputs too.
    """
    feeds: list[Feed] = []
    if any(tensor.known_elements > MAX_ELEMENTS for _, tensor in descriptor.tensors()):
        return feeds
    for index, tame in enumerate(_SETS):
        try:
            entries = fill(descriptor, level, Random(index), tame=tame)  # noqa: S311  # reproducible on purpose
            feeds.append(_constants(descriptor) | _flatten_arrays(entries))
        except (Error, ValueError, TypeError, KeyError, ArithmeticError):  # usually a descriptor that breaks a rule
            break
    return feeds


def breaks_rule(descriptor: Descriptor, level: str, feed: Feed, release: str) -> bool:
    """Return whether arrays break a rule that the descriptor alone does not.

    Conditions of the release count as rules. Output shapes that the descriptor states are ignored.
    """
    open_descriptor = replace(with_open_outputs(descriptor), version=level)
    values = {
        name: tensor._replace(value=tuple(feed[name].ravel().tolist()))
        for name, tensor in open_descriptor.fields.items()
        if name in feed and isinstance(tensor, TensorDesc) and feed[name].size <= _MAX_VALUES
    }
    known_descriptor = replace(open_descriptor, fields={**open_descriptor.fields, **values}, plain=False)
    return bool(_broken_rules(known_descriptor, level, release) - _broken_rules(open_descriptor, level, release))


def _broken_rules(descriptor: Descriptor, level: str, release: str) -> set[str]:
    failure = run_failure(descriptor, release)
    findings = [*check_at(descriptor, level, "documented").findings, *([failure[0]] if failure else [])]
    return {finding.id for finding in findings}


def _flatten_arrays(arrays: dict[str, Any]) -> dict[str, Any]:
    cases_by_name: dict[str, Any] = {}
    for name, array in arrays.items():
        cases_by_name |= (
            {f"{name}_{i}": element for i, element in enumerate(array)} if isinstance(array, list) else {name: array}
        )
    return {name: array for name, array in cases_by_name.items() if hasattr(array, "dtype")}


def _constants(descriptor: Descriptor) -> dict[str, Any]:
    table = dialect(descriptor.dialect)
    return {
        name: as_array(list(tensor.value), numpy_type(table, str(tensor.type)), (tensor.known_elements,), name).reshape(
            tensor.sizes
        )
        for name, tensor in descriptor.fields.items()
        if isinstance(tensor, TensorDesc) and tensor.value is not None and tensor.concrete
    }


#: Oldest opset of a graph; the operators used here hardly change after it.
_OLDEST: Final = 11
_MAX_NODES: Final = 14
#: Element types of a graph's tensors.
_GRAPH_TYPES: Final = ("FLOAT", "FLOAT16")
_GRAPH_TYPE, _OPEN_SIZE = "T", "N"
_NAME: Final = re.compile(r"\b[a-z]\b(?=[,)\s])")
#: Origin of a node's input, as ten equally likely draws: an existing value, a new graph input, or an initializer.
_MIX: Final = ("known",) * 7 + ("input",) * 2 + ("constant",)


def graph_cases(count: int, seed: str, newest: int) -> Iterator[Case]:
    """Yield at most `count` graphs, reproducible for the same seed.

    No graph has an opset above `newest`. Graphs that ONNX's type and shape inference rejects are omitted but count
    towards `count`.
    """
    for index in range(count):
        random = Random(f"{seed}/{index}")  # noqa: S311  # reproducible on purpose
        result = _Graph(random, random.randint(min(_OLDEST, newest), newest)).model()
        if result is not None:
            yield Case(f"graph/{index}", "graph", "", str(result.opset_import[0].version), result.SerializeToString())


@dataclass(slots=True)
class _Graph:
    """A graph under construction.

    values: available names by kind. used: names that a node has read.
    """

    random: Random
    opset: int
    values: dict[str, list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)

    def model(self) -> Any:
        """Return the model, or None if its types or shapes are inconsistent."""
        import onnx
        from onnx import helper, shape_inference

        tables = runtime_tables()["graphs"]
        kind = self.random.choice(_GRAPH_TYPES)
        size: int | str = self.random.choice((2, 2, _OPEN_SIZE))
        pieces = [
            piece
            for piece in tables["pieces"]
            if is_opset_in_range(str(self.opset), piece.get("opsets")) and piece.get("type", kind) == kind
        ]
        kinds = {name: _fill_value(kind_data, kind, size) for name, kind_data in tables["kinds"].items()}
        self._value("tensor", kinds, "input")
        for _ in range(self.random.randint(3, _MAX_NODES)):
            self._add_piece(self.random.choice(pieces), kinds, kind)
        results = [name for name in self.types if name not in self.used]
        outputs = [helper.make_empty_tensor_value_info(name) for name in results]
        for info in outputs:
            info.type.tensor_type.elem_type = onnx.TensorProto.DataType.Value(self.types[info.name])
        graph = helper.make_graph(self.nodes, "drawn", self.inputs, outputs, self.constants)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        proto.ir_version = dialect(MODELS).tables.levels[str(self.opset)]["ir_version"]
        try:
            shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True)
        except shape_inference.InferenceError:
            return None
        return proto if self.nodes else None

    def _add_piece(self, piece: Mapping[str, Any], kinds: Mapping[str, Any], own_kind: str) -> None:
        """Add a node, unless it needs a kind of value that only nodes produce."""
        from onnx import parser

        if any(not self.values.get(kind) and kinds[kind].get("made") for kind in piece["takes"].values()):
            return
        names = {name: self._value(kind, kinds) for name, kind in piece["takes"].items()}
        names |= {name: self._constant(_fill_value(a, own_kind, 1)) for name, a in piece.get("constants", {}).items()}
        self.used |= {*names.values()}
        result = names["y"] = f"{piece['gives']}_{len(self.nodes)}"
        node = parser.parse_node(_NAME.sub(lambda match: names.get(match[0], match[0]), piece["node"]))
        node.name = f"{node.op_type}_{len(self.nodes)}"
        self.nodes.append(node)
        self.values.setdefault(piece["gives"], []).append(result)
        self.types[result] = kinds[piece["gives"]]["type"]

    def _value(self, kind: str, kinds: Mapping[str, Any], way: str = "") -> str:
        """Return a value of a kind, either existing or new."""
        from onnx import TensorProto, helper

        kind_data = kinds[kind]
        names = self.values.setdefault(kind, [])
        way = way or self.random.choice(_MIX)
        if names and (way == "known" or kind_data.get("made")):
            return self.random.choice(names)
        if way == "constant" and kind_data.get("values"):
            name = self._constant(kind_data)
        else:
            name = f"{kind}_in_{len(self.inputs)}"
            number = TensorProto.DataType.Value(kind_data["type"])
            self.inputs.append(helper.make_tensor_value_info(name, number, kind_data["shape"]))
        names.append(name)
        return name

    def _constant(self, kind_data: Mapping[str, Any]) -> str:
        from onnx import TensorProto, helper, numpy_helper

        name = f"constant_{len(self.constants)}"
        dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(kind_data["type"]))
        count = int(np.prod(kind_data["shape"], dtype=int))
        array = np.array([self.random.choice(kind_data["values"]) for _ in range(count)], dtype)
        self.constants.append(numpy_helper.from_array(array.reshape(kind_data["shape"]), name))
        return name


def _fill_value(kind_data: Mapping[str, Any], kind: str, size: int | str) -> dict[str, Any]:
    """Return a value's description with the graph's own type and size."""
    shape = [size if dimension == _OPEN_SIZE else dimension for dimension in kind_data.get("shape", ())]
    return {**kind_data, "type": kind if kind_data["type"] == _GRAPH_TYPE else kind_data["type"], "shape": shape}


CaseKind = Literal["node", "graph", "file"]
#: The name of the tested node in a single-node model.
NODE: Final = "node"
#: Maximum size in bytes of a protobuf message.
_MAX_BYTES: Final = 2**31 - 1


class Case(NamedTuple):
    """One model.

    id: identifies it for the same seed: ``Relu/14/3``, ``graph/7`` or ``file/NAME``. operator: the operator of a
    single-node model, else "". opset: the ai.onnx opset it imports, "" for files. model: serialized. drawn: how its
    descriptor was drawn, or a file's path. level: the opset at which the descriptor was drawn.
    """

    id: str
    kind: CaseKind
    operator: str
    opset: str
    model: bytes
    drawn: str = ""
    descriptor: Descriptor | None = None
    level: str = ""


def node_cases(operator: str, count: int, seed: str, newest: int | None = None) -> Iterator[Case]:
    """Yield about `count` single-node models per version of an operator.

    No model has an opset above `newest`. Descriptors that no model can express are omitted but counted, so that an id
    does not depend on `count`.
    """
    spec = dialect(MODELS).operator(operator)
    for level in levels(operator, newest):
        try:
            for index, case in enumerate(draw_cases(spec, level, count, f"{seed}/{operator}/{level}")):
                pair = one_node(case.descriptor, level, newest)
                if pair is not None:
                    name = f"{operator}/{level}/{index}"
                    yield Case(name, "node", operator, pair[0], pair[1], case.origin, case.descriptor, level)
        except InputError:  # no valid descriptor at this level
            continue


def levels(operator: str, newest: int | None) -> list[str]:
    """Return the opsets at which an operator changes, and the highest one."""
    texts = [case.level for case in cases_of(MODELS, operator)]
    if newest is None:
        return texts
    supported_levels = [level for level in texts if int(level) <= newest]
    return supported_levels + [str(newest)] * (bool(supported_levels) and str(newest) not in supported_levels)


def one_node(descriptor: Descriptor, level: str, newest: int | None = None) -> tuple[str, bytes] | None:
    """Return the opset and the model of a descriptor, None if inexpressible.

    newest: the ai.onnx opset to import with an operator of another domain.
    """
    question = make_question(descriptor, level, newest)
    if isinstance(question, str):
        return None
    try:
        model = runtime_model(question)
    except NotExpressible:
        return None
    model.graph.node[0].name = NODE
    return str(question.opset), model.SerializeToString()


def file_cases(folder: Path) -> Iterator[Case]:
    """Yield the models below a folder by name; raise InputError if none."""
    paths = sorted(folder.rglob("*.onnx")) if folder.is_dir() else []
    if not paths:
        raise InputError("expected a folder with .onnx files", file=str(folder))
    for path in paths:
        name = path.relative_to(folder).as_posix()
        yield Case(f"file/{name}", "file", "", "", read_content(path, _MAX_BYTES, name=str(path)), str(path))
