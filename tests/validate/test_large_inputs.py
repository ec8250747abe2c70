"""Limits on input elements: some operators of real builds end at 2**31."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.validate.check import accepts

ENDS = 2**31
LEVELS = ("2.1", "3.0", "4.1", "5.1", "6.4")


def flat(elements: int, **more: Any) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": [1, 1, 1, elements], **more}


def accepts_case(operator: str, level: str, **desc: Any) -> bool | None:
    descriptor = specgate.descriptor({"type": f"DML_OPERATOR_{operator}", "desc": desc}, dialect="directml")
    return accepts(descriptor, level, "observed")


def join(level: str, *parts: dict[str, Any]) -> bool | None:
    total = sum(part["Sizes"][3] for part in parts)
    return accepts_case("JOIN", level, InputCount=len(parts), InputTensors=[*parts], OutputTensor=flat(total), Axis=3)


def padding(level: str, tensor: dict[str, Any], following: int = 0) -> bool | None:
    output = flat(tensor["Sizes"][3] + following)
    return accepts_case(
        "PADDING", level, InputTensor=tensor, OutputTensor=output, PaddingMode="CONSTANT", PaddingValue=0.0,
        DimensionCount=4, StartPadding=[0] * 4, EndPadding=[0, 0, 0, following],
    )  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
def test_inputs_of_join_and_padding_end_below_2_to_the_31(level):
    assert join(level, flat(ENDS - 1)) is True
    assert join(level, flat(ENDS - 1), flat(ENDS - 1)) is True
    assert join(level, flat(ENDS)) is False
    assert join(level, flat(1), flat(ENDS)) is False
    assert padding(level, flat(ENDS - 1), 2) is True
    assert padding(level, flat(5), ENDS) is True
    assert padding(level, flat(ENDS)) is False


def test_strides_do_not_affect_the_limit():
    assert join("6.4", flat(ENDS, Strides=[0, 0, 0, 0])) is False
    assert padding("6.4", flat(ENDS, Strides=[0, 0, 0, 0])) is False
    assert padding("6.4", flat(2, Strides=[ENDS, ENDS, ENDS, ENDS])) is True


def test_other_operators_support_larger_inputs():
    assert (
        accepts_case("ELEMENT_WISE_IDENTITY", "6.4", InputTensor=flat(2**32 - 1), OutputTensor=flat(2**32 - 1)) is True
    )


@pytest.mark.parametrize(("gradient", "expected"), [("OutputROIGradientTensor", True), ("OutputGradientTensor", False)])
def test_roi_align_grad_compares_its_input_with_an_output(gradient, expected):
    sizes = {"OutputROIGradientTensor": [4, 4], "OutputGradientTensor": [1, 1, 1, 1]}[gradient]
    desc = {
        "InputTensor": {"DataType": "FLOAT16", "Sizes": [1, 1, 1, 1]},
        "InputGradientTensor": {"DataType": "FLOAT32", "Sizes": [4, 1, 1, 1]},
        "ROITensor": {"DataType": "FLOAT32", "Sizes": [4, 4]},
        "BatchIndicesTensor": {"DataType": "UINT32", "Sizes": [4]},
        gradient: {"DataType": "FLOAT32", "Sizes": sizes},
        "ReductionFunction": "MAX", "InterpolationMode": "LINEAR", "SpatialScaleX": 1.0, "SpatialScaleY": 1.0,
        "InputPixelOffset": 0.0, "OutputPixelOffset": 0.0, "MinimumSamplesPerOutput": 1,
        "MaximumSamplesPerOutput": 1, "AlignRegionsToCorners": False,
    }  # fmt: skip
    for level in ("4.1", "5.1", "6.4"):
        assert accepts_case("ROI_ALIGN_GRAD", level, **desc) is expected
