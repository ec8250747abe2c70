"""Runtimes whose builds ``specgate oracle`` installs and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle.cpu import CPU_PACKAGE, cpu_releases, install_cpu
from specgate.runtimes.onnxruntime.oracle.install import NEWEST, PACKAGE, install_command, install_runtime, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_runtime(name: str) -> bool:
    """Return whether a name is a runtime's rather than a dialect's."""
    return name in {PACKAGE, CPU_PACKAGE}


def install(name: str, releases: str | None, levels: str | None, progress: Callable[[str], object]) -> None:
    """Install comma-separated releases of a runtime.

    levels: comma-separated DirectML levels to install with them. Raises InputError for an unknown or unavailable item.
    """
    texts = [release.strip() for release in releases.split(",")] if releases else []
    if name == CPU_PACKAGE:
        if levels:
            raise InputError(f"{CPU_PACKAGE} does not use DirectML, so --levels does not apply")
        if not texts:
            raise InputError(f"expected --release, such as 1.20.1; in this environment: pip install {CPU_PACKAGE}")
        for release in texts:
            install_cpu(release, progress=progress)
        return
    requested_levels = [level.strip() for level in levels.split(",")] if levels else []
    for release in texts or [NEWEST]:
        install_runtime(release, requested_levels, progress=progress)


def rows() -> Iterator[list[str]]:
    """Yield a row per build with its status or install command."""
    for entry in status():
        state = f"missing: {install_command(entry.runtime.release)}"
        if not entry.missing:
            state = f"installed, with DirectML {', '.join(entry.levels)}"
        yield [f"{PACKAGE}:{entry.runtime.release}", "windows", entry.runtime.title, state]
    for release in cpu_releases():
        yield [f"{CPU_PACKAGE}:{release}", "here", f"{CPU_PACKAGE} {release}", "installed"]


def newest(name: str) -> str:
    """Return a runtime's default release; raise InputError if none exists."""
    if name == PACKAGE:
        return NEWEST
    texts = cpu_releases()
    if not texts:
        raise InputError(f"the package {CPU_PACKAGE} is not installed: pip install {CPU_PACKAGE}")
    return texts[0]
