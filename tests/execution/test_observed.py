"""Values of builds where they differ from the page: `observed` entries that are arguments of a kernel."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import specgate
from specgate.errors import InputError
from specgate.execution.kernels import find_kernel
from specgate.spec.tables import dialect

ROUND: dict[str, Any] = {
    "type": "DML_OPERATOR_ELEMENT_WISE_ROUND",
    "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
        "RoundingMode": "TOWARD_INFINITY",
    },
}
HALVES = {"InputTensor": np.array([0.49999997, -0.49999997, 8388609, 2.5], np.float32).reshape(1, 1, 1, 4)}


def entries():
    tables = dialect("directml")
    return [
        pytest.param(spec, said, id=f"{spec.name}-{name}")
        for spec in map(tables.operator, tables.tables.operators)
        for overlay in spec.overlays
        for said in overlay.values
        for name in said.arguments
    ]


@pytest.mark.parametrize(("spec", "said"), entries())
def test_the_kernel_has_the_arguments(spec, said):
    known = inspect.signature(find_kernel(spec.table.recipe["kernel"])).parameters
    assert said.arguments.keys() <= known.keys()


def test_halves_are_those_of_the_page_or_of_builds():
    page = specgate.execute(ROUND, HALVES, "directml:6.4")["OutputTensor"]
    builds = specgate.execute(ROUND, HALVES, "directml:6.4", basis="observed")["OutputTensor"]
    assert page.ravel().tolist() == [0, 0, 8388609, 3]
    assert builds.ravel().tolist() == [1, -1, 8388610, 3]


def test_an_entry_counts_only_at_its_levels_and_under_its_condition():
    before = specgate.execute(ROUND, HALVES, "directml:3.0", basis="observed")["OutputTensor"]
    assert before.ravel().tolist() == [0, 0, 8388609, 3]
    even = {**ROUND, "desc": {**ROUND["desc"], "RoundingMode": "HALVES_TO_NEAREST_EVEN"}}
    found = specgate.execute(even, HALVES, "directml:6.4", basis="observed")["OutputTensor"]
    assert found.ravel().tolist() == [0, 0, 8388609, 2]


def test_the_higher_of_two_equally_near_elements():
    resample = {
        "type": "DML_OPERATOR_RESAMPLE",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
            "InterpolationMode": "NEAREST_NEIGHBOR",
            "ScaleCount": 4,
            "Scales": [1, 1, 1, 0.5],
        },
    }
    arrays = {"InputTensor": np.array([[[[1, 2, 3, 4]]]], np.float32)}
    assert specgate.execute(resample, arrays, "directml:6.4")["OutputTensor"].ravel().tolist() == [1, 3]
    found = specgate.execute(resample, arrays, "directml:6.4", basis="observed")["OutputTensor"]
    assert found.ravel().tolist() == [2, 4]


def test_what_is_no_basis_is_refused(tmp_path):
    with pytest.raises(InputError, match="documented or observed"):
        specgate.execute(ROUND, HALVES, "directml:6.4", basis="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not to a model"):
        specgate.execute(tmp_path / "model.onnx", {}, basis="observed")
