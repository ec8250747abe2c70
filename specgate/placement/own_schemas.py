"""The schemas that only the runtime has: operators of its own domains, and experimental ones of early ai.onnx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specgate.placement.registrations import release_position, runtime_tables
from specgate.placement.scopes import MAIN_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OwnSchema", "Parameter", "own_schema"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input or output. limited: the type variable, or its only type such as ``INT64``.

    optional: it may be left out. several: it takes any number of tensors, and is the last.
    """

    name: str
    limited: str
    optional: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True)
class OwnSchema:
    """A version of an operator. attributes: by name the type and the default, None where there is none."""

    domain: str
    operator: str
    since: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, tuple[str, Any]] = field(hash=False)


def own_schema(domain: str, operator: str, opset: int, release: str | None = None) -> OwnSchema | None:
    """Return the schema that an imported version of a domain means, None where the runtime has none of its own.

    Of an operator of ai.onnx the dialect's table may have a newer version, which then counts. domain: "" is ai.onnx.
    release: "1.24" or "1.24.4", None for the newest; raises InputError for an unknown one.
    """
    at = release_position(release)
    rows = runtime_tables()["schemas"].get(domain or MAIN_DOMAIN, {}).get(operator, ())
    held = [row for row in rows if row["first"] <= at <= row["last"] and row["version"] <= opset]
    if not held:
        return None
    row = max(held, key=lambda each: int(each["version"]))
    given = row.get("attributes", {})
    return OwnSchema(
        domain or MAIN_DOMAIN,
        operator,
        row["version"],
        row.get("deprecated", False),
        _parameters(row.get("inputs", {})),
        _parameters(row.get("outputs", {})),
        {name: (e, None) if isinstance(e, str) else (e["type"], e.get("default")) for name, e in given.items()},
    )


def _parameters(written: Mapping[str, str]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name, text.rstrip("?*"), optional=text.endswith("?"), several=text.endswith("*"))
        for name, text in written.items()
    )
