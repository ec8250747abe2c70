"""Compilation of specs/onnxruntime/lowering, with checked expressions.

Imported only when the tables are missing or stale, because it needs pydantic and yaml.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.shorthand import Shorthand, ShorthandError, formula_of
from specgate.runtimes.onnxruntime.lowering.expressions import FormError
from specgate.runtimes.onnxruntime.lowering.model import GeneralFile, LoweringFile
from specgate.runtimes.onnxruntime.lowering.schema import needs_fields, schema_from
from specgate.runtimes.onnxruntime.lowering.table import make_table
from specgate.runtimes.onnxruntime.registrations import runtime_tables
from specgate.runtimes.onnxruntime.release_ranges import bounds
from specgate.spec.build import SpecErrors, load_file
from specgate.spec.tables import dialect
from specgate.spec.yamlio import format_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_GENERAL: Final = "general.yaml"
_PARAMETER: Final = re.compile(r"\$([a-z_]+)")
#: Keys whose texts are sentences or names, not expressions.
_PROSE: Final = frozenset({"because", "note", "releases", "function", "operator", "as", "of", "align", "type_of"})


def build_lowering(folder: Path) -> dict[str, Any]:
    """Return the compiled tables of `folder`; raise SpecErrors with places."""
    general, lines, problems = load_file(folder / _GENERAL, GeneralFile)
    problems += [format_problem(str(folder / _GENERAL), lines, path, text) for path, text in _general_problems(general)]
    tables: dict[str, Any] = {"general": general, "operators": {}}
    if problems:
        raise SpecErrors(problems)
    for path in sorted(folder.rglob("*.yaml")):
        if path.name == _GENERAL:
            continue
        content, lines, texts = load_file(path, LoweringFile)
        problems += texts
        for operator in content.get("operators", {}):
            if operator in tables["operators"]:
                problems.append(
                    format_problem(str(path), lines, ("operators", operator), "another file defines it, too")
                )
                continue
            try:
                tables["operators"][operator] = entry = _operator_entry(operator, _merge_shared(content, general))
                make_table(operator, entry, general)
            except FormError as error:
                problems.append(format_problem(str(path), lines, error.path, f"{operator}: {error}"))
    if problems:
        raise SpecErrors(problems)
    return tables


def _general_problems(general: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    for vendor_name, type_name in general.get("types", {}).items():
        if vendor_name not in dialect("onnx").types:
            yield ("types", vendor_name), "unknown type of ONNX"
        if type_name not in dialect("directml").types:
            yield ("types", vendor_name), f"unknown type of DirectML {type_name!r:.40}"


def _merge_shared(content: Mapping[str, Any], general: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's content merged with the shared parts that it uses.

    Raises FormError for an unknown shared part.
    """
    merged: dict[str, dict[str, Any]] = {"define": {}, "lists": {}, "refuses": {}}
    for index, name in enumerate(content.get("use", ())):
        shared = general.get("shared", {}).get(name)
        if shared is None:
            raise FormError(f"{_GENERAL} shares no {name!r:.60}", "use", index)
        for key, part in merged.items():
            part.update(shared.get(key, {}))
    entries = dict(content)
    for key, part in merged.items():
        entries[key] = {**part, **content.get(key, {})}
    _require_releases(entries)
    return entries


def _require_releases(content: Mapping[str, Any]) -> None:
    """Raise FormError for a range of unknown releases."""
    order = list(runtime_tables()["releases"])
    entries = [(("rows", index), row) for index, row in enumerate(content["rows"])]
    for key in ("refuses", "warns"):
        for name, result in content.get(key, {}).items():
            entries += [((key, name), check) for check in (result if isinstance(result, list) else [result])]
    for path, entry in entries:
        try:
            bounds(entry.get("releases") or "..", order)
        except ValueError as error:
            raise FormError(str(error), *path, "releases") from None


def _operator_entry(operator: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of one operator with parameters substituted.

    Short forms are expanded. Raises FormError.
    """
    words: Mapping[str, str] = content["operators"][operator]
    entries: dict[str, Any] = {"source": content["source"]}
    if content.get("sizes_open"):
        entries["sizes_open"] = True
    if content.get("fields") and needs_fields(operator):
        entries["fields"] = content["fields"]
    schema = schema_from(operator, entries.get("fields"))
    if schema is None:
        raise FormError("has no ONNX table, so its fields are required", "fields")
    defines = {key: _word(text, words) for key, text in content.get("define", {}).items()}
    formulas = {formula.name: formula for key, text in defines.items() if (formula := formula_of(key, text))}
    shorthand = Shorthand(formulas, schema.scope.optional, {*schema.scope.fields})
    for name, text in shorthand.check():
        raise FormError(text, "define", name)
    plain_texts = {key: text for key, text in defines.items() if formula_of(key, text) is None}
    parts = {
        "define": plain_texts,
        **{key: content.get(key) for key in ("lists", "outputs", "inferred", "refuses", "warns", "rows")},
    }
    for key, part in parts.items():
        if part:
            entries[key] = _expand_shorthand(part, words, shorthand, (key,))
    return entries


def _expand_shorthand(raw: Any, words: Mapping[str, str], shorthand: Shorthand, path: tuple[str | int, ...]) -> Any:
    if isinstance(raw, dict):
        parts_by_word = {_word(key, words): part for key, part in raw.items()}
        return {key: _expand_shorthand(part, words, shorthand, (*path, key)) for key, part in parts_by_word.items()}
    if isinstance(raw, list):
        return [_expand_shorthand(part, words, shorthand, (*path, index)) for index, part in enumerate(raw)]
    if not isinstance(raw, str):
        return raw
    missing_words = [name for name in _PARAMETER.findall(raw) if name not in words]
    if missing_words:
        raise FormError(f"the operator does not define ${missing_words[0]}", *path)
    text = _word(raw, words)
    if path[-1] in _PROSE:
        return text
    try:
        return shorthand.written_out(text)
    except ShorthandError as error:
        raise FormError(str(error), *path) from None


def _word(text: str, words: Mapping[str, str]) -> str:
    return _PARAMETER.sub(lambda match: words.get(match[1], match[0]), text)
