"""DirectML dicts: DxDispatch's forms and abbreviations, common mistakes, round trips."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from specgate.api import check
from specgate.descriptors.core import Descriptor, Symbol, TensorDesc, tensor
from specgate.descriptors.read import read_dict
from specgate.dialects.directml.reader import is_descriptor, read, read_tensor, write, write_tensor
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.errors import InputError, NoTable
from specgate.spec.tables import dialect

PLAIN: dict[str, Any] = {
    "type": "DML_OPERATOR_ONE_HOT",
    "desc": {
        "IndicesTensor": {"DataType": "INT32", "Sizes": [1, 1, 3, 1]},
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
        "Axis": 3,
    },
}
FIELDS = {
    "IndicesTensor": tensor("INT32", [1, 1, 3, 1]),
    "ValuesTensor": tensor("FLOAT32", [1, 1, 1, 2]),
    "OutputTensor": tensor("FLOAT32", [1, 1, 3, 4]),
    "Axis": 3,
}


def with_tensor(raw: Any) -> dict[str, Any]:
    data = copy.deepcopy(PLAIN)
    data["desc"]["OutputTensor"] = raw
    return data


FORMS: dict[str, dict[str, Any]] = {
    "as in the guide": PLAIN,
    "capitals": {"Type": PLAIN["type"], "Desc": PLAIN["desc"]},
    "short operator": {"type": "ONE_HOT", "desc": PLAIN["desc"]},
    "fields inline": {"type": PLAIN["type"], **PLAIN["desc"]},
    "fields inline, capitals": {"Type": PLAIN["type"], **PLAIN["desc"]},
    "beside what DxDispatch needs": {**PLAIN, "dmlCompileType": "DmlCompileGraph", "executionFlags": "NONE"},
    "inline beside what DxDispatch needs": {
        "type": PLAIN["type"],
        "dmlCompileType": "DmlCompileOp",
        "bindings": {"ValuesTensor": "values"},
        **PLAIN["desc"],
    },
    "full type": with_tensor({"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [1, 1, 3, 4]}),
    "tensor type": with_tensor({"Type": "BUFFER", "DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]}),
    "full tensor type": with_tensor({"Type": "DML_TENSOR_TYPE_BUFFER", "DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]}),
    "nested tensor": with_tensor({"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]}}),
    "nested tensor without type": with_tensor({"Desc": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]}}),
    "count of dimensions": with_tensor({"DataType": "FLOAT32", "DimensionCount": 4, "Sizes": [1, 1, 3, 4]}),
    "nulls": with_tensor(
        {
            "DataType": "FLOAT32",
            "Sizes": [1, 1, 3, 4],
            "Strides": None,
            "TotalTensorSizeInBytes": None,
            "GuaranteedBaseOffsetAlignment": None,
            "Flags": None,
        }
    ),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_forms(data: dict[str, Any]) -> None:
    assert is_descriptor(data)
    assert read_dict(data) == read(data) == Descriptor("directml", "ONE_HOT", FIELDS)
    assert read(data).plain


def test_fully_defined_tensor_of_the_guide() -> None:
    raw = {
        "Type": "DML_TENSOR_TYPE_BUFFER",
        "Desc": {
            "DataType": "DML_TENSOR_DATA_TYPE_FLOAT32",
            "Flags": "DML_TENSOR_FLAG_NONE",
            "DimensionCount": 4,
            "Sizes": [1, 1, 2, 3],
            "Strides": [6, 6, 3, 1],
            "TotalTensorSizeInBytes": 24,
            "GuaranteedBaseOffsetAlignment": 0,
        },
    }
    assert read_tensor(raw, "T") == TensorDesc("FLOAT32", (1, 1, 2, 3), (6, 6, 3, 1), 24, 0, 0)


FLAGS: dict[str, tuple[Any, int | None]] = {
    "short": ("OWNED_BY_DML", 1),
    "full": ("DML_TENSOR_FLAG_OWNED_BY_DML", 1),
    "none": ("NONE", 0),
    "list": (["DML_TENSOR_FLAG_NONE", "OWNED_BY_DML"], 1),
    "empty list": ([], 0),
    "joined": ("NONE | OWNED_BY_DML", 1),
    "number": (1, 1),
    "unknown number": (6, 6),
    "null": (None, None),
}


@pytest.mark.parametrize(("written", "flags"), FLAGS.values(), ids=FLAGS.keys())
def test_flags(written: Any, flags: int | None) -> None:
    assert read_tensor({"DataType": "INT8", "Sizes": [1], "Flags": written}, "T").flags == flags


def test_symbolic_and_unknown_sizes() -> None:
    new_tensor = read_tensor({"DataType": "INT8", "Sizes": [None, "N", 3]}, "T")
    assert new_tensor.sizes == (None, Symbol("N"), 3)
    assert not read(with_tensor({"DataType": "INT8", "Sizes": ["N"]})).plain


def test_missing_and_null_fields_are_left_to_the_rules() -> None:
    desc = {key: value for key, value in PLAIN["desc"].items() if key != "Axis"}
    assert "Axis" not in read({**PLAIN, "desc": desc}).fields
    assert "Axis" not in read({**PLAIN, "desc": {**desc, "Axis": None}}).fields


def tensor_without(*names: str, **more: Any) -> dict[str, Any]:
    raw = {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4], **more}
    return with_tensor({key: value for key, value in raw.items() if key not in names})


OUT = "OutputTensor"
U32 = "expected an integer from 0 to 4294967295, found"
MISTAKES: dict[str, tuple[Any, str]] = {
    "no type": ({"desc": {}}, 'expected "type": "DML_OPERATOR_…", found None'),
    "type of a wrong kind": ({"type": [3], "desc": {}}, 'expected "type": "DML_OPERATOR_…", found [3]'),
    "desc of a wrong kind": ({**PLAIN, "desc": [1]}, "desc: expected an object with the operator's fields, found [1]"),
    "misspelt field": (
        {**PLAIN, "desc": {**PLAIN["desc"], "Axes": 3}},
        "'Axes' is not a field of ONE_HOT; did you mean Axis?",
    ),
    "strange field": (
        {**PLAIN, "desc": {**PLAIN["desc"], "Foo": 3}},
        "'Foo' is not a field of ONE_HOT; expected IndicesTensor, ValuesTensor, OutputTensor, Axis",
    ),
    "misspelt inline field": (
        {"type": "DML_OPERATOR_ONE_HOT", **PLAIN["desc"], "axis": 3},
        "'axis' is not a field of ONE_HOT; did you mean Axis?",
    ),
    "field that is no word": (
        {**PLAIN, "desc": {**PLAIN["desc"], 7: 3}},
        "7 is not a field of ONE_HOT; expected IndicesTensor, ValuesTensor, OutputTensor, Axis",
    ),
    "tensor of a wrong kind": (with_tensor([1]), f"{OUT}: expected a tensor description, found [1]"),
    "tensor without type": (tensor_without("DataType"), f"{OUT}: expected the field DataType"),
    "tensor without sizes": (tensor_without("Sizes"), f"{OUT}: expected the field Sizes"),
    "type in a list": (
        tensor_without(DataType=["INT8"]),
        f"{OUT}.DataType: expected a DML_TENSOR_DATA_TYPE by its name or number, found ['INT8']",
    ),
    "sizes of a wrong kind": (tensor_without(Sizes="1,1"), f"{OUT}.Sizes: expected a list of sizes, found '1,1'"),
    "negative size": (tensor_without(Sizes=[1, -1]), f"{OUT}.Sizes[1]: {U32} -1"),
    "size too large": (tensor_without(Sizes=[2**32]), f"{OUT}.Sizes[0]: {U32} 4294967296"),
    "broken size": (tensor_without(Sizes=[1.5]), f"{OUT}.Sizes[0]: {U32} 1.5"),
    "whole size as a float": (tensor_without(Sizes=[2.0]), f"{OUT}.Sizes[0]: {U32} 2.0"),
    "truth as a size": (tensor_without(Sizes=[True]), f"{OUT}.Sizes[0]: {U32} True"),
    "size in quotes": (tensor_without(Sizes=["3"]), f"{OUT}.Sizes[0]: {U32} '3'"),
    "nested sizes": (tensor_without(Sizes=[[1]]), f"{OUT}.Sizes[0]: {U32} [1]"),
    "many sizes": (tensor_without(Sizes=[1] * 65), f"{OUT}.Sizes: expected at most 64 sizes, found 65"),
    "count of dimensions": (
        tensor_without(DimensionCount=3),
        f"{OUT}: DimensionCount is 3, but Sizes has 4 elements",
    ),
    "count of a wrong kind": (
        tensor_without(DimensionCount=[4]),
        f"{OUT}: DimensionCount is [4], but Sizes has 4 elements",
    ),
    "strides of a wrong kind": (tensor_without(Strides=4), f"{OUT}.Strides: expected a list of strides, found 4"),
    "negative stride": (tensor_without(Strides=[-1]), f"{OUT}.Strides[0]: {U32} -1"),
    "unknown stride": (tensor_without(Strides=[None]), f"{OUT}.Strides[0]: {U32} None"),
    "size in bytes": (
        tensor_without(TotalTensorSizeInBytes=-4),
        f"{OUT}.TotalTensorSizeInBytes: expected an integer from 0 to 18446744073709551615, found -4",
    ),
    "alignment": (
        tensor_without(GuaranteedBaseOffsetAlignment="16"),
        f"{OUT}.GuaranteedBaseOffsetAlignment: {U32} '16'",
    ),
    "flag of a wrong kind": (
        tensor_without(Flags=1.5),
        f"{OUT}.Flags: expected a DML_TENSOR_FLAGS by its name or number, found 1.5",
    ),
    "flags in a nested list": (
        tensor_without(Flags=[["NONE"]]),
        f"{OUT}.Flags: expected a DML_TENSOR_FLAGS by its name or number, found ['NONE']",
    ),
    "flags too large": (tensor_without(Flags=2**32), f"{OUT}.Flags: {U32} 4294967296"),
    "truth as flags": (
        tensor_without(Flags=True),
        f"{OUT}.Flags: expected a DML_TENSOR_FLAGS by its name or number, found True",
    ),
    "tensor type in a list": (
        tensor_without(Type=["BUFFER"]),
        f"{OUT}.Type: expected a DML_TENSOR_TYPE by its name or number, found ['BUFFER']",
    ),
    "nested tensor type in a list": (
        with_tensor({"Type": [], "Desc": {"DataType": "INT8", "Sizes": [1]}}),
        f"{OUT}.Type: expected a DML_TENSOR_TYPE by its name or number, found []",
    ),
    "tensor nested twice": (
        with_tensor({"Desc": {"Desc": {"DataType": "INT8", "Sizes": [1]}}}),
        f"{OUT}: expected the tensor's own fields inside Desc, found another Desc",
    ),
    "nested tensor of a wrong kind": (with_tensor({"Desc": 3}), f"{OUT}: expected a tensor description, found 3"),
    "field beside Desc": (
        with_tensor({"Desc": {"DataType": "INT8", "Sizes": [1]}, "Sizes": [1]}),
        f"{OUT}: 'Sizes' is not a field of DML_TENSOR_DESC; ",
    ),
    "misspelt field of a tensor": (
        tensor_without(Stride=[1]),
        f"{OUT}: 'Stride' is not a field of DML_BUFFER_TENSOR_DESC; did you mean Strides?",
    ),
    "axis of a wrong kind": ({**PLAIN, "desc": {**PLAIN["desc"], "Axis": "3"}}, f"Axis: {U32} '3'"),
    "negative axis": ({**PLAIN, "desc": {**PLAIN["desc"], "Axis": -1}}, f"Axis: {U32} -1"),
    "truth for an axis": ({**PLAIN, "desc": {**PLAIN["desc"], "Axis": True}}, f"Axis: {U32} True"),
}


@pytest.mark.parametrize(("data", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_invalid_descriptors_are_rejected(data: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_dict(data, "directml")
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 250


NUMBER = dialect("directml").operator_numbers["ONE_HOT"]
#: Words and numbers of tensors as debuggers print them, and their meaning.
SPELLINGS: dict[str, tuple[dict[str, Any], TensorDesc]] = {
    "type by number": ({"DataType": 1}, TensorDesc("FLOAT32", (2,))),
    "hexadecimal": ({"DataType": "0xB"}, TensorDesc("INT64", (2,))),
    "decimal text": ({"DataType": "6"}, TensorDesc("INT32", (2,))),
    "WinDbg": ({"DataType": "0n10"}, TensorDesc("UINT64", (2,))),
    "Visual Studio": ({"DataType": "DML_TENSOR_DATA_TYPE_UINT8 (5)"}, TensorDesc("UINT8", (2,))),
    "no type": ({"DataType": 0}, TensorDesc("UNKNOWN", (2,))),
    "flag by number": ({"DataType": 1, "Flags": "0x1"}, TensorDesc("FLOAT32", (2,), flags=1)),
    "flags of gdb": ({"DataType": 1, "Flags": "(DML_TENSOR_FLAG_OWNED_BY_DML)"}, TensorDesc("FLOAT32", (2,), flags=1)),
    "kind by number": ({"Type": 1, "DataType": 1}, TensorDesc("FLOAT32", (2,))),
    "nested kind by number": ({"Type": 1, "Desc": {"DataType": 1, "Sizes": [2]}}, TensorDesc("FLOAT32", (2,))),
}


@pytest.mark.parametrize(("raw", "expected"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_enum_values_as_numbers(raw: dict[str, Any], expected: TensorDesc) -> None:
    assert read_tensor(raw if "Desc" in raw else {**raw, "Sizes": [2]}, "T") == expected


@pytest.mark.parametrize(
    "kind", [NUMBER, f"{NUMBER}", f"0x{NUMBER:X}", f"0n{NUMBER}", f"DML_OPERATOR_ONE_HOT ({NUMBER})"]
)
def test_operator_by_number(kind: Any) -> None:
    assert read({**PLAIN, "type": kind}) == read(PLAIN)
    assert read_dict({**PLAIN, "type": kind}) == read(PLAIN)  # without a dialect argument


def test_every_operator_has_its_number() -> None:
    numbers = dialect("directml").operator_numbers
    assert not set(dialect("directml").operators) - set(numbers)
    assert len(set(numbers.values())) == len(numbers)


def test_unknown_operator_number() -> None:
    with pytest.raises(NoTable, match=r"^DirectML has no operator with the number 99999$"):
        read({**PLAIN, "type": 99999})


#: Words and numbers that do not exist: the tensor's own fields, and the messages.
UNKNOWN_WORDS: dict[str, tuple[dict[str, Any], str]] = {
    "misspelt type": ({"DataType": "FLOAT_32"}, "DataType is 'FLOAT_32', which is not a valid DML_TENSOR_DATA_TYPE (did you mean FLOAT32?"),
    "half a type": ({"DataType": "FLOAT"}, "DataType is 'FLOAT', which is not a valid DML_TENSOR_DATA_TYPE (did you mean FLOAT32?"),
    "type in small letters": ({"DataType": "int8"}, "DataType is 'int8', which is not a valid DML_TENSOR_DATA_TYPE (did you mean INT8?"),
    "number of no type": ({"DataType": 99}, "DataType is 99, which is not a valid DML_TENSOR_DATA_TYPE (known: FLOAT32, FLOAT16"),
    "flag": ({"Flags": "OWNED"}, "Flags is 'OWNED', which is not a valid DML_TENSOR_FLAGS (did you mean OWNED_BY_DML?"),
    "kind": ({"Type": "TEXTURE"}, "Type is 'TEXTURE', which is not a valid DML_TENSOR_TYPE (known: BUFFER)"),
    "kind by number": ({"Type": 0}, "Type is 0, which is not a valid DML_TENSOR_TYPE (known: BUFFER)"),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "message"), UNKNOWN_WORDS.values(), ids=UNKNOWN_WORDS.keys())
def test_unknown_enum_name_is_a_finding(raw: dict[str, Any], message: str) -> None:
    verdict = check(tensor_without(**raw), "directml:6.4")
    assert verdict.accepted is False
    (result,) = verdict.findings
    assert result.id == "directml/ONE_HOT/OutputTensor.unknown-word"
    assert result.message.startswith(f"{OUT}.{message}")
    assert not result.levels


def test_unknown_type_without_listed_types_is_a_finding() -> None:
    """FOLD's page lists no types, but unknown words are rejected."""
    fold = {"type": "DML_OPERATOR_FOLD", "desc": {"InputTensor": {"DataType": "FLOAT33", "Sizes": [1, 4, 4]}}}
    ids = [finding.id for finding in check(fold, "directml:6.4").findings]
    assert "directml/FOLD/InputTensor.unknown-word" in ids


