"""The compiled checker accepts exactly if the explaining path finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.descriptors.core import Descriptor, TensorDesc, tensor
from specgate.rules.compile import compile_resolved
from specgate.rules.functions import NEST_LIMIT
from specgate.spec.tables import dialect
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.operator_spec import OperatorSpec

A: dict[str, Any] = {"A": {"kind": "input"}}
MANY: dict[str, Any] = {"Many": {"kind": "input", "type": "tensor[]"}}

pytestmark = pytest.mark.timeout(240)  # what is hostile must not hang


def both(spec: OperatorSpec, values: dict[str, Any], level: str = "3.0") -> tuple[bool, list[str]]:
    """Return the compiled answer and the findings of the explaining path."""
    resolved = spec.resolve(level)
    assert resolved is not None
    failures = explain_at(Descriptor("scratch", "SCRATCH", values), resolved)
    return compile_resolved(resolved)(values), [failure.rule for failure in failures]


def test_fields_named_like_tensor_members(make_spec) -> None:
    """OpenVINO has an attribute output_type next to the tensor output."""
    fields = {
        "output": {"kind": "output"},
        "output_type": {"kind": "attribute", "type": "string"},
        "output_rank": {"kind": "attribute", "type": "int"},
    }
    rules = {"type": "output_type == 'i64' and type(output) == INT64", "rank": "output_rank == 7 and rank(output) == 2"}
    values = {"output": tensor("INT64", [2, 3]), "output_type": "i64", "output_rank": 7}
    assert both(make_spec(fields, rules), values) == (True, [])
    assert both(make_spec(fields, rules), {**values, "output_rank": 2}) == (False, ["rank"])


NEGATIVE = {
    "constant": "A.sizes[-1] == 4",
    "expression": "A.sizes[Axis - 1] == 4",
    "signed attribute": "A.sizes[Back] == 4",
    "loop over constants": "all(A.sizes[d] > 0 for d in (0, -1))",
    "loop over an attribute": "all(A.sizes[d] > 0 for d in Ends)",
    "loop in a loop": "all(all(A.sizes[e] > 0 for e in (0, 0 - d)) for d in dims(A))",
    "define": "A.sizes[below] == 4",
    "variable hidden by a loop over constants": "all(all(A.sizes[d] > 0 for d in Ends) for d in dims(A))",
}


@pytest.mark.parametrize("rule", NEGATIVE.values(), ids=NEGATIVE.keys())
def test_negative_indices_do_not_wrap_around(make_spec, rule: str) -> None:
    fields = {
        **A,
        "Axis": {"kind": "attribute", "type": "uint"},
        "Back": {"kind": "attribute", "type": "int"},
        "Ends": {"kind": "attribute", "type": "int[]"},
    }
    spec = make_spec(fields, {"case": rule}, define={"below": "Axis - 1"})
    values = {"A": tensor("INT8", [2, 3, 4]), "Axis": 0, "Back": -1, "Ends": [0, -1]}
    assert both(spec, values) == (False, ["case"])


@pytest.mark.parametrize("value", ["5", "five", b"5", 5j])
def test_a_constant_that_is_not_a_number(make_spec, value: Any) -> None:
    """int() would accept the word "5"."""
    accepted, result = both(make_spec(A, {"case": "int(value(A)) == 5"}), {"A": tensor("INT8", [], value=[value])})
    assert (accepted, result) == (False, ["case"])


@pytest.mark.parametrize("name", ["d", "e"])
def test_loop_variables_end_with_their_loop(make_spec, name: str) -> None:
    rule = f"all(all({name} < 3 for {name} in range(d)) and d < 3 for d in dims(A))"
    assert both(make_spec(A, {"case": rule}), {"A": tensor("INT8", [1, 1, 1])}) == (True, [])
    assert both(make_spec(A, {"case": rule}), {"A": tensor("INT8", [1, 1, 1, 1])}) == (False, ["case"])


def test_defines_do_not_see_the_loop_variables_around_them(make_spec) -> None:
    spec = make_spec(A, {"case": "all(after == 4 for d in dims(A))"}, define={"d": "rank(A)", "after": "d + 1"})
    assert both(spec, {"A": tensor("INT8", [1, 1, 1])}) == (True, [])


@pytest.mark.parametrize(
    ("strides", "accepted"), [([3, 1], True), ([3], False), ([0, 0], False), (None, True)], ids=repr
)
def test_tensor_rules_apply_to_arrays_of_tensors(make_spec, strides, accepted: bool) -> None:
    rules = {"stride-count": "len(tensor.strides) == rank(tensor)", "no-overlap": "not overlapping(tensor)"}
    spec = make_spec(MANY, tensor_rules=rules)
    values = {"Many": [tensor("INT8", [2, 3]), tensor("INT8", [2, 3], strides=strides)]}
    result, _ = both(spec, values)
    assert result is accepted is (both(spec, values)[1] == [])


@pytest.mark.parametrize(
    ("cell", "last", "accepted"),
    [
        ({"types": ["INT8"]}, tensor("INT8", [2]), True),
        ({"types": ["INT8"]}, tensor("INT16", [2]), False),
        ({"ranks": [1, 1]}, tensor("INT8", [2]), True),
        ({"ranks": [1, 1]}, tensor("INT8", [2, 2]), False),
        ({"ranks": {"only": [1, 3]}}, tensor("INT8", [2, 2]), False),
    ],
    ids=repr,
)
def test_cells_apply_to_arrays_of_tensors(make_spec, cell, last: TensorDesc, accepted: bool) -> None:
    spec = make_spec(MANY, support={"1.0": {"Many": cell}})
    result, rules = both(spec, {"Many": [tensor("INT8", [2]), last]})
    assert result is accepted is (rules == [])


def test_no_tensors_in_an_array(make_spec) -> None:
    spec = make_spec(
        MANY, support={"1.0": {"Many": {"types": ["INT8"]}}}, tensor_rules={"packed": "not present(tensor.strides)"}
    )
    assert both(spec, {"Many": []}) == (True, [])


CELLS = {
    "range": ("uint", {"range": [1, 3]}, 2, 4),
    "open range": ("int", {"range": [1, None]}, 9, 0),
    "one number": ("uint", {"range": [3, 3]}, 3, 2),
    "values": ("string", {"values": ["linear", "cubic"]}, "cubic", "nearest"),
    "numbers": ("uint", {"values": [1, 4]}, 4, 2),
    "range of elements": ("uint[]", {"range": [1, 3]}, [1, 2, 3], [1, 4]),
    "values of elements": ("string[]", {"values": ["a", "b"]}, ["a", "b", "a"], ["a", "c"]),
}


@pytest.mark.parametrize(("kind", "cell", "good", "bad"), CELLS.values(), ids=CELLS.keys())
def test_cells_of_attributes(make_spec, kind: str, cell: dict[str, Any], good: Any, bad: Any) -> None:
    spec = make_spec({"X": {"kind": "attribute", "type": kind}}, support={"1.0": {"X": cell}})
    assert both(spec, {"X": good}) == (True, [])
    assert both(spec, {"X": bad}) == (False, ["X.value"])


def test_words_of_a_field(make_spec) -> None:
    spec = make_spec({"X": {"kind": "attribute", "type": "string", "words": ["a", "b"]}})
    assert both(spec, {"X": "a"}) == (True, [])
    assert both(spec, {"X": "c"}) == (False, ["X.value"])


STAGED: dict[str, Any] = {
    **A,
    "Old": {"kind": "attribute", "type": "int", "optional": True, "until": "2.0"},
    "New": {"kind": "attribute", "type": "int", "optional": True, "default": 5, "since": "2.0"},
}


@pytest.mark.parametrize(
    ("level", "values", "result"),
    [
        ("1.0", {}, []),
        ("2.0", {}, []),
        ("1.0", {"Old": 1}, ["old"]),
        ("1.0", {"Old": 2}, []),
        ("2.0", {"Old": 2}, ["Old.exists"]),
        ("1.0", {"New": 5}, ["New.exists"]),
        ("2.0", {"New": 5}, []),
        ("2.0", {"New": 6}, ["new"]),
    ],
    ids=repr,
)
def test_rules_apply_where_their_fields_exist(make_spec, level: str, values: dict[str, Any], result: list[str]) -> None:
    spec = make_spec(STAGED, {"old": "Old == 2", "new": "New == 5"})
    accepted, rules = both(spec, {"A": tensor("INT8", [1]), **values}, level)
    assert rules == result
    assert accepted is (result == [])


def test_missing_outputs_may_be_inferred(make_spec) -> None:
    fields = {**A, "Out": {"kind": "output"}}
    rules = {"same": "rank(A) == rank(Out)"}
    support = {"1.0": {"Out": {"types": ["INT8"]}}}
    loose = make_spec(fields, rules, support=support, infers_outputs=True)
    assert both(loose, {"A": tensor("INT8", [1])}) == (True, [])
    assert both(make_spec(fields, rules, support=support), {"A": tensor("INT8", [1])}) == (False, ["Out.required"])


def test_conditional_rules(make_spec) -> None:
    fields = {**A, "Mode": {"kind": "attribute", "type": "string"}}
    spec = make_spec(fields, {"case": {"require": "rank(A) == 1", "when": "Mode == 'line'"}})
    assert both(spec, {"A": tensor("INT8", [1, 1]), "Mode": "plane"}) == (True, [])
    assert both(spec, {"A": tensor("INT8", [1, 1]), "Mode": "line"}) == (False, ["case"])


def test_nested_loops_end(make_spec) -> None:
    """A hundred million iterations would take a minute."""
    fields = {"N": {"kind": "attribute", "type": "uint"}}
    spec = make_spec(fields, {"case": "all(all(a + b >= 0 for a in range(N)) for b in range(N))"})
    assert both(spec, {"N": 100}) == (True, [])
    accepted, texts = both(spec, {"N": 10_000})
    assert (accepted, texts) == (False, ["case"])
    assert both(spec, {"N": NEST_LIMIT + 1})[0] is False


def test_nested_loops_over_long_arrays_end(make_spec) -> None:
    fields = {"Order": {"kind": "attribute", "type": "int[]"}}
    spec = make_spec(fields, {"case": "all(sum(1 for a in Order if a == b) == 1 for b in Order)"})
    assert both(spec, {"Order": list(range(200))}) == (True, [])
    assert both(spec, {"Order": list(range(200_000))}) == (False, ["case"])


def test_constants_are_scanned_once(make_spec) -> None:
    """Evaluating once per place that a rule reads made 200 axes take four seconds."""

    class Counted(tuple[int, ...]):
        __slots__ = ()
        times = 0

        def __iter__(self) -> Iterator[int]:
            type(self).times += 1
            return super().__iter__()

    rule = "all(all(values(A)[i] != values(A)[j] for j in range(i)) for i in range(len(values(A))))"
    resolved = make_spec(A, {"case": rule}).resolve("3.0")
    axes = TensorDesc("INT64", (100,), value=Counted(range(100)))
    assert compile_resolved(resolved)({"A": axes}) is True
    assert Counted.times == 1


TYPES = ["FLOAT32", "FLOAT16", "INT64", "INT32", "UINT32", "UINT8", "FLOAT64", "UINT4"]


@st.composite
def one_hots(draw: st.DrawFn) -> Descriptor:
    """Draw a ONE_HOT that is mostly valid, with occasional changes of each fact."""
    rank = draw(st.sampled_from([4, 4, 4, 1, 3, 5, 8, 9]))
    axis = draw(st.integers(0, rank))
    sizes = draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    values_type = draw(st.sampled_from(TYPES))

    def layout(shape: list[int]) -> dict[str, Any]:
        return {
            "strides": draw(st.none() | st.none() | st.lists(st.integers(0, 9), min_size=rank, max_size=rank)),
            "size_in_bytes": draw(st.sampled_from([None, None, 4 * 4**8, 12])),
            "alignment": draw(st.sampled_from([None, None, 0, 16, 2])),
            "flags": draw(st.sampled_from([None, None, 0, 1, 2])),
        }

    indices = [1 if d == axis else size for d, size in enumerate(sizes)]
    if draw(st.integers(0, 5)) == 0:
        indices[draw(st.integers(0, rank - 1))] += 1
    values = [1] * (rank - 1) + [draw(st.sampled_from([2, 2, 2, 1, 0]))]
    fields = {
        "IndicesTensor": tensor(draw(st.sampled_from(["UINT32", "INT64", *TYPES])), indices, **layout(indices)),
        "ValuesTensor": tensor(values_type, values[draw(st.sampled_from([0, 0, 0, 1])) :]),
        "OutputTensor": tensor(draw(st.sampled_from([values_type, values_type, "INT32"])), sizes, **layout(sizes)),
        "Axis": axis,
    }
    return Descriptor("directml", "ONE_HOT", fields)


LEVELS = dialect("directml").operator("ONE_HOT").levels


@pytest.mark.slow
@given(one_hots(), st.sampled_from(list(LEVELS)))
@settings(max_examples=150, deadline=None)
def test_one_hot_checked_by_both_paths(descriptor: Descriptor, level: str) -> None:
    for side in ("documented", "observed"):
        resolved = dialect("directml").operator("ONE_HOT").resolve(level, side)
        assert resolved is not None
        assert compile_resolved(resolved)(descriptor.fields) is (explain_at(descriptor, resolved) == [])


@pytest.mark.parametrize("extra", [{}, {"default": None}])
def test_rules_skip_omitted_tensors(make_spec, extra: dict[str, Any]) -> None:
    """Rules for all tensors, in both compiled forms, and a later rule on the same tensor."""
    fields = {"A": {"kind": "input"}, "B": {"kind": "input", "optional": True, **extra}}
    tensor_rules = {
        "sizes-not-zero": [{"require": "all(s > 0 for s in tensor.sizes)"}],
        "ranks": [{"require": "1 <= rank(tensor) <= 4"}],
    }
    spec = make_spec(fields, {"same": "rank(A) == rank(B)"}, tensor_rules=tensor_rules)
    a = tensor("INT8", [1, 2])
    assert both(spec, {"A": a}) == (True, [])
    assert both(spec, {"A": a, "B": a}) == (True, [])
    assert both(spec, {"A": a, "B": tensor("INT8", [2])}) == (False, ["same"])
    assert both(spec, {"A": a, "B": tensor("INT8", [0, 2])}) == (False, ["sizes-not-zero"])
