"""A short campaign against installed runtimes: entries explain every difference.

``specgate conform onnxruntime-directml`` and ``specgate conform onnxruntime`` are the long ones.
"""

from __future__ import annotations

import os
import random
import time

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.conform.render import FORMATS
from specgate.runtimes.onnxruntime.conform.run import Plan, run
from specgate.runtimes.onnxruntime.oracle.install import install_command, status
from specgate.spec.tables import dialect
from specgate.targets import parse_target

pytestmark = pytest.mark.slow

pytest.importorskip("onnx", reason="NO PLACEMENTS ARE COMPARED WITH A RUNTIME: onnx is not installed")
OPERATORS = ("Relu", "Add", "Gemm", "Conv", "Cast", "Where", "TopK", "Softmax")
LEAST_NODES = 300
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
#: The short campaign against DirectML: number of operators, seconds of questions, seconds of a week.
SAMPLE, SECONDS, WEEK = 14, 40.0, 7 * 24 * 3600


def compare_all(result, aspect):
    return sum(tally.comparisons for tally in result.tallies if tally.aspect == aspect)


def test_cpu_placements_agree_with_the_runtime():
    runtime = pytest.importorskip(
        "onnxruntime", reason="NO PLACEMENTS ARE COMPARED WITH ONNX RUNTIME: pip install onnxruntime"
    )
    try:
        parse_target(f"onnxruntime:{runtime.__version__}")
    except InputError as error:
        pytest.skip(f"NO PLACEMENTS ARE COMPARED WITH ONNX RUNTIME: {error}")
    result = run(Plan("onnxruntime", (runtime.__version__,), OPERATORS, cases=4, graphs=40))
    assert result.unexplained == 0, FORMATS["text"](result)
    assert compare_all(result, "node") >= LEAST_NODES
    assert all(tally.same == tally.comparisons for tally in result.tallies if tally.aspect == "kernel")


@pytest.mark.oracle
def test_directml_placements_agree_with_the_runtime():
    """A sample of all operators.

    ``SPECGATE_SEED`` chooses it; ``HYPOTHESIS_PROFILE=nightly`` changes it every week.
    """
    newest = status()[0]
    if newest.missing:
        pytest.skip(
            f"NO PLACEMENTS ARE COMPARED WITH DIRECTML: {'; '.join(newest.missing)}; try "
            f"{install_command(newest.runtime.release)}"
        )
    seed = int(os.environ.get("SPECGATE_SEED") or (time.time() // WEEK if NIGHTLY else 1))
    some = tuple(sorted(random.Random(seed).sample(list(dialect("onnx").operators), SAMPLE)))
    plan = Plan("onnxruntime-directml", (newest.runtime.release,), some, cases=1, graphs=10, seed=seed, seconds=SECONDS)
    outputs = run(plan)
    assert outputs.unexplained == 0, FORMATS["text"](outputs)
    assert compare_all(outputs, "session") > SAMPLE
    assert compare_all(outputs, "descriptor") > SAMPLE // 2


def test_samples_cover_every_operator():
    """The samples of all seeds cover every operator within four years."""
    every = list(dialect("onnx").operators)
    seen = {name for seed in range(208) for name in random.Random(seed).sample(every, SAMPLE)}
    assert seen == set(every)
