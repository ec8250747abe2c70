"""Constructors of descriptors with completion for editors.

``make.directml.ONE_HOT(...)``, ``make.onnx.OneHot(...)``. The module of each dialect has one function per operator with
a table. The keyword arguments are the operator's fields; `tensor` creates tensors. Type stubs are generated when
specgate is built or installed, except for dialects from other packages.
"""

from __future__ import annotations

from typing import Any

from specgate.descriptors.core import tensor
from specgate.dialects import BUILT_IN, is_dialect
from specgate.make.factory import module_of

__all__ = [*BUILT_IN, "tensor"]  # noqa: PLE0604  # names of dialects

globals().update({name: module_of(name) for name in BUILT_IN})


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not is_dialect(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return module_of(name)
