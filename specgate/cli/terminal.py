"""How wide the terminal is, and help that is as wide, without `shutil`, which loads what a command has no use for."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import Any

__all__ = ["Help", "columns"]


def columns(otherwise: int) -> int:
    """Return the columns of the terminal, as `shutil.get_terminal_size` does."""
    with suppress(KeyError, ValueError):
        if (stated := int(os.environ["COLUMNS"])) > 0:
            return stated
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or otherwise  # type: ignore[union-attr]
    return otherwise


class Help(argparse.HelpFormatter):
    """Formats help; argparse makes one for every option, and each would ask `shutil`."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, width=columns(80) - 2, **more)
