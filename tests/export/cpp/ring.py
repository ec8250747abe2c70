"""The compiled header and a real DirectML library in one process, held against the library's own answers.

    python -m tests.export.cpp.ring 6.2 --cases 30

draws descriptors of every operator, and puts null in place of each pointer of examples. The library is asked for each in
a process that may crash (as `specgate conform` asks it), then `create_operator` in a process that must not: what the
library takes it takes, what the library refuses it refuses, and what crashes the library does not reach it. Exit code 1
where that is not so.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects.directml.cpp.beside import Beside
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.oracle.oracle import DirectMLOracle
from specgate.errors import Error
from specgate.generate.seeds import concrete, counterexamples_at, examples_at
from specgate.spec.tables import dialect
from tests.export.cpp.campaign import drawn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.directml.native.marshal import Image
    from specgate.spec.operator_spec import OperatorSpec

EXAMPLES = 5


class Question(NamedTuple):
    """What both are asked: an image, and where it comes from."""

    operator: str
    origin: str
    image: Image


def changed(made: Image, zeros: Sequence[tuple[int, str]]) -> Image:
    """Return an image with 0 at offsets, each a pointer's or a number's (formats of `struct`)."""
    data = bytearray(made.data)
    for at, form in zeros:
        struct.pack_into(form, data, at, 0)
    gone = {at for at, form in zeros if form == "<Q"}
    return made._replace(data=bytes(data), pointers=tuple(at for at in made.pointers if at not in gone))


def without_pointers(operator: str, made: Image) -> Iterator[Question]:
    """Yield an image with null in place of each pointer; of an array also with a count of 0, with and without it."""
    (base,) = struct.unpack_from("<Q", made.data, made.root + 8)
    members = abi().structure(operator).members
    counts = {m.offset: next(c.offset for c in members if c.name == m.count) for m in members if m.count}
    for at in made.pointers:
        yield Question(operator, f"null at {at - base}", changed(made, [(at, "<Q")]))
        if at - base in counts:
            count = (base + counts[at - base], "<I")
            yield Question(operator, f"no elements, null at {at - base}", changed(made, [(at, "<Q"), count]))
            yield Question(operator, f"no elements at {at - base}", changed(made, [count]))


def questions(spec: OperatorSpec, level: str, cases: int, seed: int = 0) -> Iterator[Question]:
    """Yield what is asked about one operator."""
    random = Random(f"{spec.name} {seed}")
    for descriptor in (*drawn(spec, level, cases, random), *map(concrete, counterexamples_at(spec, level))):
        try:
            yield Question(spec.name, "drawn", image(descriptor))
        except Error:  # structures cannot hold it
            continue
    for example in list(examples_at(spec, level))[:EXAMPLES]:
        yield from without_pointers(spec.name, image(concrete(example)))


class Ring:
    """What was asked, what came of it, and where that is wrong."""

    def __init__(
        self, folder: Path, level: str, operators: Sequence[str] | None = None, flags: Sequence[str] = ("-O1",)
    ) -> None:
        self.level = level
        self.oracle = DirectMLOracle(level)
        self.beside = Beside(folder, level, operators=operators, build=self.oracle.build, flags=flags)
        self.tally: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def ask(self, asked: Sequence[Question]) -> None:
        """Ask the library in a process of its own, then both in one."""
        words = [answer.word for answer in self.oracle.accepts_many([each.image for each in asked])]
        found = self.beside.create_operators([each.image for each in asked])
        for question, word, created in zip(asked, words, found, strict=True):
            where = f"{question.operator}, {question.origin}: {word} by the library"
            if created is None:
                self.wrong.append(f"{where}: the process with the header ended")
                continue
            self.tally[word, "asked" if created.asked else "not asked"] += 1
            if (created.hresult == 0) is not (word == "accepted") or (word == "crashed" and created.asked):
                self.wrong.append(f"{where}, {created}")
            elif created.hresult and not created.told:
                self.wrong.append(f"{where}: it said nothing")

    def close(self) -> None:
        self.oracle.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("level")
    parser.add_argument("operator", nargs="*", help="default: all")
    parser.add_argument("--cases", type=int, default=30, help="of each operator (default 30)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    table = dialect("directml")
    with tempfile.TemporaryDirectory() as folder:
        ring = Ring(Path(folder), arguments.level)
        for name in arguments.operator or sorted(table.operators):
            if arguments.level in table.operator(name).levels:
                ring.ask(list(questions(table.operator(name), arguments.level, arguments.cases, arguments.seed)))
        ring.close()
    for text in ring.wrong[:40]:
        print(text)
    listed = ", ".join(f"{word} and {asked} {count}" for (word, asked), count in sorted(ring.tally.items()))
    print(f"DirectML {ring.beside.build.title}: {listed}; {len(ring.wrong)} wrong")
    return 1 if ring.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
