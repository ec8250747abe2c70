"""``specgate place``."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

from specgate.cli import main
from tests.linting.models import INT64, chain, graph, helper, info, model, onnx, relu

DML = "onnxruntime-directml:1.24.4"


@pytest.fixture
def shapes(tmp_path):
    """A model with a computed Reshape, and a Conv newer than the registered ones."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], name="Shape"),
        helper.make_node("Gather", ["s", "zero"], ["d"], name="Gather"),
        helper.make_node("Reshape", ["x", "d"], ["y"], name="Reshape"),
        helper.make_node("Conv", ["i", "w"], ["z"], name="Conv"),
    ]
    inputs = [info("x", [6]), info("i", [1, 3, 8, 8]), info("w", [2, 3, 3, 3])]
    small = [helper.make_tensor("zero", INT64, [1], [0])]
    path = tmp_path / "shapes.onnx"
    onnx.save(model(graph(nodes, inputs, [info("y", None), info("z", None)], small), opsets=[("", 22)], ir=10), path)
    return str(path)


def run(capsys, *arguments):
    code = main(["place", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_summary_precedes_fallback_nodes_and_fixes(shapes, capsys):
    code, out, _ = run(capsys, shapes, "-t", DML)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == (
        "2 of 4 nodes on DirectML in 2 partitions; 2 on the CPU; 1 kernel compiled at the first run "
        "(dynamic sizes or inputs); the session is created"
    )
    assert lines[1].startswith("  CPU  graph/Gather (Gather): shape arithmetic on tensors of")
    assert "  CPU  graph/Conv (Conv): Conv-22, but DirectML has versions 1, 11" in lines
    expected = "which places 2 of 3 nodes on DirectML (without 1 that default graph optimizations remove)"
    assert any("fix:  export at opset 21" in line for line in lines)
    assert expected in " ".join(out.split())


def test_each_node_with_verbose(shapes, capsys):
    _, out, _ = run(capsys, shapes, "-t", DML, "-v")
    assert "  DirectML 2  graph/Reshape (Reshape)  deferred: its input shape is not a constant" in out.splitlines()
    assert "  CPU  graph/Conv (Conv)" in out.splitlines()


def test_a_session_that_fails_is_a_finding(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    body = graph([helper.make_node("Foo", ["x"], ["y"], name="foo", domain="acme")])
    onnx.save(model(body, opsets=[("", 17), ("acme", 1)]), path)
    code, out, _ = run(capsys, str(path), "--target", DML)
    assert code == 1
    assert out.startswith("0 of 1 node on DirectML; 1 without a kernel; the session fails\n")
    assert "  none  graph/foo (acme.Foo): no kernel of acme.Foo is registered for DirectML" in out


def test_json_has_every_node(shapes, capsys):
    code, out, _ = run(capsys, shapes, "-t", f"{DML}@5.0", "--format", "json", "--device", "none")
    document = json.loads(out)
    assert code == 0
    assert (document["target"], document["device"], document["file"]) == (f"{DML}@5.0", [], shapes)
    assert [entry["provider"] for entry in document["nodes"]] == ["DirectML", "CPU", "DirectML", "CPU"]


def test_html_report(shapes, tmp_path, capsys):
    target = tmp_path / "page.html"
    assert run(capsys, shapes, "-t", DML, "--format", "html", "-o", str(target))[:2] == (0, "")
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count('class="part-') == 2
    assert page.count('<tr class="cpu">') == 2
    assert "DirectML → CPU" in page
    assert "export at opset 21" in page


def test_names_in_html_are_escaped(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    onnx.save(model(graph([relu("x", "y", name="<script>alert(1)</script>")])), path)
    _, page, _ = run(capsys, str(path), "-t", DML, "--format", "html")
    assert "<script>alert" not in page


def test_standard_input(monkeypatch, capsys):
    data = chain("x", "y").SerializeToString()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))
    assert run(capsys, "-", "-t", DML)[1].startswith("1 of 1 node on DirectML in 1 partition; the session is created")


def test_copies_and_pins(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    nodes = [relu("x", "a", name="a"), helper.make_node("Det", ["a"], ["b"], name="b"), relu("b", "y", name="y")]
    onnx.save(model(graph(nodes, [info("x", ["N", 2])], [info("y", None)])), path)
    _, out, _ = run(capsys, str(path), "-t", DML, "--pin", "N=2")
    assert "  copies  2 values: b to DirectML, a to CPU" in out.splitlines()
    assert "first run" not in out
    assert "1 kernel compiled at the first run (dynamic sizes or inputs)" in run(capsys, str(path), "-t", DML)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no target: pass --target"),
        (["-t", "onnx:17"], "onnx:17 does not place nodes"),
        (["-t", "onnxruntime-directml:1.2"], "unknown release"),
        (["-t", DML, "--device", "fast"], "expected a device as"),
    ],
)
def test_unusable_input(shapes, capsys, arguments, message):
    code, out, err = run(capsys, shapes, *arguments)
    assert (code, out) == (2, "")
    assert message in err
