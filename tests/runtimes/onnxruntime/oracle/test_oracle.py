"""The oracle without an installation: the protocol, and a host that fails."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle.oracle import Placed, PlacementOracle


def words(answers):
    return [answer.session for answer in answers]


def test_records_become_an_answer(fake_oracle):
    with fake_oracle() as oracle:
        answer = oracle.ask([b"node operator made=0 compiled operator made=80070057 fails=refused"])[0]
    assert (answer.word, answer.error, answer.code) == ("fails", "refused", 6)
    assert answer.nodes == (Placed("r", "Relu", "DirectML"),)
    assert [(onnx_model.hresult, onnx_model.kernel) for onnx_model in answer.operators] == [(0, 0), (0x80070057, 1)]
    assert answer.operators[0].descriptor["desc"]["InputTensor"]["Sizes"] == [1]


def test_operators_compiled_together_share_a_kernel(fake_oracle):
    with fake_oracle() as oracle:
        answer = oracle.ask([b"operator made=0 operator made=0 compiled compiled operator made=0 compiled"])[0]
    assert [onnx_model.kernel for onnx_model in answer.operators] == [0, 0, 1]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, ("0", "0 0")),
        ({"optimisation": "all", "fused": True}, ("99", "1 0")),
        ({"optimisation": "basic", "run": True}, ("1", "0 1")),
    ],
)
def test_the_settings_reach_the_host(fake_oracle, options, shown):
    with fake_oracle(**options) as oracle:
        node = oracle.ask([b"settings"])[0].nodes[0]
    assert (node.op_type, node.name) == shown


def test_a_single_process_answers_many_models(fake_oracle, starts):
    with fake_oracle() as oracle:
        assert words(oracle.ask([b"node"] * 20)) == ["created"] * 20
    assert starts() == 1


@pytest.mark.parametrize(("word", "session"), [("die", "crashed"), ("babble", "crashed"), ("hang", "timeout")])
def test_a_model_that_ends_its_process_does_not_affect_others(fake_oracle, starts, word, session):
    with fake_oracle(timeout=1.5) as oracle:
        answers = oracle.ask([b"node", f"node operator {word}".encode(), b"node"])
    assert words(answers) == ["created", session, "created"]
    assert [onnx_model.hresult for onnx_model in answers[1].operators] == [None]  # what it was about is known
    assert starts() == 3  # asked again in a separate process


@pytest.mark.parametrize("word", ["die-later", "gone-later"])
def test_a_model_that_fails_after_others_is_retried_alone(fake_oracle, word):
    with fake_oracle() as oracle:
        assert words(oracle.ask([b"node", word.encode(), b"node"])) == ["created"] * 3


def test_an_unusual_hresult_retires_the_process(fake_oracle, starts):
    with fake_oracle() as oracle:
        oracle.ask([b"operator made=80070057", b"node"])
        assert starts() == 1
        oracle.ask([b"operator made=8007000e", b"node"])
    assert starts() == 2


def test_a_device_of_another_level_is_rejected(fake_oracle):
    with pytest.raises(InputError, match=r"expected a device of level 6\.4, found 0x5000"):
        fake_oracle(0x5000)


def test_a_closed_oracle_rejects_questions(fake_oracle):
    oracle = fake_oracle()
    oracle.close()
    with pytest.raises(InputError, match="closed"):
        oracle.ask([b"node"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"release": "1.2.3"}, r"no build of onnxruntime-directml '1\.2\.3' is available; there are 1\.24\.4"),
        ({"level": "3.1"}, r"one of 5\.0, .*, found '?3\.1"),
        ({"optimisation": "most"}, "expected one of off, basic, extended, all, found 'most'"),
    ],
)
def test_unknown_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        PlacementOracle(**options)
