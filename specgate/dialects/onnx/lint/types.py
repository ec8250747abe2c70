"""Types of values in an ONNX model: stated, inferred, with pinned sizes."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from specgate.caching import get_cache, store_item
from specgate.descriptors.core import UNKNOWN, GraphDesc, Symbol, TensorDesc, format_value
from specgate.descriptors.positional import INT64
from specgate.dialects.onnx.file.schema import PLAIN_KINDS
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor, OnnxType
from specgate.dialects.onnx.infer.child import INVENTED
from specgate.dialects.onnx.lint.units import bodies, finding
from specgate.dialects.onnx.reader import container
from specgate.errors import InputError
from specgate.spec.tables import dialect, on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxModel, OnnxNode, OnnxValueInfo
    from specgate.dialects.onnx.lint.units import Body, Key, Place
    from specgate.linting.nodes import Unit
    from specgate.verdict import Finding

    EquivalentUnits = dict[tuple[Any, ...], tuple[Unit, object]]

#: Cache sizes across models, larger than what the largest models need.
_MAX_CACHED: Final = 4096
_MAX_EQUIVALENT: Final = 8192

# Where keys are identities, each entry keeps the objects alive, so that their ids are not reused.
_types: Final[dict[tuple[int, int], tuple[TensorDesc | None, bool, object]]] = {}  # by ids of stated and inferred type
_tensors: Final[dict[TensorDesc, TensorDesc]] = {}  # equal tensors share one object
_elements: Final[dict[tuple[str, tuple[int, ...], bytes | None], TensorDesc]] = {}  # of small constants
_equivalents: Final[dict[Hashable, EquivalentUnits]] = {}


@on_change
def _clear_caches() -> None:
    for cache in (_types, _tensors, _elements, _equivalents):
        cache.clear()


def equivalent_units(imports: Mapping[str, int], functions: Collection[Key]) -> EquivalentUnits:
    """Return the first node of each group of equivalent nodes.

    Nodes are equivalent by operator, attributes, inputs and outputs, under the same imports and model functions. Calls
    of these functions are not included.
    """
    return get_cache(_equivalents, (tuple(imports.items()), frozenset(functions)), _MAX_EQUIVALENT)


class Constants:
    """Known values of one model and of models derived from it.

    `constants` is keyed by the id of an initializer or Constant node, and whether its elements count.
    """

    __slots__ = ("constants",)

    def __init__(self) -> None:
        self.constants: dict[tuple[int, bool], tuple[TensorDesc | None, object]] = {}

    def settle_type(
        self, declared_type: OnnxType | None, inferred_type: OnnxType | None
    ) -> tuple[TensorDesc | None, bool, object]:
        """Return a value's known type, and whether stated and inferred differ."""
        key = id(declared_type), id(inferred_type)
        parts = _types.get(key)
        if parts is None:
            tensor, contradictory = settle_types(declared_type, inferred_type)
            if tensor is not None:
                tensor = _tensors.get(tensor) or store_item(_tensors, tensor, tensor, _MAX_CACHED)
            parts = store_item(_types, key, (tensor, contradictory, (declared_type, inferred_type)), _MAX_CACHED)
        return parts

    def constant(self, tensor: OnnxTensor, *, with_elements: bool = True) -> TensorDesc:
        """Return an initializer's type, with its elements if `with_elements`."""
        pair = self.constants.get((id(tensor), with_elements))
        if pair is None:
            pair = self.constants[id(tensor), with_elements] = (
                self._constant(tensor, with_elements=with_elements),
                tensor,
            )
        assert pair[0] is not None  # noqa: S101  # always set for initializers
        return pair[0]

    def _constant(self, tensor: OnnxTensor, *, with_elements: bool = True) -> TensorDesc:
        data = tensor.data if with_elements else None
        if isinstance(data, list):
            return constant(tensor)
        key = tensor.elem_type, tensor.dims, data
        cached = _elements.get(key)
        if cached is None:
            known_tensor = constant(tensor)
            cached = store_item(
                _elements, key, known_tensor if with_elements else known_tensor._replace(value=None), _MAX_CACHED
            )
        return cached

    def constant_of(self, node: OnnxNode) -> TensorDesc | None:
        """Return the value of a Constant node, None for other nodes."""
        if node.op_type != "Constant":
            return None
        pair = self.constants.get((id(node), True))
        if pair is None:
            pair = self.constants[id(node), True] = constant_of_node(node, self._constant), node
        return pair[0]


_SCALARS = {
    "value_float": "FLOAT",
    "value_floats": "FLOAT",
    "value_int": "INT64",
    "value_ints": "INT64",
    "value_string": "STRING",
    "value_strings": "STRING",
}


def _infos(body: Body) -> Iterator[OnnxValueInfo]:
    """Yield the values for which a graph or function states types."""
    if body.graph is not None:
        yield from chain(body.graph.inputs, body.graph.value_infos, body.graph.outputs)
    elif body.function is not None:
        yield from body.function.value_infos


