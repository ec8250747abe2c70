"""ONNX models as units: all nodes of graphs, subgraphs and functions.

Each unit has the types known at its node.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.descriptors.positional import build
from specgate.dialects.onnx.infer import inference
from specgate.dialects.onnx.lint.fixes import file_fixes, wrong_type_findings
from specgate.dialects.onnx.lint.functions import Calls, function_findings
from specgate.dialects.onnx.lint.names import name_findings
from specgate.dialects.onnx.lint.tensors import data_findings, external_findings
from specgate.dialects.onnx.lint.types import (
    Constants,
    attribute_of,
    contradictions,
    equivalent_units,
    known_type,
    negative_sizes,
    pin_sizes,
    without_invented_names,
)
from specgate.dialects.onnx.lint.units import (
    STANDARD_DOMAINS,
    NodeUnits,
    Row,
    bodies,
    category_mapper,
    domain_name,
    finding,
    function_key,
    function_place,
    label,
    location,
    makers_of,
    subgraphs,
)
from specgate.dialects.onnx.lint.versions import complete_imports, custom_operators, import_findings
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, operator_name
from specgate.errors import NoTable
from specgate.linting.nodes import Graph, Unit
from specgate.linting.settings import LintSettings
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence
    from collections.abc import Set as AbstractSet

    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxGraph, OnnxModel, OnnxNode, OnnxType
    from specgate.dialects.onnx.lint.units import Place
    from specgate.verdict import Finding, Location

    Types = MutableMapping[str, TensorDesc]
    _Tensors = tuple[list[TensorDesc | None], list[TensorDesc | None]]

_UNKNOWN_TENSOR = TensorDesc(None, None)
_QUIET = LintSettings(infer=False)


@dataclass(slots=True)
class Source:
    """A model as read, for checks that need more than its units.

    `scopes` has the known values by graph id, including those of outer graphs; an inferred type overrides a
    contradicting stated type. `node_units` has the units of the nodes. `types` has the inferred types by graph id, None
    without inference. `more` has units by node id that override those in `node_units`.
    """

    model: OnnxModel
    settings: LintSettings
    scopes: dict[int, Mapping[str, TensorDesc]] = field(default_factory=dict)
    node_units: NodeUnits = field(default_factory=NodeUnits)
    types: Mapping[int, Mapping[str, OnnxType]] | None = None
    constants: Constants = field(default_factory=Constants, repr=False)
    more: Mapping[int, Unit] = field(default_factory=dict)
    _units: dict[int, Unit] | None = field(default=None, init=False, repr=False)

    @property
    def units(self) -> Mapping[int, Unit]:
        """Return a unit of the same kind per node id; its place may differ.

        Calls of the model's functions have no unit. The result is built on first use, after all nodes have been
        visited.
        """
        if self._units is None:
            self._units = {**self.node_units.unit_by_node(), **self.more}
        return self._units


def onnx_units(model: OnnxModel, settings: LintSettings = _QUIET) -> Graph:
    """Return the units of a model at its imported opsets, and its findings.

    Pins the sizes of `model` and completes its imports. The default settings disable inference.
    """
    complete_imports(model)
    graph = Graph("onnx", imports=dict(model.opset_imports), ir_version=model.ir_version)
    walked_bodies = list(bodies(model))
    graph.findings.extend(import_findings(model, walked_bodies))
    graph.custom = custom_operators(model, walked_bodies, settings.custom_domains)
    graph.findings.extend(pin_sizes(model, settings.pins, strict=settings.strict))
    graph.findings.extend(negative_sizes(model))
    function: Callable[[], inference.InferredTypes] = inference.InferredTypes
    if settings.infer and model.graph.nodes:
        if inference.is_onnx_installed():
            function = inference.start_inference(model, walked_bodies, values=not settings.placing)
        else:
            graph.not_inferred = "onnx"
    graph.findings.extend(function_findings(model, walked_bodies))
    graph.findings.extend(name_findings(model))
    graph.findings.extend(data_findings(model, walked_bodies))
    graph.findings.extend(external_findings(model, walked_bodies))
    graph.findings = list(file_fixes(model, graph.findings))
    inferred = function()
    graph.findings.extend(inferred.findings)
    graph.source = source = Source(model, settings, types=inferred.types or None)
    walker = _Walker(model, inferred.types, graph.findings, source, units=not settings.placing)
    walker.numbers = inferred.kinds
    walker.visit_model(model)
    graph.units = source.node_units
    return graph


def walk_again(
    source: Source,
    types: Mapping[int, Mapping[str, OnnxType]] | None,
    model: OnnxModel | None = None,
    findings: list[Finding] | None = None,
) -> Source:
    """Walk a model again with other types, which override stated types.

    `types` of None keeps its types, which are merged with stated ones. `model` is a model derived from it, or None for
    itself. Problems with nodes are appended to `findings`.
    """
    model = source.model if model is None else model
    new_source = Source(
        model, source.settings, types=source.types if types is None else types, constants=source.constants
    )
    message = [] if findings is None else findings
    _Walker(
        model, new_source.types or {}, message, new_source, repeats_nodes=True, final=types is not None
    ).visit_model(model)
    return new_source


@dataclass(slots=True)
class _Body:
    """Context of a list of nodes: path, imports, known values, unique names.

    `names` maps value names to names that are unique in the file; values of the main graph keep theirs. `stated` has
    the values whose types the file states. `numbers` has an optional kind number per node; equal numbers mean
    equivalent nodes.
    """

    place: str
    imports: Mapping[str, int]
    types: Types
    names: MutableMapping[str, str]
    stated: AbstractSet[str]
    numbers: Sequence[int] = ()


class _Walker:
    def __init__(
        self,
        model: OnnxModel,
        inferred: Mapping[int, Mapping[str, OnnxType]],
        findings: list[Finding],
        source: Source,
        *,
        repeats_nodes: bool = False,
        final: bool = False,
        units: bool = True,
    ) -> None:
        self.file = model.file
        self.functions = {function_key(function) for function in model.functions}
        self.calls = Calls({function_key(function): function for function in model.functions})
        self.inferred = inferred
        self.findings = findings
        self.source = source
        self.again = repeats_nodes  # type errors have been reported
        self.final = final  # inferred types override stated ones
        self.units = units  # if False, only graphs are visited
        self.numbers: Mapping[int, Sequence[int]] = {}  # kind numbers of the nodes by graph id
        self.reasons: dict[str, str] = {}
        self.constants = source.constants
        self.overridable = (model.ir_version or 4) >= 4  # then an initializer that is also an input is only a default

    def visit_model(self, model: OnnxModel) -> None:
        self.graph(model.graph, _Body("graph", model.opset_imports, {}, {}, frozenset()))
        for function in model.functions:
            self.function(function)

    def graph(self, graph: OnnxGraph, outer: _Body) -> None:
        """Visit the nodes of a graph; `outer` is the context that contains it."""
        place = outer.place
        types: Types = ChainMap({}, outer.types) if outer.types else {}
        stated = {info.name: info.type for info in chain(graph.inputs, graph.value_infos, graph.outputs)}
        types_by_name = self.inferred.get(id(graph), {})
        makers: dict[str, tuple[str, str | None]] | None = None
        overruled: dict[str, TensorDesc] = {}
        for name in stated if types_by_name.keys() <= stated.keys() else dict.fromkeys(chain(stated, types_by_name)):
            declared_type, inferred = stated.get(name), types_by_name.get(name)
            if self.final and inferred is not None and (inferred.kind != "tensor" or inferred.elem_type is not None):
                declared_type = None
            elif self.again and declared_type is not None:
                declared_type = without_invented_names(declared_type)
            tensor_desc, contradictory, _ = self.constants.settle_type(declared_type, inferred)
            if contradictory and declared_type is not None and inferred is not None:
                if not self.again:
                    makers = makers or makers_of(graph.nodes, place)
                    node, operator = makers.get(name, (place, None))
                    differences = contradictions(name, declared_type, inferred, (self.file, node, operator))
                    self.findings.extend(wrong_type_findings(self.source.model, graph, name, differences))
                overruled[name] = known_type(inferred)
            if tensor_desc is not None:
                types[name] = tensor_desc
        inputs = {info.name for info in graph.inputs} if self.overridable else set()
        for tensor in graph.initializers:
            types[tensor.name] = self.constants.constant(tensor, with_elements=tensor.name not in inputs)
        types.update((tensor.name, self.constants.constant(tensor)) for tensor in graph.sparse_initializers)
        names = ChainMap(category_mapper(graph, place), outer.names) if place != "graph" else outer.names
        self.source.scopes[id(graph)] = ChainMap(overruled, types) if overruled else types
        stated_names = stated.keys() - {name for name, kind in stated.items() if not kind}
        numbers = self.numbers.get(id(graph), ())
        self.nodes(graph.nodes, _Body(place, outer.imports, types, names, stated_names, numbers))

    def function(self, function: OnnxFunction) -> None:
        stated_types_by_name = {info.name: info.type for info in function.value_infos if info.type is not None}
        types = {name: known_type(kind) for name, kind in stated_types_by_name.items() if kind.kind != "unknown"}
        place = function_place(function)
        used_names = {name for node in function.nodes for name in (*node.inputs, *node.outputs) if name}
        names = {name: f"{place}:{name}" for name in used_names}
        self.nodes(function.nodes, _Body(place, function.opset_imports, types, names, set(types)))

    def nodes(self, nodes: Sequence[OnnxNode], body: _Body) -> None:
        for node in nodes:
            if node.op_type == "Constant" and (tensor := self.constants.constant_of(node)) is not None:
                body.types[node.outputs[0]] = tensor
        if not self.units:
            for index, node in enumerate(nodes):
                if not node.plain:
                    self.visit_subgraphs(node, index, body)
            return
        # An output's type is checked only if the file states it. Inferred types are for the consumers.
        type_of_input, writes = body.types.get, self.stated_types(nodes, body).get
        units_by_content = equivalent_units(body.imports, self.functions)
        kinds = self.row(body, nodes, 0)
        numbers, numbered = body.numbers, dict[int, Unit]()
        for index, node in enumerate(nodes):
            if numbers and (first := numbered.get(numbers[index])) is not None:
                kinds.append(first)
                continue
            # Identity is safe as a key: descriptors keep their tensors and models their attributes during the walk.
            left = _named_arguments(node) if "" in node.inputs or "" in node.outputs else None
            ends = *map(id, map(type_of_input, node.inputs)), left, *map(id, map(writes, node.outputs))
            key = node.op_type, node.domain, node.overload, id(node.attributes), ends
            equal_unit = units_by_content.get(key)
            if equal_unit is not None:  # not a function call, and has all its outputs
                kinds.append(equal_unit[0])
                if numbers:
                    numbered[numbers[index]] = equal_unit[0]
                continue
            inputs = [type_of_input(name, _UNKNOWN_TENSOR) if name else None for name in node.inputs]
            outputs = [writes(name, UNSTATED) if name else None for name in node.outputs]
            locate_node = partial(location, self.file, body.place, node, index)
            if function_key(node) not in self.functions:
                unit = self.unit(node, locate_node, body.imports.get(node.domain), (inputs, outputs))
                kinds.append(unit)
                if self.complete(node, unit) and "" not in node.outputs and not any(True for _ in subgraphs(node)):
                    units_by_content[key] = unit, (node.attributes, inputs, outputs)
            else:
                kinds.append(None)
                self.findings.extend(self.calls.findings(node, inputs, _finding_place(locate_node())))
            if not node.plain and any(True for _ in subgraphs(node)):
                self.visit_subgraphs(node, index, body)
                kinds = self.row(body, nodes, index + 1)

    def row(self, body: _Body, nodes: Sequence[OnnxNode], first: int) -> list[Unit | None]:
        """Start a row of nodes; return its list of kinds, which the caller fills."""
        row = Row(self.file, body.place, nodes, first, [], body.names)
        self.source.node_units.rows.append(row)
        return row.kinds

    def stated_types(self, nodes: Sequence[OnnxNode], body: _Body) -> Mapping[str, TensorDesc]:
        """Return the types that the file states for the outputs of nodes."""
        types = body.types
        if isinstance(types, dict):
            other_names = types.keys() - body.stated
            if other_names.isdisjoint(chain.from_iterable(node.outputs for node in nodes)):
                return types
        return {name: types[name] for name in body.stated if name in types}

    def visit_subgraphs(self, node: OnnxNode, index: int, body: _Body) -> None:
        """Visit the nodes in the subgraphs of a node."""
        for subpath, graph in subgraphs(node):
            self.graph(graph, replace(body, place=f"{body.place}/{label(node, index)}/{subpath}"))

    def unit(self, node: OnnxNode, locate_node: Callable[[], Location], opset: int | None, tensors: _Tensors) -> Unit:
        """Return the unit of a node.

        `tensors` has the known types of its inputs and the stated types of its outputs.
        """
        operator = operator_name(node.op_type, node.domain)
        table = dialect("onnx")
        if operator not in table.tables.operators:
            if node.domain in STANDARD_DOMAINS and table.tables.about.get("complete"):
                message = f"ONNX does not have an operator {operator!r:.60}"
                self.findings.append(finding("operator-unknown", "error", message, _finding_place(locate_node())))
            if operator not in self.reasons:  # search for similar names once per operator
                try:
                    table.operator(operator)
                except NoTable as error:
                    self.reasons[operator] = str(error)
            return Unit(locate_node, operator, reason=self.reasons[operator])
        if operator in table.stands_for:
            return self.misplaced_unit(node, locate_node, operator)
        spec = table.operator(operator)
        if opset is None:
            return Unit(
                locate_node, operator, reason=f"no opset of the domain {domain_name(node.domain)!r:.60} is imported"
            )
        if str(opset) not in spec.dialect.position:
            newest, label = spec.dialect.levels[-1], spec.dialect.label(str(opset))
            return Unit(locate_node, operator, reason=f"{label} is newer than the tables, which end at {newest}")
        attributes = node.attributes
        descriptor = build(
            spec,
            *tensors,
            {name: attribute_of(attribute) for name, attribute in attributes.items()},
            version=str(opset),
            convert=attribute_value,
            kinds={name: ATTRIBUTE_TYPES[a.kind] for name, a in attributes.items() if a.kind in ATTRIBUTE_TYPES},
        )
        return Unit(locate_node, operator, descriptor)

    def misplaced_unit(self, node: OnnxNode, locate_node: Callable[[], Location], operator: str) -> Unit:
        """Report a foreign-domain node whose operator belongs to ai.onnx.

        Returns its unit.
        """
        owner, real = dialect("onnx").tables.foreign[node.domain], dialect("onnx").stands_for[operator]
        reason = f"{owner} defines {real} in the domain {domain_name('')}, not in {node.domain}"
        place, fix = _finding_place(locate_node()), f"remove the domain {node.domain} from the node"
        self.findings.append(finding("operator-unknown", "error", reason, place, fix=fix))
        return Unit(locate_node, operator, reason=reason)

    def complete(self, node: OnnxNode, unit: Unit) -> bool:
        """Return True if a node with a table names all its required outputs.

        The descriptor does not show this. A missing name is reported here, except for an empty node, which another rule
        reports.
        """
        if unit.descriptor is None or not (node.inputs or node.outputs):
            return False
        infos = dialect("onnx").operator(unit.operator).layout(unit.descriptor.version).outputs
        for index, info in enumerate(infos):
            texts = node.outputs[index : None if info.type == "tensor[]" else index + 1]
            if not info.optional and not any(texts):
                message = f"the output {info.name}, which {unit.operator} always has, needs a name"
                fix = f"give the output {info.name} a name"
                self.findings.append(
                    finding("output-required", "error", message, _finding_place(unit.location), fix=fix)
                )
                return False
        return True


def _finding_place(location: Location) -> Place:
    return location.file, location.node or "", location.operator


def _named_arguments(node: OnnxNode) -> tuple[bool, ...]:
    """Return which inputs and outputs of a node have a name, in order."""
    return *map(bool, node.inputs), *map(bool, node.outputs)
