"""``--specs`` and ``--kernels``: operators and kernels of the user."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.dialects import is_dialect
from specgate.errors import InputError
from specgate.spec.tables import load_extra_specs

if TYPE_CHECKING:
    from collections.abc import Sequence


def extend(specs: Sequence[str] | None, kernels: Sequence[str] | None) -> None:
    """Load spec folders and kernel files; raise InputError if one is missing."""
    for folder in specs or ():
        if not Path(folder).is_dir():
            raise InputError(f"expected a folder laid out as specs/, found {describe_path(folder)}", file=folder)
        if not any(_is_dialect_folder(part) for part in Path(folder).iterdir()):
            raise InputError("expected a folder laid out as specs/: DIALECT/operators/NAME.yaml", file=folder)
    if specs:
        load_extra_specs(*(Path(folder) for folder in specs))
    for file in kernels or ():
        if not Path(file).is_file():
            raise InputError(
                f"expected a Python file that calls register_kernel, found {describe_path(file)}", file=file
            )
        try:
            runpy.run_path(file, run_name="specgate_kernels")
        except Exception as error:  # user code may raise anything
            raise InputError(f"failed: {error!r:.200}", file=file) from error


def _is_dialect_folder(folder: Path) -> bool:
    return folder.is_dir() and (is_dialect(folder.name) or (folder / "levels.yaml").is_file())


def describe_path(path: str) -> str:
    return "no such path" if not Path(path).exists() else "a folder" if Path(path).is_dir() else "not a regular file"
