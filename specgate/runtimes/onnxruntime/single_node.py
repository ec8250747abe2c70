"""Verdicts on one node for a release, from a model of this node alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.positional import positional
from specgate.dialects.onnx.file.structure import (
    OnnxAttribute,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxValueInfo,
)
from specgate.dialects.onnx.lint.graph import Source
from specgate.linting.nodes import Graph, Unit
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.finding_rules import GROUP
from specgate.runtimes.onnxruntime.findings import RuntimeFindings
from specgate.runtimes.onnxruntime.functions import stated_type
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.verdict import Location, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.targets import Target

_NODE: Final = "node"
_UNDECIDED: Final = f"{GROUP}/undecided"
#: The location of findings on the file, which a single node lacks.
_FILE: Final = "model"
#: Attribute types whose values the node itself contains.
_KINDS: Final = {
    "int": "INT", "float": "FLOAT", "string": "STRING", "int[]": "INTS", "float[]": "FLOATS", "string[]": "STRINGS",
}  # fmt: skip


def runtime_verdict(
    descriptor: Descriptor, version: str, page: Verdict, target: Target, device: frozenset[str] | None
) -> Verdict:
    """Return a release's verdict on a node.

    It is rejected if no session is created or no run succeeds. version: of the operator's domain. page: the verdict by
    ONNX's tables; a rejection that the release does not share is a warning.
    """
    graph = _graph_of(replace(descriptor, version=version), target)
    runtime = RuntimeFindings(graph, target, device, None)
    location = Location(None, None, f"graph/{_NODE}", descriptor.operator)
    settled_findings = runtime.settle([replace(finding, location=location) for finding in page.findings])
    # The verdict on a call excludes notes on nodes in its function, except those that leave it undecided.
    kept_findings = [
        finding
        for finding in settled_findings
        if finding.severity != "note" or finding.location == location or finding.id == _UNDECIDED
    ]
    if any(info.type is None for info in graph.source.model.graph.inputs):  # unknown here, but stated in every file
        kept_findings = [
            finding for finding in kept_findings if finding.location is None or finding.location.node != _FILE
        ]
    findings = tuple(replace(finding, location=None) for finding in kept_findings if finding.id != _UNDECIDED)
    undecided = (
        *page.undecided,
        *(replace(finding, location=None) for finding in kept_findings if finding.id == _UNDECIDED),
    )
    has_errors = any(finding.severity == "error" for finding in findings)
    is_accepted = False if has_errors else None if undecided else True
    return replace(page, accepted=is_accepted, findings=findings, undecided=undecided)


def _graph_of(descriptor: Descriptor, target: Target) -> Graph:
    """Return a single-node graph, as the linter reads it."""
    table = dialect(descriptor.dialect)
    spec = table.operator(descriptor.operator)
    domain, _, op_type = descriptor.operator.rpartition(".")
    layout = spec.layout(descriptor.version)
    tensors: dict[str, TensorDesc] = {}

    def names(kind: str, fields: Any) -> list[str]:
        texts = []
        for index, tensor in enumerate(positional(descriptor.fields, fields)):
            name = "" if tensor is None else f"{kind}{index}"
            if tensor is not None:
                tensors[name] = tensor
            texts.append(name)
        return texts

    inputs, outputs = names("input", layout.inputs), names("output", layout.outputs)
    node = OnnxNode(_NODE, op_type, domain, "", inputs, outputs, _attributes(descriptor))
    constants = [name for name in inputs if name and tensors[name].value is not None]
    initializers = [
        OnnxTensor(name, tensors[name].type or "UNDEFINED", tuple(map(_number, tensors[name].sizes or ())))
        for name in constants
    ]
    body = OnnxGraph(
        nodes=[node],
        inputs=[_info(name, tensors[name]) for name in inputs if name and name not in constants],
        outputs=[_info(name, tensors[name]) for name in outputs if name],
        initializers=initializers,
    )
    imports = {"": int(target.level), domain: int(descriptor.version or target.level)}
    model = OnnxModel(
        ir_version=target.ir_version, graph=body, opset_imports=imports, stated_imports=[*imports.items()]
    )
    unit = Unit(Location(None, None, f"graph/{_NODE}", descriptor.operator), descriptor.operator, descriptor)
    source = Source(model, LintSettings(), scopes={id(body): tensors}, more={id(node): unit})
    return Graph(table.name, [unit], imports, target.ir_version, source=source)


def _info(name: str, tensor: TensorDesc) -> OnnxValueInfo:
    return OnnxValueInfo(name, stated_type(tensor))


def _number(size: object) -> int:
    return size if isinstance(size, int) else -1


def _attributes(descriptor: Descriptor) -> Mapping[str, OnnxAttribute]:
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    fields = spec.fields_at(str(descriptor.version))
    return {
        info.vendor_name: OnnxAttribute(info.vendor_name, _KINDS[info.type], descriptor.fields[name])
        for name, info in fields.items()
        if info.kind == "attribute" and info.type in _KINDS and descriptor.fields.get(name) is not None
    }
