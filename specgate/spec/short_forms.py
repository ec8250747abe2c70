"""Named sets in cells, expanded short forms, and rules that repeat others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.shorthand import RESERVED, Shorthand, ShorthandError, formula_of
from specgate.spec.forms import rule_forms
from specgate.spec.written import cases_of, support_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from specgate.spec.yamlio import Keys

    #: A field and the property that is read.
    Read = tuple[str, str]
    Problem = tuple[Keys, str]

#: Functions of a tensor or a list, and the property that each reads.
_ASPECTS: Final = {
    "rank": "rank", "dims": "rank", "type": "type", "bits": "type", "elements": "sizes", "present": "presence",
    "len": "length", "value": "content", "values": "content",
}  # fmt: skip
#: Properties that are read implicitly: sizes also read the rank, and list elements the length.
_IMPLIED: Final = {"sizes": "rank", "strides": "rank", "content": "rank", "value": "length"}
#: Properties that must be valid before other rules can be evaluated.
_BASES: Final = frozenset({"rank", "length", "value", "presence", "content"})


def derive_echoes(
    rules: Mapping[str, list[dict[str, Any]]], defines: Mapping[str, str], fields: Collection[str]
) -> None:
    """Add `after` to forms without it: the rules whose failure they repeat.

    Those are earlier rules that read only ranks, lengths, attributes and the like, all of which this rule reads in
    addition to something else. Example: where Axis is out of range, a rule about the size at Axis has no meaning.
    """
    try:
        reads_by_rule: dict[str, frozenset[Read]] = {}
        for name, text in defines.items():  # a define may use earlier ones
            reads_by_rule[name] = frozenset(_read_paths(_tree(text), reads_by_rule, fields))
        read_by = {id(form): _form_reads(form, reads_by_rule, fields) for forms in rules.values() for form in forms}
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # reported where rules are checked
        return
    earlier_reads: list[tuple[str, frozenset[Read]]] = []
    for name, forms in rules.items():
        for form in forms:
            form_reads = read_by[id(form)]
            causes = dict.fromkeys(
                other for other, other_reads in earlier_reads if other_reads < form_reads and other != name
            )
            after = form.pop("after", list(causes))
            if after:
                form["after"] = after
            if form_reads and all(aspect in _BASES for _, aspect in form_reads):
                earlier_reads.append((name, form_reads))


def _tree(text: str) -> ast.AST:
    return ast.parse(" ".join(text.split()), mode="eval").body


def _form_reads(
    form: Mapping[str, Any], defines: Mapping[str, frozenset[Read]], fields: Collection[str]
) -> frozenset[Read]:
    trees = [_tree(form[key]) for key in ("require", "when") if key in form]
    return frozenset(read_item for tree in trees for read_item in _read_paths(tree, defines, fields))


def _read_paths(node: ast.AST, defines: Mapping[str, frozenset[Read]], fields: Collection[str]) -> Iterator[Read]:
    if isinstance(node, ast.Name):
        if node.id in defines:
            yield from defines[node.id]
        elif node.id in fields:
            yield from _with_implied(node.id, "value")
        return
    inner = None
    if isinstance(node, ast.Attribute):
        inner, aspect = node.value, node.attr
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args and node.func.id in _ASPECTS:
        inner, aspect = node.args[0], _ASPECTS[node.func.id]
    if isinstance(inner, ast.Name) and inner.id in fields:
        yield from _with_implied(inner.id, aspect)
        return
    for child in ast.iter_child_nodes(node):
        yield from _read_paths(child, defines, fields)


def _with_implied(field: str, aspect: str) -> Iterator[Read]:
    yield field, aspect
    if aspect in _IMPLIED:
        yield field, _IMPLIED[aspect]


#: The prefix of a set's name.
MARK: Final = "$"
#: Parts of cells, and the kind of set that each may name.
KINDS: Final = ("types", "operators")
#: The minimum size of a set that replaces part of a longer list.
MIN_SET_SIZE: Final = 2


def named_sets(content: Mapping[str, Any]) -> tuple[dict[str, dict[str, list[str]]], list[Problem]]:
    """Return the expanded sets of ``sets.yaml`` by kind, and the problems."""
    problems: list[Problem] = []
    new_entries: dict[str, dict[str, list[str]]] = {}
    for kind in KINDS:
        sets = new_entries[kind] = {}
        for name, entries in content.get(kind, {}).items():
            texts, unknown_sets = expand_sets(entries, sets, kind)
            problems += [((kind, name), text) for text in unknown_sets]
            sets[name] = texts
    return new_entries, problems


def written_out(
    content: dict[str, Any], sets: Mapping[str, Mapping[str, list[str]]] | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return a file's content with its sets expanded, and the problems.

    sets: the dialect's, by kind; None where they could not be read, so that unknown names are not reported.
    """
    problems: list[Problem] = []

    def out(path: Keys, entries: Any, kind: str) -> Any:
        if isinstance(entries, str) and not entries.startswith(MARK) and (kind == "operators" or "type_sets" in path):
            problems.append((path, f"expected a list or a set such as {MARK}NAME, found {entries!r:.80}"))
        if not _names_sets(entries) or sets is None:
            return entries
        texts, unknown_sets = expand_sets([entries] if isinstance(entries, str) else entries, sets.get(kind, {}), kind)
        problems.extend((path, text) for text in unknown_sets)
        return texts or entries

    for path, place, key, kind in _places(content):
        place[key] = out(path, place[key], kind)
    return content, problems


