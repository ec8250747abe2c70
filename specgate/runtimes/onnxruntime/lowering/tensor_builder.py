"""Helpers of lowering functions that build tensors and operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal, UnknownValue
from specgate.runtimes.onnxruntime.lowering.tensors import as_uint, broadcast_strides, describe_tensor
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.runtimes.onnxruntime.lowering.state import State

Sizes = tuple[int, ...]


def operator(name: str, **fields: Any) -> Descriptor:
    """Return a descriptor of a DirectML operator.

    Fields that are None are omitted, and count fields are filled in.
    """
    spec = dialect("directml").operator(name)
    counts = {info.name: len(fields[info.counts[0]]) for info in spec.fields.values() if info.counts}
    entries = {**counts, **fields}
    known_entries = {
        name: _checked_value(info.type, entries[name])
        for name, info in spec.fields.items()
        if entries.get(name) is not None
    }
    if len(known_entries) < sum(value is not None for value in entries.values()):
        raise KeyError(f"{name} does not have the field {', '.join(sorted(entries.keys() - set(spec.fields)))}")
    return Descriptor("directml", name, known_entries)


def _checked_value(kind: str, value: Any) -> Any:
    """Return an attribute in the form of descriptors."""
    if kind == "uint":
        return as_uint(value)
    return [as_uint(item) for item in value] if kind == "uint[]" else value


def optional_tensor(state: State, name: str) -> TensorDesc | None:
    """Return a tensor of the node, None if it is omitted."""
    result = state.get(name)
    return result if isinstance(result, TensorDesc) else None


def tensor_of(state: State, name: str) -> TensorDesc:
    """Return a tensor of the node; raise Refused if it is omitted."""
    tensor = optional_tensor(state, name)
    if tensor is None:
        raise ProviderRefusal("missing", f"{name} is missing, but the kernel reads it")
    return tensor


def tensor_shape(tensor: TensorDesc) -> Sizes:
    """Return the sizes of a tensor, which are known during lowering."""
    return tuple(int(size) for size in tensor.sizes or () if size is not None)


def provider_tensor(
    state: State,
    tensor: TensorDesc,
    sizes: Sequence[int] | None = None,
    *,
    alignment: str = "right",
    least: int | None = None,
) -> TensorDesc:
    """Return a tensor as the provider describes it, reshaped if requested."""
    numbers = tensor_shape(tensor) if sizes is None else tuple(sizes)
    return describe_tensor(state, state.dml_type(tensor), numbers, None, alignment=alignment, least=least)


def broadcast_to(
    state: State, tensor: TensorDesc, expected_numbers: Sequence[int], numbers: Sequence[int] | None = None
) -> TensorDesc:
    """Return a tensor broadcast to `expected_numbers`.

    numbers: sizes to use instead of the tensor's sizes.
    """
    sizes, target = tensor_shape(tensor) if numbers is None else tuple(numbers), tuple(expected_numbers)
    if sizes == target:
        return provider_tensor(state, tensor, target)
    strides = broadcast_strides(sizes, max(len(target), state.least))
    return describe_tensor(state, state.dml_type(tensor), target, strides)


def number(state: State, name: str) -> int:
    """Return an integer attribute; raise Refused if it is omitted."""
    result = state.get(name)
    if not isinstance(result, int):
        raise ProviderRefusal("missing", f"the node does not have {name}")
    return int(result)


def constant(state: State, name: str) -> tuple[Any, ...] | None:
    """Return the elements of a constant, None if the input is omitted.

    Raises Open if they are unknown.
    """
    tensor = optional_tensor(state, name)
    if tensor is None:
        return None
    if tensor.value is None:
        raise UnknownValue(f"the elements of {name} are unknown before the first run")
    return tensor.value


def bare(word: str, sizes: Sequence[int], strides: Sequence[int] | None = None) -> TensorDesc:
    """Return a tensor with exactly these sizes, without added ones.

    word: DirectML's name of the element type.
    """
    return TensorDesc(word, tuple(sizes), None if strides is None else tuple(strides))


def broadcast_tensor(word: str, expected_numbers: Sequence[int], numbers: Sequence[int]) -> TensorDesc:
    """Return a tensor of sizes `numbers` broadcast to `expected_numbers`.

    It has strides even if the sizes are equal.
    """
    return bare(word, expected_numbers, broadcast_strides(numbers, len(expected_numbers)))
