"""Results of jobs that no worker answered.

Separate from the pool, so that runs with a single process do not import it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from specgate.errors import InputError

__all__ = ["Lost", "PoolClosed"]


@dataclass(frozen=True)
class Lost:
    """A job without an answer: its worker died, or it raised `error`."""

    reason: str
    error: Exception | None = field(default=None, compare=False)


class PoolClosed(InputError):
    """All workers are gone; the remaining jobs have no answer."""
