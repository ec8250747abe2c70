"""Supported builds of ONNX Runtime with DirectML, and their wheels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from specgate.descriptors.core import shown
from specgate.dialects.directml.oracle.builds import Wheel, find_builds
from specgate.errors import InputError

__all__ = ["LEVELS", "NEWEST", "PACKAGE", "RUNTIMES", "Runtime", "find_runtime"]

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
    known = " and ".join(runtime.release for runtime in RUNTIMES)
    raise InputError(f"no build of {PACKAGE} {shown(release)} is available; there are {known}")
