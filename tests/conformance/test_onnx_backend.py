"""All node tests of the onnx package's backend suite, executed as models: sequences, bodies and functions included."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model
from specgate.errors import Error
from specgate.execution.containers import arrays_in
from specgate.execution.tolerance import differing

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        importlib.util.find_spec("onnx") is None, reason="THE BACKEND TESTS ARE NOT RUN: pip install 'specgate-ml[onnx]'"
    ),
]

#: How many parts the suite is run in, so that processes share it.
PARTS = 16
#: What is not computed, or otherwise than the suite has it, and why.
KNOWN: dict[str, str] = {}
#: Outputs that are one draw of a generator: their types and sizes are compared.
RANDOM: frozenset[str] = frozenset()


@cache
def cases() -> list[Any]:
    package = importlib.import_module("onnx.backend.test.case.node")
    with warnings.catch_warnings(action="ignore"):  # its own overflows, while importing collects its cases
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return sorted(package._NodeTestCases, key=lambda case: case.name)


def given(value: Any) -> Any:
    """Return what a test states as this package takes it: texts are objects, optionals and sequences are lists."""
    if value is None:
        return None
    if hasattr(value, "data_type"):
        value = importlib.import_module("onnx.numpy_helper").to_array(value)
    elif hasattr(value, "elem_type"):
        helpers = importlib.import_module("onnx.numpy_helper")
        value = helpers.to_list(value) if hasattr(value, "tensor_values") and not hasattr(value, "optional_value") else helpers.to_optional(value)
    if isinstance(value, list | tuple):
        return [given(each) for each in value]
    if isinstance(value, dict):
        return value
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array


def difference(case: Any, path: str) -> str:
    """Return how specgate's outputs of a case differ, "" where they are within its tolerance."""
    for inputs, outputs in case.data_sets:
        names = [info.name for info in case.model.graph.input]
        arrays = {name: given(value) for name, value in zip(names, inputs, strict=False)}
        found = run_model(path, arrays)
        for (name, mine), theirs in zip(found.items(), map(given, outputs), strict=True):
            if isinstance(theirs, list) and theirs and isinstance(theirs[0], dict):
                if mine != theirs:
                    return f"{name}: {mine} for {theirs}"
                continue
            ours, wanted = arrays_in(mine), arrays_in(theirs)
            if len(ours) != len(wanted):
                return f"{name}: {len(ours)} arrays for {len(wanted)}"
            for one, other in zip(ours, wanted, strict=True):
                if (one.dtype, one.shape) != (other.dtype, other.shape):
                    return f"{name}: {one.dtype} {one.shape} for {other.dtype} {other.shape}"
                if case.name not in RANDOM and differing(other, one, max(case.rtol, case.atol)).any():
                    return f"{name}: other values"
    return ""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_suite(part, tmp_path):
    import onnx

    failed = {}
    for case in cases()[part::PARTS]:
        path = str(tmp_path / "model.onnx")
        onnx.save(case.model, path)
        try:
            text = difference(case, path)
        except Error as error:
            text = str(error)
        if text:
            failed[case.name] = text
    known = {case.name for case in cases()[part::PARTS]} & set(KNOWN)
    assert set(failed) == known, {name: text for name, text in failed.items() if name not in known}