def _places(content: Mapping[str, Any]) -> Iterator[tuple[Keys, dict[str, Any], str, str]]:
    """Yield the places that may name sets: path, container, key, kind of set."""
    for path, _, rows in cases_of(content.get("support", {})):
        for level, row in rows.items():
            for variable in row.get("type_sets") or {}:
                yield (*path, level, "type_sets", variable), row["type_sets"], variable, "types"
            yield from _cells((*path, level), row)
    for index, overlay in enumerate(content.get("observed", [])):
        yield from _cells(("observed", index, "support"), overlay.get("support", {}))
    unsupported_types = content.get("execute", {}).get("unsupported_types", {})
    for name in unsupported_types:
        yield ("execute", "unsupported_types", name), unsupported_types, name, "types"


def _cells(parent_path: Keys, cells: Mapping[str, Any]) -> Iterator[tuple[Keys, dict[str, Any], str, str]]:
    for name, cell in cells.items():
        if isinstance(cell, dict) and name != "type_sets":
            yield from (((*parent_path, name, kind), cell, kind, kind) for kind in KINDS if kind in cell)


def _names_sets(entries: Any) -> bool:
    set_names = [entries] if isinstance(entries, str) else entries or ()
    return any(entry.startswith(MARK) for entry in set_names)


def expand_sets(entries: Sequence[str], sets: Mapping[str, list[str]], kind: str) -> tuple[list[str], list[str]]:
    """Return a list with its sets expanded, and one message per mistake.

    sets: those of the list's kind.
    """
    texts_by_name: dict[str, str] = {}
    problems = []
    for entry in entries:
        name = entry.removeprefix(MARK)
        if entry.startswith(MARK) and name not in sets:
            names = ", ".join(MARK + other for other in sets) or "none"
            problems.append(f"unknown set {entry!r:.80} of {kind}; known here: {names}")
            continue
        for item in sets[name] if entry.startswith(MARK) else [entry]:
            if item in texts_by_name:
                problems.append(f"{item} is there twice: {texts_by_name[item]} and {entry}"[:200])
            texts_by_name.setdefault(item, entry)
    return list(texts_by_name), problems


def names_for_types(type_names: list[str], sets: Mapping[str, list[str]]) -> str | list[str]:
    """Return a list with set names, as files spell it.

    It is the name of an equal set, or a list in which names replace long sets.
    """
    full_set = next((name for name, items in sets.items() if items == type_names), None)
    if full_set is not None and len(type_names) > 1:
        return MARK + full_set
    texts: list[str] = []
    i = 0
    while i < len(type_names):
        contained_sets = {name: len(items) for name, items in sets.items() if items == type_names[i : i + len(items)]}
        longest = max(contained_sets, key=contained_sets.__getitem__, default="")
        long = contained_sets.get(longest, 0) >= MIN_SET_SIZE
        texts.append(MARK + longest if long else type_names[i])
        i += contained_sets[longest] if long else 1
    return texts


