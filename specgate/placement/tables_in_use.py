"""Which tables of the runtime are in use: the hash of what they say."""

from __future__ import annotations

import hashlib

from specgate.placement.lowering.store import lowering_tables
from specgate.placement.registrations import RUNTIME, runtime_tables

__all__ = ["hashes"]


def hashes() -> dict[str, str]:
    """Return the hash of what the runtime's tables say, those of registrations and of lowering together."""
    parts = f"{runtime_tables()['digest']} {lowering_tables()['digest']}"
    return {RUNTIME: hashlib.sha256(parts.encode()).hexdigest()}
