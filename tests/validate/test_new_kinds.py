"""Records, scalars, fused operators and arrays of tensors: both paths agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import Descriptor, Malformed, tensor
from specgate.dialects.directml.vocabulary import VOCABULARY, ScaleBias, Size2D
from specgate.rules.compile import compile_resolved
from specgate.rules.fused import Fusible
from specgate.spec import tables
from specgate.spec.dialect_spec import Dialect
from specgate.spec.fields import Cell, FieldInfo
from specgate.spec.operator_spec import OperatorSpec
from specgate.validate.message import finding
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.validate.failures import Failure

INPUT = {"kind": "input"}
RELU: dict[str, Any] = {"operator": "RELU", "fields": {"X": INPUT, "Y": {"kind": "output"}}, "support": {"1.0": {}}}
LINEAR: dict[str, Any] = {
    "operator": "LINEAR",
    "fields": {
        "X": INPUT,
        "Alpha": {"kind": "attribute", "type": "float"},
        "Beta": {"kind": "attribute", "type": "float", "default": 0.0},
        "Gamma": {"kind": "attribute", "type": "float", "optional": True},
        "Late": {"kind": "attribute", "type": "float", "since": "2.0"},
    },
    "support": {"1.0": {}},
}
LATE: dict[str, Any] = {"operator": "LATE", "fields": {}, "support": {"3.0": {}}}


def operator(name: str, dialect: str = "scratch", **fields: Any) -> Descriptor:
    return Descriptor(dialect, name, fields)


@pytest.fixture
def fusing(make_spec: Callable[..., OperatorSpec]) -> Callable[..., OperatorSpec]:
    """Return a function that makes an operator with the field F.

    F accepts one operator, or several; None: the row does not list operators.
    """

    def make(kind: str = "operator", listed: list[str] | None = None, **more: Any) -> OperatorSpec:
        cell = {} if listed is None else {"operators": listed}
        fields = {"F": {"kind": "attribute", "type": kind, "optional": True}}
        spec = make_spec(fields, support={"1.0": {"F": cell}}, **more)
        spec.dialect.tables.operators.update({raw["operator"]: raw for raw in (RELU, LINEAR, LATE)})
        return spec

    return make


def evaluate(spec: OperatorSpec, values: dict[str, Any], level: str = "1.0") -> list[Failure]:
    """Return the explaining path's findings; the compiled path must agree."""
    resolved = spec.resolve(level)
    assert resolved is not None
    descriptor = Descriptor("scratch", "SCRATCH", values)
    failures = explain_at(descriptor, resolved)
    if descriptor.plain:
        assert compile_resolved(resolved)(values) is (failures == [])
    return failures


def facts(failures: list[Failure]) -> list[tuple[str, str, str]]:
    return [(failure.rule, failure.where, failure.message) for failure in failures]


def test_a_cell_lists_operators() -> None:
    assert Cell.make({"operators": ["RELU", "ELU"]}, ()) == Cell(operators=("RELU", "ELU"))
    assert Cell.make({"operators": []}, ()).operators == ()
    assert Cell.make({}, ()) == Cell()
    cell = Cell.make({"types": "any", "ranks": [1, 4], "values": ["a"], "range": [0, None]}, ["INT8", "INT4"])
    assert (cell.types, str(cell.ranks), cell.values, str(cell.range)) == (
        ("INT8", "INT4"),
        "1 to 4",
        ("a",),
        "0 or more",
    )


@pytest.mark.parametrize(
    ("kind", "rule_kind", "fuses"),
    [
        ("scalar", "number", False),
        ("size-2d", "size-2d", False),
        ("scale-bias", "scale-bias", False),
        ("operator", "operator", True),
        ("operator[]", "operators", True),
        ("tensor[]", "tensors", False),
        ("enum:MODE", "word", False),
    ],
)
def test_kinds_of_fields(kind: str, rule_kind: str, fuses: bool) -> None:
    info = FieldInfo("F", "attribute", kind, type_from="Type")
    assert (info.rule_kind, info.fuses, info.type_from) == (rule_kind, fuses, "Type")


GOOD = {
    "left out": None,
    "listed": operator("RELU"),
    "tensors that are null": operator("RELU", X=None, Y=None),
    "all it needs": operator("LINEAR", Alpha=1.0),
    "all it has": operator("LINEAR", Alpha=1.0, Beta=2.0, Gamma=3.0),
}


