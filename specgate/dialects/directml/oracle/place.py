"""Environments for DirectML's values: Wine 10 and software Vulkan.

They are this system, or a Debian root in the cache. All files of a process are in one folder: the host, the builds'
libraries and Wine's prefix.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from specgate.dialects.directml.oracle import cache
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.errors import InputError

__all__ = [
    "DEBIAN",
    "VALUE_LEVELS",
    "WineEnvironment",
    "debian_root",
    "find_place",
    "missing_values",
    "native_place",
    "root_place",
]

#: Levels whose Windows build runs on Wine. The build of 3.1 does not, as its shaders are packed with LZMS, which Wine
#: cannot unpack. Those of 2.1 are packed with MSZIP, which a library of this package unpacks.
VALUE_LEVELS: Final = ("2.1", "5.0", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4")
_PACKED: Final = "2.1"
#: The first suitable Debian release, and the packages that compute values.
DEBIAN: Final = ("trixie", ("wine64", "mesa-vulkan-drivers", "xvfb"))
#: Sources, file, options; the stub of DXCore replaces Wine's.
HOST: Final = (
    ("values.c", "values.exe", ("-static",)),
    ("dxcore.c", "DXCore.dll", ("-shared", "-static")),
    ("cabinet.c cabinet.def", "Cabinet.dll", ("-shared", "-static")),
)
LAUNCHER: Final = "launch.sh"
_DRIVERS: Final = "usr/share/vulkan/icd.d"
_ISOLATED: Final = ("--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc")
_WINESERVERS: Final = ("/usr/lib/wine/wineserver", "/usr/bin/wineserver")


@dataclass(frozen=True, slots=True)
class WineEnvironment:
    """A system in which processes run.

    folder: the folder of their files as this system sees it; seen: the same folder as the processes see it. root: a
    separate root file system, None for this system. wine: the path of Wine as the processes see it.
    """

    folder: Path
    seen: str
    root: Path | None
    wine: str

    @property
    def host(self) -> Path:
        """Return the compiled host's folder; its name has a hash of the sources."""
        return self.folder / f"host-{cache.stamp(HOST)}"

    @property
    def prefix(self) -> Path:
        """Return Wine's prefix."""
        return self.folder / "wine"

    def library(self, level: str) -> Path:
        """Return the path of a build's library."""
        return self.folder / "builds" / find_builds(level, "windows")[0].folder / "DirectML.dll"

    def inside(self, path: Path) -> str:
        """Return a path in `folder` as the processes see it."""
        return f"{self.seen}/{path.relative_to(self.folder).as_posix()}"

    def command(self, *words: str) -> list[str]:
        """Return the command that runs `words` there, with a display."""
        launched = ["/bin/sh", self.inside(self.host / LAUNCHER), *words]
        if self.root is None:
            return launched
        return ["unshare", *_ISOLATED, f"--root={self.root}", "--wd=/", *launched]

    def environment(self, prefix: Path | None = None) -> dict[str, str]:
        """Return the environment: software driver, no debugger, no messages."""
        kept = {k: v for k, v in os.environ.items() if k in {"HOME", "PATH", "TMPDIR", "USER", "XDG_RUNTIME_DIR"}}
        own = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "SPECGATE_OWN_TMP": "1"}
        drivers = ":".join(f"/{path}" for path in _drivers(self.root or Path("/")))
        return {
            **(kept if self.root is None else own),
            "WINEPREFIX": self.inside(prefix or self.prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe,winedbg.exe=;dxcore=n;cabinet=n,b",
            "VK_DRIVER_FILES": drivers,
            "VK_ICD_FILENAMES": drivers,  # for loaders before 1.3.207
        }

    def values_command(self, level: str) -> list[str]:
        """Return the command of the host for a build."""
        libraries = [self.library(level), *([self.host / "Cabinet.dll"] if level == _PACKED else [])]
        as_windows = ["Z:" + self.inside(path).replace("/", "\\") for path in libraries]
        return self.command(self.wine, self.inside(self.host / "values.exe"), *as_windows)

    def wineserver(self) -> str:
        """Return the program that exits after Wine has written its registry."""
        top = self.root or Path("/")
        return next((name for name in _WINESERVERS if (top / name[1:]).exists()), "wineserver")


def _drivers(top: Path) -> list[str]:
    return sorted(path.relative_to(top).as_posix() for path in (top / _DRIVERS).glob("lvp_icd*.json"))


def debian_root() -> Path:
    """Return the path of the Debian root, which may not exist."""
    return cache.directory() / "values" / DEBIAN[0]


def root_place() -> WineEnvironment:
    """Return the environment in the Debian root, which may not exist."""
    root = debian_root()
    return WineEnvironment(root / "specgate", "/specgate", root, "/usr/lib/wine/wine64")


def native_place() -> WineEnvironment:
    """Return the environment of this system, whose packages may be missing."""
    folder = cache.directory() / "values" / "native"
    return WineEnvironment(folder, folder.as_posix(), None, cache.wine().path or "wine64")


def missing_packages() -> list[str]:
    """Return the missing packages of this system.

    Outdated versions are not detected.
    """
    entries = {
        "wine64": cache.wine().path is not None,
        "mesa-vulkan-drivers": bool(_drivers(Path("/"))),
        "xvfb": shutil.which("Xvfb") is not None,
    }
    return [name for name in DEBIAN[1] if not entries[name]]


def find_place() -> WineEnvironment | None:
    """Return the environment that is set up, the Debian root first, or None."""
    places = (root_place(), native_place())
    return next((place for place in places if place.prefix.is_dir()), None)


def missing_values(level: str) -> list[str]:
    """Return missing requirements for a level's values; empty if ready."""
    if level not in VALUE_LEVELS:
        find_builds(level)  # raises if the level has no build
        return [f"values are computed with the builds of {', '.join(VALUE_LEVELS)} only"]
    if not sys.platform.startswith("linux"):
        return ["values are computed on Linux only"]
    place = find_place()
    if place is None:
        return ["neither Wine 10 nor a Debian root with Wine 10 is installed"]
    absent = []
    if place.root is None and missing_packages():
        absent.append(f"missing packages: {' '.join(missing_packages())}")
    if place.root is not None and os.geteuid() != 0:
        absent.append("the Debian root requires the root user")
    if not place.library(level).is_file():
        absent.append("its library is missing")
    if not all((place.host / name).is_file() for name in (LAUNCHER, *(target for _, target, _ in HOST))):
        absent.append("its host program is not built")
    return absent


def ready_place(level: str) -> WineEnvironment:
    """Return the environment for a level's values.

    Raises InputError with the command that sets it up.
    """
    absent = missing_values(level)
    place = find_place()
    if absent or place is None:
        hint = f"; try {values_command([level])}" if level in VALUE_LEVELS else ""
        raise InputError(f"values of DirectML {level} cannot be computed: {'; '.join(absent)}{hint}")
    return place


def value_status(level: str) -> str:
    """Return a level's state: computes values here, or how to install it."""
    if level not in VALUE_LEVELS:
        return "no values"
    return f"values missing: {values_command([level])}" if missing_values(level) else "values installed"


def values_command(texts: list[str]) -> str:
    """Return the command that installs the values of these levels."""
    return f"specgate oracle install directml --values --levels {','.join(texts)}"
