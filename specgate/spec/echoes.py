"""Derive which rules only repeat the failure of an earlier rule.

The result comes from the properties that both rules read, and applies where a table does not state `after`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    #: A field and the property that is read.
    Read = tuple[str, str]

__all__ = ["derive_echoes"]

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
        read: dict[str, frozenset[Read]] = {}
        for name, text in defines.items():  # a define may use earlier ones
            read[name] = frozenset(_reads(_tree(text), read, fields))
        read_by = {id(form): _form_reads(form, read, fields) for forms in rules.values() for form in forms}
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # reported where rules are checked
        return
    earlier: list[tuple[str, frozenset[Read]]] = []
    for name, forms in rules.items():
        for form in forms:
            reads = read_by[id(form)]
            causes = dict.fromkeys(other for other, less in earlier if less < reads and other != name)
            after = form.pop("after", list(causes))
            if after:
                form["after"] = after
            if reads and all(aspect in _BASES for _, aspect in reads):
                earlier.append((name, reads))


def _tree(text: str) -> ast.AST:
    return ast.parse(" ".join(text.split()), mode="eval").body


def _form_reads(
    form: Mapping[str, Any], defines: Mapping[str, frozenset[Read]], fields: Collection[str]
) -> frozenset[Read]:
    trees = [_tree(form[key]) for key in ("require", "when") if key in form]
    return frozenset(each for tree in trees for each in _reads(tree, defines, fields))


def _reads(node: ast.AST, defines: Mapping[str, frozenset[Read]], fields: Collection[str]) -> Iterator[Read]:
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
        yield from _reads(child, defines, fields)


def _with_implied(field: str, aspect: str) -> Iterator[Read]:
    yield field, aspect
    if aspect in _IMPLIED:
        yield field, _IMPLIED[aspect]
