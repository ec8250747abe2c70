"""Where compiled tables come from: shipped in the wheel, or made from the YAML beside the package until stale."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import package
from specgate.errors import InputError
from specgate.files import write_text
from specgate.spec.folders import CHECKOUT, PACKAGE, layout_file

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compiled_folder", "compiled_tables"]

_SHIPPED: Final = PACKAGE / "_specs"
_TOOL_VERSION: Final = 6  # raise it whenever build.py's output changes shape


def compiled_tables(dialect: str, extra: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the compiled tables of `dialect`, rebuilt when a YAML file is newer; `extra` folders add operators.

    Raises InputError when there is no such dialect or a spec file is wrong.
    """
    folder = CHECKOUT / dialect
    in_checkout = (CHECKOUT.parent / "pyproject.toml").is_file() and folder.is_dir()
    tables = _fresh(dialect, folder, _dialect_built) if in_checkout else _shipped(dialect, extra)
    for root in extra:
        _merge(tables, root / dialect)
    return tables


def compiled_folder(name: str, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """Return the compiled tables of a folder beside the dialects; `build` makes them where a YAML file is newer.

    Raises InputError when there are none, and what `build` raises when a file is wrong.
    """
    folder = CHECKOUT / name
    if (CHECKOUT.parent / "pyproject.toml").is_file() and folder.is_dir():
        return _fresh(name, folder, build)
    path = _SHIPPED / f"{name}.json"
    if not path.is_file():
        raise InputError(f"no tables of {name!r:.60} are installed", file=str(path))
    return _read(path)["tables"]  # type: ignore[no-any-return]


def _dialect_built(folder: Path) -> dict[str, Any]:
    from specgate.spec.build import build_dialect  # pydantic and yaml: only when stale

    return build_dialect(folder)


def _shipped(dialect: str, extra: tuple[Path, ...]) -> dict[str, Any]:
    path = _SHIPPED / f"{dialect}.json"
    if path.is_file():
        return _read(path)["tables"]  # type: ignore[no-any-return]
    from specgate.spec.build import build_dialect  # pydantic and yaml: for the dialects of others

    for root in extra:  # a folder that brings a whole dialect
        if (root / dialect / "levels.yaml").is_file():
            return build_dialect(root / dialect)
    specs = package(dialect).specs
    if specs is None:
        raise InputError(f"no tables of the dialect {dialect!r:.60} are installed", file=str(path))
    return build_dialect(Path(specs))


def _read(path: Path) -> Any:
    with path.open("rb") as file:
        return json.loads(file.read())


def stamp(folder: Path) -> list[list[Any]]:
    """Return what a compiled file must still match: every YAML file's name, size and modification time."""
    found = []
    for base, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".yaml"):
                path = os.path.join(base, name)  # noqa: PTH118  # 177 files: pathlib costs 1 ms here
                try:
                    state = os.stat(path)  # noqa: PTH116
                except OSError:  # gone meanwhile, or an editor's dangling lock: the build skips it too
                    continue
                found.append([os.path.relpath(path, folder), state.st_size, state.st_mtime_ns])
    layout = layout_file(folder)
    if layout.is_file():
        state = layout.stat()
        found.append(["../abi", state.st_size, state.st_mtime_ns])
    return [["tool", _TOOL_VERSION, 0], *sorted(found)]


def _fresh(name: str, folder: Path, build: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    path = _SHIPPED / f"{name}.json"
    now = stamp(folder)
    try:
        kept = _read(path)
        if kept["stamp"] == now:
            return kept["tables"]  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    tables = build(folder)
    write_tables(path, {"stamp": now, "tables": tables})
    return tables


def write_tables(path: Path, content: dict[str, Any]) -> None:
    """Write compiled tables whole or not at all; a folder that cannot be written only costs the next start."""
    with suppress(OSError, InputError):
        path.parent.mkdir(exist_ok=True)
        write_text(path, json.dumps(content, separators=(",", ":")))


def _merge(tables: dict[str, Any], folder: Path) -> None:
    """Add what a scratch folder has in operators/*.yaml and families/*.yaml to a dialect's tables."""
    if not (folder / "operators").is_dir() or (folder / "levels.yaml").is_file():
        return
    from specgate.spec.assemble import PART_FOLDERS, assemble
    from specgate.spec.build import SpecErrors, load_part
    from specgate.spec.references import check_operators

    problems: list[str] = []
    parts = []
    for kind in PART_FOLDERS:
        for path in sorted((folder / kind).rglob("*.yaml")):
            made, found = load_part(path, path.relative_to(folder).as_posix())
            parts += [part._replace(relative=str(path)) for part in made]
            problems += found
    sources, found = assemble(tables, parts, broken=bool(problems))
    problems += found
    problems += check_operators(tables, sources)
    if problems:
        raise SpecErrors(problems)
