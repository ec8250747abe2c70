"""Why a node does not become operators, as exceptions inside this package; `lower` makes a `NotLowered` of each."""

from __future__ import annotations

__all__ = ["Open", "Refused"]


class Refused(Exception):
    """The provider's own checks fail before it asks DirectML. rule: the id of the check; the message says why."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule


class Open(Exception):
    """Something that decides is not known: a size, or the elements of an input."""