@pytest.mark.parametrize("mode", ["NOPE", 99, "99"])
def test_unknown_enum_value_finding_lists_the_names(mode: Any) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 1]}
    desc = {
        "InputTensor": tensor,
        "OutputTensor": tensor,
        "PaddingMode": mode,
        "PaddingValue": 0.0,
        "DimensionCount": 4,
    }
    verdict = check(
        {"type": "PADDING", "desc": {**desc, "StartPadding": [0] * 4, "EndPadding": [0] * 4}}, "directml:5.0"
    )
    (result,) = verdict.findings
    assert result.id == "directml/PADDING/PaddingMode.value"
    assert "CONSTANT, EDGE, REFLECTION, SYMMETRIC" in result.message


def test_location_in_a_file() -> None:
    with pytest.raises(InputError, match=r"^dispatchables/a\.OutputTensor\.Sizes\[1\]: expected an integer") as caught:
        read(tensor_without(Sizes=[1, -1]), "dispatchables/a")
    assert caught.value.place == "dispatchables/a.OutputTensor.Sizes[1]"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("DML_OPERATOR_ONEHOT", "directml has no table for 'ONEHOT'; did you mean ONE_HOT?"),
        ("DML_OPERATOR_\n" + "X" * 500, "directml has no table for '\\nXXXX"),
        ("", "directml has no table for ''"),
    ],
)
def test_no_table(kind: str, message: str) -> None:
    with pytest.raises(NoTable) as caught:
        read({**PLAIN, "type": kind})
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 200


