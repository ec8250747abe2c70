"""Write out what tables say in short: rows, sets, and short forms in expressions. Done once, while tables are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.shorthand import RESERVED, Shorthand, ShorthandError, formula_of
from specgate.spec.echoes import derive_echoes
from specgate.spec.forms import rule_forms
from specgate.spec.rows import whole_rows
from specgate.spec.sets import written_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.yamlio import Keys

    Problem = tuple[Keys, str]

__all__ = ["may_be_absent", "plain_content", "plain_operator", "plain_tensor_rules"]

_EXPRESSIONS: Final = ("require", "when", "elements")


def plain_content(
    content: dict[str, Any], sets: Mapping[str, Mapping[str, list[str]]] | None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return an operator's or family's content with whole rows and without names of sets, and what is wrong."""
    content, problems = written_out(content, sets)
    support = content.get("support")
    if isinstance(support, list):
        cases = []
        for index, case in enumerate(support):
            rows, found = whole_rows({level: row for level, row in case.items() if level != "when"})
            problems += [(("support", index, *path), text) for path, text in found]
            cases.append({"when": case["when"], **rows})
        content["support"] = cases
    elif support is not None:
        content["support"], found = whole_rows(support)
        problems += [(("support", *path), text) for path, text in found]
    problems += _twice(content.get("define", {}))
    return content, problems


def _twice(defines: Mapping[str, str]) -> list[Problem]:
    seen: dict[str, str] = {}
    problems: list[Problem] = []
    for key in defines:
        name = key.partition("(")[0]
        if seen.setdefault(name, key) != key:
            problems.append((("define", key), f"{seen[name]} has this name too"))
    return problems


def plain_operator(operator: dict[str, Any], names: frozenset[str]) -> list[Problem]:
    """Write out the short forms in the expressions of a merged operator; return what is wrong.

    names: limits and types of the dialect, which defines and parameters must not hide.
    """
    defines = operator.get("define", {})
    formulas = {made.name: (key, made) for key, text in defines.items() if (made := formula_of(key, text))}
    plain = {key: text for key, text in defines.items() if formula_of(key, text) is None}
    fields = operator.get("fields", {})
    optional = {name for name, info in fields.items() if may_be_absent(info)}
    shorthand = Shorthand({n: made for n, (_, made) in formulas.items()}, optional, {*fields, *names, *plain})
    wrong: list[Problem] = [(("define", formulas[name][0]), text) for name, text in shorthand.check()]
    wrong += [(("define", name), f"the name {name!r:.80} is taken by a function") for name in plain if name in RESERVED]
    if wrong:
        return wrong
    writer = _Writer(shorthand)
    if defines:
        operator["define"] = {name: writer.text(("define", name), text) for name, text in plain.items()}
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
    """Write out the short forms in the rules that every tensor obeys; return what is wrong."""
    writer = _Writer(Shorthand({}))
    if "rules" in tensor:
        tensor["rules"] = writer.rules(("rules",), {n: rule_forms(entry) for n, entry in tensor["rules"].items()})
    if "observed" in tensor:
        tensor["observed"] = writer.observed(tensor["observed"])
    return writer.problems


def may_be_absent(info: Any) -> bool:
    """Whether a field may be left out in one of its forms, and has no default there."""
    forms = info if isinstance(info, list) else [info]
    return any(form.get("optional") and form.get("default") is None for form in forms)


class _Writer:
    """Writes out expressions, each into new content: families share theirs. Keeps what is wrong."""

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
        made = {}
        for name, entries in rules.items():
            forms = rule_forms(entries)
            places = [(*path, name)] if len(forms) == 1 else [(*path, name, index) for index in range(len(forms))]
            made[name] = [self.entry(place, form) for place, form in zip(places, forms, strict=True)]
        return made

    def support(self, support: Any) -> Any:
        if not isinstance(support, list):
            return support
        return [{**case, "when": self.text(("support", i, "when"), case["when"])} for i, case in enumerate(support)]

    def observed(self, overlays: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = []
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
                    at = (*path, "values", name, key)
                    entry[key] = {each: self._value((*at, each), value, key) for each, value in texts.items()}
            made.append(new)
        return made

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