@pytest.mark.parametrize("value", GOOD.values(), ids=GOOD.keys())
@pytest.mark.parametrize("listed", [["RELU", "LINEAR"], None], ids=["listed", "any"])
def test_fused_operators_accepted_by_a_field(fusing, value: Descriptor | None, listed: list[str] | None) -> None:
    assert evaluate(fusing("operator", listed), {} if value is None else {"F": value}) == []
    assert evaluate(fusing("operator[]", listed), {"F": [] if value is None else [value, value]}) == []


BAD: dict[str, tuple[Any, tuple[str, str], bool]] = {
    "not listed": (operator("LATE"), ("", "F is LATE"), True),
    "no table": (operator("EARLY"), ("", "F is EARLY"), True),
    "tensor": (
        operator("RELU", X=tensor("INT8", [1])),
        (".X", "F states X, but a fused operator has no separate tensors"),
        False,
    ),
    "required": (operator("LINEAR", Beta=1.0), (".Alpha", "F does not state Alpha, which LINEAR requires"), True),
    "null where a number is required": (
        operator("LINEAR", Alpha=None),
        (".Alpha", "F does not state Alpha, which LINEAR requires"),
        True,
    ),
    "later attribute": (
        operator("LINEAR", Alpha=1.0, Late=1.0),
        (".Late", "F states Late, which is not an attribute of LINEAR at feature level 1.0"),
        True,
    ),
    "no attribute": (
        operator("RELU", Alpha=1.0),
        (".Alpha", "F states Alpha, which is not an attribute of RELU at feature level 1.0"),
        True,
    ),
    "another dialect": (
        operator("RELU", "onnx"),
        ("", "F is RELU, but an operator of scratch is expected"),
        True,
    ),
    "a number": (3, ("", "F is 3, but an operator of scratch is expected"), True),
    "a dict": ({"type": "RELU"}, ("", "F is {'type': 'RELU'}, but an operator of scratch is expected"), True),
    "odd": (
        Descriptor("scratch", "RELU", {}, oddities=(Malformed("unknown-attribute", "a", "a is strange"),)),
        (".a", "F has an invalid field: a is strange"),
        True,
    ),
}


@pytest.mark.parametrize(("value", "fact", "structural"), BAD.values(), ids=BAD.keys())
def test_fused_operators_rejected_by_a_field(fusing, value: Any, fact: tuple[str, str], structural: bool) -> None:
    place, message = fact
    (failure,) = evaluate(fusing("operator", ["RELU", "LINEAR"]), {"F": value})
    assert facts([failure]) == [("F.operator", f"F{place}", message)]
    assert (failure.aspect, failure.structural, failure.unknown) == ("value", structural, False)
    json.dumps(failure.values)


def test_each_of_several_operators_is_checked(fusing) -> None:
    spec = fusing("operator[]", ["RELU"])
    failures = evaluate(
        spec, {"F": [operator("RELU"), operator("LINEAR", Alpha=1.0), operator("RELU", X=tensor("INT8", [1]))]}
    )
    assert facts(failures) == [
        ("F.operator", "F[1]", "F[1] is LINEAR"),
        ("F.operator", "F[2].X", "F[2] states X, but a fused operator has no separate tensors"),
    ]


def test_all_failures_of_a_fused_operator_are_reported(fusing) -> None:
    failures = evaluate(fusing("operator", ["RELU"]), {"F": operator("LINEAR", X=tensor("INT8", [1]))})
    assert [failure.where for failure in failures] == ["F", "F.X", "F.Alpha"]
    assert len({failure.key for failure in failures}) == 3


def test_a_row_without_a_list_accepts_operators_of_the_level(fusing) -> None:
    spec = fusing()
    assert [f.message for f in evaluate(spec, {"F": operator("LATE")})] == [
        "F is LATE, which feature level 1.0 does not have"
    ]
    assert evaluate(spec, {"F": operator("LATE")}, "3.0") == []
    assert [f.where for f in evaluate(spec, {"F": operator("NONE")}, "3.0")] == ["F"]