KINDS = """\
operator: KINDS
summary: Has a field of every kind.
source: [{page: own}]
fields:
  Inputs: {kind: input, type: "tensor[]", optional: true}
  Unsigned: {kind: attribute, type: uint, optional: true}
  Signed: {kind: attribute, type: int, optional: true}
  Long: {kind: attribute, type: uint64, optional: true}
  Offset: {kind: attribute, type: int64, optional: true}
  Ratio: {kind: attribute, type: float, optional: true}
  Switch: {kind: attribute, type: bool, optional: true}
  Function: {kind: attribute, type: "enum:REDUCE_FUNCTION", optional: true}
  Windows: {kind: attribute, type: "uint[]", optional: true}
  Scales: {kind: attribute, type: "float[]", optional: true}
  Number: {kind: attribute, type: scalar, type_from: Function, optional: true}
  Size: {kind: attribute, type: size-2d, optional: true}
  Line: {kind: attribute, type: scale-bias, optional: true}
  Fused: {kind: attribute, type: operator, optional: true}
  Gates: {kind: attribute, type: "operator[]", optional: true}
support: {"1.0": {}}
"""
VALUES: dict[str, tuple[str, Any, Any]] = {
    "unsigned": ("Unsigned", 4294967295, 4294967295),
    "signed": ("Signed", -2147483648, -2147483648),
    "long": ("Long", 2**64 - 1, 2**64 - 1),
    "offset": ("Offset", -(2**63), -(2**63)),
    "float": ("Ratio", 0.5, 0.5),
    "whole float": ("Ratio", 2, 2.0),
    "infinity": ("Ratio", "inf", float("inf")),
    "infinity in capitals": ("Ratio", "-Inf", float("-inf")),
    "true": ("Switch", True, True),
    "one": ("Switch", 1, True),
    "zero": ("Switch", 0, False),
    "enum": ("Function", "SUM", "SUM"),
    "full enum": ("Function", "DML_REDUCE_FUNCTION_SUM", "SUM"),
    "enum by number": ("Function", 10, "SUM"),
    "enum in hexadecimal": ("Function", "0xA", "SUM"),
    "enum as WinDbg prints it": ("Function", "0n10", "SUM"),
    "enum as Visual Studio prints it": ("Function", "DML_REDUCE_FUNCTION_SUM (10)", "SUM"),
    "number without a word": ("Function", 12, 12),
    "unknown word": ("Function", "SUMM", "SUMM"),
    "list": ("Windows", [1, 2], [1, 2]),
    "empty list": ("Windows", [], []),
    "floats": ("Scales", [1, 0.5, "inf"], [1.0, 0.5, float("inf")]),
    "tensors": ("Inputs", [{"DataType": "INT8", "Sizes": [1]}], [tensor("INT8", [1])]),
    "no tensors": ("Inputs", [], []),
    "whole scalar": ("Number", -3, -3),
    "exact scalar": ("Number", 2**64 - 1, 2**64 - 1),
    "least scalar": ("Number", -(2**63), -(2**63)),
    "scalar beyond 64 bits": ("Number", 2**64, 2.0**64),
    "broken scalar": ("Number", 0.5, 0.5),
    "infinite scalar": ("Number", "-inf", float("-inf")),
    "size": ("Size", {"Width": 3, "Height": 2}, Size2D(3, 2)),
    "size in another order": ("Size", {"Height": 0, "Width": 4294967295}, Size2D(4294967295, 0)),
    "scale and bias": ("Line", {"Scale": 2, "Bias": "-inf"}, ScaleBias(2.0, float("-inf"))),
    "operator": ("Fused", {"type": "DML_OPERATOR_KINDS", "desc": {}}, Descriptor("directml", "KINDS", {})),
    "operator by its short name": ("Fused", {"Type": "KINDS"}, Descriptor("directml", "KINDS", {})),
    "operator with null tensors": (
        "Fused",
        {"type": "KINDS", "desc": {"Inputs": None, "Ratio": 1}},
        Descriptor("directml", "KINDS", {"Ratio": 1.0}),
    ),
    "operator in an operator": (
        "Fused",
        {"type": "KINDS", "desc": {"Fused": {"type": "KINDS", "desc": {"Size": {"Width": 1, "Height": 1}}}}},
        Descriptor("directml", "KINDS", {"Fused": Descriptor("directml", "KINDS", {"Size": Size2D(1, 1)})}),
    ),
    "operators": (
        "Gates",
        [{"type": "KINDS", "desc": {}}, {"type": "KINDS", "desc": {"Number": 1}}],
        [Descriptor("directml", "KINDS", {}), Descriptor("directml", "KINDS", {"Number": 1})],
    ),
    "no operators": ("Gates", [], []),
}


