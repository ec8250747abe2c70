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
    "back-edge-shape": ("warning", "the shape of a back edge matches its Parameter", _LOOPS),
    "back-edge-target": ("error", "a back edge ends at a Parameter of the body", _LOOPS),
    "back-edge-type": ("warning", "the type of a back edge matches its Parameter", _LOOPS),
    "constant": ("error", "a Const has a known element type, static sizes, and the location of its bytes", _READ),
    "cycle": ("error", "layers do not form a cycle", _READ),
    "input-unconnected": ("error", "every input port is connected", _READ),
    "declared": ("warning", "the type and shape of a Parameter or Const match its output port", _READ),
    "ir-version": ("error", "an IR has a version that OpenVINO defines and the target's release reads", _READ),
    "port-map": ("error", "the port, layer and slicing attributes of a port map are integers", _READ),
    "port-map-axis": ("error", "the slicing axis of a port map is a dimension of the tensor", _READ),
    "port-map-layer": (
        "error",
        "a port map references Parameters of the body for inputs and Results for outputs",
        _READ,
    ),
    "port-map-missing": ("error", "a port map covers all inputs and outputs of a loop, and a Loop's condition", _READ),
    "port-map-port": ("error", "a port map counts the layer's inputs from 0", _READ),
    "port-map-shape": ("warning", "the shapes in a body match those of the layer's inputs and outputs", _READ),
    "port-map-twice": ("warning", "a port map connects one input to each Parameter", _READ),
    "port-map-type": ("warning", "the types in a body match those of the layer's inputs and outputs", _READ),
    "port-map-unfed": ("warning", "every Parameter of a body is connected by a port map or a back edge", _READ),
    "port-type": ("error", "an output port has an element type that OpenVINO defines", _READ),
    "unknown-type": ("error", "the operation of each layer exists in the layer's opset", _READ),
    "variable": ("error", "the variable of an Assign has a ReadValue in the same net", _READ),
    "weights-missing": ("error", "the .bin file with the constants exists and is a regular file", _READ),
    "weights-range": ("error", "the bytes of a Const are within the .bin file", _READ),
    "weights-size": ("error", "a Const has enough bytes for its element type and sizes", _READ),
    "weights-unused": ("warning", "a Const has no more bytes than its element type and sizes require", _OURS),
}


def wrong(
    rule: str, message: str, place: Location, *, where: str = "", values: dict[str, Any] | None = None
) -> Finding:
    """Return a finding for a rule."""
    severity: Severity = "warning" if RULES[rule][0] == "warning" else "error"
    return Finding(PREFIX + rule, severity, message, where=where, values=values or {}, location=place)
