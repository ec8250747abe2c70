"""After `specgate.preload` no function imports modules, so forks copy no import lock."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("onnx", reason="NO PRELOADING OF WHAT MODELS NEED IS TESTED: pip install onnx")
from tests.linting.test_model import helper, model  # where there is onnx

USES = """
import sys, specgate
{preload}
before = set(sys.modules)
relu = {{"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {{
    "InputTensor": {{"DataType": "FLOAT32", "Sizes": [1]}}, "OutputTensor": {{"DataType": "FLOAT32", "Sizes": [1]}}}}}}
specgate.check(relu, "directml:6.4")
specgate.execute(relu, {{"InputTensor": [-1.0]}})
specgate.minimum(relu)
specgate.accepts_many("Relu", {{"X.elem_type": "FLOAT", "X.shape": [1]}}, "onnx:17")
specgate.lint(sys.argv[1], ["onnx:17", "onnxruntime:1.24.4"])
specgate.place(sys.argv[1], "onnxruntime-directml:1.24.4")
print(*sorted(name for name in set(sys.modules) - before if name.partition(".")[0] == "specgate"))
"""


@pytest.mark.slow
def test_nothing_of_specgate_is_imported_after_preload(tmp_path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model([helper.make_node("Identity", ["x"], ["y"])]).SerializeToString())

    def list_imports(preload: str) -> list[str]:
        command = [sys.executable, "-c", USES.format(preload=preload), str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()

    assert list_imports("specgate.preload()") == []
    assert "specgate.linting.model" in list_imports("")
