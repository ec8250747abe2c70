"""Check operators against DirectML, ONNX and OpenVINO versions."""

from __future__ import annotations

try:
    from typing import TYPE_CHECKING

    from specgate.loading import gc_paused

    with gc_paused():  # imported names stay in the module
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
            preload,
            rule,
            support,
            targets,
        )
        from specgate.descriptors.core import Descriptor as Descriptor
        from specgate.descriptors.core import TensorDesc as TensorDesc
        from specgate.errors import Error, InputError, NoKernel, NoTable
        from specgate.verdict import Finding, Report, Verdict
except (KeyboardInterrupt, RuntimeError) as error:
    from specgate.interrupts import end_command

    end_command(error)
    raise

if TYPE_CHECKING:
    #: The version of the tables in use, ``2026.11+0f3a9c41d7e8``. Equal tables have equal versions.
    tables_version: str
else:  # type checkers would otherwise infer str for every name

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
    "preload",
    "rule",
    "support",
    "tables_version",
    "targets",
]
