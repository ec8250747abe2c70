"""Constructors of OpenVINO descriptors, one per operator that has a table."""

from __future__ import annotations

from typing import Any

from specgate.make.factory import constructor, operators


def __getattr__(name: str) -> Any:
    return constructor("openvino", name)


def __dir__() -> list[str]:
    return operators("openvino")
