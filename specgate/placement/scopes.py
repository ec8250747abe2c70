"""What registrations refer to in the tables of the models' dialect: its types, its operators' names and constraints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import NoTable
from specgate.rules.language import GRAPH, NUMBER, NUMBERS, TENSOR, TENSORS, WORD, WORDS, Scope
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["MAIN_DOMAIN", "MODELS", "constraints", "is_type", "operator_scope", "type_word"]

#: The dialect of the models that the runtime reads.
MODELS: Final = "onnx"
#: The domain whose operators go by their bare names there, and that a model may also leave empty.
MAIN_DOMAIN: Final = "ai.onnx"

_KINDS: Final = {
    "int": NUMBER, "float": NUMBER, "string": WORD, "int[]": NUMBERS, "float[]": NUMBERS, "string[]": WORDS,
    "graph": GRAPH, "tensor-proto": TENSOR,
}  # fmt: skip
_AROUND: Final = re.compile(r"(?:seq|optional)\((.+)\)")
_MAP: Final = re.compile(r"map\(([a-z0-9]+),(.+)\)")
_SPARSE: Final = re.compile(r"sparse_(tensor\([a-z0-9]+\))")
_TENSOR: Final = re.compile(r"(?<!sparse_)tensor\([a-z0-9]+\)")


def type_word(spelt: str) -> str:
    """Return a type as registrations name it: ``FLOAT`` for ``tensor(float)``, ``seq(FLOAT)`` for a list of such.

    Keys of maps and sparse tensors stay as schemas spell them: ``map(int64,FLOAT)``, ``sparse_tensor(float)``.
    """
    words = {str(info.get("tensor")): name for name, info in dialect(MODELS).types.items()}
    return _TENSOR.sub(lambda found: words.get(found[0], found[0]), spelt)


def is_type(word: str) -> bool:
    """Return whether there is a type of this name."""
    types = dialect(MODELS).types
    if word in types:
        return True
    if found := _AROUND.fullmatch(word):
        return is_type(found[1])
    spelt = {info.get("tensor") for info in types.values()}
    if found := _MAP.fullmatch(word):
        return f"tensor({found[1]})" in spelt and is_type(found[2])
    found = _SPARSE.fullmatch(word)
    return found is not None and found[1] in spelt


def operator_scope(domain: str, operator: str, version: int, schemas: Mapping[str, Any]) -> Scope | None:
    """Return the names that a query of an operator at a version may use; None where no table has that version.

    schemas: those of operators without a table in the dialect, by domain and name.
    """
    schema = _schema(domain, operator, version, schemas)
    if schema is not None:
        return _scope_of(schema)
    spec = _spec(domain, operator)
    row = str(version)
    if spec is None or row not in spec.rows:
        return None
    after = spec.rows[spec.rows.index(row) + 1 :]
    return spec.scope.between(row, after[0] if after else None)


def constraints(domain: str, operator: str, version: int, schemas: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names by which types of an operator can be limited; None where no table has that version.

    They are the type variables, and the names of inputs and outputs.
    """
    schema = _schema(domain, operator, version, schemas)
    if schema is not None:
        params = {**schema.get("inputs", {}), **schema.get("outputs", {})}
        return frozenset({*params, *(text.rstrip("?*") for text in params.values())})
    spec = _spec(domain, operator)
    if spec is None or str(version) not in spec.rows:
        return None
    cells = spec.table.only_rows[str(version)]
    variables = {cell["variable"] for cell in cells.values() if "variable" in cell}
    layout = spec.layout(str(version))
    return frozenset({*variables, *(info.vendor_name for info in (*layout.inputs, *layout.outputs))})


def _schema(domain: str, operator: str, version: int, schemas: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the newest form of a schema at a version."""
    found: Sequence[Mapping[str, Any]] = schemas.get(domain, {}).get(operator, ())
    return next((each for each in reversed(found) if each["version"] == version), None)


def _spec(domain: str, operator: str) -> OperatorSpec | None:
    name = operator if domain == MAIN_DOMAIN else f"{domain}.{operator}"
    try:
        return dialect(MODELS).operator(name)
    except NoTable:
        return None


def _scope_of(schema: Mapping[str, Any]) -> Scope:
    params = {**schema.get("inputs", {}), **schema.get("outputs", {})}
    given = {name: entry if isinstance(entry, dict) else {"type": entry} for name, entry in _attributes(schema)}
    fields = {name: TENSORS if text.endswith("*") else TENSOR for name, text in params.items()}
    fields |= {name: _KINDS[entry["type"]] for name, entry in given.items()}
    optional = {name for name, text in params.items() if text.endswith("?") or name in schema.get("outputs", {})}
    optional |= {name for name, entry in given.items() if "default" not in entry}
    return Scope(
        fields=fields,
        optional=frozenset(optional),
        numbers=frozenset(),
        words=dialect(MODELS).words,
        vocabulary=dialect(MODELS).vocabulary,
    )


def _attributes(schema: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the attributes; one named as an input or output has ``_attribute`` behind it, as in the dialect."""
    params = {*schema.get("inputs", {}), *schema.get("outputs", {})}
    return [(f"{name}_attribute" if name in params else name, e) for name, e in schema.get("attributes", {}).items()]
