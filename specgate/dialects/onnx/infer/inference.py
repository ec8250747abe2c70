"""Types and shapes that a model leaves out, asked of the onnx package in a process that may die or hang."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.infer.child import GRAPH, TYPE, VALUE_INFO, message
from specgate.dialects.onnx.infer.expansion import MOST_NODES, expands_too_far
from specgate.dialects.onnx.infer.process import Budget, Failed, ask
from specgate.dialects.onnx.infer.stated import Stated
from specgate.dialects.onnx.infer.strip import question
from specgate.dialects.onnx.lint.walk import finding, label
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel, OnnxType
    from specgate.dialects.onnx.infer.strip import Question
    from specgate.dialects.onnx.lint.walk import Body
    from specgate.verdict import Finding

    Types = dict[int, dict[str, OnnxType]]

__all__ = ["Inferred", "begin", "inferred", "installed"]

MOST_CULPRITS: Final = 3
#: Types that are kept for the next model.
_MOST_READ: Final = 4096


@dataclass(slots=True)
class Inferred:
    """What was found: by graph (its id) and name the type. findings: what kept it from being all.

    kinds: by graph (its id), where that is known, numbers of its nodes: nodes of one number are alike.
    """

    types: Types = field(default_factory=dict)
    kinds: Mapping[int, Sequence[int]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def installed() -> bool:
    """Return whether the onnx package can be imported, without importing it."""
    from importlib.util import find_spec

    try:
        return find_spec("onnx") is not None and not getattr(sys, "frozen", False)
    except (ImportError, ValueError):  # it was taken out of sys.modules
        return False


def begin(model: OnnxModel, walked: Sequence[Body], *, values: bool = True) -> Callable[[], Inferred]:
    """Ask in a thread for the types in every graph of `model` but its functions'; return what waits for the answer.

    A node at which the onnx package fails is left out and named in a finding; the rest is still inferred. Till the
    answer is there `model`, whose bodies are `walked`, must not change. values: whether those that follow from sizes
    count as known; without, sizes have no names but those of the file.
    """
    if expands_too_far(model, walked):
        reason = f"with the nodes of its functions in the place of their calls it has more than {MOST_NODES} nodes"
        return lambda: Inferred(findings=[_told(model, Failed(reason), None)])
    stated = Stated.of(model, walked) if values else None
    asked = question(model) if stated is None else stated.question
    budget = Budget(len(asked.data))
    answer: list[bytes | Exception] = []

    def first() -> None:
        try:
            answer.append(ask(asked.data, budget, nested=len(asked.graphs) > 1, values=values, named=values))
        except Exception as error:  # noqa: BLE001  # it is raised where the answer is awaited
            answer.append(error)

    def wait() -> Types:
        thread.join()
        if isinstance(answer[0], Exception):
            raise answer[0]
        return _types(answer[0], asked.graphs)

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    if stated is not None:
        return lambda: _confirmed(model, stated, wait)
    return lambda: _inferred(model, wait, budget, values=values)


def _confirmed(model: OnnxModel, stated: Stated, answer: Callable[[], Types]) -> Inferred:
    """Return what a model states if that was found to be so, else what is inferred of all of it."""
    key = id(model.graph)
    with suppress(Failed):
        if stated.confirmed(answer().get(key, {})):
            return Inferred({key: stated.types}, {key: stated.kinds})
    data, graphs = question(model)
    budget = Budget(len(data))
    nested = len(graphs) > 1
    return _inferred(model, lambda: _types(ask(data, budget, nested=nested), graphs), budget, values=True)


def inferred(question: Question, *, values: bool = False) -> Types:
    """Return the types in every graph that is asked about. values: whether those that follow from sizes count as known.

    Sizes have no names but those of the file: nodes that are alike stay so. The functions of the model stay small, as
    `begin` found. Raises Failed where there is no answer.
    """
    data, graphs = question
    answer = ask(data, Budget(len(data)), nested=len(graphs) > 1, values=values, named=False)
    return _types(answer, graphs)


def _inferred(model: OnnxModel, answer: Callable[[], Types], budget: Budget, *, values: bool) -> Inferred:
    inferred = Inferred()
    left_out: set[int] = set()
    while True:
        try:
            inferred.types = answer()
        except Failed as error:
            culprit = None
            if not error.slow and len(left_out) < MOST_CULPRITS:
                culprit = _culprit(model, left_out, budget, values=values)
            inferred.findings.append(_told(model, error, culprit))
            if culprit is None:
                return inferred
            left_out.add(culprit)
            answer = partial(_answer, model, left_out, None, budget, values=values)
        else:
            return inferred


def _told(model: OnnxModel, error: Failed, culprit: int | None) -> Finding:
    if culprit is None:
        message = f"types and shapes that the model leaves out stay unknown: {error}"
        return finding("not-inferred", "note", message, (model.file, "graph", None))
    node = model.graph.nodes[culprit]
    message = f"the types of what this node computes stay unknown: {error}"
    at = (model.file, f"graph/{label(node, culprit)}", node.op_type)
    return finding("not-inferred", "note", message, at)


def _culprit(model: OnnxModel, left_out: set[int], budget: Budget, *, values: bool) -> int | None:
    """Return the outermost node with which the package fails, and not without it; None if there is no such one."""

    def fails(upto: int) -> bool:
        try:
            _answer(model, left_out, upto, budget, values=values)
        except Failed as error:
            if error.slow:
                raise
            return True
        return False

    low, high = 0, len(model.graph.nodes)
    try:
        if fails(0):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(middle) else (middle, high)
    except Failed:
        return None
    return high - 1 if high else None


def _answer(model: OnnxModel, left_out: set[int], upto: int | None, budget: Budget, *, values: bool) -> Types:
    data, graphs = question(model, left_out, upto)
    return _types(ask(data, budget, nested=len(graphs) > 1, values=values, named=values), graphs)


def _types(answer: bytes, graphs: list[OnnxGraph]) -> Types:
    line, _, data = answer.partition(b"\n")
    try:
        found, sizes = json.loads(line)
        ends = list(accumulate(sizes, initial=0))
        kinds = _kinds([data[begin:end] for begin, end in pairwise(ends)])
    except (InputError, ValueError, TypeError) as error:
        raise Failed(f"the onnx package answers what cannot be read ({error})", slow=True) from None
    if len(found) != len(graphs):
        raise Failed("the onnx package answers for another model", slow=True)
    types: Types = {}
    for graph, (names, places) in zip(graphs, found, strict=True):
        known = ((name, kinds[place]) for name, place in zip(names, places, strict=True))
        types[id(graph)] = {name: kind for name, kind in known if kind is not None}
    return types


def _kinds(serialized: list[bytes]) -> list[OnnxType | None]:
    """Read types; most were read before, of this model or another."""
    known: dict[bytes, OnnxType | None] = {kind: held for kind in serialized if (held := _read.get(kind)) is not None}
    new = [kind for kind in serialized if kind not in known]
    if new:
        infos = b"".join([message(VALUE_INFO, message(TYPE, kind)) for kind in new])
        made = [info.type for info in read_model_bytes(message(GRAPH, infos), "<inference>").graph.value_infos]
        known.update(zip(new, made, strict=True))
        if len(_read) + len(new) > _MOST_READ:
            _read.clear()
        _read.update((kind, held) for kind, held in zip(new[:_MOST_READ], made, strict=False) if held is not None)
    return [known[kind] for kind in serialized]


_read: Final[dict[bytes, OnnxType]] = {}
