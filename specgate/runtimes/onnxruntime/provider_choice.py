"""Registrations that match a node, and types that a device supports.

DirectML reports the support of each type (DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT). It depends on the feature level and on
the capabilities of the D3D12 device, as the tables of types state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.descriptors.core import UNKNOWN
from specgate.dialects.onnx.lint.types import attribute_of
from specgate.dialects.onnx.reader import attribute_value
from specgate.rules.evaluate import Context, Undefined, evaluate
from specgate.runtimes.onnxruntime.placement import format_list, pluralize
from specgate.spec.tables import dialect
from specgate.validate.device import required_capabilities

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from specgate.rules.language import Rule
    from specgate.runtimes.onnxruntime.graph import Node, NodeProperties
    from specgate.runtimes.onnxruntime.registrations import Registration, Registry
    from specgate.runtimes.onnxruntime.schemas import Schema
    from specgate.runtimes.release import Runtime
    from specgate.spec.fields import FieldInfo


def lowered_types(dialect_name: str) -> dict[str, str]:
    """Return the type in the dialect `dialect_name` for each ONNX type.

    Booleans become bytes. Other types match by name, or else by their numpy type.
    """
    dialect_types = dialect(dialect_name).types
    types_by_numpy = {
        str(info.get("numpy")): name for name, info in reversed(dialect_types.items())
    }  # the first of each counts
    texts_by_name: dict[str, str] = {}
    for name, info in dialect("onnx").types.items():
        numpy = str(info.get("numpy"))
        kind = name if name in dialect_types else types_by_numpy.get("uint8" if numpy == "bool" else numpy)
        if kind is not None:
            texts_by_name[name] = kind
    return texts_by_name


def missing_types(runtime: Runtime, device: frozenset[str] | None) -> dict[str, str]:
    """Return the ONNX types without tensors on the device, with reasons.

    device: the capabilities that it reports, None for all.
    """
    if not runtime.below:
        return {}
    table = dialect(runtime.below)
    title = f"{table.tables.title} at {table.label(runtime.level)}"
    texts_by_name = required_capabilities(runtime.below, runtime.level)
    type_names = lowered_types(runtime.below)
    matching_texts_by_name: dict[str, str] = {}
    for name in dialect("onnx").types:
        kind = type_names.get(name)
        if kind is None:
            matching_texts_by_name[name] = f"which {table.tables.title} does not have"
        elif not table.holds(runtime.level, table.types[kind].get("since"), None):
            matching_texts_by_name[name] = f"which {title} does not have"
        elif device is not None and kind in texts_by_name and device.isdisjoint(texts_by_name[kind]):
            matching_texts_by_name[name] = f"which requires a device with {' or '.join(texts_by_name[kind])}"
    return matching_texts_by_name


def answer_query(query: Rule, node: Node) -> bool | None:
    """Return whether a query holds for a node, None if that is unknown.

    It is unknown if it depends on an unknown attribute or type. A query that names an omitted optional field does not
    apply, like a table's rules.
    """
    assert node.schema is not None  # the version selected the registration  # noqa: S101
    context = Context(_fields(node, node.schema), {}, dialect("onnx").bits, {})
    if any(context.absent(path) for path in query.needs):
        return True
    try:
        result = evaluate(query, context)
    except Undefined:
        return None
    return None if result is UNKNOWN else bool(result)


def _fields(node: Node, schema: Schema) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for params, tensors in ((schema.inputs, node.inputs), (schema.outputs, node.outputs)):
        for index, param in enumerate(params):
            tensor = tensors[index] if index < len(tensors) else None
            fields[param.field] = list(tensors[index:]) if param.several else tensor
    for info in schema.attributes:
        attribute = node.proto.attributes.get(info.vendor_name)
        fields[info.name] = info.default if attribute is None else _value(info, attribute_of(attribute))
    return fields


def _value(info: FieldInfo, raw: Any) -> Any:
    """Return an attribute's value as its field requires it.

    A value of another kind is unknown; the linter reports it.
    """
    if raw is UNKNOWN:
        return UNKNOWN
    try:
        return attribute_value(info, raw)
    except ValueError:
        return UNKNOWN


#: Why a provider does not support a node. `newer`, `older`: it supports other versions of the operator only.
Reason = Literal["", "unregistered", "newer", "older", "type", "query", "device", "unknown"]


#: Maximum cached answers of a registry, kept for the next model.
_MAX_CACHED: Final = 4096


@dataclass(frozen=True, slots=True)
class KernelLookup:
    """A provider's answer about a node.

    registration: the one that matches by version and types, or None. reason: why the provider does not support the
    node, "" if it does; says: the same as a sentence. open: an assumption about something unknown.
    """

    registration: Registration | None
    reason: Reason = ""
    says: str = ""
    open: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether the provider supports the node."""
        return not self.reason


