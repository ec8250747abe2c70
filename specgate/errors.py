"""The three exceptions that specgate raises.

A rejection is a verdict, not an exception.
"""

from __future__ import annotations


class Error(Exception):
    """Base class of the errors that specgate raises on purpose."""


class InputError(Error):
    """Unusable input; the command line exits with code 2.

    The message names the file, the position in it and what was expected.
    """

    def __init__(self, message: str, *, file: str | None = None, place: str | None = None) -> None:
        self.message = message
        self.file = file
        self.place = place
        file_name = file.replace("\n", "\\n") if file else None  # only line breaks of the message itself are intended
        super().__init__(": ".join(part for part in (file_name, place, message) if part))


class NoTable(Error):
    """The operator has no table in this dialect, so it cannot be checked."""


class NoKernel(Error):
    """The operator has a table but no kernel, so it cannot be executed."""
