"""The tables of OpenVINO beside what the installed openvino package states of its operations.

The package states too little to write a table: no inputs, no outputs and no types. So tables are begun by name only,
and what people wrote is never touched.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["begin_tables", "compare_tables"]


def begin_tables(to: str | None, say: Callable[[str], object], operators: Sequence[str]) -> None:
    """Begin the tables of `operators` in a folder, that of the tables in use if None; raise InputError."""
    from specgate.dialects.openvino.importer.package import package_facts, package_version
    from specgate.dialects.openvino.importer.skeleton import begun, file_name
    from specgate.files import write_text
    from specgate.spec.build import build_dialect
    from specgate.spec.folders import folder_to_write

    if not operators:
        raise InputError("expected --operator and a type to begin a table for, or --check")
    folder = folder_to_write("openvino", to)
    facts, held = package_facts(), build_dialect(folder)["operators"]
    for name in operators:
        if name not in facts:
            raise InputError(f"openvino {package_version()} has no type {name!r:.80}")
        if name in held or (folder / file_name(name)).exists():
            raise InputError(f"{name} has a table; what people wrote is not touched", file=str(folder))
    for name in dict.fromkeys(operators):
        path = folder / file_name(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, begun(name, facts[name], package_version()))
        say(path.relative_to(folder).as_posix())


def compare_tables(to: str | None, say: Callable[[str], object]) -> bool:
    """Say where the tables differ from the package; return whether they do."""
    from specgate.dialects.openvino.importer.compare import differences, pairs
    from specgate.dialects.openvino.importer.package import package_facts, package_version
    from specgate.spec.build import build_dialect
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.tables import dialect

    facts = package_facts()
    table = dialect("openvino") if to is None else Dialect("openvino", build_dialect(Path(to)))
    found = list(differences(table, facts))
    for line in found:
        say(line)
    counted = f"{len(facts)} types in {pairs(facts)} versions"
    say(f"openvino {package_version()}: {counted}, {len(table.operators)} tables, {len(found)} differences")
    return bool(found)
