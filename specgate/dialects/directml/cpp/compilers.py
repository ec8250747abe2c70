"""C++ compilers on this machine, and programs compiled with them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Compiler:
    """An installed C++ compiler.

    command: its command line up to the arguments. windows: whether it targets Windows.
    """

    name: str
    command: tuple[str, ...]
    windows: bool = False

    @property
    def sanitizes(self) -> bool:
        """Return whether ASan and UBSan work, including their runtime libraries."""
        return not self.windows and "ziglang" not in self.command

    def run(self, arguments: Sequence[str]) -> None:
        """Run it; raise InputError with its first message on failure."""
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(f"{self.name} failed: {done.stderr.strip()[:2000]}")

    def program(self, folder: Path, sources: Sequence[Path], includes: Sequence[Path], flags: Sequence[str]) -> Path:
        """Compile C++ and C sources into a program in `folder`.

        The language follows the file suffix. The header is in `folder` too.
        """
        path = folder / ("program.exe" if self.windows else "program")
        within = [f"-I{each}" for each in (folder, *includes)]
        objects = []
        for source in sources:
            objects.append(str(folder / f"{source.name}.o"))
            language = ["-x", "c"] if source.suffix == ".c" else ["-std=c++17"]
            self.run([*language, *flags, *within, "-c", str(source), "-o", objects[-1]])
        self.run([*objects, "-o", str(path), *(["-static"] if self.windows else ["-ldl"])])
        return path


#: Command lines of compilers, by the name that an option selects. zig is clang as a Python package.
COMPILERS: Final = {
    "g++": ("g++",),
    "clang++": ("clang++",),
    "c++": ("c++",),
    "zig": (sys.executable, "-m", "ziglang", "c++"),
    "x86_64-w64-mingw32-g++": ("x86_64-w64-mingw32-g++",),
    "zig for Windows": (sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-windows-gnu"),
}
_FOR_WINDOWS: Final = frozenset({"x86_64-w64-mingw32-g++", "zig for Windows"})
_ON_WINDOWS: Final = os.name == "nt"


def compilers(*, windows: bool = _ON_WINDOWS) -> Iterator[Compiler]:
    """Yield the installed compilers, the preferred one first.

    windows: only those that target Windows; on Windows itself all of them do.
    """
    for name, command in COMPILERS.items():
        makes = _ON_WINDOWS or name in _FOR_WINDOWS
        if makes is windows and _is_installed(command):
            yield Compiler(name, command, windows=makes)


def _is_installed(command: tuple[str, ...]) -> bool:
    module = command[2] if "-m" in command else None
    return importlib.util.find_spec(module) is not None if module else shutil.which(command[0]) is not None
