"""Fake implementations that answer like our tables, except for given differences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from specgate.conform import campaign
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.dialects.protocols import Backend
from specgate.oracles.protocol import Reply
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest


def backend(**methods: Callable[..., Any]) -> Backend:
    """Return a backend with these methods."""
    result = Backend()
    for name, method in methods.items():
        setattr(result, name, method)
    return result


def put_in_place(monkeypatch: pytest.MonkeyPatch, opening: Callable[[str, str], Any]) -> None:
    """Make campaigns use the oracle that `opening` returns, at every level."""
    monkeypatch.setattr(campaign, "capability", lambda dialect, _: backend(oracle=partial(opening, dialect)))
    monkeypatch.setattr(campaign, "package", lambda _: backend(askable=lambda levels: (list(levels), [])))


class Fake:
    """Answer from `basis` of our own tables.

    `differs` may replace the reply, by implementation and descriptor.
    """

    def __init__(
        self,
        dialect: str,
        level: str,
        differs: Callable[[str, Descriptor], Reply | None] = lambda *_: None,
        names: Sequence[str] = ("fake",),
        basis: Any = "observed",
    ) -> None:
        self.dialect = dialect
        self.level = level
        self.versions = dict.fromkeys(names, "1.0")
        self.differs = differs
        self.basis = basis
        self.closed = False

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        assert not self.closed
        return [{name: self._one(name, d) for name in self.versions} for d in descriptors]

    def _one(self, name: str, descriptor: Descriptor) -> Reply:
        reply = self.differs(name, descriptor)
        if reply is not None:
            return reply
        accepted = check_at(descriptor, self.level, self.basis).accepted
        return Reply("accepted") if accepted else Reply("rejected", "HRESULT 0x80070057")

    def close(self) -> None:
        self.closed = True


def refuses_type(field: str, word: str) -> Callable[[str, Descriptor], Reply | None]:
    """A difference: one type of a field is rejected."""

    def differs(_name: str, descriptor: Descriptor) -> Reply | None:
        tensor = descriptor.fields.get(field)
        wrong = isinstance(tensor, TensorDesc) and tensor.type == word
        return Reply("rejected", "no such type") if wrong else None

    return differs
