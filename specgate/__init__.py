"""Will this operator run on that DirectML feature level, ONNX opset or OpenVINO opset, and if not, why not."""

from __future__ import annotations

from specgate.api import (
    accepts_many,
    check,
    descriptor,
    diff,
    execute,
    explain,
    lint,
    minimum,
    operators,
    place,
    rule,
    support,
    targets,
)
from specgate.descriptors.core import Descriptor as Descriptor
from specgate.descriptors.core import TensorDesc as TensorDesc
from specgate.errors import Error, InputError, NoKernel, NoTable
from specgate.verdict import Finding, Report, Verdict

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Finding",
    "InputError",
    "NoKernel",
    "NoTable",
    "Report",
    "Verdict",
    "accepts_many",
    "check",
    "descriptor",
    "diff",
    "execute",
    "explain",
    "lint",
    "minimum",
    "operators",
    "place",
    "rule",
    "support",
    "targets",
]
