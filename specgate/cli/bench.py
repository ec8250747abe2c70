"""``specgate bench``: ratios against peers, measured in one run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from specgate.bench.timing import measure
from specgate.cli.common import as_json, text_table
from specgate.errors import InputError

if TYPE_CHECKING:
    import argparse

    from specgate.bench.timing import Contender, Group

__all__ = ["bench"]

#: How many threads numpy's products take: one, since ONNX Runtime gets one. What the caller sets stays.
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def bench(arguments: argparse.Namespace) -> int:
    """Measure the groups that were asked for; ratios are the peer's time over ours, so above 1 we are faster."""
    for name in _THREADS:  # read once, when numpy is loaded
        os.environ.setdefault(name, "1")
    if arguments.repeat < 1:
        raise InputError(f"expected --repeat 1 or more, found {arguments.repeat}")
    from specgate.bench.groups import GROUPS

    results = []
    for name in arguments.what or list(GROUPS):
        for group in GROUPS[name]():
            measure(group, arguments.repeat)
            remarks = group.remarks()
            results.append(_json(group, remarks))
            if arguments.format == "text":
                sys.stdout.write(_text(group, remarks))
                sys.stdout.flush()
    if arguments.format == "json":
        sys.stdout.write(as_json({"schema": "specgate-bench/1", "groups": results}))
    return 0


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
    said = "".join(f"  {name}: {value}\n" for name, value in remarks)
    return f"{group.title}\n{text_table(rows, indent='  ')}{said}\n"


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
