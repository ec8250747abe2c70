"""Commands to begin OpenVINO tables, or to compare them.

The installed openvino package lacks the information for a table: it exposes neither inputs nor outputs nor types.
Tables are therefore begun only by name, and existing files are never modified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["begin_tables", "compare_tables"]


def begin_tables(folder: Path, say: Callable[[str], object], operators: Sequence[str]) -> None:
    """Write skeletons of the tables of `operators`; raise InputError.

    folder: such as ``specs/openvino``.
    """
    from specgate.files import write_text
    from specgate.spec.build import build_dialect
    from tools.import_openvino.package import package_facts, package_version
    from tools.import_openvino.skeleton import file_name, write_skeleton

    if not operators:
        raise InputError("expected --operator and a type to begin a table for, or --check")
    facts, tables = package_facts(), build_dialect(folder)["operators"]
    for name in operators:
        if name not in facts:
            raise InputError(f"openvino {package_version()} has no type {name!r:.80}")
        if name in tables or (folder / file_name(name)).exists():
            raise InputError(f"{name} has a table; what people wrote is not touched", file=str(folder))
    for name in dict.fromkeys(operators):
        path = folder / file_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, write_skeleton(name, facts[name], package_version()))
        say(path.relative_to(folder).as_posix())


def compare_tables(folder: Path, say: Callable[[str], object]) -> bool:
    """Print differences between tables and package.

    Returns whether there are any.
    """
    from specgate.spec.build import build_dialect
    from specgate.spec.dialect_spec import Dialect
    from tools.import_openvino.compare import differences, pairs
    from tools.import_openvino.package import package_facts, package_version

    facts = package_facts()
    table = Dialect("openvino", build_dialect(folder))
    lines = list(differences(table, facts))
    for line in lines:
        say(line)
    counted = f"{len(facts)} types in {pairs(facts)} versions"
    say(f"openvino {package_version()}: {counted}, {len(table.operators)} tables, {len(lines)} differences")
    return bool(lines)
