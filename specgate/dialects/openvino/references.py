"""Rules about whole IRs (``openvino/model/…``) and their references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.verdict import Finding

if TYPE_CHECKING:
    from specgate.verdict import Location, Severity

PREFIX: Final = "openvino/model/"

_NO_SOURCE: Final[dict[str, str]] = {}
_OPENVINO: Final = {"package": "openvino", "version": "2026.4.1"}
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
    "back-edge": ("error", "a back edge starts at a Result of the body", _OPENVINO),
    "back-edge-shape": ("warning", "the shape of a back edge matches its Parameter", _LOOPS),
    "back-edge-target": ("error", "a back edge ends at a Parameter of the body", _LOOPS),
    "back-edge-type": ("warning", "the type of a back edge matches its Parameter", _LOOPS),
    "constant": (
        "error",
        "a Const has a known element type, static sizes, and the location of its bytes",
        _OPENVINO,
    ),
    "cycle": ("error", "layers do not form a cycle", _OPENVINO),
    "input-unconnected": ("error", "every input port is connected", _OPENVINO),
    "declared": ("warning", "the type and shape of a Parameter or Const match its output port", _OPENVINO),
    "ir-version": (
        "error",
        "an IR has a version that OpenVINO defines and the target's release reads",
        _OPENVINO,
    ),
    "port-map": ("error", "the port, layer and slicing attributes of a port map are integers", _OPENVINO),
    "port-map-axis": ("error", "the slicing axis of a port map is a dimension of the tensor", _OPENVINO),
    "port-map-layer": (
        "error",
        "a port map references Parameters of the body for inputs and Results for outputs",
        _OPENVINO,
    ),
    "port-map-missing": (
        "error",
        "a port map covers all inputs and outputs of a loop, and a Loop's condition",
        _OPENVINO,
    ),
    "port-map-port": ("error", "a port map counts the layer's inputs from 0", _OPENVINO),
    "port-map-shape": (
        "warning",
        "the shapes in a body match those of the layer's inputs and outputs",
        _OPENVINO,
    ),
    "port-map-twice": ("warning", "a port map connects one input to each Parameter", _OPENVINO),
    "port-map-type": ("warning", "the types in a body match those of the layer's inputs and outputs", _OPENVINO),
    "port-map-unfed": (
        "warning",
        "every Parameter of a body is connected by a port map or a back edge",
        _OPENVINO,
    ),
    "port-type": ("error", "an output port has an element type that OpenVINO defines", _OPENVINO),
    "unknown-type": ("error", "the operation of each layer exists in the layer's opset", _OPENVINO),
    "variable": ("error", "the variable of an Assign has a ReadValue in the same net", _OPENVINO),
    "weights-missing": ("error", "the .bin file with the constants exists and is a regular file", _OPENVINO),
    "weights-range": ("error", "the bytes of a Const are within the .bin file", _OPENVINO),
    "weights-size": ("error", "a Const has enough bytes for its element type and sizes", _OPENVINO),
    "weights-unused": ("warning", "a Const has no more bytes than its element type and sizes require", _NO_SOURCE),
}


def rule_finding(
    rule: str, message: str, place: Location, *, rule_place: str = "", values: dict[str, Any] | None = None
) -> Finding:
    """Return a finding for a rule."""
    severity: Severity = "warning" if RULES[rule][0] == "warning" else "error"
    return Finding(PREFIX + rule, severity, message, where=rule_place, values=values or {}, location=place)
