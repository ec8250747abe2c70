"""A campaign as JSON; the schema is ``conform.schema.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.report.clean import well_formed
from specgate.report.jsonreport import dumps, safe_values

if TYPE_CHECKING:
    from specgate.conform.result import Result

__all__ = ["document", "render"]


def render(result: Result) -> str:
    """Return the result as indented ASCII JSON."""
    return dumps(document(result))


def document(result: Result) -> dict[str, Any]:
    """Return ``Result.as_dict()`` with values that JSON supports.

    Tuples become lists. Lone surrogates, and NaN in descriptors, are replaced.
    """
    data = result.as_dict()
    differing = [difference for tally in data["values"] for difference in tally["differing"]]
    descriptors = [(d, safe_values(d.pop("descriptor"))) for d in (*data["differences"], *differing)]
    for difference, descriptor in descriptors:
        difference["descriptor"] = descriptor
    plain: dict[str, Any] = _plain(data)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
