"""Commands to import the installed onnx package, or to compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["compare_tables", "import_tables"]


def import_tables(folder: Path, say: Callable[[str], object]) -> None:
    """Write the package's facts into the tables of a folder.

    folder: such as ``specs/onnx``.
    """
    _expect_package()
    from tools.import_onnx.files import import_operators
    from tools.import_onnx.schemas import package_version, schema_facts

    facts = schema_facts()
    changed = import_operators(folder, facts, package_version())
    for path in changed:
        say(str(path))
    say(f"onnx {package_version()}: {len(facts)} operators, {len(changed)} files written")


def compare_tables(folder: Path, say: Callable[[str], object]) -> bool:
    """Print differences between tables and package.

    Returns whether there are any.
    """
    _expect_package()
    from specgate.spec.build import build_dialect
    from specgate.spec.dialect_spec import Dialect
    from tools.import_onnx.compare import differences, facts_of_tables, level_differences
    from tools.import_onnx.schemas import domain_versions, package_version, schema_facts, version_table

    table = Dialect("onnx", build_dialect(folder))
    words = {info["tensor"]: word for word, info in table.types.items()}
    lines = list(differences(facts_of_tables(table), schema_facts(), words, domain_versions()))
    lines += level_differences(table, version_table(), domain_versions())
    for line in lines:
        say(line)
    say(f"onnx {package_version()}: {len(lines)} differences")
    return bool(lines)


def _expect_package() -> None:
    try:
        import onnx.defs  # noqa: F401
    except ImportError:
        raise InputError("the onnx package is needed to import its operators; install specgate-ml[onnx]") from None
