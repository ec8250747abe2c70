"""Linting OpenVINO IRs, against the time of `openvino.Core().read_model`."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

import specgate
from specgate.dialects.openvino.ir import read_ir
from tests.benchmarks.timing import Contender, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ir_groups"]

TARGET = "openvino:opset16"


def ir_groups() -> Iterator[Group]:
    """Yield a group per model; the model and its weights exist on disk meanwhile."""
    try:
        import openvino

        from tests.benchmarks.openvino_models import NETWORKS
    except ImportError:
        missing = "not installed (openvino), which the IRs are made with"
        yield Group("lint of OpenVINO IRs", [Contender("openvino", None, missing=missing)])
        return
    with TemporaryDirectory(prefix="specgate-bench-") as folder:
        for number, (name, make) in enumerate(NETWORKS.items()):
            path = Path(folder, f"{number}.xml")
            openvino.save_model(make(), path)
            yield _group(name, str(path))


def _group(name: str, path: str) -> Group:
    import openvino

    layers = len(read_ir(path).net.layers)
    core = openvino.Core()
    lint = Contender("specgate.lint", lambda: specgate.lint(path, targets=[TARGET]), own=True)
    reading = Contender("openvino.Core().read_model", lambda: core.read_model(path))

    def remarks() -> list[tuple[str, str]]:
        assert lint.typical is not None  # both sides ran
        assert reading.typical is not None
        return [("lint's CPU time", f"{lint.typical / reading.typical:.2f}x read_model"), *_memory(path)]

    contenders = [lint, Contender("specgate's reader alone", lambda: read_ir(path), own=True), reading]
    title = f"lint of the IR of {name}: {layers:,} layers, CPU time of all threads"
    return Group(title, contenders, 0.1, layers, "layers", remarks, process_time)


def _memory(path: str) -> list[tuple[str, str]]:
    """Return Python's peak memory, with compiled rules and tables already loaded."""
    calls: dict[str, Callable[[], object]] = {
        "specgate's reader": lambda: read_ir(path),
        "specgate.lint": lambda: specgate.lint(path, targets=[TARGET]),
    }
    file, messages = Path(path).stat().st_size, []
    for name, call in calls.items():
        tracemalloc.start()
        kept = call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del kept
        messages.append((f"peak memory of {name}", f"{peak / 2**20:.1f} MiB, {peak / file:.1f}x the XML"))
    return messages
