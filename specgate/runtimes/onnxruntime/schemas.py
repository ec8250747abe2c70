"""Schemas that only the runtime defines.

They are operators of its additional domains, and experimental operators of early ai.onnx.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.reader import operator_name
from specgate.errors import NoTable
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, is_type, type_word
from specgate.spec.fields import FieldInfo
from specgate.spec.tables import dialect, on_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Param:
    """An input or output.

    field: its name in tables. limited: the name of its type constraint. several: it is variadic, and the last. mixed:
    its tensors may have different types. only: its type if it has exactly one. optional: it may be omitted.
    """

    name: str
    field: str
    limited: str
    several: bool = False
    only: str | None = None
    mixed: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """An operator at an imported opset.

    since: its version at the opset. bound: by type constraint, the inputs and outputs in order, each as a flag for
    outputs and a position.
    """

    since: int
    inputs: tuple[Param, ...]
    outputs: tuple[Param, ...]
    attributes: tuple[FieldInfo, ...]
    bound: Mapping[str, tuple[tuple[bool, int], ...]]

    @classmethod
    def of(
        cls, since: int, inputs: Sequence[Param], outputs: Sequence[Param], attributes: Sequence[FieldInfo]
    ) -> Schema:
        """Return the schema with these inputs and outputs."""
        bound: dict[str, tuple[tuple[bool, int], ...]] = {}
        for is_output, params in ((False, inputs), (True, outputs)):
            for index, param in enumerate(params):
                bound[param.limited] = (*bound.get(param.limited, ()), (is_output, index))
        return cls(since, tuple(inputs), tuple(outputs), tuple(attributes), bound)

    def first(self, constraint: str, inputs: Sequence[str | None], outputs: Sequence[str | None]) -> str | None:
        """Return the type of the first existing argument of a constraint.

        The type is "" if unknown, and None if no such argument exists. inputs, outputs: types by position, None for an
        omitted one.
        """
        for is_output, index in self.bound.get(constraint, ()):
            texts = outputs if is_output else inputs
            if index < len(texts) and texts[index] is not None:
                return texts[index]
        return None


_TYPE_SPELLINGS: Final[dict[str, str]] = {}


def word(kind: str | None) -> str:
    """Return a type as registrations spell it, "" if it is unknown.

    Examples are ``FLOAT`` and ``seq(FLOAT)``.
    """
    if kind is None:
        return ""
    if "(" not in kind:
        return kind
    text = _TYPE_SPELLINGS.get(kind)
    if text is None:
        text = _TYPE_SPELLINGS[kind] = type_word(kind)
    return text


@on_change
def _clear_caches() -> None:
    """Clear the caches of unused tables."""
    _TYPE_SPELLINGS.clear()
    schema_of.cache_clear()


@lru_cache(maxsize=8192)
def schema_of(domain: str, op_type: str, opset: int | None, release: str = "") -> Schema | None:
    """Return the schema of an operator at an imported opset.

    None means that the operator is unknown or withdrawn there. release: the runtime's, because its own operators differ
    between releases.
    """
    if opset is None:
        return None
    table = dialect("onnx")
    name = operator_name(op_type, domain)
    # The types of the runtime's own operators differ between releases, which the dialect's tables do not record.
    if name not in table.tables.operators or domain in table.tables.foreign:
        return own_schema(domain, op_type, opset, release) if release else None
    try:
        spec = table.operator(name)
    except NoTable:
        return None
    level = str(opset)
    row = spec.row_at(level) if level in spec.dialect.position else None
    if row is None and level in spec.dialect.position:  # the runtime still has the function of a withdrawn version
        text = spec.last_row(level)
        row = text if text in spec.table.deprecated else None
    if row is None:  # the runtime implements some ONNX operators before ONNX does
        return own_schema(domain, op_type, opset, release) if release else None
    cells = spec.table.only_rows[row]
    layout = spec.layout(level)
    return Schema.of(
        int(row),
        [_param(info, cells.get(info.name, {})) for info in layout.inputs],
        [_param(info, cells.get(info.name, {})) for info in layout.outputs],
        [info for info in spec.fields_at(level).values() if info.kind == "attribute"],
    )


def opset_meant(domain: str, op_type: str, opset: int | None, release: str) -> int | None:
    """Return the opset by which a release reads an operator.

    It is older than `opset` if the tables have a newer version than the release. ONNX sometimes adds a new version of
    an operator to an opset that runtimes already support.
    """
    name = operator_name(op_type, domain)
    late_versions = runtime_tables()["lacks"].get(name)
    if not late_versions or opset is None:
        return opset
    schema = schema_of(domain, op_type, opset)
    missing_release = None if schema is None else late_versions.get(str(schema.since))
    if schema is None or missing_release is None:
        return opset
    return (
        schema.since - 1 if missing_release["first"] <= release_position(release) <= missing_release["last"] else opset
    )


def _param(info: FieldInfo, cell: Mapping[str, Any]) -> Param:
    types = cell.get("types") or ()
    only_type = word(types[0]) if len(types) == 1 and isinstance(types, list | tuple) else None
    constraint = cell.get("variable") or info.vendor_name
    return Param(info.vendor_name, info.name, constraint, info.type == "tensor[]", only_type, info.heterogeneous)


def own_schema(domain: str, op_type: str, opset: int, release: str | None = None) -> Schema | None:
    """Return the runtime's own schema for an imported version of a domain.

    It is the newest version that the import allows; None means that the runtime does not define one. For an operator of
    ai.onnx, a newer version in the dialect's table takes precedence. domain: "" is ai.onnx. release: "1.24" or
    "1.24.4", None for the newest; raises InputError for an unknown one.
    """
    position = release_position(release)
    rows = runtime_tables()["schemas"].get(domain or MAIN_DOMAIN, {}).get(op_type, ())
    items = [row for row in rows if row["version"] <= opset and row["first"] <= position <= row["last"]]
    if not items:
        return None
    row = max(items, key=lambda schema_data: int(schema_data["version"]))
    inputs, outputs = ([_own_param(*pair) for pair in row.get(end, {}).items()] for end in ("inputs", "outputs"))
    names = {param.name for param in (*inputs, *outputs)}
    attributes = []
    for name, entry in row.get("attributes", {}).items():
        info = entry if isinstance(entry, dict) else {"type": entry}
        field = f"{name}_attribute" if name in names else name
        attributes.append(FieldInfo(field, "attribute", info["type"], default=info.get("default"), vendor_name=name))
    return Schema.of(row["version"], inputs, outputs, attributes)


def _own_param(name: str, text: str) -> Param:
    bare_type = text.rstrip("?*")
    only_type = bare_type if is_type(bare_type) else None
    return Param(
        name, name, name if only_type else bare_type, text.endswith("*"), only_type, optional=text.endswith("?")
    )
