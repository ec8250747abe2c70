"""Families: what several operators of a dialect share, laid under each of them when tables are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.yamlio import Keys

__all__ = ["locate", "merge_family"]

#: Keys whose entries go by name, and those of `execute` likewise.
_NAMED: Final = ("fields", "define", "rules", "counterexamples", "execute")
_NAMED_IN_EXECUTE: Final = ("arrays", "arguments", "output_type")


def merge_family(family: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operator's content with its family's under it: entries of one name are the operator's.

    The keys are the operator's in its order, then those that only the family has.
    """
    merged = {**own, **{key: value for key, value in family.items() if key not in own and key != "family"}}
    for key in _NAMED:
        if key in family and key in own:
            merged[key] = {**family[key], **own[key]}
    for key in _NAMED_IN_EXECUTE if "execute" in family and "execute" in own else ():
        if key in family["execute"] and key in own["execute"]:
            merged["execute"][key] = {**family["execute"][key], **own["execute"][key]}
    if "observed" in family and "observed" in own:
        merged["observed"] = [*family["observed"], *own["observed"]]
    return merged


def locate(path: Keys, family: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[bool, Keys]:
    """Return whether the value at `path` of a merged operator is in its family's file, and its path there."""
    key, rest = path[0], path[1:]
    if key not in family:
        return False, path
    if key == "observed" and rest:
        before, index = len(family[key]), int(rest[0])
        return (True, path) if index < before else (False, (key, index - before, *rest[1:]))
    if key not in own:
        return True, path
    if key not in _NAMED or not rest:
        return False, path
    depth = 2 if key == "execute" and len(path) > 2 and rest[0] in _NAMED_IN_EXECUTE else 1
    return _has(family[key], rest[:depth]) and not _has(own[key], rest[:depth]), path


def _has(content: Mapping[str, Any], path: Keys) -> bool:
    inner: Any = content
    for key in path:
        if not isinstance(inner, dict) or key not in inner:
            return False
        inner = inner[key]
    return True
