"""A short campaign against whatever is installed: nothing may differ that no entry names.

``specgate conform onnxruntime-directml`` and ``specgate conform onnxruntime`` are the long ones.
"""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.placement.conform.plan import Plan
from specgate.placement.conform.render import FORMATS
from specgate.placement.conform.run import run
from specgate.placement.oracle.install import install_command, status
from specgate.targets import parse_target

pytest.importorskip("onnx", reason="NO PLACEMENTS ARE HELD AGAINST A RUNTIME: onnx is not installed")
OPERATORS = ("Relu", "Add", "Gemm", "Conv", "Cast", "Where", "TopK", "Softmax")
LEAST_NODES = 300


def compared(result, aspect):
    return sum(tally.asked for tally in result.tallies if tally.aspect == aspect)


def test_the_cpu_provider_has_kernels_where_we_say_so():
    runtime = pytest.importorskip(
        "onnxruntime", reason="NO PLACEMENTS ARE HELD AGAINST ONNX RUNTIME: pip install onnxruntime"
    )
    try:
        parse_target(f"onnxruntime:{runtime.__version__}")
    except InputError as error:
        pytest.skip(f"NO PLACEMENTS ARE HELD AGAINST ONNX RUNTIME: {error}")
    found = run(Plan("onnxruntime", (runtime.__version__,), OPERATORS, cases=4, graphs=40))
    assert found.unexplained == 0, FORMATS["text"](found)
    assert compared(found, "node") >= LEAST_NODES
    assert all(tally.same == tally.asked for tally in found.tallies if tally.aspect == "kernel")


@pytest.mark.oracle
def test_directml_takes_the_nodes_that_we_say():
    newest = status()[0]
    if newest.missing:
        pytest.skip(
            f"NO PLACEMENTS ARE HELD AGAINST DIRECTML: {'; '.join(newest.missing)}; try "
            f"{install_command(newest.runtime.release)}"
        )
    found = run(
        Plan("onnxruntime-directml", (newest.runtime.release,), ("Relu", "Add", "Gemm", "Softmax"), cases=3, graphs=30)
    )
    assert found.unexplained == 0, FORMATS["text"](found)
    assert compared(found, "descriptor") > 50