def _resize_type(kind: OnnxType, change: Callable[[str], int | str]) -> OnnxType:
    """Return a type with its symbolic sizes changed, including nested types."""
    shape = kind.shape and tuple(change(size) if isinstance(size, str) else size for size in kind.shape)
    return replace(kind, shape=shape, inner=None if kind.inner is None else _resize_type(kind.inner, change))


def pin_sizes(model: OnnxModel, pins: Mapping[str, int], *, strict: bool = False) -> Iterator[Finding]:
    """Pin sizes of dimensions; yield findings for pins without effect.

    Unnamed dimensions of inputs get names first. If `strict`, raise InputError for a pin without effect.
    """
    for info in model.graph.inputs:
        if info.type is not None and info.type.shape is not None and None in info.type.shape:
            pinned_names = (
                f"{info.name}[{axis}]" if size is None else size for axis, size in enumerate(info.type.shape)
            )
            info.type = replace(info.type, shape=tuple(pinned_names))
    if not pins:
        return
    names: dict[str, None] = {}

    def pin_size(size: str) -> int | str:
        names[size] = None
        return pins.get(size, size)

    symbols = input_symbols(model)
    for body in bodies(model):
        for info in _infos(body):
            if info.type is not None:
                info.type = _resize_type(info.type, pin_size)
    effective = [name for name in names if name in symbols or not symbols_in(name, symbols)]
    for name in pins:
        if name not in effective:
            sources = symbols_in(name, symbols) if name in names else []
            listing = ", ".join(format_value(name) for name in effective[:8]) + (" …" if len(effective) > 8 else "")
            message = f"no dimension is called {format_value(name)}; known: {listing or 'none'}"
            if sources:
                source_names = " and ".join(map(format_value, sources))
                message = f"the size {format_value(name)} is computed from others; pin {source_names} instead"
            if strict:
                raise InputError(message, file=model.file)
            place: Place = (model.file, "model", None)
            yield finding("pin-unknown", "note", message, place, values={"name": name})


def input_symbols(model: OnnxModel) -> dict[str, None]:
    """Return the names of the graph inputs' dimensions, which callers choose."""
    shapes = (info.type.shape for info in model.graph.inputs if info.type is not None)
    return dict.fromkeys(size for shape in shapes for size in shape or () if isinstance(size, str))


