"""Findings: ids, places, values, fixes, levels; all failures, without echoes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import specgate
from specgate.dialects.directml.oracle.builds import BUILDS
from specgate.spec.tables import dialect

NARROWER = "24 of 53 significant bits are kept, numbers from 2**128 on overflow"


def change(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Set fields of a DirectML descriptor: TENSOR__MEMBER or FIELD; None removes one."""
    for path, value in changes.items():
        *way, last = path.split("__")
        at = data["desc"]
        for key in way:
            at = at[key]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return data


def facts(verdict: specgate.Verdict) -> list[tuple[str, str]]:
    return [(finding.id.partition("/")[2], finding.where) for finding in verdict.findings]


def test_accepted(one_hot) -> None:
    verdict = specgate.check(one_hot, "directml:4.1")
    assert verdict == specgate.Verdict(True, "directml:4.1", "ONE_HOT", "both")
    assert verdict.word == "accepted"


def test_a_rule(one_hot) -> None:
    verdict = specgate.check(change(one_hot, Axis=4), "directml:4.1")
    assert verdict.word == "rejected"
    assert verdict.findings == (
        specgate.Finding(
            id="directml/ONE_HOT/axis-range",
            severity="error",
            message="Axis must be less than the DimensionCount of IndicesTensor: Axis is 4 and IndicesTensor has rank 4.",
            where="Axis",
            values={"Axis": 4, "rank(IndicesTensor)": 4},
            fix="set Axis to 3 or less",
            target="directml:4.1",
            rule="Axis < rank(IndicesTensor)",
        ),
    )


def test_a_type_supported_at_a_later_level(one_hot) -> None:
    verdict = specgate.check(change(one_hot, IndicesTensor__DataType="INT64"), "directml:2.1")
    assert verdict.findings == (
        specgate.Finding(
            id="directml/ONE_HOT/IndicesTensor.type",
            severity="error",
            message="IndicesTensor is INT64, which is not supported at feature level 2.1 (supported: UINT32); accepted by 3.0..6.4 "
            "(documented rule that builds at this level do not enforce)",
            where="IndicesTensor",
            values={"type(IndicesTensor)": "INT64"},
            first_level="3.0",
            levels=tuple(level for level in dialect("directml").levels if level >= "3.0"),
            fix="cast IndicesTensor to UINT32 (exact from 0 to 2**32 - 1) or use feature level 3.0",
            target="directml:2.1",
        ),
    )


def test_a_type_supported_at_no_level(one_hot) -> None:
    (finding,) = specgate.check(change(one_hot, IndicesTensor__DataType="FLOAT32"), "directml:2.1").findings
    assert (
        finding.message
        == "IndicesTensor is FLOAT32, which is not supported at feature level 2.1 (supported: UINT32); no feature level supports it"
    )
    assert (finding.first_level, finding.levels, finding.fix) == (None, (), "give IndicesTensor the type UINT32")


def test_ranks_supported_at_a_later_level(one_hot) -> None:
    data = change(
        one_hot, IndicesTensor__Sizes=[1, 3, 1], ValuesTensor__Sizes=[1, 1, 2], OutputTensor__Sizes=[1, 3, 4], Axis=2
    )
    verdict = specgate.check(data, "directml:2.1")
    tensors = ["IndicesTensor", "ValuesTensor", "OutputTensor"]
    assert facts(verdict) == [(f"ONE_HOT/{name}.rank", name) for name in tensors]
    assert {f.message for f in verdict.findings} == {
        f"{name} has rank 3, which is not supported at feature level 2.1 (supported: 4); accepted by 3.0..6.4"
        for name in tensors
    }
    assert {f.fix for f in verdict.findings} == {f"give {name} rank 4 or use feature level 3.0" for name in tensors}


def test_a_level_is_proposed_only_if_it_accepts_the_descriptor(one_hot) -> None:
    """FLOAT64 values need 4.1, so the indices' finding must not propose 3.0."""
    data = change(
        one_hot, IndicesTensor__DataType="INT64", ValuesTensor__DataType="FLOAT64", OutputTensor__DataType="FLOAT64"
    )
    verdict = specgate.check(data, "directml:2.1")
    assert [(f.where, f.first_level, f.fix) for f in verdict.findings] == [
        ("IndicesTensor", "4.1", "cast IndicesTensor to UINT32 (exact from 0 to 2**32 - 1) or use feature level 4.1"),
        (
            "ValuesTensor",
            "4.1",
            f"cast ValuesTensor to FLOAT32 ({NARROWER}) or use feature level 4.1",
        ),
        ("OutputTensor", "4.1", "give OutputTensor the type FLOAT32 or use feature level 4.1"),
    ]


