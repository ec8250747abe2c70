"""Constructors of descriptors with completion: ``make.directml.ONE_HOT(...)``, ``make.onnx.OneHot(...)``.

Each dialect's module offers one function per operator that has a table, with the operator's own fields as keyword
arguments; tensors are made by `tensor`. Their stubs are written when specgate is built or installed; those of other
packages have none.
"""

from __future__ import annotations

from typing import Any

from specgate.descriptors.core import tensor
from specgate.dialects import SHIPPED, is_dialect
from specgate.make.modules import module_of

__all__ = [*SHIPPED, "tensor"]  # noqa: PLE0604  # names of dialects

globals().update({name: module_of(name) for name in SHIPPED})


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not is_dialect(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return module_of(name)
