"""Compare verdicts before and after a change: `record DIR`, then `compare DIR`.

Run `python -m tests.same_verdicts record DIR` before a change of tables or engines and `compare DIR` after it. The
recording has descriptors of every operator: examples, counterexamples and random changes, with the verdict at every
level, on every basis and for each implementation. A recording stays valid when tables or engines are rewritten; new
examples only affect new recordings.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from specgate.descriptors.read import read_dict, write_dict
from specgate.dialects import dialect_names
from specgate.errors import Error
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from specgate.verdict import Basis
from tests.drawing import shown_descriptors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.operator_spec import OperatorSpec

#: Descriptors per operator, and those drawn per level.
COUNT: Final = 200
AT_ONE_LEVEL: Final = 80
_ANSWERS: Final = {True: "y", False: "n", None: "?"}


def draw_cases(spec: OperatorSpec, count: int) -> Iterator[dict[str, Any]]:
    """Yield up to `count` distinct descriptors of an operator as dicts, from some levels."""
    rows = [level for level in spec.levels if level in spec.rows]
    levels = list(dict.fromkeys([list(spec.levels)[-1], rows[0], *rows]))
    result = chain.from_iterable(shown_descriptors(spec, level, AT_ONE_LEVEL, "same") for level in levels)
    more = chain.from_iterable(shown_descriptors(spec, levels[0], count, str(seed)) for seed in range(10))
    seen = set()
    for descriptor in chain(result, more):
        text = json.dumps(write_dict(descriptor), default=str)
        if text not in seen:
            seen.add(text)
            yield json.loads(text)


def answers(spec: OperatorSpec, data: dict[str, Any]) -> str | None:
    """Return a letter per level for each basis and implementation; None: unreadable."""
    try:
        descriptor = read_dict(dict(data), spec.dialect.name)
    except Error:
        return None
    sides: list[tuple[Basis, str | None]] = [(basis, None) for basis in get_args(Basis)]
    sides += [("observed", by) for by in sorted({overlay.by for overlay in spec.overlays if overlay.by})]
    return " ".join(
        f"{basis if by is None else by}="
        + "".join(_ANSWERS[accepts(descriptor, level, basis, by)] for level in spec.dialect.levels)
        for basis, by in sides
    )


def record(folder: Path, count: int, only: Iterable[str] = ()) -> int:
    """Write a file per dialect; return the number of recorded descriptors."""
    folder.mkdir(parents=True, exist_ok=True)
    recorded = 0
    for name in dialect_names():
        table = dialect(name)
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for operator in table.operators:
                if only and operator not in only:
                    continue
                spec = table.operator(operator)
                for data in islice(draw_cases(spec, count), count):
                    message = answers(spec, data)
                    if message is not None:
                        recorded += 1
                        file.write(json.dumps([operator, data, message]) + "\n")
    return recorded


def compare(folder: Path) -> Iterator[str]:
    """Yield a line for each recorded descriptor whose verdicts changed."""
    for path in sorted(folder.glob("*.jsonl")):
        table = dialect(path.stem)
        with path.open(encoding="utf-8") as file:
            for line in file:
                operator, data, before = json.loads(line)
                current = answers(table.operator(operator), data)
                if current != before:
                    yield f"{path.stem}/{operator}: {before} was, {current} is: {json.dumps(data)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.same_verdicts", description="Compare verdicts.")
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=COUNT, help=f"descriptors of each operator (default: {COUNT})")
    parser.add_argument("--operator", action="append", default=[], help="record one of these only")
    arguments = parser.parse_args()
    if arguments.what == "record":
        print(f"{record(arguments.folder, arguments.count, arguments.operator)} descriptors recorded")
        return 0
    differences = list(compare(arguments.folder))
    print(*differences, f"{len(differences)} differences", sep="\n")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
