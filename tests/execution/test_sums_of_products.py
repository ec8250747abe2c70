"""Einsum: documented examples, numpy's function, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.matmul import einsum


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij, jk -> ik", [(2, 3), (3, 4)]), ("ab,bcd,bc->ca", [(2, 5), (5, 3, 6), (5, 3)]), ("ii->i", [(3, 3)]),
        ("a...b,b...->a...", [(9, 1, 4, 3), (3, 11, 7, 1)]), ("iij,ij->", [(2, 2, 3), (2, 3)]), ("AbC", [(1, 2, 3)]),
        ("dbbc,ca", [(2, 3, 3, 4), (4, 5)]), ("i...", [(2, 3)]), ("i,j->ji", [(2,), (3,)]), ("i,i,i->", [(4,)] * 3),
        ("ij,jk->ik", [(2, 3), (1, 4)]), ("i,ii->i", [(1,), (2, 2)]), ("i,i->i", [(0,), (1,)]), (",->", [(), ()]),
        ("ij->", [(0, 3)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("a...->...", [(3, 3)]), ("i,j,k->", [(2,)] * 3),
    ],
)  # fmt: skip
def test_einsum_matches_numpy(equation, shapes):
    generator = np.random.default_rng(len(equation))
    inputs = [generator.normal(size=shape) for shape in shapes]
    np.testing.assert_allclose(einsum(inputs, equation=equation), np.einsum(equation, *inputs), atol=1e-12)


def test_subscripts_missing_from_the_output_are_summed():
    assert einsum([np.arange(6.0).reshape(2, 3)], equation="i...->i").tolist() == [3, 12]


def test_repeated_output_subscript_masks_off_diagonal_elements():
    array = einsum([np.array([2.0, 3.0])], equation="i->ii")
    assert array.tolist() == [[2, None], [None, 3]]


def test_integers_wrap_around_and_half_floats_are_rounded_once():
    array = einsum([np.array([100, 100], "i1"), np.array([2, 1], "i1")], equation="i,i->")
    assert (array.item(), array.dtype) == (300 - 256, np.dtype(np.int8))
    array = einsum([np.array([2048, 1, 1], "f2")], equation="i->")
    assert (array.item(), array.dtype) == (2050, np.dtype(np.float16))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij", [(2,)]), ("i,j", [(2,)]), ("i", [(2, 3)]), ("i->j", [(2,)]), ("ij,jk", [(2, 3), (4, 5)]), ("i;->", [(2,)]),
        ("ii", [(2, 1)]), ("...,...", [(2,), (3,)]), ("......", [(2,)]), ("i->i->i", [(2,)]), ("i,i,i", [(2,), (1,), (3,)]),
        ("", [(2,)]), ("é", [(2,)]),
    ],
)  # fmt: skip
def test_mismatched_shapes_are_rejected(equation, shapes):
    with pytest.raises(InputError, match="einsum"):
        einsum([np.zeros(shape) for shape in shapes], equation=equation)


def test_einsum_is_limited_by_the_budget():
    with memory.limit(10**6), pytest.raises(InputError, match="more than the limit"):
        einsum([np.zeros(1000), np.zeros(1000)], equation="i,j->ij")
