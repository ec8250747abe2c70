"""The tables of ONNX beside what the installed onnx package states of its operators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compare_tables", "import_tables"]


def import_tables(to: str | None, say: Callable[[str], object]) -> None:
    """Write what the package states into the tables of a folder, those that specgate uses if None."""
    _expect_package()
    from specgate.dialects.onnx.importer.schemas import package_version, schema_facts
    from specgate.dialects.onnx.importer.tables import import_operators
    from specgate.spec.folders import folder_to_write

    facts = schema_facts()
    changed = import_operators(folder_to_write("onnx", to), facts, package_version())
    for path in changed:
        say(str(path))
    say(f"onnx {package_version()}: {len(facts)} operators, {len(changed)} files written")


def compare_tables(to: str | None, say: Callable[[str], object]) -> bool:
    """Say where the tables differ from the package; return whether they do."""
    _expect_package()
    from specgate.dialects.onnx.importer.compare import differences, facts_of_tables, level_differences
    from specgate.dialects.onnx.importer.schemas import domain_versions, package_version, schema_facts, version_table
    from specgate.spec.build import build_dialect
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.tables import dialect

    table = dialect("onnx") if to is None else Dialect("onnx", build_dialect(Path(to)))
    words = {info["tensor"]: word for word, info in table.types.items()}
    found = list(differences(facts_of_tables(table), schema_facts(), words, domain_versions()))
    found += level_differences(table, version_table(), domain_versions())
    for line in found:
        say(line)
    say(f"onnx {package_version()}: {len(found)} differences")
    return bool(found)


def _expect_package() -> None:
    try:
        import onnx.defs  # noqa: F401
    except ImportError:
        raise InputError("the onnx package is needed to import its operators; install specgate-ml[onnx]") from None
