"""Peers of several benchmarks, and subprocesses for cold starts."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from specgate.errors import InputError
from tests.benchmarks.timing import Contender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from specgate.descriptors.core import Descriptor

__all__ = ["directml_creates", "fresh", "onnx_check", "openvino_construct", "peer", "run"]


def peer(name: str, prepare: Callable[[], Callable[[], object]]) -> Contender:
    """Return a peer, or an entry that says it is not installed."""
    try:
        return Contender(name, prepare())
    except ImportError as error:
        return Contender(name, None, missing=f"not installed ({error.name})")


@contextmanager
def directml_creates(descriptor: Descriptor, level: str) -> Iterator[Contender]:
    """The DirectML build of a level: the time of CreateOperator in its process."""
    from specgate.dialects.directml.oracle.oracle import DirectMLOracle

    name = f"CreateOperator of DirectML {level}, and Release"
    try:
        oracle = DirectMLOracle(level)
    except InputError as error:
        yield Contender(name, None, missing=str(error))
        return
    try:
        yield Contender(name, lambda: oracle.seconds(descriptor), reports=True)
    finally:
        oracle.close()


def run(command: Sequence[str], folder: str | None = None) -> str:
    """Run a process, in a folder, and return what it prints."""
    # Both sides may store bytecode whatever the environment says, as installed packages do.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, check=True, capture_output=True, env=environment, text=True, cwd=folder).stdout


def fresh(name: str, timed: str, before: str = "", *, own: bool = False) -> Contender:
    """Time a line of code in a subprocess, after the line `before`."""
    code = f"import time\n{before}\nstart = time.perf_counter()\n{timed}\nprint(time.perf_counter() - start)"
    return Contender(name, lambda: float(run([sys.executable, "-c", code])), own=own, reports=True)


def openvino_construct() -> Callable[[], object]:
    """OpenVINO's OneHot, constructed with its inputs."""
    import numpy as np
    from openvino import opset1

    def construct() -> object:
        indices = opset1.parameter([3], np.int64)
        return opset1.one_hot(indices, opset1.constant(np.int64(4)), opset1.constant(1.0), opset1.constant(0.0), -1)

    return construct


def onnx_check() -> Callable[[], object]:
    """onnx.checker on a OneHot node."""
    import onnx

    node = onnx.helper.make_node("OneHot", ["indices", "depth", "values"], ["output"], axis=-1)
    return lambda: onnx.checker.check_node(node)
