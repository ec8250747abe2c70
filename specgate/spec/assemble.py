"""Merge families and `like` operators into the operators of a dialect.

It runs while tables are built.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import integer_limits
from specgate.spec.forms import rule_forms
from specgate.spec.short_forms import complete_rows, named_sets, plain_content, plain_operator
from specgate.spec.written import cases_of, support_of
from specgate.spec.yamlio import format_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.spec.yamlio import Keys, Lines

#: Keys whose entries are merged by name, and those inside `execute`.
_KEYS_MERGED_BY_NAME: Final = ("fields", "define", "rules", "counterexamples", "execute")
_EXECUTE_KEYS: Final = ("arrays", "arguments", "output_type")
#: Keys that an operator inherits from the one in `like`.
_INHERITED: Final = (
    "family", "fields", "support", "unchecked_attributes", "define", "rules", "execute", "tolerance",
)  # fmt: skip


def merge_family(family: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operator's content merged with that of its family.

    Entries of the operator replace those of the family. Its keys come first, then those that only the family has.
    """
    merged = {**content, **{key: value for key, value in family.items() if key not in content and key != "family"}}
    for key in _KEYS_MERGED_BY_NAME:
        if key in family and key in content:
            merged[key] = {**family[key], **content[key]}
    for key in _EXECUTE_KEYS if "execute" in family and "execute" in content else ():
        if key in family["execute"] and key in content["execute"]:
            merged["execute"][key] = {**family["execute"][key], **content["execute"][key]}
    if "observed" in family and "observed" in content:
        merged["observed"] = [*family["observed"], *content["observed"]]
    return merged


