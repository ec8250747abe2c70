"""Compiled lowering tables: shipped in the wheel, or rebuilt from YAML."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.lowering.table import make_table
from specgate.runtimes.onnxruntime.registrations import RUNTIME
from specgate.spec.store import compiled_folder

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.runtimes.onnxruntime.lowering.schema import Schema
    from specgate.runtimes.onnxruntime.lowering.table import Table


@cache
def lowering_tables() -> dict[str, Any]:
    """Return the compiled tables; raise InputError for invalid files.

    The keys are ``general`` and ``operators``, the latter by name.
    """
    return compiled_folder(f"{RUNTIME}/lowering", _build)


def _build(folder: Path) -> dict[str, Any]:
    from specgate.runtimes.onnxruntime.lowering.build import build_lowering  # pydantic and yaml: only if stale

    return build_lowering(folder)


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
