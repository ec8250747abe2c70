"""Checks of model-local functions and of the types in their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.descriptors.core import TensorDesc, format_value
from specgate.descriptors.positional import build
from specgate.dialects.onnx.lint.types import attribute_of, constant_of_node, known_type
from specgate.dialects.onnx.lint.units import domain_name, finding, function_key, function_place, label
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, operator_name
from specgate.errors import NoTable
from specgate.spec.tables import dialect
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Body, Key, Place
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Finding

    Types = tuple[str | None, ...]

#: Maximum number of nodes checked in calls; a function is checked once per combination of input types.
MAX_NODES: Final = 100_000
MAX_DEPTH: Final = 50
_UNKNOWN_TENSOR: Final = TensorDesc(None, None)


class _FunctionInstance(NamedTuple):
    """A function with one combination of input types: problems, output types."""

    problems: tuple[str, ...] = ()
    outputs: tuple[str | None, ...] = ()


class Calls:
    """Checker of the function calls of one model, with a cache of equal calls."""

    def __init__(self, functions: Mapping[Key, OnnxFunction]) -> None:
        self._functions = functions
        self._inferred: dict[tuple[Key, Types], _FunctionInstance] = {}
        self._left = MAX_NODES

    def findings(self, node: OnnxNode, tensors: Sequence[TensorDesc | None], place: Place) -> Iterator[Finding]:
        """Yield problems in the function that `node` calls with `tensors`."""
        types = tuple(None if tensor is None else tensor.type for tensor in tensors)
        if any(types):
            for message in self._infer_function(function_key(node), types, 0).problems:
                yield finding("function-types", "error", message, place)

    def _infer_function(self, key: Key, types: Types, depth: int) -> _FunctionInstance:
        function = self._functions[key]
        cached_types = self._inferred.get((key, types))
        if cached_types is None:
            self._inferred[key, types] = _FunctionInstance()  # ends a recursive call, which another finding reports
            cached_types = self._inferred[key, types] = self._infer_body(function, types, depth)
        return cached_types

    def _infer_body(self, function: OnnxFunction, stated_texts: Types, depth: int) -> _FunctionInstance:
        self._left -= len(function.nodes)
        if self._left < 0 or depth > MAX_DEPTH:
            return _FunctionInstance()
        stated_infos = ((info.name, info.type) for info in function.value_infos if info.type is not None)
        types = {name: known_type(kind).type for name, kind in stated_infos if kind.kind != "unknown"}
        types |= dict(zip(function.inputs, stated_texts, strict=False))
        problems: list[str] = []
        texts: Sequence[str]
        for index, node in enumerate(function.nodes):
            used_texts = tuple(types.get(name) for name in node.inputs)
            if function_key(node) in self._functions:
                inner = (
                    self._infer_function(function_key(node), used_texts, depth + 1)
                    if any(used_texts)
                    else _FunctionInstance()
                )
                texts, outputs = inner.problems[:1], inner.outputs
            else:
                texts, outputs = _check_node(node, used_texts, function.opset_imports.get(node.domain))
            problems += [f"{function_place(function)}/{label(node, index)}: {text}" for text in texts]
            types.update((name, kind) for name, kind in zip(node.outputs, outputs, strict=False) if kind is not None)
        return _FunctionInstance(tuple(problems[:3]), tuple(types.get(name) for name in function.outputs))


def _check_node(node: OnnxNode, types: Types, opset: int | None) -> tuple[list[str], Types]:
    """Return problems with a node's input types, and its output types."""
    tensor = constant_of_node(node) if node.op_type == "Constant" and not node.domain else None
    if tensor is not None:
        return [], (tensor.type,)
    try:
        spec = dialect("onnx").operator(operator_name(node.op_type, node.domain))
    except NoTable:
        return [], ()
    level = str(opset)
    if not any(types) or level not in spec.levels:
        return [], ()
    typed_descriptor = _descriptor(node, spec, level, types)
    resolved = spec.resolve(level, "documented")
    if resolved is None:
        return [], ()
    untyped_keys = {
        f.key for f in explain_at(_descriptor(node, spec, level, (None,) * len(types)), resolved) if not f.unknown
    }
    failures = [f for f in explain_at(typed_descriptor, resolved) if not f.unknown and f.key not in untyped_keys]
    return [failure.message for failure in failures[:1]], _outputs(typed_descriptor, spec, level)


def _descriptor(node: OnnxNode, spec: OperatorSpec, level: str, types: Types) -> Descriptor:
    attributes = node.attributes
    pairs = zip(node.inputs, types, strict=True)
    return build(
        spec,
        [TensorDesc(kind, None) if name else None for name, kind in pairs],
        [_UNKNOWN_TENSOR if name else None for name in node.outputs],
        {name: attribute_of(attribute) for name, attribute in attributes.items()},
        version=level,
        convert=attribute_value,
        kinds={name: ATTRIBUTE_TYPES[a.kind] for name, a in attributes.items() if a.kind in ATTRIBUTE_TYPES},
    )


def _outputs(descriptor: Descriptor, spec: OperatorSpec, level: str) -> Types:
    """Return the output types that type variables or a single type decide."""
    row = spec.table.only_rows[str(spec.row_at(level))]
    layout = spec.layout(level)
    bound: dict[str, str] = {}
    for info in layout.inputs:
        variable, value = row.get(info.name, {}).get("variable"), descriptor.fields.get(info.name)
        tensors = value if isinstance(value, list) and not info.heterogeneous else [value]
        kind = next((item.type for item in tensors if isinstance(item, TensorDesc) and item.type is not None), None)
        if variable is not None and kind is not None:
            bound.setdefault(variable, kind)
    texts: list[str | None] = []
    for info in layout.outputs:
        cell = row.get(info.name, {})
        only_type = cell["types"][0] if len(cell.get("types", ())) == 1 else None
        value = descriptor.fields.get(info.name)
        decided = None if info.heterogeneous else bound.get(cell.get("variable", ""), only_type)
        texts += [decided] * (len(value) if isinstance(value, list) else 1)
    return tuple(texts)


