"""Budget of one execution: memory and time; executions above it are rejected.

A kernel is a numpy function, so neither can be enforced from outside. Memory is estimated from the kernel's needs per
element (`specgate.execution.kernels.needs_of`) before a kernel is called, and where it allocates an array whose size
depends on values or attributes. Loops whose length depends on sizes or attributes go through `within_time_limit`, and
matrix products through `specgate.execution.kernels.matmul`.
"""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from contextvars import ContextVar, Token
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from specgate.descriptors.core import format_value
from specgate.descriptors.python_values import python_values
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

#: Default memory limit of one execution: enough for real models, too little to hurt a machine.
MAX_BYTES: Final = 2**31
#: Default time limit of one execution.
MAX_SECONDS: Final = 300.0
#: Maximum rank of any array: that of numpy 1, and of broadcasting in numpy 2.
MAX_DIMENSIONS: Final = 32
#: Memory overhead of a Python string besides its characters.
_TEXT: Final = 56
T = TypeVar("T")


class Budget(NamedTuple):
    """Remaining limits of an execution.

    ends: by `time.monotonic`. max_bytes, max_seconds: the original limits, for messages. left: bytes. for_output:
    working memory of a kernel per output element, in bytes.
    """

    max_bytes: int = MAX_BYTES
    max_seconds: float = MAX_SECONDS
    ends: float = float("inf")
    left: int = MAX_BYTES
    for_output: float = 0.0

    def less(self, number: int, for_output: float = 0.0) -> Budget:
        """Return the budget less `number` bytes, at least 0."""
        return Budget(self.max_bytes, self.max_seconds, self.ends, max(0, self.left - number), for_output)

    def check(self, needed_bytes: int, subject: str | tuple[int, ...]) -> None:
        """Raise InputError where `needed_bytes` bytes exceed the rest.

        subject: the consumer, or an output's shape.
        """
        if needed_bytes > self.left:
            subject = subject if isinstance(subject, str) else f"the output of shape {list(subject)}"
            left = f"; {self.left} left" if self.left != self.max_bytes else ""
            raise InputError(
                f"{subject} needs {needed_bytes} bytes, more than the limit of {self.max_bytes} (max_bytes){left}"
            )

    def check_time(self) -> None:
        """Raise InputError where the time is over."""
        if time.monotonic() > self.ends:
            raise InputError(f"takes longer than the limit of {self.max_seconds:g} seconds (max_seconds)")

    @property
    def seconds(self) -> float:
        """Return the remaining seconds."""
        return max(0.0, self.ends - time.monotonic())


def budget_of(max_bytes: int | None = None, max_seconds: float | None = None) -> Budget:
    """Return a budget that starts now; default `MAX_BYTES`, `MAX_SECONDS`.

    Raises InputError for invalid limits.
    """
    if max_bytes is None and max_seconds is None:
        return Budget(MAX_BYTES, MAX_SECONDS, time.monotonic() + MAX_SECONDS, MAX_BYTES)
    max_size = MAX_BYTES if max_bytes is None else max_bytes
    longest = MAX_SECONDS if max_seconds is None else max_seconds
    max_size, longest = python_values(max_size), python_values(longest)
    if not isinstance(max_size, int) or isinstance(max_size, bool) or max_size < 0:
        raise InputError(f"expected max_bytes as a number of bytes, found {format_value(max_size, 40)}")
    if not isinstance(longest, int | float) or isinstance(longest, bool) or not longest >= 0:
        raise InputError(f"expected max_seconds as a number of seconds, found {format_value(longest, 40)}")
    return Budget(max_size, longest, time.monotonic() + longest, max_size)


_NO_BUDGET: Final = Budget()
_NO_CONTEXT: Final = nullcontext()
_budget: ContextVar[Budget] = ContextVar("_budget", default=_NO_BUDGET)


