"""What the oracle and the process that it asks hand to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from specgate.dialects.openvino.oracle.layer import Layer  # the type of a question names it

__all__ = ["Blob", "Computed", "Question"]


class Blob(NamedTuple):
    """An array on its way: bytes of its elements in row-major order, packed where OpenVINO packs; or strings."""

    type: str
    shape: tuple[int, ...]
    data: bytes | list[str]


class Computed(NamedTuple):
    """What came of one set of arrays."""

    word: str
    detail: str = ""
    outputs: list[Blob] | None = None


#: Column, layer, and for each set of arrays those of all inputs, constants too.
Question = tuple[str, "Layer", "list[list[Blob]]"]
