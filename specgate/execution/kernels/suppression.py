"""Suppression of one list of boxes: those of the highest scores, without those that overlap one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.boxes import by_score, overlaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Limits", "Overlaps", "apart", "suppressed"]

if TYPE_CHECKING:
    #: The overlaps of one box, by its place, with others.
    Overlaps = Callable[[int, NDArray[np.intp]], NDArray[Any]]

#: Boxes that are held against each other at once, and at least.
_BLOCK, _FEW = 128, 16


class Limits(NamedTuple):
    """What is selected. most: how many boxes; overlap: a box that overlaps one of them more is removed.

    score: the least; `strict`: it does not suffice. sigma: of the decay of scores of boxes that overlap, 0 for none;
    with a decay, boxes are removed only if `cut`. eta: what the overlap is multiplied by after each selected box, as
    long as it is above a half; not below 1, it stays. candidates: how many of the highest scores are looked at.
    """

    most: int
    overlap: float
    score: float
    sigma: float = 0.0
    cut: bool = True
    strict: bool = False
    eta: float = 1.0
    candidates: int | None = None

    def enough(self, scores: Any) -> Any:
        """Return which scores are high enough; nan is not."""
        least = scores.dtype.type(self.score)
        return scores > least if self.strict else scores >= least


@dataclass(frozen=True, slots=True)
class apart:  # noqa: N801  # called as a function is
    """Gives the overlaps of one of `boxes` [n, 4] with others of them; more: see `overlaps`."""

    boxes: NDArray[Any]
    more: float = 0.0

    def __call__(self, box: int, others: NDArray[np.intp]) -> NDArray[Any]:
        return overlaps(self.boxes[box], self.boxes[others], more=self.more)


def _selected(order: NDArray[np.intp], most: int, above: Any, among: apart) -> list[int]:
    """Return which boxes are selected, of those in `order`: at most so many, each apart from those before.

    A block of boxes is held against all that are selected, and then against itself: the same overlaps as one by one.
    """
    boxes, more = among.boxes, among.more
    chosen: list[int] = []
    while len(order) and len(chosen) < most:
        memory.hold_time()
        several = min(_BLOCK, max(_FEW, 2 * (most - len(chosen))))  # about as many as are needed
        block, order = order[:several], order[several:]
        for begin in range(0, len(chosen), _BLOCK):
            kept = boxes[chosen[begin : begin + _BLOCK], np.newaxis]
            block = block[~(overlaps(kept, boxes[block], more=more) > above).any(axis=0)]
        boxes_of_block = boxes[block]
        near = overlaps(boxes_of_block[:, np.newaxis], boxes_of_block, more=more) > above
        removed: set[int] = set()
        for one, other in zip(*(places.tolist() for places in np.nonzero(near)), strict=True):
            if one < other and one not in removed:
                removed.add(other)
        chosen += [box for at, box in enumerate(block.tolist()) if at not in removed]
    return chosen[:most]


def suppressed(scores: NDArray[Any], limits: Limits, overlap: Overlaps) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the places of the selected boxes, the highest score first, and their scores; of equal ones the first.

    scores: [boxes]. Raises InputError when the time is over.
    """
    order = by_score(scores)
    order = order[limits.enough(scores[order])]
    if limits.candidates is not None:
        order = order[: limits.candidates]
    if limits.sigma:
        return _decayed(order, scores, limits, overlap)
    above = scores.dtype.type(limits.overlap)
    if isinstance(overlap, apart) and limits.eta >= 1:
        places = np.array(_selected(order, limits.most, above, overlap), np.intp)
        return places, scores[places]
    chosen: list[int] = []
    while len(order) and len(chosen) < limits.most:
        chosen.extend(int(box) for box in memory.in_time(order[:1]))
        if limits.eta < 1 and above > scores.dtype.type(0.5):
            above = above * scores.dtype.type(limits.eta)
        order = order[1:]
        if len(order) and len(chosen) < limits.most:
            order = order[~(overlap(chosen[-1], order) > above)]
    places = np.array(chosen, np.intp)
    return places, scores[places]


def _decayed(
    order: NDArray[np.intp], scores: NDArray[Any], limits: Limits, overlap: Overlaps
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Select with scores that decay by how much a box overlaps each selected one."""
    one = scores.dtype.type
    left = scores[order]
    chosen: list[int] = []
    kept: list[Any] = []
    while len(order) and len(chosen) < limits.most:
        for at in memory.in_time([int(left.argmax())]):
            chosen.append(int(order[at]))
            kept.append(left[at])
            order, left = np.delete(order, at), np.delete(left, at)
        found = overlap(chosen[-1], order)
        left = left * np.exp(one(-0.5) * found * found / one(limits.sigma))
        stays = limits.enough(left)
        if limits.cut:
            stays &= ~(found > one(limits.overlap))
        order, left = order[stays], left[stays]
    return np.array(chosen, np.intp), np.array(kept, scores.dtype)
