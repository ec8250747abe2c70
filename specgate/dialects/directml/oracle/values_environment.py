"""The environment that computes DirectML's values: Wine and Vulkan."""

from __future__ import annotations

import filecmp
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from specgate.dialects.directml.oracle import builds as directml_builds
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import (
    COMPILE,
    check_programs,
    install_libraries,
    run_program,
    temporary_folder,
)
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        return self.folder / f"host-{directml_builds.hash_sources(HOST)}"

    @property
    def prefix(self) -> Path:
        """Return Wine's prefix."""
        return self.folder / "wine"

    def library(self, level: str) -> Path:
        """Return the path of a build's library."""
        return self.folder / "builds" / find_builds(level, "windows")[0].folder / "DirectML.dll"

    def map_path(self, path: Path) -> str:
        """Return a path in `folder` as the processes see it."""
        return f"{self.seen}/{path.relative_to(self.folder).as_posix()}"

    def command(self, *words: str) -> list[str]:
        """Return the command that runs `words` there, with a display."""
        launched = ["/bin/sh", self.map_path(self.host / LAUNCHER), *words]
        if self.root is None:
            return launched
        return ["unshare", *_ISOLATED, f"--root={self.root}", "--wd=/", *launched]

    def environment(self, prefix: Path | None = None) -> dict[str, str]:
        """Return the environment: software driver, no debugger, no messages."""
        variables = {k: v for k, v in os.environ.items() if k in {"HOME", "PATH", "TMPDIR", "USER", "XDG_RUNTIME_DIR"}}
        overrides = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "SPECGATE_OWN_TMP": "1"}
        drivers = ":".join(f"/{path}" for path in _drivers(self.root or Path("/")))
        return {
            **(variables if self.root is None else overrides),
            "WINEPREFIX": self.map_path(prefix or self.prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe,winedbg.exe=;dxcore=n;cabinet=n,b",
            "VK_DRIVER_FILES": drivers,
            "VK_ICD_FILENAMES": drivers,  # for loaders before 1.3.207
        }

    def values_command(self, level: str) -> list[str]:
        """Return the command of the host for a build."""
        libraries = [self.library(level), *([self.host / "Cabinet.dll"] if level == _PACKED else [])]
        as_windows = ["Z:" + self.map_path(path).replace("/", "\\") for path in libraries]
        return self.command(self.wine, self.map_path(self.host / "values.exe"), *as_windows)

    def wineserver(self) -> str:
        """Return the program that exits after Wine has written its registry."""
        top = self.root or Path("/")
        return next((name for name in _WINESERVERS if (top / name[1:]).exists()), "wineserver")


def _drivers(top: Path) -> list[str]:
    return sorted(path.relative_to(top).as_posix() for path in (top / _DRIVERS).glob("lvp_icd*.json"))


def debian_root() -> Path:
    """Return the path of the Debian root, which may not exist."""
    return directml_builds.directory() / "values" / DEBIAN[0]


def root_place() -> WineEnvironment:
    """Return the environment in the Debian root, which may not exist."""
    root = debian_root()
    return WineEnvironment(root / "specgate", "/specgate", root, "/usr/lib/wine/wine64")


def native_place() -> WineEnvironment:
    """Return the environment of this system, whose packages may be missing."""
    folder = directml_builds.directory() / "values" / "native"
    return WineEnvironment(folder, folder.as_posix(), None, directml_builds.wine().path or "wine64")


def missing_packages() -> list[str]:
    """Return the missing packages of this system.

    Outdated versions are not detected.
    """
    entries = {
        "wine64": directml_builds.wine().path is not None,
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
    missing_items = []
    if place.root is None and missing_packages():
        missing_items.append(f"missing packages: {' '.join(missing_packages())}")
    if place.root is not None and os.geteuid() != 0:
        missing_items.append("the Debian root requires the root user")
    if not place.library(level).is_file():
        missing_items.append("its library is missing")
    if not all((place.host / name).is_file() for name in (LAUNCHER, *(target for _, target, _ in HOST))):
        missing_items.append("its host program is not built")
    return missing_items


def ready_place(level: str) -> WineEnvironment:
    """Return the environment for a level's values.

    Raises InputError with the command that sets it up.
    """
    missing_items = missing_values(level)
    place = find_place()
    if missing_items or place is None:
        hint = f"; try {values_command([level])}" if level in VALUE_LEVELS else ""
        raise InputError(f"values of DirectML {level} cannot be computed: {'; '.join(missing_items)}{hint}")
    return place


def value_status(level: str) -> str:
    """Return a level's state: computes values here, or how to install it."""
    if level not in VALUE_LEVELS:
        return "no values"
    return f"values missing: {values_command([level])}" if missing_values(level) else "values installed"


def values_command(texts: list[str]) -> str:
    """Return the command that installs the values of these levels."""
    return f"specgate oracle install directml --values --levels {','.join(texts)}"


_WINE: Final = 10  # the first version whose d3d12 writes the outputs
_DEBIAN: Final = 13


def install_values(result: Sequence[str] | Literal["all"], *, progress: Callable[[str], object] = print) -> None:
    """Read the hello; return an error message, "" if it is valid."""
    levels = list(VALUE_LEVELS) if result == "all" else list(result)
    for level in levels:
        if level not in VALUE_LEVELS:
            find_builds(level)
            raise InputError(f"no values of DirectML {level}; the builds of {', '.join(VALUE_LEVELS)} compute them")
    environment = find_place()
    method = choose_environment() if environment is None else "root" if environment.root else "native"
    check_programs({"windows"} if method == "native" else set())
    if directml_builds.compiler("windows").path is None:
        raise InputError(directml_builds.compiler("windows").advice)
    if environment is None:
        environment = _debian_root(progress) if method == "root" else native_place()
    _install_host(environment, progress)
    _install_builds(environment, levels, progress)
    _prepare_wine(environment, progress)


def choose_environment() -> Literal["native", "root"]:
    """Return the environment to set up: this system or a Debian root.

    Raises InputError with the missing programs if neither is possible.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise InputError(f"values are computed on Linux on x86_64 only, found {sys.platform} on {platform.machine()}")
    missing_tools = missing_packages()
    if not missing_tools and wine_version(directml_builds.wine().path or "") >= _WINE:
        return "native"
    if debian_version() >= _DEBIAN:
        packages = " ".join(missing_tools or ["wine64"])
        raise InputError(f"missing packages: apt-get install --no-install-recommends {packages}")
    if shutil.which("debootstrap") is None:
        raise InputError("debootstrap is not found: install the package debootstrap (apt-get install debootstrap)")
    if shutil.which("unshare") is None:
        raise InputError("unshare is not found: install the package util-linux (apt-get install util-linux)")
    if os.geteuid() != 0:
        raise InputError(f"making a Debian root requires root; or install Wine {_WINE}, Mesa's Vulkan drivers and Xvfb")
    return "root"


def debian_version() -> int:
    """Return the release number of this Debian; 0 for another system.

    Releases without a number, such as testing, are 0 too.
    """
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return 0
    number = release.get("VERSION_ID", "")
    return int(number) if release.get("ID") == "debian" and number.isdecimal() else 0


def wine_version(program: str) -> int:
    """Return a Wine's major version, 0 if it does not print one."""
    try:
        data = subprocess.run([program, "--version"], capture_output=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.match(rb"wine-(\d{1,4})\b", data)
    return int(match[1]) if match else 0


def _debian_root(progress: Callable[[str], object]) -> WineEnvironment:
    release, packages = DEBIAN
    progress(f"making a Debian root ({release}) with {', '.join(packages)}: about 300 MB to fetch, 1.5 GB on disk")
    with temporary_folder(debian_root()) as path:
        bootstrap = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, str(path)]
        # The mount namespace removes its mounts on exit.
        run_program(["unshare", "--mount", *bootstrap], "making a Debian root", _bare_environment())
        for archive in (path / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
    return root_place()


def _bare_environment() -> dict[str, str]:
    """Return an environment without locale, which the root does not have."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    return {**variables, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


def _install_host(environment: WineEnvironment, progress: Callable[[str], object]) -> None:
    if environment.host.is_dir():
        return
    compiler = directml_builds.compiler("windows").path or ""
    progress(f"building the host for values with {Path(compiler).name}")
    with temporary_folder(environment.host) as path:
        for sources, target, options in HOST:
            files = [str(directml_builds.source(name)) for name in sources.split()]
            run_program([compiler, *COMPILE, "-o", str(path / target), *files, *options], "compiling")
        shutil.copyfile(directml_builds.source(LAUNCHER), path / LAUNCHER)


def _install_builds(environment: WineEnvironment, levels: Sequence[str], progress: Callable[[str], object]) -> None:
    builds = [find_builds(level, "windows")[0] for level in levels]
    install_libraries(builds, progress)
    for build in builds:
        target = environment.library(build.level)
        if not target.is_file():
            with temporary_folder(target.parent) as path:
                shutil.copyfile(directml_builds.library(build), path / target.name)


def _prepare_wine(wine_place: WineEnvironment, progress: Callable[[str], object]) -> None:
    if wine_place.prefix.is_dir():
        return
    progress("preparing Wine's folder for values")
    with temporary_folder(wine_place.prefix) as path:
        script = f'"{wine_place.wine}" wineboot.exe --init && "{wine_place.wineserver()}" --wait'
        environment = wine_place.environment(path)
        run_program(wine_place.command("/bin/sh", "-c", script), "preparing Wine", environment)
        if not (path / "system.reg").is_file():
            raise InputError("Wine wrote no registry into its new folder", file=str(wine_place.prefix))
        if wine_place.root is not None:
            _share_copies(path, wine_place.root)


def _share_copies(prefix: Path, root: Path) -> None:
    """Hard-link Wine's copies of its libraries to the originals.

    Wine copies them to each prefix, which is 700 MB in Debian.
    """
    originals = {path.name: path for path in root.glob("usr/lib/*/wine/x86_64-windows/*")}
    for copy in (prefix / "drive_c/windows/system32").rglob("*"):
        original = originals.get(copy.name)
        if original is not None and copy.is_file() and filecmp.cmp(copy, original, shallow=False):
            copy.unlink()
            copy.hardlink_to(original)
