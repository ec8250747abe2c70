"""The cache of builds and compiled hosts, and required system tools.

The cache is outside the repository.
"""

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
_SHARED: Final = ("capability.h", "common.h", "device.h")  # included by the hosts
_DEBIAN_WINE: Final = "/usr/lib/wine/wine64"  # not on Debian's default PATH


@dataclass(frozen=True, slots=True)
class HostForm:
    """The build of one system's C host: sources, outputs and options."""

    compilers: tuple[str, ...]
    package: str
    targets: tuple[tuple[str, str, tuple[str, ...]], ...]


#: By the system of the builds that a host runs: (source, file, options).
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
    """A system program: its path if installed, and its package."""

    name: str
    package: str
    path: str | None

    @property
    def advice(self) -> str:
        """Return the installation advice for a missing tool."""
        if ON_WINDOWS:
            return f"{self.name} not found: install {self.package}"
        return f"{self.name} is not found: install the package {self.package} (apt-get install {self.package})"


def directory() -> Path:
    """Return the cache folder of the DirectML oracle; it may not exist.

    SPECGATE_CACHE changes its location.
    """
    chosen = os.environ.get("SPECGATE_CACHE")
    if chosen:
        base = Path(chosen)
    else:
        from platformdirs import user_cache_dir

        base = Path(user_cache_dir("specgate", appauthor=False))
    return base.absolute() / "oracles" / "directml"


def library(build: Build) -> Path:
    """Return the path of an installed build's library file."""
    return directory() / build.system / build.folder / ("libdirectml.so" if build.system == "linux" else "DirectML.dll")


def d3d12_directory() -> Path:
    """Return the folder of the D3D12 loader that Linux builds link to."""
    return directory() / "linux" / "d3d12"


@cache
def _stamp(system: System) -> str:
    form = HOSTS[system]
    return stamp(form.targets)


def stamp(targets: Sequence[tuple[str, str, tuple[str, ...]]]) -> str:
    """Return a hash of the sources and the options of `targets`."""
    digest = hashlib.sha256(repr(targets).encode())
    for name in (*_SHARED, *(name for sources, _, _ in targets for name in sources.split())):
        digest.update((_SOURCES / name).read_bytes())
    return digest.hexdigest()[:12]


def source(name: str) -> Path:
    """Return the path of one of the host's C sources."""
    return _SOURCES / name


def host_directory(system: System) -> Path:
    """Return the compiled host's folder; its name has a hash of the sources.

    A host of older sources therefore never runs.
    """
    return directory() / system / f"host-{_stamp(system)}"


def compiler(system: System) -> Tool:
    """Return the C compiler for a system's host."""
    form = HOSTS[system]
    path = next(filter(None, map(shutil.which, form.compilers)), None)
    return Tool(form.compilers[0], form.package, path)


def wine() -> Tool:
    """Return Wine, which is not needed on Windows."""
    text = shutil.which("wine64") or shutil.which("wine")
    if text is None and os.access(_DEBIAN_WINE, os.X_OK):
        text = _DEBIAN_WINE
    return Tool("wine64", "wine64", text)


def wine_prefix() -> Path:
    """Return the Wine prefix of our processes, separate from the user's."""
    return directory() / "wine"


def runtime_tools(system: System) -> list[Tool]:
    """Return the programs that builds of `system` need on this machine."""
    return [wine()] if system == "windows" and not ON_WINDOWS else []


def missing(build: Build) -> list[str]:
    """Return messages on missing requirements; empty if the build is ready."""
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
