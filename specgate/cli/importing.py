"""``specgate spec import``: what a vendor's package states of its operators, into the tables or held against them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    import argparse

__all__ = ["import_tables"]


def import_tables(arguments: argparse.Namespace) -> int:
    """Write the tables of the installed onnx, or with --check list where they differ; 1 where they do."""
    try:
        import onnx.defs  # noqa: F401
    except ImportError:
        raise InputError("the onnx package is needed to import its operators; install specgate-ml[onnx]") from None
    return _check(arguments.to) if arguments.check else _write(arguments.to)


def _write(to: str | None) -> int:
    from specgate.importing.onnx_schemas import package_version, schema_facts
    from specgate.importing.onnx_tables import import_operators

    facts = schema_facts()
    changed = import_operators(_folder(to), facts, package_version())
    for path in changed:
        sys.stdout.write(f"{path}\n")
    sys.stdout.write(f"onnx {package_version()}: {len(facts)} operators, {len(changed)} files written\n")
    return 0


def _check(to: str | None) -> int:
    from specgate.importing.compare import differences, facts_of_tables, level_differences
    from specgate.importing.onnx_schemas import domain_versions, package_version, schema_facts, version_table
    from specgate.spec.build import build_dialect
    from specgate.spec.tables import Dialect, dialect

    table = dialect("onnx") if to is None else Dialect("onnx", build_dialect(_folder(to)))
    words = {info["tensor"]: word for word, info in table.types.items()}
    found = list(differences(facts_of_tables(table), schema_facts(), words, domain_versions()))
    found += level_differences(table, version_table(), domain_versions())
    for line in found:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"onnx {package_version()}: {len(found)} differences\n")
    return 1 if found else 0


def _folder(to: str | None) -> Path:
    from specgate.spec.store import source_folders

    if to is not None:
        return Path(to)
    if not source_folders():
        raise InputError("expected --to and the folder of the dialect's tables; this installation has none to write")
    return source_folders()[0] / "onnx"