def test_attributes_are_those_of_the_level(fusing) -> None:
    spec = fusing("operator", ["LINEAR"])
    assert evaluate(spec, {"F": operator("LINEAR", Alpha=1.0, Late=1.0)}, "2.0") == []
    assert [f.where for f in evaluate(spec, {"F": operator("LINEAR", Alpha=1.0)}, "2.0")] == ["F.Late"]


def test_unknown_values_of_plain_descriptors_are_rejected(fusing) -> None:
    value = operator("RELU", X=tensor("INT8", ["N"]))
    assert not Descriptor("scratch", "SCRATCH", {"F": value}).plain
    assert [f.where for f in evaluate(fusing("operator", ["RELU"]), {"F": value})] == ["F.X"]


def test_findings_name_supported_operators_and_fixes(fusing) -> None:
    spec = fusing("operator", ["RELU"])
    value = operator("LINEAR", X=1, Alpha=0.5)
    failures = evaluate(spec, {"F": value}, "1.0")
    none = spec.dialect.level_set([])
    findings = [
        finding(
            f, spec, "1.0", "scratch:1.0", "documented", none, is_unsupported_anywhere=bool(f.allowed), only_here=False
        )
        for f in failures
    ]
    assert [(f.id, f.where, f.message, f.fix) for f in findings] == [
        (
            "scratch/SCRATCH/F.operator",
            "F",
            "F is LINEAR, which is not supported at feature level 1.0 (supported: RELU); no feature level supports it",
            "set F to RELU",
        ),
        (
            "scratch/SCRATCH/F.operator",
            "F.X",
            "F states X, but a fused operator has no separate tensors",
            "leave out F.X",
        ),
    ]
    assert findings[0].values == {"F": "LINEAR {'X': 1, 'Alpha': 0.5}"}


@pytest.mark.slow
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5) | st.binary(max_size=5), st.lists, max_leaves=5))
def test_junk_is_not_an_operator(junk: Any) -> None:
    fusible = Fusible(tables.dialect("directml"), "2.0", None)
    assert not fusible.fits(junk)
    assert not fusible.fits(Descriptor("directml", str(junk), {}))
    assert all(flaw.message.isprintable() for flaw in fusible.flaws(Descriptor("directml", str(junk), {})))


SIZE = {"S": {"kind": "attribute", "type": "size-2d"}}
LINE = {"S": {"kind": "attribute", "type": "scale-bias", "optional": True}}


@pytest.mark.parametrize(
    ("fields", "rules", "cell", "value", "result"),
    [
        (SIZE, {"wide": "S.Width > S.Height"}, {}, Size2D(3, 2), []),
        (SIZE, {"wide": "S.Width > S.Height"}, {}, Size2D(2, 3), [("wide", "S.Width is 2 and S.Height is 3")]),
        (SIZE, {}, {"range": [1, 3]}, Size2D(3, 1), []),
        (SIZE, {}, {"range": [1, 3]}, Size2D(3, 4), [("S.value", "S.Height is 4")]),
        (SIZE, {}, {"range": [1, None]}, Size2D(0, 0), [("S.value", "S.Width is 0"), ("S.value", "S.Height is 0")]),
        (SIZE, {}, {"values": [1, 2]}, Size2D(1, 2), []),
        (SIZE, {}, {"values": [1, 2]}, Size2D(1, 3), [("S.value", "S.Height is 3")]),
        (LINE, {"flat": "S.Scale == 0"}, {}, ScaleBias(0.0, 1.0), []),
        (LINE, {"flat": "S.Scale == 0"}, {}, ScaleBias(0.5, 1.0), [("flat", "S.Scale is 0.5")]),
        (LINE, {"flat": "S.Scale == 0"}, {}, None, []),
        (LINE, {"packed": "not present(S)"}, {}, ScaleBias(0.5, 1.0), [("packed", "S is given")]),
        (SIZE, {"wide": "S.Width > 2"}, {}, 3, [("wide", "S is 3")]),
        (SIZE, {"wide": "S.Width > 2"}, {}, [3, 2], [("wide", "S is [3, 2]")]),
        (SIZE, {"wide": "S.Width > 2"}, {}, ScaleBias(3.0, 2.0), [("wide", "'Scale': 3.0")]),
    ],
)  # fmt: skip
def test_records(make_spec, fields, rules, cell, value, result) -> None:
    spec = make_spec(fields, rules, support={"1.0": {"S": cell}})
    failures = evaluate(spec, {} if value is None else {"S": value})
    assert [failure.rule for failure in failures] == [rule for rule, _ in result]
    assert all(part in failure.message for failure, (_, part) in zip(failures, result, strict=True))


