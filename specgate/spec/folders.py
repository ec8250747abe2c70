"""Where the YAML files of tables are: the checkout's, those of the environment, and those that a package brings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from specgate.dialects import dialect_names, package
from specgate.errors import InputError

__all__ = ["CHECKOUT", "PACKAGE", "folder_to_write", "layout_file", "source_folders", "spec_folders", "written_tables"]

PACKAGE: Final = Path(__file__).resolve().parent.parent
CHECKOUT: Final = PACKAGE.parent / "specs"


def spec_folders() -> list[Path]:
    """Return the extra spec folders of the environment variable SPECGATE_SPECS, in order."""
    return [Path(p) for p in os.environ.get("SPECGATE_SPECS", "").split(os.pathsep) if p]


def source_folders() -> list[Path]:
    """Return the folders whose YAML files can be edited here: the checkout's, then the extra ones."""
    own = [CHECKOUT] if (CHECKOUT.parent / "pyproject.toml").is_file() and CHECKOUT.is_dir() else []
    return own + spec_folders()


def written_tables(dialect: str) -> Path | None:
    """Return the folder with the YAML files of a dialect that is in use, None where only compiled tables are."""
    roots = source_folders()
    own = next((root / dialect for root in roots if (root / dialect / "levels.yaml").is_file()), None)
    specs = package(dialect).specs if own is None and dialect in dialect_names() else None
    return own if specs is None else Path(specs)


def folder_to_write(dialect: str, to: str | None) -> Path:
    """Return the folder whose tables an import writes: `to`, or that of the tables in use; raise InputError without."""
    if to is not None:
        return Path(to)
    if not source_folders():
        raise InputError("expected --to and the folder of the dialect's tables; this installation has none to write")
    return source_folders()[0] / dialect


def layout_file(folder: Path) -> Path:
    """Return where the layout of a dialect's structures is, which numbers its words; few dialects have one."""
    return folder.parent / "abi" / f"{folder.name}.yaml"
