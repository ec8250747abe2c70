"""Compare the compiled header with `specgate.check` on many descriptors.

python -m tests.export.cpp.campaign --cases 100 prints each difference, then the number of questions. Exit code 1 if
there is a difference. It takes some minutes: 100 cases of each operator at two levels are 200,000 questions.
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
from tests.export.cpp.native import BASES, Held, Native, as_held, build, place_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

    #: Level, basis, device capabilities, and implementation.
    _How = tuple[str, Any, frozenset[str] | None, str | None]


def draw_cases(spec: OperatorSpec, level: str, count: int, random: Random) -> Iterator[Descriptor]:
    """Yield descriptors: a third valid, the others with one to three random changes."""
    walk = valid_descriptors(spec, level, "both", proven=False)
    if not walk.descriptors:
        walk = valid_descriptors(spec, level, "documented", proven=False)
    if not walk.descriptors:
        return
    mover = walk._mover(random.randint)
    for number in range(count):
        descriptor = walk.draw(random.randint)
        for _ in range(random.randint(1, 3) if number % 3 else 0):
            descriptor = mover.mutate_descriptor(descriptor, 1)
        yield descriptor


class Campaign:
    """Ask both sides and record their differences."""

    def __init__(self, native: Native, seed: int) -> None:
        self.native = native
        self.seed = seed
        self.answers: Counter[str] = Counter()
        self.differences: list[str] = []
        self.explained = 0

    def operator(self, name: str, cases: int, levels: int = 2) -> None:
        """Check one operator at some of its levels."""
        table = dialect("directml")
        spec = table.operator(name)
        random = Random(f"{name} {self.seed}")
        texts = list(spec.levels)
        for level in random.sample(texts, min(levels, len(texts))):
            for descriptor in draw_cases(spec, level, cases, random):
                self.ask(descriptor, sorted({level, random.choice(table.levels)}), random)

    def ask(self, descriptor: Descriptor, levels: Sequence[str], random: Random) -> None:
        """Compare the answers on one descriptor on every basis, with and without a device."""
        pair = as_held(descriptor)
        if pair is None:
            return
        image, message = pair
        memory = place_model(image)
        if message is not None:
            self.written(message, memory)
        names = capabilities("directml")
        device = frozenset(random.sample(names, random.randint(0, len(names))))
        for level in levels:
            for basis in BASES:
                for questions in (None, device):
                    by = random.choice((None, *self.native.implementations))
                    self.compare(message, descriptor, memory, (level, basis, questions, by))

    def written(self, descriptor: Descriptor, memory: Held) -> None:
        """Compare the descriptor with the one read from its JSON."""
        text = self.native.json(memory)
        round_trip = repr(read(json.loads(text)))  # as texts, because nan is not equal to itself
        self.answers["written"] += 1
        if round_trip != repr(descriptor):
            self.differences.append(f"JSON of {descriptor}: {text}, read as {round_trip}")

    def compare(self, message: Descriptor | None, descriptor: Descriptor, memory: Held, options: _How) -> None:
        """Ask both one question. message: the descriptor in the structures, None if it cannot be read."""
        level, basis, device, by = options
        questions = memory, *options
        where = f"{descriptor.operator} {level} {basis} {device and sorted(device)} {by or ''}"
        if message is None:
            self.answers["unreadable"] += 1
            if self.native.accepts(*questions):
                self.differences.append(f"{where}: accepted, although no reader takes it: {descriptor}")
            return
        verdict = check_at(message, level, basis, device=device, by=by)
        self.answers["accepted" if verdict.accepted is True else "refused"] += 1
        if self.native.accepts(*questions) is not (verdict.accepted is True):
            self.differences.append(f"{where}: {'accepted' if verdict.accepted else 'refused'} by check: {message}")
        if verdict.accepted is True:
            return
        answer = self.native.check(*questions)
        self.explained += 1
        ours = [(finding.id, finding.where, finding.basis) for finding in verdict.findings]
        levels = verdict.findings[0].levels if verdict.findings else ()
        messages = [finding.message for finding in verdict.findings]
        parts = (
            ("findings", ours, answer.findings),
            ("messages", messages, answer.messages),
            ("fixes", [finding.fix or "" for finding in verdict.findings], answer.fixes),
            ("levels", levels, answer.levels),
        )
        for what, texts, other in parts:
            if texts != other:
                self.differences.append(f"{where}: {what}: {texts} by check, {other} by the header: {message}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("operator", nargs="*", help="default: all")
    parser.add_argument("--cases", type=int, default=100, help="of each operator at each of two levels (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(build(Path(folder)), arguments.seed)
        for name in arguments.operator or sorted(dialect("directml").operators):
            try:
                campaign.operator(name, arguments.cases)
            except InputError as error:
                print(error)
    for text in campaign.differences[:40]:
        print(text[:900])
    answers = campaign.answers
    count = answers["accepted"] + answers["refused"] + answers["unreadable"]
    print(f"{count} questions: {dict(answers)}; {len(campaign.differences)} differences")
    print(f"of {campaign.explained} refusals findings, their sentences and proposals, and levels were compared,")
    print(f"and {answers['written']} descriptors with their JSON")
    return 1 if campaign.differences else 0


if __name__ == "__main__":
    sys.exit(main())
