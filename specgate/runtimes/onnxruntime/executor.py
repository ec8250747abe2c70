"""Execution of ONNX models as a runtime that calls DirectML.

Every node is computed by ONNX's definition. If a node is placed on the provider and becomes one DirectML operator, that
operator is computed too. Later nodes read its values, and differences are reported.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.text import plain_name
from specgate.errors import Error, InputError
from specgate.execution.engine import execute_at
from specgate.execution.observed import find_differences, tolerance_of
from specgate.execution.plan import fill_descriptor
from specgate.execution.types import gather, numpy_type, scatter
from specgate.runtimes.onnxruntime.lower import NotLowered, lower
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.dialects.onnx.run.flow import Run
    from specgate.runtimes.onnxruntime.lowering.table import Origin
    from specgate.runtimes.onnxruntime.placement import PlacedNode
    from specgate.runtimes.release import Runtime
    from specgate.spec.fields import FieldInfo
    from specgate.targets import Target

_MAX_SHOWN: Final = 5


class _Step(NamedTuple):
    """The single DirectML operator of a node, its level and tensor origins.

    places: by identity of a node's tensor, its field and its index in an array of tensors.
    """

    descriptor: Descriptor
    level: str
    origins: Sequence[Origin]
    places: Mapping[int, tuple[str, int | None]]

    def origin(self, tensor: TensorDesc) -> tuple[str, int | None]:
        """Return the field and index of `tensor` among the node's tensors.

        Raises InputError if the tensor is not one of the node's.
        """
        source = next((source for new_tensor, source in self.origins if new_tensor is tensor), None)
        if source is None:
            raise InputError("a tensor of the operator is not one of the node's tensors")
        return self.places[id(source)]


def executor(path: str, target: Target, on_note: Callable[[str], object]) -> Executor | None:
    """Return the executor of a model for a runtime.

    It is None for a runtime that does not create operators. on_note: receives notes about the outputs. Raises
    InputError if the session is not created.
    """
    from specgate import place

    runtime = target.runtime
    if runtime is None or not runtime.level:
        return None
    placement = place(path, target)
    if placement.session == "fails":
        failures = placement.refusals or [
            f"{node.node}: {node.created_by or node.why}" for node in placement if node.fails
        ]
        raise InputError(f"the session is not created at {target}: {failures[0]}", file=path)
    first = placement.providers[0]
    nodes = {node.node: node for node in placement if node.provider == first}
    return Executor(nodes, first, runtime, on_note)


class Executor:
    """Computes the nodes of one run.

    nodes: the provider's nodes by path. below, level: the dialect it calls.
    """

    def __init__(
        self, nodes: Mapping[str, PlacedNode], provider: str, runtime: Runtime, on_note: Callable[[str], object]
    ) -> None:
        self.nodes, self.provider, self.on_note = nodes, provider, on_note
        self.below, self.level, self.release = runtime.below, runtime.level, runtime.release
        self.counts: Counter[str] = Counter()
        self.differences: dict[str, str] = {}

    def evaluate(self, run: Run, descriptor: Descriptor, arrays: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Return a node's outputs by field name, as `Run` requires."""
        budget = run.remaining_budget()
        our_outputs = run.execute(descriptor, arrays)
        if place not in self.nodes:
            self.counts["not placed there"] += 1
            return our_outputs
        filled_descriptor = fill_descriptor(descriptor, arrays, our_outputs)
        step = self._step(filled_descriptor, int(descriptor.version or 0))
        if isinstance(step, str):
            self.counts[step] += 1
            return our_outputs
        try:
            lowered_outputs = _compute_outputs(
                step,
                arrays,
                our_outputs,
                lambda descriptor, entries: execute_at(
                    descriptor, entries, step.level, budget=budget, basis="observed"
                ),
            )
        except Error as error:
            self.counts["the operator cannot be computed"] += 1
            self.differences.setdefault(place, f"{step.descriptor.operator} cannot be computed: {error}")
            return our_outputs
        self.counts[""] += 1
        self._compare(place, filled_descriptor, step, our_outputs, lowered_outputs)
        return lowered_outputs

    def _step(self, descriptor: Descriptor, version: int) -> _Step | str:
        """Return the single operator of a node, or why it does not have one."""
        origins: list[Origin] = []
        result = lower(descriptor, version, self.release, origins)
        if isinstance(result, NotLowered):
            return "the DirectML operators are unknown"
        if not result:
            return "no operator is needed"
        if len(result) > 1 or not origins:
            return "the node becomes several operators"
        table = dialect(self.below)
        level = table.operator(result[0].operator).level_for(self.level)
        return (
            "the operator does not exist at this level"
            if level is None
            else _Step(result[0], level, origins, _places(descriptor))
        )

    def _compare(
        self,
        place: str,
        descriptor: Descriptor,
        step: _Step,
        our_outputs: Mapping[str, Any],
        lowered_outputs: Mapping[str, Any],
    ) -> None:
        """Note values that differ from ONNX's definition.

        The wider of both tolerances applies.
        """
        tolerance = max(tolerance_of(step.descriptor, step.level), tolerance_of(descriptor, str(descriptor.version)))
        for name, our_value in our_outputs.items():
            if not isinstance(our_value, np.ndarray):
                continue
            mismatch = find_differences(our_value, lowered_outputs[name], tolerance)
            if mismatch.any() and place not in self.differences:
                position = tuple(int(part) for part in np.argwhere(mismatch)[0])
                values = f"{lowered_outputs[name][position]!s} and not {our_value[position]!s} at {list(position)}"
                message = f"{step.descriptor.operator} computes different values than {descriptor.operator}"
                self.differences[place] = f"{message}: {int(mismatch.sum())} of {mismatch.size} elements, {values}"

    def report(self) -> None:
        """Report which nodes used operators, and which values differ."""
        total = sum(self.counts.values())
        compared_count = self.counts.pop("", 0)
        rest = "; ".join(f"{count} not: {reason}" for reason, count in sorted(self.counts.items()))
        self.on_note(
            f"{compared_count} of {total} node executions use {self.provider} operators" + (f"; {rest}" if rest else "")
        )
        for place, text in list(self.differences.items())[:_MAX_SHOWN]:
            self.on_note(f"{plain_name(place)}: {text}")
        if len(self.differences) > _MAX_SHOWN:
            self.on_note(f"{len(self.differences) - _MAX_SHOWN} more nodes differ")


