"""Parsing of a runtime's log and errors."""

from __future__ import annotations

import json

import pytest

from specgate.runtimes.onnxruntime.oracle.oracle import Answer, CreatedOperator, Placed, error_text, placed_nodes

LOG = [
    "Node placements",
    " Node(s) placed on [DmlExecutionProvider]. Number of nodes: 2",
    "  Gemm (first)",
    "  LayerNormalization ()",
    " Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1",
    "  Shape (a (b) c)",
    "Some nodes were not assigned to the preferred execution providers which may or may not have an negative impact.",
]


def test_nodes_are_read_with_their_providers():
    assert placed_nodes(LOG) == (
        Placed("first", "Gemm", "DirectML"),
        Placed("", "LayerNormalization", "DirectML"),
        Placed("a (b) c", "Shape", "CPU"),
    )


def test_a_provider_without_a_short_name_keeps_its_full_name():
    lines = [" Node(s) placed on [XExecutionProvider]. Number of nodes: 1", "  Relu (r)"]
    assert placed_nodes(lines) == (Placed("r", "Relu", "XExecutionProvider"),)


def test_a_single_provider_is_logged_without_nodes():
    assert placed_nodes(["Node placements", " All nodes placed on [CPUExecutionProvider]. Number of nodes: 3"]) == ()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            (
                "Exception during initialization: C:\\a\\b\\x.cpp(12)\\onnxruntime.dll!00006FFFF82060DE: "
                "(caller: 00006FFFF825C0C1) Exception(3) tid(24) 80070057 Invalid parameter.\r\n"
            ),
            "Exception during initialization: 80070057 Invalid parameter.",
        ),
        ("D:\\a\\core\\framework\\model.cc:149 Model::Model Unsupported", "Model::Model Unsupported"),
        ("/onnxruntime/core/graph/model.cc:149 Unsupported\n model", "Unsupported model"),
        ("Invalid value (3) of a/b", "Invalid value (3) of a/b"),
    ],
)
def test_errors_are_stripped_of_build_details(text, plain):
    assert error_text(text) == plain


def test_an_answer_is_plain_data():
    relu = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}
    answer = Answer(
        "fails",
        "no",
        9,
        (Placed("n", "Relu", "CPU"),),
        (CreatedOperator(relu, 0x80070057, 0), CreatedOperator(relu, None, 1, True)),
        seconds=0.25,
    )
    assert json.loads(json.dumps(answer.to_dict())) == {
        "session": "fails",
        "error": "no",
        "code": 9,
        "nodes": [{"name": "n", "op_type": "Relu", "provider": "CPU"}],
        "operators": [
            {"descriptor": relu, "hresult": "0x80070057", "kernel": 0, "deferred": False},
            {"descriptor": relu, "hresult": None, "kernel": 1, "deferred": True},
        ],
        "run": "",
        "seconds": 0.25,
    }


@pytest.mark.parametrize(("word", "session"), [("created", "created"), ("fails", "why"), ("crashed", "crashed")])
def test_session_outcomes_as_words(word, session):
    assert Answer(word, "why" if word == "fails" else "").session == session
