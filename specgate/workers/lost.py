"""What comes of jobs that no worker answers; apart from the pool, which one process alone does not load."""

from __future__ import annotations

from dataclasses import dataclass, field

from specgate.errors import InputError

__all__ = ["Lost", "PoolClosed"]


@dataclass(frozen=True)
class Lost:
    """A job without an answer, and why: its worker died, or what it raised, which is the `error`."""

    reason: str
    error: Exception | None = field(default=None, compare=False)


class PoolClosed(InputError):
    """There are no workers any more: the answers so far stand, the other jobs have none."""
