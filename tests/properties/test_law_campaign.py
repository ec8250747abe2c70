"""The law for sizes of 0, for every operator; the campaign finds violations."""

from __future__ import annotations

from itertools import groupby
from typing import Final

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution import engine
from specgate.execution.kernels import find_kernel
from specgate.spec.tables import dialect
from tests.properties.campaign import (
    Report,
    execute_all,
    executed_cases_of,
    executed_operators,
    run,
    run_counterexamples,
    run_empty,
)  # fmt: skip
from tests.properties.law import ask
from tests.properties.support import ALL

#: Descriptors with sizes of 0 at the newest level of each operator in the default run.
EMPTY: Final = 10


@pytest.mark.parametrize(("name", "operator"), executed_operators())
def test_verdict_and_executor_agree_on_sizes_of_0(name: str, operator: str) -> None:
    cases = executed_cases_of(name, operator)
    report = run_empty(cases if ALL else cases[-1:], None if ALL else EMPTY)
    assert not report.wrong, "\n".join(report.lines())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_verdict_and_executor_agree_on_counterexamples(name: str) -> None:
    groups = groupby(execute_all([name]), key=lambda case: case.operator)
    report = run_counterexamples([list(group)[-1] for _, group in groups])
    assert not report.wrong, "\n".join(report.lines())


@pytest.mark.parametrize(
    ("node", "arrays"),
    [
        (
            {"op_type": "ImageDecoder", "inputs": [{"elem_type": "UINT8", "shape": [3]}], "outputs": []},
            {"encoded_stream": np.ones(3, np.uint8)},
        ),
        (
            {
                "op_type": "Resize",
                "inputs": [{"elem_type": "FLOAT", "shape": [1, 2]}, None, {"elem_type": "FLOAT", "shape": [2]}],
                "outputs": [],
            },
            {"X": np.ones((1, 2), np.float32), "scales": np.array([1, 1e30], np.float32)},
        ),
    ],
)
def test_invalid_images_and_huge_outputs_are_excluded(node, arrays) -> None:
    spec = dialect("onnx").operator(node["op_type"])
    assert ask(spec, read_dict(node, "onnx"), arrays, "22").kind == "skipped"


def broken_report(monkeypatch: pytest.MonkeyPatch, kernel: object) -> Report:
    """Return the report on one operator with a replaced kernel."""
    monkeypatch.setattr(engine, "find_kernel", lambda _: kernel)
    return run(execute_all(["directml/ELEMENT_WISE_ABS"])[-1:], 60)


def test_the_campaign_detects_wrong_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = find_kernel("absolute")

    def crashes(x, **arguments):
        if x.ndim == 4:
            raise ValueError("deep")
        return absolute(x, **arguments)

    def wrong_type(x, **arguments):
        return absolute(x, **arguments).astype(np.complex64)

    def refuses(x, **arguments):
        raise InputError("never")

    names_by_name = {
        name: {kind for _, kind, _ in broken_report(monkeypatch, kernel).wrong}
        for name, kernel in (("crash", crashes), ("type", wrong_type), ("refuses", refuses))
    }
    assert "crash" in names_by_name["crash"]
    assert names_by_name["type"] == names_by_name["refuses"] == {"refused"}


def test_the_campaign_detects_rejected_but_computed_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "require_guards", lambda *_, **__: None)
    report = run(execute_all(["onnx/TopK"])[-1:], 60)
    assert {(kind, why) for _, kind, why in report.wrong} >= {("computed", "count-positive")}


def test_loose_aspects_are_in_the_tables() -> None:
    spec = dialect("directml").operator("ONE_HOT")
    tensor = TensorDesc("INT64", (1, 1))
    assert spec.support_union.loose("IndicesTensor", "type", tensor)  # from 3.0 on
    assert not spec.support_union.loose("IndicesTensor", "type", tensor._replace(type="FLOAT32"))
    assert not spec.support_union.loose("IndicesTensor", "rank", tensor._replace(sizes=(1,) * 9))
    assert dialect("directml").tables.about["loose"] == ["type", "rank", "value"]