def test_an_unknown_member_of_a_record(make_spec) -> None:
    failures = evaluate(make_spec(SIZE, {"wide": "S.Width > 2"}), {"S": Size2D(None, 2)})  # type: ignore[arg-type]
    assert [(f.rule, f.unknown) for f in failures] == [("wide", True)]


@pytest.mark.parametrize(("value", "accepted"), [(1, True), (2.5, True), (4, False), (float("nan"), False)])
def test_scalars(make_spec, value: float, accepted: bool) -> None:
    fields = {
        "V": {"kind": "attribute", "type": "scalar", "type_from": "T"},
        "T": {"kind": "attribute", "type": "string"},
    }
    for spec in (
        make_spec(fields, {"small": "0 <= V < 4"}),
        make_spec(fields, support={"1.0": {"V": {"range": [0, 3]}}}),
    ):
        assert (evaluate(spec, {"V": value, "T": "INT8"}) == []) is accepted


def test_a_field_of_a_later_level_is_shown_plainly(make_spec) -> None:
    fields = {"S": {**SIZE["S"], "since": "2.0"}, "F": {"kind": "attribute", "type": "operator", "since": "2.0"}}
    spec = make_spec(fields)
    failures = evaluate(spec, {"S": Size2D(3, 2), "F": operator("RELU")})
    assert [failure.values for failure in failures] == [{"S": {"Width": 3, "Height": 2}}, {"F": "RELU"}]


JOIN = {
    "Parts": {"kind": "input", "type": "tensor[]"},
    "Whole": {"kind": "output"},
    "Axis": {"kind": "attribute", "type": "uint"},
}
JOINED = {
    "same-type": "all(type(t) == type(Whole) for t in Parts)",
    "same-rank": "all(rank(t) == rank(Whole) for t in Parts)",
    "same-sizes": {
        "require": "all(all(t.sizes[d] == Whole.sizes[d] for d in dims(Whole) if d != Axis) for t in Parts)",
        "after": ["same-rank"],
    },
    "axis-sizes": {"require": "sum(t.sizes[Axis] for t in Parts) == Whole.sizes[Axis]", "after": ["same-rank"]},
}


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["INT8", "INT8", "INT16"]), st.lists(st.integers(1, 2), min_size=1, max_size=2)),
        max_size=3,
    ),
    st.lists(st.integers(1, 4), min_size=1, max_size=2),
    st.integers(0, 2),
)
def test_joined_tensors_by_counting(parts: list[tuple[str, list[int]]], whole: list[int], axis: int) -> None:
    raw = {
        "dialect": {"level": "level", "unstated_outputs": False},
        "levels": {"levels": {"1.0": {}}},
        "types": {"types": {}},
    }
    forms = {name: [rule if isinstance(rule, dict) else {"require": rule}] for name, rule in JOINED.items()}
    own = {"operator": "SCRATCH", "fields": JOIN, "support": {"1.0": {}}, "rules": forms}
    table = Dialect("scratch", raw)
    table.vocabulary = VOCABULARY
    spec = OperatorSpec(table, own)
    values = {"Parts": [tensor(*part) for part in parts], "Whole": tensor("INT8", whole), "Axis": axis}
    fits = (
        axis < len(whole)
        and all(kind == "INT8" and len(sizes) == len(whole) for kind, sizes in parts)
        and all(sizes[:axis] + sizes[axis + 1 :] == whole[:axis] + whole[axis + 1 :] for _, sizes in parts)
        and sum(sizes[axis] for _, sizes in parts) == whole[axis]
    )
    assert (evaluate(spec, values) == []) is fits


def test_loops_over_many_tensors_end(make_spec) -> None:
    spec = make_spec(JOIN, {"pairs": "all(any(type(t) == type(u) for u in Parts if rank(u) == 9) for t in Parts)"})
    values = {"Parts": [tensor("INT8", [1])] * 100_000, "Whole": tensor("INT8", [1]), "Axis": 0}
    assert [failure.rule for failure in evaluate(spec, values)] == ["pairs"]
