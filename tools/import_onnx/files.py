"""Writing of the table files for the installed onnx package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.files import write_text
from specgate.spec.short_forms import named_sets
from specgate.spec.yamlio import load_yaml
from tools.import_onnx.content import table_content
from tools.import_onnx.update import REMARKS, update_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["file_name", "import_operators", "source_of"]


def import_operators(folder: Path, facts: Mapping[str, Any], package: str) -> list[str]:
    """Write tables into ``folder/operators``; return changed paths.

    folder: of the dialect (``specs/onnx``), with its ``types.yaml``. package: the version that the facts describe.
    Raises InputError for a file that is not a table, and if ruamel.yaml is required but missing.
    """
    words = _words(folder)
    sets = _sets(folder)
    present = dict(_present(folder))
    changed = []
    for name, versions in facts.items():
        path, text, old = present.get(name, (folder / file_name(name), "", {}))
        table = update_table(name, table_content(versions, words), source_of(name, versions, package), old, sets)
        if table != old:
            from tools.rewrite import rewrite_file

            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, rewrite_file(text, old, table, REMARKS))
            changed.append(path.relative_to(folder).as_posix())
    return changed


def file_name(operator: str) -> str:
    """Return the path of an operator's file in its dialect's folder.

    For example ``operators/ai.onnx.ml/LabelEncoder.yaml``.
    """
    domain, _, name = operator.rpartition(".")
    return "/".join(filter(None, ("operators", domain, f"{name}.yaml")))


def source_of(operator: str, versions: Mapping[str, Any], package: str) -> dict[str, str]:
    """Return the entry of `source` that names package and versions."""
    *before, last = versions
    listed = f"{', '.join(before)} and {last}" if before else last
    domain, _, name = operator.rpartition(".")
    where = f"{domain} {name}".strip()
    return {
        "package": "onnx",
        "version": package,
        "name": f"onnx.defs.get_all_schemas_with_history, {where} {listed}",
    }


def _words(folder: Path) -> dict[str, str]:
    path = folder / "types.yaml"
    if not path.is_file():
        raise InputError("expected a dialect's folder with types.yaml", file=str(folder))
    types = load_yaml(path.read_text(encoding="utf-8"), str(path))[0]["types"]
    return {info["tensor"]: word for word, info in types.items()}


def _sets(folder: Path) -> dict[str, dict[str, list[str]]]:
    path = folder / "sets.yaml"
    content = load_yaml(path.read_text(encoding="utf-8"), str(path))[0] if path.is_file() else {}
    return named_sets(content)[0]


def _present(folder: Path) -> Iterator[tuple[str, tuple[Path, str, dict[str, Any]]]]:
    for path in sorted((folder / "operators").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        content = load_yaml(text, str(path))[0]
        if not isinstance(content, dict) or not isinstance(content.get("operator"), str):
            raise InputError("expected the table of an operator", file=str(path))
        yield content["operator"], (path, text, content)