def test_no_level_is_proposed_if_another_rule_fails(one_hot) -> None:
    data = change(one_hot, IndicesTensor__DataType="INT64", Axis=7)
    assert [(f.where, f.fix) for f in specgate.check(data, "directml:2.1").findings] == [
        ("IndicesTensor", "cast IndicesTensor to UINT32 (exact from 0 to 2**32 - 1)"),
        ("Axis", "set Axis to 3 or less"),
    ]


def test_a_fix_stated_in_the_table(one_hot) -> None:
    (finding,) = specgate.check(change(one_hot, ValuesTensor__Sizes=[1, 2]), "directml:4.1").findings
    assert finding.id == "directml/ONE_HOT/values-rank"
    assert finding.fix == "add leading dimensions of size 1 to ValuesTensor"


def test_rules_of_every_tensor(one_hot) -> None:
    data = change(
        one_hot,
        OutputTensor__Flags=2,
        OutputTensor__GuaranteedBaseOffsetAlignment=3,
        ValuesTensor__TotalTensorSizeInBytes=7,
    )
    verdict = specgate.check(data, "directml:4.1")
    assert facts(verdict) == [
        ("tensor/total-size", "ValuesTensor"),
        ("tensor/alignment", "OutputTensor"),
        ("tensor/flags", "OutputTensor"),
    ]
    assert [f.message for f in verdict.findings] == [
        (
            "TotalTensorSizeInBytes must cover the last element that Sizes and Strides address, rounded up to 4 bytes: "
            "TotalTensorSizeInBytes of ValuesTensor is 7 and the least size in bytes of ValuesTensor is 8."
        ),
        (
            "GuaranteedBaseOffsetAlignment must be 0, or a power of two that is at least the size of an element: "
            "GuaranteedBaseOffsetAlignment of OutputTensor is 3 and the number of bits of an element of OutputTensor is 32."
        ),
        "Flags must be DML_TENSOR_FLAG_NONE or DML_TENSOR_FLAG_OWNED_BY_DML: Flags of OutputTensor is 2.",
    ]
    assert verdict.findings[2].rule == "OutputTensor.Flags in (0, 1)"
    assert verdict.findings[2].values == {"OutputTensor.Flags": 2}
    assert verdict.findings[0].fix == "remove TotalTensorSizeInBytes, or raise it to the minimum"


def test_the_same_rule_on_two_tensors_is_two_findings(one_hot) -> None:
    data = change(one_hot, OutputTensor__Flags=2, IndicesTensor__Flags=9)
    assert facts(specgate.check(data, "directml:4.1")) == [
        ("tensor/flags", "IndicesTensor"),
        ("tensor/flags", "OutputTensor"),
    ]


def test_all_failures_are_reported_at_once(one_hot) -> None:
    data = change(
        one_hot,
        IndicesTensor__DataType="INT8",
        IndicesTensor__Sizes=[1, 1, 3, 2],
        ValuesTensor__Sizes=[1, 1, 1, 1],
        OutputTensor__DataType="INT32",
        OutputTensor__Flags=7,
    )
    assert facts(specgate.check(data, "directml:4.1")) == [
        ("ONE_HOT/IndicesTensor.type", "IndicesTensor"),
        ("tensor/flags", "OutputTensor"),
        ("ONE_HOT/same-type", "ValuesTensor"),
        ("ONE_HOT/axis-size-one", "IndicesTensor"),
        ("ONE_HOT/two-values", "ValuesTensor"),
    ]


ECHOES = {
    "sizes[Axis] with Axis out of range": ({"Axis": 9}, ["ONE_HOT/axis-range"]),
    "minimum size without strides": (
        {"OutputTensor__Strides": [1, 2], "OutputTensor__TotalTensorSizeInBytes": 4},
        ["tensor/stride-count"],
    ),
    "row of ranks beside the limit of dimensions": (
        {"IndicesTensor__Sizes": [1] * 9, "ValuesTensor__Sizes": [1] * 8 + [2], "OutputTensor__Sizes": [1] * 9},
        ["tensor/dimension-count"],
    ),
    "rules about a field that is missing": ({"Axis": None}, ["ONE_HOT/Axis.required"]),
    "rules about a tensor that is missing": ({"IndicesTensor": None}, ["ONE_HOT/IndicesTensor.required"]),
    "several missing fields": (
        {"IndicesTensor": None, "OutputTensor": None, "Axis": None},
        ["ONE_HOT/Axis.required", "ONE_HOT/IndicesTensor.required", "ONE_HOT/OutputTensor.required"],
    ),
}


