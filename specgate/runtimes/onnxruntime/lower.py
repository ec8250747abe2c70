"""Lowering of nodes to DirectML operators, without graph optimizations.

specs/onnxruntime/lowering names the sources file by file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal, UnknownValue
from specgate.runtimes.onnxruntime.lowering.store import lowering_of, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.table import Origin


@dataclass(frozen=True, slots=True)
class NotLowered:
    """Why the operators of a node are unknown.

    kind: ``refused`` if the provider's kernel rejects the node and the session fails (`rule` names the check), ``open``
    if the answer depends on values that are unknown before the first run, ``no-table`` if the operator is missing from
    the lowering tables.
    """

    kind: Literal["refused", "open", "no-table"]
    reason: str
    rule: str | None = None


def lower(
    descriptor: Descriptor, version: int, release: str | None = None, origins: list[Origin] | None = None
) -> list[Descriptor] | NotLowered:
    """Return the DirectML descriptors of a node in order of creation.

    The list is empty for a node that does not need an operator.
    descriptor: of the dialect ``onnx``, with all inputs, outputs and constants; see `node` for operators of ONNX
    Runtime's own domains. version: the operator's, or any opset that has this version. release: ONNX Runtime's, None
    for the newest. origins: receives the tensors that a row, not a function, creates from the node's.
    """
    try:
        table = lowering_of(descriptor.operator)
        if table is None:
            return NotLowered("no-table", f"the DirectML operators for {descriptor.operator} are unknown")
        descriptors = table.lower_node(descriptor, version, release, origins)
    except ProviderRefusal as error:
        return NotLowered("refused", str(error), f"onnxruntime/{descriptor.operator}/{error.rule}")
    except UnknownValue as error:
        return NotLowered("open", str(error))
    if descriptors is None:
        return NotLowered(
            "no-table", f"the DirectML operators for {descriptor.operator} version {version} are unknown here"
        )
    return descriptors


def outline(descriptor: Descriptor, version: int, release: str | None = None) -> list[Descriptor] | NotLowered:
    """Return the known DirectML descriptors of a kernel made at first run.

    Tensors may have unknown sizes, and descriptors that depend on more are omitted. `NotLowered` means that the kernel
    rejects the node for all sizes and constants.
    """
    table = lowering_of(descriptor.operator)
    try:
        return [] if table is None else table.outline_node(descriptor, version, release)
    except ProviderRefusal as error:
        return NotLowered("refused", str(error), f"onnxruntime/{descriptor.operator}/{error.rule}")
    except UnknownValue:
        return []


def warnings(descriptor: Descriptor, version: int, release: str | None = None) -> list[str]:
    """Return warnings for operators that certainly deviate from ONNX."""
    table = lowering_of(descriptor.operator)
    return [] if table is None else list(table.kernel_warnings(descriptor, version, release))


def node(
    operator: str,
    inputs: Sequence[TensorDesc | None],
    outputs: Sequence[TensorDesc | None],
    attributes: Mapping[str, Any],
    version: int,
) -> Descriptor | None:
    """Return the descriptor of a node, None for an unknown operator.

    operator: bare, or prefixed with its domain (``com.microsoft.MatMulNBits``). Tensors are by position, attributes by
    name. Operators that only a lowering table defines are supported, unlike in the reader of ONNX.
    """
    schema = schema_of(operator)
    return None if schema is None else schema.node(inputs, outputs, attributes, version)
