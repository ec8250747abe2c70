"""The schemas that only the runtime has: operators of its own domains, and experimental ones of early ai.onnx."""

from __future__ import annotations

from dataclasses import dataclass, field
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

__all__ = ["OwnSchema", "Param", "Parameter", "Schema", "opset_meant", "own_schema", "schema_of", "word"]


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
    items = [row for row in rows if row["first"] <= at <= row["last"] and row["version"] <= opset]
    if not items:
        return None
    row = max(items, key=lambda each: int(each["version"]))
    result = row.get("attributes", {})
    return OwnSchema(
        domain or MAIN_DOMAIN,
        operator,
        row["version"],
        row.get("deprecated", False),
        _parameters(row.get("inputs", {})),
        _parameters(row.get("outputs", {})),
        {name: (e, None) if isinstance(e, str) else (e["type"], e.get("default")) for name, e in result.items()},
    )


def _parameters(written: Mapping[str, str]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name, text.rstrip("?*"), optional=text.endswith("?"), several=text.endswith("*"))
        for name, text in written.items()
    )


@dataclass(frozen=True, slots=True)
class Param:
    """An input or output. field: its name in tables. limited: the name by which its types are limited.

    several: it takes any number of tensors; mixed: of different types. only: its type where it has but one.
    """

    name: str
    field: str
    limited: str
    several: bool = False
    only: str | None = None
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """An operator as an imported opset has it. since: the version that the opset means.

    bound: by each name that limits types the inputs and outputs that it limits, in order: whether it is an output, and
    its position.
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
        """Return the schema of these inputs and outputs."""
        bound: dict[str, tuple[tuple[bool, int], ...]] = {}
        for is_output, params in ((False, inputs), (True, outputs)):
            for index, param in enumerate(params):
                bound[param.limited] = (*bound.get(param.limited, ()), (is_output, index))
        return cls(since, tuple(inputs), tuple(outputs), tuple(attributes), bound)

    def first(self, limited: str, inputs: Sequence[str | None], outputs: Sequence[str | None]) -> str | None:
        """Return the type of the first argument that a name limits and that is there; "" where it is not known.

        inputs, outputs: the types by position, None where one is left out. None: no such argument is there.
        """
        for is_output, index in self.bound.get(limited, ()):
            texts = outputs if is_output else inputs
            if index < len(texts) and texts[index] is not None:
                return texts[index]
        return None


_SPELT: Final[dict[str, str]] = {}


def word(kind: str | None) -> str:
    """Return a type in the words of registrations: ``FLOAT``, ``seq(FLOAT)``; "" for one that is not known."""
    if kind is None:
        return ""
    if "(" not in kind:
        return kind
    text = _SPELT.get(kind)
    if text is None:
        text = _SPELT[kind] = type_word(kind)
    return text


@on_change
def _forget() -> None:
    """Drop what was read from tables that are gone."""
    _SPELT.clear()
    schema_of.cache_clear()


@lru_cache(maxsize=8192)
def schema_of(domain: str, op_type: str, opset: int | None, release: str = "") -> Schema | None:
    """Return the schema of an operator at an imported opset; None where the tables have none, or it is withdrawn.

    release: of the runtime, whose own operators differ from release to release.
    """
    if opset is None:
        return None
    table = dialect("onnx")
    name = operator_name(op_type, domain)
    # what a runtime's own operators take differs from release to release, which the dialect's tables do not say
    if name not in table.tables.operators or domain in table.tables.foreign:
        return _own(domain, op_type, opset, release) if release else None
    try:
        spec = table.operator(name)
    except NoTable:
        return None
    level = str(opset)
    row = spec.row_at(level) if level in spec.dialect.position else None
    if row is None and level in spec.dialect.position:  # of a withdrawn version the runtime still has the function
        text = spec.row_held(level)
        row = text if text in spec.table.deprecated else None
    if row is None:  # the runtime has some of ONNX's operators at opsets before ONNX does
        return _own(domain, op_type, opset, release) if release else None
    cells = spec.table.only_rows[row]
    layout = spec.layout(level)
    return Schema.of(
        int(row),
        [_param(info, cells.get(info.name, {})) for info in layout.inputs],
        [_param(info, cells.get(info.name, {})) for info in layout.outputs],
        [info for info in spec.fields_at(level).values() if info.kind == "attribute"],
    )


def opset_meant(domain: str, op_type: str, opset: int | None, release: str) -> int | None:
    """Return the opset by which a release reads an operator, an older one where the tables are ahead of it.

    ONNX now and then puts a new version of an operator into an opset that runtimes already have.
    """
    name = operator_name(op_type, domain)
    late = runtime_tables()["lacks"].get(name)
    if not late or opset is None:
        return opset
    schema = schema_of(domain, op_type, opset)
    without = None if schema is None else late.get(str(schema.since))
    if schema is None or without is None:
        return opset
    return schema.since - 1 if without["first"] <= release_position(release) <= without["last"] else opset


def _param(info: FieldInfo, cell: Mapping[str, Any]) -> Param:
    types = cell.get("types") or ()
    only = word(types[0]) if len(types) == 1 and isinstance(types, list | tuple) else None
    limited = cell.get("variable") or info.vendor_name
    return Param(info.vendor_name, info.name, limited, info.type == "tensor[]", only, info.heterogeneous)


def _own(domain: str, op_type: str, opset: int, release: str) -> Schema | None:
    """Return the schema of one of the runtime's own operators: the newest version that the import means."""
    tables = runtime_tables()
    at = list(tables["releases"]).index(".".join(release.split(".")[:2]))
    rows = tables["schemas"].get(domain or "ai.onnx", {}).get(op_type, ())
    items = [row for row in rows if row["version"] <= opset and row["first"] <= at <= row["last"]]
    if not items:
        return None
    row = max(items, key=lambda each: int(each["version"]))
    inputs, outputs = ({name: str(text) for name, text in row.get(end, {}).items()} for end in ("inputs", "outputs"))
    used_items = {*inputs, *outputs}
    attributes = []
    for name, entry in row.get("attributes", {}).items():
        info = entry if isinstance(entry, dict) else {"type": entry}
        field = f"{name}_attribute" if name in used_items else name
        attributes.append(FieldInfo(field, "attribute", info["type"], default=info.get("default"), vendor_name=name))
    return Schema.of(
        row["version"],
        [_own_param(name, text) for name, text in inputs.items()],
        [_own_param(name, text) for name, text in outputs.items()],
        attributes,
    )


def _own_param(name: str, text: str) -> Param:
    bare = text.rstrip("?*")
    only = bare if is_type(bare) else None
    return Param(name, name, name if only else bare, "*" in text, only)
