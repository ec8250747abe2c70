"""No false alarms on valid IRs of OpenVINO's converters, nncf and torch."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.errors import InputError, NoKernel
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from tests.paths import ROOT
from tests.real_models.plan import IRS

if TYPE_CHECKING:
    from pathlib import Path

np = pytest.importorskip("numpy")

pytestmark = [pytest.mark.timeout(3600), pytest.mark.oracle]

NAMES = [f"{source}-{way}" for source, ways in IRS.items() for way in ways]
#: Reasons why these are not executed: they are undocumented, or have undefined results.
NOT_EXECUTED = {
    "recurrent-torch": "start and step of a Slice have two types",
    "vision-torch": "start and step of a Slice have two types",
    "decoder-trace-17-stateful": "what joins a state without elements has another batch",
    "encoder-trace-17-nncf": "a FakeQuantize from minus infinity to infinity, whose formula gives nan",
}
#: The plugin's results differ: with 16 bits its output is far from that of the model before quantization.
PLUGIN_WRONG = ("resnet-dynamo-21-qdq-16-ir",)
#: The choice of equal elements by a TopK is unspecified, and affects later layers.
OPEN_TIES = "detector-"
#: The plugin computes with 8 bits: a rounding difference in the last bit becomes a step.
QUANTISED = ("nncf", "qdq")
#: Integer weights: their product with a scale is f16 in the IR, and the plugin does not round it. An option
#: disables its default of rounding activations to 8 bits with such weights.
COMPRESSED = ("int4", "int8")
#: Releases up to 2024.2 do not broadcast these attention masks: only read_model of 2024.0.0 and 2024.2.0 rejects them.
UNSTRETCHED = ("encoder-dynamo-18-ir", "encoder-dynamo-21-ir", "encoder-dynamo-23-ir", "encoder-torch")
RELEASES = ("openvino:2022.3", "openvino:2024.0", "openvino:2025.0")


@pytest.fixture(scope="session")
def irs(models: Path) -> Path:
    """Return the folder of the IRs, which are built if missing."""
    lacking = [name for name in ("openvino", "nncf") if find_spec(name) is None]
    if lacking:
        pytest.skip(f"THE REAL IRS ARE NOT LINTED, {lacking} not installed: pip install {' '.join(lacking)}")
    command = [
        sys.executable,
        "-m",
        "tests.real_models.irs",
        str(models),
    ]  # in a subprocess, because converters print warnings
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return models


@pytest.mark.parametrize("name", NAMES)
def test_an_ir_is_clean_at_its_opset(name, irs):
    report = specgate.lint(irs / f"{name}.xml", ["openvino:opset16"], basis="observed")
    assert [finding.message for finding in report.findings] == []
    assert report.no_table == []
    both = specgate.lint(irs / f"{name}.xml", ["openvino:opset16"])
    assert [finding.message for finding in both.findings if finding.severity != "note"] == []
    assert both.clean


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", RELEASES)
def test_a_release_rejects_newer_layers(name, target, irs):
    path = irs / f"{name}.xml"
    position, level = dialect("openvino").position, parse_target(target).level
    versions = re.findall(r'<layer [^>]*version="(opset\d+)"', path.read_text(encoding="utf-8"))
    report = specgate.lint(path, [target], basis="observed")
    result = Counter(finding.id.rpartition("/")[2] for finding in report.findings)
    assert result["version"] == sum(position[version] > position[level] for version in versions)
    assert (result["mask-not-stretched"] > 0) == (target == "openvino:2024.0" and name in UNSTRETCHED)
    assert result.keys() <= {"version", "level", "mask-not-stretched"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*NOT_EXECUTED, *PLUGIN_WRONG}])
def test_an_ir_agrees_with_openvino(name, irs):
    """Each output of the CPU plugin in f32 precision, if every layer has a kernel."""
    import openvino

    from tests.real_models.irs import samples_of

    path = irs / f"{name}.xml"
    model = openvino.Core().read_model(path)
    samples = samples_of(irs, name)
    inputs = list(samples.values())
    names = [port.get_any_name() if port.names else port.node.friendly_name for port in model.inputs]
    arrays = {key: samples.get(key, inputs[at]) for at, key in enumerate(names)}
    try:
        ours = specgate.execute(path, arrays)
    except NoKernel as error:
        pytest.skip(f"NOT EXECUTED: {error}")
    except InputError as error:
        if name.startswith(OPEN_TIES) and "undefined elements" in str(error):
            pytest.skip(f"NOT EXECUTED: {error}")
        raise
    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    compiled = openvino.compile_model(model, "CPU", options)
    theirs = compiled([arrays[key] for key in names])
    for array, port in zip(ours.values(), compiled.outputs, strict=True):
        if any(way in name for way in QUANTISED):
            span = float(np.ptp(theirs[port]))
            assert float(np.abs(array - theirs[port]).max()) <= span / 64, "four steps of 8 bits"
        elif name.endswith(COMPRESSED):
            assert float(np.abs(array - theirs[port]).max()) <= float(np.ptp(theirs[port])) / 1024
        else:
            np.testing.assert_allclose(array, theirs[port], rtol=1e-3, atol=1e-4)
