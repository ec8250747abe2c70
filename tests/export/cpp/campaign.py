"""Many descriptors of all operators, judged and explained by the compiled header and by `specgate.check`.

    python -m tests.export.cpp.campaign --cases 100

prints each difference, then how many questions there were. Exit code 1 where there is a difference. It takes some
minutes: 100 cases of each operator at two levels are 200,000 questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from specgate.dialects.directml.reader import read
from specgate.errors import InputError
from specgate.generate.walk import valid_descriptors
from specgate.spec.tables import dialect
from specgate.validate.check import check_at
from specgate.validate.device import capabilities
from tests.export.cpp.native import BASES, Held, Native, as_held, built, placed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

    #: Level, basis, what the device can do, and the implementation that is meant.
    _How = tuple[str, Any, frozenset[str] | None, str | None]


def drawn(spec: OperatorSpec, level: str, count: int, random: Random) -> Iterator[Descriptor]:
    """Yield descriptors: a third of them valid, the others with one to three random changes."""
    walk = valid_descriptors(spec, level, "both", proven=False)
    if not walk.descriptors:
        walk = valid_descriptors(spec, level, "documented", proven=False)
    if not walk.descriptors:
        return
    mover = walk._mover(random.randint)
    for number in range(count):
        made = walk.draw(random.randint)
        for _ in range(random.randint(1, 3) if number % 3 else 0):
            made = mover.mutate_descriptor(made, 1)
        yield made


class Campaign:
    """Asks both, and keeps what they differ in."""

    def __init__(self, native: Native, seed: int) -> None:
        self.native = native
        self.seed = seed
        self.answers: Counter[str] = Counter()
        self.differences: list[str] = []
        self.explained = 0

    def operator(self, name: str, cases: int, levels: int = 2) -> None:
        """Ask about one operator at some of its levels."""
        table = dialect("directml")
        spec = table.operator(name)
        random = Random(f"{name} {self.seed}")
        held = list(spec.levels)
        for level in random.sample(held, min(levels, len(held))):
            for descriptor in drawn(spec, level, cases, random):
                self.ask(descriptor, sorted({level, random.choice(table.levels)}), random)

    def ask(self, descriptor: Descriptor, levels: Sequence[str], random: Random) -> None:
        """Compare the answers on one descriptor at some levels, on every basis, with and without a device."""
        found = as_held(descriptor)
        if found is None:
            return
        image, said = found
        memory = placed(image)
        if said is not None:
            self.written(said, memory)
        names = capabilities("directml")
        device = frozenset(random.sample(names, random.randint(0, len(names))))
        for level in levels:
            for basis in BASES:
                for asked in (None, device):
                    by = random.choice((None, *self.native.implementations))
                    self.compare(said, descriptor, memory, (level, basis, asked, by))

    def written(self, said: Descriptor, memory: Held) -> None:
        """Compare the descriptor with what a reader takes of its JSON."""
        text = self.native.json(memory)
        again = repr(read(json.loads(text)))  # texts, as two numbers that are none are not equal
        self.answers["written"] += 1
        if again != repr(said):
            self.differences.append(f"JSON of {said}: {text}, read as {again}")

    def compare(self, said: Descriptor | None, descriptor: Descriptor, memory: Held, how: _How) -> None:
        """Ask both one question. said: the descriptor as the structures have it, None where no reader takes it."""
        level, basis, device, by = how
        asked = memory, *how
        where = f"{descriptor.operator} {level} {basis} {device and sorted(device)} {by or ''}"
        if said is None:
            self.answers["unreadable"] += 1
            if self.native.accepts(*asked):
                self.differences.append(f"{where}: accepted, although no reader takes it: {descriptor}")
            return
        verdict = check_at(said, level, basis, device=device, by=by)
        self.answers["accepted" if verdict.accepted is True else "refused"] += 1
        if self.native.accepts(*asked) is not (verdict.accepted is True):
            self.differences.append(f"{where}: {'accepted' if verdict.accepted else 'refused'} by check: {said}")
        if verdict.accepted is True:
            return
        answer = self.native.check(*asked)
        self.explained += 1
        ours = [(found.id, found.where, found.basis) for found in verdict.findings]
        levels = verdict.findings[0].levels if verdict.findings else ()
        messages = [found.message for found in verdict.findings]
        parts = (
            ("findings", ours, answer.findings),
            ("messages", messages, answer.messages),
            ("fixes", [found.fix or "" for found in verdict.findings], answer.fixes),
            ("levels", levels, answer.levels),
        )
        for what, one, other in parts:
            if one != other:
                self.differences.append(f"{where}: {what}: {one} by check, {other} by the header: {said}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("operator", nargs="*", help="default: all")
    parser.add_argument("--cases", type=int, default=100, help="of each operator at each of two levels (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(built(Path(folder)), arguments.seed)
        for name in arguments.operator or sorted(dialect("directml").operators):
            try:
                campaign.operator(name, arguments.cases)
            except InputError as error:
                print(error)
    for text in campaign.differences[:40]:
        print(text[:900])
    answers = campaign.answers
    asked = answers["accepted"] + answers["refused"] + answers["unreadable"]
    print(f"{asked} questions: {dict(answers)}; {len(campaign.differences)} differences")
    print(f"of {campaign.explained} refusals findings, their sentences and proposals, and levels were compared,")
    print(f"and {answers['written']} descriptors with their JSON")
    return 1 if campaign.differences else 0


if __name__ == "__main__":
    sys.exit(main())
