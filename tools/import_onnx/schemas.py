"""Facts of the installed onnx package as plain data.

Supports any release since 1.14. The facts of an operator map its versions (strings, in order) to:

deprecated: whether the version removes the operator. inputs, outputs: in order, each with name, types (the name of a
type variable, or a type), option (``single``, ``optional``, ``variadic``), homogeneous and, if variadic, least.
type_sets: type variable -> types. attributes: by name, each with type (``INTS``), required and default (None without
one; 32-bit floats as the shortest decimal). Types have the package's names.
"""

from __future__ import annotations

import json
import sys
from ctypes import c_float
from typing import Any

__all__ = ["domain_versions", "main", "package_version", "schema_facts", "version_table"]

Facts = dict[str, dict[str, dict[str, Any]]]


def schema_facts() -> Facts:
    """Return the facts of every operator by its name in the tables.

    The name is bare for ai.onnx, else ``DOMAIN.NAME``.
    """
    import onnx.defs

    facts: Facts = {}
    schemas = onnx.defs.get_all_schemas_with_history()
    for schema in sorted(schemas, key=lambda s: (s.domain, s.name, s.since_version)):
        name = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        facts.setdefault(name, {})[str(schema.since_version)] = _version(schema)
    return facts


def version_table() -> list[list[Any]]:
    """Return the package's table of releases.

    Rows have the release, IR version, and the versions of ai.onnx, .ml and .training.
    """
    import onnx.helper

    return [list(row) for row in onnx.helper.VERSION_TABLE]


def domain_versions() -> dict[str, int]:
    """Return the newest version of each domain in the package.

    The key of ai.onnx is "".
    """
    import onnx.defs

    return {domain: newest for domain, (_, newest) in onnx.defs.C.schema_version_map().items()}


def package_version() -> str:
    """Return the version of the installed package."""
    import onnx

    return str(onnx.__version__)


def _version(schema: Any) -> dict[str, Any]:
    return {
        "deprecated": bool(schema.deprecated),
        "inputs": [_parameter(p) for p in schema.inputs],
        "outputs": [_parameter(p) for p in schema.outputs],
        "type_sets": {c.type_param_str: list(c.allowed_type_strs) for c in schema.type_constraints},
        "attributes": {name: _attribute(schema.attributes[name]) for name in sorted(schema.attributes)},
    }


def _parameter(parameter: Any) -> dict[str, Any]:
    option = str(parameter.option).rpartition(".")[2].lower()
    entry = {"name": parameter.name, "types": _get_either(parameter, "type_str", "typeStr"), "option": option}
    if option == "variadic":
        entry["homogeneous"] = bool(_get_either(parameter, "is_homogeneous", "isHomogeneous"))
        entry["least"] = int(_get_either(parameter, "min_arity", "minArity"))
    return entry


def _get_either(value: Any, name: str, older: str) -> Any:
    return getattr(value, name) if hasattr(value, name) else getattr(value, older)


def _attribute(attribute: Any) -> dict[str, Any]:
    kind = str(attribute.type).rpartition(".")[2]
    return {"type": kind, "required": bool(attribute.required), "default": _default(attribute.default_value)}


def _default(proto: Any) -> Any:
    import onnx.helper

    if not proto.type:
        return None
    value = onnx.helper.get_attribute_value(proto)
    many = isinstance(value, list | tuple) or hasattr(value, "append")
    return [_shortest_float(item) for item in value] if many else _shortest_float(value)


def _shortest_float(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, float):
        return value
    shorter = (float(f"{value:.{digits}g}") for digits in range(1, 18))
    return next((short for short in shorter if c_float(short).value == value), value)


def main() -> None:
    """Print all facts as JSON.

    For a subprocess with another onnx release on its path.
    """
    everything = {
        "package": package_version(),
        "versions": domain_versions(),
        "table": version_table(),
        "operators": schema_facts(),
    }
    json.dump(everything, sys.stdout)


if __name__ == "__main__":
    main()
