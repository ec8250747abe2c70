"""The ONNX Runtime that is installed, as a target to hold placements against."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.targets import parse_target


def installed(what):
    """Return the package and its target; skip the module with `what` is not done where there is none that is known."""
    runtime = pytest.importorskip("onnxruntime", reason=f"{what}: pip install onnxruntime")
    target = f"onnxruntime:{runtime.__version__}"
    try:
        parse_target(target)
    except InputError as error:
        pytest.skip(f"{what}: {error}", allow_module_level=True)
    return runtime, target
