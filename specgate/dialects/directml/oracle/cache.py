"""Where downloaded builds and compiled hosts lie, outside the repository, and which tools of the system they need."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.oracle.builds import D3D12_FILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.directml.oracle.builds import Build, System

__all__ = ["HOSTS", "HostForm", "Tool", "directory", "host_directory", "library", "missing", "runtime_tools", "wine"]

ON_WINDOWS: Final = sys.platform == "win32"
_SOURCES: Final = Path(__file__).resolve().parent / "host"
_SHARED: Final = ("capability.h", "common.h", "device.h")  # which hosts include
_DEBIAN_WINE: Final = "/usr/lib/wine/wine64"  # Debian's package does not put it on the path


@dataclass(frozen=True, slots=True)
class HostForm:
    """How the C host for one system is built: source files, the files made of them, further options."""

    compilers: tuple[str, ...]
    package: str
    targets: tuple[tuple[str, str, tuple[str, ...]], ...]


#: By the system of the builds that a host serves: (source, file, options).
HOSTS: Final[dict[System, HostForm]] = {
    "linux": HostForm(
        ("cc", "gcc", "clang"),
        "gcc",
        (
            ("host.c", "host", ("-ldl",)),
            ("dxcore.c", "libdxcore.so", ("-shared", "-fPIC", "-Wl,-soname,libdxcore.so")),
        ),
    ),
    "windows": HostForm(
        ("gcc", "clang") if ON_WINDOWS else ("x86_64-w64-mingw32-gcc",),
        "mingw-w64" if ON_WINDOWS else "gcc-mingw-w64-x86-64",
        (("host.c", "host.exe", ("-static",)), ("dxcore.c", "DXCore.dll", ("-shared", "-static"))),
    ),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of the system: its path where it is found, and the package that has it."""

    name: str
    package: str
    path: str | None

    @property
    def advice(self) -> str:
        """What to do about a missing one, for messages."""
        if ON_WINDOWS:
            return f"{self.name} is not found: install {self.package}"
        return f"{self.name} is not found: install the package {self.package} (apt-get install {self.package})"


def directory() -> Path:
    """Return the folder of the DirectML oracle in the cache, which need not exist; SPECGATE_CACHE moves it."""
    chosen = os.environ.get("SPECGATE_CACHE")
    if chosen:
        base = Path(chosen)
    else:
        from platformdirs import user_cache_dir

        base = Path(user_cache_dir("specgate", appauthor=False))
    return base.absolute() / "oracles" / "directml"


def library(build: Build) -> Path:
    """Return where a build's library file lies once it is installed."""
    return directory() / build.system / build.folder / ("libdirectml.so" if build.system == "linux" else "DirectML.dll")


def d3d12_directory() -> Path:
    """Return the folder of the D3D12 loader that Linux builds are linked against."""
    return directory() / "linux" / "d3d12"


@cache
def _stamp(system: System) -> str:
    form = HOSTS[system]
    return stamp(form.targets)


def stamp(targets: Sequence[tuple[str, str, tuple[str, ...]]]) -> str:
    """Return a word that changes with the sources that `targets` are made of, and with how."""
    digest = hashlib.sha256(repr(targets).encode())
    for name in (*_SHARED, *(name for sources, _, _ in targets for name in sources.split())):
        digest.update((_SOURCES / name).read_bytes())
    return digest.hexdigest()[:12]


def source(name: str) -> Path:
    """Return a C source of the host."""
    return _SOURCES / name


def host_directory(system: System) -> Path:
    """Return the folder of the compiled host; its name changes with the sources, so that a stale one is never run."""
    return directory() / system / f"host-{_stamp(system)}"


def compiler(system: System) -> Tool:
    """Return the C compiler for a system's host."""
    form = HOSTS[system]
    path = next(filter(None, map(shutil.which, form.compilers)), None)
    return Tool(form.compilers[0], form.package, path)


def wine() -> Tool:
    """Return the program that runs Windows programs here; on Windows none is needed."""
    text = shutil.which("wine64") or shutil.which("wine")
    if text is None and os.access(_DEBIAN_WINE, os.X_OK):
        text = _DEBIAN_WINE
    return Tool("wine64", "wine64", text)


def wine_prefix() -> Path:
    """Return Wine's folder for our processes, apart from the user's own."""
    return directory() / "wine"


def runtime_tools(system: System) -> list[Tool]:
    """Return the programs without which builds of `system` cannot be asked on this machine."""
    return [wine()] if system == "windows" and not ON_WINDOWS else []


def missing(build: Build) -> list[str]:
    """Return what keeps a build from being asked, in words; nothing when it is ready."""
    if build.system == "linux" and not sys.platform.startswith("linux"):
        return ["Linux builds run on Linux only"]
    texts = [tool.advice for tool in runtime_tools(build.system) if tool.path is None]
    if not library(build).is_file():
        texts.append("its library is not downloaded")
    if build.system == "linux" and not all((d3d12_directory() / name).is_file() for name in D3D12_FILES):
        texts.append("the D3D12 loader is not downloaded")
    host = host_directory(build.system)
    if not all((host / target).is_file() for _, target, _ in HOSTS[build.system].targets):
        texts.append("its host is not built")
    return texts
