"""Kernels that compare INT64 by high half, then by signed low half.

DirectML builds do so for ARGMAX, ARGMIN, REDUCE, TOP_K, MAX_POOLING, ELEMENT_WISE_MAX, ELEMENT_WISE_MIN and
ELEMENT_WISE_LOGICAL_GREATER_THAN and LESS_THAN (with OR_EQUAL).
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution.kernels import elementwise
from specgate.execution.kernels.arithmetic import order_low_halves
from specgate.execution.kernels.elementwise import rename_kernel
from specgate.execution.kernels.pool import max_pool, max_pool_values
from specgate.execution.kernels.reduce import arg_reduce, reduce
from specgate.execution.kernels.sort import top_k

if TYPE_CHECKING:
    from collections.abc import Callable


def _turn_value(value: Any) -> Any:
    return order_low_halves(value) if isinstance(value, np.ndarray) and value.dtype == np.int64 else value


def _wrap_kernel(name: str, kernel: Callable[..., Any], *, values: bool = False) -> Callable[..., Any]:
    """Return the kernel with `order_low_halves` applied to its inputs.

    values: its (first) result holds some of them.
    """

    @wraps(kernel)
    def run_turned(*arrays: Any, **arguments: Any) -> Any:
        results = kernel(*map(_turn_value, arrays), **{name: _turn_value(value) for name, value in arguments.items()})
        if not values:
            return results
        return (_turn_value(results[0]), *results[1:]) if isinstance(results, tuple) else _turn_value(results)

    return rename_kernel(name, run_turned)


arg_reduce_by_halves = _wrap_kernel("arg_reduce_by_halves", arg_reduce)
greater_by_halves = _wrap_kernel("greater_by_halves", elementwise.greater)
greater_equal_by_halves = _wrap_kernel("greater_equal_by_halves", elementwise.greater_equal)
less_by_halves = _wrap_kernel("less_by_halves", elementwise.less)
less_equal_by_halves = _wrap_kernel("less_equal_by_halves", elementwise.less_equal)
max_pool_by_halves = _wrap_kernel("max_pool_by_halves", max_pool, values=True)
max_pool_values_by_halves = _wrap_kernel("max_pool_values_by_halves", max_pool_values, values=True)
maximum_by_halves = _wrap_kernel("maximum_by_halves", elementwise.maximum, values=True)
minimum_by_halves = _wrap_kernel("minimum_by_halves", elementwise.minimum, values=True)
place_by_halves = _wrap_kernel("place_by_halves", reduce)
reduce_by_halves = _wrap_kernel("reduce_by_halves", reduce, values=True)
top_k_by_halves = _wrap_kernel("top_k_by_halves", top_k, values=True)
