"""Installed DirectML builds: their answers, crashes, and order of questions.

The expected answers were measured; a build does not change. Nothing is downloaded.
"""

from __future__ import annotations

import sys
import time

import pytest

import specgate
from specgate.dialects.directml.oracle.builds import BUILDS
from specgate.dialects.directml.oracle.install import install_command, status
from specgate.dialects.directml.oracle.oracle import Capabilities, DirectMLOracle
from specgate.spec.tables import dialect

pytestmark = pytest.mark.oracle
INSTALLED = [row.build for row in status() if row.installed]
if not INSTALLED:
    pytest.skip(
        f"NO DIRECTML BUILD IS TESTED: none is installed; {install_command(['6.2'])} fetches 25 MB",
        allow_module_level=True,
    )
LEVELS = dialect("directml").levels


@pytest.fixture(scope="module", params=INSTALLED, ids=lambda build: f"{build.level}-{build.system}")
def oracle(request):
    with DirectMLOracle(request.param.level, build=request.param.system) as result:
        yield result


def at_least(oracle, level):
    return LEVELS.index(oracle.level) >= LEVELS.index(level)


def test_device_confirms_its_feature_level(oracle):
    assert oracle.confirmed_level == oracle.build.reports
    assert oracle.confirmed_level == oracle.level or (oracle.level, oracle.build.system) == ("5.1", "linux")


def test_documented_examples_are_accepted(oracle):
    examples = dialect("directml").operator("ONE_HOT").table.examples.values()
    for example in examples:
        expected = at_least(oracle, example.get("since", "2.0"))
        assert oracle.accepts(example["descriptor"]).accepted or not expected


def evaluate(oracle, descriptors):
    """Return the documented verdict and the build's, as words."""
    target = f"directml:{oracle.level}"
    pages = [specgate.check(d, target=target, basis="documented").word for d in descriptors]
    return list(zip(pages, [a.word for a in oracle.accepts_many(descriptors, confirm=True)], strict=True))


def test_documentation_and_build_agree_on_single_field_changes(oracle, changed):
    """Return a few hundred descriptors without known differences between builds."""
    sizes = [[1, 1, 3, 1], [1, 1, 3, 2], [1, 3, 1], [1, 1, 1, 3, 1], [3, 1], [1] * 9, [1, 1, 3, 0], [2**32 - 1] * 4]
    types = ["FLOAT32", "FLOAT16", "FLOAT64", "UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64"]
    items = [changed(Axis=axis) for axis in (0, 1, 2, 3, 4, 2**32 - 1)]
    for name in ("IndicesTensor", "ValuesTensor", "OutputTensor"):
        items += [changed(**{f"{name}_Sizes": s}) for s in sizes if not (name == "ValuesTensor" and len(s) != 4)]
        items += [changed(**{f"{name}_Flags": f}) for f in ((0, 2) if name == "OutputTensor" else (0, 1, 2))]
        items += [changed(**{f"{name}_GuaranteedBaseOffsetAlignment": a}) for a in (0, 2, 3, 16, 24, 64, 2**31)]
        items += [changed(**{f"{name}_TotalTensorSizeInBytes": t}) for t in (0, 7, 47, 48, 49, 52, 4096)]
        items += [changed(**{f"{name}_Strides": [1000, 100, 10, 1]}), changed(**{name: None})]
        if name != "IndicesTensor" or at_least(oracle, "3.0"):
            items += [changed(**{f"{name}_DataType": t}) for t in types]
    for first in types:
        items += [changed(ValuesTensor_DataType=first, OutputTensor_DataType=second) for second in types]
    pairs = evaluate(oracle, items)
    assert len(pairs) > 200
    assert [(d, p) for d, p in zip(items, pairs, strict=True) if p[0] != p[1]] == []


