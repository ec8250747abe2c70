"""The compiled header answers as `specgate.check` does; `campaign.py` asks more."""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

import pytest

from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.reader import read
from specgate.errors import InputError, NoTable
from specgate.generate.seeds import counterexamples_at, make_concrete
from specgate.spec.tables import dialect
from specgate.validate.check import check_at
from tests.export.cpp.campaign import Campaign
from tests.export.cpp.fuzzing import fuzz
from tests.export.cpp.native import OPERATORS, QUICK, Native, build, compiler, place_model

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.descriptors.core import Descriptor

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("operator", OPERATORS)
def test_native_verdicts_match_check(native: Native, operator: str) -> None:
    campaign = Campaign(native, seed=1)
    campaign.operator(operator, cases=12, levels=1)
    assert campaign.answers["accepted"]
    assert campaign.answers["refused"]
    assert campaign.differences == []
    assert campaign.explained


@pytest.mark.parametrize(
    ("kind", "value"),
    [("UINT64", 2**64 - 1), ("UINT64", 2**62), ("INT64", -(2**63)), ("INT64", 2**62 - 1), ("FLOAT64", -2.0)],
)
def test_large_values_fall_back_to_full_evaluation(native: Native, kind: str, value: float) -> None:
    desc = {"OutputTensor": {"DataType": kind, "Sizes": [2]}, "ValueDataType": kind, "Value": value}
    result = read({"type": "DML_OPERATOR_FILL_VALUE_CONSTANT", "desc": desc})
    assert check_at(result, "6.2").accepted
    assert native.accepts(place_model(image(result)), "6.2", "both")


def test_strides_beyond_64_bits_are_reported_in_full(native: Native) -> None:
    large = {"DataType": "FLOAT32", "Sizes": [2**32 - 1] * 4, "Strides": [2**32 - 1] * 4, "TotalTensorSizeInBytes": 4}
    descriptor = basic(OutputTensor=large)
    findings = check_at(descriptor, "5.0").findings
    assert native.check(place_model(image(descriptor)), "5.0", "both").messages == [
        finding.message for finding in findings
    ]
    assert any(
        "the reach in elements of OutputTensor is 73786976243298598921" in finding.message for finding in findings
    )


def basic(**changed: object) -> Descriptor:
    desc = {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]},
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
        "Axis": 3,
    }
    return read({"type": "DML_OPERATOR_ONE_HOT", "desc": {**desc, **changed}})


def test_out_of_range_axis_is_rejected(native: Native) -> None:
    assert native.accepts(place_model(image(basic())), "5.0", "both")
    assert not native.accepts(place_model(image(basic(Axis=4))), "5.0", "both")


def test_rejection_names_the_rule_and_accepting_levels(native: Native) -> None:
    answer = native.check(place_model(image(basic(Axis=4))), "5.0", "both")
    assert answer.findings == [("directml/ONE_HOT/axis-range", "Axis", "documented")]
    assert answer.levels == ()
    sentence = "Axis must be less than the DimensionCount of IndicesTensor: Axis is 4 and IndicesTensor has rank 4."
    assert answer.messages == [sentence]
    assert answer.text.startswith(f"directml/ONE_HOT/axis-range (Axis): {sentence}\n")
    wide = {"DataType": "INT64", "Sizes": [1, 1, 1, 2]}
    answer = native.check(
        place_model(image(basic(ValuesTensor=wide, OutputTensor={**wide, "Sizes": [1, 1, 3, 4]}))), "3.0", "both"
    )
    assert answer.levels[0] == "4.1"
    assert (
        "ValuesTensor is INT64, which is not supported at feature level 3.0 (supported: FLOAT32, FLOAT16,"
        in answer.text
    )
    assert "; accepted by 4.1..6.4\n" in answer.text


def test_fixes_are_searched_on_request(native: Native) -> None:
    wrong = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4]}
    value = place_model(image(basic(OutputTensor=wrong, IndicesTensor={"DataType": "UINT8", "Sizes": [1, 1, 3, 1]})))
    row = "cast IndicesTensor to UINT32"
    assert native.fixes(value, "5.0", searched=True) == [row, "set dimension 2 of IndicesTensor to 2"]
    assert native.fixes(value, "5.0", searched=False) == [row, ""]


def test_only_input_casts_can_lose_precision(native: Native) -> None:
    types = {"InputTensor": "FLOAT16", "InputGradientTensor": "INT32", "OutputGradientTensor": "FLOAT32"}
    tensors = {name: {"DataType": kind, "Sizes": [1, 1, 2, 2]} for name, kind in types.items()}
    descriptor = read({"type": "DML_OPERATOR_ACTIVATION_RELU_GRAD", "desc": tensors})
    fixes = native.check(place_model(image(descriptor)), "6.2", "both").fixes
    assert "cast InputGradientTensor and OutputGradientTensor to FLOAT16 (exact for integers up to 2**11)" in fixes
    assert fixes == [finding.fix for finding in check_at(descriptor, "6.2").findings]


def test_create_operator_reports_why_it_rejects(native: Native) -> None:
    broken = place_model(image(basic(Axis=4)))
    result, count, message = native.create(broken, "5.0", refusing=True)
    assert (result, count) == (0x80070057, 1)
    assert message.startswith("directml/ONE_HOT/axis-range")
    assert native.create(broken, "5.0", refusing=False) == (0, 1, "")
    assert native.create(place_model(image(basic())), "5.0", refusing=True).told == "the tables take this description\n"


def test_create_operator_queries_the_feature_level(native: Native) -> None:
    wide = {"DataType": "INT64", "Sizes": [1, 1, 1, 2]}
    result = place_model(image(basic(ValuesTensor=wide, OutputTensor={**wide, "Sizes": [1, 1, 3, 4]})))
    assert "feature level 3.0" in native.create(result, "3.0", refusing=True, stated=False).told
    assert native.create(result, "4.1", refusing=True, stated=False).told == "the tables take this description\n"


