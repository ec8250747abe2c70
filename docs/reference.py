"""The reference pages.

The table format comes from its schema, the rule language from its functions, and the Python API from docstrings.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import specgate
from docs.frame import Page, breadcrumb, command, link, section, table
from docs.written import html_of
from specgate.report.markup import Markup, tag, text
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import ATTRIBUTES, LAYOUT_FUNCTIONS
from specgate.spec.file_models import OperatorFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["reference_pages"]


def reference_pages() -> Iterator[Page]:
    """Yield the reference pages and their index."""
    pages = [_format_page(), _functions_page(), _python_page()]
    items = [tag("li", link(page.path, page.title)) for page in pages]
    main = _reference_breadcrumb("Reference") + tag("h1", "Reference") + tag("ul", *items)
    yield Page("reference/index.html", "Reference", Markup(main))
    yield from pages


def _reference_breadcrumb(title: str) -> Markup:
    return breadcrumb(link("reference/index.html", "Reference"), title)


def _format_page() -> Page:
    """Return the keys of an operator's file, from the schema for editors."""
    schema = OperatorFile.model_json_schema()
    parts = [
        _reference_breadcrumb("Table format"),
        tag("h1", "The table format"),
        tag(
            "p",
            "Each operator is one YAML file. These tables show its JSON Schema, which editors can use for completion.",
            class_="says",
        ),
        command("specgate spec schema operator"),
        section("An operator", _properties("Keys of an operator's file", schema)),
    ]
    for name, entry in sorted(schema.get("$defs", {}).items()):
        description = tag("p", entry["description"]) if entry.get("description") else Markup()
        parts.append(section(name, description, _properties(f"Keys of {name}", entry), name=f"def-{name}"))
    return Page("reference/tables.html", "The table format", Markup("".join(parts)))


def _properties(caption: str, entry: Mapping[str, Any]) -> Markup:
    required = set(entry.get("required", ()))
    rows = [
        (tag("code", name), _kind(about), "yes" if name in required else "", about.get("description", ""))
        for name, about in entry.get("properties", {}).items()
    ]
    return table(caption, ("key", "value", "required", "meaning"), rows)


def _kind(about: Mapping[str, Any]) -> Markup:
    """Return the type of a key in words, with links to the entries."""
    if "$ref" in about:
        name = str(about["$ref"]).rpartition("/")[2]
        return link(f"reference/tables.html#def-{name}", name)
    if "anyOf" in about:
        kinds = dict.fromkeys(_kind(choice) for choice in about["anyOf"] if choice.get("type") != "null")
        return Markup(" or ".join(kinds))
    if "enum" in about or "const" in about:
        return text(", ".join(map(str, about.get("enum", [about.get("const")]))))
    kind = str(about.get("type", "any"))
    if kind == "array":
        return Markup(text("list of ") + _kind(about.get("items", {})))
    if kind == "object" and isinstance(about.get("additionalProperties"), dict):
        return Markup(text("names, each with ") + _kind(about["additionalProperties"]))
    return text(kind)


def _functions_page() -> Page:
    rows = [
        (tag("code", f"{name}({', '.join(function.arguments)})"), function.result, "every dialect")
        for name, function in FUNCTIONS.items()
    ]
    rows += [(tag("code", f"{name}(tensor)"), function.kind, "layouts") for name, function in LAYOUT_FUNCTIONS.items()]
    rows += [(tag("code", f"tensor.{name}"), function.kind, "layouts") for name, function in ATTRIBUTES.items()]
    parts = [
        _reference_breadcrumb("Functions of rules"),
        tag("h1", "Functions of the rule language"),
        tag(
            "p",
            "Functions that rules may call. The language is described in ",
            link("guides/rule-language.html", "its guide"),
            ".",
            class_="says",
        ),
        table("Functions", ("function", "returns", "available in"), rows),
    ]
    return Page("reference/functions.html", "Functions of the rule language", Markup("".join(parts)))


def _python_page() -> Page:
    """Return the public names of the package with signature and docstring."""
    parts = [
        _reference_breadcrumb("Python"),
        tag("h1", "Python"),
        tag("p", "Everything here is in ", tag("code", "import specgate"), ".", class_="says"),
    ]
    for name in sorted(specgate.__all__):
        member = getattr(specgate, name)
        doc = inspect.getdoc(member) if inspect.isroutine(member) or inspect.isclass(member) else None
        if doc:
            parts.append(section(name, _signature(name, member), html_of(doc.replace("``", "`")), *_members(member)))
    return Page("reference/python.html", "Python functions and classes", Markup("".join(parts)))


def _signature(name: str, member: Any) -> Markup:
    try:
        signature = str(inspect.signature(member))
    except (TypeError, ValueError):
        return Markup()
    return tag("pre", tag("code", f"{name}{signature}"), tabindex="0")


def _members(owner: Any) -> Iterator[Markup]:
    """Yield the methods and properties of a class that have a docstring."""
    if not inspect.isclass(owner):
        return
    for name, member in vars(owner).items():
        doc = inspect.getdoc(member) if isinstance(member, property) or inspect.isfunction(member) else None
        if doc and not name.startswith("_"):
            yield tag("div", tag("h3", tag("code", name)), html_of(doc.replace("``", "`")))
