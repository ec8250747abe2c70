"""Jobs that answer, wait, raise or kill their process; workers import this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def act(job: str) -> Any:
    """Run a job such as ``say 5``, ``wait 0.2 FILE``, ``die`` or ``raise text``."""
    word, _, rest = job.partition(" ")
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "wait":
        seconds, _, begun = rest.partition(" ")
        if begun:
            Path(begun).touch()
        time.sleep(float(seconds))
    if word == "die-beside":  # dies once, as if other processes used the memory, and succeeds alone
        if not Path(rest).exists():
            Path(rest).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "lived"
    if word == "die-after":
        path, go = map(Path, rest.split())
        path.touch()
        while not go.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "raise":
        raise ValueError(rest)
    if word == "strange":
        return lambda: None  # cannot be pickled
    if word == "log":  # number of calls
        name, number = rest.split()
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
        return number
    return rest


def prepare(folder: str) -> None:
    Path(folder, f"prepared-{os.getpid()}").touch()