class limit:  # noqa: N801  # a class is faster than a generator-based context
    """Context with a budget for kernels, without numpy warnings.

    budget: or a number of bytes. Warnings are off as in `ignore_warnings`.
    """

    __slots__ = ("_errors", "_inside", "_token")

    def __init__(self, budget: Budget | int) -> None:
        self._inside = budget if isinstance(budget, Budget) else budget_of(budget)
        self._errors = np.errstate(all="ignore")

    def __enter__(self) -> None:
        self._token: Token[Budget] = _budget.set(self._inside)
        self._errors.__enter__()

    def __exit__(self, *_: object) -> None:
        self._errors.__exit__(None, None, None)
        _budget.reset(self._token)


def _run_in_budget(budget: Budget, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    token = _budget.set(budget)
    try:
        return function(**arguments)
    finally:
        _budget.reset(token)


def _run_in_new_budget(budget: Budget, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return _run_in_budget(budget, function, arguments)


#: Calls a function within `limit`. numpy 2 keeps the saved state per call, so one decorated function
#: serves all of them; numpy 1 keeps it in the decorator, which nested calls and threads would share.
within: Final[Callable[[Budget, Callable[..., Any], Mapping[str, Any]], Any]] = (
    _run_in_new_budget if np.lib.NumpyVersion(np.__version__) < "2.0.0" else np.errstate(all="ignore")(_run_in_budget)
)


def ignore_warnings() -> Any:
    """Return a context without overflow, division and nan warnings.

    It also works outside of `limit`.
    """
    return np.errstate(all="ignore") if _budget.get() is _NO_BUDGET else _NO_CONTEXT


def check_time() -> None:
    """Raise InputError once the time of the current budget is over."""
    _budget.get().check_time()


def within_time_limit(items: Iterable[T]) -> Iterator[T]:
    """Yield items of a possibly long loop.

    Raises InputError once the time of the current budget is over.
    """
    budget = _budget.get()
    for item in items:
        budget.check_time()
        yield item


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return `numpy.empty`; raise InputError where `check_budget` does."""
    check_budget(shape, dtype)
    return np.empty(shape, dtype)


def check_budget(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise InputError where an array would exceed the current budget.

    Counts the kernel's working memory per output element as well.
    """
    if len(shape) > MAX_DIMENSIONS:
        raise InputError(f"the output has {len(shape)} dimensions, more than the supported {MAX_DIMENSIONS}")
    budget = _budget.get()
    needed_bytes = prod(shape) * max(dtype.itemsize, budget.for_output)
    budget.check(int(needed_bytes), shape)
    if not needed_bytes and prod(size for size in shape if size) * dtype.itemsize > sys.maxsize:
        raise InputError(f"the output is empty, but its shape {list(shape)} is larger than any array")


def elements(value: Any) -> int:
    """Return the number of elements of an array or container, else 0.

    Containers are sequences, maps and optionals.
    """
    if isinstance(value, np.ndarray):
        return int(value.size)
    return sum(map(elements, _parts(value)))


def item_size(value: Any) -> int:
    """Return the bytes per element (the widest of a list), 0 if not an array."""
    if isinstance(value, np.ndarray):
        return int(value.itemsize)
    return max(map(item_size, _parts(value)), default=0)


def _parts(value: Any) -> Iterable[Any]:
    """Return the content of a sequence, map or optional, else nothing."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else (value.value,) if hasattr(value, "value") else ()


def count_bytes(value: Any) -> int:
    """Return the bytes of an array (with strings), container or None."""
    if isinstance(value, np.ndarray):
        texts = value.reshape(-1) if value.dtype == np.object_ else ()
        return int(value.nbytes) + sum(_TEXT + len(text) for text in texts if isinstance(text, str | bytes))
    if isinstance(value, dict):
        return sum(map(count_bytes, value.values())) + _TEXT * len(value)
    if isinstance(value, list | tuple):
        return sum(map(count_bytes, value)) + 8 * len(value)
    if hasattr(value, "value"):  # an optional
        return _TEXT + count_bytes(value.value)
    return 0 if value is None else _TEXT
