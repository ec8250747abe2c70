from collections import Counter

import pytest

from specgate.conform.cases import draw_cases
from specgate.spec.tables import dialect
from specgate.testing import finding_ids
from specgate.validate.check import check_at


@pytest.fixture(scope="module")
def one_hot():
    return dialect("directml").operator("ONE_HOT")


def test_draws_are_reproducible_for_a_seed(one_hot):
    first = [repr(drawn) for drawn in draw_cases(one_hot, "3.0", 60, "1/a")]
    assert first == [repr(drawn) for drawn in draw_cases(one_hot, "3.0", 60, "1/a")]
    assert first != [repr(drawn) for drawn in draw_cases(one_hot, "3.0", 60, "2/a")]


def test_drawn_cases_are_valid_broken_or_at_a_boundary(one_hot):
    drawn = list(draw_cases(one_hot, "6.4", 200, "mix"))
    kinds = Counter("broken" if "/" in d.origin else d.origin for d in drawn)
    assert set(kinds) == {"valid", "broken", "boundary"}
    assert min(kinds["valid"], kinds["broken"], 2 * kinds["boundary"]) >= 70


def test_drawn_descriptors_are_unique(one_hot):
    drawn = [repr(d.descriptor.fields) + repr(d.descriptor.oddities) for d in draw_cases(one_hot, "6.4", 400, "once")]
    assert len(set(drawn)) == len(drawn) >= 380


def test_valid_cases_are_accepted_and_broken_cases_rejected(one_hot):
    for drawn in draw_cases(one_hot, "2.1", 200, "sides"):
        if drawn.origin == "valid":
            assert any(check_at(drawn.descriptor, "2.1", basis).accepted for basis in ("documented", "observed"))
        elif drawn.origin != "boundary":
            names = {finding.id for finding in check_at(drawn.descriptor, "2.1", "documented").findings}
            assert drawn.origin in names or (drawn.origin == "broken" and names)


def test_every_finding_has_a_drawn_case(one_hot):
    expected = set(finding_ids("directml", "ONE_HOT", "4.1"))
    drawn = {d.origin for d in draw_cases(one_hot, "4.1", 10 * len(expected), "all")}
    assert expected <= drawn


def test_boundary_cases_fall_on_both_sides(one_hot):
    moved = [d for d in draw_cases(one_hot, "6.4", 500, "both sides") if d.origin == "boundary"]
    verdicts = Counter(check_at(d.descriptor, "6.4", "documented").accepted for d in moved)
    assert verdicts[True] >= 10
    assert verdicts[False] >= 10


@pytest.mark.parametrize(("name", "operator", "level"), [("onnx", "OneHot", "11"), ("openvino", "OneHot", "opset1")])
def test_other_dialects_are_drawn(name, operator, level):
    spec = dialect(name).operator(operator)
    assert len(list(draw_cases(spec, level, 50, "0"))) >= 45
