"""Set up the environment that computes DirectML's values.

It consists of this system's packages, or of a Debian 13 root made by debootstrap. Folders are created atomically; once
they exist, the network is not used.
"""

from __future__ import annotations

import filecmp
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from specgate.dialects.directml.oracle import cache, place
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import COMPILE, appearing, check_programs, install_libraries, run_program
from specgate.dialects.directml.oracle.place import DEBIAN, VALUE_LEVELS, WineEnvironment
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["install_values", "plan"]

_WINE: Final = 10  # the first version whose d3d12 writes the outputs
_DEBIAN: Final = 13


def install_values(result: Sequence[str] | Literal["all"], *, progress: Callable[[str], object] = print) -> None:
    """Read the hello; return an error message, "" if it is valid."""
    levels = list(VALUE_LEVELS) if result == "all" else list(result)
    for level in levels:
        if level not in VALUE_LEVELS:
            find_builds(level)
            raise InputError(f"no values of DirectML {level}; the builds of {', '.join(VALUE_LEVELS)} compute them")
    where = place.find_place()
    chosen = plan() if where is None else "root" if where.root else "native"
    check_programs({"windows"} if chosen == "native" else set())
    if cache.compiler("windows").path is None:
        raise InputError(cache.compiler("windows").advice)
    if where is None:
        where = _debian_root(progress) if chosen == "root" else place.native_place()
    _install_host(where, progress)
    _install_builds(where, levels, progress)
    _prepare_wine(where, progress)


def plan() -> Literal["native", "root"]:
    """Return the environment to set up: this system or a Debian root.

    Raises InputError with the missing programs if neither is possible.
    """
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise InputError(f"values are computed on Linux on x86_64 only, found {sys.platform} on {platform.machine()}")
    missing = place.missing_packages()
    if not missing and wine_version(cache.wine().path or "") >= _WINE:
        return "native"
    if debian_version() >= _DEBIAN:
        packages = " ".join(missing or ["wine64"])
        raise InputError(f"missing packages: apt-get install --no-install-recommends {packages}")
    if shutil.which("debootstrap") is None:
        raise InputError("debootstrap is not found: install the package debootstrap (apt-get install debootstrap)")
    if shutil.which("unshare") is None:
        raise InputError("unshare is not found: install the package util-linux (apt-get install util-linux)")
    if os.geteuid() != 0:
        raise InputError(f"making a Debian root needs root; or install Wine {_WINE}, Mesa's Vulkan drivers and Xvfb")
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
    with appearing(place.debian_root()) as path:
        bootstrap = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, str(path)]
        # The mount namespace removes its mounts on exit.
        run_program(["unshare", "--mount", *bootstrap], "making a Debian root", _bare_environment())
        for archive in (path / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
    return place.root_place()


def _bare_environment() -> dict[str, str]:
    """Return an environment without locale, which the root does not have."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    return {**kept, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


def _install_host(where: WineEnvironment, progress: Callable[[str], object]) -> None:
    if where.host.is_dir():
        return
    compiler = cache.compiler("windows").path or ""
    progress(f"building the host for values with {Path(compiler).name}")
    with appearing(where.host) as path:
        for sources, target, options in place.HOST:
            files = [str(cache.source(name)) for name in sources.split()]
            run_program([compiler, *COMPILE, "-o", str(path / target), *files, *options], "compiling")
        shutil.copyfile(cache.source(place.LAUNCHER), path / place.LAUNCHER)


def _install_builds(where: WineEnvironment, levels: Sequence[str], progress: Callable[[str], object]) -> None:
    builds = [find_builds(level, "windows")[0] for level in levels]
    install_libraries(builds, progress)
    for build in builds:
        target = where.library(build.level)
        if not target.is_file():
            with appearing(target.parent) as path:
                shutil.copyfile(cache.library(build), path / target.name)


def _prepare_wine(where: WineEnvironment, progress: Callable[[str], object]) -> None:
    if where.prefix.is_dir():
        return
    progress("preparing Wine's folder for values")
    with appearing(where.prefix) as path:
        script = f'"{where.wine}" wineboot.exe --init && "{where.wineserver()}" --wait'
        environment = where.environment(path)
        run_program(where.command("/bin/sh", "-c", script), "preparing Wine", environment)
        if not (path / "system.reg").is_file():
            raise InputError("Wine wrote no registry into its new folder", file=str(where.prefix))
        if where.root is not None:
            _share_copies(path, where.root)


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