@pytest.mark.parametrize(("changes", "ids"), ECHOES.values(), ids=ECHOES.keys())
def test_causes_without_echoes(one_hot, changes: dict[str, Any], ids: list[str]) -> None:
    verdict = specgate.check(change(one_hot, **changes), "directml:4.1")
    assert sorted({name for name, _ in facts(verdict)}) == ids
    assert verdict.undecided == ()


def test_required(one_hot) -> None:
    (finding,) = specgate.check(change(one_hot, Axis=None), "directml:4.1").findings
    assert finding.message == "Axis is required, but missing"
    assert (finding.id, finding.where, finding.fix) == ("directml/ONE_HOT/Axis.required", "Axis", "give Axis")


def test_the_operator_itself(one_hot) -> None:
    verdict = specgate.check(one_hot, "directml:1.0")
    (finding,) = verdict.findings
    assert finding.id == "directml/ONE_HOT/level"
    assert finding.message == "ONE_HOT does not exist at feature level 1.0; it exists from 2.0 on"
    assert (finding.where, finding.first_level, finding.fix) == ("", "2.0", "use feature level 2.0")
    assert finding.values == {"level": "1.0", "operator": "ONE_HOT"}
    assert finding.levels == dialect("directml").levels[1:]


def test_device_capabilities_are_notes_not_findings(one_hot) -> None:
    data = change(one_hot, ValuesTensor__DataType="FLOAT16", OutputTensor__DataType="FLOAT16")
    verdict = specgate.check(data, "directml:4.1")
    assert verdict.accepted is True
    assert verdict.notes[0].startswith("ValuesTensor is FLOAT16, which requires a device with ")


MANY = """\
operator: SCRATCH
summary: Many fields.
source: [{page: own}]
fields:
  InputTensors: {kind: input, type: "tensor[]"}
  OutputTensor: {kind: output}
  Count: {kind: attribute, type: uint}
  Scales: {kind: attribute, type: "float[]", optional: true}
  Mode: {kind: attribute, type: "enum:SCRATCH_MODE", optional: true, default: SUM}
  Name: {kind: attribute, type: string, optional: true, words: [left, right]}
  Fused: {kind: attribute, type: bool, optional: true, since: "3.0", until: "5.0"}
support:
  "2.0":
    InputTensors: {ranks: 4, types: [FLOAT32]}
    OutputTensor: {ranks: [4, 5], types: [FLOAT32]}
    Count: {range: 1..4}
    Mode: {values: [SUM]}
  "4.0":
    InputTensors: {ranks: 4, types: [FLOAT32, FLOAT16]}
    OutputTensor: {ranks: any, types: any}
    Count: {range: "1.."}
    Mode: {values: [SUM, MEAN]}
removed: "6.0"
rules:
  fused-pair:
    - {require: Count == 1, when: Fused, until: "4.0"}
    - {require: Count < 100, since: "4.0", fix: use fewer}
"""


def many(**changes: Any) -> dict[str, Any]:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]}
    desc = {"InputTensors": [dict(tensor), dict(tensor)], "OutputTensor": tensor, "Count": 2}
    return change({"type": "SCRATCH", "desc": desc}, **changes)


def test_an_array_of_tensors(scratch) -> None:
    scratch(many=MANY)
    bad = {"DataType": "FLOAT16", "Sizes": [1, 2, 3], "Flags": 4}
    data = many()
    data["desc"]["InputTensors"].append(bad)
    verdict = specgate.check(data, "directml:2.0")
    assert facts(verdict) == [
        ("SCRATCH/InputTensors.type", "InputTensors[2]"),
        ("SCRATCH/InputTensors.rank", "InputTensors[2]"),
        ("tensor/flags", "InputTensors[2]"),
    ]
    assert verdict.findings[0].message == (
        "InputTensors[2] is FLOAT16, which is not supported at feature level 2.0 (supported: FLOAT32)"
    )


