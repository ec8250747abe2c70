"""What registrations refer to in the tables of the models' dialect: its types, its operators' names and constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.errors import NoTable
from specgate.rules.language import GRAPH, NUMBER, NUMBERS, TENSOR, TENSORS, WORD, WORDS, Scope
from specgate.spec.tables import dialect
from specgate.spec.type_names import TypeName, parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["MAIN_DOMAIN", "MODELS", "constraints", "is_type", "operator_scope", "schema_type", "type_word"]

#: The dialect of the models that the runtime reads.
MODELS: Final = "onnx"
#: The domain whose operators go by their bare names there, and that a model may also leave empty.
MAIN_DOMAIN: Final = "ai.onnx"

_KINDS: Final = {
    "int": NUMBER, "float": NUMBER, "string": WORD, "int[]": NUMBERS, "float[]": NUMBERS, "string[]": WORDS,
    "graph": GRAPH, "tensor-proto": TENSOR,
}  # fmt: skip
#: A tensor in one of the forms that are no sequences or maps; its element type stays as schemas spell it.
_SPARSE: Final = "sparse_tensor"
_MAP: Final = "map"


def type_word(spelt: str) -> str:
    """Return a type as registrations name it: ``FLOAT`` for ``tensor(float)``, ``seq(FLOAT)`` for a list of such.

    Keys of maps and sparse tensors stay as schemas spell them: ``map(int64,FLOAT)``, ``sparse_tensor(float)``. What is
    no type's name stays as it is.
    """
    tree = parse_type(spelt)
    return spelt if tree is None else _type_word(tree)


def _type_word(tree: TypeName) -> str:
    element = tree.element
    if element:
        return dialect(MODELS).type_elements.get(element, element)
    if tree.word == _SPARSE:
        return str(tree)
    if tree.word == _MAP:
        key, *values = tree.parts
        return f"{_MAP}({','.join([str(key), *map(_type_word, values)])})"
    return f"{tree.word}({', '.join(map(_type_word, tree.parts))})"


def schema_type(word: str) -> str | None:
    """Return a registration's type as schemas spell it, None of no type: the inverse of `type_word`."""
    tree = parse_type(word)
    return None if tree is None else _schema_type(tree)


def _schema_type(tree: TypeName) -> str | None:
    table = dialect(MODELS)
    if not tree.parts:
        return str(table.types[tree.word]["tensor"]) if tree.word in table.types else None
    if tree.word == _SPARSE:
        return str(tree) if len(tree.parts) == 1 and tree.parts[0].word in table.type_elements else None
    count = table.tables.containers.get(tree.word)
    if len(tree.parts) != count:
        return None
    *keys, inner = tree.parts
    spelt = _schema_type(inner)
    if spelt is None or any(key.parts or key.word not in table.type_elements for key in keys):
        return None
    if tree.word == _MAP:  # whose values go by their element type alone
        bare = parse_type(spelt)
        spelt = spelt if bare is None else bare.element or spelt
    return f"{tree.word}({', '.join([*map(str, keys), spelt])})"


def is_type(word: str) -> bool:
    """Return whether registrations have a type of this name."""
    spelt = schema_type(word)
    return spelt is not None and type_word(spelt) == word


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