def merge_like(other: Mapping[str, Any], content: Mapping[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    """Return an operator's content merged with that of its `like` operator.

    Entries of the operator replace inherited entries of the same name; null removes one, and {} keeps it unchanged. A
    new entry goes after the entry that precedes it in its file, or first. The first support row is merged with the
    inherited row that applies at its level. Both contents are as written in the files, not yet validated.
    """
    base_content = copy.deepcopy({key: other[key] for key in _INHERITED if key in other})
    merged = {**content, **{key: value for key, value in base_content.items() if key not in content}}
    for key in (
        key for key in base_content if isinstance(base_content[key], dict) and isinstance(content.get(key), dict)
    ):
        if key == "support":
            merged[key] = _lay_row(base_content[key], content[key], levels)
        elif key in _KEYS_MERGED_BY_NAME:
            merged[key] = _lay_entries(base_content[key], content[key], _EXECUTE_KEYS if key == "execute" else ())
    return {key: value for key, value in merged.items() if value is not None or key not in base_content}


def _lay_entries(
    base_content: Mapping[str, Any], content: Mapping[str, Any], inner: Sequence[str] = ()
) -> dict[str, Any]:
    names = list(base_content)
    place = 0
    for name in content:
        if name not in base_content:
            names.insert(place, name)
        place = names.index(name) + 1
    merged = {}
    for name in names:
        value = content.get(name, base_content.get(name))
        if name in inner and isinstance(value, dict) and isinstance(base_content.get(name), dict):
            value = _lay_entries(base_content[name], value)
        elif value == {}:
            value = base_content.get(name, value)
        if value is not None or name not in base_content:
            merged[name] = value
    return merged


def _lay_row(base_row: Mapping[str, Any], own_row: Mapping[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    first = next(iter(own_row), "")
    rows = {level: row for level, row in base_row.items() if first in levels and level in levels}
    texts = [level for level in rows if levels.index(level) <= levels.index(first)]
    written_rows = [*rows.values(), own_row.get(first)]
    if not texts or not all(isinstance(row, dict) for row in written_rows):
        return dict(own_row)
    if not all(cell is None or isinstance(cell, dict | bool) for row in written_rows for cell in row.values()):
        return dict(own_row)
    start = {name: cell for name, cell in complete_rows(rows)[0][texts[-1]].items() if isinstance(cell, dict)}
    return {**own_row, first: complete_rows({"": start, first: own_row[first]})[0][first]}


def has_entry(content: Mapping[str, Any], path: Keys) -> bool:
    """Return whether the value at a path is in this file, not inherited."""
    key, rest = path[0], path[1:]
    if key not in _KEYS_MERGED_BY_NAME or not rest or not isinstance(content.get(key), dict):
        return key in content or key not in _INHERITED
    depth = 2 if key == "execute" and rest[0] in _EXECUTE_KEYS else 1
    return _has_path(content[key], rest[:depth]) and content[key][rest[0]] != {}


def locate(path: Keys, family: Mapping[str, Any], content: Mapping[str, Any]) -> tuple[bool, Keys]:
    """Return whether `path` is in the family's file, and its path there."""
    key, rest = path[0], path[1:]
    if key not in family:
        return False, path
    if key == "observed" and rest:
        before, index = len(family[key]), int(rest[0])
        return (True, path) if index < before else (False, (key, index - before, *rest[1:]))
    if key not in content:
        return True, path
    if key not in _KEYS_MERGED_BY_NAME or not rest:
        return False, path
    depth = 2 if key == "execute" and len(path) > 2 and rest[0] in _EXECUTE_KEYS else 1
    return _has_path(family[key], rest[:depth]) and not _has_path(content[key], rest[:depth]), path


def _has_path(content: Mapping[str, Any], path: Keys) -> bool:
    inner: Any = content
    for key in path:
        if not isinstance(inner, dict) or key not in inner:
            return False
        inner = inner[key]
    return True


EXAMPLES: Final = "examples/"
PART_FOLDERS: Final = ("operators/", "families/", EXAMPLES)
_RANGE = re.compile(r"(-?[0-9]+)\.\.(-?[0-9]+)?")


class Part(NamedTuple):
    """The checked content of one operator or family, with source positions.

    relative: the path of its file in the dialect's folder. apart: the file with the examples, and its keys. likes: the
    `like` operators, the nearest first. written: the content of its file if it uses `like`.
    """

    path: Path
    relative: str
    content: dict[str, Any]
    lines: Lines
    apart: tuple[Path, frozenset[str]] | None = None
    likes: tuple[Part, ...] = ()
    written: Mapping[str, Any] | None = None

    def file(self, path: Keys) -> str:
        """Return the file that defines the value at `path`."""
        owner = self._owner(path)
        if owner.apart is not None and path and path[0] in owner.apart[1]:
            return str(owner.apart[0])
        return str(owner.path)

    def locate_problem(self, path: Keys, message: str) -> str:
        """Return a line that reports a problem of the value at `path`."""
        owner = self._owner(path)
        users = "" if owner is self else f" (in {self.content['operator']!r:.80})"
        return format_problem(self.file(path), owner.lines, path, message + users)

    def _owner(self, path: Keys) -> Part:
        parts = (self, *self.likes)
        return next((p for p in parts if p.written is None or not path or has_entry(p.written, path)), parts[-1])


class Sources(NamedTuple):
    """The files that define an operator."""

    own: Part
    family: Part | None = None

    def locate_source(self, path: Keys) -> tuple[str, Keys]:
        """Return the file and path that define `path` of the merged operator."""
        shared, inner = self._locate_own(path)
        return (self.family if shared and self.family else self.own).file(inner), inner

    def locate_problem(self, path: Keys, message: str) -> str:
        """Return a problem of the merged operator with its file and line."""
        shared, inner = self._locate_own(path)
        if shared and self.family is not None:
            user = self.own.content["operator"]
            return self.family.locate_problem(inner, f"{message} (in {user!r:.80})")
        return self.own.locate_problem(inner, message)

    def _locate_own(self, path: Keys) -> tuple[bool, Keys]:
        if self.family is None:
            return False, path
        return locate(path, self.family.content, self.own.content)


def assemble(
    tables: dict[str, Any], parts: Sequence[Part], *, keep_broken: bool = False
) -> tuple[dict[str, Sources], list[str]]:
    """Add the families and operators in `parts` to `tables`.

    Return the sources of each operator, and the problems. keep_broken: some files could not be read, so a missing
    family is not reported.
    """
    families = {name: Part(_family_path(name), "", content, {}) for name, content in tables["families"].items()}
    parts, problems = _usable_parts(parts, tables, keep_broken=keep_broken)
    keep_broken = keep_broken or bool(problems)
    for part in (p for p in parts if "family" in p.content and "operator" not in p.content):
        name = part.content["family"]
        if part.path.stem != name:
            problems.append(part.locate_problem(("family",), f"expected {part.path.stem!r:.80}"))
        families[name] = part
        tables["families"][name] = part.content
    sources: dict[str, Sources] = {}
    folded: dict[str, Part] = {}
    for part in (p for p in parts if "operator" in p.content):
        name, value = part.content["operator"], part.content.get("family")
        file, other = _required_file_name(name, part.relative), folded.setdefault(name.lower(), part)
        if file is not None:
            problems.append(part.locate_problem(("operator",), f"expected {name!r:.80} in a file named {file:.80}"))
        if other is not part:
            message = f"{name!r:.80} is in {other.relative} too"
            if other.content["operator"] != name:
                message = f"{other.relative} has the same name except for case, which some file systems ignore"
            problems.append(part.locate_problem(("operator",), message))
        elif value is not None and value not in families:
            if not keep_broken:
                problems.append(part.locate_problem(("family",), f"unknown family {value!r:.80}"))
        else:
            sources[name] = Sources(part, families.get(value))
            tables["operators"][name] = merge_family(families[value].content if value else {}, part.content)
            tables["files"][name] = part.relative
    names = frozenset({*tables.get("types", {}).get("types", {}), *_limits(tables)})
    result: set[tuple[str, Keys]] = set()
    for name, source in list(sources.items()):
        _write_names_out(tables["operators"][name], tables)
        _order_cells(tables["operators"][name])
        _complete_sources(tables["operators"][name], tables.get("dialect", {}).get("pages"))
        pairs = _add_scalar_rule(tables["operators"][name], tables) or plain_operator(tables["operators"][name], names)
        problems += [
            source.locate_problem(path, text) for path, text in pairs if source.locate_source(path) not in result
        ]
        result |= {source.locate_source(path) for path, _ in pairs}
        if pairs:  # otherwise unresolved names would be reported twice
            del sources[name]
    return sources, problems


def _required_file_name(operator: str, relative: str) -> str | None:
    """Return the required file name of a misnamed operator, else None.

    A file is named after the operator and is in the folder of its domain.
    """
    domain, _, name = operator.rpartition(".")
    *folders, stem = relative.rpartition("operators/")[2].removesuffix(".yaml").split("/")
    if stem == name and (not folders or "/".join(folders) == domain):
        return None
    return f"{domain}/{name}.yaml" if folders and domain else f"{name}.yaml"


def _usable_parts(
    parts: Sequence[Part], tables: Mapping[str, Any], *, keep_broken: bool
) -> tuple[list[Part], list[str]]:
    """Return the usable parts with short forms expanded, and the problems."""
    sets = None if keep_broken and "sets" not in tables else named_sets(tables.get("sets", {}))[0]
    usable_parts, problems = [], []
    for part in parts:
        content, pairs = plain_content(part.content, sets)
        problems += [part.locate_problem(path, text) for path, text in pairs]
        if not pairs:
            usable_parts.append(part._replace(content=normalise(content)))
    return usable_parts, problems


def _order_cells(operator: Mapping[str, Any]) -> None:
    """Sort the cells of every row by field.

    A row may name a field that earlier rows do not name.
    """
    place = {name: index for index, name in enumerate(operator.get("fields", ()))}
    for _, row in support_rows(operator["support"]):
        ordered = sorted(row.items(), key=lambda item: place.get(item[0], len(place)))
        row.clear()
        row.update(ordered)


def _complete_sources(operator: dict[str, Any], pages: Mapping[str, str] | None) -> None:
    """Add the repository and the whole path to sources in the dialect's own pages.

    pages: the repository of the vendor's pages and their folder, None if the dialect has none.
    """
    if pages is None:
        return
    entries = []
    for entry in operator.get("source", ()):
        if isinstance(entry, dict) and "page" in entry and "commit" in entry and "repository" not in entry:
            path = entry.get("path") or f"{entry['page']}.md"
            own = {"page": entry["page"], "repository": pages["repository"], "path": f"{pages['folder']}/{path}"}
            entries.append({**own, **{key: value for key, value in entry.items() if key not in own}})
        else:
            entries.append(entry)
    operator["source"] = entries


#: The rule derived from the fields of type scalar.
_SCALAR_RULE: Final = "value-fits"


def _add_scalar_rule(operator: dict[str, Any], tables: Mapping[str, Any]) -> list[tuple[Keys, str]]:
    """Add the rule that scalars are values of the integer type in `type_from`.

    Return the problem of a written rule with its name. The rule is a guard, because kernels do not read a scalar in
    every mode. Elements of less than a byte are not types of a scalar.
    """
    fields = operator.get("fields", {})
    names: dict[str, list[str]] = {}
    for name, info in fields.items():
        source = fields.get(info.get("type_from")) if isinstance(info, dict) else None
        if isinstance(source, dict) and str(source.get("type")).startswith("enum:"):
            names.setdefault(info["type_from"], []).append(name)
    forms = []
    for kind, scalars in names.items():
        noun = "a whole number" if len(scalars) == 1 else "whole numbers"
        for word, info in tables.get("types", {}).get("types", {}).items():
            bits, array_type = info.get("bits") or 0, str(info.get("numpy"))
            if bits >= 8 and array_type.startswith(("int", "uint")):
                low, high = integer_limits(bits, signed=array_type.startswith("int"))
                forms.append(
                    {
                        "require": " and ".join(f"{low} <= {name} <= {high} and {name} % 1 == 0" for name in scalars),
                        "when": f"{kind} == {word}",
                        "guard": True,
                        "because": f"{' and '.join(scalars)} must be {noun} in the range of {kind}",
                    }
                )
    if forms and _SCALAR_RULE in operator.get("rules", {}):
        return [(("rules", _SCALAR_RULE), "expected another name: this rule is derived from the scalar fields")]
    if forms:
        operator["rules"] = {**operator.get("rules", {}), _SCALAR_RULE: forms}
    return []


def _limits(tables: Mapping[str, Any]) -> set[str]:
    levels = tables.get("levels", {}).get("levels", {})
    return {name for info in levels.values() for name in info.get("limits", {})}


def _family_path(name: str) -> Path:
    return Path("families") / f"{name}.yaml"


def support_rows(support: Any) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield every support row of all cases with its path."""
    for path, _, rows in cases_of(support):
        yield from (((*path, level), row) for level, row in rows.items())


def _write_names_out(operator: dict[str, Any], tables: Mapping[str, Any]) -> None:
    """Expand the names of fused operators in cells to full names.

    While a dialect lacks tables, names that its tables would have are used. An unknown name is kept, and
    `check_references` reports it for a complete dialect.
    """
    dialect, operators = tables.get("dialect", {}), tables["operators"]
    prefixes = ("", *dialect.get("short_names", ()))

    def full(name: str) -> str:
        result = next((prefix + name for prefix in prefixes if prefix + name in operators), None)
        if result is not None or dialect.get("complete") or name.startswith(prefixes[1:]):
            return result or name
        return prefixes[1] + name if len(prefixes) > 1 else name

    cells = [cell for _, row in support_rows(operator["support"]) for cell in row.values()]
    cells += [cell for overlay in operator.get("observed", []) for cell in overlay["support"].values()]
    for cell in cells:
        if "operators" in cell:
            cell["operators"] = [full(name) for name in cell["operators"]]


def normalise(content: dict[str, Any]) -> dict[str, Any]:
    """Expand type sets, rank ranges and one-line rules of a file."""
    withdrawn_levels = [
        path[-1] for path, row in support_rows(content.get("support", {})) if row.pop("deprecated", False)
    ]
    if withdrawn_levels:
        content["deprecated"] = withdrawn_levels
    if "support" in content:
        cases = cases_of(content["support"])
        content["support"] = support_of([(when and " ".join(when.split()), _rows(rows)) for _, when, rows in cases])
    if "rules" in content:
        content["rules"] = {rule: rule_forms(entry) for rule, entry in content["rules"].items()}
    for overlay in content.get("observed", []):
        cells = overlay.get("support", {}).items()
        overlay["support"] = {f: _cell({k: v for k, v in cell.items() if v is not None}, {}) for f, cell in cells}
        overlay["rules"] = {rule: rule_forms(entry) for rule, entry in overlay.get("rules", {}).items()}
    return content


def _rows(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {
        level: {field: _cell(cell, row.get("type_sets", {})) for field, cell in row.items() if field != "type_sets"}
        for level, row in rows.items()
    }


def _cell(cell: dict[str, Any], type_sets: dict[str, list[str]]) -> dict[str, Any]:
    result = dict(cell)
    types = result.get("types")
    if isinstance(types, str) and types != "any":
        result["types"] = type_sets.get(types, [types])
        if types in type_sets:
            result["variable"] = types
    if "ranks" in result:
        result["ranks"] = _bounds(result["ranks"])
    if "range" in result:
        result["range"] = _bounds(result["range"])
    if "when" in result:
        result["when"] = " ".join(result["when"].split())
    return result


def _bounds(value: int | str | list[int]) -> Any:
    """Return the compiled form of bounds.

    4 -> [4, 4]; "1..8" -> [1, 8]; "1.." -> [1, None]; "any" -> None; a list becomes a mapping {"only": [...]}.
    """
    if isinstance(value, int):
        return [value, value]
    if isinstance(value, list):
        return {"only": sorted(value)}
    if value == "any":
        return None
    match = _RANGE.fullmatch(value)
    assert match is not None  # validated by the model  # noqa: S101
    return [int(match[1]), None if match[2] is None else int(match[2])]
