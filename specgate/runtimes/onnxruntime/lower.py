"""The DirectML operators that ONNX Runtime's DirectML provider makes of a node, optimisations off.

Their sources are in specs/onnxruntime/lowering, file by file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from specgate.runtimes.onnxruntime.lowering.state import Open, Refused
from specgate.runtimes.onnxruntime.lowering.store import lowering_of, schema_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.runtimes.onnxruntime.lowering.table import Origin

__all__ = ["NotLowered", "lower", "node", "outline", "warnings"]


@dataclass(frozen=True, slots=True)
class NotLowered:
    """Why a node has no known operators.

    kind: ``refused``, the provider's kernel refuses the node and the session fails, `rule` says by which check;
    ``open``, what decides is not known before the first run; ``no-table``, no table says how it is lowered.
    """

    kind: Literal["refused", "open", "no-table"]
    reason: str
    rule: str | None = None


def lower(
    descriptor: Descriptor, version: int, release: str | None = None, origins: list[Origin] | None = None
) -> list[Descriptor] | NotLowered:
    """Return the DirectML descriptors of a node in the order in which they are created, none where it needs none.

    descriptor: of the dialect ``onnx``, with all inputs and outputs and the constants among them; see `node` for
    operators of ONNX Runtime's own domains. version: that of the operator, or any opset that has this version.
    release: of ONNX Runtime; None: the newest that is known. origins: gets the tensors of these descriptors which a
    row, not a function, makes of the node's.
    """
    try:
        table = lowering_of(descriptor.operator)
        if table is None:
            return NotLowered("no-table", f"no table says what {descriptor.operator} becomes")
        descriptors = table.lowered(descriptor, version, release, origins)
    except Refused as error:
        return NotLowered("refused", str(error), f"onnxruntime/{descriptor.operator}/{error.rule}")
    except Open as error:
        return NotLowered("open", str(error))
    if descriptors is None:
        return NotLowered("no-table", f"no row says what {descriptor.operator} of version {version} becomes here")
    return descriptors


def outline(descriptor: Descriptor, version: int, release: str | None = None) -> list[Descriptor] | NotLowered:
    """Return what is known of the DirectML descriptors of a node whose kernel waits for the first run.

    Its tensors have sizes that are not known, and descriptors that depend on more are left out. `NotLowered`: the
    kernel refuses the node whatever its sizes and constants are.
    """
    table = lowering_of(descriptor.operator)
    try:
        return [] if table is None else table.outlined(descriptor, version, release)
    except Refused as error:
        return NotLowered("refused", str(error), f"onnxruntime/{descriptor.operator}/{error.rule}")
    except Open:
        return []


def warnings(descriptor: Descriptor, version: int, release: str | None = None) -> list[str]:
    """Return why the operators of a node compute other values than ONNX defines, as far as that is certain."""
    table = lowering_of(descriptor.operator)
    return [] if table is None else list(table.warned(descriptor, version, release))


def node(
    operator: str,
    inputs: Sequence[TensorDesc | None],
    outputs: Sequence[TensorDesc | None],
    attributes: Mapping[str, Any],
    version: int,
) -> Descriptor | None:
    """Return the descriptor of a node by its parts, None for an operator whose fields no table has.

    operator: bare, or with its domain in front (``com.microsoft.MatMulNBits``). Tensors are by position; attributes by
    name. Unlike the reader of ONNX it knows operators that only a lowering table has.
    """
    schema = schema_of(operator)
    return None if schema is None else schema.node(inputs, outputs, attributes, version)
