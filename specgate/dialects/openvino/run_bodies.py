"""Layers with bodies, executed: If, Loop and TensorIterator, by their port maps and back edges.

Source: the pages If-8, Loop-5 and TensorIterator-1; how a slice ends is what OpenVINO 2026.4.1 computes.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.dialects.openvino.maps import BACK_EDGES, numbered
from specgate.errors import InputError, NoKernel
from specgate.execution.memory import held_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.dialects.openvino.net import IrEntry, IrLayer, IrNet

__all__ = ["computed_with_bodies"]

Arrays = dict[str, "NDArray[Any]"]


def computed_with_bodies(
    layer: IrLayer,
    inputs: Sequence[NDArray[Any]],
    compute: Callable[[IrNet, Arrays], Arrays],
    hold: Callable[[int], object],
) -> list[NDArray[Any]]:
    """Return the outputs of a layer with bodies; raise InputError for maps that lead nowhere, NoKernel.

    compute: a body and arrays by the ids of its Parameters -> arrays by the ids of its Results. hold: is called with
    how many bytes a loop has collected, and raises where they are too many.
    """
    if layer.type == "If":
        return _branch(layer, inputs, compute)
    if layer.type in {"Loop", "TensorIterator"}:
        return _Loop(layer, inputs, compute).outputs(hold)
    raise NoKernel(f"{layer.type} has a body, which is not executed")


class _Entry(NamedTuple):
    """An entry of a port map. axis: None where the whole is passed. outer: -1 for none."""

    outer: int
    inner: str
    axis: int | None
    start: int
    end: int
    stride: int
    part: int
    purpose: str


def _entries(entries: Sequence[IrEntry], kind: str) -> list[_Entry]:
    found = []
    for entry in entries:
        if entry.kind == kind:
            data = {"start": 0, "end": -1, "stride": 1, "part_size": 1, **numbered(entry.data)}
            numbers = [data.get(key) for key in ("external_port_id", "start", "end", "stride", "part_size")]
            axis = data.get("axis")
            if not all(isinstance(number, int) for number in [*numbers, 0 if axis is None else axis]):
                raise InputError("expected whole numbers in a port map")
            outer, start, end, stride, part = (int(str(number)) for number in numbers)
            place = None if axis is None else int(axis)
            inner, purpose = str(data.get("internal_layer_id")), str(data.get("purpose", ""))
            found.append(_Entry(outer, inner, place, start, end, stride, part, purpose))
    return found


def _at(inputs: Sequence[NDArray[Any]], entry: _Entry) -> NDArray[Any]:
    if not 0 <= entry.outer < len(inputs):
        raise InputError(f"a port map names the input {entry.outer}, there are {len(inputs)}")
    return inputs[entry.outer]


def _result(results: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in results:
        raise InputError(f"a map names the layer {name:.20}, which is no Result of the body")
    return results[name]


def _branch(
    layer: IrLayer, inputs: Sequence[NDArray[Any]], compute: Callable[[IrNet, Arrays], Arrays]
) -> list[NDArray[Any]]:
    if not inputs or inputs[0].size != 1:
        raise InputError("expected a condition of one element")
    branch = "then" if bool(inputs[0].reshape(())) else "else"
    maps = layer.maps.get(f"{branch}_port_map", [])
    given = {entry.inner: _at(inputs, entry) for entry in _entries(maps, "input")}
    results = compute(layer.bodies[f"{branch}_body"], given)
    return [_result(results, entry.inner) for entry in _entries(maps, "output")]


class _Loop:
    """One run of a Loop or a TensorIterator."""

    def __init__(
        self, layer: IrLayer, inputs: Sequence[NDArray[Any]], compute: Callable[[IrNet, Arrays], Arrays]
    ) -> None:
        self.body, self.compute, self.inputs = layer.bodies["body"], compute, inputs
        maps = layer.maps.get("port_map", [])
        self.takes, self.gives = _entries(maps, "input"), _entries(maps, "output")
        self.edges = [numbered(entry.data) for entry in layer.maps.get(BACK_EDGES, [])]
        self.limit, self.goes_on = self._turns(layer)
        self.condition = next((e.inner for e in self.gives if e.purpose == "execution_condition"), None)

    def _turns(self, layer: IrLayer) -> tuple[int | None, bool]:
        """Return how many turns there are at most, None without a limit, and whether there is a first one."""
        slices = [entry for entry in self.takes if entry.axis is not None]
        counts = [len(list(_parts(_at(self.inputs, entry), entry))) for entry in slices]
        if layer.type == "Loop":
            if len(self.inputs) < 2 or self.inputs[0].size != 1 or self.inputs[1].size != 1:
                raise InputError("expected a number of turns and a condition of one element each")
            trips = int(self.inputs[0].reshape(()))
            counts += [trips] if trips >= 0 else []
            return min(counts, default=None), bool(self.inputs[1].reshape(()))
        if not counts:
            raise InputError("expected an input that is cut along an axis: it says how many turns there are")
        return min(counts), True

    def outputs(self, hold: Callable[[int], object]) -> list[NDArray[Any]]:
        given = {e.inner: _at(self.inputs, e) for e in self.takes if e.axis is None and not e.purpose}
        sliced = {e.inner: list(_parts(_at(self.inputs, e), e)) for e in self.takes if e.axis is not None}
        joined = {e.inner for e in self.gives if e.axis is not None}
        turns: list[Arrays] = []
        collected = 0
        for turn in count() if self.limit is None else range(self.limit):
            if not self.goes_on:
                break
            given.update({name: parts[turn] for name, parts in sliced.items()})
            given.update({e.inner: np.array(turn, np.int64) for e in self.takes if e.purpose == "current_iteration"})
            if turns:  # of turns but the last one only what is joined is wanted
                turns[-1] = {name: turns[-1][name] for name in joined & turns[-1].keys()}
            turns.append(self.compute(self.body, given))
            collected += sum(held_bytes(turns[-1][name]) for name in joined & turns[-1].keys())
            hold(collected)
            given.update({str(e.get("to-layer")): _result(turns[-1], str(e.get("from-layer"))) for e in self.edges})
            if self.condition is not None:
                self.goes_on = bool(_result(turns[-1], self.condition).reshape(()))
        return [self._output(entry, turns, given) for entry in self.gives if entry.outer >= 0]

    def _output(self, entry: _Entry, turns: Sequence[Arrays], given: Arrays) -> NDArray[Any]:
        if entry.axis is not None and turns:
            parts = [_result(turn, entry.inner) for turn in turns]
            return np.concatenate(parts if entry.stride > 0 else parts[::-1], entry.axis)
        if turns:
            return _result(turns[-1], entry.inner)
        for edge in self.edges:
            if entry.axis is None and str(edge.get("from-layer")) == entry.inner:
                return given[str(edge.get("to-layer"))]
        raise NoKernel("a loop without a turn has no value for an output that no input begins")


def _parts(array: NDArray[Any], entry: _Entry) -> Iterator[NDArray[Any]]:
    """Yield the parts of an array along the axis of an entry, the last ones first where the stride is negative."""
    axis = entry.axis or 0
    if not -array.ndim <= axis < array.ndim or entry.part < 1 or entry.stride == 0:
        raise InputError(f"an array of {array.ndim} dimensions cannot be cut along axis {axis} by {entry.part}")
    size = array.shape[axis]
    first, last = (bound + size if bound < 0 else bound for bound in (entry.start, entry.end))
    low, high = min(first, last), max(first, last)
    begins = range(low, high + 1, entry.part)
    for begin in begins if entry.stride > 0 else reversed(begins):
        yield np.take(array, range(begin, min(begin + entry.part, size)), axis)
