"""Bodies of ONNX's functions, from the onnx package in a subprocess."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Any

from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["BUILT", "NONE", "WRITTEN", "answering", "ask"]

#: Producer names in answers: a body built for the types of one call, or a body that the schema contains.
BUILT, WRITTEN = "built", "written"
#: The answer for an operator that is not a function.
NONE = "no function"


class _Shared:
    """The subprocess, shared by all threads and started on first use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child: Child | None = None

    def ask(self, question: tuple[bytes, int]) -> object:
        """Return the answer; a text says why it is missing."""
        with self.lock:
            if self.child is None:
                self.child = Child(__name__, "answering")
                atexit.register(self.child.close)
            return self.child.ask(question)

    def forked(self) -> None:
        """Reset the state after a fork.

        The thread that holds the lock does not exist in the forked process, and the child belongs to the parent.
        """
        self.lock = threading.Lock()
        child, self.child = self.child, None
        if child is not None:
            child.disown()


_shared = _Shared()


def ask(model: bytes, opset: int) -> object:
    """Return a serialized model with the function that one node calls.

    `model` has this node only. A text instead says why the answer is missing.
    """
    return _shared.ask((model, opset))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.forked)


def answering(_: object) -> Callable[[tuple[bytes, int]], bytes | str]:
    """Return the worker's function, which finds the body of a node's call.

    The answer is a serialized model whose only function is the one that the question's only node calls.
    """
    import onnx

    def function_of(model: Any, opset: int) -> tuple[str, Any]:
        node = model.graph.node[0]
        schema: Any = onnx.defs.get_schema(node.op_type, max_inclusive_version=opset, domain=node.domain)
        if schema.has_context_dependent_function:
            version = max(one for one in schema.context_dependent_function_opset_versions if one <= opset)
            types = {info.name: info.type for info in model.graph.input}
            known_items = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
            data = schema.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), known_items
            )
        elif schema.has_function:
            version = max(one for one in schema.function_opset_versions if one <= opset)
            data = schema.get_function_with_opset_version(version)
        else:
            return "", None
        function = onnx.FunctionProto.FromString(data)
        function.name, function.domain = node.op_type, node.domain
        items = [attribute.name for attribute in node.attribute]
        defaults = (info.default_value for info in schema.attributes.values() if info.name not in items)
        function.attribute_proto.extend(value for value in defaults if value.name)
        return BUILT if schema.has_context_dependent_function else WRITTEN, function

    def answer(pair: tuple[bytes, int]) -> bytes | str:
        model = onnx.ModelProto.FromString(pair[0])
        try:
            kind, function = function_of(model, pair[1])
        except Exception as error:  # noqa: BLE001  # the onnx package may raise anything for an unusual model
            return f"{type(error).__name__}: {error}"
        if function is None:
            return NONE
        proto = onnx.ModelProto(ir_version=10, opset_import=function.opset_import, functions=[function])
        proto.producer_name = kind
        proto.graph.SetInParent()
        return bytes(proto.SerializeToString())

    return answer
