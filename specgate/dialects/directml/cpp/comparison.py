"""Run the generated C++ header next to a DirectML build in one process."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.directml.cpp.compilers import compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.oracle import builds as directml_builds
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import install_command, wine_environment
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.directml.cpp.compilers import Compiler
    from specgate.dialects.directml.native.marshal import Image
    from specgate.dialects.directml.oracle.builds import Build

_PROGRAMS: Final = Path(__file__).parent / "programs"
#: A rejected descriptor may corrupt the library's heap silently, so a process answers at most this many questions.
_FRESH_AFTER: Final = 250


class Created(NamedTuple):
    """The result of one call of create_operator.

    The number of calls into the library, the returned HRESULT, and the length of the message. accepted: the header's
    verdict on the description.
    """

    accepted: bool
    calls: int
    hresult: int
    message_size: int


class Times(NamedTuple):
    """Times in nanoseconds.

    For descriptors that header and build accept: accepts(), check() and CreateOperator. For rejected ones: check() with
    its message. proposing: check() with its message and the search for fixes.
    """

    accepting: float
    checking: float
    creating: float
    telling: float
    proposing: float


class Comparison:
    """A program that includes the header and calls a build of DirectML.

    Raises InputError if the level's build is not installed, or if no compiler targets its system.
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
        self.build = build or _installed_build(level)
        self.compiler = _compiler(self.build)
        (folder / "specgate_dml.h").write_text(write_header(operators), encoding="utf-8")
        sources = [_PROGRAMS / "comparison.cpp", _PROGRAMS / "library.c"]
        self.program = self.compiler.program(folder, sources, [directml_builds.source("host.c").parent], flags)
        self._command, self._environment = self._start_command()

    def _start_command(self) -> tuple[list[str], dict[str, str]]:
        library, host = directml_builds.library(self.build), directml_builds.host_directory(self.build.system)
        if self.build.system == "linux":
            paths = os.pathsep.join(map(str, (library.parent, directml_builds.d3d12_directory(), host)))
            return [str(self.program), str(library)], {**os.environ, "LD_LIBRARY_PATH": paths}
        for name in host.glob("*.dll"):
            shutil.copy(name, self.folder)  # Windows searches the program's folder for libraries
        if directml_builds.ON_WINDOWS:
            return [str(self.program), str(library)], dict(os.environ)
        return [directml_builds.wine().path or "", str(self.program), _as_windows(library)], wine_environment()

    def create_operators(self, questions: Sequence[Image]) -> list[Created | None]:
        """Return create_operator's result per description, None after a crash."""
        createds: list[Created | None] = []
        while len(createds) < len(questions):
            lines = self._ask(questions[len(createds) : len(createds) + _FRESH_AFTER])
            createds += [Created(line[0] == "1", *map(int, line[1:])) for line in lines]
            if len(lines) < len(questions[len(createds) - len(lines) : len(createds) - len(lines) + _FRESH_AFTER]):
                createds.append(None)
        return createds

    def times(self, questions: Sequence[Image], rounds: int) -> list[Times]:
        """Return the best time per description over `rounds` rounds.

        Descriptions that the header rejects are not passed to the build. Raises InputError if the process crashes.
        """
        lines = self._ask(questions, str(rounds))
        if len(lines) != len(questions):
            raise InputError(f"expected {len(questions)} times, found {len(lines)}: the process ended")
        return [Times(*map(float, line)) for line in lines]

    def _ask(self, questions: Sequence[Image], *more: str) -> list[list[str]]:
        number = int(dialect("directml").tables.levels[self.level]["target_version"], 16)
        path = self.folder / "questions"
        path.write_bytes(b"".join(_question(each, number) for each in questions))
        named = _as_windows(path) if self.build.system == "windows" and not directml_builds.ON_WINDOWS else str(path)
        done = subprocess.run(
            [*self._command, named, *more], env=self._environment, capture_output=True, text=True, check=False
        )
        return [line.split("\t") for line in done.stdout.splitlines()]


def _installed_build(level: str) -> Build:
    builds = find_builds(level)
    for build in builds:
        if not directml_builds.missing(build):
            return build
    raise InputError(f"DirectML {builds[0].title} is not installed: try {install_command([level])}")


def _compiler(build: Build) -> Compiler:
    compiler = next(compilers(windows=build.system == "windows"), None)
    if compiler is None:
        raise InputError(f"no C++ compiler for {build.system} programs is installed")
    return compiler


def _question(image: Image, level: int) -> bytes:
    head = struct.pack("<4I", len(image.data), len(image.pointers), image.root, level)
    return head + struct.pack(f"<{len(image.pointers)}I", *image.pointers) + image.data


def _as_windows(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")
