"""Builds of ONNX Runtime with DirectML, and their installation."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.descriptors.core import format_value
from specgate.dialects.directml.oracle import builds, values_environment
from specgate.dialects.directml.oracle.builds import Wheel, find_builds
from specgate.dialects.directml.oracle.install import COMPILE, download_wheel, extract, run_program, temporary_folder
from specgate.dialects.directml.oracle.values_environment import install_values
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specgate.dialects.directml.oracle.values_environment import WineEnvironment

#: The package of these releases.
PACKAGE: Final = "onnxruntime-directml"


@dataclass(frozen=True, slots=True)
class Runtime:
    """One build.

    library: a glob of the library's path in the wheel. level: feature level of the DirectML in the package.
    """

    release: str
    wheel: Wheel
    library: str
    level: str

    @property
    def title(self) -> str:
        """The name of the build in messages."""
        return f"{PACKAGE} {self.release} ({self.wheel.package} {self.wheel.version})"


#: Before 1.20, the Python extension contains the runtime and does not export it. For 1.18.0, another package also
#: contains it as a library.
RUNTIMES: Final[tuple[Runtime, ...]] = (
    Runtime("1.24.4", find_builds("6.4", "windows")[0].wheel, "*/capi/onnxruntime.dll", "6.4"),
    Runtime(
        "1.20.1",
        Wheel(
            PACKAGE, "1.20.1", "3.11", ("win_amd64",),
            "c7861057ad4caa64186c910efb3b54c1f575cd0e64732509c9bd927d2d20187b",
        ),
        "*/capi/onnxruntime.dll",
        "6.4",
    ),
    Runtime(
        "1.18.0",
        Wheel(
            "onnxruntime-genai-directml", "0.3.0", "3.11", ("win_amd64",),
            "69fc91f361a1693e90e6942ce1e6ac6d13be83a4d9e3e7b968d48cd4cd58efcd",
        ),
        "*/onnxruntime.dll",
        "6.3",
    ),
)  # fmt: skip
NEWEST: Final = RUNTIMES[0].release
#: Levels whose DirectML works with these builds; the process crashes with 2.1 and 3.1.
LEVELS: Final = ("5.0", "5.1", "5.2", "6.1", "6.2", "6.3", "6.4")


def find_runtime(release: str) -> Runtime:
    """Return the build of a release; raise InputError with the known ones."""
    for runtime in RUNTIMES:
        if runtime.release == release:
            return runtime
    available = " and ".join(runtime.release for runtime in RUNTIMES)
    raise InputError(f"no build of {PACKAGE} {format_value(release)} is available; there are {available}")


_HOST: Final = "placement.exe"
_SOURCES: Final = tuple(Path(__file__).resolve().parent / "host" / name for name in ("placement.c", "images.h"))
_DXCORE: Final = "DXCore.dll"
_LIBRARY: Final = "onnxruntime.dll"


class InstalledHost(NamedTuple):
    """The environment, host program and libraries that a process needs.

    The libraries are the runtime's and DirectML's.
    """

    place: WineEnvironment
    host: Path
    runtime: Path
    directml: Path


@dataclass(frozen=True, slots=True)
class RuntimeStatus:
    """A build's missing parts, and its available DirectML levels."""

    runtime: Runtime
    missing: tuple[str, ...]
    levels: tuple[str, ...]


def install_command(release: str, levels: Sequence[str] = ()) -> str:
    """Return the command that installs a release with DirectML levels."""
    release_option = "" if release == NEWEST else f" --release {release}"
    return f"specgate oracle install {PACKAGE}{release_option}" + (f" --levels {','.join(levels)}" if levels else "")


def status() -> list[RuntimeStatus]:
    """Return the status of every known build on this machine."""
    matching_status = []
    for runtime in RUNTIMES:
        usable = tuple(level for level in LEVELS if not missing(runtime, level))
        matching_status.append(RuntimeStatus(runtime, tuple(missing(runtime, runtime.level)), usable))
    return matching_status


def install_runtime(
    release: str = NEWEST, levels: Sequence[str] = (), *, progress: Callable[[str], object] = print
) -> None:
    """Install a release with its own DirectML and other levels, if missing.

    progress: called with one line of text at a time.
    Raises InputError for an unknown release or level, for a missing program (with its package), and for a failed
    download.
    """
    runtime = find_runtime(release)
    for level in levels:
        check_level(level)
    install_values([runtime.level, *levels], progress=progress)
    place = values_environment.find_place()
    if place is None:
        raise InputError("DirectML cannot be executed here")
    _install_host(place, progress)
    library = _library(place, runtime)
    if library.is_file():
        progress(f"{runtime.title}: already installed")
        return
    with download_wheel(runtime.wheel, progress) as wheel, temporary_folder(library.parent) as path:
        extract(wheel, runtime.library, path / library.name)
    progress(f"{runtime.title}: installed")


def check_level(level: str) -> None:
    """Raise InputError for a level that does not work with the builds."""
    if level not in LEVELS:
        raise InputError(f"expected the level of an installed DirectML, one of {', '.join(LEVELS)}, found {level}")


def installed_host(release: str, level: str | None) -> InstalledHost:
    """Return the files of an installed release with a DirectML level.

    Raises InputError, with the install command, if they are missing.
    """
    runtime = find_runtime(release)
    text = level or runtime.level
    check_level(text)
    missing_items = missing(runtime, text)
    place = values_environment.find_place()
    if missing_items or place is None:
        hint = install_command(release, [] if text == runtime.level else [text])
        raise InputError(f"{PACKAGE} {release} is not available: {'; '.join(missing_items)}; try {hint}")
    return InstalledHost(place, _host(place), _library(place, runtime), place.library(text))


def missing(runtime: Runtime, level: str) -> list[str]:
    """Return texts about the missing parts of a build, empty if complete."""
    missing_items = values_environment.missing_values(level)
    place = values_environment.find_place()
    if place is not None:
        if not _library(place, runtime).is_file():
            missing_items.append("its library is missing")
        if not all((_host(place).parent / name).is_file() for name in (_HOST, _DXCORE)):
            missing_items.append("its host program is not built")
    return missing_items


def _library(place: WineEnvironment, runtime: Runtime) -> Path:
    return place.folder / "onnxruntime" / runtime.release / _LIBRARY


def _host(place: WineEnvironment) -> Path:
    return place.folder / f"placement-{_hash_host_sources()}" / _HOST


@cache
def _hash_host_sources() -> str:
    """Return a hash of the sources, so that a stale host is never run."""
    sources = b"".join(path.read_bytes() for path in _SOURCES)
    return hashlib.sha256(sources + builds.hash_sources(values_environment.HOST).encode()).hexdigest()[:12]


def _install_host(place: WineEnvironment, progress: Callable[[str], object]) -> None:
    target = _host(place)
    if target.parent.is_dir():
        return
    compiler = builds.compiler("windows").path or ""
    progress(f"building the host for placement with {Path(compiler).name}")
    with temporary_folder(target.parent) as path:
        include = f"-I{builds.source('common.h').parent}"
        command = [compiler, *COMPILE, include, "-o", str(path / _HOST), str(_SOURCES[0]), "-static"]
        run_program(command, "compiling")
        shutil.copyfile(place.host / _DXCORE, path / _DXCORE)
