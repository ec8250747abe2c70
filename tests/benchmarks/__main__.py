"""Measure speed as ratios to peers: ``python -m tests.benchmarks [GROUP …]``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Final

from specgate.cli.common import as_json, text_table
from specgate.errors import Error
from tests.benchmarks.timing import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.benchmarks.timing import Contender, Group

__all__ = ["main"]

#: Threads for numpy's matrix products: one, as for ONNX Runtime. Values set by the caller are kept.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the ratios of the groups.

    A ratio is the peer's time divided by specgate's; above 1, specgate is faster.
    """
    for name in _THREADS:  # numpy reads them when it is imported
        os.environ.setdefault(name, "1")
    from tests.benchmarks.groups import GROUPS

    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Time checks and kernels against peers, as ratios measured in one run.",
    )
    parser.add_argument(
        "what", nargs="*", metavar="WHAT", help=f"{', '.join(GROUPS)}; default: all; lint reads models of 50,000 nodes"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="timed rounds of each side (default 7)")
    arguments = parser.parse_args(argv)
    unknown = next((name for name in arguments.what if name not in GROUPS), None)
    if unknown is not None:
        parser.error(f"expected one of {', '.join(GROUPS)}, found {unknown!r:.40}")
    if arguments.repeat < 1:
        parser.error(f"expected --repeat 1 or more, found {arguments.repeat}")
    try:
        _run(arguments.what or list(GROUPS), arguments.repeat, arguments.format)
    except Error as error:
        sys.stderr.write(f"benchmarks: {error}\n")
        return 2
    return 0


def _run(names: Sequence[str], repeat: int, form: str) -> None:
    from tests.benchmarks.groups import GROUPS

    results = []
    for name in names:
        for group in GROUPS[name]():
            measure(group, repeat)
            remarks = group.remarks()
            results.append(_json(group, remarks))
            if form == "text":
                sys.stdout.write(_text(group, remarks))
                sys.stdout.flush()
    if form == "json":
        sys.stdout.write(as_json({"schema": "specgate-bench/1", "groups": results}))


def _text(group: Group, remarks: list[tuple[str, str]]) -> str:
    own = [c for c in group.contenders if c.own]
    rate = [f"{group.unit}/s"] if group.work else []
    rows = [["", "median", "fastest", *rate, *[f"vs {_short(c)}" for c in own]]]
    for contender in group.contenders:
        if contender.typical is None:
            rows.append([contender.name, contender.missing])
            continue
        ratios = [f"{contender.typical / c.typical:.2f}x" for c in own if c.typical]
        rate = [f"{group.work / contender.typical:,.0f}"] if group.work else []
        rows.append([contender.name, _time(contender.typical), _time(min(contender.seconds)), *rate, *ratios])
    message = "".join(f"  {name}: {value}\n" for name, value in remarks)
    return f"{group.title}\n{text_table(rows, indent='  ')}{message}\n"


def _short(contender: Contender) -> str:
    return contender.name.rpartition(", ")[2].removeprefix("specgate.")


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _json(group: Group, remarks: list[tuple[str, str]]) -> dict[str, object]:
    return {
        "title": group.title,
        "work": group.work or None,
        "unit": group.unit or None,
        "remarks": dict(remarks),
        "contenders": [
            {
                "name": c.name,
                "own": c.own,
                "median_seconds": c.typical,
                "seconds": c.seconds,
                "missing": c.missing or None,
            }
            for c in group.contenders
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
