"""Record ONNX Runtime's behaviour on thousands of one-node models.

``python -m tests.runtimes.onnxruntime.campaign DIR [OPERATOR …]`` draws descriptors of every ONNX operator at each of
its versions, asks the placement oracle, and writes JSON lines to DIR: first the questions, then one line per model,
with the model itself. ``--compare`` compares `specgate.place` with such a file, with exit code 1 if they differ.
``specgate conform onnxruntime-directml`` asks and compares at once; this keeps the answers for repeated comparisons.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.runtimes.onnxruntime.conform.cases import node_cases
from specgate.runtimes.onnxruntime.oracle.cpu import CPU_PACKAGE, CpuPlacementOracle
from specgate.runtimes.onnxruntime.oracle.install import NEWEST, PACKAGE
from specgate.runtimes.onnxruntime.oracle.oracle import OPTIMISATIONS, PlacementOracle
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from specgate.runtimes.onnxruntime.oracle.oracle import Answer

#: Seconds for one model: most need milliseconds.
_TIMEOUT: Final = 20.0
#: Number of models per question.
_BATCH: Final = 100


class Asked(Protocol):
    """An oracle of placement."""

    def ask(self, models: Sequence[bytes]) -> list[Answer]: ...


def models(operator: str, count: int, seed: str, newest: int | None = None) -> Iterator[tuple[str, str, bytes]]:
    """Yield opset, origin and serialized model, about `count` per version.

    newest: the highest opset.
    """
    yield from ((case.opset, case.drawn, case.model) for case in node_cases(operator, count, seed, newest))


def ask(
    oracle: Asked, operators: Sequence[str], count: int, seed: str, newest: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a record per model of the operators: plain data for one line."""
    for operator in operators:
        waiting = list(models(operator, count, seed, newest))
        for first in range(0, len(waiting), _BATCH):
            batch = waiting[first : first + _BATCH]
            answers = oracle.ask([model for _, _, model in batch])
            for (opset, kind, model), answer in zip(batch, answers, strict=True):
                yield record(operator, opset, kind, model, answer)


def record(operator: str, opset: str, kind: str, model: bytes, answer: Answer) -> dict[str, Any]:
    """Return the record of one model."""
    text = base64.b64encode(model).decode()
    return {"operator": operator, "opset": opset, "drawn": kind, **answer.to_dict(), "model": text}


def write(path: Path, head: dict[str, Any], records: Iterable[Any]) -> int:
    """Write a file of answers and return its number of models."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"asked": head}) + "\n")
        for each in records:
            file.write(json.dumps(each) + "\n")
            count += 1
    return count


def main() -> int:
    """Run the command."""
    options = _options()
    target = f"{options.package}:{options.release}" + (f"@{options.level}" if options.level else "")
    path = options.folder / f"{target.replace(':', '-')}{'-fused' if options.fused else ''}.jsonl"
    if options.compare:
        from tests.runtimes.onnxruntime.compare import compare

        return compare(path, target)
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with _oracle(options) as oracle:
        head = {
            "versions": dict(oracle.versions),
            "optimisation": options.optimisation,
            "fused": options.fused,
            "run": options.run,
        }
        operators = options.operators or list(dialect("onnx").operators)
        records = ask(oracle, operators, options.cases, options.seed, options.newest)
        count = write(path, head | {"target": target}, records)
    sys.stdout.write(f"{path}: {count} models in {time.perf_counter() - began:.0f} s\n")
    return 0


def _oracle(options: argparse.Namespace) -> PlacementOracle | CpuPlacementOracle:
    if options.package == CPU_PACKAGE:
        return CpuPlacementOracle(options.release, optimisation=options.optimisation, run=options.run)
    return PlacementOracle(
        options.release,
        level=options.level,
        optimisation=options.optimisation,
        fused=options.fused,
        run=options.run,
        timeout=_TIMEOUT,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.runtimes.onnxruntime.campaign")
    parser.add_argument("folder", type=Path, help="where the files of truth are")
    parser.add_argument("operators", nargs="*", help="default: all of the ONNX tables")
    parser.add_argument("--package", choices=(PACKAGE, CPU_PACKAGE), default=PACKAGE)
    parser.add_argument("--release", default=NEWEST)
    parser.add_argument("--level", help="of DirectML under the release (default: its own)")
    parser.add_argument("--cases", type=int, default=20, help="for each version of an operator")
    parser.add_argument("--newest", type=int, metavar="OPSET", help="the highest opset that is asked (default: all)")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--optimisation", choices=tuple(OPTIMISATIONS), default="off")
    parser.add_argument("--fused", action="store_true", help="let DirectML's nodes become graphs")
    parser.add_argument("--run", action="store_true", help="run sessions too, for kernels that wait for it")
    parser.add_argument("--compare", action="store_true", help="hold specgate.place against what is there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
