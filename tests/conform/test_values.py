"""Comparison of values: cases that cannot be computed are counted, others compared."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from specgate.conform import values
from specgate.conform.cases import fill
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution.engine import execute_at
from specgate.oracles.protocol import Reply, Values
from tests.conform.fakes import backend

LRN_GRAD = "LOCAL_RESPONSE_NORMALIZATION_GRAD"


class Fake:
    """Compute with our kernels, but fail for every other descriptor."""

    def __init__(self):
        self.asked = 0

    def compute_many(self, descriptor, sets):
        self.asked += 1
        if self.asked % 2:
            raise InputError("no way to say it")
        return [{"fake": Values(execute_at(descriptor, arrays, "6.4"), Reply("accepted"))} for arrays in sets]

    def close(self):
        pass


def test_unsupported_cases_are_counted_and_others_compared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "package", lambda _: backend(values=lambda _: Fake()))
    with np.errstate(all="ignore"):
        tallies, _ = values.compare_values("directml", "ELEMENT_WISE_ABS", "6.4", 16, 1, float("inf"))
    tallies_by_name = {tally.implementation: tally for tally in tallies}
    assert dict(tallies_by_name["specgate"].unavailable) == {"no way to say it": 8}
    assert (tallies_by_name["fake"].cases, tallies_by_name["fake"].equal) == (8, 8)


class Same:
    """Compute with our kernels at an opset."""

    def compute_many(self, descriptor, sets):
        return [{"same": Values(execute_at(descriptor, arrays, "21"), Reply("accepted"))} for arrays in sets]

    def close(self):
        pass


def test_tolerance_uses_inferred_outputs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "package", lambda _: backend(values=lambda _: Same()))
    for name, inputs in (("Softmax", 1), ("Conv", 2)):
        node = {"op_type": name, "inputs": [{"elem_type": "FLOAT16", "shape": [2, 3, 3]}] * inputs, "outputs": []}
        monkeypatch.setattr(values, "_executable", lambda *_, node=node: iter([read_dict(node, "onnx")]))
        (tally,), _ = values.compare_values("onnx", name, "21", 4, 1, float("inf"))
        assert (tally.cases, tally.equal) == (4, 4)


class Fixed:
    """Answer with the values given to the constructor."""

    def __init__(self, **outputs):
        self.outputs = outputs

    def compute_many(self, _descriptor, sets):
        return [{"fixed": Values(self.outputs, Reply("accepted"))} for _ in sets]

    def close(self):
        pass


def tally_of(monkeypatch, node, level, **outputs):
    monkeypatch.setattr(values, "package", lambda _: backend(values=lambda _: Fixed(**outputs)))
    monkeypatch.setattr(values, "_executable", lambda *_: iter([read_dict(node, "onnx")]))
    tallies, _ = values.compare_values("onnx", node["op_type"], level, 4, 1, float("inf"))
    return {tally.implementation: tally for tally in tallies}


def test_declared_sizes_are_not_compared(monkeypatch: pytest.MonkeyPatch):
    node = {"op_type": "Neg", "inputs": [{"elem_type": "FLOAT", "shape": [0]}],
            "outputs": [{"elem_type": "FLOAT", "shape": [3]}]}  # fmt: skip
    result = tally_of(monkeypatch, node, "21", Y=np.zeros(0, np.float32))["fixed"]
    assert (result.cases, result.equal) == (4, 4)


def test_unrequested_output_is_not_compared(monkeypatch: pytest.MonkeyPatch):
    node = {"op_type": "MaxPool", "inputs": [{"elem_type": "FLOAT", "shape": [0, 1, 1]}], "outputs": [],
            "attributes": {"kernel_shape": [1]}}  # fmt: skip
    result = tally_of(monkeypatch, node, "21", Y=np.zeros((0, 1, 1), np.float32))["fixed"]
    assert (result.cases, result.equal) == (4, 4)


def test_tensors_of_the_same_field_have_separate_names(monkeypatch: pytest.MonkeyPatch):
    part = {"elem_type": "FLOAT", "shape": [0, 1]}
    node = {"op_type": "Split", "inputs": [{"elem_type": "FLOAT", "shape": [0, 2]}], "outputs": [part, part],
            "attributes": {"axis": 1, "num_outputs": 2}}  # fmt: skip
    parts = {f"outputs_{index}": np.zeros((0, 1), np.float32) for index in range(2)}
    result = tally_of(monkeypatch, node, "21", **parts)["fixed"]
    assert (result.cases, result.equal) == (4, 4)
    result = tally_of(monkeypatch, node, "21", outputs_0=np.zeros((0, 1), np.float32))["fixed"]
    assert (result.cases, result.equal) == (4, 0)


def test_elements_that_rules_reject_are_not_compared(monkeypatch: pytest.MonkeyPatch):
    node = {"op_type": "ReduceSum", "inputs": [{"elem_type": "FLOAT", "shape": []}, {"elem_type": "INT64",
            "shape": [1]}], "outputs": []}  # fmt: skip
    result = tally_of(monkeypatch, node, "21", reduced=np.float32(0))
    assert dict(result["specgate"].unavailable) == {"elements that rules reject": 4}
    assert "fixed" not in result


def test_entries_without_elements_explain_shape_differences(monkeypatch: pytest.MonkeyPatch):
    node = {"op_type": "OneHot", "inputs": [{"elem_type": "INT64", "shape": [1]}, {"elem_type": "FLOAT", "shape": []},
            {"elem_type": "INT64", "shape": [2]}], "outputs": []}  # fmt: skip
    wrong = np.zeros((1, 99), np.int64)
    assert [d.kind for d in tally_of(monkeypatch, node, "21", output=wrong)["fixed"].differing] == ["unexplained"]
    side = Fixed(output=wrong)
    monkeypatch.setattr(
        side, "compute_many", lambda _, sets: [{"reference": Values(side.outputs, Reply("accepted"))} for _ in sets]
    )
    monkeypatch.setattr(values, "package", lambda _: backend(values=lambda _: side))
    monkeypatch.setattr(values, "_executable", lambda *_: iter([read_dict(node, "onnx")]))
    ((tally,), _) = values.compare_values("onnx", "OneHot", "21", 4, 1, float("inf"))
    assert [d.kind for d in tally.differing] == ["bug"]


def test_unsupported_kernel_is_counted(monkeypatch: pytest.MonkeyPatch):
    node = {
        "op_type": "Cast",
        "inputs": [{"elem_type": "STRING", "shape": [1]}],
        "outputs": [],
        "attributes": {"to": 9},
    }
    result = tally_of(monkeypatch, node, "24", output=np.zeros(1, np.bool_))
    assert sum(result["specgate"].unavailable.values()) == 4


def test_strings_are_filled_with_strings():
    node = {"op_type": "Identity", "inputs": [{"elem_type": "STRING", "shape": [9]}], "outputs": []}
    result = fill(read_dict(node, "onnx"), "21", Random(1), tame=True)["input"]
    assert {type(each) for each in result} == {str}


@pytest.mark.parametrize(("place", "kind"), [(None, "recorded"), (3, "unexplained")])
def test_values_that_an_entry_computes_explain_every_element(monkeypatch: pytest.MonkeyPatch, place, kind):
    """The difference of these large terms exceeds the entry's own condition."""
    x, g = (np.array([[[row]]], np.float16) for row in ([-0.1, 0.2, -0.8, -1, -0.1], [4, -3, 1, -4, 13]))
    arrays = {"InputTensor": x, "InputGradientTensor": g}
    tensor: Any = {"DataType": "FLOAT16", "Sizes": [1, 1, 1, 5]}
    desc: dict[str, Any] = {
        **dict.fromkeys([*arrays, "OutputGradientTensor"], tensor),
        "CrossChannel": False,
        "LocalSize": 3,
    }
    desc |= {"Alpha": 0.0001, "Beta": 0.75, "Bias": 0.0}
    descriptor = read_dict({"type": f"DML_OPERATOR_{LRN_GRAD}", "desc": desc}, "directml")
    built = dict(execute_at(descriptor, arrays, "6.4", basis="observed", by="values"))
    if place is not None:
        built["OutputGradientTensor"][0, 0, 0, place] /= 2
    answers = [{"values": Values(built, Reply("accepted"))}] * 4
    monkeypatch.setattr(Fixed, "compute_many", lambda *_: answers)
    monkeypatch.setattr(values, "package", lambda _: backend(values=lambda _: Fixed()))
    monkeypatch.setattr(values, "_executable", lambda *_: iter([descriptor]))
    monkeypatch.setattr(values, "fill", lambda *_, **__: arrays)
    tallies, _ = values.compare_values("directml", LRN_GRAD, "6.4", 4, 1, float("inf"))
    (tally,) = (tally for tally in tallies if tally.implementation == "values")
    assert [each.kind for each in tally.differing] == [kind]