def _places(descriptor: Descriptor) -> dict[int, tuple[str, int | None]]:
    pairs_by_number: dict[int, tuple[str, int | None]] = {}
    for name, result in descriptor.fields.items():
        if isinstance(result, list):
            pairs_by_number |= {id(tensor): (name, index) for index, tensor in enumerate(result)}
        else:
            pairs_by_number[id(result)] = name, None
    return pairs_by_number


def _compute_outputs(
    step: _Step,
    arrays: Mapping[str, Any],
    our_outputs: Mapping[str, Any],
    compute: Callable[[Descriptor, Mapping[str, Any]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the node's outputs as the operator computes them."""
    spec = dialect(step.descriptor.dialect).operator(step.descriptor.operator)
    stated_entries = {}
    for info in spec.inputs:
        if (result := step.descriptor.fields.get(info.name)) is not None:
            stated_entries[info.name] = _map_tensors(info, result, lambda tensor: _input_array(tensor, step, arrays))
    results = compute(step.descriptor, stated_entries)
    entries = {name: (list(v) if isinstance(v, list) else v) for name, v in our_outputs.items()}
    for info in spec.outputs:
        result = step.descriptor.fields.get(info.name)
        tensors = result if isinstance(result, list) else [result]
        values = results.get(info.name)
        for tensor, value in zip(tensors, values if isinstance(values, list) else [values], strict=True):
            if tensor is not None and value is not None:
                _copy_output(tensor, value, step, entries)
    return entries


def _map_tensors(info: FieldInfo, result: Any, read_tensor: Callable[[TensorDesc], NDArray[Any]]) -> Any:
    return [read_tensor(tensor) for tensor in result] if info.type == "tensor[]" else read_tensor(result)


def _input_array(tensor: TensorDesc, step: _Step, arrays: Mapping[str, Any]) -> NDArray[Any]:
    """Return the operator's input, read from the node's array by strides."""
    name, index = step.origin(tensor)
    array = arrays[name] if index is None else arrays[name][index]
    dtype = numpy_type(dialect(step.descriptor.dialect), str(tensor.type))
    flat = np.ascontiguousarray(array).reshape(-1)
    buffer = (
        flat.view(dtype) if flat.dtype.itemsize == dtype.itemsize and flat.dtype.kind != "V" else flat.astype(dtype)
    )
    return gather(buffer, _sizes(tensor), tensor.strides)


def _sizes(tensor: TensorDesc) -> tuple[int, ...]:
    return tuple(int(size) for size in tensor.sizes or () if isinstance(size, int))


def _copy_output(tensor: TensorDesc, value: NDArray[Any], step: _Step, entries: dict[str, Any]) -> None:
    """Copy the operator's output to the node's output."""
    name, index = step.origin(tensor)
    our_value = entries[name] if index is None else entries[name][index]
    flat = np.ma.getdata(value)
    if tensor.strides is not None:
        buffer = np.zeros(max(our_value.size, prod(_sizes(tensor))), flat.dtype)
        scatter(flat, buffer, tensor.strides)
        flat = buffer[: our_value.size]
    flat = np.ascontiguousarray(flat).reshape(-1)
    same_size = flat.dtype.itemsize == our_value.dtype.itemsize and our_value.dtype.kind not in "bV"
    new_value = (flat.view(our_value.dtype) if same_size else flat.astype(our_value.dtype)).reshape(our_value.shape)
    if np.ma.is_masked(value) and tensor.strides is None:
        new_value = np.ma.array(new_value, mask=np.ma.getmaskarray(value).reshape(our_value.shape))
    if index is None:
        entries[name] = new_value
    else:
        entries[name][index] = new_value
