"""Checks of model-local functions: uniqueness, recursion and calls.

Sources: onnx/onnx.proto (FunctionProto) and onnx/checker.cc of onnx, commit f75469120. Each check was compared with
ONNX Runtime 1.31.1, which inlines functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.descriptors.core import shown
from specgate.dialects.onnx.lint.units import domain_name, finding, function_key, function_place, label
from specgate.dialects.onnx.reader import operator_name
from specgate.errors import NoTable
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Body, Key, Place
    from specgate.verdict import Finding

__all__ = ["function_findings"]


def function_findings(model: OnnxModel, walked: Sequence[Body]) -> Iterator[Finding]:
    """Yield problems with the functions of `model` and with their calls.

    `walked` are the bodies of `model`.
    """
    functions: dict[Key, OnnxFunction] = {}
    for function in model.functions:
        at = (model.file, function_place(function), None)
        if function_key(function) in functions:
            message = "the model has another function of this domain, name and overload"
            yield finding("function-duplicate", "error", message, at, fix="rename one of them")
        functions.setdefault(function_key(function), function)
        yield from _compatible(function, model.opset_imports, at)
    called: dict[Key | None, set[Key]] = {}
    for body in walked:
        owner = None if body.function is None else function_key(body.function)
        for index, node in enumerate(body.nodes) if functions else ():
            key = function_key(node)
            if key in functions:
                called.setdefault(owner, set()).add(key)
                yield from _call(node, functions[key], (model.file, f"{body.place}/{label(node, index)}", node.op_type))
        for index, node in body.holders:
            yield from _references(node, index, body, model.file)
    yield from _graph_of_calls(functions, called, model.file)


def _call(node: OnnxNode, function: OnnxFunction, at: Place) -> Iterator[Finding]:
    for kind, texts, formal in (
        ("inputs", node.inputs, function.inputs),
        ("outputs", node.outputs, function.outputs),
    ):
        if len(texts) > len(formal):
            message = f"the call has {len(texts)} {kind}, but the function has {len(formal)}"
            yield finding("function-call", "error", message, at, where=kind)
    declared = {*function.attributes, *(attribute.name for attribute in function.attribute_protos)}
    for name in node.attributes:
        if name not in declared:
            message = f"the function does not have an attribute {shown(name)}"
            yield finding("function-call", "warning", message, at, where=name[:60], fix="remove it")


def _references(node: OnnxNode, index: int, body: Body, file: str | None) -> Iterator[Finding]:
    """Yield attribute references to attributes that the function lacks."""
    function = body.function
    declared = (
        {*function.attributes, *(attribute.name for attribute in function.attribute_protos)} if function else set()
    )
    for name, attribute in node.attributes.items():
        if attribute.ref_attr_name is not None and attribute.ref_attr_name not in declared:
            message = f"the attribute {shown(name)} stands for {shown(attribute.ref_attr_name)}, " + (
                "which the function does not have" if function else "which is allowed only inside a function"
            )
            at = (file, f"{body.place}/{label(node, index)}", node.op_type)
            yield finding("attribute-reference", "warning", message, at, where=name[:60])


def _compatible(function: OnnxFunction, imports: Mapping[str, int], at: Place) -> Iterator[Finding]:
    """Yield functions whose opset import changes the meaning of an operator.

    Another version than the model's is fine if the function's operators are the same in both.
    """
    table = dialect("onnx")
    for domain, version in function.opset_imports.items():
        if imports.get(domain, version) == version:
            continue
        own, outer = str(version), str(imports[domain])
        changed = []
        for op_type in dict.fromkeys(node.op_type for node in function.nodes if node.domain == domain):
            try:
                spec = table.operator(operator_name(op_type, domain))
            except NoTable:
                continue
            if {own, outer} <= spec.dialect.position.keys() and spec.row_at(own) != spec.row_at(outer):
                changed.append(spec.name)
        if changed:
            yield finding(
                "function-opset",
                "error",
                f"imports version {version} of {domain_name(domain)} and the model {imports[domain]}, between which "
                f"{', '.join(changed[:5])}{' …' if len(changed) > 5 else ''} changed; functions are inlined at "
                "their calls",
                at,
                where="opset_import",
                fix=f"write the function for version {imports[domain]}",
            )


def _graph_of_calls(
    functions: Mapping[Key, OnnxFunction], called: Mapping[Key | None, set[Key]], file: str | None
) -> Iterator[Finding]:
    """Yield recursive functions, direct or indirect, and unused functions."""
    done: set[Key] = set()
    for start in functions:
        path: dict[Key, Iterator[Key]] = {start: iter(sorted(called.get(start, ())))} if start not in done else {}
        while path:
            key = next(reversed(path))
            callee = next(path[key], None)
            if callee is None:
                done.add(key)
                del path[key]
            elif callee in path:
                circle = [*list(path)[list(path).index(callee) :], callee]
                names = " → ".join(shown(name) for _, name, _ in circle)
                at = (file, function_place(functions[callee]), None)
                yield finding("function-recursion", "error", f"the function calls itself: {names}", at)
            elif callee not in done:
                path[callee] = iter(sorted(called.get(callee, ())))
    reached: set[Key] = set()
    pending = list(called.get(None, ()))
    while pending:
        key = pending.pop()
        if key not in reached:
            reached.add(key)
            pending.extend(called.get(key, ()))
    for key, function in functions.items():
        if key not in reached:
            at = (file, function_place(function), None)
            yield finding("function-unused", "note", "the function is never called", at, fix="remove it")
