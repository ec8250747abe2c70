"""A rejection is explained when its findings are read, with the same result."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

import specgate
from specgate.targets import parse_target
from specgate.validate.check import check_for
from specgate.validate.judge import verdict_with_reasons

BROKEN = {
    "op_type": "Add",
    "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}, {"elem_type": "FLOAT", "shape": [4]}],
    "outputs": [{"elem_type": "FLOAT", "shape": [2, 3]}],
}


@pytest.mark.parametrize("target", ["onnx:17", "onnx:onnxruntime-1.16"])
def test_the_answer_is_computed_without_reasons(monkeypatch, target) -> None:
    questions = []

    def count_call(*args):
        questions.append(args)
        return verdict_with_reasons(*args)

    monkeypatch.setattr("specgate.validate.judge.verdict_with_reasons", count_call)
    verdict = check_for(specgate.descriptor(BROKEN), parse_target(target))
    assert (verdict.accepted, verdict.word, bool(verdict), verdict.target) == (False, "rejected", False, target)
    assert not questions
    assert [f.target for f in verdict.findings] == [target]
    assert verdict.undecided == ()
    assert len(questions) == 1
    assert verdict.findings is verdict.findings


@pytest.mark.parametrize("outcome", [pickle.dumps, copy.copy, copy.deepcopy, repr, specgate.Verdict.to_dict])
def test_every_access_of_a_verdict_computes_its_reasons(outcome) -> None:
    descriptor = specgate.descriptor(BROKEN)
    at_once = verdict_with_reasons(descriptor, "17", "both", None)
    unread = specgate.check(descriptor, "onnx:17")
    result = outcome(unread)
    result = pickle.loads(result) if isinstance(result, bytes) else result
    assert result in (at_once, repr(at_once), at_once.to_dict())


def test_a_lazy_verdict_equals_an_eager_verdict() -> None:
    descriptor = specgate.descriptor(BROKEN)
    at_once = verdict_with_reasons(descriptor, "17", "both", None)
    assert specgate.check(descriptor, "onnx:17") == at_once
    assert replace(specgate.check(descriptor, "onnx:17"), notes=("one",)) == replace(at_once, notes=("one",))


def test_reasons_include_missing_device_capabilities(one_hot) -> None:
    one_hot["desc"]["Axis"] = 7
    one_hot["desc"]["ValuesTensor"]["DataType"] = one_hot["desc"]["OutputTensor"]["DataType"] = "FLOAT16"
    verdict = specgate.check(one_hot, "directml:4.1", device="none")
    assert {f.id.rpartition("/")[2] for f in verdict.findings} == {"axis-range", "device-capability"}


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="a Verdict has no 'reasons'"):
        specgate.check(BROKEN, "onnx:17").reasons  # noqa: B018
