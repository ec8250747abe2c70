"""Ranges of releases: ``1.13..1.17``, ``1.18..``, ``..1.17``, ``1.20``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def bounds(text: str, order: Sequence[str]) -> tuple[int, int]:
    """Return the positions of a range's first and last release in `order`.

    A missing start or end means the first or last of all. Raises ValueError for an unknown release.
    """
    first, dots, last = text.partition("..")
    for end in (first, last):
        if end and end not in order:
            raise ValueError(f"unknown release {end!r:.40}; known here: {', '.join(order)}")
    if not dots:
        last = first
    numbers = (order.index(first) if first else 0, order.index(last) if last else len(order) - 1)
    if numbers[0] > numbers[1]:
        raise ValueError(f"expected the earlier release first, found {text!r:.40}")
    return numbers


def span(text: str | None, order: Sequence[str], full_span: tuple[int, int]) -> tuple[int, int]:
    """Return the positions of a range within `full_span`; None means `full_span`.

    Raises ValueError as `bounds` does.
    """
    if text is None:
        return full_span
    first, last = bounds(text, order)
    numbers = (max(first, full_span[0]), min(last, full_span[1]))
    if numbers[0] > numbers[1]:
        raise ValueError(f"the registrations of all releases of {text!r:.40} are unknown")
    return numbers