def test_values_and_ranges(scratch) -> None:
    scratch(many=MANY)
    data = many(Count=5, Mode="MEAN", Name="up")
    verdict = specgate.check(data, "directml:3.0")
    assert [(f.id.rpartition("/")[2], f.first_level, f.message) for f in verdict.findings] == [
        ("Count.value", None, "Count is 5, which is not supported at feature level 3.0 (supported: 1 to 4)"),
        ("Mode.value", None, "Mode is 'MEAN', which is not supported at feature level 3.0 (supported: SUM)"),
        (
            "Name.value",
            None,
            "Name is 'up', which is not supported at feature level 3.0 (supported: left, right); no feature level supports it",
        ),
    ]
    assert [
        (f.first_level, f.message.partition("; ")[2]) for f in specgate.check(many(Count=5), "directml:3.0").findings
    ] == [("4.0", "accepted by 4.0..5.2")]


def test_a_field_of_other_levels(scratch) -> None:
    scratch(many=MANY)
    for level, existing in (("2.0", "from feature level 3.0 to 4.1"), ("5.0", "up to feature level 4.1")):
        (finding,) = specgate.check(many(Fused=True, Count=1), f"directml:{level}").findings
        assert finding.id == "directml/SCRATCH/Fused.exists"
        message = f"Fused is an attribute of SCRATCH {existing}, not at feature level {level}"
        assert finding.message == f"{message}; accepted by 3.0..4.1"
        assert finding.levels == ("3.0", "3.1", "4.0", "4.1")
    assert specgate.check(many(Fused=True, Count=1), "directml:3.1").accepted is True


def test_a_value_is_rejected_where_its_field_does_not_exist(scratch) -> None:
    words = MANY.replace('until: "5.0"', 'words: ["x"]').replace("type: bool", "type: string")
    scratch(many=words.replace("when: Fused", "when: Fused == 'x'"))
    (finding,) = specgate.check(many(Fused="y"), "directml:3.0").findings
    assert (finding.id, finding.first_level, finding.levels) == ("directml/SCRATCH/Fused.value", None, ())


def test_forms_of_a_rule(scratch) -> None:
    scratch(many=MANY)
    (early,) = specgate.check(many(Fused=True), "directml:3.0").findings
    assert early.message == "Count == 1: Count is 2; accepted by 4.0..4.1."  # Fused is a field of 3.0..4.1
    assert (early.id, early.fix) == ("directml/SCRATCH/fused-pair", "set Count to 1 or use feature level 4.0")
    (late,) = specgate.check(many(Count=100), "directml:4.0").findings
    assert late.message == "Count < 100: Count is 100."  # before 4.0 it was 4 at most
    assert (late.id, late.fix) == ("directml/SCRATCH/fused-pair", "use fewer")


def test_a_removed_operator(scratch) -> None:
    scratch(many=MANY)
    (finding,) = specgate.check(many(), "directml:6.1").findings
    assert finding.message == "SCRATCH does not exist at feature level 6.1; it was removed at 6.0"
    assert (finding.first_level, finding.levels[-1], finding.fix) == ("2.0", "5.2", None)


def test_many_types_are_counted(scratch) -> None:
    scratch(many=MANY)
    (finding,) = specgate.check(many(OutputTensor__DataType="UNKNOWN"), "directml:4.0").findings
    assert finding.message == (
        "OutputTensor is UNKNOWN, which is not supported at feature level 4.0 (supported: FLOAT32, FLOAT16, "
        "UINT32, UINT16, UINT8, INT32, "
        "INT16, INT8, FLOAT64, UINT64, INT64, 2 more); no feature level supports it"
    )


