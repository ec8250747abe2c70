"""Linting generated models: ONNX against the onnx package, IRs against OpenVINO."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import specgate
from specgate.dialects.onnx.file.model import read_model
from tests.benchmarks.ir_groups import ir_groups
from tests.benchmarks.made_models import OPSET, SIZES, chain
from tests.benchmarks.peers import run
from tests.benchmarks.real_groups import real_groups
from tests.benchmarks.timing import Contender, Group

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["lint_groups"]


# Peak memory of one call in a process with all imports done; exact on Linux only.
_PEAK = """
import sys
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024
{imports}
call = lambda path: {call}
call(sys.argv[1])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
kept = call(sys.argv[2])
print(status("VmHWM") - before)
"""


def lint_groups() -> Iterator[Group]:
    """Yield the groups of both formats: generated and exported models, many files."""
    yield from _onnx_groups()
    yield from real_groups()
    yield from ir_groups()


def _onnx_groups() -> Iterator[Group]:
    """Yield a group per size; the models exist on disk meanwhile."""
    try:
        import onnx
    except ImportError:
        yield Group("lint", [Contender("onnx", None, missing="not installed (onnx), which the models are made with")])
        return
    per_node: dict[int, float] = {}
    with TemporaryDirectory(prefix="specgate-bench-") as folder:
        small = Path(folder, "small.onnx")
        onnx.save(chain(10), small)
        for size in SIZES:
            path = Path(folder, f"{size}.onnx")
            onnx.save(chain(size), path)
            yield _group(size, str(path), str(small), per_node)


def _group(size: int, path: str, small: str, per_node: dict[int, float]) -> Group:
    import onnx

    lint = Contender("specgate.lint", lambda: specgate.lint(path, targets=[f"onnx:{OPSET}"]), own=True)

    def remarks() -> list[tuple[str, str]]:
        assert lint.typical is not None  # it ran
        per_node[size] = lint.typical / size
        before = [number for number in per_node if number < size]
        messages = [
            (f"time per node against the model of {other:,} nodes", f"{per_node[size] / per_node[other]:.2f}x")
            for other in before
        ]
        return messages + (_memory(path, small) if size == SIZES[-1] else [])

    contenders = [
        lint,
        Contender("specgate's reader alone", lambda: read_model(path), own=True),
        Contender("onnx.checker.check_model, full_check", lambda: onnx.checker.check_model(path, full_check=True)),
        Contender("onnx.load", lambda: onnx.load(path)),
    ]
    return Group(f"lint of a model of {size:,} nodes", contenders, 0.02, size, "nodes", remarks)


def _memory(path: str, small: str) -> list[tuple[str, str]]:
    """Peak memory in subprocesses, as ratios to the loaded graph and to the file."""
    if not sys.platform.startswith("linux"):
        return [("peak memory", "measured on Linux only")]
    calls = {
        "specgate.lint": ("import specgate", f"specgate.lint(path, targets=['onnx:{OPSET}'])"),
        "specgate's reader": ("from specgate.dialects.onnx.file.model import read_model", "read_model(path)"),
        "onnx.checker": ("import onnx", "onnx.checker.check_model(path, full_check=True)"),
        "onnx.load": ("import onnx", "onnx.load(path)"),
    }
    peaks = {
        name: int(run([sys.executable, "-c", _PEAK.format(imports=imports, call=call), small, path]))
        for name, (imports, call) in calls.items()
    }
    graph, file = peaks["onnx.load"], Path(path).stat().st_size
    return [
        (
            f"peak memory of {name}",
            f"{peak / 2**20:.1f} MiB, {peak / graph:.2f}x the graph as onnx.load holds it, {peak / file:.1f}x the file",
        )
        for name, peak in peaks.items()
    ]
