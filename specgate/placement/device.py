"""What a device reports of the types that a provider's tensors may have there.

DirectML answers for each of its types whether it takes them (DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT): by its own level
and by what the D3D12 device reports, as the tables of types say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.spec.tables import dialect
from specgate.validate.device import required_capabilities

if TYPE_CHECKING:
    from specgate.placement.runtime import Runtime

__all__ = ["lacking", "lowered_types"]


def lowered_types(below: str) -> dict[str, str]:
    """Return the type of the dialect `below` that each type of ONNX becomes; truth values become bytes.

    Types are the same where they have one name, or else where the same type of numpy carries them.
    """
    theirs = dialect(below).types
    carried = {str(info.get("numpy")): name for name, info in reversed(theirs.items())}  # the first of each counts
    found: dict[str, str] = {}
    for name, info in dialect("onnx").types.items():
        numpy = str(info.get("numpy"))
        kind = name if name in theirs else carried.get("uint8" if numpy == "bool" else numpy)
        if kind is not None:
            found[name] = kind
    return found


def lacking(runtime: Runtime, device: frozenset[str] | None) -> dict[str, str]:
    """Return the types of ONNX that no tensor on the device may have, each with the reason.

    device: the capabilities that it reports, None where it counts as reporting all of them.
    """
    if not runtime.below:
        return {}
    table = dialect(runtime.below)
    title = f"{table.tables.title} at {table.label(runtime.level)}"
    asked = required_capabilities(runtime.below, runtime.level)
    becomes = lowered_types(runtime.below)
    found: dict[str, str] = {}
    for name in dialect("onnx").types:
        kind = becomes.get(name)
        if kind is None:
            found[name] = f"which {table.tables.title} does not have"
        elif not table.holds(runtime.level, table.types[kind].get("since"), None):
            found[name] = f"which {title} does not have"
        elif device is not None and kind in asked and device.isdisjoint(asked[kind]):
            found[name] = f"for which the device would have to report {' or '.join(asked[kind])}"
    return found