NODE: dict[str, Any] = {
    "op_type": "OneHot",
    "inputs": [
        {"elem_type": "INT64", "shape": [3]},
        {"elem_type": "INT64", "shape": [], "value": 4},
        {"elem_type": "FLOAT", "shape": [2]},
    ],
}
STRUCTURE: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "unknown attribute": (
        {**NODE, "attributes": {"axes": 1}},
        [("unknown-attribute", "axes", "OneHot does not have an attribute 'axes' (supported: axis)")],
    ),
    "attribute of a wrong kind": (
        {**NODE, "attributes": {"axis": 1.5}},
        [("axis.wrong-kind", "axis", "axis is 1.5, but a 64-bit integer is expected")],
    ),
    "too many inputs": (
        {**NODE, "inputs": NODE["inputs"] * 2},
        [("too-many-inputs", "inputs", "has 6 inputs, but accepts at most 3 at this level")],
    ),
    "too many outputs": (
        {**NODE, "outputs": [{"elem_type": "FLOAT", "shape": [3, 4]}] * 2},
        [("too-many-outputs", "outputs", "has 2 outputs, but accepts at most 1 at this level")],
    ),
    "missing inputs": (
        {**NODE, "inputs": NODE["inputs"][:1]},
        [
            ("depth.required", "depth", "depth is required, but missing"),
            ("values.required", "values", "values is required, but missing"),
        ],
    ),
    "an input left out": (
        {**NODE, "inputs": [None, *NODE["inputs"][1:]]},
        [
            (
                "indices.required",
                "indices",
                "indices is required, but missing",
            )
        ],
    ),
    "several": (
        {**NODE, "attributes": {"axis": "last", "zero": 0}},
        [
            ("axis.wrong-kind", "axis", "axis is 'last', but a 64-bit integer is expected"),
            ("unknown-attribute", "zero", "OneHot does not have an attribute 'zero' (supported: axis)"),
        ],
    ),
}


@pytest.mark.parametrize(("data", "result"), STRUCTURE.values(), ids=STRUCTURE.keys())
def test_structure(data: dict[str, Any], result: list[tuple[str, str, str]]) -> None:
    verdict = specgate.check(data, "onnx:17")
    assert [(f.id.removeprefix("onnx/OneHot/"), f.where, f.message) for f in verdict.findings] == result
    assert verdict.accepted is False
    assert verdict.undecided == ()


def test_a_required_attribute_of_a_wrong_kind_is_reported_once(openvino_one_hot) -> None:
    verdict = specgate.check({**openvino_one_hot, "data": {"axis": "first"}}, "openvino:opset13")
    assert facts(verdict) == [("OneHot/axis.wrong-kind", "axis")]


HOSTILE = {
    "control characters": "\x1b[31m\n\x00",
    "long": "x" * 100_000,
    "lone surrogate": "\ud800",
    "right to left": "\u202eevil",
}


@pytest.mark.parametrize("key", HOSTILE.values(), ids=HOSTILE.keys())
def test_names_and_values_from_files_are_escaped(key: str) -> None:
    verdict = specgate.check({**NODE, "attributes": {key: key, "axis": key}}, "onnx:17")
    assert sorted(f.id for f in verdict.findings) == ["onnx/OneHot/axis.wrong-kind", "onnx/OneHot/unknown-attribute"]
    for result in verdict.findings:
        assert result.message.isprintable()
        assert result.where.isprintable()
        assert len(result.message) < 300
        assert len(str(result.values)) < 600


def test_numbers_too_long_to_print() -> None:
    verdict = specgate.check({**NODE, "attributes": {"axis": 10**5000, "other": [10**5000]}}, "onnx:17")
    assert "an integer of 16610 bits" in verdict.findings[0].message
    assert json.dumps([dict(finding.values) for finding in verdict.findings])


def test_a_level_without_a_build_uses_adjacent_builds():
    tensor = {"DataType": "INT64", "Sizes": [1, 1, 2, 3]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, "ScaleBias": {"Scale": 2.0, "Bias": 1.0}}
    messages = {
        level: specgate.check({"type": "ELEMENT_WISE_ABS", "desc": desc}, f"directml:{level}").findings[0].message
        for level in ("6.0", "6.1")
    }
    assert messages["6.0"].endswith(
        "(undocumented rule that builds enforce; no build of 6.0 is known, but those of 5.2 and 6.1 enforce it)."
    )
    assert messages["6.1"].endswith("(undocumented rule that builds enforce).")


def test_the_levels_without_a_build_are_those_that_no_oracle_lists():
    levels = {build.level for build in BUILDS}
    table = dialect("directml")
    assert [level for level in table.levels if table.neighbours(level) != (level,)] == [
        level for level in table.levels if level not in levels
    ]


def test_other_failures_are_reported_if_the_operator_is_missing():
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3]},
    }
    findings = specgate.check({"type": "DML_OPERATOR_ACTIVATION_GELU", "desc": tensors}, "directml:5.0").findings
    assert [finding.id.rpartition("/")[2] for finding in findings] == ["level", "same-sizes"]
    assert [finding.fix for finding in findings] == [
        "fix the other findings and use feature level 5.1",
        "set the sizes of OutputTensor to [1, 2]",
    ]