#: Bytes at which an element count of 2**32 begins, for 4-byte elements.
LIMIT = 4 * 2**32


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({"IndicesTensor_DataType": "INT64"}, lambda _: True),
        ({"ValuesTensor_Sizes": [1, 1, 2]}, lambda oracle: at_least(oracle, "3.0")),
        ({"ValuesTensor_GuaranteedBaseOffsetAlignment": 8}, lambda _: False),
        ({"OutputTensor_Flags": 1}, lambda _: False),
        ({"OutputTensor_Strides": [0, 0, 1, 1]}, lambda _: False),  # two equal strides
        ({"OutputTensor_Strides": [0, 0, 0, 1]}, lambda _: False),
        ({"OutputTensor_Strides": [0, 0, 1, 2]}, lambda _: False),  # room for 9 elements of 12
        ({"OutputTensor_Strides": [0, 0, 4, 2]}, lambda _: True),  # shares elements, but has room for 12
        ({"OutputTensor_TotalTensorSizeInBytes": LIMIT}, lambda _: False),
        ({"OutputTensor_TotalTensorSizeInBytes": LIMIT - 4}, lambda _: True),
        ({"OutputTensor_TotalTensorSizeInBytes": LIMIT - 1}, lambda oracle: not at_least(oracle, "6.3")),
        (  # the minimum size exceeds 32 bits
            {"OutputTensor_Strides": [0, 0, 2**30, 1], "OutputTensor_TotalTensorSizeInBytes": 48},
            lambda oracle: not at_least(oracle, "5.1"),
        ),
    ],
)
def test_undocumented_verdicts_of_builds(oracle, changed, changes, accepted):
    assert oracle.accepts(changed(**changes)).accepted is accepted(oracle)


def test_every_kind_of_field_reaches_the_build(oracle):
    image = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}
    relu = {"type": "ACTIVATION_RELU", "desc": {}}
    tables = [
        {"type": "JOIN", "desc": {"InputTensors": [image] * 3, "OutputTensor": {**image, "Sizes": [1, 1, 6, 3]}, "Axis": 2}},
        {"type": "ELEMENT_WISE_ABS", "desc": {"InputTensor": image, "OutputTensor": image, "ScaleBias": {"Scale": 2, "Bias": 1}}},
        {"type": "UPSAMPLE_2D", "desc": {"InputTensor": image, "OutputTensor": {**image, "Sizes": [1, 1, 4, 9]}, "ScaleSize": {"Width": 3, "Height": 2}, "InterpolationMode": "NEAREST_NEIGHBOR"}},
        {"type": "UPSAMPLE_2D", "desc": {"InputTensor": image, "OutputTensor": {**image, "Sizes": [1, 1, 4, 9]}, "ScaleSize": {"Width": 2, "Height": 3}, "InterpolationMode": "NEAREST_NEIGHBOR"}},
        {"type": "FILL_VALUE_CONSTANT", "desc": {"OutputTensor": image, "ValueDataType": "FLOAT32", "Value": 1.5}},
        {"type": "FILL_VALUE_CONSTANT", "desc": {"OutputTensor": image, "ValueDataType": "INT32", "Value": 1}},
        {"type": "REDUCE", "desc": {"Function": "SUM", "InputTensor": image, "OutputTensor": {**image, "Sizes": [1, 1, 2, 1]}, "Axes": [3]}},
        {"type": "REDUCE", "desc": {"Function": "SUM", "InputTensor": image, "OutputTensor": {**image, "Sizes": [1, 1, 2, 1]}, "Axes": [2]}},
        {"type": "ELEMENT_WISE_ADD1", "desc": {"ATensor": image, "BTensor": image, "OutputTensor": image, "FusedActivation": relu}},
        {"type": "ELEMENT_WISE_ADD1", "desc": {"ATensor": image, "BTensor": image, "OutputTensor": image, "FusedActivation": {"type": "JOIN", "desc": {"Axis": 0}}}},
        {"type": "RNN", "desc": {
            "InputTensor": {**image, "Sizes": [1, 2, 3, 4]}, "WeightTensor": {**image, "Sizes": [1, 1, 5, 4]}, "RecurrenceTensor": {**image, "Sizes": [1, 1, 5, 5]},
            "OutputSequenceTensor": {**image, "Sizes": [2, 1, 3, 5]}, "ActivationDescs": [relu], "Direction": "FORWARD",
        }},
    ]  # fmt: skip
    words = ["accepted"] * 3 + [
        "rejected",
        "accepted",
        "rejected",
        "accepted",
        "rejected",
        "accepted",
        "rejected",
        "accepted",
    ]
    assert [answer.word for answer in oracle.accepts_many(tables)] == words


