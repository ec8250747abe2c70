"""Text in aligned columns; the last column wraps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.levels import LevelSet
from specgate.report.clean import clean, wrap
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MIN_LAST_COLUMNS = 30  # minimum columns of the last cell; a narrower one goes to the next line


def wrap_text(text: str, width: int, *, first: str = "", hanging_indent: str = "") -> list[str]:
    """Return text as cleaned lines of at most `width` columns."""
    return wrap(clean(text, None), width, first=first, hanging_indent=hanging_indent)


def in_columns(rows: Iterable[Sequence[str]], width: int, *, indent: str = "") -> list[str]:
    """Return rows of cells as aligned columns; the last column wraps.

    Columns are two spaces apart. If the first columns are too wide, the last cell of each row is on the next line.
    """
    cleaned = [[clean(cell, None) for cell in row] for row in rows]
    if not cleaned:
        return []
    available_columns = max(width - len(indent) - _MIN_LAST_COLUMNS, 8)
    widths = [max(len(row[column]) for row in cleaned) for column in range(len(cleaned[0]) - 1)]
    if sum(widths) + 2 * len(widths) > available_columns:
        widths = []
    lines: list[str] = []
    for *before, last in cleaned:
        if widths:
            start = indent + "".join(cell.ljust(size) + "  " for cell, size in zip(before, widths, strict=True))
            hanging_indent = " " * (len(start) + (2 if last.startswith("# ") else 0))
            lines += wrap(last, width, first=start, hanging_indent=hanging_indent)
            continue
        lines += wrap("  ".join(cell for cell in before if cell), width, first=indent, hanging_indent=indent + "  ")
        lines += wrap(last, width, first=f"{indent}    ", hanging_indent=f"{indent}    ") if last else []
    return lines


def value_text(value: Any) -> str:
    """Return a table value as text.

    Lists have spaces, mappings are ``name: value``.
    """
    if isinstance(value, list):
        return " ".join(map(value_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}: {value_text(inner)}" for key, inner in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def whole_span(table: Mapping[str, Any]) -> str:
    """Return the levels at which an operator exists."""
    return row_span(table, table["levels"])


def row_span(table: Mapping[str, Any], levels: Iterable[str]) -> str:
    """Return levels of an operator as ranges: ``2.0..3.1``."""
    return str(LevelSet.of(table["levels"], levels))


def kernel_words(table: Mapping[str, Any]) -> str:
    """Return a sentence on the operator's kernel."""
    return f"kernel {table['kernel']}" if table["kernel"] else "not implemented"


def examples_count(table: Mapping[str, Any]) -> str:
    """Return the number of examples in the table."""
    number = len(table["examples"])
    return "1 example" if number == 1 else f"{number or 'no'} examples"


def about_attribute(info: Mapping[str, Any]) -> str:
    """Return an attribute's type, optionality, default and words."""
    parts = [info["type"].removeprefix("enum:") if info.get("values") else info["type"].replace("enum:", "enum ")]
    if "type_from" in info:
        parts[0] += f" of the type in {info['type_from']}"
    if info.get("optional"):
        parts.append("optional")
    if "default" in info:
        parts.append(f"default {value_text(info['default'])}")
    parts += _existence_words(info)
    words = f": {value_text(info['values'])}" if info.get("values") else ""
    return ", ".join(parts) + words


def _existence_words(info: Mapping[str, Any]) -> list[str]:
    since, until_words = (
        [f"{word} {info[key]}"] if key in info else [] for key, word in (("since", "from"), ("until", "before"))
    )
    return since + until_words


def short_names(table: Mapping[str, Any]) -> dict[str, str]:
    """Return short names of fused operators with a common prefix.

    Names stay long if short ones would be ambiguous.
    """
    cells = [cell for row in table["rows"] for cell in row["fields"].values()]
    cells += [cell for entry in table["observed"] for cell in entry.get("support", {}).values()]
    names = dict.fromkeys(name for cell in cells for name in cell.get("operators", ()))
    shared = [
        prefix for prefix in dialect(table["dialect"]).short_names if sum(name.startswith(prefix) for name in names) > 1
    ]
    entries = {name: next((name.removeprefix(p) for p in shared if name.startswith(p)), name) for name in names}
    vendor_names = list(entries.values())
    return {name: short if vendor_names.count(short) == 1 else name for name, short in entries.items()}


def limited_attributes(table: Mapping[str, Any]) -> set[str]:
    """Return the attributes that some row limits.

    A row that lists all words of an attribute does not limit it.
    """
    return {
        name
        for row in table["rows"]
        for name, cell in row["fields"].items()
        if name in table["attributes"]
        and ("range" in cell or "operators" in cell or cell.get("values") != table["attributes"][name].get("values"))
    }


def cell_parts(cell: Mapping[str, Any], short: Mapping[str, str]) -> tuple[str, list[tuple[str, Sequence[str]]]]:
    """Return a cell's ranks (empty: any) and its other lists.

    Each list has a label, which is empty for types.
    """
    type_words: list[tuple[str, Sequence[str]]] = []
    if "types" in cell:
        type_words.append(("", cell["types"]))
    if "values" in cell:
        type_words.append(("values", [str(value) for value in cell["values"]]))
    if "range" in cell:
        type_words.append(("range", [cell["range"]]))
    if "operators" in cell:
        type_words.append(("fuses", [short.get(name, name) for name in cell["operators"]]))
    return cell.get("ranks", ""), type_words


def rule_groups(rules: Iterable[Mapping[str, Any]], full_range: str) -> dict[str, list[tuple[str, str, str]]]:
    """Return the forms of each rule as (levels, expression, reason).

    Levels equal to `full_range` are empty, and so is a reason that equals the next one.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for rule in rules:
        groups.setdefault(rule["name"], []).append(rule)
    return {name: [_form(forms, index, full_range) for index in range(len(forms))] for name, forms in groups.items()}


def _form(forms: Sequence[Mapping[str, Any]], index: int, full_range: str) -> tuple[str, str, str]:
    form, later_forms = forms[index], forms[index + 1 :]
    text = form["require"] + (f" where {form['when']}" if "when" in form else "")
    reason = form.get("because", "")
    repeated = bool(later_forms) and later_forms[0].get("because") == reason
    return ("" if form["levels"] == full_range else form["levels"]), text, "" if repeated else reason


def source_words(source: Mapping[str, Any]) -> str:
    """Return a source in one line.

    It has the page or package, the repository and path, the commit or version, and the measurement.
    """
    names = [source.get(k) for k in ("page", "package", "name") if source.get(k)]
    repository, path = source.get("repository"), source.get("path")
    place = f"{repository}: {path}" if repository and path else path or repository
    version = source.get("commit") or source.get("version")
    return ", ".join(str(p) for p in (*names[:2], place, version, source.get("measured"), source.get("note")) if p)