@pytest.mark.slow
@pytest.mark.parametrize(("field", "raw", "value"), VALUES.values(), ids=VALUES.keys())
def test_values_of_every_attribute_kind(scratch, field: str, raw: Any, value: Any) -> None:
    scratch(kinds=KINDS)
    result = read({"type": "KINDS", "desc": {field: raw}})
    assert result.fields == {field: value}
    assert repr(result.fields[field]) == repr(value)
    assert read(write(result)) == result


def test_written_values_of_new_kinds(scratch) -> None:
    scratch(kinds=KINDS)
    desc = {
        "Number": "nan",
        "Size": {"Width": 3, "Height": 2},
        "Line": {"Scale": 0.5, "Bias": "inf"},
        "Fused": {"type": "DML_OPERATOR_KINDS", "desc": {"Ratio": 1.0}},
        "Gates": [{"type": "DML_OPERATOR_KINDS", "desc": {}}],
    }
    assert write(read({"type": "KINDS", "desc": desc}))["desc"] == desc


def test_unknown_sizes_in_nested_operators_are_detected(scratch) -> None:
    scratch(kinds=KINDS)
    fused = {"type": "KINDS", "desc": {"Inputs": [{"DataType": "INT8", "Sizes": ["N"]}]}}
    assert not read({"type": "KINDS", "desc": {"Fused": fused}}).plain
    assert not read({"type": "KINDS", "desc": {"Gates": [fused]}}).plain
    assert read({"type": "KINDS", "desc": {"Gates": [{"type": "KINDS", "desc": {}}]}}).plain


