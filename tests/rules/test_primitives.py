"""Functions of the language, against enumeration of coordinates."""

from __future__ import annotations

from itertools import product as coordinates
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import Symbol
from specgate.dialects.directml.vocabulary import minimum_size
from specgate.rules import functions
from specgate.rules.evaluate import UNKNOWN, equal

SIZES = st.lists(st.integers(0, 4), max_size=4)
LAYOUTS = SIZES.flatmap(
    lambda sizes: st.tuples(st.just(sizes), st.lists(st.integers(0, 20), min_size=len(sizes), max_size=len(sizes)))
)


def offsets(sizes: list[int], strides: list[int]) -> list[int]:
    """Return the element at each coordinate of a tensor."""
    return [sum(i * s for i, s in zip(at, strides, strict=True)) for at in coordinates(*map(range, sizes))]


def pack(sizes: list[int]) -> list[int]:
    return [prod(sizes[d + 1 :]) for d in range(len(sizes))]


@given(LAYOUTS)
def test_extent_counts_up_to_the_last_element(layout: tuple[list[int], list[int]]) -> None:
    sizes, strides = layout
    reached = offsets(sizes, strides)
    assert functions.extent(sizes, strides) == (max(reached) + 1 if reached else 0)


@given(SIZES)
def test_packed_extent_is_that_of_packed_strides(sizes: list[int]) -> None:
    assert functions.extent(sizes, None) == functions.extent(sizes, pack(sizes)) == prod(sizes)


@given(LAYOUTS, st.sampled_from([4, 8, 16, 32, 64]))
def test_minimum_size_includes_the_last_bit_in_whole_words(layout: tuple[list[int], list[int]], bits: int) -> None:
    sizes, strides = layout
    last_bit = max(((offset + 1) * bits for offset in offsets(sizes, strides)), default=0)
    size = minimum_size(bits, sizes, strides)
    assert size % 4 == 0
    assert size * 8 >= last_bit > size * 8 - 32 or last_bit == size == 0


@pytest.mark.parametrize(
    ("bits", "sizes", "strides", "size"),
    [
        (32, [1, 1, 2, 3], None, 24),  # the example of DxDispatch's guide
        (32, [1, 1, 2, 3], [6, 6, 3, 1], 24),
        (16, [3], None, 8),
        (8, [5], None, 8),
        (4, [9], None, 8),
        (64, [], None, 8),
        (32, [4, 5], [0, 0], 4),
        (32, [2, 2], [100, 1], 408),
    ],
)
def test_minimum_sizes(bits: int, sizes: list[int], strides: list[int] | None, size: int) -> None:
    assert minimum_size(bits, sizes, strides) == size


@given(LAYOUTS)
def test_sharing_is_never_missed(layout: tuple[list[int], list[int]]) -> None:
    sizes, strides = layout
    reached = offsets(sizes, strides)
    if len(set(reached)) != len(reached):
        assert functions.overlapping(sizes, strides)


@st.composite
def tidy_layouts(draw: st.DrawFn) -> tuple[list[int], list[int], bool]:
    """Draw padded, permuted or broadcast sizes and strides, with whether they broadcast."""
    sizes = draw(st.lists(st.integers(1, 4), max_size=4))
    strides, step = [0] * len(sizes), 1
    for dimension in draw(st.permutations(range(len(sizes)))):
        step += draw(st.integers(0, 2))
        strides[dimension] = step
        step *= sizes[dimension]
    broadcast = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    strides = [0 if flat else stride for flat, stride in zip(broadcast, strides, strict=True)]
    return sizes, strides, any(flat and size > 1 for flat, size in zip(broadcast, sizes, strict=True))


@given(tidy_layouts())
def test_sharing_is_reported_exactly_for_padded_permuted_and_broadcast_layouts(layout) -> None:
    sizes, strides, shares = layout
    reached = offsets(sizes, strides)
    assert functions.overlapping(sizes, strides) is shares is (len(set(reached)) != len(reached))


def test_interleaved_dimensions_are_reported_as_overlapping() -> None:
    """The documented exception: elements 0 2 4 and 3 5 7 are distinct."""
    assert len(set(offsets([2, 3], [3, 2]))) == 6
    assert functions.overlapping([2, 3], [3, 2])


@pytest.mark.parametrize("strides", [[1, 0], [0, 0]])
def test_tensors_without_elements_do_not_overlap(strides: list[int]) -> None:
    assert not functions.overlapping([0, 3], strides)


@pytest.mark.parametrize("function", [functions.extent, functions.overlapping])
def test_strides_and_sizes_must_match(function) -> None:
    with pytest.raises(ValueError, match=r"."):
        function([2, 3], [1])


@given(st.integers(-8, 2**70))
def test_power_of_two(number: int) -> None:
    assert functions.power_of_two(number) is (number in {2**exponent for exponent in range(71)})


def test_ranges_are_bounded() -> None:
    assert list(functions.bounded_range(3)) == [0, 1, 2]
    assert list(functions.bounded_range(-3)) == []
    assert len(functions.bounded_range(functions.LOOP_LIMIT)) == functions.LOOP_LIMIT
    with pytest.raises(ValueError, match="longer than 10000"):
        functions.bounded_range(10**30)


def test_product_of_an_empty_list_is_1() -> None:
    assert functions.product([]) == 1


@pytest.mark.parametrize("value", [3, 2**31])
def test_a_number_without_a_name_does_not_equal_any_name(value: int) -> None:
    assert [equal(value, "BIDIRECTIONAL"), equal("BIDIRECTIONAL", value)] == [False, False]
    assert equal(Symbol("N"), value) is UNKNOWN
