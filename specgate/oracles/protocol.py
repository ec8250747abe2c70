"""The protocol of oracles: replies and computed values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import numpy as np

    from specgate.descriptors.core import Descriptor


class Reply(NamedTuple):
    """The reply of one implementation to a descriptor.

    word: ``accepted``, ``rejected``, ``crashed`` (its process died), ``timeout``, ``no kernel`` (valid, but it cannot
    run the descriptor) or ``not asked`` (it cannot be asked). detail: the implementation's own reason, one short
    line.
    """

    word: str
    detail: str = ""

    @property
    def accepted(self) -> bool | None:
        """True or False for a verdict; None for other words.

        A crash counts as a rejection.
        """
        answers = {"accepted": True, "no kernel": True, "rejected": False, "crashed": False}
        return answers.get(self.word)


class Values(NamedTuple):
    """The values that one implementation computed.

    Arrays by output name, or None with the reason in `reply`.
    """

    arrays: Mapping[str, np.ndarray[Any, Any]] | None
    reply: Reply


class Oracle(Protocol):
    """One or more implementations of a dialect at one level.

    Close it after use.
    """

    dialect: str
    level: str
    #: The implementations in display order: name -> version.
    versions: Mapping[str, str]

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return for each descriptor the replies by implementation.

        Does not raise for an invalid descriptor.
        """

    def close(self) -> None:
        """End the processes."""


class ValuesBackend(Protocol):
    """Computes values with one or more implementations."""

    def compute_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]], /) -> list[dict[str, Values]]:
        """Return for each set of arrays the outputs by implementation."""

    def close(self) -> None:
        """End the processes."""
