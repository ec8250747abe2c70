"""Will this operator run on that DirectML feature level, ONNX opset or OpenVINO opset, and if not, why not."""

from __future__ import annotations

try:
    from typing import TYPE_CHECKING

    from specgate.collecting import gc_paused

    with gc_paused():  # what is imported stays
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
except (KeyboardInterrupt, RuntimeError) as error:
    from specgate.interrupted import end_command

    end_command(error)
    raise

if TYPE_CHECKING:
    #: The version of the tables in use, ``2026.11+0f3a9c41d7e8``: equal for equal tables.
    tables_version: str
else:  # a checker would take every name for a text

    def __getattr__(name: str) -> str:
        if name != "tables_version":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from specgate.spec.version import tables_version  # reads all tables

        return tables_version()


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
    "tables_version",
    "targets",
]
