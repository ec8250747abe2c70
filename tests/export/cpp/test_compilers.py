"""`check` gives the same answers with every compiler, also for Windows."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from specgate.dialects.directml.cpp.compilers import COMPILERS, Compiler, compilers
from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.oracle import builds
from specgate.dialects.directml.oracle.install import wine_environment
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.validate.check import check_at
from specgate.validate.device import capabilities
from tests.export.cpp.campaign import draw_cases
from tests.export.cpp.native import BASES, as_held, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
#: 128-bit numbers, floating point, arrays of tensors, fused operators, cases, scalars.
OPERATORS = ("ONE_HOT", "CONVOLUTION", "JOIN", "GATHER", "FILL_VALUE_SEQUENCE", "REDUCE", "RESAMPLE2", "SLICE1")


class Asked(NamedTuple):
    """A question in the program's format, and the answer of `check`."""

    packed: bytes
    accepted: bool
    findings: list[tuple[str, str, str]]
    messages: list[str]
    levels: tuple[str, ...]


def ask() -> Iterator[Asked]:
    table, names = dialect("directml"), capabilities("directml")
    for name in OPERATORS:
        random = Random(name)
        spec = table.operator(name)
        for number, descriptor in enumerate(draw_cases(spec, list(spec.levels)[-1], 24, random)):
            pair = as_held(descriptor)
            if pair is None or pair[1] is None:
                continue
            image, message = pair
            level, basis = random.choice(table.levels), random.choice(BASES)
            device = frozenset(random.sample(names, random.randint(0, len(names)))) if number % 2 else None
            by = random.choice((None, "linux"))
            verdict: Any = check_at(message, level, basis, device=device, by=by)  # type: ignore[arg-type]
            bits = sum(1 << names.index(each) for each in device or ())
            options = (
                int(table.tables.levels[level]["target_version"], 16),
                BASES.index(basis),
                device is not None,
                bits,
            )
            head = len(image.data), len(image.pointers), image.root, *options, by is not None
            packed = struct.pack(f"<8I{len(image.pointers)}I", *head, *image.pointers) + image.data
            findings = [] if verdict.accepted else [(each.id, each.where, each.basis) for each in verdict.findings]
            levels = verdict.findings[0].levels if findings else ()
            messages = [each.message for each in verdict.findings] if findings else []
            yield Asked(packed, verdict.accepted is True, findings, messages, levels)


@pytest.fixture(scope="module")
def questions() -> list[Asked]:
    result = list(ask())
    assert sum(each.accepted for each in result) > 20
    assert sum(not each.accepted for each in result) > 20
    return result


def list_installed(name: str) -> Compiler:
    for windows in (False, True):
        for each in compilers(windows=windows):
            if each.name == name:
                return each
    pytest.skip(f"THE HEADER IS NOT COMPILED WITH {name}: it is not installed")


def run_queries(compiler: Compiler, folder: Path, asked: list[Asked]) -> list[str]:
    (folder / "specgate_dml.h").write_text(write_header(OPERATORS), encoding="utf-8")
    (folder / "questions").write_bytes(b"".join(each.packed for each in asked))
    flags = ("-O1", "-Wall", "-Wextra", "-Werror")
    program = compiler.program(folder, [HERE / "answers.cpp"], [HERE], flags)
    command, environment = [str(program), str(folder / "questions")], dict(os.environ)
    if compiler.windows and not builds.ON_WINDOWS:
        wine = builds.wine().path
        if wine is None:
            pytest.skip(f"THE PROGRAM OF {compiler.name} IS NOT RUN: {builds.wine().advice}")
        prefix = builds.wine_prefix() if builds.wine_prefix().is_dir() else folder / "wine"
        environment = wine_environment(prefix)
        command = [wine, str(program), "Z:" + str(folder / "questions").replace("/", "\\")]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    return done.stdout.decode().replace("\r\n", "\n").split("\n===\n")[:-1]


@pytest.mark.parametrize("name", [name for name in COMPILERS if name != "c++"])
def test_compiled_verdicts_match_check(name: str, questions: list[Asked], tmp_path: Path) -> None:
    result = run_queries(list_installed(name), tmp_path, questions)
    for text, expected in zip(result, questions, strict=True):
        answer = parse(text)
        assert answer.accepted is expected.accepted
        if not answer.accepted:
            ours = answer.findings, answer.messages, answer.levels
            assert ours == (expected.findings, expected.messages, expected.levels)


def test_compiler_errors_are_reported(tmp_path: Path) -> None:
    compiler = next(compilers(), None)
    if compiler is None:
        pytest.skip("NO C++ COMPILER IS INSTALLED")
    (tmp_path / "wrong.cpp").write_text("int main() { return nothing; }", encoding="utf-8")
    with pytest.raises(InputError, match="nothing"):
        compiler.program(tmp_path, [tmp_path / "wrong.cpp"], [], [])
