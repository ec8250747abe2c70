"""Limits of inference: small files with endless work, shared processes, forks."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.infer import process
from specgate.dialects.onnx.infer.inference import MAX_NODES, expands_too_far
from specgate.dialects.onnx.lint.units import bodies
from tests.dialects.onnx.infer.samples import bare, constants, hide, make_undecided, one_hot_of
from tests.linting.models import BOOL, INT64, branch, call, chain, function, graph, helper, info, model
from tests.paths import ROOT

OPSETS = [("", 17), ("d", 1)]
posix_only = pytest.mark.skipif(os.name == "nt", reason="this system has no such limit")


@pytest.fixture
def slow_child(monkeypatch, tmp_path):
    """Replace the inference process's work."""

    def use(statement):
        script = (ROOT / "specgate/dialects/onnx/infer/child.py").read_text(encoding="utf-8")
        path = tmp_path / "slow.py"
        questions = 'answer(b"+", infer_types(inference, data, nested=nested, values=values, keep_names=keep_names))'
        assert questions in script
        path.write_text(script.replace(questions, statement), encoding="utf-8")
        process.close()
        monkeypatch.setattr(process, "_CHILD", str(path))

    yield use
    process.close()


def calling(count, times, *, nested=False):
    """Return a model of functions F0, F1 … that each call the next several times.

    With `nested` the calls are in an If.
    """
    functions = []
    for number in range(count):
        names = ["a", *(f"t{i}" for i in range(1, times)), "b"]
        nodes = [call([a], [b], f"F{number + 1}") for a, b in itertools.pairwise(names)]
        if number == count - 1:
            nodes = [helper.make_node("Identity", ["a"], ["b"])]
        elif nested:
            condition = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", BOOL, [], [True]))
            other = graph([helper.make_node("Identity", ["a"], ["e"])], [], [bare("e")])
            nodes = [condition, branch(graph(nodes, [], [bare("b")]), other, target="b")]
            nodes[1].attribute[0].g.output[0].name = nodes[1].attribute[0].g.node[-1].output[0] = "then"
        functions.append(function(nodes, name=f"F{number}", opsets=OPSETS))
    nodes = [call(["ids"], ["same"], "F0"), one_hot_of("same")]
    body = graph(nodes, [info("ids", [3], INT64)], [bare("hot")], constants())
    return model(body, opsets=OPSETS, functions=functions)


def exceeds_limit(onnx_model):
    ours = read_model_bytes(onnx_model.SerializeToString())
    return expands_too_far(ours, list(bodies(ours)))


def test_exponential_function_expansion_is_skipped_and_reported():
    onnx_model = calling(40, 2)
    assert len(onnx_model.SerializeToString()) < 4000
    report = specgate.lint(onnx_model, ["onnx:17"])
    (finding,) = [f for f in report.findings if f.id == "onnx/model/not-inferred"]
    assert finding.severity == "note"
    assert f"with functions inlined, the model has more than {MAX_NODES} nodes" in finding.message
    assert report.undecided


def test_expanded_function_size_is_counted():
    assert not exceeds_limit(calling(16, 2))
    assert exceeds_limit(calling(20, 2))
    assert not exceeds_limit(calling(40, 1))
    assert exceeds_limit(calling(3, 800))
    assert not exceeds_limit(chain("x", "y"))


def test_nested_calls_are_counted_and_cycles_are_unlimited():
    assert exceeds_limit(calling(20, 2, nested=True))
    assert not exceeds_limit(calling(10, 2, nested=True))
    circle = calling(3, 1)
    circle.functions[2].node[0].op_type, circle.functions[2].node[0].domain = "F0", "d"
    assert exceeds_limit(circle)


def test_long_chains_of_functions_are_counted_without_recursion():
    assert not exceeds_limit(calling(3000, 1))