#: Keys that a row does not inherit.
_DEPRECATED: Final = "deprecated"


def complete_rows(rows: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[Keys, str]]]:
    """Return rows with all cells inherited from earlier rows, and problems.

    A row inherits every cell, and for a cell it names the parts that it does not name. null removes a cell, a part of
    one or a type set.
    """
    full_row: dict[str, Any] = {}
    problems: list[tuple[Keys, str]] = []
    before: dict[str, Any] = {}
    for level, row in rows.items():
        entries: dict[str, Any] = {_DEPRECATED: row[_DEPRECATED]} if _DEPRECATED in row else {}
        for name in dict.fromkeys([*before, *row]):
            if name == _DEPRECATED:
                continue
            old, new = before.get(name), row.get(name, {})
            if new is None:
                problems += [] if old is not None else [((level, name), _NOTHING_TO_REMOVE)]
                continue
            removed_keys = [part for part, value in new.items() if value is None]
            problems += [((level, name, part), _NOTHING_TO_REMOVE) for part in removed_keys if part not in (old or {})]
            entries[name] = {part: value for part, value in {**(old or {}), **new}.items() if value is not None}
        full_row[level] = entries
        before = {name: cell for name, cell in entries.items() if name != _DEPRECATED}
    return full_row, problems


_NOTHING_TO_REMOVE: Final = "null removes a part of the previous row, which does not have it"


_EXPRESSIONS: Final = ("require", "when", "elements")


