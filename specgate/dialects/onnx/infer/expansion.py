"""How large a model becomes when each call of a function is replaced by the function's nodes.

A few functions that each call the next one twice make a small file of 2^40 nodes: whatever follows the calls never
comes to an end, so this is counted first.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.lint.walk import function_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.dialects.onnx.lint.walk import Body, Key

__all__ = ["MOST_NODES", "expands_too_far"]

MOST_NODES: Final = 500_000  # beyond those of the file itself; the onnx package takes 2 us for each


def expands_too_far(model: OnnxModel, walked: Iterable[Body]) -> bool:
    """Return whether the calls in `model`, whose bodies are `walked`, bring more than MOST_NODES nodes.

    So does a function that calls itself, directly or through others.
    """
    functions = {function_key(function) for function in model.functions}
    if not functions:
        return False
    nodes: Counter[Key | None] = Counter()
    calls: dict[Key | None, Counter[Key]] = {}
    for body in walked:
        owner = None if body.function is None else function_key(body.function)
        nodes[owner] += len(body.nodes)
        found = {key: count for key, count in body.operators.items() if key in functions}
        calls.setdefault(owner, Counter()).update(found)
    sizes: dict[Key | None, int] = {}  # nodes with those of the calls, at most one beyond the limit
    path: list[Key | None] = [None]
    begun: set[Key | None] = set()
    while path:
        key = path[-1]
        if key not in begun:
            begun.add(key)
            missing = [callee for callee in calls.get(key, ()) if callee not in sizes]
            if any(callee in begun for callee in missing):
                return True
            path.extend(missing)
            continue
        path.pop()
        brought = sum(times * sizes[callee] for callee, times in calls.get(key, Counter()).items())
        sizes[key] = min(brought + (nodes[key] if key else 0), MOST_NODES + 1)
    return sizes[None] > MOST_NODES
