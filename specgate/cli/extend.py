"""``--specs`` and ``--kernels``: a user's own operators, by YAML and one kernel function."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.errors import InputError
from specgate.spec.tables import use_specs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["extend"]


def extend(specs: Sequence[str] | None, kernels: Sequence[str] | None) -> None:
    """Load further spec folders, and run the files that register kernels; raise InputError for what is missing."""
    for folder in specs or ():
        if not Path(folder).is_dir():
            raise InputError("expected a folder laid out as specs/", file=folder)
    if specs:
        use_specs(*(Path(folder) for folder in specs))
    for file in kernels or ():
        if not Path(file).is_file():
            raise InputError("expected a Python file that calls register_kernel", file=file)
        try:
            runpy.run_path(file, run_name="specgate_kernels")
        except Exception as error:  # the user's own code may fail in any way
            raise InputError(f"failed: {error!r:.200}", file=file) from error
