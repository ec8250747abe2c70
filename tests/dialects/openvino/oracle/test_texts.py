"""Strings as the installed OpenVINO returns them."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from specgate.dialects.openvino.oracle.oracle import OpenVINOOracle
from specgate.dialects.openvino.reader import read

pytestmark = pytest.mark.oracle
if find_spec("openvino") is None:
    pytest.skip("OPENVINO IS NOT TESTED: pip install openvino", allow_module_level=True)


@pytest.fixture(scope="module")
def oracle():
    with OpenVINOOracle("opset16") as opened:
        yield opened


def pack(text: bytes, *cuts: int) -> tuple:
    places = {"element_type": "i64", "shape": [len(cuts) - 1]}
    inputs = [places, places, {"element_type": "u8", "shape": [len(text)]}]
    symbols = np.frombuffer(text, np.uint8)
    arrays_by_name = {"begins": np.array(cuts[:-1]), "ends": np.array(cuts[1:]), "symbols": symbols}
    return read({"type": "StringTensorPack", "inputs": inputs, "data": {}}), arrays_by_name


def test_trailing_nul_characters_are_kept(oracle):
    result = oracle.values(*pack(b"a\0b\0\0", 0, 2, 5))["cpu"]
    assert result.arrays["output"].tolist() == ["a\0", "b\0\0"]


@pytest.mark.slow
def test_invalid_utf8_output_is_not_queried(oracle):
    reply = oracle.values(*pack(b"ab\xff", 0, 2, 3))["cpu"].reply
    assert (reply.word, reply.detail) == ("not asked", "an output contains strings that are not UTF-8")
