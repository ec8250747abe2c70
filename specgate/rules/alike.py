"""Deduplication of loop iterations over long lists.

Equal iterations, for example over the nodes of a tree ensemble, are evaluated once.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.rules.language import Context

__all__ = ["LEAST", "first_turns"]

#: Below this length, evaluating is as fast as comparing.
LEAST: Final = 256
_COMPARED: Final = ({int}, {str})  # equal elements of these classes are interchangeable


def first_turns(node: ast.GeneratorExp, sequence: Sequence[Any], context: Context) -> list[int] | None:
    """Return the indices of the first of equal iterations.

    None where this cannot be determined. Iterations are equal if they read equal values: an element of `sequence`, or
    elements at the same index of other lists.
    """
    turn = _turn(node)
    if turn.loops or not turn.names.isdisjoint(context.defines):  # their iterations are counted separately
        return None
    read = [sequence]
    if isinstance(sequence, range):
        read = [context.fields.get(name) for name in turn.lists]  # type: ignore[misc]  # checked next
    if not read or any(not isinstance(one, list) or len(one) < len(sequence) for one in read):
        return None
    if isinstance(sequence, range) and sequence != range(len(sequence)):
        return None
    if any(set(map(type, one)) not in _COMPARED for one in read):
        return None
    return _firsts(read[0] if len(read) == 1 else list(zip(*read, strict=False)), len(sequence))


def _firsts(items: Sequence[Any], count: int) -> list[int]:
    """Return the index of each first occurrence among the first `count` items."""
    return sorted(dict(zip(reversed(items[:count]), range(count - 1, -1, -1), strict=True)).values())


class _Turn(NamedTuple):
    """The reads of a loop's body.

    lists: the lists that it reads at the current index; None where it reads anything else.
    """

    loops: bool
    names: frozenset[str]
    lists: tuple[str, ...]


def _turn(node: ast.GeneratorExp) -> _Turn:
    kept = node.__dict__
    turn: _Turn | None = kept.get("_turn")
    if turn is None:
        loop = node.generators[0]
        parts = [part for one in (node.elt, *loop.ifs) for part in ast.walk(one)]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        own: str = loop.target.id  # type: ignore[attr-defined]  # checked by parse()
        lists = list(_indexed(parts, own))
        turn = kept["_turn"] = _Turn(
            any(isinstance(part, ast.GeneratorExp) for part in parts),
            frozenset(names),
            tuple(dict.fromkeys(lists)) if len(lists) == names.count(own) else (),
        )
    return turn


def _indexed(parts: Sequence[ast.AST], own: str) -> Iterator[str]:
    for part in parts:
        match part:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if index == own:
                yield name
