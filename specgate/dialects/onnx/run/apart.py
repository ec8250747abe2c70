"""A model run by onnx.reference in a process of its own, which ends with the time, the memory or its parent.

What a model asks of onnx.reference has no bounds that could be known before: a Loop of 2^62 trips, 4.8 GB from a file
of 120 bytes. The process is kept for the next model, and started afresh where it was ended.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import os
import pickle
import runpy
import time
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.errors import InputError, NoKernel
from specgate.execution import kernels, memory
from specgate.spec.tables import extra_specs, use_specs
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["INSTALL", "answerer", "close", "installed", "run_apart"]

INSTALL: Final = "the onnx package would compute it: pip install 'specgate-ml[onnx]'"
#: Address space that goes to no array: stacks, what modules imported late take, and what malloc keeps.
_SLACK: Final = 2**28
_START_SECONDS: Final = 60.0
#: How long after its time the process ends on its own, were its parent not there to end it.
_GRACE: Final = 2.0
_KERNEL_FILES: Final = "specgate_kernels"


class _Kept(NamedTuple):
    """A process that waits for the next model. owner: the process that started it. setup: what it was started with."""

    child: Child
    owner: int
    setup: bytes


_idle: list[_Kept] = []


def installed() -> bool:
    """Return whether the onnx package can be imported, without importing it."""
    try:
        return find_spec("onnx") is not None
    except (ImportError, ValueError):  # it was taken out of sys.modules
        return False


def run_apart(path: str, values: Mapping[str, Any], budget: memory.Budget, lack: str) -> tuple[dict[str, Any], str]:
    """Return the outputs of the model at `path` by their names, and a line that says what onnx.reference computed.

    values: of the inputs, by name. lack: the missing kernel for which it is asked. Raises InputError for what cannot be
    computed, or not within the budget, and NoKernel where onnx is not installed or lacks an operator too. The time that
    the process takes to start is not counted.
    """
    budget.hold(sum(map(memory.held_bytes, values.values())), "what is given")
    setup = _setup()
    kept = _taken(setup)
    try:
        began = time.monotonic()
        ready = kept.child.ask(None)  # its imports, which a slow machine takes long for
        budget = replace(budget, ends=budget.ends + time.monotonic() - began)
        kept.child.timeout = budget.seconds
        answer = ready if ready != "ready" else kept.child.ask((str(Path(path).resolve()), dict(values), budget, lack))
    except BaseException:
        kept.child.close()
        raise
    _put_back(kept)
    if answer == "timeout":
        limit = f"the limit of {budget.max_seconds:g} seconds (max_seconds)" if ready == "ready" else "a minute"
        raise InputError(f"onnx.reference takes longer than {limit}")
    if not isinstance(answer, tuple):
        raise InputError(
            "the process of onnx.reference ended without an answer: it crashed, or asked for more than "
            f"the limit of {budget.max_bytes} bytes (max_bytes)"
        )
    kind, text, results = answer
    if kind == "computed":
        return pickle.loads(results), text  # noqa: S301  # our own process wrote it
    raise (NoKernel if kind == "no kernel" else InputError)(text)


def _taken(setup: bytes) -> _Kept:
    """Return a process with the same setup, or a new one; no lock, so that a fork leaves none behind."""
    with suppress(IndexError):
        kept = _idle.pop()
        if kept.owner == os.getpid() and kept.setup == setup:
            kept.child.timeout = _START_SECONDS
            return kept
        if kept.owner == os.getpid():
            kept.child.close()
        else:
            kept.child.disown()
    child = Child(__name__, "answerer", setup, timeout=_START_SECONDS)
    return _Kept(child, os.getpid(), setup)


def _put_back(kept: _Kept) -> None:
    if _idle:
        kept.child.close()
    else:
        _idle.append(kept)


def close() -> None:
    """End the process, if there is one; it is started again when it is needed."""
    while _idle:
        kept = _idle.pop()
        if kept.owner == os.getpid():
            kept.child.close()


atexit.register(close)


def _setup() -> bytes:
    """Return the spec folders and kernels that this process has beside specgate's own, for the other one."""
    functions, files = [], []
    for name, function in kernels.registered().items():
        if function.__module__ == _KERNEL_FILES:
            files.append(function.__code__.co_filename)
        else:
            with suppress(pickle.PicklingError, AttributeError, TypeError):
                functions.append((name, pickle.dumps(function)))
    folders = [str(folder.resolve()) for folder in extra_specs()]
    return pickle.dumps((folders, functions, [str(Path(file).resolve()) for file in dict.fromkeys(files)]))


def answerer(setup: bytes) -> Callable[[Any], Any]:
    """Return what answers None ("ready") and a question of `run_apart`, in the other process."""
    folders, functions, files = pickle.loads(setup)  # noqa: S301  # our parent wrote it
    if folders:
        use_specs(*map(Path, folders))
    for name, function in functions:
        with suppress(Exception):  # of a script that is not imported here: the operator has no kernel then
            kernels.register_kernel(name, pickle.loads(function))  # noqa: S301
    for file in files:
        runpy.run_path(file, run_name=_KERNEL_FILES)
    with suppress(ImportError):  # where it is missing the first model learns it
        importlib.import_module("onnx.reference.ops")
    taken = _address_space()
    nowhere = os.open(os.devnull, os.O_WRONLY)

    def answer(question: Any) -> Any:
        if question is None:
            return "ready"
        path, values, budget, lack = question
        faulthandler.dump_traceback_later(budget.seconds + _GRACE, exit=True, file=nowhere)
        _limit_address_space(taken + budget.max_bytes + _SLACK if taken else None)
        try:
            return _answered(path, values, budget, lack)
        finally:
            _limit_address_space(None)
            faulthandler.cancel_dump_traceback_later()

    return answer


def _answered(path: str, values: Mapping[str, Any], budget: memory.Budget, lack: str) -> tuple[str, str, bytes]:
    from specgate.dialects.onnx.run.reference import run_with_reference

    try:
        results, line = run_with_reference(path, values, budget, lack)
        return "computed", line, pickle.dumps(results, pickle.HIGHEST_PROTOCOL)
    except NoKernel as error:
        return "no kernel", str(error), b""
    except InputError as error:
        place = f"{error.place}: " if error.place else ""
        return "refused", place + error.message, b""
    except MemoryError:
        limit = f"the limit of {budget.max_bytes} bytes (max_bytes)"
        return "refused", f"onnx.reference asks for more than {limit}", b""


def _address_space() -> int:
    """Return how much this process has, 0 where the system does not say."""
    try:
        import resource

        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return 0


def _limit_address_space(most: int | None) -> None:
    """Let allocations beyond `most` bytes fail, where the system can; None: only what the user may not exceed."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = hard if most is None else most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
