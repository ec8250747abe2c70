"""The compiled header and a DirectML library in one process.

python -m tests.export.cpp.ring 6.2 --cases 30 draws descriptors of every operator, and nulls each pointer of examples.
The library answers each in a subprocess that may crash (as for `specgate conform`), then `create_operator` in one that
must not: both must accept the same, and descriptors that crash the library must not reach it. Exit code 1 otherwise.
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

from specgate.dialects.directml.cpp.comparison import Comparison
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.oracle.oracle import DirectMLOracle
from specgate.errors import Error
from specgate.generate.seeds import counterexamples_at, examples_at, make_concrete
from specgate.spec.tables import dialect
from tests.export.cpp.campaign import draw_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.directml.native.marshal import Image
    from specgate.spec.operator_spec import OperatorSpec

EXAMPLES = 5


class Question(NamedTuple):
    """A question: an image, and its origin."""

    operator: str
    origin: str
    image: Image


def change(result: Image, zeros: Sequence[tuple[int, str]]) -> Image:
    """Return an image with zeros at offsets of pointers or numbers (`struct` formats)."""
    data = bytearray(result.data)
    for at, form in zeros:
        struct.pack_into(form, data, at, 0)
    gone = {at for at, form in zeros if form == "<Q"}
    return result._replace(data=bytes(data), pointers=tuple(at for at in result.pointers if at not in gone))


def without_pointers(operator: str, result: Image) -> Iterator[Question]:
    """Yield an image with each pointer nulled.

    For an array also with a count of 0, with and without the pointer.
    """
    (base,) = struct.unpack_from("<Q", result.data, result.root + 8)
    members = abi().structure(operator).members
    counts = {m.offset: next(c.offset for c in members if c.name == m.count) for m in members if m.count}
    for at in result.pointers:
        yield Question(operator, f"null at {at - base}", change(result, [(at, "<Q")]))
        if at - base in counts:
            count = (base + counts[at - base], "<I")
            yield Question(operator, f"no elements, null at {at - base}", change(result, [(at, "<Q"), count]))
            yield Question(operator, f"no elements at {at - base}", change(result, [count]))


def questions(spec: OperatorSpec, level: str, cases: int, seed: int = 0) -> Iterator[Question]:
    """Yield the questions about one operator."""
    random = Random(f"{spec.name} {seed}")
    for descriptor in (*draw_cases(spec, level, cases, random), *map(make_concrete, counterexamples_at(spec, level))):
        try:
            yield Question(spec.name, "drawn", image(descriptor))
        except Error:  # structures cannot hold it
            continue
    for example in list(examples_at(spec, level))[:EXAMPLES]:
        yield from without_pointers(spec.name, image(make_concrete(example)))


class Ring:
    """The questions, their results, and the errors."""

    def __init__(
        self, folder: Path, level: str, operators: Sequence[str] | None = None, flags: Sequence[str] = ("-O1",)
    ) -> None:
        self.level = level
        self.oracle = DirectMLOracle(level)
        self.comparison = Comparison(folder, level, operators=operators, build=self.oracle.build, flags=flags)
        self.tally: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def ask(self, asked: Sequence[Question]) -> None:
        """Ask the library in a subprocess, then both in one process."""
        words = [answer.word for answer in self.oracle.accepts_many([each.image for each in asked])]
        createds = self.comparison.create_operators([each.image for each in asked])
        for question, word, created in zip(asked, words, createds, strict=True):
            where = f"{question.operator}, {question.origin}: {word} by the library"
            if created is None:
                self.wrong.append(f"{where}: the process with the header ended")
                continue
            self.tally[word, "asked" if created.calls else "not asked"] += 1
            if (created.hresult == 0) is not (word == "accepted") or (word == "crashed" and created.calls):
                self.wrong.append(f"{where}, {created}")
            elif created.hresult and not created.message_size:
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
    listed = ", ".join(f"{word} and {text} {count}" for (word, text), count in sorted(ring.tally.items()))
    print(f"DirectML {ring.comparison.build.title}: {listed}; {len(ring.wrong)} wrong")
    return 1 if ring.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
