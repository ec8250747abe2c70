"""Types and shapes that a model leaves out, asked of the onnx package in a process that may die or hang."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.linting.infer_child import HEADER
from specgate.linting.onnx_strip import question
from specgate.linting.onnx_walk import finding, label
from specgate.models.onnx_model import read_model_bytes
from specgate.models.onnx_structure import OnnxGraph, OnnxType

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.models.onnx_structure import OnnxModel
    from specgate.verdict import Finding

    Types = dict[int, dict[str, OnnxType]]

__all__ = ["Inferred", "begin", "close", "installed"]

SECONDS: Final = 60.0  # for one model, with all attempts
START_SECONDS: Final = 60.0  # for importing onnx on a busy machine
MOST_BYTES: Final = 1 << 30  # of a stripped model; protobuf takes less than twice as much
MOST_CULPRITS: Final = 3
_CHILD: Final = str(Path(__file__).with_name("infer_child.py"))


@dataclass(slots=True)
class Inferred:
    """What was found: by graph (its id) and name the type. findings: what kept it from being all."""

    types: Types = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


class _Failed(Exception):
    """The process gave no answer. slow: it took too long, so that asking for less would take even longer."""

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        super().__init__(reason)
        self.slow = slow


def installed() -> bool:
    """Return whether the onnx package can be imported, without importing it."""
    from importlib.util import find_spec

    try:
        return find_spec("onnx") is not None and not getattr(sys, "frozen", False)
    except (ImportError, ValueError):  # somebody has taken it out of sys.modules
        return False


def begin(model: OnnxModel) -> Callable[[], Inferred]:
    """Ask in a thread for the types in every graph of `model` but its functions'; return what waits for the answer.

    A node at which the onnx package fails is left out and named in a finding; the rest is still inferred. Till the
    answer is there `model` must not change.
    """
    deadline = time.monotonic() + SECONDS
    data, graphs = question(model)
    answer: list[bytes | Exception] = []

    def ask() -> None:
        try:
            answer.append(_asked(data, len(graphs) > 1, deadline))
        except Exception as error:  # noqa: BLE001  # it is raised where somebody waits
            answer.append(error)

    def first() -> Types:
        thread.join()
        if isinstance(answer[0], Exception):
            raise answer[0]
        return _types(answer[0], graphs)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    return lambda: _inferred(model, first, deadline)


def _inferred(model: OnnxModel, answer: Callable[[], Types], deadline: float) -> Inferred:
    inferred = Inferred()
    left_out: set[int] = set()
    while True:
        try:
            inferred.types = answer()
        except _Failed as error:
            culprit = None
            if not error.slow and len(left_out) < MOST_CULPRITS:
                culprit = _culprit(model, left_out, deadline)
            inferred.findings.append(_told(model, error, culprit))
            if culprit is None:
                return inferred
            left_out.add(culprit)
            answer = partial(_answer, model, left_out, None, deadline)
        else:
            return inferred


def _told(model: OnnxModel, error: _Failed, culprit: int | None) -> Finding:
    if culprit is None:
        message = f"types and shapes that the model leaves out stay unknown: {error}"
        return finding("not-inferred", "note", message, (model.file, "graph", None))
    node = model.graph.nodes[culprit]
    message = f"the types of what this node computes stay unknown: {error}"
    at = (model.file, f"graph/{label(node, culprit)}", node.op_type)
    return finding("not-inferred", "note", message, at)


def _culprit(model: OnnxModel, left_out: set[int], deadline: float) -> int | None:
    """Return the outermost node with which the package fails, and not without it; None if there is no such one."""

    def fails(upto: int) -> bool:
        try:
            _answer(model, left_out, upto, deadline)
        except _Failed as error:
            if error.slow:
                raise
            return True
        return False

    low, high = 0, len(model.graph.nodes)
    try:
        if fails(0):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(middle) else (middle, high)
    except _Failed:
        return None
    return high - 1 if high else None


def _answer(model: OnnxModel, left_out: set[int], upto: int | None, deadline: float) -> Types:
    data, graphs = question(model, left_out, upto)
    return _types(_asked(data, len(graphs) > 1, deadline), graphs)


def _types(answer: bytes, graphs: list[OnnxGraph]) -> Types:
    try:
        nodes = read_model_bytes(answer, "<inference>").graph.nodes
    except InputError as error:
        raise _Failed(f"the onnx package answers what cannot be read ({error})", slow=True) from None
    types: Types = {}
    if len(nodes) != len(graphs):
        raise _Failed("the onnx package answers for another model", slow=True)
    for graph, node in zip(graphs, nodes, strict=True):
        held = node.attributes["g"].value
        assert isinstance(held, OnnxGraph)  # as the child writes it  # noqa: S101
        types[id(graph)] = {info.name: info.type for info in held.value_infos if info.type is not None}
    return types


class _Child:
    """The process: started when it is first asked, and again after it died."""

    def __init__(self) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-P", _CHILD, str(START_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            self.read(START_SECONDS)
        except _Failed:
            self.end()
            raise

    def ask(self, data: bytes, nested: bool, seconds: float) -> bytes:
        """Send a model and return the answer, which speaks of subgraphs if nested; raise _Failed if there is none."""
        pipe = self.pipe(self.process.stdin)
        with suppress(OSError):  # it died; reading says so too
            pipe.write(HEADER.pack(nested, seconds, len(data)))
            pipe.write(data)
            pipe.flush()
        return self.read(seconds)

    def read(self, seconds: float) -> bytes:
        """Return what it says next, which it does within `seconds`, or ends."""
        pipe = self.pipe(self.process.stdout)
        begun = time.monotonic()
        try:
            header = pipe.read(9)
            data = pipe.read(int.from_bytes(header[1:], "little")) if len(header) == 9 else b""
        except (OSError, OverflowError, ValueError, MemoryError) as error:
            raise _Failed(f"the process of the onnx package cannot be understood ({error!r:.80})") from None
        if len(header) < 9 or len(data) < int.from_bytes(header[1:], "little"):
            code = self.process.wait()
            if time.monotonic() - begun >= seconds:
                raise _Failed(f"the onnx package gave no answer within {seconds:.0f} seconds", slow=True)
            raise _Failed(f"the process of the onnx package {_ending(code)}")
        if header[:1] == b"-":
            raise _Failed(f"the onnx package says {shown(data.decode('utf-8', 'replace'), 200)}")
        return data

    @staticmethod
    def pipe(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None  # both are pipes  # noqa: S101
        return stream

    def end(self) -> None:
        """End the process and wait for it, unless it is that of a parent that was forked."""
        if self.owner != os.getpid():
            self.process.returncode = 0  # not ours to wait for
            return
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                self.pipe(stream).close()


_lock = threading.Lock()
_children: list[_Child] = []  # at most one


def _asked(data: bytes, nested: bool, deadline: float) -> bytes:
    if len(data) > MOST_BYTES:
        raise _Failed(f"without weights it still has {len(data)} bytes", slow=True)
    with _lock:
        if _children and (_children[0].owner != os.getpid() or _children[0].process.poll() is not None):
            _children.pop().end()
        if not _children:
            started = time.monotonic()
            _children.append(_Child())
            deadline += time.monotonic() - started
        try:
            return _children[0].ask(data, nested, max(deadline - time.monotonic(), 0.001))
        except _Failed:
            if _children[0].process.poll() is not None:
                _children.pop().end()
            raise


def close() -> None:
    """End the process, if there is one; it is started again when it is needed."""
    with _lock:
        while _children:
            _children.pop().end()


atexit.register(close)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died ({signal.Signals(-code).name})"
    except ValueError:
        return f"died of signal {-code}"
