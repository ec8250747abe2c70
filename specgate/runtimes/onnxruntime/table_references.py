"""References of registrations to the tables of the models' dialect.

They are types, operator names and constraint names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.lint.references import RULES
from specgate.errors import NoTable
from specgate.rules.language import GRAPH, NUMBER, NUMBERS, TENSOR, TENSORS, TRUTH, WORD, WORDS, RuleError, Scope
from specgate.rules.parse import parse
from specgate.runtimes.onnxruntime.lowering.expressions import FormError, check_of, condition_rule, rule_of, scope_of
from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.release_ranges import bounds, span
from specgate.runtimes.onnxruntime.size_lists import METHODS
from specgate.spec.tables import dialect
from specgate.spec.type_names import TypeName, parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.yamlio import Keys

    Problem = tuple[Keys, str]

#: The dialect of the models that the runtime reads.
MODELS: Final = "onnx"
#: Its operators have bare names in tables, and its name may be empty in models.
MAIN_DOMAIN: Final = "ai.onnx"

_KINDS: Final = {
    "int": NUMBER, "float": NUMBER, "string": WORD, "int[]": NUMBERS, "float[]": NUMBERS, "string[]": WORDS,
    "graph": GRAPH, "tensor-proto": TENSOR,
}  # fmt: skip
#: A tensor type that is neither a sequence nor a map; schemas' spelling of its element type is kept.
_SPARSE_TENSOR: Final = "sparse_tensor"
_MAP: Final = "map"


def type_word(type_text: str) -> str:
    """Return a schema's type as registrations spell it.

    Examples are ``FLOAT`` for ``tensor(float)``, and ``seq(FLOAT)`` for a sequence. Keys of maps and sparse tensors are
    unchanged: ``map(int64,FLOAT)``, ``sparse_tensor(float)``. Text that is not a type is unchanged.
    """
    tree = parse_type(type_text)
    return type_text if tree is None else _type_word(tree)


def _type_word(tree: TypeName) -> str:
    element = tree.element
    if element:
        return dialect(MODELS).type_elements.get(element, element)
    if tree.word == _SPARSE_TENSOR:
        return str(tree)
    if tree.word == _MAP:
        key, *values = tree.parts
        return f"{_MAP}({','.join([str(key), *map(_type_word, values)])})"
    return f"{tree.word}({', '.join(map(_type_word, tree.parts))})"


def schema_type(word: str) -> str | None:
    """Return a registration's type as schemas spell it, None if unknown.

    It is the inverse of `type_word`.
    """
    tree = parse_type(word)
    return None if tree is None else _schema_type(tree)


def _schema_type(tree: TypeName) -> str | None:
    table = dialect(MODELS)
    if not tree.parts:
        return str(table.types[tree.word]["tensor"]) if tree.word in table.types else None
    if tree.word == _SPARSE_TENSOR:
        return str(tree) if len(tree.parts) == 1 and tree.parts[0].word in table.type_elements else None
    count = table.tables.containers.get(tree.word)
    if len(tree.parts) != count:
        return None
    *keys, inner = tree.parts
    type_text = _schema_type(inner)
    if type_text is None or any(key.parts or key.word not in table.type_elements for key in keys):
        return None
    if tree.word == _MAP:  # the values of a map have bare element types
        bare_type = parse_type(type_text)
        type_text = type_text if bare_type is None else bare_type.element or type_text
    return f"{tree.word}({', '.join([*map(str, keys), type_text])})"


def is_type(word: str) -> bool:
    """Return whether a name is a type of registrations."""
    type_text = schema_type(word)
    return type_text is not None and type_word(type_text) == word


def operator_scope(domain: str, operator: str, version: int, schemas: Mapping[str, Any]) -> Scope | None:
    """Return the names that a query of an operator version may use.

    None means that no table has the version. schemas: by domain and name, for operators without a table in the dialect.
    """
    schema = _schema(domain, operator, version, schemas)
    if schema is not None:
        return _scope_of(schema)
    spec = _spec(domain, operator)
    row = str(version)
    if spec is None or row not in spec.rows:
        return None
    after = spec.rows[spec.rows.index(row) + 1 :]
    return spec.scope.scope_between(row, after[0] if after else None)


def constraints(domain: str, operator: str, version: int, schemas: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the names of an operator's type constraints at a version.

    They are the type variables, and the names of inputs and outputs. None means that no table has the version.
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
    """Return the newest form of a schema version."""
    tables: Sequence[Mapping[str, Any]] = schemas.get(domain, {}).get(operator, ())
    return next((schema_data for schema_data in reversed(tables) if schema_data["version"] == version), None)


def _spec(domain: str, operator: str) -> OperatorSpec | None:
    name = operator if domain == MAIN_DOMAIN else f"{domain}.{operator}"
    try:
        return dialect(MODELS).operator(name)
    except NoTable:
        return None


def _scope_of(schema: Mapping[str, Any]) -> Scope:
    params = {**schema.get("inputs", {}), **schema.get("outputs", {})}
    entries = {name: entry if isinstance(entry, dict) else {"type": entry} for name, entry in _attributes(schema)}
    fields = {name: TENSORS if text.endswith("*") else TENSOR for name, text in params.items()}
    fields |= {name: _KINDS[entry["type"]] for name, entry in entries.items()}
    optional = {name for name, text in params.items() if text.endswith("?") or name in schema.get("outputs", {})}
    optional |= {name for name, entry in entries.items() if "default" not in entry}
    return Scope(
        fields=fields,
        optional=frozenset(optional),
        numbers=frozenset(),
        words=dialect(MODELS).words,
        vocabulary=dialect(MODELS).vocabulary,
    )


def _attributes(schema: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the attributes by their names in the dialect.

    An attribute with the name of an input or output has the suffix ``_attribute``.
    """
    params = {*schema.get("inputs", {}), *schema.get("outputs", {})}
    return [(f"{name}_attribute" if name in params else name, e) for name, e in schema.get("attributes", {}).items()]


