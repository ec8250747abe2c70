"""What the checks say that no table holds: of whole files, of the configuration, and of nodes beside their rules."""

from __future__ import annotations

from typing import Final

__all__ = ["file_rule"]

_OWN: Final = {
    "no-target": "a file is judged for at least one target of its dialect",
    "ignore-expired": "an ignore holds until its date; after that it silences nothing and is to be removed",
    "ignore-stale": "an ignore silences something; one that matches nothing is to be removed",
    "baseline-stale": "a baseline knows only findings that still occur; otherwise it is to be written again",
}
_MODEL: Final = {
    "attribute-duplicate": "a node has each attribute once",
    "attribute-reference": "a reference to an attribute of a function names one that the function has",
    "custom-domain": "operators are of the domains of ONNX, or of one that the configuration lists as custom",
    "cycle": "no value depends on itself",
    "external-length": "the length of external data is what type and sizes make of it",
    "external-location": "external data lies in a file of the model's own folder",
    "external-range": "offset and length of external data lie inside of its file",
    "function-call": "a call of a function gives what the function takes, and takes what it gives",
    "function-duplicate": "a function is defined once",
    "function-opset": "a function and the model import versions of a domain between which what it uses did not change",
    "function-recursion": "no function calls itself",
    "function-unused": "every function is called",
    "graph-name": "the graph has a name",
    "initializer-input": "up to IR version 3, every initializer is listed as an input",
    "ir-version": "the file states an IR version, and one that the target's release reads",
    "name-duplicate": "a value is written once",
    "name-empty": "inputs, initializers and outputs have names",
    "name-shadowed": "a value of a subgraph has a name of its own, not one of a graph around it",
    "name-undefined": "a value that is read is written, or is an input or an initializer",
    "node-empty": "a node has inputs or outputs",
    "node-name-duplicate": "nodes with names have different ones",
    "node-order": "a node comes after those whose values it reads",
    "node-unused": "somebody reads what a node writes",
    "not-inferred": "types and shapes that the file leaves out could be found",
    "operator-unknown": "an operator of a domain of ONNX is one that ONNX has",
    "opset-duplicate": "a domain is imported once",
    "opset-import": "the model imports no opset above the one that the target implements",
    "opset-missing": "an opset of every domain that is used is imported",
    "opset-unused": "operators of every imported domain are used",
    "opset-version": "the imported version of a domain is one that there is",
    "output-missing": "the graph has an output",
    "output-undefined": "an output of the graph is a value of it",
    "pin-unknown": "a size that is pinned occurs in the model",
    "stated-shape": "the sizes that the file states of a value are those that its node computes",
    "stated-type": "the type that the file states of a value is the one that its node computes",
    "value-info-unknown": "types are stated of values that there are",
}
_NODE: Final = {
    "changed": "the operator is the same version at the target as in the model; else its behaviour may differ",
    "device-capability": "the device reports the capability that a tensor's type needs",
}


def file_rule(rule: str) -> str | None:
    """Return what a check without a table says, by its id (``onnx/model/cycle``); None for any other id."""
    group, _, name = rule.rpartition("/")
    if group == "specgate":
        return _OWN.get(name)
    if group.endswith("/model"):
        return _MODEL.get(name)
    return _NODE.get(name) if "/" in group else None