@pytest.mark.slow
@posix_only
def test_subprocess_is_limited_by_cpu_time(slow_child, monkeypatch):
    slow_child("exec('while True: pass')")
    monkeypatch.setattr(process, "SECONDS", 0.5)
    monkeypatch.setattr(process, "TIMEOUT_FACTOR", 1000.0)
    open_, (finding,) = make_undecided(hide())
    assert len(open_) == 1
    assert "did not finish within" in finding.message
    assert "seconds of CPU time" in finding.message


@posix_only
def test_memory_limit_depends_on_the_file_size(slow_child):
    slow_child("x = bytearray(1 << 30); answer(b'+', x[:0])")
    open_, findings = make_undecided(hide())
    assert len(open_) == 1
    assert "MemoryError" in findings[0].message


@pytest.mark.slow
def test_doubling_values_stop_within_the_time_budget():
    """A shape is propagated until fifty self-concatenations exceed memory."""
    nodes = [helper.make_node("Shape", ["x"], ["v0"])]
    nodes += [helper.make_node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=0) for i in range(50)]
    new_model = model(graph(nodes, [info("x", [2])], [info("v50", None, INT64)]))
    begun = time.monotonic()
    report = specgate.lint(new_model, ["onnx:17"])
    assert "onnx/model/not-inferred" in {f.id for f in report.findings}
    budget = process.Budget(0)
    assert time.monotonic() - begun < budget.left + process.START_SECONDS


@pytest.mark.slow
def test_waiting_for_the_subprocess_does_not_count_as_timeout(slow_child, monkeypatch):
    """Sixteen threads share a process; the last waits longer than its own timeout."""
    monkeypatch.setattr(process, "SECONDS", 5.0)
    slow_child(
        "import time; time.sleep(0.5); "
        'answer(b"+", infer_types(inference, data, nested=nested, values=values, keep_names=keep_names))'
    )
    make_undecided(hide())  # it is up
    monkeypatch.setattr(process, "TIMEOUT_FACTOR", 1.2)  # 6 s, and the last thread waits for 8
    with ThreadPoolExecutor(16) as threads:
        result = list(threads.map(lambda _: make_undecided(hide()), range(16)))
    assert result == [([], [])] * 16


def runs_with_a_model(code: str, folder) -> None:
    """Run a program on a model that needs inference; it must end without output."""
    path = folder / "model.onnx"
    path.write_bytes(hide().SerializeToString())
    run = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, str(path)],
        cwd=ROOT,
        timeout=200,
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked on this system")
def test_fork_during_inference_can_lint(tmp_path):
    code = (
        "import os, sys, threading, time, specgate\n"
        "from specgate.dialects.onnx.infer import process\n"
        "model = sys.argv[1]\n"
        "specgate.lint(model, ['onnx:17'])\n"
        "held, go = threading.Event(), threading.Event()\n"
        "def hold():\n"
        "    with process._state.lock: held.set(); go.wait()\n"  # as a thread that waits for its answer
        "thread = threading.Thread(target=hold); thread.start(); held.wait()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(0 if not specgate.lint(model, ['onnx:17']).undecided else 1)\n"
        "code = os.waitpid(child, 0)[1]\n"
        "go.set(); thread.join()\n"
        "assert not specgate.lint(model, ['onnx:17']).undecided\n"
        "sys.exit(os.waitstatus_to_exitcode(code))\n"
    )
    runs_with_a_model(code, tmp_path)


def test_program_exit_does_not_wait_for_inference(tmp_path):
    code = (
        "import sys, threading, specgate\n"
        "from specgate.dialects.onnx.infer import process\n"
        "specgate.lint(sys.argv[1], ['onnx:17'])\n"
        "held = threading.Event()\n"
        "def hold():\n"
        "    with process._state.lock: held.set(); threading.Event().wait()\n"
        "threading.Thread(target=hold, daemon=True).start(); held.wait()\n"
        "print(process._state.child.process.pid)\n"
    )
    runs_with_a_model(code, tmp_path)
