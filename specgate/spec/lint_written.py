"""Linters of what a file of a table says, before it is written out: order, and what it says twice or at length."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.rules.shorten import Shortener
from specgate.spec.desugar import may_be_absent
from specgate.spec.forms import rule_forms
from specgate.spec.rows import whole_rows
from specgate.spec.sets import KINDS, MARK, by_name, named_sets
from specgate.spec.yamlio import load_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

__all__ = ["WRITTEN_LINTERS", "Written", "expressions", "written_file"]

_ORDER: Final = (
    "operator", "like", "family", "summary", "source", "unknowns", "fields", "support", "removed",
    "unchecked_attributes", "define", "rules", "execute", "tolerance", "examples", "counterexamples", "observed",
)  # fmt: skip


class Written(NamedTuple):
    """A file's content as it is written, and what it is held against.

    fields: those of the operator, its family's included. optional: those of them that may be absent. sets: the
    dialect's, by kind.
    """

    content: Mapping[str, Any]
    fields: Collection[str]
    optional: Collection[str]
    sets: Mapping[str, Mapping[str, list[str]]]


def written_file(path: Path, fields: Mapping[str, Any], sets: Mapping[str, Any]) -> Written:
    """Return the content of a table's file; `fields` are its operator's as compiled, `sets` what sets.yaml says."""
    content = _content(path, path.stat().st_mtime_ns)
    optional = [name for name, info in fields.items() if may_be_absent(info)]
    return Written(content, list(fields), optional, named_sets(sets)[0])


@lru_cache(maxsize=4)
def _content(path: Path, _changed: int) -> Any:
    content = load_yaml(path.read_text(encoding="utf-8"), str(path))[0]
    return content if "like" not in content else {key: _stated(key, part) for key, part in content.items() if part}


def _stated(key: str, part: Any) -> Any:
    """Return what the file of an operator that is like another says itself: {} and null say nothing."""
    if key == "support" or not isinstance(part, dict):
        return part
    return {name: _stated(name, entry) for name, entry in part.items() if entry is not None and entry != {}}


def _misordered(keys: list[str]) -> Iterator[str]:
    wanted = [key for key in _ORDER if key in keys]
    if [key for key in keys if key in _ORDER] != wanted:
        yield f"expected the keys in the order {', '.join(wanted)}"


def _cases(content: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of every case, with the words that a line about one begins with."""
    support = content.get("support", {})
    cases = support if isinstance(support, list) else [support]
    for index, case in enumerate(cases):
        rows = {level: row for level, row in case.items() if level != "when"}
        yield f"support.{index}." if isinstance(support, list) else "support.", rows


def _canonical_order(file: Written) -> Iterator[str]:
    """Keys have one order in every file, so that files read and compare alike."""
    yield from _misordered(list(file.content))
    for place, rows in _cases(file.content):
        for level, row in rows.items():
            named = [name for name in row if name in file.fields]
            if named != [name for name in file.fields if name in row]:
                yield f"{place}{level}: expected the fields in the order of `fields`"


def _repeated_cell(file: Written) -> Iterator[str]:
    """A row keeps what the row before says; what it repeats hides what changed."""
    for place, rows in _cases(file.content):
        whole, _ = whole_rows(rows)
        for (before, old), (level, _) in pairwise(whole.items()):
            for name, cell in rows[level].items():
                parts = cell if isinstance(cell, dict) else {}
                said = old.get(name, {}) if isinstance(old.get(name), dict) else {}
                for part in (part for part, value in parts.items() if part in said and said[part] == value):
                    yield f"{place}{level}.{name}.{part} repeats {before}"


def _unnamed_set(file: Written) -> Iterator[str]:
    """A list that has a name in sets.yaml goes by it."""
    for place, kind, listed in _lists(file.content):
        plain = [entry for entry in listed if not entry.startswith(MARK)]
        wanted = by_name(listed, file.sets.get(kind, {}))
        if wanted != listed and len(plain) > 1:
            shown = wanted if isinstance(wanted, str) else f"[{', '.join(wanted)}]"
            yield f"{place}: expected {shown} for this list"


def _lists(content: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    rows = [(f"{place}{level}", row) for place, rows in _cases(content) for level, row in rows.items()]
    rows += [
        (f"observed.{i}.support", o["support"]) for i, o in enumerate(content.get("observed", ())) if "support" in o
    ]
    for place, row in rows:
        for name, cell in row.items():
            parts = cell if isinstance(cell, dict) else {}
            for kind in parts if name == "type_sets" else KINDS:
                if isinstance(parts.get(kind), list):
                    yield f"{place}.{name}.{kind}", "types" if name == "type_sets" else kind, parts[kind]


def _long_form(file: Written) -> Iterator[str]:
    """What the rule language has a short form of is written in it."""
    for place, text in expressions(file.content):
        shortener = Shortener(file.optional)
        shortener.shortened(text)
        yield from (f"{place}: expected {short} for {long}" for long, short in shortener.found)


def expressions(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every expression of a file, with its place."""
    yield from ((f"define.{name}", text) for name, text in content.get("define", {}).items())
    yield from _of_rules("rules", content.get("rules", {}))
    for index, overlay in enumerate(content.get("observed", ())):
        yield from _of_rules(f"observed.{index}.rules", overlay.get("rules", {}))
        for name, entry in overlay.get("values", {}).items():
            yield from ((f"observed.{index}.values.{name}.{k}", entry[k]) for k in ("when", "elements") if k in entry)
    for name, text in content.get("execute", {}).get("arguments", {}).items():
        yield f"execute.arguments.{name}", text


def _of_rules(place: str, rules: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, entry in rules.items():
        for form in rule_forms(entry):
            yield from ((f"{place}.{name}.{key}", form[key]) for key in ("require", "when") if key in form)


#: Linter name -> function over one file. Add one here, and a failing file to its test.
WRITTEN_LINTERS: Final[Mapping[str, Callable[[Written], Iterator[str]]]] = {
    "canonical-order": _canonical_order,
    "repeated-cell": _repeated_cell,
    "unnamed-set": _unnamed_set,
    "long-form": _long_form,
}
