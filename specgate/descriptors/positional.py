"""Descriptors of ONNX nodes and OpenVINO layers.

Tensors are positional, attributes are named, and invalid input is kept as oddities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, Malformed, Symbol, TensorDesc, format_value
from specgate.descriptors.words import UnknownWord, unknown_word
from specgate.dialects import capability
from specgate.dialects.protocols import Positional
from specgate.errors import InputError
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

INT64: Final = (-(2**63), 2**63 - 1)
MAX_DIMENSIONS: Final = 256
MAX_CONSTANT: Final = 1_000_000


def build(
    spec: OperatorSpec,
    inputs: Sequence[TensorDesc | None],
    outputs: Sequence[TensorDesc | None],
    attributes: Mapping[str, Any],
    *,
    version: str | None = None,
    name: str | None = None,
    convert: Callable[[FieldInfo, Any], Any],
    kinds: Mapping[str, str] | None = None,
    builds_read: Callable[[str, Any], Any] | None = None,
) -> Descriptor:
    """Return the Descriptor of a node.

    convert: (field, raw) -> value; raises ValueError with the expected kind for another kind of raw value. UNKNOWN
    attributes (a function's parameters) are kept. inputs, outputs: None is an omitted tensor, UNSTATED an output
    without a type; an array holds all given tensors, omitted or not. kinds: the declared field type of each attribute,
    where the format has one. builds_read: (type, raw) -> the value that builds read from a raw value of another kind,
    None for nothing. Without a version, tensors have the order of the newest level; see `reordered_for`.
    """
    layout = spec.layout(version)
    fields: dict[str, Any] = {}
    oddities: list[Malformed] = []
    extra: dict[str, Any] = {}
    for kind, infos, tensors in (("inputs", layout.inputs, inputs), ("outputs", layout.outputs, outputs)):
        assigned_tensors, left = _assign_tensors(infos, tensors, spec)
        fields.update(assigned_tensors)
        oddities.extend(_unknown_types(spec, assigned_tensors))
        if left:
            message = f"has {len(tensors)} {kind}, but accepts at most {len(infos)} at this level"
            oddities.append(Malformed(f"too-many-{kind}", kind, message))
            extra[f"too-many-{kind}"] = left
    for key, raw in attributes.items():
        if not isinstance(key, str):
            raise InputError(f"expected attributes by name, found the key {format_value(key)}")
        info = layout.attributes.get(key)
        stated_kind = kinds.get(key) if kinds else None
        if info is None and key in layout.page_names:
            info = layout.page_names[key]
            message = f"{key} is the documented name of {info.vendor_name}, which builds do not read"
            oddities.append(Malformed("unknown-attribute", key, message, raw, stated_kind))
        elif info is None:
            if not spec.table.unchecked_attributes:
                message = f"{spec.name} does not have an attribute {format_value(key)}"
                oddities.append(Malformed("unknown-attribute", key, message, raw, stated_kind))
            continue
        try:
            if stated_kind not in {None, info.type} and not (stated_kind == "string" and info.type.startswith("enum:")):
                raise ValueError(f"it is stored as {stated_kind}, and {info.type} is expected")
            fields[info.name] = raw if raw is UNKNOWN else convert(info, raw)
        except UnknownWord as error:
            oddities.append(Malformed("unknown-word", info.name, f"{key} is {error}", raw, stated_kind))
        except ValueError as error:
            value = builds_read(info.type, raw) if builds_read is not None else None
            message = f"{key} is {format_value(raw)}, but {error}"
            oddities.append(Malformed("wrong-kind", info.name, message, raw, stated_kind, value))
            if value is not None:
                fields[info.name] = value
    read_at = (version or spec.dialect.levels[-1]) if spec.varies else None
    return Descriptor(spec.dialect.name, spec.name, fields, version, tuple(oddities), name, extra, layout=read_at)


_UNKNOWN_TENSOR: Final = TensorDesc(None, None)


def _unknown_types(spec: OperatorSpec, assigned_tensors: Mapping[str, Any]) -> Iterator[Malformed]:
    """Yield the tensors whose type the dialect does not define."""
    types = spec.dialect.types
    for name, value in assigned_tensors.items():
        for index, tensor in enumerate(value if isinstance(value, list) else (value,)):
            word = tensor.type
            if word is not None and word not in types and not spec.dialect.knows_type(word):
                place = f"{name}[{index}]" if isinstance(value, list) else name
                message = unknown_word(f"the type of {place}", word, "element type", types)
                yield Malformed("unknown-word", place, message, word)


def _assign_tensors(
    infos: Sequence[FieldInfo], tensors: Sequence[TensorDesc | None], spec: OperatorSpec
) -> tuple[dict[str, Any], tuple[TensorDesc | None, ...]]:
    """Return the tensors by field, and the surplus tensors.

    An output without a type is kept where it matters: in an array, or where a rule tests its presence.
    """
    assigned_tensors: dict[str, Any] = {}
    for index, (info, tensor) in enumerate(zip(infos, tensors, strict=False)):
        if info.type == "tensor[]":
            omitted_value = UNSTATED if info.kind == "output" else _UNKNOWN_TENSOR
            stated_tensors = [omitted_value if t is None else t for t in tensors[index:]]
            return (assigned_tensors | {info.name: stated_tensors} if stated_tensors else assigned_tensors), ()
        if tensor is not None and (tensor is not UNSTATED or info.name in spec.counted_outputs):
            assigned_tensors[info.name] = tensor
    return assigned_tensors, tuple(tensors[len(infos) :])


def reordered_for(descriptor: Descriptor, spec: OperatorSpec, level: str) -> Descriptor:
    """Return a descriptor as read at `level`.

    The order of inputs may differ there.
    """
    if descriptor.layout in {None, level}:
        return descriptor
    owner = capability(spec.dialect.name, Positional)
    before = spec.layout(descriptor.layout)
    fields = spec.fields
    kinds = {fields[o.where].vendor_name if o.where in fields else o.where: o.stated for o in descriptor.oddities}
    kinds |= {  # a text without an enum word
        name: "string"
        for name, info in spec.layout(level).attributes.items()
        if info.enum and isinstance(descriptor.fields.get(info.name), str)
    }
    new_descriptor = build(
        spec,
        _with_extra(descriptor, before.inputs, "inputs"),
        _with_extra(descriptor, before.outputs, "outputs"),
        attributes_of(descriptor, spec),
        version=level,
        name=descriptor.name,
        convert=owner.attribute_value,
        builds_read=owner.builds_read,
        kinds={name: kind for name, kind in kinds.items() if kind is not None},
    )
    return replace(new_descriptor, version=descriptor.version)


def _with_extra(descriptor: Descriptor, infos: Sequence[FieldInfo], kind: str) -> list[TensorDesc | None]:
    """Return the tensors by position, followed by the surplus ones."""
    tensors = positional(descriptor.fields, infos)
    left = descriptor.extra.get(f"too-many-{kind}", ())
    return [*tensors, *[None] * (len(infos) - len(tensors)), *left] if left else tensors


def attributes_of(descriptor: Descriptor, spec: OperatorSpec) -> dict[str, Any]:
    """Return all attributes as given, by the vendor's names.

    Odd attributes are included.
    """
    fields_by_name = spec.fields
    renamed = read_by_page_names(descriptor, spec)
    entries = descriptor.fields
    fields = {i.vendor_name: entries[i.name] for i in spec.attributes if entries.get(i.name) is not None}
    odd_values = {
        fields_by_name[o.where].vendor_name if o.where in fields_by_name else o.where: o.value
        for o in descriptor.oddities
        if holds_attribute(o, fields_by_name)
    }
    return {name: value for name, value in fields.items() if name not in renamed} | odd_values


def read_by_page_names(descriptor: Descriptor, spec: OperatorSpec) -> frozenset[str]:
    """Return the attributes given by a name that only the documentation uses."""
    odd_places = {oddity.where for oddity in descriptor.oddities}
    return frozenset(info.vendor_name for info in spec.attributes if not odd_places.isdisjoint(info.page_names))


def holds_attribute(oddity: Malformed, fields: Mapping[str, FieldInfo]) -> bool:
    """Return whether an oddity is about the value of an attribute.

    fields: the operator's.
    """
    if oddity.code == "unknown-word":  # an oddity of a tensor is about its type
        return oddity.where in fields and fields[oddity.where].kind == "attribute"
    return oddity.code in {"unknown-attribute", "wrong-kind"}


def positional(fields: Mapping[str, Any], infos: Sequence[FieldInfo]) -> list[TensorDesc | None]:
    """Return the tensors of `infos` in order.

    Omitted tensors are None, without trailing ones.
    """
    tensors: list[TensorDesc | None] = []
    for info in infos:
        value = fields.get(info.name)
        if isinstance(value, list):
            tensors.extend(value)
        else:
            tensors.append(value)
    while tensors and tensors[-1] is None:
        tensors.pop()
    return tensors


def tensors_of(
    raw: Any, place: str, noun: str, read_tensor: Callable[[Any, str], TensorDesc | None]
) -> list[TensorDesc | None]:
    """Return the result of `read_tensor` per item of a list, None for null.

    noun: the name of the items in messages.
    """
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise InputError(f"expected a list of {noun}, found {format_value(raw)}", place=place)
    return [read_tensor(item, f"{place}[{i}]") for i, item in enumerate(raw)]


def outputs_of(
    raw: Any, place: str, noun: str, read_tensor: Callable[[Any, str], TensorDesc | None]
) -> list[TensorDesc | None]:
    """Return outputs as `tensors_of` does; {} is an output without a type."""
    tensors = tensors_of(raw, place, noun, read_tensor)
    return [UNSTATED if item == {} else tensor for item, tensor in zip(raw or (), tensors, strict=True)]


def shape_of(raw: Any, place: str, *, negative_is_unknown: bool) -> tuple[int | Symbol | None, ...] | None:
    """Return sizes from a list of integers, names and nulls.

    null instead of a list is None (unknown rank).
    """
    if raw is None:
        return None
    if not isinstance(raw, list | tuple) or len(raw) > MAX_DIMENSIONS:
        raise InputError(
            f"expected a list of at most {MAX_DIMENSIONS} sizes or null, found {format_value(raw)}", place=place
        )
    return tuple(_size(item, f"{place}[{i}]", negative_is_unknown) for i, item in enumerate(raw))


def _size(value: Any, place: str, negative_is_unknown: bool) -> int | Symbol | None:
    if value is None or (negative_is_unknown and value == -1 and not isinstance(value, bool)):
        return None
    if isinstance(value, str) and value:
        return Symbol(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INT64[1]:
        raise InputError(
            f"expected a size from 0 to 2**63 - 1, a name or null, found {format_value(value)}", place=place
        )
    return value


def flatten(raw: Any, place: str) -> tuple[Any, ...] | None:
    """Return the elements of a scalar or nested lists, None for null."""
    if raw is None:
        return None
    items: list[Any] = []
    stack: list[Any] = [raw]
    lists = 0
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            lists += 1
            stack.extend(reversed(item))
        elif isinstance(item, float | str | complex | bytes) or (isinstance(item, int) and abs(item) < 2**64):
            items.append(item)
        else:
            raise InputError(f"expected numbers of at most 64 bits, found {format_value(item)}", place=place)
        if lists + len(items) + len(stack) > MAX_CONSTANT:  # lists count as well: a list may contain itself
            raise InputError(f"expected at most {MAX_CONSTANT} elements", place=place)
    return tuple(items)
