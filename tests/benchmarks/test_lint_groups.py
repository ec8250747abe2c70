"""The lint benchmark on small models: valid models, and every promised figure."""

from __future__ import annotations

import json
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.openvino.ir import read_ir
from tests.benchmarks import ir_groups, lint_groups, made_models
from tests.benchmarks.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx", reason="the onnx package makes the models and is the peer")
pytestmark = [pytest.mark.oracle, pytest.mark.slow]


def test_models_are_valid(tmp_path: Path) -> None:
    path = tmp_path / "chain.onnx"
    onnx.save(made_models.chain(40), path)
    onnx.checker.check_model(str(path), full_check=True)
    model = read_model(path)
    assert len(model.graph.nodes) == 40
    assert {node.op_type for node in model.graph.nodes} == {operator for operator, _, _ in made_models._STEPS}
    assert specgate.lint(str(path), targets=["onnx:17"]).clean


def test_rates_growth_and_memory_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint_groups, "SIZES", (20, 200))
    monkeypatch.setattr(lint_groups, "ir_groups", lambda: iter(()))
    monkeypatch.setattr(lint_groups, "real_groups", lambda: iter(()))
    assert main(["lint", "--repeat", "1", "--format", "json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [(group["work"], group["unit"]) for group in groups] == [(20, "nodes"), (200, "nodes")]
    names = ["specgate.lint", "specgate's reader alone", "onnx.checker.check_model, full_check", "onnx.load"]
    assert [item["name"] for item in groups[1]["contenders"]] == names
    assert "time per node against the model of 20 nodes" in groups[1]["remarks"]
    if sys.platform.startswith("linux"):
        assert "x the graph as onnx.load holds it" in groups[1]["remarks"]["peak memory of specgate.lint"]


def test_the_table_has_a_rate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lint_groups, "SIZES", (20,))
    monkeypatch.setattr(lint_groups, "ir_groups", lambda: iter(()))
    monkeypatch.setattr(lint_groups, "real_groups", lambda: iter(()))
    monkeypatch.setattr(lint_groups, "_memory", lambda *_: [("peak memory", "not asked for")])
    assert main(["lint", "--repeat", "1"]) == 0
    message = capsys.readouterr().out
    assert "nodes/s" in message.splitlines()[1]
    assert message.endswith("peak memory: not asked for\n\n")


def test_reading_uses_little_memory_per_node(tmp_path: Path) -> None:
    path = tmp_path / "chain.onnx"
    onnx.save(made_models.chain(5_000), path)
    read_model(path)
    tracemalloc.start()
    model = read_model(path)
    number, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.graph.nodes) == 5_000
    assert peak < 1.5 * number  # only the structure itself, and a block of the file
    assert number < 2_500 * 5_000


@pytest.fixture(scope="module")
def irs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The IRs of the benchmark, by number of layers."""
    openvino = pytest.importorskip("openvino", reason="the openvino package makes the IRs and is the peer")
    from tests.benchmarks.openvino_models import resnet, transformer

    result = {}
    for make in (resnet, transformer):
        result[make.__name__] = tmp_path_factory.mktemp("irs") / f"{make.__name__}.xml"
        openvino.save_model(make(), result[make.__name__])
    return result


def test_irs_are_clean_and_as_large_as_real_models(irs: dict[str, Path]) -> None:
    counted = {}
    for name, path in irs.items():
        report = specgate.lint(path, targets=[ir_groups.TARGET])
        assert report.clean
        assert not report.no_table
        layers = [layer.type for layer in read_ir(path).net.layers]
        counted[name] = (
            len(layers) > 300,
            layers.count("Convolution"),
            layers.count("SoftMax"),
            bool(report.undecided),
        )
    assert counted == {"resnet": (True, 53, 0, False), "transformer": (True, 0, 12, True)}


@pytest.mark.parametrize("name", ["resnet", "transformer"])
def test_structure_of_an_ir_uses_little_memory(irs: dict[str, Path], name: str) -> None:
    size = irs[name].stat().st_size
    read_ir(irs[name])
    tracemalloc.start()
    model = read_ir(irs[name])
    value, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.net.layers
    assert value < 2 * size
    assert peak < 2.3 * size  # and the window of the file that is read, next to tables of ids


def test_irs_are_compared_with_read_model(irs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.benchmarks import openvino_models
    from tests.benchmarks.timing import measure

    monkeypatch.setattr(openvino_models, "NETWORKS", {"a ResNet-50": openvino_models.resnet})
    for group in ir_groups.ir_groups():
        measure(group, 1)
        texts_by_name = dict(group.remarks())
    assert [contender.name for contender in group.contenders if contender.typical] == [
        "specgate.lint",
        "specgate's reader alone",
        "openvino.Core().read_model",
    ]
    assert texts_by_name["lint's CPU time"].endswith("x read_model")
    assert texts_by_name["peak memory of specgate's reader"].endswith("x the XML")


def test_missing_openvino_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    [group] = ir_groups.ir_groups()
    assert [contender.missing for contender in group.contenders] == [
        "not installed (openvino), which the IRs are made with"
    ]
