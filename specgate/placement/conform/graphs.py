"""Random small graphs in which sizes are computed, made of the pieces of ``specs/onnxruntime/graphs.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.placement.conform.cases import Case
from specgate.placement.conform.observed import imported
from specgate.placement.registrations import runtime_tables
from specgate.placement.scopes import MODELS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["graph_cases"]

#: The oldest opset of a graph: from here on the pieces hardly change.
_OLDEST: Final = 11
_MOST_NODES: Final = 14
#: The type of a graph's tensors, and the size that is left open in some.
_OWN_TYPES: Final = ("FLOAT", "FLOAT16")
_OWN, _OPEN = "T", "N"
_NAME: Final = re.compile(r"\b[a-z]\b(?=[,)\s])")
#: Of ten values that a piece takes: from another piece or what is there, a new input of the graph, an initializer.
_MIX: Final = ("known",) * 7 + ("input",) * 2 + ("constant",)


def graph_cases(count: int, seed: str, newest: int) -> Iterator[Case]:
    """Yield at most `count` graphs, the same ones for the same seed, none above the opset `newest`.

    Graphs that ONNX's own inference of types and shapes refuses are left out, and count all the same.
    """
    for index in range(count):
        random = Random(f"{seed}/{index}")  # noqa: S311  # repeatable on purpose
        made = _Graph(random, random.randint(min(_OLDEST, newest), newest)).model()
        if made is not None:
            yield Case(f"graph/{index}", "graph", "", str(made.opset_import[0].version), made.SerializeToString())


@dataclass(slots=True)
class _Graph:
    """One graph while it grows. values: by kind the names that are there; used: those that a node has read."""

    random: Random
    opset: int
    values: dict[str, list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)

    def model(self) -> Any:
        """Return the model, None where its types or shapes contradict each other."""
        import onnx
        from onnx import helper, shape_inference

        tables = runtime_tables()["graphs"]
        kind = self.random.choice(_OWN_TYPES)
        size: int | str = self.random.choice((2, 2, _OPEN))
        pieces = [
            piece
            for piece in tables["pieces"]
            if imported(str(self.opset), piece.get("opsets")) and piece.get("type", kind) == kind
        ]
        kinds = {name: _filled(about, kind, size) for name, about in tables["kinds"].items()}
        self._value("tensor", kinds, "input")
        for _ in range(self.random.randint(3, _MOST_NODES)):
            self._piece(self.random.choice(pieces), kinds, kind)
        results = [name for name in self.types if name not in self.used]
        outputs = [helper.make_empty_tensor_value_info(name) for name in results]
        for info in outputs:
            info.type.tensor_type.elem_type = onnx.TensorProto.DataType.Value(self.types[info.name])
        graph = helper.make_graph(self.nodes, "drawn", self.inputs, outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        made.ir_version = dialect(MODELS).tables.levels[str(self.opset)]["ir_version"]
        try:
            shape_inference.infer_shapes(made, strict_mode=True, data_prop=True)
        except shape_inference.InferenceError:
            return None
        return made if self.nodes else None

    def _piece(self, piece: Mapping[str, Any], kinds: Mapping[str, Any], own: str) -> None:
        """Add a node, unless it takes a kind that has no value yet and that only nodes give."""
        from onnx import parser

        if any(not self.values.get(kind) and kinds[kind].get("made") for kind in piece["takes"].values()):
            return
        names = {name: self._value(kind, kinds) for name, kind in piece["takes"].items()}
        names |= {name: self._constant(_filled(a, own, 1)) for name, a in piece.get("constants", {}).items()}
        self.used |= {*names.values()}
        result = names["y"] = f"{piece['gives']}_{len(self.nodes)}"
        node = parser.parse_node(_NAME.sub(lambda found: names.get(found[0], found[0]), piece["node"]))
        node.name = f"{node.op_type}_{len(self.nodes)}"
        self.nodes.append(node)
        self.values.setdefault(piece["gives"], []).append(result)
        self.types[result] = kinds[piece["gives"]]["type"]

    def _value(self, kind: str, kinds: Mapping[str, Any], way: str = "") -> str:
        """Return a value of a kind: one that is there, or a new one."""
        from onnx import TensorProto, helper

        about = kinds[kind]
        known = self.values.setdefault(kind, [])
        way = way or self.random.choice(_MIX)
        if known and (way == "known" or about.get("made")):
            return self.random.choice(known)
        if way == "constant" and about.get("values"):
            name = self._constant(about)
        else:
            name = f"{kind}_in_{len(self.inputs)}"
            number = TensorProto.DataType.Value(about["type"])
            self.inputs.append(helper.make_tensor_value_info(name, number, about["shape"]))
        known.append(name)
        return name

    def _constant(self, about: Mapping[str, Any]) -> str:
        import numpy as np
        from onnx import TensorProto, helper, numpy_helper

        name = f"constant_{len(self.constants)}"
        dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(about["type"]))
        count = int(np.prod(about["shape"], dtype=int))
        held = np.array([self.random.choice(about["values"]) for _ in range(count)], dtype)
        self.constants.append(numpy_helper.from_array(held.reshape(about["shape"]), name))
        return name


def _filled(about: Mapping[str, Any], kind: str, size: int | str) -> dict[str, Any]:
    """Return what is said of a value with the graph's own type and size in it."""
    shape = [size if each == _OPEN else each for each in about.get("shape", ())]
    return {**about, "type": kind if about["type"] == _OWN else about["type"], "shape": shape}
