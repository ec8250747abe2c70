"""The header beside a DirectML library in one process: what create_operator does, and how long either takes."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.directml.cpp.compilers import compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.oracle import cache
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import install_command, wine_environment
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.directml.cpp.compilers import Compiler
    from specgate.dialects.directml.native.marshal import Image
    from specgate.dialects.directml.oracle.builds import Build

__all__ = ["Beside", "Created", "Times"]

_PROGRAMS: Final = Path(__file__).parent / "programs"
#: A refused descriptor may corrupt the heap of the library without a sign, so no process is asked more than this.
_FRESH_AFTER: Final = 250


class Created(NamedTuple):
    """What create_operator did: how often it asked the library, what it returned, and the length of what it told.

    accepted: what the header says of the description.
    """

    accepted: bool
    asked: int
    hresult: int
    told: int


class Times(NamedTuple):
    """Nanoseconds: of what both accept, accepts(), check() and CreateOperator; of a refusal, check() with its text.

    proposing: the same with changes that are searched for.
    """

    accepting: float
    checking: float
    creating: float
    telling: float
    proposing: float


class Beside:
    """A program that has the header and asks a build of DirectML.

    Raises InputError where the build of the level is not installed, or no compiler makes programs for its system.
    """

    def __init__(
        self,
        folder: Path,
        level: str,
        *,
        operators: Sequence[str] | None = None,
        flags: Sequence[str] = ("-O2",),
        build: Build | None = None,
    ) -> None:
        self.folder = folder
        self.level = level
        self.build = build or _installed(level)
        self.compiler = _compiler(self.build)
        (folder / "specgate_dml.h").write_text(write_header(operators), encoding="utf-8")
        sources = [_PROGRAMS / "beside.cpp", _PROGRAMS / "library.c"]
        self.program = self.compiler.program(folder, sources, [cache.source("host.c").parent], flags)
        self._command, self._environment = self._started()

    def _started(self) -> tuple[list[str], dict[str, str]]:
        library, host = cache.library(self.build), cache.host_directory(self.build.system)
        if self.build.system == "linux":
            paths = os.pathsep.join(map(str, (library.parent, cache.d3d12_directory(), host)))
            return [str(self.program), str(library)], {**os.environ, "LD_LIBRARY_PATH": paths}
        for name in host.glob("*.dll"):
            shutil.copy(name, self.folder)  # Windows looks for them beside the program
        if cache.ON_WINDOWS:
            return [str(self.program), str(library)], dict(os.environ)
        return [cache.wine().path or "", str(self.program), _as_windows(library)], wine_environment()

    def created(self, questions: Sequence[Image]) -> list[Created | None]:
        """Return what create_operator does with each description, None where the process did not survive."""
        createds: list[Created | None] = []
        while len(createds) < len(questions):
            lines = self._ask(questions[len(createds) : len(createds) + _FRESH_AFTER])
            createds += [Created(line[0] == "1", *map(int, line[1:])) for line in lines]
            if len(lines) < len(questions[len(createds) - len(lines) : len(createds) - len(lines) + _FRESH_AFTER]):
                createds.append(None)
        return createds

    def times(self, questions: Sequence[Image], rounds: int) -> list[Times]:
        """Return how long each takes, the best of `rounds` rounds.

        Nothing that the header refuses is asked of the build. Raises InputError where the process did not survive.
        """
        lines = self._ask(questions, str(rounds))
        if len(lines) != len(questions):
            raise InputError(f"expected {len(questions)} times, found {len(lines)}: the process ended")
        return [Times(*map(float, line)) for line in lines]

    def _ask(self, questions: Sequence[Image], *more: str) -> list[list[str]]:
        number = int(dialect("directml").tables.levels[self.level]["target_version"], 16)
        path = self.folder / "questions"
        path.write_bytes(b"".join(_question(each, number) for each in questions))
        named = _as_windows(path) if self.build.system == "windows" and not cache.ON_WINDOWS else str(path)
        done = subprocess.run(
            [*self._command, named, *more], env=self._environment, capture_output=True, text=True, check=False
        )
        return [line.split("\t") for line in done.stdout.splitlines()]


def _installed(level: str) -> Build:
    builds = find_builds(level)
    for build in builds:
        if not cache.missing(build):
            return build
    raise InputError(f"DirectML {builds[0].title} is not installed: try {install_command([level])}")


def _compiler(build: Build) -> Compiler:
    compiler = next(compilers(windows=build.system == "windows"), None)
    if compiler is None:
        raise InputError(f"no C++ compiler is installed that makes programs for {build.system}")
    return compiler


def _question(image: Image, level: int) -> bytes:
    head = struct.pack("<4I", len(image.data), len(image.pointers), image.root, level)
    return head + struct.pack(f"<{len(image.pointers)}I", *image.pointers) + image.data


def _as_windows(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")
