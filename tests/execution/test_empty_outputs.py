"""Outputs without elements need no time, however large other dimensions are."""

from __future__ import annotations

import time
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels import fft, fill, matmul, pad_transpose, resize, roi_align, roi_pool, rotary_embedding

if TYPE_CHECKING:
    from collections.abc import Callable

HUGE = 2**19
BUDGET = 2**18
f = np.float32


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


MAPS = np.ones((1, 0, 4, 4), f)
ONE = np.zeros(1, np.int64)
scalar = np.array
#: By name: a kernel call whose output has no elements, and its shape.
CALLS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    **{
        f"resize-{mode}-{'last' if last else 'first'}": (
            partial(
                resize.resize, np.ones((4, 6), f), sizes=whole(0, HUGE) if last else whole(HUGE, 0), mode=mode
            ),
            (0, HUGE) if last else (HUGE, 0),
        )
        for mode in ("nearest", "linear", "cubic")
        for last in (False, True)
    },
    "resize-crop": (
        partial(
            resize.resize,
            np.ones((4, 6), f),
            np.array([0, 0, 1, 1], f),
            sizes=whole(0, HUGE),
            coordinate_transformation_mode="tf_crop_and_resize",
        ),
        (0, HUGE),
    ),
    **{
        f"interpolate-{mode}-{antialias}": (
            partial(
                resize.interpolate,
                np.ones((4, 6), f),
                whole(0, HUGE),
                mode=mode,
                antialias=antialias,
            ),
            (0, HUGE),
        )
        for mode in ("nearest", "linear", "straight", "cubic")
        for antialias in (False, True)
    },
    **{
        f"pad-{mode}": (partial(pad_transpose.pad, np.ones((0, 2), f), mode=mode, start=(0, 0), end=(0, HUGE)), (0, HUGE + 2))
        for mode in ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")
    },
    **{
        f"pad-ends-{mode}": (
            partial(pad_transpose.pad_ends, np.ones((2, 2), f), whole(-1, 0, -1, HUGE), mode=mode),
            (0, HUGE + 2),
        )
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    },
    "pad-wrapped": (
        partial(pad_transpose.pad, np.ones((2, 2), f), mode="EDGE", start=(2**32 - 2, 0), end=(0, HUGE), wraps=True),
        (0, HUGE + 2),
    ),
    "affine-grid-batches": (
        partial(rotary_embedding.affine_grid, np.ones((0, 2, 3), f), whole(0, 1, HUGE, 2)),
        (0, HUGE, 2, 2),
    ),
    "affine-grid-columns": (
        partial(rotary_embedding.affine_grid, np.ones((1, 2, 3), f), whole(1, 1, HUGE, 0)),
        (1, HUGE, 0, 2),
    ),
    "align-regions": (
        partial(
            roi_align.roi_align, MAPS, np.ones((1, 4), f), ONE, height=HUGE, width=1, samples=2, scale=1.0,
            largest=False,
        ),
        (1, 0, HUGE, 1),
    ),
    "align-turned-regions": (
        partial(
            roi_align.roi_align_rotated, MAPS, np.ones((1, 5), f), ONE, height=HUGE, width=1, samples=2, scale=1.0
        ),
        (1, 0, HUGE, 1),
    ),
    **{
        f"pool-parts-{straight}": (
            partial(
                roi_pool.max_roi_pool, MAPS, np.zeros((1, 5), f), height=HUGE, width=1, scale=1.0, straight=straight
            ),
            (1, 0, HUGE, 1),
        )
        for straight in (False, True)
    },
    "mel": (
        partial(fft.mel_weight_matrix, whole(0), whole(2 * HUGE), whole(8000), scalar(1.0, f), scalar(3000.0, f)),
        (HUGE + 1, 0),
    ),
    "ones-on-diagonal": (
        partial(matmul.eye, whole(HUGE), whole(HUGE), whole(0), whole(0), like=np.dtype(f)),
        (0, HUGE, HUGE),
    ),
    "triangle": (partial(fill.trilu, np.ones((0, HUGE, 2), f), upper=True), (0, HUGE, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_outputs_without_elements_stay_within_the_budget(name: str) -> None:
    call, shape = CALLS[name]
    budget = memory.budget_of(BUDGET, 0.5)
    tracemalloc.start()
    try:
        with memory.limit(budget):
            result = call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.shape == shape
    assert peak <= BUDGET
    assert time.monotonic() < budget.ends


def test_dimensions_are_reduced_before_others_are_enlarged() -> None:
    """Intermediate arrays are not larger than both the data and the result."""
    data, count = np.arange(2**15, dtype=f).reshape(1, -1), 2**10
    tracemalloc.start()
    try:
        with memory.limit(2**20):
            result = resize.interpolate(
                data, whole(count, 1), mode="nearest", coordinate_transformation_mode="asymmetric"
            )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.shape == (count, 1)
    assert not result.any()
    assert peak <= 2**20


def test_time_of_many_positions_is_limited() -> None:
    with memory.limit(memory.budget_of(2**30, 0.0)), pytest.raises(InputError, match="max_seconds"):
        resize.interpolate(np.ones((1, 2), f), whole(1, HUGE), mode="nearest")
