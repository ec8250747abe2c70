"""Values of both sides: what cannot be computed is counted, and the others are compared all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from specgate.conform import values
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution.engine import execute_at
from specgate.oracles.protocol import Reply, Values

if TYPE_CHECKING:
    import pytest


class Fake:
    """Computes what our kernels do, but cannot be asked every other descriptor."""

    def __init__(self):
        self.asked = 0

    def values_many(self, descriptor, sets):
        self.asked += 1
        if self.asked % 2:
            raise InputError("no way to say it")
        return [{"fake": Values(execute_at(descriptor, arrays, "6.4"), Reply("accepted"))} for arrays in sets]

    def close(self):
        pass


def test_what_cannot_be_asked_is_counted_and_the_rest_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "open_values", lambda *_: Fake())
    with np.errstate(all="ignore"):
        tallies, _ = values.compare_values("directml", "ELEMENT_WISE_ABS", "6.4", 16, 1, float("inf"))
    found = {tally.implementation: tally for tally in tallies}
    assert dict(found["specgate"].unavailable) == {"no way to say it": 8}
    assert (found["fake"].cases, found["fake"].equal) == (8, 8)


class Same:
    """Computes what our kernels do at an opset."""

    def values_many(self, descriptor, sets):
        return [{"same": Values(execute_at(descriptor, arrays, "21"), Reply("accepted"))} for arrays in sets]

    def close(self):
        pass


def test_a_tolerance_goes_by_outputs_that_no_descriptor_states(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "open_values", lambda *_: Same())
    for name, inputs in (("Softmax", 1), ("Conv", 2)):
        node = {"op_type": name, "inputs": [{"elem_type": "FLOAT16", "shape": [2, 3, 3]}] * inputs, "outputs": []}
        monkeypatch.setattr(values, "_executable", lambda *_, node=node: iter([read_dict(node, "onnx")]))
        (tally,), _ = values.compare_values("onnx", name, "21", 4, 1, float("inf"))
        assert (tally.cases, tally.equal) == (4, 4)
