"""Rules about whole ONNX models (``onnx/model/…``) and their references."""

from __future__ import annotations

from typing import Final

_IR: Final = {"repository": "onnx/onnx", "path": "docs/IR.md", "commit": "f75469120"}
_CHECKER: Final = {"repository": "onnx/onnx", "path": "onnx/checker.cc", "commit": "f75469120"}
_PROTO: Final = {"repository": "onnx/onnx", "path": "onnx/onnx.proto", "commit": "f75469120"}
_DATA: Final = {"repository": "onnx/onnx", "path": "docs/ExternalData.md", "commit": "f75469120"}
_NO_SOURCE: Final[dict[str, str]] = {}

#: Severity, requirement and source by rule; rules without a source are conventions of lint.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "attribute-duplicate": ("error", "each attribute of a node occurs once", _IR),
    "attribute-reference": ("warning", "an attribute references an existing attribute of its function", _PROTO),
    "custom-domain": ("warning", "the target supports the operators of custom domains", _NO_SOURCE),
    "cycle": ("error", "nodes do not form a cycle", _IR),
    "external-length": ("error", "the length of external data matches its tensor's type and sizes", _DATA),
    "external-location": ("error", "external data has a relative path inside the model's folder", _DATA),
    "external-missing": ("error", "the file with external data exists and is a regular file", _DATA),
    "external-range": ("error", "external data is within its file", _DATA),
    "function-call": (
        "error",
        "a call has at most the inputs, outputs and attributes of its function (attributes: a warning)",
        _PROTO,
    ),
    "function-duplicate": ("error", "each function has a unique domain, name and overload", _IR),
    "function-opset": ("error", "a function's imports define the same operators as its model's", _PROTO),
    "function-recursion": ("error", "functions do not call themselves, directly or indirectly", _CHECKER),
    "function-types": ("error", "the argument types of a call fit the nodes inside the function", _PROTO),
    "function-unused": ("note", "every function is called", _NO_SOURCE),
    "graph-name": ("note", "a graph has a name", _CHECKER),
    "graph-types": ("note", "inputs and outputs of the main graph have types, and their tensors have shapes", _CHECKER),
    "initializer-input": ("error", "up to IR version 3 every initializer is an input as well", _CHECKER),
    "initializer-unused": ("note", "every initializer is read", _NO_SOURCE),
    "input-unused": ("note", "every input is read", _NO_SOURCE),
    "ir-version": ("error", "a model has an IR version that ONNX defines and the target's release reads", _IR),
    "name-duplicate": ("error", "each name denotes one value; an initializer may be the default of an input", _IR),
    "name-empty": ("error", "inputs, initializers and outputs of a graph have names", _CHECKER),
    "name-shadowed": ("error", "a subgraph does not redefine outer names (inputs and initializers: a warning)", _IR),
    "name-undefined": ("error", "each node input is a graph input, an initializer or the output of another node", _IR),
    "node-empty": ("error", "a node has inputs or outputs", _CHECKER),
    "node-name-duplicate": ("warning", "node names are unique", _IR),
    "node-order": ("error", "nodes are in topological order", _IR),
    "node-unused": ("note", "some graph output depends on each node", _NO_SOURCE),
    "not-inferred": ("note", "missing types and shapes could be inferred", _NO_SOURCE),
    "operator-unknown": (
        "error",
        "operators exist in some version of their ONNX domain, and ONNX Runtime's operators use the right domain",
        _IR,
    ),
    "opset-duplicate": ("error", "each domain is imported once (twice in the same version: a note)", _IR),
    "opset-import": ("error", "no imported opset is newer than the target's", _IR),
    "opset-missing": ("error", "every domain that has operators in a graph or function is imported there", _IR),
    "opset-unused": ("note", "every imported domain has operators in the model", _NO_SOURCE),
    "opset-version": ("error", "an opset's version is 1 or more", _IR),
    "output-missing": ("note", "a graph has outputs", _NO_SOURCE),
    "output-required": ("error", "every required output of a node has a name", _CHECKER),
    "output-undefined": ("error", "a graph's output is a value of the same graph", _IR),
    "size-negative": ("note", "sizes are 0 or more; runtimes read others as unknown", _NO_SOURCE),
    "pin-unknown": ("note", "a pinned dimension exists in the model", _NO_SOURCE),
    "stated-shape": ("warning", "stated sizes match the sizes that the operators compute", _NO_SOURCE),
    "stated-type": ("warning", "stated types match the types that the operators compute", _NO_SOURCE),
    "tensor-data": ("error", "a tensor has the data that its type and sizes require, in one field", _CHECKER),
    "tensor-size": ("error", "tensor sizes are not negative", _CHECKER),
    "tensor-type": ("error", "a tensor has an element type that ONNX defines", _CHECKER),
    "type-element": ("error", "the element types of a model are defined by ONNX", _CHECKER),
    "value-info-unknown": ("note", "value_info describes values of the graph", _NO_SOURCE),
}