def nest(times: int) -> dict[str, Any]:
    entries: dict[str, Any] = {"type": "KINDS", "desc": {}}
    for _ in range(times):
        entries = {"type": "KINDS", "desc": {"Fused": entries}}
    return entries


@pytest.mark.timeout(240)
def test_endlessly_nested_operators_are_rejected(scratch) -> None:
    scratch(kinds=KINDS)
    assert read(write(read(nest(2)))) == read(nest(2))
    endless = nest(1)
    endless["desc"]["Gates"] = [endless] * 60
    for data in (nest(3), nest(5000), endless):
        with pytest.raises(InputError, match="expected operators nested at most 2 deep") as caught:
            read(data, "here")
        assert str(caught.value.place).startswith("here.")
    with pytest.raises(InputError, match="Gates: expected at most 64 operators, found 1000000"):
        read({"type": "KINDS", "desc": {"Gates": [None] * 10**6}})


@pytest.mark.timeout(240)
def test_self_containing_operator_is_not_written(scratch) -> None:
    scratch(kinds=KINDS)
    fields: dict[str, Any] = {}
    fields["Fused"] = result = Descriptor("directml", "KINDS", fields)
    with pytest.raises(InputError, match="expected operators nested at most 2 deep"):
        write(result)


def test_an_operator_without_a_table_inside_another(scratch) -> None:
    scratch(kinds=KINDS)
    with pytest.raises(NoTable, match="no table for 'KIND'; did you mean KINDS"):
        read({"type": "KINDS", "desc": {"Fused": {"type": "DML_OPERATOR_KIND", "desc": {}}}})


