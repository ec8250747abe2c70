"""Constructors of DirectML descriptors, one per operator that has a table."""

from __future__ import annotations

from typing import Any

from specgate.make.factory import constructor, operators


def __getattr__(name: str) -> Any:
    return constructor("directml", name)


def __dir__() -> list[str]:
    return operators("directml")
