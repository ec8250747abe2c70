"""Linting of one file as a job for another process or machine."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from specgate.errors import Error, InputError
from specgate.linting.model import lint_model
from specgate.spec.tables import load_extra_specs
from specgate.targets import parse_targets
from specgate.workers.pool import LostJob, PoolClosed, bounded_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from specgate.linting.input_source import InputSource
    from specgate.linting.settings import LintSettings
    from specgate.verdict import Basis, Location, Report


@dataclass(frozen=True, slots=True)
class Job:
    """One file to lint.

    file: as the user gave it. path: where to read it; absolute if another process reads it. settings: lint settings.
    source: the input, if it is not a file.
    """

    file: str
    targets: tuple[str, ...]
    basis: Basis = "both"
    device: frozenset[str] | None = None
    settings: LintSettings | None = None
    path: str | None = None
    source: InputSource | None = None


def lint_job(job: Job) -> Report | str:
    """Lint one file; return a string if it is unusable.

    Never raises, so that one file does not hide the results of others.
    """
    path = job.path or job.file
    try:
        report = lint_model(job.source or path, parse_targets(job.targets), job.basis, job.device, job.settings)
    except Error as error:
        text = str(error).replace(path, job.file)
        return text if job.file in text else f"{job.file}: {text}"
    except (RecursionError, MemoryError) as error:
        return f"{job.file}: too deeply nested or too large ({type(error).__name__})"
    except Exception as error:
        if os.environ.get("SPECGATE_DEBUG"):
            raise
        return f"{job.file}: internal error, please report it (SPECGATE_DEBUG=1 shows where): {error!r:.300}"
    return report if path == job.file else rename_report(report, path, job.file)


def load_specs(folders: tuple[str, ...]) -> None:
    """Load the operators of additional spec folders in this process.

    Does nothing if they are already loaded.
    """
    global _loaded  # noqa: PLW0603  # one set of tables per process
    with _lock:  # a Dask worker may run several threads
        if folders != _loaded:
            load_extra_specs(*(Path(folder) for folder in folders))
            _loaded = folders


_lock = Lock()
_loaded: tuple[str, ...] = ()


def rename_report(report: Report, path: str, file: str) -> Report:
    """Return the report with the file name that the user gave."""

    def place(location: Location) -> Location:
        return replace(location, file=file) if location.file == path else location

    return replace(
        report,
        files=[file if name == path else name for name in report.files],
        findings=[replace(f, location=place(f.location)) if f.location else f for f in report.findings],
        undecided=[replace(node, location=place(node.location)) for node in report.undecided],
        no_table=[replace(node, location=place(node.location)) for node in report.no_table],
        judged={file if name == path else name: targets for name, targets in report.judged.items()},
        context={(file if name == path else name, node): context for (name, node), context in report.context.items()},
    )


J = TypeVar("J")
A = TypeVar("A")
_JOBS_PER_THREAD = 4
_MIN_WINDOW = 32
_SECONDS = 10.0  # seconds to reach the scheduler, and for the first worker to appear


class Cluster(Generic[J, A]):
    """Runs `function` over jobs on the Dask cluster of a scheduler.

    The workers must be able to import `function`.
    """

    def __init__(self, function: Callable[[J], A], address: str, specs: tuple[str, ...] = ()) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
        except ImportError:
            raise InputError("--dask requires distributed: pip install 'specgate-ml[dask]'") from None
        self._function = function
        self._specs = specs
        self._address = address
        try:  # a client that failed to connect delays the exit by 20 seconds and prints a traceback
            if not 0 < get_address_host_port(address)[1] < 1 << 16:
                raise ValueError("expected a port from 1 to 65535")
        except ValueError as error:
            raise InputError(_unreachable_message(address, error)) from None
        self._logger = logging.getLogger("distributed.client")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL)  # lost jobs are reported here, once
        try:
            self._client = Client(address, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError, AssertionError) as error:
            # The last case: the client's event loop did not start within the ten seconds that distributed allows.
            self._logger.setLevel(self._level)
            raise InputError(_unreachable_message(address, error)) from None

    def __enter__(self) -> Self:
        try:
            self._window = self._ready()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close(timeout=_SECONDS if kind is None else 1)  # also cancels running jobs
        self._logger.setLevel(self._level)

    def answers(self, jobs: Iterable[J]) -> Iterator[A | LostJob]:
        """Yield one answer per job, in the order of the jobs."""
        yield from bounded_map(jobs, self._submit, self._collect, self._window)

    def _ready(self) -> int:
        """Compare the workers' version of specgate with ours.

        Returns the number of jobs that may run at the same time.
        """
        from specgate import __version__

        try:
            self._client.wait_for_workers(1, timeout=_SECONDS)
            result = self._client.run(installed_version, on_error="return")
        except TimeoutError:
            raise InputError(f"the Dask cluster at {self._address} has no worker") from None
        for worker, version in result.items():
            if isinstance(version, BaseException):
                raise InputError(f"the Dask worker {worker} cannot import specgate: {version!r:.200}")
            if version != __version__:
                raise InputError(f"the Dask worker {worker} has specgate {version}, here it is {__version__}")
        threads: int = sum(self._client.nthreads().values())
        return max(_MIN_WINDOW, threads * _JOBS_PER_THREAD)

    def _submit(self, job: J) -> Any:
        return self._client.submit(run_job, self._function, self._specs, job, pure=False)

    def _collect(self, job: J, future: Any) -> A | LostJob:
        from distributed import CancelledError, KilledWorker

        del job
        try:
            answer: A = future.result()
        except KilledWorker as error:
            return LostJob(f"{error.allowed_failures + 1} workers died on this file")
        except CancelledError:
            raise PoolClosed(f"lost the Dask cluster at {self._address}") from None
        except Exception as error:  # noqa: BLE001  # any exception that a worker returns
            return LostJob(f"{type(error).__name__}: {error!s:.200}")
        else:
            return answer
        finally:
            future.release()


def _unreachable_message(address: str, error: Exception) -> str:
    return f"no Dask scheduler answers at {address!r:.100} (expected HOST:PORT): {error!s:.200}"


def installed_version() -> str:
    """Return the installed version of specgate."""
    from specgate import __version__

    return __version__


def run_job(function: Callable[[J], A], specs: tuple[str, ...], job: J) -> A:
    """Run one job on a worker."""
    load_specs(specs)
    return function(job)
