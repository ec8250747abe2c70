"""Type checks of model-local functions per call.

A function's nodes are in the file once, without types, and each call determines their types. A node may therefore be
valid by itself and invalid in a call. Implementations reject such a call when they inline the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.positional import build
from specgate.dialects.onnx.lint.types import attribute_of, held_constant, known_type
from specgate.dialects.onnx.lint.units import finding, function_key, function_place, label
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, operator_name
from specgate.errors import NoTable
from specgate.spec.tables import dialect
from specgate.validate.explain import explain_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxFunction, OnnxNode
    from specgate.dialects.onnx.lint.units import Key, Place
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Finding

    Types = tuple[str | None, ...]

__all__ = ["Calls"]

#: Maximum number of nodes checked in calls; a function is checked once per combination of input types.
MOST_NODES: Final = 100_000
MAX_DEPTH: Final = 50
_BLANK: Final = TensorDesc(None, None)


class _Inside(NamedTuple):
    """A function with one combination of input types: problems, output types."""

    problems: tuple[str, ...] = ()
    outputs: tuple[str | None, ...] = ()


class Calls:
    """Checker of the function calls of one model, with a cache of equal calls."""

    def __init__(self, functions: Mapping[Key, OnnxFunction]) -> None:
        self._functions = functions
        self._known: dict[tuple[Key, Types], _Inside] = {}
        self._left = MOST_NODES

    def findings(self, node: OnnxNode, tensors: Sequence[TensorDesc | None], at: Place) -> Iterator[Finding]:
        """Yield problems in the function that `node` calls with `tensors`."""
        types = tuple(None if tensor is None else tensor.type for tensor in tensors)
        if any(types):
            for message in self._inside(function_key(node), types, 0).problems:
                yield finding("function-types", "error", message, at)

    def _inside(self, key: Key, types: Types, depth: int) -> _Inside:
        function = self._functions[key]
        known = self._known.get((key, types))
        if known is None:
            self._known[key, types] = _Inside()  # ends a recursive call, which another finding reports
            known = self._known[key, types] = self._looked(function, types, depth)
        return known

    def _looked(self, function: OnnxFunction, stated_texts: Types, depth: int) -> _Inside:
        self._left -= len(function.nodes)
        if self._left < 0 or depth > MAX_DEPTH:
            return _Inside()
        stated = ((info.name, info.type) for info in function.value_infos if info.type is not None)
        types = {name: known_type(kind).type for name, kind in stated if kind.kind != "unknown"}
        types |= dict(zip(function.inputs, stated_texts, strict=False))
        problems: list[str] = []
        texts: Sequence[str]
        for index, node in enumerate(function.nodes):
            used_texts = tuple(types.get(name) for name in node.inputs)
            if function_key(node) in self._functions:
                inner = self._inside(function_key(node), used_texts, depth + 1) if any(used_texts) else _Inside()
                texts, outputs = inner.problems[:1], inner.outputs
            else:
                texts, outputs = _judged(node, used_texts, function.opset_imports.get(node.domain))
            problems += [f"{function_place(function)}/{label(node, index)}: {text}" for text in texts]
            types.update((name, kind) for name, kind in zip(node.outputs, outputs, strict=False) if kind is not None)
        return _Inside(tuple(problems[:3]), tuple(types.get(name) for name in function.outputs))


def _judged(node: OnnxNode, types: Types, opset: int | None) -> tuple[list[str], Types]:
    """Return problems with a node's input types, and its output types."""
    tensor = held_constant(node) if node.op_type == "Constant" and not node.domain else None
    if tensor is not None:
        return [], (tensor.type,)
    try:
        spec = dialect("onnx").operator(operator_name(node.op_type, node.domain))
    except NoTable:
        return [], ()
    level = str(opset)
    if not any(types) or level not in spec.levels:
        return [], ()
    typed = _descriptor(node, spec, level, types)
    resolved = spec.resolve(level, "documented")
    if resolved is None:
        return [], ()
    plain = {f.key for f in explain_at(_descriptor(node, spec, level, (None,) * len(types)), resolved) if not f.unknown}
    failures = [f for f in explain_at(typed, resolved) if not f.unknown and f.key not in plain]
    return [failure.message for failure in failures[:1]], _outputs(typed, spec, level)


def _descriptor(node: OnnxNode, spec: OperatorSpec, level: str, types: Types) -> Descriptor:
    attributes = node.attributes
    pairs = zip(node.inputs, types, strict=True)
    return build(
        spec,
        [TensorDesc(kind, None) if name else None for name, kind in pairs],
        [_BLANK if name else None for name in node.outputs],
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
        only = cell["types"][0] if len(cell.get("types", ())) == 1 else None
        value = descriptor.fields.get(info.name)
        decided = None if info.heterogeneous else bound.get(cell.get("variable", ""), only)
        texts += [decided] * (len(value) if isinstance(value, list) else 1)
    return tuple(texts)