class Lookup:
    """Lookup of one model's nodes in a provider's registry, cached.

    lacking: types of registrations that tensors on the device may not have, each with the reason; they are allowed for
    constants that the kernel reads from CPU memory. registry: None if the registrations are unknown, which counts as
    supporting every node. device: the capabilities that it reports, None for all.
    """

    def __init__(
        self,
        registry: Registry | None,
        provider: str,
        missing_capabilities: Mapping[str, str] | None = None,
        device: frozenset[str] | None = None,
    ) -> None:
        self.registry = registry
        self.provider = provider
        self.lacking = missing_capabilities or {}
        self.device = device
        self._lookups: dict[NodeProperties, KernelLookup] = {}

    def of(self, node: Node) -> KernelLookup:
        """Return the provider's answer about a node."""
        result = self._lookups.get(node.properties)
        if result is None:
            result = self._lookups[node.properties] = self._look_up_kernel(node)
        if node.implicit_kinds and result.accepted and result.registration is not None:
            return self._lacks(node.implicit_kinds, result.registration, "a tensor that its subgraphs read") or result
        return result

    def kernel(self, node: Node, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]) -> KernelLookup:
        """Return the answer for a node with these types."""
        if self.registry is None:
            return KernelLookup(None, open=f"the kernels of {self.provider} in this release are unknown")
        key = node.operator, None if node.schema is None else node.schema.since, inputs, outputs
        lookup = self.registry.lookups.get(key)
        if lookup is None:
            if len(self.registry.lookups) >= _MAX_CACHED:
                self.registry.lookups.clear()
            lookup = self.registry.lookups[key] = self._kernel(self.registry, node, inputs, outputs)
        return lookup

    def _kernel(
        self, registry: Registry, node: Node, inputs: Sequence[str | None], outputs: Sequence[str | None]
    ) -> KernelLookup:
        domain, op_type = node.proto.domain, node.proto.op_type
        rows = registry.of(domain, op_type)
        if not rows:
            return KernelLookup(None, "unregistered", f"no kernel of {node.operator} is registered for {self.provider}")
        if node.schema is None:
            return KernelLookup(None, "unregistered", f"the imported opset has no known version of {node.operator}")
        since = node.schema.since
        valid_rows = [row for row in rows if row.holds(since)]
        if not valid_rows:
            return self._other_version(node, rows)
        lookup = KernelLookup(None)
        for row in valid_rows:
            lookup = self._types(node, row, inputs, outputs)
            if lookup.registration is not None:
                return lookup
        return lookup

    def _look_up_kernel(self, node: Node) -> KernelLookup:
        result = self.kernel(node, *node.kinds)
        row = result.registration
        if row is None:
            return result
        if row.query is not None:
            answer = answer_query(row.query, node)
            if answer is False:
                condition_text = f"{self.provider} accepts {node.operator}-{row.version} only if {row.query.text}"
                return KernelLookup(row, "query", condition_text)
            if answer is None:
                result = KernelLookup(row, open=result.open or f"unknown whether {row.query.text}")
        refused_lookup = self._device(node, row)
        return refused_lookup or result

    def _other_version(self, node: Node, rows: Sequence[Registration]) -> KernelLookup:
        assert node.schema is not None  # noqa: S101  # checked by the caller
        since = node.schema.since
        versions = sorted({row.version for row in rows})
        newest = max(row.until or row.version for row in rows)
        is_newer = since > newest
        versions_text = f"{self.provider} has {pluralize('version', len(versions))} {format_list(versions)}"
        return KernelLookup(None, "newer" if is_newer else "older", f"{node.operator}-{since}, but {versions_text}")

    def _types(
        self, node: Node, row: Registration, inputs: Sequence[str | None], outputs: Sequence[str | None]
    ) -> KernelLookup:
        """Return the registration that accepts the argument types.

        Each constraint name is compared with the first argument that it limits.
        """
        assert node.schema is not None  # noqa: S101  # checked by the caller
        unknown = ""
        for name, types in row.types.items():
            kind = node.schema.first(name, inputs, outputs)
            if kind is None or kind in types:
                continue
            if not kind:
                unknown = unknown or f"the type of {name} is unknown"
                continue
            type_list = format_list(sorted(types))
            return KernelLookup(
                None, "type", f"{name} is {kind}, but {self.provider} supports {node.operator} only for {type_list}"
            )
        return KernelLookup(row, open=unknown)

    def _device(self, node: Node, row: Registration) -> KernelLookup | None:
        """Return why the device lacks support for a node's types, or None.

        Only tensors are in device memory; lists of tensors are not.
        """
        inputs, outputs = node.kinds
        return self._lacks((*inputs, *outputs), row, "a tensor", len(inputs))

    def _lacks(self, kinds: Sequence[str | None], row: Registration, noun: str, inputs: int = 0) -> KernelLookup | None:
        """Return why the device lacks support for tensors of these types.

        inputs: the number of leading types that belong to inputs.
        """
        constant: Collection[int] = row.constant_inputs
        for index, kind in enumerate(kinds if self.lacking else ()):
            if not kind or kind.startswith("seq("):
                continue
            if "(" in kind:
                return KernelLookup(row, "device", f"{self.provider} does not support tensors of type {kind}")
            if kind in self.lacking and not (index < inputs and index in constant):
                return KernelLookup(row, "device", f"{noun} is {kind}, {self.lacking[kind]}")
            if self.device is not None and kind in row.needs and self.device.isdisjoint(row.needs[kind]):
                capabilities_text = " or ".join(row.needs[kind])
                return KernelLookup(row, "device", f"its kernel for {kind} requires a device with {capabilities_text}")
        return None
