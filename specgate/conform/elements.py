"""Two results beside each other, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.execution.tolerance import differing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor

__all__ = ["Differing", "compare_outputs", "same_values"]


class Differing(NamedTuple):
    """One output of both sides. wrong: the elements that differ. written: those that theirs has at all."""

    name: str
    tensor: TensorDesc | None
    ours: NDArray[Any]
    theirs: NDArray[Any]
    wrong: NDArray[Any]
    written: NDArray[Any]

    def __str__(self) -> str:
        import numpy as np

        place = tuple(int(i) for i in np.argwhere(self.wrong)[0]) if self.wrong.ndim else ()
        count = f"{int(self.wrong.sum())} of {self.wrong.size} elements"
        return f"{count}, at {list(place)} {self.ours[place]!s} and {self.theirs[place]!s}"


def compare_outputs(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], descriptor: Descriptor, tolerance: float
) -> tuple[str, list[Differing]]:
    """Return what keeps outputs from being compared, "" if nothing does, and those in which elements differ.

    ours, theirs: arrays by the output's name, lists of arrays for an array of tensors.
    """
    found = []
    for name, mine, other, tensor in _pairs(ours, theirs, descriptor):
        if other is None and tensor is None and name in ours:  # not asked for
            continue
        each = "not computed" if other is None else _compare(name, mine, other, tolerance, tensor)
        if isinstance(each, str):
            return f"{name}: {each}", []
        if each is not None:
            found.append(each)
    return "", found


def _pairs(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], descriptor: Descriptor
) -> Iterator[tuple[str, Any, Any, TensorDesc | None]]:
    for name, mine in ours.items():
        other, tensor = _theirs(theirs, name, mine), descriptor.fields.get(name)
        if not isinstance(mine, list):
            yield name, mine, other, tensor if isinstance(tensor, TensorDesc) else None
            continue
        for index, one in enumerate(mine):
            declared = tensor[index] if isinstance(tensor, list | tuple) else None
            yield f"{name}[{index}]", one, None if other is None else other[index], declared


def _theirs(theirs: Mapping[str, Any], name: str, mine: Any) -> Any:
    """Return the other side's array, or its arrays for an array of tensors, also where each has a name of its own."""
    if name in theirs or not isinstance(mine, list):
        return theirs.get(name)
    found = [theirs.get(f"{name}_{index}", theirs.get(f"{name}[{index}]")) for index in range(len(mine))]
    return None if any(each is None for each in found) else found


def same_values(mine: Any, other: Any, tolerance: float = 0.0) -> str:
    """Return how two outputs differ, "" if they do not: bit by bit without a tolerance, any nan like any other.

    Masked elements of ours may be anything; masked ones of theirs were not written, and ours must be masked there.
    """
    found = _compare("", mine, other, tolerance, None)
    return "" if found is None else str(found)


def _compare(name: str, mine: Any, other: Any, tolerance: float, tensor: TensorDesc | None) -> Differing | str | None:
    import numpy as np

    theirs = np.ma.getdata(other)
    own = np.ma.getdata(mine)
    if own.shape != theirs.shape or own.dtype != theirs.dtype:
        return f"{own.dtype} {list(own.shape)}, theirs {theirs.dtype} {list(theirs.shape)}"
    if not own.size:
        return None
    if own.dtype.kind == "O":
        wrong = np.asarray(own != theirs, dtype=bool)
    else:
        flat = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(own.size, -1) for a in (own, theirs)]
        wrong = (flat[0] != flat[1]).any(axis=1).reshape(own.shape)
        if own.dtype.kind in "fcV":
            with np.errstate(invalid="ignore"):
                wrong &= ~((own != own) & (theirs != theirs))  # noqa: PLR0124  # nan, also in types that isnan lacks
    if tolerance:
        wrong &= differing(own, theirs, tolerance)
    written = ~np.ma.getmaskarray(other)
    wrong = (wrong | ~written) & ~np.ma.getmaskarray(mine)
    return Differing(name, tensor, own, theirs, wrong, written) if wrong.any() else None
