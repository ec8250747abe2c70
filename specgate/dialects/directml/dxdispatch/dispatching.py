"""A DxDispatch model that dispatches descriptors from other sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.dxdispatch.buffers import needed_bytes
from specgate.dialects.directml.dxdispatch.model import DxBinding, DxCommand, DxDispatchable, DxModel, DxResource
from specgate.dialects.directml.dxdispatch.read import bind_points
from specgate.dialects.directml.tensor import UINT32_MAX
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.descriptors.core import Descriptor, TensorDesc

#: Outputs of at most this many bytes are printed after the dispatch.
_MAX_PRINTED_BYTES: Final = 1024


def dispatching(descriptors: Sequence[Descriptor]) -> DxModel:
    """Return a model that dispatches descriptors in order.

    Buffers have the size of their tensors and hold zeros. Inputs owned by DirectML are bound to the dispatchable,
    others and the outputs to its dispatch. Raises InputError if sizes are unknown or too large.
    """
    model = DxModel({}, {}, [])
    for number, descriptor in enumerate(descriptors):
        name = descriptor.operator.lower() if len(descriptors) == 1 else f"{number}-{descriptor.operator.lower()}"
        _add(model, name, descriptor)
    return model


def _add(model: DxModel, name: str, descriptor: Descriptor) -> None:
    owned_flag = dialect("directml").tables.flags["OWNED_BY_DML"]
    dispatchable = DxDispatchable("directml", descriptor.operator, descriptor)
    command = DxCommand("dispatch", dispatchable=name)
    model.dispatchables[name] = dispatchable
    model.commands.append(command)
    for kind in ("input", "output"):
        for point, tensors in bind_points(descriptor, kind).items():
            is_owned_input = kind == "input" and all((tensor.flags or 0) & owned_flag for tensor in tensors)
            bindings = dispatchable.bindings if is_owned_input else command.bindings
            bindings[point] = bound = []
            for index, tensor in enumerate(tensors):
                resource = f"{name}.{point}" if len(tensors) == 1 else f"{name}.{point}[{index}]"
                model.resources[resource] = new_resource = _resource(tensor, point)
                bound.append(DxBinding(resource))
                if kind == "output" and new_resource.initial["valueCount"] <= _MAX_PRINTED_BYTES:
                    model.commands.append(DxCommand("print", resource=resource))


def _resource(tensor: TensorDesc, place: str) -> DxResource:
    """Return a zero buffer for one tensor; types below 8 bits become bytes."""
    bits = dialect("directml").bits.get(tensor.type or "") or 8
    kind = str(tensor.type) if bits >= 8 else "UINT8"
    count = max(needed_bytes(tensor, place) * 8 // max(bits, 8), 1)
    if count > UINT32_MAX:
        raise InputError(f"needs {count} elements; a buffer of a model file has at most {UINT32_MAX}", place=place)
    return DxResource("constant", {"valueCount": count, "value": 0}, kind)
