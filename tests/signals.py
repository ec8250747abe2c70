"""Signals that a test's process handles, however the tests were started."""

from __future__ import annotations

import signal

__all__ = ["default_signals"]


def default_signals() -> None:
    """Reset signals to end this process.

    Background jobs of a shell ignore SIGINT, and those of nohup SIGHUP.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
