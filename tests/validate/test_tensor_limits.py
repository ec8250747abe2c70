"""Limits of builds on strides and total size, on both sides of each limit."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.validate.check import accepts

#: One level for each behaviour of builds.
LEVELS = ("2.1", "3.1", "4.1", "5.0", "5.1", "6.1", "6.2", "6.3", "6.4")
WAYS = tuple((level, None) for level in LEVELS)
UP_TO_6_2 = frozenset({"2.1", "3.1", "4.1", "5.0", "5.1", "6.1", "6.2"})
OUT, IN = "OutputTensor", "ValuesTensor"


def change(one_hot: dict[str, Any], field: str, **parts: Any) -> specgate.Descriptor:
    """Return the documented example with another type and a changed tensor."""
    kind = parts.pop("kind", "FLOAT32")
    for name in (IN, OUT):
        one_hot["desc"][name]["DataType"] = kind
    one_hot["desc"][field].update(parts)
    return specgate.descriptor(one_hot, dialect="directml")


def accepts_observed(descriptor: specgate.Descriptor, level: str, by: str | None) -> bool | None:
    return accepts(descriptor, level, "observed", by)


TOTALS = {  # TotalTensorSizeInBytes -> the accepting levels
    "FLOAT32": {
        2**34 - 4: set(LEVELS),
        2**34 - 3: UP_TO_6_2,
        2**34 - 1: UP_TO_6_2,
        2**34: (),
        2**63: (),
        2**64 - 1: (),
    },
    "FLOAT16": {2**33 - 2: set(LEVELS), 2**33 - 1: UP_TO_6_2, 2**33: ()},
    "UINT8": {2**32 - 1: set(LEVELS), 2**32: ()},
}


@pytest.mark.parametrize("field", [IN, OUT])
@pytest.mark.parametrize(("level", "by"), WAYS)
def test_the_greatest_total_size(one_hot, level, by, field) -> None:
    for kind, totals in TOTALS.items():
        for total, accepted in totals.items():
            descriptor = change(one_hot, field, kind=kind, TotalTensorSizeInBytes=total)
            assert accepts_observed(descriptor, level, by) is (level in accepted), (kind, total)


IMPLIED = {("FLOAT32", 2**32 - 1): True, ("FLOAT16", 2**32 - 1): False, ("FLOAT16", 2**32 - 2): True,
           ("UINT8", 2**32 - 3): False, ("UINT8", 2**32 - 4): True}  # fmt: skip


@pytest.mark.parametrize(("level", "by"), WAYS)
def test_the_greatest_least_size(one_hot, level, by) -> None:
    """If omitted, the total is the minimum: a multiple of 4, which may exceed the limit."""
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, 1, 1]
    for (kind, elements), accepted in IMPLIED.items():
        descriptor = change(one_hot, OUT, kind=kind, Sizes=[1, 1, 1, elements])
        assert accepts_observed(descriptor, level, by) is accepted, (kind, elements)


# The output's sizes are [1, 1, 3, 4]: 12 elements.
STRIDES = {
    (12, 12, 4, 1): (True, None),
    (0, 0, 4, 1): (True, None),  # a size of 1 has no stride to look at
    (4, 4, 4, 1): (True, None),
    (0, 0, 1, 3): (True, None),
    (0, 0, 2, 4): (True, None),  # [0, 0, 2, 0] and [0, 0, 0, 1] are the same element, and 17 are enough for 12 elements
    (0, 0, 3, 2): (True, None),  # 13 places
    (0, 0, 2, 2): (False, "output-strides-differ"),
    (0, 0, 9, 9): (False, "output-strides-differ"),
    (0, 0, 0, 1): (False, "output-strides-not-zero"),
    (0, 0, 4, 0): (False, "output-strides-not-zero"),
    (0, 0, 2, 1): (False, "output-extent"),  # 8 places
    (0, 0, 3, 1): (False, "output-extent"),  # 10
    (0, 0, 1, 2): (False, "output-extent"),  # 9
}


@pytest.mark.parametrize(("level", "by"), WAYS)
@pytest.mark.parametrize(("strides", "answer"), STRIDES.items())
def test_strides_of_an_output(one_hot, level, by, strides, answer) -> None:
    accepted, rule = answer
    descriptor = change(one_hot, OUT, Strides=list(strides))
    assert accepts_observed(descriptor, level, by) is accepted
    assert specgate.check(descriptor, f"directml:{level}", "documented").accepted is True
    result = specgate.check(descriptor, f"directml:{level}").findings
    assert [f.id for f in result] == ([f"directml/tensor/{rule}"] if rule else [])


@pytest.mark.parametrize(("level", "by"), WAYS)
def test_strides_of_an_input(one_hot, level, by) -> None:
    one_hot["desc"][IN]["Sizes"] = [1, 1, 3, 4]
    for strides in STRIDES:
        assert accepts_observed(change(one_hot, IN, Strides=list(strides)), level, by) is True


NARROW = {("2.1", None), ("3.1", None), ("4.1", None), ("5.0", None)}  # bytes in 32 bits
MIDDLE = {("5.1", None), ("6.1", None)}  # elements in 32 bits, bytes in 64
WIDE = {("6.2", None), ("6.3", None), ("6.4", None)}  # everything in 64
# Strides of ValuesTensor with Sizes [1, 1, 2, 2] -> the minimum total size that each accepts, None for none at all
LEAST = {
    (1, 1, 2**30 - 2, 1): {"narrow": 0, "middle": 2**32, "wide": 2**32},
    (1, 1, 2**30 - 1, 1): {"narrow": 4, "middle": 2**32 + 4, "wide": 2**32 + 4},
    (1, 1, 2**31, 1): {"narrow": 8, "middle": 2**33 + 8, "wide": 2**33 + 8},
    (1, 1, 2**32 - 2, 1): {"narrow": 0, "middle": None, "wide": None},
    (1, 1, 2**32 - 1, 1): {"narrow": 4, "middle": 4, "wide": None},
}


@pytest.mark.parametrize(("level", "by"), WAYS)
@pytest.mark.parametrize(("strides", "least"), LEAST.items())
def test_the_least_total_size(one_hot, level, by, strides, least) -> None:
    (way,) = [n for n, w in (("narrow", NARROW), ("middle", MIDDLE), ("wide", WIDE)) if (level, by) in w]
    total = least[way]

    def accepts_case(size: int) -> bool | None:
        result = change(one_hot, IN, Sizes=[1, 1, 2, 2], Strides=list(strides), TotalTensorSizeInBytes=size)
        return accepts_observed(result, level, by)

    if total is None:
        assert accepts_case(2**34 - 4) is False
        return
    assert accepts_case(total) is True
    assert total == 0 or accepts_case(total - 1) is False


def test_packed_tensors_never_exceed_the_limit(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, 2**15, 1]
    for level, by in WAYS:
        for total, accepted in ((2**32, True), (2**32 - 1, False), (0, False)):
            descriptor = change(one_hot, OUT, Sizes=[1, 1, 2**15, 2**15], TotalTensorSizeInBytes=total)
            assert accepts_observed(descriptor, level, by) is accepted


@pytest.mark.parametrize("level", ["2.1", "5.1", "6.4"])
def test_the_default_basis_includes_documented_limits(one_hot, level) -> None:
    parts = {"Sizes": [1, 1, 2, 2], "Strides": [1, 1, 2**31, 1], "TotalTensorSizeInBytes": 8}
    result = specgate.check(change(one_hot, IN, **parts), f"directml:{level}").findings
    assert [f.id for f in result] == ["directml/tensor/total-size"]
    assert ("builds at this level do not enforce" in result[0].message) is (level == "2.1")


def test_unknown_sizes_are_undecided(one_hot) -> None:
    one_hot["desc"][OUT].update(Sizes=[1, 1, "N", 4], Strides=[0, 0, 2, 2])
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, "N", 1]
    verdict = specgate.check(one_hot, "directml:6.4")
    assert verdict.accepted is None
    assert {f.id for f in verdict.undecided} >= {
        "directml/tensor/output-strides-differ",
        "directml/tensor/output-extent",
    }
