"""Folders with YAML tables: the checkout, SPECGATE_SPECS, and packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from specgate.dialects import dialect_names, package

if TYPE_CHECKING:
    from pathlib import Path  # import cost that a check of one file must avoid

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CHECKOUT: Final = os.path.join(os.path.dirname(PACKAGE), "specs")


def edited_at(specs: str | os.PathLike[str]) -> bool:
    """Return whether a folder of YAML files belongs to a checkout."""
    return os.path.isfile(os.path.join(os.path.dirname(specs), "pyproject.toml")) and os.path.isdir(specs)


def spec_folders() -> list[Path]:
    """Return the folders of SPECGATE_SPECS, in order."""
    text = os.environ.get("SPECGATE_SPECS")
    if not text:
        return []
    from pathlib import Path

    return [Path(p) for p in text.split(os.pathsep) if p]


def source_folders() -> list[Path]:
    """Return the editable spec folders: the checkout's, then extra ones."""
    from pathlib import Path

    return ([Path(CHECKOUT)] if edited_at(CHECKOUT) else []) + spec_folders()


def written_tables(dialect: str) -> Path | None:
    """Return the YAML folder of a dialect in use.

    None where only compiled tables exist.
    """
    from pathlib import Path

    roots = source_folders()
    own_folder = next((root / dialect for root in roots if (root / dialect / "levels.yaml").is_file()), None)
    specs = package(dialect).specs if own_folder is None and dialect in dialect_names() else None
    return own_folder if specs is None else Path(specs)


def examples_file(operator: str) -> str:
    """Return the examples file of the operator file `operator`."""
    head, _, tail = operator.rpartition("operators/")
    return f"{head}examples/{tail}"


def layout_file(folder: str | os.PathLike[str]) -> str:
    """Return the path of the dialect's structure layout, which numbers words.

    Few dialects have this file.
    """
    specs, name = os.path.split(os.fspath(folder))
    return os.path.join(specs, "abi", f"{name}.yaml")