def test_nan_round_trips(scratch) -> None:
    scratch(kinds=KINDS)
    descriptor = read({"type": "KINDS", "desc": {"Ratio": "NaN", "Scales": [float("nan")]}})
    assert write(descriptor)["desc"] == {"Ratio": "nan", "Scales": ["nan"]}


BAD: dict[str, tuple[str, Any, str]] = {
    "negative": ("Unsigned", -1, "Unsigned: expected an integer from 0 to 4294967295, found -1"),
    "signed": ("Signed", 2**31, "Signed: expected an integer from -2147483648 to 2147483647, found 2147483648"),
    "long": ("Long", -1, "Long: expected an integer from 0 to 18446744073709551615, found -1"),
    "float": ("Ratio", "half", "Ratio: expected a number, found 'half'"),
    "float list": ("Ratio", [0.5], "Ratio: expected a number, found [0.5]"),
    "float of a truth": ("Ratio", True, "Ratio: expected a number, found True"),
    "huge float": ("Ratio", 10**400, "Ratio: expected a number, found an integer of 1329 bits"),
    "truth": ("Switch", "true", "Switch: expected true or false, found 'true'"),
    "truth of two": ("Switch", 2, "Switch: expected true or false, found 2"),
    "truth list": ("Switch", [True], "Switch: expected true or false, found [True]"),
    "truth of a float": ("Switch", 1.0, "Switch: expected true or false, found 1.0"),
    "enum": ("Function", [3], "Function: expected a name or a number of DML_REDUCE_FUNCTION, found [3]"),
    "truth of an enum": ("Function", True, "Function: expected a name or a number of DML_REDUCE_FUNCTION, found True"),
    "list": ("Windows", 3, "Windows: expected a list, found 3"),
    "list of words": ("Windows", [1, "2"], "Windows[1]: expected an integer from 0 to 4294967295, found '2'"),
    "tensors": (
        "Inputs", {"DataType": "INT8", "Sizes": [1]}, "Inputs: expected a list, found {'DataType': 'INT8', 'Sizes': [1]}"),
    "scalar": ("Number", "3", "Number: expected a number, found '3'"),
    "scalar of a truth": ("Number", True, "Number: expected a number, found True"),
    "scalar in a dict": ("Number", {"Int32": 3}, "Number: expected a number, found {'Int32': 3}"),
    "size": ("Size", [3, 2], "Size: expected an object with Width and Height, found [3, 2]"),
    "half a size": ("Size", {"Width": 3}, "Size: expected the field Height"),
    "size with a null": ("Size", {"Width": None, "Height": 2}, "Size: expected the field Width"),
    "negative size": (
        "Size", {"Width": 3, "Height": -1}, "Size.Height: expected an integer from 0 to 4294967295, found -1"),
    "broken size": (
        "Size", {"Width": 1.5, "Height": 1}, "Size.Width: expected an integer from 0 to 4294967295, found 1.5"),
    "size of three": (
        "Size", {"Width": 3, "Height": 1, "Depth": 1}, "Size: 'Depth' is not a field of DML_SIZE_2D; expected Width, Height"),
    "misspelt scale": (
        "Line", {"Scales": 3, "Bias": 1}, "Line: 'Scales' is not a field of DML_SCALE_BIAS; did you mean Scale?"),
    "bias": ("Line", {"Scale": 3, "Bias": "much"}, "Line.Bias: expected a number, found 'much'"),
    "operator by its name": (
        "Fused", "ACTIVATION_RELU", "Fused: expected an operator description, found 'ACTIVATION_RELU'"),
    "operator without a type": ("Fused", {"desc": {}}, 'Fused: expected "type": "DML_OPERATOR_…", found None'),
    "operator's field": (
        "Fused", {"type": "KINDS", "desc": {"Ratios": 1}}, "Fused: 'Ratios' is not a field of KINDS; did you mean Ratio?"),
    "operator's value": (
        "Fused", {"type": "KINDS", "desc": {"Ratio": "x"}}, "Fused.Ratio: expected a number, found 'x'"),
    "operator's fields": (
        "Fused", {"type": "KINDS", "desc": 3}, "Fused.desc: expected an object with the operator's fields, found 3"),
    "operators": ("Gates", {"type": "KINDS"}, "Gates: expected a list, found {'type': 'KINDS'}"),
    "one of the operators": (
        "Gates", [{"type": "KINDS"}, None], "Gates[1]: expected an operator description, found None"),
    "value in one of the operators": (
        "Gates", [{"type": "KINDS", "Size": 1}], "Gates[0].Size: expected an object with Width and Height, found 1"),
    "no tensor": ("Inputs", [None], "Inputs[0]: expected a tensor description, found None"),
    "bad tensor": (
        "Inputs", [{"DataType": "INT8", "Sizes": [-1]}], "Inputs[0].Sizes[0]: expected an integer from 0 to 4294967295, found -1"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("field", "raw", "message"), BAD.values(), ids=BAD.keys())
def test_bad_values_of_every_kind(scratch, field: str, raw: Any, message: str) -> None:
    scratch(kinds=KINDS)
    with pytest.raises(InputError) as caught:
        read({"type": "KINDS", "desc": {field: raw}})
    assert str(caught.value) == message


def test_short_forms_are_written() -> None:
    assert write(read(FORMS["full type"])) == PLAIN


def test_round_trip_of_every_tensor_field() -> None:
    result = TensorDesc("INT8", (1, None, Symbol("N")), (3, 2, 1), 64, 16, 1)
    assert read_tensor(write_tensor(result), "T") == result
    assert write_tensor(TensorDesc("INT8", (2,))) == {"DataType": "INT8", "Sizes": [2]}
    assert write_tensor(TensorDesc("INT8", (2,), flags=0)) == {"DataType": "INT8", "Sizes": [2], "Flags": 0}


@pytest.mark.parametrize(
    "data", [{}, {"type": "OneHot", "data": {}}, {"op_type": "OneHot"}, {"type": ["x"], "desc": {}}, {"desc": {}}]
)
def test_values_that_are_not_descriptors(data: dict[str, Any]) -> None:
    assert not is_descriptor(data)


@pytest.mark.parametrize(
    ("key", "hint"),
    [("binding", "did you mean bindings?"), ("foo", "expected type, desc"), ("$schema", "expected type")],
)
def test_extra_keys_are_limited_to_those_of_dxdispatch(key, hint):
    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    plain = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}
    accepted = {"bindings": {}, "dmlCompileType": "DmlCompileOp", "executionFlags": []}
    assert read_dict({**plain, **accepted}) == read_dict(plain)
    with pytest.raises(InputError) as caught:
        read_dict({**plain, key: 1})
    assert f"{key!r} is not an unknown key next to type and desc; {hint}" in str(caught.value)


def test_an_unknown_key_of_a_fused_operator():
    tensor = {"DataType": "FLOAT32", "Sizes": [1]}
    fused = {"Type": "DML_OPERATOR_ACTIVATION_RELU", "Desc": {}, "bindings": {}}
    desc = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor, "FusedActivation": fused}
    with pytest.raises(InputError, match="FusedActivation: 'bindings' is not an unknown key next to type and desc"):
        read_dict({"type": "DML_OPERATOR_ELEMENT_WISE_ADD1", "desc": desc})
