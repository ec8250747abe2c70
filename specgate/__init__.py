"""Will this operator run on that DirectML feature level, ONNX opset or OpenVINO opset, and if not, why not."""

from __future__ import annotations

from specgate.api import check, descriptor, execute, lint, minimum, support
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.errors import Error, InputError, NoKernel, NoTable
from specgate.verdict import Finding, Report, Verdict

__version__ = "0.1.0"

__all__ = [
    "Descriptor",
    "Error",
    "Finding",
    "InputError",
    "NoKernel",
    "NoTable",
    "Report",
    "TensorDesc",
    "Verdict",
    "check",
    "descriptor",
    "execute",
    "lint",
    "minimum",
    "support",
]
