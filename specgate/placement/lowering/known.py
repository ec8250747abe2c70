"""The lowering tables in use, by operator; each is made when it is first asked for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from specgate.placement.lowering.schema import schema_from
from specgate.placement.lowering.store import lowering_tables
from specgate.placement.lowering.table import make_table

if TYPE_CHECKING:
    from specgate.placement.lowering.schema import Schema
    from specgate.placement.lowering.table import Table

__all__ = ["lowering_of", "schema_of"]


@cache
def lowering_of(operator: str) -> Table | None:
    """Return the table of an operator by its name in ONNX's tables, None where there is none."""
    tables = lowering_tables()
    raw = tables["operators"].get(operator)
    return None if raw is None else make_table(operator, raw, tables["general"])


@cache
def schema_of(operator: str) -> Schema | None:
    """Return the fields of an operator, from ONNX's tables or from its lowering table; None where neither has them."""
    table = lowering_of(operator)
    return schema_from(operator, None) if table is None else table.schema