def test_oracle_continues_after_a_crash(oracle, one_hot, changed):
    crash = {"type": "JOIN", "desc": {"InputCount": 3, "OutputTensor": one_hot["desc"]["OutputTensor"], "Axis": 0}}
    answers = oracle.accepts_many([one_hot, crash, changed(Axis=4), crash, one_hot])
    assert [answer.word for answer in answers] == ["accepted", "crashed", "rejected", "crashed", "accepted"]
    assert answers[1].accepted is None


def test_an_operator_newer_than_the_build_is_rejected(oracle):
    fold = {key: [1, 1] for key in ("Strides", "Dilations")} | {key: [0, 0] for key in ("StartPadding", "EndPadding")}
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]},
    }
    answer = oracle.accepts({"type": "FOLD", "desc": {**tensors, "WindowSizes": [2, 2], **fold}})
    assert answer.accepted is at_least(oracle, "6.4")


@pytest.mark.slow
def test_thousands_of_queries_per_second(oracle, one_hot, changed):
    questions = [one_hot, changed(Axis=4)] * 500
    begin = time.perf_counter()
    assert [a.word for a in oracle.accepts_many(questions)] == ["accepted", "rejected"] * 500
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(
    ("device", "kind", "first"),
    [
        (Capabilities(double=False), "FLOAT64", "4.1"),
        (Capabilities(native16=False, typed_uav_load=False), "FLOAT16", "2.1"),
        (Capabilities(native16=False, typed_uav_load=False), "INT16", "2.1"),
    ],
)
def test_a_device_without_a_capability_rejects_a_type(oracle, changed, device, kind, first):
    questions = changed(ValuesTensor_DataType=kind, OutputTensor_DataType=kind)
    assert oracle.accepts(questions).accepted is at_least(oracle, first)
    with DirectMLOracle(oracle.level, build=oracle.build.system, device=device) as poor:
        assert poor.accepts(questions).accepted is False


def test_old_builds_require_64_bit_shaders_for_64_bit_indices(oracle, changed):
    questions = changed(IndicesTensor_DataType="UINT64")
    with DirectMLOracle(oracle.level, build=oracle.build.system, device=Capabilities(int64=False)) as poor:
        assert poor.accepts(questions).accepted is at_least(poor, "4.1")


@pytest.mark.parametrize(
    "level",
    sorted({b.level for b in BUILDS if b.system == "linux"} & {b.level for b in BUILDS if b.system == "windows"}),
)
def test_linux_and_windows_builds_give_equal_verdicts(level, changed):
    if sum(build.level == level for build in INSTALLED) < 2:
        pytest.skip(f"ONLY ONE SYSTEM'S BUILD OF {level} IS INSTALLED: {install_command([level], 'windows')}")
    types = dialect("directml").types
    questions = [
        changed(ValuesTensor_DataType=a, OutputTensor_DataType=a, IndicesTensor_DataType=b)
        for a in types
        for b in types
    ]
    words = []
    for system in ("linux", "windows"):
        with DirectMLOracle(level, build=system) as oracle:
            words.append([answer.word for answer in oracle.accepts_many(questions)])
    assert words[0] == words[1]


def test_missing_builds_are_skipped_visibly():
    """Skip visibly if some builds are missing; `-ra` prints it."""
    absent = [row for row in status() if row.preferred and not row.installed]
    if absent:
        levels = [row.build.level for row in absent]
        pytest.skip(f"NOT TESTED: DirectML {', '.join(levels)} on {sys.platform}; {install_command(levels)}")
