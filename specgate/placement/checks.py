"""Check what a runtime's files refer to: releases, operators' versions, names of constraints, types, and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.placement.ranges import bounds, span
from specgate.placement.scopes import constraints, is_type, operator_scope
from specgate.rules.language import TRUTH, RuleError
from specgate.rules.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.rules.language import Scope
    from specgate.spec.yamlio import Keys

    Problem = tuple[Keys, str]

__all__ = [
    "inference_problems", "loading_problems", "operator_problems", "releases_problems", "runs_problems",
    "type_problems",
]  # fmt: skip


def releases_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the names in ``releases.yaml``."""
    found: list[Problem] = []
    order = list(content.get("releases", {}))
    providers, packages = content.get("providers", {}), content.get("packages", {})
    if order != sorted(order, key=_number):
        found.append((("releases",), "expected the releases in order, oldest first"))
    for name, info in providers.items():
        try:
            bounds(info["releases"], order)
        except ValueError as error:
            found.append((("providers", name, "releases"), str(error)))
    for name, info in packages.items():
        found += [(("packages", name, "providers"), f"unknown {p!r}") for p in info["providers"] if p not in providers]
    for name, info in content.get("releases", {}).items():
        place = ("releases", name)
        found += [((*place, "packages"), f"unknown package {p!r:.80}") for p in info["packages"] if p not in packages]
        patches = [patch for listed in info["packages"].values() for patch in listed]
        found += [
            ((*place, "packages"), f"{p} is no release of {name}") for p in patches if not p.startswith(f"{name}.")
        ]
        source = info.get("carries_source")
        if source is not None and source not in content["sources"]:
            found.append(((*place, "carries_source"), f"unknown source {source!r:.80}"))
    return found + [problem for entry in enumerate(content.get("removing", ())) for problem in _conditions(*entry)]


def _conditions(index: int, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the condition of an entry under ``removing``, and unknown operators."""
    from specgate.placement.lowering.checks import condition_rule
    from specgate.placement.lowering.expressions import FormError
    from specgate.spec.tables import dialect

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
    """Return which of the named lists have types that the dialect of the models does not have."""
    return [
        (("types", name), f"unknown type {item!r:.80}")
        for name, listed in sets.items()
        for item in listed
        if not is_type(item)
    ]


def loading_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return which rules and fields in ``loading.yaml`` the dialect of the models does not have."""
    from specgate.dialects.onnx.lint.references import RULES
    from specgate.placement.lowering.checks import check_of
    from specgate.placement.lowering.expressions import FormError

    found = type_problems({"types": list(content.get("types", {}))})
    names = [name for name in content.get("models", {}) if name not in RULES]
    found += [(("models", name), f"no rule of a whole model is called {name!r:.60}") for name in names]
    for place, entry, scope in _operators(content, ("takes", "asks"), found):
        try:
            for check, what in entry.get("refuses", {}).items():
                check_of(check, what, scope)
        except FormError as error:
            found.append(((*place, "refuses"), str(error)))
    return found


def _operators(
    content: Mapping[str, Any], keys: Sequence[str], problems: list[Problem]
) -> Iterator[tuple[Keys, Mapping[str, Any], Scope]]:
    """Yield each known operator's place, entry and names; add unknown operators, and rules in lists, to `problems`."""
    from specgate.placement.lowering.schema import schema_from

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
    from specgate.spec.tables import dialect

    spec = dialect("onnx").operator(operator)
    overlays = (form for overlay in spec.overlays for form in overlay.rules)
    rules = {form.name for form in (*spec.rule_forms, *overlays)}
    rules |= {f"{field}.{part}" for field in spec.fields for part in ("value", "rank")}
    for key in keys:
        named = [one if isinstance(one, str) else one["rule"] for one in entry.get(key, ())]
        yield from (((*place, key), f"{operator} has no rule {rule!r:.60}") for rule in named if rule not in rules)


def runs_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return which rules and fields in ``runs.yaml`` the dialect of the models does not have."""
    from specgate.placement.lowering.checks import scope_of
    from specgate.placement.lowering.expressions import FormError, rule_of

    found: list[Problem] = []
    for place, entry, scope in _operators(content, ("runs", "fails"), found):
        for key in ("runs", "fails"):
            for rule in entry.get(key, ()):
                if isinstance(rule, str) or "when" not in rule:
                    continue
                try:
                    rule_of(rule["when"], scope_of(rule, scope), "truth")
                except FormError as error:
                    found.append(((*place, key), str(error)))
    return found


def inference_problems(content: Mapping[str, Any]) -> list[Problem]:
    """Return which operators in ``inference.yaml`` the dialect does not have, and which ways nothing goes by."""
    from specgate.placement.sizes import WAYS
    from specgate.spec.tables import dialect

    known = dialect("onnx").tables.operators
    found: list[Problem] = []
    for part in ("values", "unsized"):
        for index, entry in enumerate(content.get(part, ())):
            place: Keys = (part, index, "operators")
            found += [
                ((*place, name), f"unknown operator {name!r:.60}") for name in entry["operators"] if name not in known
            ]
            if entry.get("by", "same") not in WAYS:
                found.append(((part, index, "by"), f"unknown way {entry['by']!r:.40}; known: {', '.join(WAYS)}"))
    return found


def operator_problems(
    domain: str, operator: str, versions: Mapping[str, Any], schemas: Mapping[str, Any], order: Sequence[str]
) -> list[Problem]:
    """Return what is wrong with an operator's rows: versions that overlap, constraints and queries of unknown names."""
    found = list(_overlaps(operator, versions, order))
    for key, forms in versions.items():
        version = int(key.partition("..")[0])
        for index, form in enumerate(forms if isinstance(forms, list) else [forms]):
            place: Keys = (
                ("operators", operator, key, index) if isinstance(forms, list) else ("operators", operator, key)
            )
            types = form.get("types", {})
            if "note" not in form:  # a note says what is strange about a row
                for each in types if isinstance(types, list) else [types]:
                    found += _constraint_problems((*place, "types"), domain, operator, version, each, schemas)
            if form.get("query") is not None:
                found += _query_problems((*place, "query"), domain, operator, version, form["query"], schemas)
    return found


def _overlaps(operator: str, versions: Mapping[str, Any], order: Sequence[str]) -> Iterator[Problem]:
    """Yield where two rows of one version hold for one release."""
    for key, forms in versions.items():
        if not isinstance(forms, list):
            continue
        taken: set[int] = set()
        for index, form in enumerate(forms):
            try:
                first, last = span(form.get("releases"), order, (0, len(order) - 1))
            except ValueError:
                continue  # reported where the range is read
            here = set(range(first, last + 1))
            if taken & here:
                again = order[min(taken & here)]
                yield ("operators", operator, key, index, "releases"), f"a row before this one holds for {again}, too"
            taken |= here


def _constraint_problems(
    place: Keys, domain: str, operator: str, version: int, types: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[Problem]:
    known = constraints(domain, operator, version, schemas)
    if known is None:
        return
    for name in types:
        if name not in known:
            yield (*place, name), f"no type constraint of {operator} {version}; it has {', '.join(sorted(known))}"


def _query_problems(
    place: Keys, domain: str, operator: str, version: int, text: str, schemas: Mapping[str, Any]
) -> Iterator[Problem]:
    scope = operator_scope(domain, operator, version, schemas)
    if scope is None:
        yield place, f"no table has {operator} {version}, so that its names cannot be checked"
        return
    try:
        parse(text, scope, expect=TRUTH)
    except RuleError as error:
        yield place, error.line
