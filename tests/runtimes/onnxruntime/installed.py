"""The installed ONNX Runtime as a target for comparisons."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.targets import parse_target


def list_installed(what):
    """Return the package and its target; skip the module without a known one.

    `what` is not done then, as the skip says.
    """
    runtime = pytest.importorskip("onnxruntime", reason=f"{what}: pip install onnxruntime")
    target = f"onnxruntime:{runtime.__version__}"
    try:
        parse_target(target)
    except InputError as error:
        pytest.skip(f"{what}: {error}", allow_module_level=True)
    return runtime, target