def plain_content(
    content: dict[str, Any], sets: Mapping[str, Mapping[str, list[str]]] | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return a file's content with complete rows and expanded sets.

    Also returns the problems.
    """
    content, problems = written_out(content, sets)
    if "support" in content:
        cases = []
        for path, when, rows in cases_of(content["support"]):
            whole, pairs = complete_rows(rows)
            problems += [((*path, *rest), text) for rest, text in pairs]
            cases.append((when, whole))
        content["support"] = support_of(cases)
    problems += _duplicate_defines(content.get("define", {}))
    return content, problems


def _duplicate_defines(defines: Mapping[str, str]) -> list[Problem]:
    first_places: dict[str, str] = {}
    problems: list[Problem] = []
    for key in defines:
        name = key.partition("(")[0]
        if first_places.setdefault(name, key) != key:
            problems.append((("define", key), f"{first_places[name]} has this name too"))
    return problems


def plain_operator(operator: dict[str, Any], names: frozenset[str]) -> list[Problem]:
    """Expand the short forms in a merged operator; return the problems.

    names: limits and types of the dialect, which defines and parameters must not shadow.
    """
    defines = operator.get("define", {})
    formulas = {formula.name: (key, formula) for key, text in defines.items() if (formula := formula_of(key, text))}
    plain_defines = {key: text for key, text in defines.items() if formula_of(key, text) is None}
    fields = operator.get("fields", {})
    optional = {name for name, info in fields.items() if may_be_absent(info)}
    shorthand = Shorthand(
        {n: formula for n, (_, formula) in formulas.items()}, optional, {*fields, *names, *plain_defines}
    )
    shorthand_problems: list[Problem] = [(("define", formulas[name][0]), text) for name, text in shorthand.check()]
    shorthand_problems += [
        (("define", name), f"the name {name!r:.80} is already the name of a function")
        for name in plain_defines
        if name in RESERVED
    ]
    if shorthand_problems:
        return shorthand_problems
    writer = _Writer(shorthand)
    if defines:
        operator["define"] = {name: writer.text(("define", name), text) for name, text in plain_defines.items()}
    if "rules" in operator:
        operator["rules"] = writer.rules(("rules",), operator["rules"])
    for key in ("support", "observed", "execute"):
        if key in operator:
            operator[key] = getattr(writer, key)(operator[key])
    if "tolerance" in operator:
        operator["tolerance"] = writer.text(("tolerance",), operator["tolerance"])
    if not writer.problems:
        derive_echoes(operator.get("rules", {}), operator.get("define", {}), fields)
    return writer.problems


def plain_tensor_rules(tensor: dict[str, Any]) -> list[Problem]:
    """Expand the short forms in tensor rules; return the problems."""
    writer = _Writer(Shorthand({}))
    if "rules" in tensor:
        tensor["rules"] = writer.rules(("rules",), {n: rule_forms(entry) for n, entry in tensor["rules"].items()})
    if "observed" in tensor:
        tensor["observed"] = writer.observed(tensor["observed"])
    return writer.problems


def may_be_absent(info: Any) -> bool:
    """Return whether a field may be omitted in one form without a default."""
    forms = info if isinstance(info, list) else [info]
    return any(form.get("optional") and form.get("default") is None for form in forms)


class _Writer:
    """Expands expressions into new content and collects the problems.

    It does not modify its input, because operators share a family's content.
    """

    def __init__(self, shorthand: Shorthand) -> None:
        self.shorthand = shorthand
        self.problems: list[Problem] = []

    def text(self, path: Keys, text: str) -> str:
        try:
            return self.shorthand.written_out(text)
        except ShorthandError as error:
            self.problems.append((path, str(error)))
            return text

    def entry(self, path: Keys, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: self.text((*path, key), value) if key in _EXPRESSIONS and isinstance(value, str) else value
            for key, value in entry.items()
        }

    def rules(self, path: Keys, rules: Mapping[str, Any]) -> dict[str, Any]:
        tables_by_name = {}
        for name, entries in rules.items():
            forms = rule_forms(entries)
            places = [(*path, name)] if len(forms) == 1 else [(*path, name, index) for index in range(len(forms))]
            tables_by_name[name] = [
                self.entry(place, {**form, "require": text})
                for place, form in zip(places, forms, strict=True)
                for text in self.shorthand.conditions(form["require"])
            ]
        return tables_by_name

    def support(self, support: Any) -> Any:
        return support_of([(when and self.text((*path, "when"), when), rows) for path, when, rows in cases_of(support)])

    def observed(self, overlays: list[dict[str, Any]]) -> list[dict[str, Any]]:
        tables = []
        for index, overlay in enumerate(overlays):
            path: Keys = ("observed", index)
            new = dict(overlay)
            if "rules" in new:
                new["rules"] = self.rules((*path, "rules"), new["rules"])
            for part in ("support", "values"):
                entries = new.get(part, {})
                if entries:
                    new[part] = {name: self.entry((*path, part, name), entry) for name, entry in entries.items()}
            for name, entry in new.get("values", {}).items():
                for key, texts in ((key, entry[key]) for key in ("arguments", "fields") if key in entry):
                    values_path = (*path, "values", name, key)
                    entry[key] = {
                        aspect: self._value((*values_path, aspect), value, key) for aspect, value in texts.items()
                    }
            tables.append(new)
        return tables

    def execute(self, recipe: Mapping[str, Any]) -> dict[str, Any]:
        new = dict(recipe)
        if "arguments" in new:
            path: Keys = ("execute", "arguments")
            new["arguments"] = {name: self.text((*path, name), text) for name, text in new["arguments"].items()}
        for level, row in recipe.items():
            if isinstance(row, dict) and any(isinstance(value, dict) for value in row.values()):
                new[level] = {name: self._constant(("execute", level, name), value) for name, value in row.items()}
        return new

    def _value(self, path: Keys, value: Any, key: str) -> Any:
        return self._constant(path, value) if key == "arguments" or value is None else self.text(path, value)

    def _constant(self, path: Keys, value: Any) -> Any:
        expression = isinstance(value, dict) and isinstance(value.get("expression"), str)
        return {"expression": self.text(path, value["expression"])} if expression else value
