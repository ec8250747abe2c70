"""Counts, types, ranks and sizes of values that pass into and out of bodies.

The bodies of If, Loop and Scan. The expected behaviour was measured with onnxruntime 1.20.1 and 1.32.0; the installed
release is measured again.
"""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import BOOL, FLOAT, INT64, graph, helper, info, model
from tests.runtimes.onnxruntime.agreement import contradiction, installed_session

node = helper.make_node


def open_info(name, kind=FLOAT):
    return info(name, None, kind)


def scan(state, element, *, outputs=("q", "y"), **attributes):
    body = graph(
        [node("Identity", ["s"], ["s2"]), node("Identity", ["e"], ["o"])],
        [info("s", state), info("e", element)],
        [open_info("s2"), open_info("o")],
    )
    new_node = node("Scan", ["z", "x"], list(outputs), body=body, num_scan_inputs=1, **attributes)
    return model(graph([new_node], [info("z", [3]), info("x", [3, 2])], [open_info("q")]))


def branch(operator="Identity", *, outputs=("o",), kind=FLOAT, inputs=(), sizes=(2,), **attributes):
    nodes = [node(operator, ["x"], [name], **attributes) for name in outputs]
    return graph(nodes, inputs, [info(name, sizes, kind) for name in outputs])


def condition(later, otherwise, outputs=("y",), opset=13):
    new_node = node("If", ["c"], list(outputs), then_branch=later, else_branch=otherwise)
    return model(graph([new_node], [info("c", [], BOOL), "x"], [open_info("y")]), opsets=[("", opset)])


def loop(kind=FLOAT, sizes=(2,), *, carried=("x",), outputs=("y",)):
    body = graph(
        [node("Identity", ["t"], ["go"]), node("Identity", ["v"], ["z"])],
        [info("i", [], INT64), info("t", [], BOOL), info("v", sizes, kind)],
        [info("go", [], BOOL), open_info("z", kind)],
    )
    new_node = node("Loop", ["n", "", *carried], list(outputs), body=body)
    return model(graph([new_node], [info("n", [], INT64), "x"], [open_info("y")]))


MODELS = {
    "scan": ("created", lambda: scan([3], [2])),
    "scan along another axis": ("created", lambda: scan([3], [3], scan_input_axes=[1])),
    "scan along the last axis": ("created", lambda: scan([3], [3], scan_input_axes=[-1])),
    "scan with named sizes": ("created", lambda: scan(["k"], ["m"])),
    "state of another size": ("fails", lambda: scan([4], [2])),
    "state of another rank": ("fails", lambda: scan([3, 1], [2])),
    "element of another size": ("fails", lambda: scan([3], [3])),
    "element of another rank": ("fails", lambda: scan([3], [3, 2])),
    "scan with an output too few": ("fails", lambda: scan([3], [2], outputs=["q"])),
    "scan with an output too many": ("fails", lambda: scan([3], [2], outputs=["q", "y", "w"])),
    "if": ("created", lambda: condition(branch(), branch())),
    "branches of two ranks": (
        "created",
        lambda: condition(branch(), branch("Unsqueeze", sizes=(1, 2), axes=[0]), opset=11),
    ),
    "branches of two ranks at opset 10": (
        "fails",
        lambda: condition(branch(), branch("Unsqueeze", sizes=(1, 2), axes=[0]), opset=10),
    ),
    "branches of two types": ("fails", lambda: condition(branch(), branch("Cast", kind=INT64, to=INT64))),
    "branches of two counts": ("fails", lambda: condition(branch(), branch(outputs=("o", "o2")))),
    "if with an output too many": ("fails", lambda: condition(branch(), branch(), outputs=("y", "w"))),
    "if with an output too few": (
        "fails",
        lambda: condition(branch(outputs=("o", "o2")), branch(outputs=("o", "o2"))),
    ),
    "branches with inputs": ("fails", lambda: condition(branch(inputs=["x"]), branch(inputs=["x"]))),
    "loop": ("created", loop),
    "a value that grows": ("created", lambda: loop(sizes=(3,))),
    "a value of another rank": ("created", lambda: loop(sizes=(2, 1))),
    "a value of another type": ("fails", lambda: loop(INT64)),
    "a value that the body lacks": ("fails", lambda: loop(carried=["x", "x"])),
    "loop with an output too many": ("fails", lambda: loop(outputs=["y", "w", "k"])),
}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["onnxruntime:1.20.1", "onnxruntime:1.32.0", "onnxruntime-directml:1.24.4"])
@pytest.mark.parametrize("name", MODELS)
def test_subgraph_inputs_and_outputs(name, target):
    session, make = MODELS[name]
    onnx_model = make()
    assert specgate.place(onnx_model, target).session == session
    assert contradiction(onnx_model.SerializeToString(), target) is None


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODELS)
def test_the_installed_release_agrees(name):
    session, make = MODELS[name]
    assert installed_session(make().SerializeToString()) == session
