"""What ONNX nodes and OpenVINO layers share: tensors by position, attributes by name, odd ones kept as oddities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN, Descriptor, Oddity, Symbol, TensorDesc, shown
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.spec.forms import FieldInfo
    from specgate.spec.tables import OperatorSpec

__all__ = ["build", "flat", "positional", "shape_of"]

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
) -> Descriptor:
    """Return the Descriptor of a node: tensors by position, attributes converted or noted as oddities.

    convert: (field, raw) -> value; raises ValueError with what was expected when the raw value is of another kind.
    An attribute that is given but not known is UNKNOWN.
    """
    fields: dict[str, Any] = {}
    oddities: list[Oddity] = []
    for kind, infos, tensors in (("inputs", spec.inputs, inputs), ("outputs", spec.outputs, outputs)):
        fields.update(_placed(kind, infos, tensors, oddities))
    known = {info.name: info for info in spec.attributes}
    for key, raw in attributes.items():
        if not isinstance(key, str):
            raise InputError(f"expected attributes by name, found the key {shown(key)}")
        info = known.get(key)
        if info is None:
            words = ", ".join(known) or "none"
            message = f"{spec.name} defines no attribute {shown(key)} (it has: {words})"
            oddities.append(Oddity("unknown-attribute", key, message, raw))
            continue
        try:
            fields[key] = raw if raw is UNKNOWN else convert(info, raw)
        except ValueError as error:
            oddities.append(Oddity("wrong-kind", key, f"{key} is {shown(raw)}, but {error}", raw))
    return Descriptor(spec.dialect.name, spec.name, fields, version, tuple(oddities), name)


def _placed(
    kind: str, infos: Sequence[FieldInfo], tensors: Sequence[TensorDesc | None], oddities: list[Oddity]
) -> dict[str, Any]:
    placed: dict[str, Any] = {}
    for info, tensor in zip(infos, tensors, strict=False):
        if info.type == "tensor[]":
            placed[info.name] = [t for t in tensors[len(placed) :] if t is not None]
            return placed
        if tensor is not None:
            placed[info.name] = tensor
    if len(tensors) > len(infos):
        oddities.append(
            Oddity(f"too-many-{kind}", kind, f"{len(tensors)} {kind} are given, at most {len(infos)} are defined")
        )
    return placed


def positional(fields: Mapping[str, Any], infos: Sequence[FieldInfo]) -> list[TensorDesc | None]:
    """Return the tensors of `infos` in order, None for those left out in the middle, none at the end."""
    found: list[TensorDesc | None] = []
    for info in infos:
        value = fields.get(info.name)
        if isinstance(value, list):
            found.extend(value)
        else:
            found.append(value)
    while found and found[-1] is None:
        found.pop()
    return found


def shape_of(raw: Any, place: str, *, negative_is_unknown: bool) -> tuple[int | Symbol | None, ...] | None:
    """Return sizes from a list of integers, names and nulls; None (unknown rank) from null."""
    if raw is None:
        return None
    if not isinstance(raw, list | tuple) or len(raw) > MAX_DIMENSIONS:
        raise InputError(f"expected a list of at most {MAX_DIMENSIONS} sizes or null, found {shown(raw)}", place=place)
    return tuple(_size(item, f"{place}[{i}]", negative_is_unknown) for i, item in enumerate(raw))


def _size(value: Any, place: str, negative_is_unknown: bool) -> int | Symbol | None:
    if value is None or (negative_is_unknown and value == -1 and not isinstance(value, bool)):
        return None
    if isinstance(value, str) and value:
        return Symbol(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= INT64[1]:
        raise InputError(f"expected a size from 0 to 2**63 - 1, a name or null, found {shown(value)}", place=place)
    return value


def flat(raw: Any, place: str) -> tuple[Any, ...] | None:
    """Return a constant's elements from a number, a word or nested lists of them; None from null."""
    if raw is None:
        return None
    found: list[Any] = []
    stack: list[Any] = [raw]
    lists = 0
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            lists += 1
            stack.extend(reversed(item))
        elif isinstance(item, float | str | complex | bytes) or (isinstance(item, int) and abs(item) < 2**64):
            found.append(item)
        else:
            raise InputError(f"expected numbers of at most 64 bits, found {shown(item)}", place=place)
        if lists + len(found) + len(stack) > MAX_CONSTANT:  # lists count too: one may hold itself
            raise InputError(f"expected at most {MAX_CONSTANT} elements", place=place)
    return tuple(found)
