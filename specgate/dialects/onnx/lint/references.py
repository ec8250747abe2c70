"""Rules about whole ONNX models (``onnx/model/…``) and their references."""

from __future__ import annotations

from typing import Final

__all__ = ["PREFIX", "RULES"]

PREFIX: Final = "onnx/model/"

_IR: Final = {"repository": "onnx/onnx", "path": "docs/IR.md", "commit": "f75469120"}
_CHECKER: Final = {"repository": "onnx/onnx", "path": "onnx/checker.cc", "commit": "f75469120"}
_PROTO: Final = {"repository": "onnx/onnx", "path": "onnx/onnx.proto", "commit": "f75469120"}
_DATA: Final = {"repository": "onnx/onnx", "path": "docs/ExternalData.md", "commit": "f75469120"}
_OURS: Final[dict[str, str]] = {}

#: Severity, requirement and source by rule; rules without a source are conventions of lint.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "attribute-duplicate": ("error", "a node gives each of its attributes once", _IR),
    "attribute-reference": ("warning", "an attribute stands only for one that its function has", _PROTO),
    "custom-domain": ("warning", "operators of other domains than ONNX's are known to the target", _OURS),
    "cycle": ("error", "no value is computed from itself", _IR),
    "external-length": ("error", "external data is as long as its tensor's type and sizes say", _DATA),
    "external-location": ("error", "external data lies inside the model's folder, by a relative path", _DATA),
    "external-missing": ("error", "the file with external data is there, and is a regular one", _DATA),
    "external-range": ("error", "external data lies within its file", _DATA),
    "function-call": ("error", "a call gives a function no more than it takes (attributes: a warning)", _PROTO),
    "function-duplicate": ("error", "a function's domain, name and overload are its own", _IR),
    "function-opset": ("error", "a function's imports mean the same operators as its model's", _PROTO),
    "function-recursion": ("error", "no function calls itself, directly or through others", _CHECKER),
    "function-types": ("error", "the types that a call hands over fit the nodes inside of the function", _PROTO),
    "function-unused": ("note", "every function is called", _OURS),
    "graph-name": ("note", "a graph has a name", _CHECKER),
    "graph-types": ("note", "inputs and outputs of the main graph have types, and tensors shapes", _CHECKER),
    "initializer-input": ("error", "up to IR version 3 every initializer is an input as well", _CHECKER),
    "initializer-unused": ("note", "every initializer is read", _OURS),
    "input-unused": ("note", "every input is read", _OURS),
    "ir-version": ("error", "a model states its IR version, which ONNX has and the target's release reads", _IR),
    "name-duplicate": ("error", "a name stands for one value; an initializer may be the default of an input", _IR),
    "name-empty": ("error", "inputs, initializers and outputs of a graph have names", _CHECKER),
    "name-shadowed": ("error", "a subgraph gives no name anew (inputs and initializers: a warning)", _IR),
    "name-undefined": ("error", "what a node reads is an input, an initializer or computed by another node", _IR),
    "node-empty": ("error", "a node has inputs or outputs", _CHECKER),
    "node-name-duplicate": ("warning", "a graph's nodes have different names, if any", _IR),
    "node-order": ("error", "nodes are in topological order", _IR),
    "node-unused": ("note", "some output of the graph is computed from what a node computes", _OURS),
    "not-inferred": ("note", "types and shapes that the file leaves out could be found", _OURS),
    "operator-unknown": (
        "error",
        "an operator of ONNX's domains exists in some version of them, one of ONNX Runtime's not in another domain",
        _IR,
    ),
    "opset-duplicate": ("error", "each domain is imported once (twice in the same version: a note)", _IR),
    "opset-import": ("error", "no imported opset is newer than the target's", _IR),
    "opset-missing": ("error", "every domain that has operators in a graph or function is imported there", _IR),
    "opset-unused": ("note", "every imported domain has operators in the model", _OURS),
    "opset-version": ("error", "an opset's version is 1 or more", _IR),
    "output-missing": ("note", "a graph has outputs", _OURS),
    "output-required": ("error", "a node names every output that its operator always has", _CHECKER),
    "output-undefined": ("error", "a graph's output is a value of that very graph", _IR),
    "size-negative": ("note", "a stated size is 0 or more; runtimes read others as unknown", _OURS),
    "pin-unknown": ("note", "a dimension that is given a size has that name in the model", _OURS),
    "stated-shape": ("warning", "sizes that the file states agree with those that its operators give", _OURS),
    "stated-type": ("warning", "types that the file states agree with those that its operators give", _OURS),
    "tensor-data": ("error", "a tensor holds as much data as its type and sizes ask for, in one field", _CHECKER),
    "tensor-size": ("error", "no size of a tensor is below 0", _CHECKER),
    "tensor-type": ("error", "a tensor has an element type, one that ONNX has", _CHECKER),
    "type-element": ("error", "the element types that a model states are ones that ONNX has", _CHECKER),
    "value-info-unknown": ("note", "value_info describes values that the graph has", _OURS),
}
