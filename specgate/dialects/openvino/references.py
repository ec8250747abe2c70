"""Rules about whole IRs (``openvino/model/…``) and their references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.verdict import Finding

if TYPE_CHECKING:
    from specgate.verdict import Location, Severity

__all__ = ["PREFIX", "RULES", "wrong"]

PREFIX: Final = "openvino/model/"

_OURS: Final[dict[str, str]] = {}
_READ: Final = {"package": "openvino", "version": "2026.4.1"}
_LOOPS: Final = {
    "page": "TensorIterator-1",
    "repository": "openvinotoolkit/openvino",
    "path": "docs/articles_en/documentation/openvino-ir-format/operation-sets/operation-specs/infrastructure/"
    "tensor-iterator-1.rst",
    "commit": "aaeda4c0c52d8cf88661d37230739a3b8a4c57cc",
}

#: Severity, requirement and source by rule; _READ means that `read_model` rejects violations. Rules without a source
#: are conventions of lint.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "back-edge": ("error", "a back edge starts at a Result of the body", _READ),
    "back-edge-shape": ("warning", "a back edge gives a Parameter the shape that it states", _LOOPS),
    "back-edge-target": ("error", "a back edge ends at a Parameter of the body", _LOOPS),
    "back-edge-type": ("warning", "a back edge gives a Parameter the type that it states", _LOOPS),
    "constant": ("error", "a Const states a known element type, static sizes, and where its bytes are", _READ),
    "cycle": ("error", "no layer is computed from itself", _READ),
    "input-unconnected": ("error", "an edge leads to every input port", _READ),
    "declared": ("warning", "a Parameter or Const states the same type and shape as its output port", _READ),
    "ir-version": ("error", "an IR states its version, which OpenVINO has and the target's release reads", _READ),
    "port-map": ("error", "a port map has a port, a layer and where it slices as whole numbers", _READ),
    "port-map-axis": ("error", "a port map slices along an axis that the tensor has", _READ),
    "port-map-layer": ("error", "a port map names Parameters of the body for inputs, and Results for outputs", _READ),
    "port-map-missing": ("error", "a port map has all that a loop takes and gives, and a Loop's condition", _READ),
    "port-map-port": ("error", "a port map counts the layer's inputs from 0", _READ),
    "port-map-shape": ("warning", "a body states the shapes of what it is given, and of what the layer gives", _READ),
    "port-map-twice": ("warning", "a port map gives a Parameter one input", _READ),
    "port-map-type": ("warning", "a body states the types of what it is given, and of what the layer gives", _READ),
    "port-map-unfed": ("warning", "a port map or a back edge leads to every Parameter of a body", _READ),
    "port-type": ("error", "an output port states an element type that OpenVINO has", _READ),
    "unknown-type": ("error", "an opset has the type of each layer that is written for it", _READ),
    "variable": ("error", "an Assign writes a variable that a ReadValue of the same net has", _READ),
    "weights-missing": ("error", "the .bin file with the constants is there, and is a regular one", _READ),
    "weights-range": ("error", "the bytes of a Const lie within the .bin file", _READ),
    "weights-size": ("error", "a Const has as many bytes as its element type and sizes take", _READ),
    "weights-unused": ("warning", "a Const has no more bytes than its element type and sizes take", _OURS),
}


def wrong(
    rule: str, message: str, place: Location, *, where: str = "", values: dict[str, Any] | None = None
) -> Finding:
    """Return a finding for a rule."""
    severity: Severity = "warning" if RULES[rule][0] == "warning" else "error"
    return Finding(PREFIX + rule, severity, message, where=where, values=values or {}, location=place)
