"""Available DirectML builds, and the cache of builds and compiled hosts."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from specgate.descriptors.core import format_value
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

ON_WINDOWS: Final = sys.platform == "win32"
_SOURCES: Final = Path(__file__).resolve().parent / "host"
_SHARED_HEADERS: Final = ("capability.h", "common.h", "device.h")  # included by the hosts
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
    setting = os.environ.get("SPECGATE_CACHE")
    if setting:
        base = Path(setting)
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
def _host_stamp(system: System) -> str:
    form = HOSTS[system]
    return hash_sources(form.targets)


def hash_sources(targets: Sequence[tuple[str, str, tuple[str, ...]]]) -> str:
    """Return a hash of the sources and the options of `targets`."""
    digest = hashlib.sha256(repr(targets).encode())
    for name in (*_SHARED_HEADERS, *(name for sources, _, _ in targets for name in sources.split())):
        digest.update((_SOURCES / name).read_bytes())
    return digest.hexdigest()[:12]


def source(name: str) -> Path:
    """Return the path of one of the host's C sources."""
    return _SOURCES / name


def host_directory(system: System) -> Path:
    """Return the compiled host's folder; its name has a hash of the sources.

    A host of older sources therefore never runs.
    """
    return directory() / system / f"host-{_host_stamp(system)}"


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
        texts.append("the library is not downloaded")
    if build.system == "linux" and not all((d3d12_directory() / name).is_file() for name in D3D12_FILES):
        texts.append("the D3D12 loader is not downloaded")
    host = host_directory(build.system)
    if not all((host / target).is_file() for _, target, _ in HOSTS[build.system].targets):
        texts.append("the host is not built")
    return texts


