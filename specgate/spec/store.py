"""Load compiled tables: shipped in the wheel, or rebuilt from YAML.

A file of compiled tables is lines of JSON. The first one has everything but the operators, and the lengths of the
following lines. Each further line is one operator, parsed when it is first used.
"""

from __future__ import annotations

import json
import os
from collections.abc import MutableMapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import package
from specgate.errors import InputError
from specgate.files import write_text
from specgate.loading import lazy
from specgate.spec.folders import CHECKOUT, PACKAGE, edited_at, layout_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path  # import cost that a check of one file must avoid

    Place = str | os.PathLike[str]
    import pathlib

    from specgate.spec import assemble as spec_assemble
    from specgate.spec import build as spec_build
    from specgate.spec import digest as spec_digest
    from specgate.spec import references
else:
    pathlib = lazy("pathlib")
    spec_assemble = lazy("specgate.spec.assemble")
    spec_build = lazy("specgate.spec.build")  # loads pydantic and yaml: only when stale
    spec_digest = lazy("specgate.spec.digest")  # cached tables have their digest
    references = lazy("specgate.spec.references")

_BUILT_IN_FOLDER: Final = os.path.join(PACKAGE, "_specs")
_TOOL_VERSION: Final = 10  # increment when the format of build.py's output changes


def compiled_tables(dialect: str, extra: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the compiled tables of `dialect`, rebuilt if YAML is newer.

    extra: folders with further operators. Raises InputError for an unknown dialect or an invalid spec file.
    """
    folder = os.path.join(CHECKOUT, dialect)
    in_checkout = edited_at(CHECKOUT) and os.path.isdir(folder)
    tables = _load_or_build(dialect, folder, _dialect_built) if in_checkout else _load_tables(dialect, extra)
    for root in extra:
        _merge(tables, root / dialect)
    return tables


def compiled_folder(name: str, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """Return the compiled tables of a folder below specs/ that is not a dialect.

    `build` rebuilds them if a YAML file is newer. Raises InputError for a missing folder, and the errors of `build` for
    an invalid file.
    """
    folder = os.path.join(CHECKOUT, name)
    if edited_at(CHECKOUT) and os.path.isdir(folder):
        return _load_or_build(name, folder, build)
    path = _cache_path(name)
    if not os.path.isfile(path):
        raise InputError(f"no tables of {name!r:.60} are installed", file=path)
    return cached_tables(path)["tables"]  # type: ignore[no-any-return]


def _cache_path(name: str) -> str:
    return os.path.join(_BUILT_IN_FOLDER, f"{name.replace('/', '-')}.jsonl")


def _dialect_built(folder: Path) -> dict[str, Any]:
    return spec_build.build_dialect(folder)


def _load_tables(dialect: str, extra: tuple[pathlib.Path, ...]) -> dict[str, Any]:
    path = _cache_path(dialect)
    if os.path.isfile(path):
        return cached_tables(path)["tables"]  # type: ignore[no-any-return]
    for root in extra:  # a folder with a whole dialect
        if (root / dialect / "levels.yaml").is_file():
            return spec_build.build_dialect(root / dialect)
    specs = package(dialect).specs
    if specs is None:
        raise InputError(f"no tables of the dialect {dialect!r:.60} are installed", file=path)
    return spec_build.build_dialect(pathlib.Path(specs))


class _Operators(MutableMapping[str, Any]):
    """Tables of operators by name, parsed when they are first used."""

    def __init__(self, entries: dict[str, Any], data: bytes, file: Place) -> None:
        self._entries = entries
        self._data = data
        self._file = file

    def __getitem__(self, name: str) -> Any:
        result = self._entries[name]
        if result.__class__ is slice:
            try:
                result = self._entries[name] = json.loads(self._data[result])
            except (ValueError, RecursionError):
                reason = f"the compiled table of {name} cannot be read; delete the file, or install again"
                raise InputError(reason, file=os.fspath(self._file)) from None
        return result

    def __setitem__(self, name: str, table: Any) -> None:
        self._entries[name] = table

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def cached_tables(path: Place) -> Any:
    """Return the tables in a file of `written_tables`.

    Raises ValueError for an incomplete file.
    """
    with open(path, "rb") as file:
        data = file.read()
    content_begin = data.index(b"\n") + 1
    result = json.loads(data[:content_begin])
    if result["lines"] is None:
        return result
    entries: dict[str, Any] = {}
    for name, length in result["lines"].items():
        entries[name] = slice(content_begin, content_begin + length)
        content_begin += length
    if content_begin != len(data):
        raise ValueError(f"expected {content_begin} bytes, found {len(data)}")
    result["tables"]["operators"] = _Operators(entries, data, path)
    return result


def written_tables(stamp: object, tables: dict[str, Any]) -> str:
    """Return the text of a file of compiled tables."""
    operators = tables.get("operators")
    if operators is None:
        return _line({"stamp": stamp, "lines": None, "tables": tables})
    lines = {name: _line(table) for name, table in operators.items()}
    rest = {name: part for name, part in tables.items() if name != "operators"}
    lengths = {name: len(line) for name, line in lines.items()}  # equals the length in bytes, because the JSON is ASCII
    return _line({"stamp": stamp, "lines": lengths, "tables": rest}) + "".join(lines.values())


def _line(content: object) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"


def source_stamp(folder: Place) -> list[list[Any]]:
    """Return name, size and modification time of the tables' sources.

    These are the YAML files and the modules that compile them. A compiled file is stale when its stamp differs.
    """
    items: list[list[Any]] = [*_stamp_compiler(PACKAGE)]
    _add_files(os.fspath(folder), "", items)
    with suppress(OSError):
        state = os.stat(layout_file(folder))
        items.append(["../abi", state.st_size, state.st_mtime_ns])
    return [["tool", _TOOL_VERSION, 0], *sorted(items)]


@cache
def _stamp_compiler(package: str) -> list[list[Any]]:
    """Return the stamp of the modules that compile tables, read once."""
    items: list[list[Any]] = []
    for room in ("spec", "rules"):
        _add_files(os.path.join(package, room), f"../{room}{os.sep}", items, ".py")
    return items


def _add_files(folder: str, subfolder: str, items: list[list[Any]], suffix: str = ".yaml") -> None:
    """Add the files with a suffix in a folder and its subfolders.

    subfolder: the path relative to the first folder.
    """
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _add_files(entry.path, f"{subfolder}{entry.name}{os.sep}", items, suffix)
                elif entry.name.endswith(suffix):
                    with suppress(OSError):  # just deleted, or an editor's dangling lock: the build skips it too
                        state = entry.stat()
                        items.append([subfolder + entry.name, state.st_size, state.st_mtime_ns])
    except OSError:  # same as for a file
        return


def _load_or_build(name: str, folder: str, build: Callable[[pathlib.Path], dict[str, Any]]) -> dict[str, Any]:
    path = _cache_path(name)
    current = source_stamp(folder)
    try:
        tables_by_name = cached_tables(path)
        if tables_by_name["stamp"] == current:
            return tables_by_name["tables"]  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    tables = build_with_digest(build, pathlib.Path(folder))
    write_tables(path, current, tables)
    return tables


def build_with_digest(build: Callable[[Path], dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return the tables that `build` creates for a folder, with their digest."""
    tables = build(folder)
    return {**tables, "digest": spec_digest.digest(tables)}


def write_tables(path: Place, stamp: object, tables: dict[str, Any]) -> None:
    """Write compiled tables atomically.

    An unwritable folder is not an error; the next start rebuilds.
    """
    with suppress(OSError, InputError):
        pathlib.Path(path).parent.mkdir(exist_ok=True)
        write_text(path, written_tables(stamp, tables))


def _merge(tables: dict[str, Any], folder: Path) -> None:
    """Add the operators and families of an extra folder to a dialect's tables."""
    if not (folder / "operators").is_dir() or (folder / "levels.yaml").is_file():
        return
    parts, problems = spec_build.load_parts(folder, list(tables["levels"]["levels"]))
    parts = [part._replace(relative=str(part.path)) for part in parts]
    sources, texts = spec_assemble.assemble(tables, parts, keep_broken=bool(problems))
    problems += texts
    tables.pop("digest", None)
    problems += references.check_operators(tables, sources)
    for name in sources:
        tables["counted"].pop(name, None)
    if problems:
        raise spec_build.SpecErrors(problems)
