"""Shapes and constants of a model's values known without inference.

They come from the file, and from nodes that compute lists of sizes.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import cached_property
from specgate.dialects.onnx.file.schema import DATA_FIELDS
from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.dialects.onnx.infer.inference import tensor_type
from specgate.dialects.onnx.lint.types import contradictions, known_type, merge_types, without_invented_names
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables
from specgate.runtimes.onnxruntime.reinference import OwnSizes
from specgate.runtimes.onnxruntime.size_lists import Inference, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.runtimes.onnxruntime.size_lists import Sizes, Value

    Types = Mapping[int, Mapping[str, OnnxType]]
    KnownTypes = dict[str, OnnxType | OnnxTensor]

#: Element types of lists of sizes.
_SIZE_LIST_TYPES: Final = frozenset({"INT64", "INT32"})
_NO_PLACE: Final = (None, "", None)


class ValueFacts:
    """Shapes and constants of one model that inference does not give.

    types: lint's inferred types. scope: descriptions of the main graph's values, in particular of constants.
    """

    def __init__(self, model: OnnxModel, types: Types, release: str, scope: Mapping[str, TensorDesc]) -> None:
        graph = model.graph
        self.graph, self.types = graph, types
        self.main = types.get(id(graph), {})
        self.scope = scope
        self.opset = model.opset_imports.get("", 0)
        self.facts = inference_of(release)
        self.sizes = OwnSizes(release, model.opset_imports)
        self.tensors: dict[int, tuple[OnnxType, TensorDesc]] = {}  # by id; each entry keeps its key alive
        self.foreign = {id(node) for node in graph.nodes if node.domain and self.sizes.has(node)}
        self.valued = [n for n in graph.nodes if n.op_type in self.facts.values or id(n) in self.foreign]
        self.lists = self._computed_values()
        self.better: set[str] = set()  # values with a stated size that inference does not give
        self.named: dict[str, OnnxType] = {}  # values for which the file adds only a symbolic size
        self.doubtful: set[str] = set()  # values that lint may know better than the runtime
        self.stated: dict[str, OnnxType] = {}
        self.fixed: KnownTypes = {}
        self._collect_stated()
        ports = self.facts.unranked_operators(self.opset)
        if ports and ports & {node.op_type for node in graph.nodes}:
            names = (n for node in graph.nodes if node.op_type in ports and not node.domain for n in node.outputs if n)
            self.fixed |= {name: _rankless(self.main.get(name)) for name in names}

    def _collect_stated(self) -> None:
        """Collect stated types, and merge those that contradict lint's.

        A merged type keeps the common part. It is stored only for values that nodes read, because a value's producer
        uses its computed type.
        """
        main_type, stated = self.main.get, self.stated
        wrong: list[tuple[str, OnnxType, OnnxType]] = []
        merged: dict[tuple[int, int], tuple[OnnxType, bool, bool, OnnxType | None] | None] = {}  # by ids of types
        for info in chain(self.graph.value_infos, self.graph.outputs):
            name, kind = info.name, info.type
            type_ = main_type(name, kind)  # some values lack an inferred type
            key = id(kind), id(type_)  # equal types are mostly one object
            if key not in merged:
                merged[key] = _merge_stated(kind, type_)
            if (facts := merged[key]) is None:
                continue
            known, contradictory, more_infos, name_list = facts
            if more_infos:
                self.better.add(name)
            elif name_list is not None:
                self.named[name] = name_list
            if not contradictory:
                stated[name] = known
            elif type_ is not None and known.elem_type == type_.elem_type:
                wrong.append((name, known, type_))
        read = {name for node in self.graph.nodes for name in node.inputs} if wrong else set()
        self.fixed.update((name, _common_type(kind, type_)) for name, kind, type_ in wrong if name in read)

    def may_differ(self) -> bool:
        """Return whether the runtime may know more or less than lint."""
        return bool(self.better) or bool(self.fixed) or bool(self.lists) or bool(self.foreign)

    def _computed_values(self) -> frozenset[str]:
        """Return the computed values that may be lists of sizes."""
        constants = {node.outputs[0] for node in self.graph.nodes if node.op_type == "Constant" and node.outputs}
        names: set[str] = set()
        for types in self.types.values():
            counting = {id(kind) for kind in {id(k): k for k in types.values()}.values() if _counts(kind)}
            if counting:
                names.update(name for name, kind in types.items() if id(kind) in counting)
        return frozenset(names - constants)

    def known_types(self, types: Types, *, doubting: bool = False) -> KnownTypes:
        """Return known types and constants that replace computed ones.

        types: the last inferred types. doubting: they are lint's, and may depend on a list of sizes that is unknown to
        the runtime.
        """
        result = _FactRound(self, types.get(id(self.graph), {}))
        for node in self.graph.nodes if doubting else self.valued:
            value = None
            if node.op_type in self.facts.values:
                value = self.facts.value(node, self.opset, result.values, result.sizes, result.constant)
            if value is not None:
                result.learn(node.outputs[0], value)
            elif doubting and result.doubts(node.inputs):
                result.doubtful.update(node.outputs)
            elif id(node) in self.foreign:
                for name, kind in self.sizes.types(node, result.tensor).items():
                    result.known_types.setdefault(name, self._with_stated(name, kind))
        self.doubtful = result.doubtful
        return result.known_types

    @cached_property
    def infos(self) -> dict[str, OnnxType]:
        """The types that the file states; few models need them."""
        infos = chain(self.graph.value_infos, self.graph.outputs)
        return {info.name: info.type for info in infos if info.type is not None}

    def _with_stated(self, name: str, kind: OnnxType) -> OnnxType:
        """Return an inferred type of an own operator, merged with the stated one."""
        stated_info = self.infos.get(name)
        if stated_info is None or stated_info.kind != "tensor":
            return kind
        if stated_info.elem_type != kind.elem_type:
            return stated_info  # for which the runtime rejects the node
        if stated_info.shape is None:
            return kind
        return _common_type(stated_info, kind) if any(contradictions("", stated_info, kind, _NO_PLACE)) else kind


class _FactRound:
    """Known values of a model's main graph in one round.

    types: the last inferred types. doubtful: values that lint may know better.
    """

    def __init__(self, teller: ValueFacts, types: Mapping[str, OnnxType]) -> None:
        self.types, self.scope, self.lists, self.tensors = types, teller.scope, teller.lists, teller.tensors
        self.known_types: KnownTypes = dict(teller.fixed)
        self.values: dict[str, Value] = {}
        self.doubtful = set(teller.fixed)

    def sizes(self, name: str) -> Sizes:
        """Return the sizes of a value."""
        kind = self.types.get(name)
        if kind is not None:
            return kind.shape if kind.kind == "tensor" and name not in self.doubtful else None
        tensor = self.scope.get(name)
        return (
            None
            if tensor is None or tensor.sizes is None
            else [s if isinstance(s, int) else None for s in tensor.sizes]
        )

    def constant(self, name: str) -> Sequence[Any] | None:
        """Return the elements of a constant."""
        tensor = self.scope.get(name)
        return None if tensor is None or not isinstance(tensor.value, tuple) else tensor.value

    def tensor(self, name: str) -> TensorDesc | None:
        """Return the full description of a value."""
        result = self.known_types.get(name)
        kind = tensor_type(result) if isinstance(result, OnnxTensor) else result or self.types.get(name)
        tensor = self.scope.get(name)
        if kind is None or kind.kind != "tensor":
            return tensor
        pair = self.tensors.get(id(kind))
        if pair is None:
            pair = self.tensors[id(kind)] = kind, known_type(kind)
        return pair[1] if tensor is None or tensor.value is None else pair[1]._replace(value=tensor.value)

    def doubts(self, names: Sequence[str]) -> bool:
        """Return whether only lint may know the results of these inputs."""
        return not self.doubtful.isdisjoint(names) or (
            not self.lists.isdisjoint(names) and any(name in self.lists and name not in self.values for name in names)
        )

    def learn(self, name: str, value: Value) -> None:
        """Record a list of sizes, or a single size, that a node computes."""
        self.values[name] = value
        kind = self.types.get(name)
        if kind is not None and kind.elem_type in _SIZE_LIST_TYPES and name not in self.known_types:
            self.known_types[name] = _constant(name, kind, value)


def _counts(kind: OnnxType) -> bool:
    return kind.elem_type in _SIZE_LIST_TYPES and (kind.shape is None or len(kind.shape) < 2)


def _constant(name: str, kind: OnnxType, value: Value) -> OnnxType | OnnxTensor:
    """Return a value as a constant, or its type if its sizes do not match."""
    dims = tuple(size for size in kind.shape or () if isinstance(size, int))
    if kind.shape is None or len(dims) < len(kind.shape) or prod(dims) != len(value.elements):
        return kind
    assert kind.elem_type in DATA_FIELDS  # noqa: S101  # holds for all of _COUNTING
    return OnnxTensor(name, kind.elem_type or "", dims, data=list(value.elements))


def _merge_stated(kind: OnnxType | None, type_: OnnxType | None) -> tuple[OnnxType, bool, bool, OnnxType | None] | None:
    """Return a stated tensor type with a shape, and how lint's type differs.

    The flags say whether they contradict, and whether the stated one has more sizes; the type has its symbols. None if
    the stated type has no shape, or either is not a tensor type.
    """
    if kind is None or kind.kind != "tensor" or kind.shape is None or type_ is None or type_.kind != "tensor":
        return None
    if any(contradictions("", kind, type_, _NO_PLACE)):
        return kind, True, False, None
    return (kind, False, *_merge_sizes(kind, type_))


def _merge_sizes(stated_type: OnnxType, type_: OnnxType) -> tuple[bool, OnnxType | None]:
    """Return whether the file adds a size to a type, and the merged type.

    The merged type includes symbolic sizes, and is None if it does not differ. The types must be consistent.
    """
    inferred_type = without_invented_names(type_)
    merged_type = merge_types(without_invented_names(stated_type), inferred_type)
    return known_sizes(merged_type) != known_sizes(inferred_type), None if merged_type == inferred_type else merged_type


def _rankless(kind: OnnxType | None) -> OnnxType:
    return OnnxType("tensor", None if kind is None else kind.elem_type)


def _common_type(first: OnnxType, second: OnnxType) -> OnnxType:
    """Return the common part of two contradictory types."""
    if first.shape is None or second.shape is None or len(first.shape) != len(second.shape):
        return OnnxType("tensor", first.elem_type)
    pairs = zip(first.shape, second.shape, strict=True)
    return OnnxType(
        "tensor",
        first.elem_type,
        tuple(a if a == b or not isinstance(b, int) else None if isinstance(a, int) else b for a, b in pairs),
    )


def known_sizes(kind: OnnxType | None) -> object:
    """Return the sizes of a type with symbolic sizes replaced by None."""
    if kind is None or kind.shape is None:
        return None
    return tuple([size if isinstance(size, int) else None for size in kind.shape])


@cache
def inference_of(release: str) -> Inference:
    """Return the inference differences of a release.

    release: "1.24" or "1.24.4"; raises InputError for an unknown one.
    """
    position = release_position(release)
    raw = runtime_tables()["inference"]
    values: dict[str, list[Row]] = {}
    for entry in _applicable_entries(raw["values"], position):
        for name, (first, last) in entry["operators"].items():
            values.setdefault(name, []).append(Row(first, last, entry["of"], entry["by"], entry["gives"]))
    unsized_ports: dict[str, list[tuple[int, int | None]]] = {}
    for entry in _applicable_entries(raw["unsized"], position):
        for name, (first, last) in entry["operators"].items():
            unsized_ports.setdefault(name, []).append((first, last))
    return Inference(values, unsized_ports)


def _applicable_entries(entries: Iterable[Mapping[str, Any]], position: int) -> Iterable[Mapping[str, Any]]:
    return (entry for entry in entries if entry["first"] <= position <= entry["last"])