CRASHING = {
    "MULTIHEAD_ATTENTION": "head-count",
    "SCATTER_ND": "tuple-size",
    "DEQUANTIZE": "same-rank",  # the rank of the scale is above that of the input, and the limit
}


@pytest.mark.parametrize("operator", CRASHING)
def test_crashing_descriptors_are_rejected_without_the_library(native: Native, operator: str) -> None:
    spec = dialect("directml").operator(operator)
    level = list(spec.levels)[-1]
    (crashing,) = [
        d
        for d in counterexamples_at(spec, level)
        if {f.id for f in check_at(d, level).findings} == {f"directml/{operator}/{CRASHING[operator]}"}
    ]
    result, questions, message = native.create(place_model(image(make_concrete(crashing))), level, refusing=False)
    assert (result, questions) == (0x80070057, 0)
    assert message.startswith("CreateOperator was not called")
    assert CRASHING[operator] in message


@pytest.mark.skipif(sys.platform != "linux", reason="it is a rule of the libraries for Linux")
def test_rules_apply_to_libraries_of_this_system(native: Native) -> None:
    sizes = {"InputTensor": [1, 1, 3], "IndicesTensor": [1, 2, 2], "OutputTensor": [1, 2, 2]}
    types = {"InputTensor": "FLOAT32", "IndicesTensor": "UINT32", "OutputTensor": "FLOAT32"}
    tensors = {name: {"DataType": types[name], "Sizes": sizes[name]} for name in sizes}
    result = read({"type": "DML_OPERATOR_GATHER", "desc": {**tensors, "Axis": 0, "IndexDimensions": 2}})
    ids = [result.id for result in check_at(result, "6.2", "observed", by="linux").findings]
    assert "directml/GATHER/index-dimensions-axis" in ids
    assert native.create(place_model(image(result)), "6.2", refusing=False).asked == 0


@pytest.mark.parametrize(
    ("member", "count"),
    [("OutputTensor", None), ("InputTensor", None), ("Axes", None), ("Axes", 0), ("InputTensor", 16)],
)
def test_a_null_pointer_never_reaches_the_library(native: Native, member: str, count: int | None) -> None:
    """An array without elements may be null: libraries do not read it."""
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 3, 4, 5]}
    new_image = image(read({"type": "DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1", "desc": {
        "InputTensor": tensor, "ScaleTensor": None, "BiasTensor": None, "OutputTensor": tensor, "Axes": [2, 3],
        "NormalizeVariance": True, "Epsilon": 0.1, "FusedActivation": None}}))  # fmt: skip
    laid = abi().structure("MEAN_VARIANCE_NORMALIZATION1")
    (start,) = struct.unpack_from("<Q", new_image.data, new_image.root + 8)
    result = next(m for m in laid.members if m.name == member)
    data, at = bytearray(new_image.data), start + result.offset
    if member == "Axes" and count is not None:
        struct.pack_into("<I", data, start + next(m.offset for m in laid.members if m.name == result.count), count)
    elif count is not None:  # the sizes of the tensor
        (desc,) = struct.unpack_from("<Q", data, struct.unpack_from("<Q", data, at)[0] + 8)
        at = desc + count
    struct.pack_into("<Q", data, at, 0)
    value = place_model(new_image._replace(data=bytes(data), pointers=tuple(p for p in new_image.pointers if p != at)))
    assert native.create(value, "6.2", refusing=False).asked == (1 if count == 0 else 0)


@pytest.mark.skipif(compiler(sanitizing=True) is None, reason="no C++ compiler with sanitizers is installed")
def test_mutated_structures_do_not_crash(tmp_path: Path) -> None:
    done = fuzz(tmp_path, ["ONE_HOT", "JOIN"], 1500, flags=QUICK)
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stdout.startswith("1500 rounds")


def test_two_headers_in_a_process_do_not_interfere(native: Native, tmp_path: Path) -> None:
    other = build(tmp_path, ["GATHER"], QUICK)  # with the same flags, because others share no names
    for operator, questions in (("GATHER", other), ("ONE_HOT", native)):
        campaign = Campaign(questions, seed=3)
        campaign.operator(operator, cases=6, levels=1)
        assert campaign.differences == []


def test_header_without_text_has_no_messages() -> None:
    text = write_header(["ONE_HOT"], text=False)
    assert '"ONE_HOT/axis-range", ""' in text
    assert len(text) < len(write_header(["ONE_HOT"]))


def test_operator_missing_at_a_level_is_rejected(native: Native) -> None:
    assert not native.accepts(place_model(image(basic())), "1.0", "both")


def test_header_contains_only_requested_operators_and_levels() -> None:
    text = write_header(["ONE_HOT"], ["5.0", "6.2"])
    assert "accepts_ONE_HOT" in text
    assert "accepts_GATHER" not in text
    assert "level_3_0" not in text
    assert len(text) < len(write_header(["ONE_HOT"]))


def test_unknown_operators_and_levels_are_errors() -> None:
    with pytest.raises(NoTable):
        write_header(["NO_SUCH"])
    with pytest.raises(InputError):
        write_header(["ONE_HOT"], ["9.9"])


def test_the_command_writes_the_header(tmp_path: Path) -> None:
    from specgate.cli import main

    path = tmp_path / "specgate_dml.h"
    assert main(["export", "cpp", "--operators", "ONE_HOT, DML_OPERATOR_GEMM", "-o", str(path)]) == 0
    assert "accepts_GEMM" in path.read_text(encoding="utf-8")
