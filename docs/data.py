"""Data files for the site's scripts: search index and matrix data.

Each file is a script that passes one JSON value, because pages opened without a server can only load scripts.
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from docs.rule_ids import operator_rules, other_rules, tensor_rule_names, written_rules
from docs.support import supported_words
from specgate.dialects import BUILT_IN
from specgate.spec.changes import resolve_case
from specgate.spec.rulebook import rule_of
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["data_files", "matrix_data"]

#: How people write the kinds of element types, with their sizes in bits.
_KINDS: Final = (("float", "fp", "f"), ("bfloat", "bf"), ("int", "i"), ("uint", "u"))
#: Other names of types.
_NAMES: Final = {"float": "float32", "double": "float64", "float16": "half", "boolean": "bool", "bool": "boolean"}


def data_files(pages: Iterable[tuple[str, str, str]], only: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each data file.

    pages: paths, titles and words of the pages that describe neither operators nor rules.
    """
    named = {name: [op for op in dialect(name).operators if not only or f"{name}/{op}" in only] for name in BUILT_IN}
    matrices = {name: matrix_data(dialect(name), operators) for name, operators in named.items()}
    of_types = [page for name, matrix in matrices.items() for page in _type_pages(name, matrix)]
    yield "data/search.js", _script("index", {"pages": [*pages, *of_types], "operators": _operators(named)})
    for name, operators in named.items():
        yield f"data/rules-{name}.js", _script(f"rules-{name}", _rules(name, operators))
        yield f"data/{name}.js", _script(f"matrix-{name}", matrices[name])
    yield "data/rules-other.js", _script("rules-other", _other_rules())


def _script(name: str, value: Any) -> str:
    return f"specgate.take({json.dumps(name)}, {json.dumps(value, separators=(',', ':'), ensure_ascii=False)});\n"


def _type_pages(name: str, matrix: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield path, title and words of the matrix of each element type."""
    for type_ in matrix["types"]:
        if type_.isalnum():
            path = f"matrix.html#dialect={name}&type={type_}"
            yield path, f"{type_} in {matrix['title']}", f"{type_.lower()} {_other_names(type_.lower())}"


def _other_names(type_: str) -> str:
    """Return other spellings of an element type, such as fp16 and half of float16."""
    other = _NAMES.get(type_, "")
    sized = re.fullmatch(r"([a-z]+)(\d+)", other if other[-1:].isdigit() else type_)
    kinds = next((kinds for kinds in _KINDS if sized and sized[1] in kinds), ())
    spelled = [f"{kind}{sized[2]}" for kind in kinds] if sized else []
    return " ".join([other, *spelled, *(_NAMES[name] for name in spelled if name in _NAMES)])


def _operators(named: Mapping[str, list[str]]) -> dict[str, Any]:
    return {
        name: {
            "title": dialect(name).tables.title,
            "operators": [[op, dialect(name).operator(op).table.summary] for op in operators],
        }
        for name, operators in named.items()
    }


def _rules(name: str, operators: Iterable[str]) -> dict[str, Any]:
    """Return the rules by operator.

    Rules of its table have their sentences; others only have names.
    """
    facts: dict[str, Any] = {}
    for operator in operators:
        spec = dialect(name).operator(operator)
        own = written_rules(spec)
        sentences = [[rule, rule_of(f"{name}/{operator}/{rule}").says or ""] for rule in own]
        facts[operator] = [sentences, [rule for rule in operator_rules(spec) if rule not in own]]
    facts["tensor"] = [[[rule, rule_of(f"{name}/tensor/{rule}").says or ""] for rule in tensor_rule_names(name)], []]
    return facts


def _other_rules() -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for group, rule in other_rules():
        facts.setdefault(group, [[], []])[0].append([rule, rule_of(f"{group}/{rule}").says or ""])
    return facts


def matrix_data(table: Dialect, operators: Iterable[str]) -> dict[str, Any]:
    """Return the support of each tensor of operators at each level.

    The result maps each operator to rows ``[fields, case, stretches]``. A stretch is ``[first, last, types, ranks,
    built types, built ranks]``. first, last: level indices. types and ranks are the documented ones, built types and
    built ranks the observed ones. types: an index into the list of type sets, -1 for any type.
    """
    sets: dict[tuple[str, ...], int] = {}
    rows = {name: list(_rows(table, table.operator(name), sets)) for name in operators}
    return {
        "title": table.tables.title,
        "word": table.level_word,
        "levels": list(table.levels),
        "types": sorted({name for types in sets for name in types}),
        "sets": [list(types) for types in sets],
        "operators": rows,
    }


def _rows(table: Dialect, spec: OperatorSpec, sets: dict[tuple[str, ...], int]) -> Iterator[list[Any]]:
    for when, _ in spec.support:
        alike: dict[tuple[Any, ...], list[str]] = {}
        for name, info in spec.fields.items():
            if info.kind != "attribute":
                rows = [_accepted_row(spec, level, when, name, sets) for level in table.levels]
                alike.setdefault(tuple(rows), []).append(name)
        for taken_at, names in alike.items():
            runs = [(value, [at for at, _ in run]) for value, run in groupby(enumerate(taken_at), lambda pair: pair[1])]
            stretches = [[places[0], places[-1], *value] for value, places in runs if value is not None]
            yield [names, when or "", stretches]


def _accepted_row(
    spec: OperatorSpec, target_level: str, when: str | None, name: str, sets: dict[tuple[str, ...], int]
) -> tuple[Any, ...] | None:
    level = spec.level_for(target_level)
    if level is None or level not in spec.levels:
        return None
    row: list[Any] = []
    for side in ("documented", "observed"):
        resolved = resolve_case(spec.resolve(level, side), when)
        if resolved is None or name not in resolved.fields or resolved.fields[name].kind == "attribute":
            return None
        cell = resolved.cells.get(name)
        types = supported_words(cell, "types")
        row.append(-1 if types is None else sets.setdefault(types, len(sets)))
        row.append("" if cell is None or cell.ranks is None else str(cell.ranks))
    return tuple(row)
