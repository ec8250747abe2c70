"""Run corrupted structures under compiler sanitizers.

python -m tests.export.cpp.fuzzing --rounds 1000000 builds the header with AddressSanitizer and
UndefinedBehaviorSanitizer, and checks examples of every operator with random changes in memory. Exit code 1 if a
sanitizer reports an error.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.cpp.header import write_header
from specgate.dialects.directml.native.marshal import _OPERATOR_HEAD, _Writer
from specgate.errors import Error, InputError
from specgate.generate.seeds import counterexamples_at, examples_at, make_concrete
from specgate.spec.tables import dialect
from tests.export.cpp.native import compiler

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.directml.native.abi import Member, Structure

SOURCE: Final = Path(__file__).with_name("fuzz.cpp")
FLAGS: Final = ("-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class _Headed(_Writer):
    """Record the null pointers and the operator heads, whose types give structure sizes."""

    def __init__(self) -> None:
        super().__init__(exact=False)
        self.heads: list[int] = []
        self.nulls: list[int] = []

    def operator(self, value: Any, at: int, place: str, depth: int) -> None:
        self.heads.append(at)
        super().operator(value, at, place, depth)

    def member(
        self, member: Member, structure: Structure, fields: Mapping[str, Any], base: int, place: str, depth: int
    ) -> None:
        if member.pointer and fields.get(member.name) is None:
            self.nulls.append(base + member.offset)
        super().member(member, structure, fields, base, place, depth)

    def buffer(self, tensor: TensorDesc, place: str) -> int:
        start = super().buffer(tensor, place)
        if tensor.strides is None:
            self.nulls.append(start + 24)
        return start


def images(operators: Sequence[str]) -> Iterator[bytes]:
    """Yield the input of `fuzz.cpp` for examples and counterexamples of operators."""
    for name in operators:
        spec = dialect("directml").operator(name)
        level = list(spec.levels)[-1]
        for descriptor in (*examples_at(spec, level), *counterexamples_at(spec, level)):
            writer = _Headed()
            root = writer.room(_OPERATOR_HEAD)
            try:
                writer.operator(make_concrete(descriptor), root, "", 0)
            except Error:
                continue
            lists = writer.pointers, writer.nulls, writer.heads
            words = [root, *(word for listed in lists for word in (len(listed), *listed))]
            yield struct.pack("<I", len(writer.data)) + bytes(writer.data) + struct.pack(f"<{len(words)}I", *words)


def fuzz(
    folder: Path, operators: Sequence[str], rounds: int, seed: int = 0, flags: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Build and run it; sanitizers report to the standard error."""
    (folder / "specgate_dml.h").write_text(write_header(operators), encoding="utf-8")
    (folder / "images").write_bytes(b"".join(images(operators)))
    program = folder / "fuzz"
    chosen = compiler(sanitizing=True)
    if chosen is None:
        raise InputError("no C++ compiler with sanitizers is installed")
    chosen.run([*FLAGS, *flags, f"-I{folder}", str(SOURCE), "-o", str(program)])
    texts = [str(program), str(folder / "images"), str(rounds), str(seed)]
    return subprocess.run(texts, capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("operator", nargs="*", help="default: all")
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    operators = arguments.operator or sorted(dialect("directml").operators)
    with tempfile.TemporaryDirectory() as folder:
        done = fuzz(Path(folder), operators, arguments.rounds, arguments.seed)
    print(done.stdout + done.stderr[:4000])
    return 0 if done.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