System = Literal["linux", "windows"]


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel on the package index.

    python, platform: its compatibility tags. sha256: of the file.
    """

    package: str
    version: str
    python: str
    platforms: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Build:
    """One DirectML build.

    library: the file's path in the wheel as a glob. reports: the level that the device reports, if it differs. folder:
    its cache folder below the folder of its system.
    """

    level: str
    system: System
    wheel: Wheel
    library: str
    reports: str
    folder: str

    @property
    def title(self) -> str:
        """Return its name for messages.

        For example ``6.2 linux (torch-directml 0.2.5.dev240914)``.
        """
        return f"{self.level} {self.system} ({self.wheel.package} {self.wheel.version})"


_NATIVE: Final[System] = "linux" if sys.platform.startswith("linux") else "windows"
_LINUX: Final = ("manylinux2010_x86_64", "manylinux1_x86_64")
_WINDOWS: Final = ("win_amd64",)


def _linux(level: str, package: str, version: str, python: str, sha256: str, *, reports: str = "") -> Build:
    wheel = Wheel(package, version, python, _LINUX, sha256)
    return Build(level, "linux", wheel, "*/libdirectml*.so*", reports or level, level)


def _windows(
    level: str, package: str, version: str, python: str, sha256: str, *, reports: str = "", folder: str = ""
) -> Build:
    wheel = Wheel(package, version, python, _WINDOWS, sha256)
    return Build(level, "windows", wheel, "*/DirectML*.dll", reports or level, folder or level)


_TENSORFLOW: Final = "tensorflow-directml"
_TORCH: Final = "torch-directml"
_ORT: Final = "onnxruntime-directml"

#: Every known build, by level.
BUILDS: Final[tuple[Build, ...]] = (
    _linux(
        "2.1", _TENSORFLOW, "1.15.3.dev200619", "3.7",
        "976888e35e9d2a2b8b731ac4b9cf6c4012c3767198a03cd6f44888fa0c787072",
    ),
    _windows(
        "2.1", _TENSORFLOW, "1.15.3.dev200619", "3.7",
        "e05e8037a063b4c902c7562b3413d62a47a617ad0ab97b9b89b6840ca8e72193",
    ),
    _linux(
        "3.0", _TENSORFLOW, "1.15.4.dev201216", "3.7",
        "37427203ec378c31f2ddc8dfa42d246ff3ee44c2ca5244c67eefda55068cc413",
    ),
    _linux(
        "3.1", _TENSORFLOW, "1.15.5.dev210422", "3.7",
        "55e6cd2c9df84a5c6c9fcf894ec16a3ed483da045f3151567f78aa0eb514fbc6",
    ),
    _windows(
        "3.1", _ORT, "1.9.0", "3.7",
        "b344ebd04d1113755168cdd603dacdaac5d93e58ff76d6613aa3218a768f38b8",
    ),
    _linux(
        "4.1", _TENSORFLOW, "1.15.5", "3.7",
        "44225671d496b4d03ac3b9e88fb3769b0058fccde2140ffa0c49d5985c1f4cbd",
    ),
    _linux(
        "5.0", _TENSORFLOW, "1.15.6", "3.7",
        "ed5e9abd5aa6c1b96b7b9483e7d54bbe20cf62d3c949747984a2081b58c10c10",
    ),
    _windows(  # older caches have the build of 5.1 under "5.0"; both report the same level
        "5.0", _ORT, "1.11.1", "3.7",
        "1960465dcc13edf941639847b16aedf55b96c0f91f9a28a7b7fa2aaff4add4d2", folder="5.0-1.8.0",
    ),
    _linux(  # has the operators of 5.1, but reports 5.0
        "5.1", _TENSORFLOW, "1.15.8", "3.7",
        "6a3eb3727fa24dfb3220072f230e86bed6a15d103d853aac11a5971cdccd7baa", reports="5.0",
    ),
    _windows(  # same as above
        "5.1", _ORT, "1.12.1", "3.7",
        "e308aacb630e91bf4b867a35a63a0dbc19326bffd2cd9642cebb55c4f579b839", reports="5.0",
    ),
    _linux(
        "5.2", _TORCH, "0.2.0.dev230426", "3.8",
        "7e9fba00a680bfdefd062a12a6bacfb896862543b0c91606143dfb9d0259c5af",
    ),
    _windows(
        "5.2", _ORT, "1.14.1", "3.7",
        "a4fdbc24ec46133e9d63200d22953374177e140d8bbee403d560b51dd0736db4",
    ),
    _windows(
        "6.1", _ORT, "1.16.3", "3.11",
        "62ff6a437fb9ade5179fb7a65414daa5a6872551d1e9ea35e37a412481725931",
    ),
    _linux(
        "6.2", _TORCH, "0.2.5.dev240914", "3.11",
        "6afb675585d30018c813e5ba203a3437073748919af8ab3e910092a0e0ec531f",
    ),
    _windows(
        "6.2", _ORT, "1.17.3", "3.11",
        "667a3ac9901554aa9bd89a58e05b4be5010eaccbdde93ef99640ccfa9f4ebfa1",
    ),
    _windows(
        "6.3", _ORT, "1.18.1", "3.11",
        "2275d4b65530c623a06696d884eea5c32805ad492d40cd700bc05abf9569c665",
    ),
    _windows(
        "6.4", _ORT, "1.24.4", "3.12",
        "f2ecb68b7b7b259d2ef3112ae760149f9b5a1e7c0fbb73d539da6250a648a614",
    ),
)  # fmt: skip

#: The wheel with the D3D12 loader libraries for all Linux builds, and those files.
D3D12_WHEEL: Final[Wheel] = next(b.wheel for b in BUILDS if (b.level, b.system) == ("6.2", "linux"))
D3D12_FILES: Final = ("libd3d12.so", "libd3d12core.so")


def levels() -> list[str]:
    """Return the levels that have a build, in order."""
    return list(dict.fromkeys(build.level for build in BUILDS))


def find_builds(level: str, system: System | None = None) -> list[Build]:
    """Return a level's builds, the ones that run without Wine first.

    Raises InputError with the available levels if no build exists.
    """
    builds = [b for b in BUILDS if b.level == level and system in {None, b.system}]
    if not builds:
        available = ", ".join(levels() if system is None else [b.level for b in BUILDS if b.system == system])
        description = "build" if system is None else f"{system} build"
        raise InputError(f"no {description} of DirectML at feature level {format_value(level)}; there are {available}")
    return sorted(builds, key=lambda build: build.system != _NATIVE)
