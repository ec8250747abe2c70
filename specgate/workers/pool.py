"""Jobs distributed over local processes, and those that no worker answered."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from specgate.errors import InputError
from specgate.workers.processes import initialize_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from types import TracebackType
    from typing import Self


@dataclass(frozen=True)
class LostJob:
    """A job without an answer: its worker died, or it raised `error`."""

    reason: str
    error: Exception | None = field(default=None, compare=False)


class PoolClosed(InputError):
    """All workers are gone; the remaining jobs have no answer."""


J = TypeVar("J")
A = TypeVar("A")
J_contra = TypeVar("J_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)
_JOBS_PER_WORKER = 8  # jobs under way or answered but not consumed; limits how far others run ahead of the slowest
_MAX_WINDOWS_WORKERS = 61  # the maximum of concurrent.futures there


class Workers(Protocol[J_contra, A_co]):
    """Runs one function over jobs in other processes.

    Leaving the context ends the processes, immediately after an exception.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def answers(self, jobs: Iterable[J_contra]) -> Iterator[A_co | LostJob]:
        """Yield one answer per job, in the order of the jobs."""
        ...


def bounded_map(
    jobs: Iterable[J], submit: Callable[[J], Any], collect: Callable[[J, Any], A], window: int
) -> Iterator[A]:
    """Yield `collect` of each job and its `submit` result, in order.

    At most `window` jobs are under way.
    """
    pending: deque[tuple[J, Any]] = deque()
    for job in jobs:
        pending.append((job, submit(job)))
        if len(pending) >= window:
            yield collect(*pending.popleft())
    while pending:
        yield collect(*pending.popleft())


class Processes(Generic[J, A]):
    """Runs `function` over jobs in `count` processes.

    Each process calls `prepare` first. If a process dies, the answers of all running jobs are lost, so these jobs run
    again one at a time. Only a job whose process dies again is lost.
    """

    def __init__(self, function: Callable[[J], A], count: int, prepare: Callable[[], object] | None = None) -> None:
        if count < 1:
            raise InputError(f"expected at least one process, found {count}")
        self._function = function
        self._count = min(count, _MAX_WINDOWS_WORKERS) if os.name == "nt" else count
        self._prepare = prepare
        self._many: _Pool | None = None
        self._single: _Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pool in (self._many, self._single):
            if pool is not None and kind is None:
                pool.executor.shutdown()
            elif pool is not None:  # does not wait for running jobs
                pool.end()

    def answers(self, jobs: Iterable[J]) -> Iterator[A | LostJob]:
        """Yield one answer per job, in the order of the jobs."""
        yield from bounded_map(jobs, self._submit, self._collect, self._count * _JOBS_PER_WORKER)

    def _submit(self, job: J) -> tuple[_Pool, Future[A]]:
        if self._many is not None:
            try:
                return self._many, self._many.executor.submit(self._function, job)
            except (BrokenProcessPool, OSError):  # OSError: the pool broke while it started a process
                self._many.end()
        self._many = self._pool(self._count)
        return self._many, self._start_job(self._many, job)

    def _collect(self, job: J, under_way: tuple[_Pool, Future[A]]) -> A | LostJob:
        pool, future = under_way
        try:
            return future.result()
        except BrokenProcessPool:
            pool.end()  # a process that is still starting would wait for jobs forever
            return self._run_alone(job)
        except Exception as error:  # noqa: BLE001  # for example an answer that cannot be pickled
            return LostJob(f"{type(error).__name__}: {error!s:.200}", error)

    def _run_alone(self, job: J) -> A | LostJob:
        if self._single is None:
            self._single = self._pool(1)
        try:
            return self._start_job(self._single, job).result()
        except BrokenProcessPool:
            self._single.end()
            self._single = None
            return LostJob("the worker crashed on this file twice, the second time in isolation")
        except Exception as error:  # noqa: BLE001
            return LostJob(f"{type(error).__name__}: {error!s:.200}", error)

    def _start_job(self, pool: _Pool, job: J) -> Future[A]:
        try:
            return pool.executor.submit(self._function, job)
        except OSError as error:
            raise InputError(f"no process can be started ({error}); --jobs 1 needs none") from None

    def _pool(self, count: int) -> _Pool:
        try:
            return _Pool(count, self._prepare)
        except (OSError, ImportError, NotImplementedError) as error:
            raise InputError(f"no processes can be started here ({error}); --jobs 1 needs none") from None


class _Pool:
    """An executor and its processes."""

    def __init__(self, count: int, prepare: Callable[[], object] | None) -> None:
        self.context = _Spawning()
        self.executor = ProcessPoolExecutor(count, self.context, _initialize, (prepare,))

    def end(self) -> None:
        """Kill all processes and wait for the executor's thread."""
        for process in self.context.started:
            if process.is_alive():
                process.kill()
        # Otherwise this thread could close its pipe while the exiting interpreter still writes to it.
        self.executor.shutdown(cancel_futures=True)


class _Spawning(SpawnContext):
    """A context that spawns processes and records them.

    Spawned workers behave the same on every system, whatever threads run here. The record is required because an
    executor that breaks while it starts a process neither ends that process nor stops waiting for it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        process = SpawnProcess(*args, **options)
        self.started.append(process)
        return process


def _initialize(prepare: Callable[[], object] | None) -> None:
    initialize_worker()
    if prepare is not None:
        prepare()
