"""JSON Schemas of descriptors for editor completion, built from tables.

A schema accepts everything that the reader accepts and the tables allow at some level. What depends on the level or on
other fields is left to `specgate check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

_REF: Final = "#/$defs/{}"


def document(name: str, descriptor_schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a file: one descriptor, a list, or named ones.

    Objects may have a ``$schema`` key.
    """
    title = f"Descriptors of {dialect(name).tables.title}, as `specgate check` reads them"
    its_own = {
        "$schema": {"type": "string", "description": "location of this schema, for editors; specgate ignores it"}
    }
    list_schema = {
        "type": "object",
        "required": ["descriptors"],
        "properties": {**its_own, "descriptors": _operator_map_schema()},
    }
    single_schema = {**descriptor_schema, "properties": {**its_own, **descriptor_schema["properties"]}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:specgate:descriptor:{name}:1",
        "title": title,
        "if": {"type": "array"},
        "then": {"items": _inner()},
        "else": {"if": {"required": ["descriptors"]}, "then": list_schema, "else": _ref("descriptor")},
        "$defs": {"descriptor": single_schema, **definitions},
    }


def _inner() -> dict[str, Any]:
    """Return the schema of a descriptor inside a list or mapping."""
    return {**_ref("descriptor"), "properties": {"$schema": False}}


def _operator_map_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": _inner(),
        "description": "descriptors by any names",
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REF.format(name)}


def any_of_schema(*schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts any of several schemas."""
    return dict(schemas[0]) if len(schemas) == 1 else {"anyOf": [dict(schema) for schema in schemas]}


def nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that also accepts null, for an omitted value."""
    return any_of_schema(*schema.get("anyOf", [schema]), {"type": "null"})


def list_schema(schema: Mapping[str, Any], info: FieldInfo) -> dict[str, Any]:
    """Return the schema of a field whose elements match `schema`.

    A field that is not a list matches `schema` itself.
    """
    return {"type": "array", "items": dict(schema)} if info.type.endswith("[]") else dict(schema)


def words(names: Iterable[str]) -> dict[str, Any]:
    """Return the schema of an enumeration of words."""
    return {"enum": list(names)}


def any_case(names: Iterable[str]) -> dict[str, Any]:
    """Return the schema of words in any case; known words are completed."""
    texts = list(names)
    letters = ("".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else f"[{c}]" for c in word) for word in texts)
    return any_of_schema(words(texts), {"type": "string", "pattern": f"^({'|'.join(letters)})$"})


def words_of(spec: OperatorSpec, info: FieldInfo) -> list[str]:
    """Return the words that a field may hold at some level.

    They are those of the page and of builds. Empty where any text is accepted.
    """
    forms = info.forms or (info,)
    texts = [word for form in forms for word in form.words or ()]
    rows = [row for _, rows in spec.support for row in rows.values() if info.name in row]
    is_limited = all("values" in row[info.name] for row in rows) and bool(rows)
    rows += [entry.get("support", {}) for entry in spec.table.observed]
    used_texts = [str(word) for row in rows for word in row.get(info.name, {}).get("values") or ()]
    return list(dict.fromkeys([*texts, *(used_texts if is_limited else ())]))


def positional(spec: OperatorSpec, kind: str) -> dict[str, Any]:
    """Return the schema of a node's inputs or outputs.

    It contains their order and their maximum number.
    """
    layout = spec.layout(None)
    infos = layout.inputs if kind == "inputs" else layout.outputs
    required_infos = infos if not spec.varies else ()
    names = ", ".join(f"{info.name}, …" if info.type == "tensor[]" else info.name for info in infos)
    open_end = bool(infos) and infos[-1].type == "tensor[]"
    limit = {"maxItems": len(infos)} if required_infos and not open_end else {}
    first = [
        {**_ref("port"), "description": _describe_field(info)} for info in required_infos if info.type != "tensor[]"
    ]
    tables_by_name = {"prefixItems": first} if first else {}
    return {"type": ["array", "null"], "description": names or "none", **tables_by_name, "items": _ref("port"), **limit}


def _describe_field(info: FieldInfo) -> str:
    return f"{info.name}: {info.doc}" if info.doc else info.name


_SIZE: Final = {"type": ["integer", "string", "null"], "description": "a size, the name of one, or null: unknown"}


def node_schema(
    name: str,
    members: Mapping[str, Any],
    port: Mapping[str, Any],
    operators: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> dict[str, Any]:
    """Return the schema of a dialect.

    members: those of a descriptor. operators: by name the condition that selects the operator, as a schema, and the
    members that only this operator has.
    """
    cases = [{"if": dict(test), "then": {"$ref": f"#/$defs/{operator}"}} for operator, (test, _) in operators.items()]
    schema = {"type": "object", "properties": dict(members), "additionalProperties": False, "allOf": cases}
    entries = {
        operator: {
            "description": dialect(name).operator(operator).table.summary,
            "properties": {
                "inputs": positional(dialect(name).operator(operator), "inputs"),
                "outputs": positional(dialect(name).operator(operator), "outputs"),
                **outputs_schema,
            },
        }
        for operator, (_, outputs_schema) in operators.items()
    }
    return document(name, schema, {"port": dict(port), **entries})


def port_schema(type_key: str, types: Iterable[str], extra_keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tensor.

    type_key: the key of its type; extra_keys: alternative schemas of a type.
    """
    return {
        "type": ["object", "null"],
        "properties": {
            type_key: {
                "anyOf": [words(types), dict(extra_keys), {"type": "null"}],
                "description": "the element type",
            },
            "shape": {"type": ["array", "null"], "items": _SIZE, "description": "null: unknown rank"},
            "value": {"description": "its elements, if known"},
            "name": {"type": ["string", "null"]},
        },
        "additionalProperties": False,
    }


def attributes_schema(
    spec: OperatorSpec, single: Callable[[OperatorSpec, FieldInfo], dict[str, Any]], other_keys: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the schema of an operator's attributes at all levels.

    single: the schema of one attribute; other_keys: the names of further members.
    """
    members: dict[str, Any] = {name: {} for name in other_keys}
    for info in spec.attributes:
        forms = info.forms or (info,)
        kinds = [single(spec, form) for form in forms]
        result = kinds[0] if all(kind == kinds[0] for kind in kinds) else {"anyOf": kinds}
        texts_by_name = {"description": info.doc} if info.doc else {}
        default = {} if info.default is None else {"default": info.default}
        for name in dict.fromkeys(form.vendor_name for form in forms):
            members[name] = {**result, **texts_by_name, **default}
    closed = {} if spec.table.unchecked_attributes else {"additionalProperties": False}
    return nullable({"type": "object", "properties": members, **closed})
