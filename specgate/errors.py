"""The three errors that specgate raises; a rejection is a verdict, never an error."""

from __future__ import annotations

__all__ = ["Error", "InputError", "NoKernel", "NoTable"]


class Error(Exception):
    """Base of every error that specgate raises on purpose."""


class InputError(Error):
    """Unusable input: names the file, the place in it and what was expected (exit code 2 of the CLI)."""

    def __init__(self, message: str, *, file: str | None = None, place: str | None = None) -> None:
        self.message = message
        self.file = file
        self.place = place
        named = file.replace("\n", "\\n") if file else None  # a message's own lines are meant, a name's are not
        super().__init__(": ".join(part for part in (named, place, message) if part))


class NoTable(Error):
    """The operator has no table in that dialect: neither accepted nor rejected."""


class NoKernel(Error):
    """The operator has a table but no kernel, so it cannot be executed."""