def symbols_in(size: str, symbols: Iterable[str]) -> list[str]:
    """Return the symbols that a size is computed from.

    A size that is a symbol gives only itself.
    """
    names = list(symbols)
    if size in names:
        return [size]
    return [name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", size)]


def negative_sizes(model: OnnxModel) -> Iterator[Finding]:
    """Yield one finding for all negative sizes that a model states."""
    if model.negative_size is not None:
        message = (
            f"{model.negative_size} has a size below 0, which is treated as unknown, like all negative sizes of "
            "the model"
        )
        yield finding("size-negative", "note", message, (model.file, "model", None))


def is_invented(name: str) -> bool:
    """Return True if inference invented this size name; it cannot be pinned."""
    return name.startswith(INVENTED)


def without_invented_names(kind: OnnxType) -> OnnxType:
    """Return a type without size names that inference invented."""
    if kind.shape is None or not any(isinstance(size, str) and is_invented(size) for size in kind.shape):
        return kind
    sizes = [None if isinstance(size, str) and is_invented(size) else size for size in kind.shape]
    return OnnxType(kind.kind, kind.elem_type, tuple(sizes), kind.inner)


def known_type(kind: OnnxType) -> TensorDesc:
    """Convert a value's type to its description in descriptors.

    Types other than tensors are represented by name; a negative size is unknown.
    """
    if kind.kind != "tensor":
        return TensorDesc(_spell_type(kind), None)
    sizes = None if kind.shape is None else tuple(map(_size, kind.shape))
    return TensorDesc(kind.elem_type if kind.elem_type in dialect("onnx").types else None, sizes)


def _spell_type(kind: OnnxType | None) -> str | None:
    """Return a type in operator schema spelling, None if partly unknown."""
    if kind is None or kind.kind in {"unknown", "opaque"}:
        return None
    element = dialect("onnx").types.get(kind.elem_type or "", {}).get("tensor")
    if kind.kind in {"tensor", "sparse_tensor"}:
        return f"sparse_{element}" if element and kind.kind == "sparse_tensor" else element
    inner = _spell_type(kind.inner)
    if inner is None or (kind.kind == "map" and element is None):
        return None
    return container(kind.kind, inner, kind.elem_type)


def attribute_of(attribute: OnnxAttribute) -> Any:
    """Return an attribute's value.

    UNKNOWN for a function's parameter and for a value that was not read.
    """
    value = attribute.value
    if value is None:
        return UNKNOWN
    if attribute.kind in PLAIN_KINDS:
        return value
    return [_describe_value(item) for item in value] if isinstance(value, list) else _describe_value(value)


def _describe_value(value: Any) -> Any:
    if isinstance(value, OnnxTensor):
        return constant(value)
    if isinstance(value, OnnxType):
        return known_type(value)
    if isinstance(value, OnnxGraph):
        return GraphDesc(*(tuple(_port(info) for info in part) for part in (value.inputs, value.outputs)))
    return value


def _port(info: OnnxValueInfo) -> TensorDesc:
    return TensorDesc(None, None) if info.type is None else known_type(info.type)


def _size(size: int | str | None) -> int | Symbol | None:
    if isinstance(size, str):
        return Symbol(size)
    return None if size is None or not 0 <= size <= INT64[1] else size


def constant(tensor: OnnxTensor) -> TensorDesc:
    """Return a constant's type, with its elements if they were read."""
    values = tensor.values()
    elem_type = tensor.elem_type if tensor.elem_type in dialect("onnx").types else None
    sizes = tuple(map(_size, tensor.dims))
    return TensorDesc(elem_type, sizes, value=None if values is None else tuple(values))


def constant_of_node(node: OnnxNode, read_tensor: Callable[[OnnxTensor], TensorDesc] = constant) -> TensorDesc | None:
    """Return the value of a Constant node, or None for other nodes.

    `read_tensor` converts the tensor.
    """
    if node.op_type != "Constant" or node.domain or len(node.outputs) != 1 or len(node.attributes) != 1:
        return None
    attribute = next(iter(node.attributes.values()))
    if isinstance(attribute.value, OnnxTensor):
        return read_tensor(attribute.value)
    kind = _SCALARS.get(attribute.name)
    if kind is None or attribute.value is None:
        return None
    values = tuple(attribute.value) if isinstance(attribute.value, list) else (attribute.value,)
    return TensorDesc(kind, (len(values),) if isinstance(attribute.value, list) else (), value=values)


def merge_types(stated_type: OnnxType | None, inferred: OnnxType | None) -> OnnxType | None:
    """Combine a stated and an inferred type; stated wins on contradiction."""
    if stated_type is None or inferred is None or stated_type.kind != "tensor" or inferred.kind != "tensor":
        return inferred if stated_type is None or stated_type.kind == "unknown" else stated_type
    elem_type = stated_type.elem_type if stated_type.elem_type not in {None, "UNDEFINED"} else inferred.elem_type
    shape = stated_type.shape
    if shape is None:
        shape = inferred.shape
    elif inferred.shape is not None and len(inferred.shape) == len(shape):
        shape = tuple(map(_more_specific, shape, inferred.shape))
    return OnnxType("tensor", elem_type, shape)


def settle_types(stated_type: OnnxType | None, inferred: OnnxType | None) -> tuple[TensorDesc | None, bool]:
    """Return a value's known type, and whether stated and inferred differ."""
    merged_type = merge_types(stated_type, inferred)
    tensor = None if merged_type is None or merged_type.kind == "unknown" else known_type(merged_type)
    if stated_type is None or inferred is None:
        return tensor, False
    return tensor, any(contradictions("", stated_type, inferred, (None, "", None)))


def _more_specific(stated_size: int | str | None, inferred: int | str | None) -> int | str | None:
    """Return the more specific size: number, then name, then unknown."""
    if isinstance(stated_size, int) or inferred is None:
        return stated_size
    return inferred if isinstance(inferred, int) or stated_size is None else stated_size


def contradictions(name: str, stated_type: OnnxType, inferred: OnnxType, place: Place) -> Iterator[Finding]:
    """Yield differences between a value's stated and inferred type."""
    if stated_type == inferred or "unknown" in {stated_type.kind, inferred.kind}:
        return
    if "UNDEFINED" in {stated_type.elem_type, inferred.elem_type}:
        return
    if stated_type.kind != inferred.kind or (
        stated_type.elem_type != inferred.elem_type and inferred.elem_type is not None
    ):
        stated_words, inferred_words = _words(stated_type), _words(inferred)
        message = f"{format_value(name)} is declared as {stated_words}, but its node computes {inferred_words}"
        yield finding(
            "stated-type",
            "warning",
            message,
            place,
            graph_place=name[:60],
            values={"stated": stated_words, "inferred": inferred_words},
        )
    elif (
        stated_type.shape is not None
        and inferred.shape is not None
        and _shapes_differ(stated_type.shape, inferred.shape)
    ):
        sizes = _sizes(stated_type)
        message = f"{format_value(name)} is declared with the sizes {sizes}, but its node computes {_sizes(inferred)}"
        values = {"stated": _sizes(stated_type), "inferred": _sizes(inferred)}
        yield finding("stated-shape", "warning", message, place, graph_place=name[:60], values=values)


def _shapes_differ(stated_shape: tuple[int | str | None, ...], inferred: tuple[int | str | None, ...]) -> bool:
    if len(stated_shape) != len(inferred):
        return True
    numbers = ((a, b) for a, b in zip(stated_shape, inferred, strict=True) if isinstance(a, int) and isinstance(b, int))
    return any(a != b and a >= 0 for a, b in numbers)


def _words(kind: OnnxType) -> str:
    return f"a {kind.kind} of {kind.elem_type}" if kind.elem_type is not None else f"a {kind.kind}"


def _sizes(kind: OnnxType) -> str:
    return format_value(list(kind.shape or ()), 80)