def releases_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return the invalid names in ``releases.yaml``."""
    pairs: list[Problem] = []
    order = list(content.get("releases", {}))
    providers, packages = content.get("providers", {}), content.get("packages", {})
    if order != sorted(order, key=_number):
        pairs.append((("releases",), "expected the releases in order, oldest first"))
    for name, info in providers.items():
        try:
            bounds(info["releases"], order)
        except ValueError as error:
            pairs.append((("providers", name, "releases"), str(error)))
    for name, info in packages.items():
        pairs += [(("packages", name, "providers"), f"unknown {p!r}") for p in info["providers"] if p not in providers]
    for name, info in content.get("releases", {}).items():
        place = ("releases", name)
        pairs += [((*place, "packages"), f"unknown package {p!r:.80}") for p in info["packages"] if p not in packages]
        patches = [patch for package_patches in info["packages"].values() for patch in package_patches]
        pairs += [
            ((*place, "packages"), f"{p} is not a release of {name}") for p in patches if not p.startswith(f"{name}.")
        ]
        source = info.get("carries_source")
        if source is not None and source not in content["sources"]:
            pairs.append(((*place, "carries_source"), f"unknown source {source!r:.80}"))
    return pairs + [problem for entry in enumerate(content.get("removing", ())) for problem in _conditions(*entry)]


def _conditions(index: int, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield invalid conditions and unknown operators under ``removing``."""
    for name, versions in entry["operators"].items():
        if name not in dialect("onnx").tables.operators:
            yield ("removing", index, "operators", name), f"unknown operator {name!r:.60}"
        elif "when" in entry:
            try:
                condition_rule(name, entry["when"], int(versions.partition("..")[0]))
            except FormError as error:
                yield ("removing", index, "when"), str(error)


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def type_problems(sets: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return the types in named lists that the models' dialect lacks."""
    return [
        (("types", name), f"unknown type {item!r:.80}")
        for name, items in sets.items()
        for item in items
        if not is_type(item)
    ]


def loading_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return rules and fields in ``loading.yaml`` that the dialect lacks."""
    pairs = type_problems({"types": list(content.get("types", {}))})
    names = [name for name in content.get("models", {}) if name not in RULES]
    pairs += [(("models", name), f"no model rule is called {name!r:.60}") for name in names]
    for place, entry, scope in _operators(content, ("takes", "asks"), pairs):
        try:
            for check, message in entry.get("refuses", {}).items():
                check_of(check, message, scope)
        except FormError as error:
            pairs.append(((*place, "refuses"), str(error)))
    return pairs


def _operators(
    content: Mapping[str, Any], keys: Sequence[str], problems: list[Problem]
) -> Iterator[tuple[Keys, Mapping[str, Any], Scope]]:
    """Yield the place, entry and names of each known operator.

    Unknown operators and unknown rules are added to `problems`.
    """
    for name, entry in content["operators"].items():
        place: Keys = ("operators", name)
        schema = schema_from(name, None)
        if schema is None:
            problems.append((place, f"unknown operator {name!r:.60}"))
            continue
        problems += _unknown_rules(name, place, entry, keys)
        yield place, entry, schema.scope


def _unknown_rules(operator: str, place: Keys, entry: Mapping[str, Any], keys: Sequence[str]) -> Iterator[Problem]:
    """Yield the rules in lists that an operator does not have."""
    spec = dialect("onnx").operator(operator)
    overlays = (form for overlay in spec.overlays for form in overlay.rules)
    rules = {form.name for form in (*spec.rule_forms, *overlays)}
    rules |= {f"{field}.{part}" for field in spec.fields for part in ("type", "value", "rank")}
    for key in keys:
        rule_names = [
            rule_entry if isinstance(rule_entry, str) else rule_entry["rule"] for rule_entry in entry.get(key, ())
        ]
        yield from (
            ((*place, key), f"{operator} does not have a rule {rule!r:.60}") for rule in rule_names if rule not in rules
        )


def runs_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return rules and fields in ``runs.yaml`` that the dialect lacks."""
    pairs: list[Problem] = []
    for place, entry, scope in _operators(content, ("runs", "fails"), pairs):
        for key in ("runs", "fails"):
            for rule in entry.get(key, ()):
                if isinstance(rule, str) or "when" not in rule:
                    continue
                try:
                    rule_of(rule["when"], scope_of(rule, scope), "truth")
                except FormError as error:
                    pairs.append(((*place, key), str(error)))
    return pairs


def inference_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return unknown operators and methods in ``inference.yaml``."""
    operators = dialect("onnx").tables.operators
    pairs: list[Problem] = []
    for part in ("values", "unsized"):
        for index, entry in enumerate(content.get(part, ())):
            place: Keys = (part, index, "operators")
            pairs += [
                ((*place, name), f"unknown operator {name!r:.60}")
                for name in entry["operators"]
                if name not in operators
            ]
            if entry.get("by", "same") not in METHODS:
                pairs.append(((part, index, "by"), f"unknown way {entry['by']!r:.40}; known: {', '.join(METHODS)}"))
    return pairs


def operator_problems(
    domain: str, operator: str, versions: Mapping[str, Any], schemas: Mapping[str, Any], order: Sequence[str]
) -> list[Problem]:
    """Return the problems in an operator's rows.

    They are overlapping versions, and unknown names in constraints and queries.
    """
    pairs = list(_overlaps(operator, versions, order))
    for key, forms in versions.items():
        version = int(key.partition("..")[0])
        for index, form in enumerate(forms if isinstance(forms, list) else [forms]):
            place: Keys = (
                ("operators", operator, key, index) if isinstance(forms, list) else ("operators", operator, key)
            )
            types = form.get("types", {})
            if "note" not in form:  # a note explains an unusual row
                for type_name in types if isinstance(types, list) else [types]:
                    pairs += _constraint_problems((*place, "types"), domain, operator, version, type_name, schemas)
            if form.get("query") is not None:
                pairs += _query_problems((*place, "query"), domain, operator, version, form["query"], schemas)
    return pairs


def _overlaps(operator: str, versions: Mapping[str, Any], order: Sequence[str]) -> Iterator[Problem]:
    """Yield rows of one version that overlap in a release."""
    for key, forms in versions.items():
        if not isinstance(forms, list):
            continue
        numbers: set[int] = set()
        for index, form in enumerate(forms):
            try:
                first, last = span(form.get("releases"), order, (0, len(order) - 1))
            except ValueError:
                continue  # reported when the range is parsed
            positions = set(range(first, last + 1))
            if numbers & positions:
                overlap = order[min(numbers & positions)]
                yield ("operators", operator, key, index, "releases"), f"an earlier row applies to {overlap}, too"
            numbers |= positions


def _constraint_problems(
    place: Keys, domain: str, operator: str, version: int, types: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[Problem]:
    names = constraints(domain, operator, version, schemas)
    if names is None:
        return
    for name in types:
        if name not in names:
            yield (*place, name), f"not a type constraint of {operator} {version}; known: {', '.join(sorted(names))}"


def _query_problems(
    place: Keys, domain: str, operator: str, version: int, text: str, schemas: Mapping[str, Any]
) -> Iterator[Problem]:
    scope = operator_scope(domain, operator, version, schemas)
    if scope is None:
        yield place, f"{operator} {version} has no table, so its names cannot be checked"
        return
    try:
        parse(text, scope, expect=TRUTH)
    except RuleError as error:
        yield place, error.line
