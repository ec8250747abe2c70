"""Client of the shape inference subprocess.

All threads share one subprocess, which is started on demand and restarted after a crash.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from specgate.descriptors.core import format_value
from specgate.dialects.onnx.infer.child import HEADER
from specgate.workers.piped import PipedProcess

SECONDS: Final = 5.0  # CPU seconds per attempt, about a hundred times the usual for a small model
SECONDS_PER_BYTE: Final = 4e-6
TIMEOUT_FACTOR: Final = 6.0  # wall-clock limit of all attempts as a multiple, because the machine may be busy
START_SECONDS: Final = 60.0  # importing onnx on a busy machine
MAX_BYTES: Final = 1 << 30  # size of a stripped model; protobuf's limit is just under twice that
_CHILD: Final = str(Path(__file__).with_name("child.py"))


class InferenceFailure(Exception):
    """The subprocess gave no answer.

    `slow` is True after a timeout, when smaller questions would only cost more time.
    """

    def __init__(self, reason: str, *, slow: bool = False) -> None:
        super().__init__(reason)
        self.slow = slow


class Budget:
    """Time limits for one model of `size` bytes.

    `seconds` is CPU time per attempt, `left` the remaining wall-clock time of all attempts. Only time spent on this
    model counts, not time spent waiting for others.
    """

    def __init__(self, size: int) -> None:
        self.seconds = SECONDS + SECONDS_PER_BYTE * size
        self.left = TIMEOUT_FACTOR * self.seconds


def ask(data: bytes, budget: Budget, *, nested: bool, values: bool = True, keep_names: bool = True) -> bytes:
    """Return the answer to a serialized model; Failed if there is none.

    It covers subgraphs if `nested`. `values` enables propagation of values computed from sizes. `keep_names` keeps the
    size names that inference invents.
    """
    if len(data) > MAX_BYTES:
        raise InferenceFailure(f"the model has {len(data)} bytes even without weights", slow=True)
    with _state.lock:
        if _state.over:
            raise InferenceFailure("the program ends", slow=True)
        if _state.child is not None and _state.child.process.poll() is not None:
            _state.drop()
        child = _state.child = _state.child or _Child()
        start_time = time.monotonic()
        try:
            return child.ask(data, (nested, values, keep_names), budget)
        except InferenceFailure:
            if child.process.poll() is not None:
                _state.drop()
            raise
        finally:
            budget.left -= time.monotonic() - start_time


def close() -> None:
    """Stop the subprocess; the next question restarts it."""
    with _state.lock:
        _state.drop()


class _Child(PipedProcess):
    """The subprocess, which enforces its time limits itself."""

    def __init__(self) -> None:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
        try:
            super().__init__([sys.executable, "-P", _CHILD, str(START_SECONDS)], environment=environment)
        except OSError as error:
            raise InferenceFailure(f"cannot start a process ({error})", slow=True) from None
        try:
            self.answer(START_SECONDS, START_SECONDS, time.monotonic())
        except BaseException:
            self.finish()
            raise

    def ask(self, data: bytes, options: tuple[bool, bool, bool], budget: Budget) -> bytes:
        """Send a model with its options and return the answer, or raise Failed."""
        patience = max(budget.left, 0.001)
        start_time = time.monotonic()
        with suppress(OSError):  # it died, which reading reports
            self.send(HEADER.pack(*options, budget.seconds, patience, len(data)))
            self.send(data)
        return self.answer(budget.seconds, patience, start_time)

    def answer(self, seconds: float, patience: float, start_time: float) -> bytes:
        """Return the next answer, or raise Failed.

        The subprocess ends itself after `seconds` of CPU time, or `patience` seconds after `start_time`.
        """
        try:
            header = self.read(9)
            data = self.read(int.from_bytes(header[1:], "little"))
        except EOFError:
            raise self.failure_reason(seconds, patience, time.monotonic() - start_time) from None
        except (OSError, OverflowError, ValueError, MemoryError) as error:
            raise InferenceFailure(f"the answer of the onnx subprocess is unreadable ({error!r:.80})") from None
        if header[:1] == b"-":
            raise InferenceFailure(f"the onnx package reports: {format_value(data.decode('utf-8', 'replace'), 200)}")
        return data

    def failure_reason(self, seconds: float, patience: float, elapsed: float) -> InferenceFailure:
        """Return the reason why the subprocess ended."""
        code = self.process.wait()
        if code == -getattr(signal, "SIGXCPU", 0) != 0:
            return InferenceFailure(
                f"the onnx package did not finish within {seconds:.0f} seconds of CPU time", slow=True
            )
        if elapsed >= patience:
            return InferenceFailure(f"the onnx package did not answer within {patience:.0f} seconds", slow=True)
        return InferenceFailure(f"the onnx subprocess {_describe_exit(code)}")

    def finish(self) -> None:
        """Kill the subprocess."""
        self.kill()
        self.close()


class _State:
    """State shared by all threads. `over` is True at exit: start nothing more."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child: _Child | None = None
        self.over = False

    def drop(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.finish()

    def reset_after_fork(self) -> None:
        """Reset after a fork: the lock may be held, and the child is the parent's."""
        self.lock = threading.Lock()
        child, self.child = self.child, None
        if child is not None:
            child.disown()

    def end(self) -> None:
        """Kill the subprocess at exit.

        Without the lock, because a thread that waits for an answer holds it.
        """
        self.over = True
        child = self.child
        if child is not None:
            child.kill()


_state = _State()
atexit.register(_state.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_state.reset_after_fork)


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died ({signal.Signals(-code).name})"
    except ValueError:
        return f"was killed by signal {-code}"
