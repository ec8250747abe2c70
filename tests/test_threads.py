"""The public API from several threads, from the first use on, and in forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from specgate.caching import cached_property
from tests.paths import ROOT

pytest.importorskip("onnx", reason="THREADS ARE NOT TESTED: pip install onnx (it is in the test extra)")

WORK = """
import os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy, specgate

ONE_HOT = {
    "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]},
    "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
}
INPUTS = {
    "IndicesTensor": numpy.array([[[[0], [1], [5]]]], numpy.uint32),
    "ValuesTensor": numpy.array([[[[2, 3]]]], numpy.float32),
}
RELU = {"op_type": "Relu", "domain": "", "inputs": [{"elem_type": "FLOAT", "shape": [2, "N"]}],
        "outputs": [{"elem_type": "FLOAT", "shape": [2, 3]}], "attributes": {}}


def one_hot(axis):
    return {"type": "DML_OPERATOR_ONE_HOT", "desc": {**ONE_HOT, "Axis": axis}}


def verdict(descriptor, target):
    found = specgate.check(descriptor, target=target)
    return found.accepted, [str(finding) for finding in found.findings]


def linted(file, *targets):
    report = specgate.lint(f"tests/data/models/{file}", targets=list(targets))
    return report.nodes, list(map(str, report.findings)), list(map(str, report.undecided)), len(report.no_table)


def work():
    return [
        verdict(one_hot(3), "directml:6.4"),
        verdict(one_hot(4), "directml:2.1"),
        verdict(RELU, "onnx:17"),
        specgate.minimum(one_hot(3)),
        specgate.execute(one_hot(3), INPUTS)["OutputTensor"].tolist(),
        linted("embedding_torch.onnx", "onnx:17", "onnx:13", "openvino:2024.0"),
        linted("onehot16_openvino.xml", "openvino:2024.0"),
    ]
"""


def read_output(code: str) -> str:
    command = [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", WORK + code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pytest.mark.slow
def test_eight_threads_agree_with_a_single_thread() -> None:
    alone = read_output("print(work())")
    together = read_output(
        "sys.setswitchinterval(1e-5)\n"
        "begin = threading.Barrier(8)\n"
        "def first(_): begin.wait(); return [work(), work()]\n"
        "with ThreadPoolExecutor(8) as threads: found = list(threads.map(first, range(8)))\n"
        "assert all(each == found[0][0] for pair in found for each in pair)\n"
        "print(found[0][0])\n"
    )
    assert together == alone
    assert "[(True, [])" in alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked on this system")
def test_a_fork_during_work_of_other_threads() -> None:
    """Three forks while a thread lints and executes; imports, which have locks, are done."""
    result = read_output(
        "expected, children, enough = work(), [], threading.Event()\n"
        "def go_on():\n"
        "    while not enough.is_set(): work()\n"
        "thread = threading.Thread(target=go_on); thread.start()\n"
        "for _ in range(3):\n"
        "    enough.wait(0.1)\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os._exit(0 if work() == expected else 1)\n"
        "    children.append(child)\n"
        "print([os.waitpid(child, 0)[1] for child in children], flush=True)\n"
        "enough.set(); thread.join()\n"
        "assert work() == expected\n"
    )
    assert result == f"{[0] * 3}\n"


class Slow:
    begun, go = threading.Event(), threading.Event()

    def __init__(self, number: int) -> None:
        self.number = number

    @cached_property
    def value(self) -> list[int]:
        """Slow work of the first instance."""
        if self.number == 0:
            self.begun.set()
            assert self.go.wait(60)
        return [self.number]


def test_computing_a_value_does_not_block_other_threads() -> None:
    first = Slow(0)
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    assert Slow.begun.wait(60)
    other: list[list[int]] = []
    second = threading.Thread(target=lambda: other.append(Slow(1).value), daemon=True)
    second.start()
    second.join(30)
    Slow.go.set()
    thread.join(60)
    assert other == [[1]]
    assert first.value is first.value
    assert first.value == [0]
    assert Slow.value.__doc__ == "Slow work of the first instance."
