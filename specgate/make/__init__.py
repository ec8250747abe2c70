"""Constructors of descriptors with completion: ``make.directml.ONE_HOT(...)``, ``make.onnx.OneHot(...)``.

Each dialect's module offers one function per operator that has a table, with the operator's own fields as keyword
arguments; tensors are made by `tensor`. The stubs beside them are written by ``python -m specgate.make.stubs``.
"""

from __future__ import annotations

from specgate.descriptors.core import tensor
from specgate.make import directml, onnx, openvino

__all__ = ["directml", "onnx", "openvino", "tensor"]
