"""The export as JSON: one document, or a folder with an index.

The folder has a file per operator. Equal tables give identical bytes, as the files have no dates or paths.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.export.document import SCHEMA, document, heading
from specgate.files import write_text
from specgate.report import plural

if TYPE_CHECKING:
    from specgate.export import ExportScope

__all__ = ["INDEX", "export", "plain", "schema_text"]

INDEX: Final = "index.json"
_SCHEMA_FILE: Final = "tables.schema.json"


def export(result: ExportScope) -> list[str]:
    """Write the tables and the schema; return the text without an output."""
    entries = document(result)
    if result.output is None:
        return [_text(entries)]
    place = Path(result.output)
    counted = plural(sum(len(part["operators"]) for part in entries["dialects"].values()), "operator")
    if place.suffix == ".json" and not place.is_dir():
        write_text(place, _text(entries))
        write_text(place.with_suffix(".schema.json"), schema_text())
    else:
        _folder(entries, place)
    return [f"{counted}, tables {entries['tables_version']}: {result.output}\n"]


def schema_text() -> str:
    """Return the schema of the export."""
    return files("specgate.export").joinpath(_SCHEMA_FILE).read_text(encoding="utf-8")


def _folder(entries: dict[str, Any], folder: Path) -> None:
    before = _written_before(folder)
    try:
        for name in entries["dialects"]:
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None
    head = heading()
    listed: dict[str, Any] = {}
    for name, part in entries["dialects"].items():
        paths = {operator: f"{name}/{operator}.json" for operator in part["operators"]}
        for operator, data in part["operators"].items():
            write_text(folder / paths[operator], _text({**head, "dialect": name, **data}))
        listed[name] = {**part, "operators": paths}
    write_text(folder / INDEX, _text({**entries, "dialects": listed}))
    write_text(folder / _SCHEMA_FILE, schema_text())
    now = {path for part in listed.values() for path in part["operators"].values()}
    for path in before - now:  # of operators that the tables no longer have
        (folder / path).unlink(missing_ok=True)


def _written_before(folder: Path) -> set[str]:
    """Return the operator files of an earlier export to this folder.

    Raises InputError for a folder that is not an export.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["schema"] != SCHEMA:
            raise ValueError
        listed = {path for part in index["dialects"].values() for path in part["operators"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        reason = "expected FILE.json, a new or empty folder, or one that an earlier export wrote"
        raise InputError(reason, file=str(folder)) from None
    shape = {path for path in listed if isinstance(path, str) and len(Path(path).parts) == 2 and ".." not in path}
    return {path for path in shape if not Path(path).is_absolute() and path.endswith(".json")}


def _text(data: dict[str, Any]) -> str:
    return json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def plain(value: Any) -> Any:
    """Return JSON data; infinity and NaN become text as in reports."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value
