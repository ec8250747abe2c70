"""What every oracle answers, in any dialect: a word per implementation, and its values where it computed some."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy as np

    from specgate.descriptors.core import Descriptor

__all__ = ["Oracle", "Reply", "Values", "ValuesBackend"]


class Reply(NamedTuple):
    """What one implementation says to a descriptor.

    word: ``accepted``, ``rejected``, ``crashed`` (its process died), ``timeout``, ``no kernel`` (it takes the
    descriptor as valid and cannot run it) or ``not asked`` (it has no way to be asked this). detail: the reason in
    its own words, one short line.
    """

    word: str
    detail: str = ""

    @property
    def accepted(self) -> bool | None:
        """True or False where the word is a verdict of validity: a crash refuses; None where it is none."""
        known = {"accepted": True, "no kernel": True, "rejected": False, "crashed": False}
        return known.get(self.word)


class Values(NamedTuple):
    """What one implementation computed: arrays by output name, or None with the reason in `reply`."""

    arrays: Mapping[str, np.ndarray[Any, Any]] | None
    reply: Reply


class Oracle(Protocol):
    """One or more implementations of a dialect at one level; close it after use."""

    dialect: str
    level: str
    #: Every implementation asked, in the order to show them: name -> its version.
    versions: Mapping[str, str]

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return, for each descriptor, every implementation's reply by its name; raises nothing for a bad one."""

    def close(self) -> None:
        """End its processes."""


class ValuesBackend(Protocol):
    """What computes values, by the name of each implementation."""

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]], /) -> list[dict[str, Values]]:
        """Return, for each set of arrays, every implementation's outputs."""

    def close(self) -> None:
        """End its processes."""
