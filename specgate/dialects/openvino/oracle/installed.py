"""The openvino package that is installed, of whatever release."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from typing import Any

__all__ = ["python_module", "version"]


def version() -> str:
    """Return the package's version, "unknown" where it was built from source."""
    try:
        return metadata_version("openvino")
    except PackageNotFoundError:
        return "unknown"


def python_module(name: str) -> Any:
    """Return a module of the package; releases before 2025.0 have it one package deeper."""
    try:
        return importlib.import_module(f"openvino.{name}")
    except ModuleNotFoundError:
        return importlib.import_module(f"openvino.runtime.{name}")
