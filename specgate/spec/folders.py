"""Where the YAML files of tables are: the checkout's, those of the environment, and those that a package brings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from specgate.dialects import dialect_names, package

if TYPE_CHECKING:
    from pathlib import Path  # it costs what a check of one file must not pay

__all__ = [
    "CHECKOUT", "PACKAGE", "edited_at", "examples_file", "layout_file", "source_folders", "spec_folders",
    "written_tables",
]  # fmt: skip

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CHECKOUT: Final = os.path.join(os.path.dirname(PACKAGE), "specs")


def edited_at(specs: str | os.PathLike[str]) -> bool:
    """Return whether a folder of YAML files is that of a checkout, whose files change."""
    return os.path.isfile(os.path.join(os.path.dirname(specs), "pyproject.toml")) and os.path.isdir(specs)


def spec_folders() -> list[Path]:
    """Return the extra spec folders of the environment variable SPECGATE_SPECS, in order."""
    text = os.environ.get("SPECGATE_SPECS")
    if not text:
        return []
    from pathlib import Path

    return [Path(p) for p in text.split(os.pathsep) if p]


def source_folders() -> list[Path]:
    """Return the folders whose YAML files can be edited here: the checkout's, then the extra ones."""
    from pathlib import Path

    return ([Path(CHECKOUT)] if edited_at(CHECKOUT) else []) + spec_folders()


def written_tables(dialect: str) -> Path | None:
    """Return the folder with the YAML files of a dialect that is in use, None where only compiled tables are."""
    from pathlib import Path

    roots = source_folders()
    own = next((root / dialect for root in roots if (root / dialect / "levels.yaml").is_file()), None)
    specs = package(dialect).specs if own is None and dialect in dialect_names() else None
    return own if specs is None else Path(specs)


def examples_file(operator: str) -> str:
    """Return the path of the file with the examples of the operator whose table's path is `operator`."""
    head, _, tail = operator.rpartition("operators/")
    return f"{head}examples/{tail}"


def layout_file(folder: str | os.PathLike[str]) -> str:
    """Return where the layout of a dialect's structures is, which numbers its words; few dialects have one."""
    specs, name = os.path.split(os.fspath(folder))
    return os.path.join(specs, "abi", f"{name}.yaml")
