"""Allocation with a limit: a kernel asked for an absurd output refuses instead of exhausting the machine."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["MAX_BYTES", "empty", "limit"]

#: What one execution may allocate unless told otherwise: enough for real tensors, too little to hurt a machine.
MAX_BYTES: Final = 2**29
#: Of every array: numpy 1 has no more, and numpy 2 broadcasts no more.
MAX_DIMENSIONS: Final = 32
_limit: ContextVar[int] = ContextVar("_limit", default=MAX_BYTES)


@contextmanager
def limit(max_bytes: int) -> Iterator[None]:
    """Within it, kernels may allocate arrays of at most `max_bytes` each."""
    token = _limit.set(max_bytes)
    try:
        yield
    finally:
        _limit.reset(token)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `numpy.empty`, or raise InputError above the limit in force."""
    if len(shape) > MAX_DIMENSIONS:
        raise InputError(f"the output has {len(shape)} dimensions, more than the {MAX_DIMENSIONS} that are computed")
    needed = prod(shape) * dtype.itemsize
    if needed > _limit.get():
        raise InputError(
            f"the output of shape {list(shape)} needs {needed} bytes, more than the limit of {_limit.get()}"
        )
    if prod(size for size in shape if size) * dtype.itemsize > sys.maxsize:
        raise InputError(f"the output is empty, but its shape {list(shape)} is larger than any array")
    return np.empty(shape, dtype)
