"""What a process of the tests does at a signal, however the tests were started."""

from __future__ import annotations

import signal

__all__ = ["default_signals"]


def default_signals() -> None:
    """Let signals end this process: jobs in a shell's background ignore SIGINT, and those of nohup SIGHUP."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
