"""Build the models: ``python -m tests.real_models.build [FOLDER]``.

Existing models are kept.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from tests.real_models.plan import DERIVED, EXECUTED, cache_folder, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["build"]


def build(folder: Path) -> None:
    """Build every model that `folder` lacks.

    Raises the tools' errors; all planned models are known to work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _lock_build(folder), tempfile.TemporaryDirectory(dir=folder) as scratch:
        for name in sources():
            _export(name, folder, Path(scratch))
        for source, ways in (*DERIVED.items(), *EXECUTED.items()):
            for way in ways:
                _derive(source, way, folder, Path(scratch))


def _export(name: str, folder: Path, scratch: Path) -> None:
    network, exporter, opset = name.split("-")
    samples, model = f"{network}.npz", f"{name}.onnx"
    if (folder / samples).exists() and (folder / model).exists():
        return
    from tests.real_models import export

    print(name, flush=True)
    export.save_samples(network, scratch / samples)
    export.export(network, exporter, int(opset), scratch / model)
    for text in (samples, model):
        (scratch / text).replace(folder / text)


def _derive(source: str, way: str, folder: Path, scratch: Path) -> None:
    name = f"{source}-{way}.onnx"
    if (folder / name).exists():
        return
    from tests.real_models import derive

    print(name, flush=True)
    for needed in (f"{source}.onnx", f"{source.partition('-')[0]}.npz"):
        shutil.copy(folder / needed, scratch)
    derive.derive(scratch / f"{source}.onnx", way, scratch / name)
    (scratch / name).replace(folder / name)


@contextlib.contextmanager
def _lock_build(folder: Path) -> Iterator[None]:
    """Let one process build at a time, if the system can lock files.

    Several test workers need the same models.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # exporters warn of themselves
    logging.disable(logging.WARNING)
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else cache_folder()
    build(chosen)
    print(chosen)
