"""Source of the compiled lowering tables.

They are shipped in the wheel, or built from newer YAML files.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.lowering.table import make_table
from specgate.spec.folders import CHECKOUT, PACKAGE, edited_at
from specgate.spec.store import build_with_digest, kept_tables, stamp, write_tables

if TYPE_CHECKING:
    from specgate.runtimes.onnxruntime.lowering.schema import Schema
    from specgate.runtimes.onnxruntime.lowering.table import Table

__all__ = ["FILE", "FOLDER", "lowering_of", "lowering_tables", "schema_of"]

FOLDER: Final = Path(CHECKOUT, "onnxruntime", "lowering")
FILE: Final = Path(PACKAGE, "_specs", "onnxruntime-lowering.jsonl")
_FORMAT: Final = 3  # increment when the compiled form changes


@cache
def lowering_tables() -> dict[str, Any]:
    """Return the compiled tables; raise InputError for invalid files.

    The keys are ``general`` and ``operators``, the latter by name.
    """
    in_checkout = edited_at(CHECKOUT) and FOLDER.is_dir()
    current = [["format", _FORMAT, 0], *stamp(FOLDER)] if in_checkout else None
    try:
        kept = kept_tables(FILE)
        if current is None or kept["stamp"] == current:
            return kept["tables"]  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError):
        if current is None:
            raise InputError("the lowering tables of ONNX Runtime are not installed", file=str(FILE)) from None
    from specgate.runtimes.onnxruntime.lowering.build import build_lowering  # pydantic and yaml: only if stale

    tables = build_with_digest(build_lowering, FOLDER)
    write_tables(FILE, current, tables)
    return tables


@cache
def lowering_of(operator: str) -> Table | None:
    """Return the lowering table of an operator, None if it is missing."""
    tables = lowering_tables()
    raw = tables["operators"].get(operator)
    return None if raw is None else make_table(operator, raw, tables["general"])


@cache
def schema_of(operator: str) -> Schema | None:
    """Return the fields of an operator, None if they are unknown.

    They come from ONNX's tables or from its lowering table.
    """
    table = lowering_of(operator)
    return schema_from(operator, None) if table is None else table.schema