def function_findings(model: OnnxModel, walked_bodies: Sequence[Body]) -> Iterator[Finding]:
    """Yield problems with the functions of `model` and with their calls.

    `walked_bodies` are the bodies of `model`.
    """
    functions: dict[Key, OnnxFunction] = {}
    for function in model.functions:
        place = (model.file, function_place(function), None)
        if function_key(function) in functions:
            message = "the model has two functions with this domain, name and overload"
            yield finding("function-duplicate", "error", message, place, fix="rename one of them")
        functions.setdefault(function_key(function), function)
        yield from _import_findings(function, model.opset_imports, place)
    calls_by_key: dict[Key | None, set[Key]] = {}
    for body in walked_bodies:
        owner = None if body.function is None else function_key(body.function)
        for index, node in enumerate(body.nodes) if functions else ():
            key = function_key(node)
            if key in functions:
                calls_by_key.setdefault(owner, set()).add(key)
                yield from _call(node, functions[key], (model.file, f"{body.place}/{label(node, index)}", node.op_type))
        for index, node in body.holders:
            yield from _references(node, index, body, model.file)
    yield from _graph_of_calls(functions, calls_by_key, model.file)


def _call(node: OnnxNode, function: OnnxFunction, place: Place) -> Iterator[Finding]:
    for kind, texts, formal in (
        ("inputs", node.inputs, function.inputs),
        ("outputs", node.outputs, function.outputs),
    ):
        if len(texts) > len(formal):
            message = f"the call has {len(texts)} {kind}, but the function has {len(formal)}"
            yield finding("function-call", "error", message, place, graph_place=kind)
    declared_names = {*function.attributes, *(attribute.name for attribute in function.attribute_protos)}
    for name in node.attributes:
        if name not in declared_names:
            message = f"the function does not have an attribute {format_value(name)}"
            yield finding("function-call", "warning", message, place, graph_place=name[:60], fix="remove it")


def _references(node: OnnxNode, index: int, body: Body, file: str | None) -> Iterator[Finding]:
    """Yield attribute references to attributes that the function lacks."""
    function = body.function
    declared_names = (
        {*function.attributes, *(attribute.name for attribute in function.attribute_protos)} if function else set()
    )
    for name, attribute in node.attributes.items():
        if attribute.ref_attr_name is not None and attribute.ref_attr_name not in declared_names:
            message = f"the attribute {format_value(name)} references {format_value(attribute.ref_attr_name)}, " + (
                "which the function does not have" if function else "which is allowed only inside a function"
            )
            place = (file, f"{body.place}/{label(node, index)}", node.op_type)
            yield finding("attribute-reference", "warning", message, place, graph_place=name[:60])


def _import_findings(function: OnnxFunction, imports: Mapping[str, int], place: Place) -> Iterator[Finding]:
    """Yield functions whose opset import changes the meaning of an operator.

    Another version than the model's is fine if the function's operators are the same in both.
    """
    table = dialect("onnx")
    for domain, version in function.opset_imports.items():
        if imports.get(domain, version) == version:
            continue
        own_version, outer = str(version), str(imports[domain])
        changed_ops = []
        for op_type in dict.fromkeys(node.op_type for node in function.nodes if node.domain == domain):
            try:
                spec = table.operator(operator_name(op_type, domain))
            except NoTable:
                continue
            if {own_version, outer} <= spec.dialect.position.keys() and spec.row_at(own_version) != spec.row_at(outer):
                changed_ops.append(spec.name)
        if changed_ops:
            yield finding(
                "function-opset",
                "error",
                f"imports version {version} of {domain_name(domain)} and the model {imports[domain]}, between which "
                f"{', '.join(changed_ops[:5])}{' …' if len(changed_ops) > 5 else ''} changed; functions are inlined at "
                "their calls",
                place,
                graph_place="opset_import",
                fix=f"rewrite the function for version {imports[domain]}",
            )


def _graph_of_calls(
    functions: Mapping[Key, OnnxFunction], calls_by_key: Mapping[Key | None, set[Key]], file: str | None
) -> Iterator[Finding]:
    """Yield recursive functions, direct or indirect, and unused functions."""
    done: set[Key] = set()
    for start in functions:
        path: dict[Key, Iterator[Key]] = {start: iter(sorted(calls_by_key.get(start, ())))} if start not in done else {}
        while path:
            key = next(reversed(path))
            callee = next(path[key], None)
            if callee is None:
                done.add(key)
                del path[key]
            elif callee in path:
                circle = [*list(path)[list(path).index(callee) :], callee]
                names = " → ".join(format_value(name) for _, name, _ in circle)
                place = (file, function_place(functions[callee]), None)
                yield finding("function-recursion", "error", f"the function calls itself: {names}", place)
            elif callee not in done:
                path[callee] = iter(sorted(calls_by_key.get(callee, ())))
    reached_keys: set[Key] = set()
    pending = list(calls_by_key.get(None, ()))
    while pending:
        key = pending.pop()
        if key not in reached_keys:
            reached_keys.add(key)
            pending.extend(calls_by_key.get(key, ()))
    for key, function in functions.items():
        if key not in reached_keys:
            place = (file, function_place(function), None)
            yield finding("function-unused", "note", "the function is never called", place, fix="remove it")
