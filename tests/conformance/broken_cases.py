"""Verdicts on broken models by specgate and others, and the known differences."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.spec.yamlio import load_yaml
from tests.conformance.broken_edit import open_outputs
from tests.conformance.broken_judges import OTHERS, ours
from tests.conformance.broken_rules import RULED
from tests.conformance.broken_ways import STATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.oracles.protocol import Reply
    from tests.conformance.broken_judges import Others
    from tests.conformance.broken_nodes import Subject

WAYS = {**STATED, **RULED}
KNOWN = Path(__file__).with_name("onnx_broken.yaml")
#: Details of a place next to the field: an axis, a type.
_DETAIL = re.compile(r"[\[=]")


class Case(NamedTuple):
    """A broken model, with specgate's answer and those of others.

    The node, the way and the place; specgate's verdict with its ids. others: True if an implementation rejects it,
    False if it accepts it, None if it was not run, or already rejects the model before the change.
    """

    subject: str
    operator: str
    way: str
    place: str
    ours: str
    ids: tuple[str, ...]
    others: dict[str, bool | None]

    @property
    def field(self) -> str:
        return _DETAIL.split(self.place)[0]


def break_all(subjects: Iterable[Subject]) -> Iterator[tuple[Subject, str, str, Any]]:
    """Yield every broken model of every node as (node, way, place, model)."""
    for subject in subjects:
        for way, make in WAYS.items():
            for place, model in make(subject):
                yield subject, way, place, model


def sample(subjects: Iterable[Subject], seed: int) -> list[tuple[Subject, str, str, Any]]:
    """Return a broken model per operator and way, from one of four of its nodes."""
    by_operator: dict[str, list[Subject]] = {}
    for subject in subjects:
        by_operator.setdefault(subject.operator, []).append(subject)
    parts = []
    for operator, nodes in sorted(by_operator.items()):
        pick = Random(f"{seed} {operator}")
        few = pick.sample(nodes, min(4, len(nodes)))
        for way, make in WAYS.items():
            models = [(node, place, model) for node in few for place, model in make(node)]
            if models:
                node, place, model = pick.choice(models)
                parts.append((node, way, place, model))
    return parts


def judge(subject: Subject, way: str, place: str, model: Any, others: Others | None) -> Case:
    """Check a broken model with all implementations, or with specgate alone."""
    verdict = ours(model)
    entries = dict.fromkeys(OTHERS) if others is None else _others(subject, model, others)
    return Case(subject.name, subject.operator, way, place, verdict.word, verdict.ids, entries)


def _others(subject: Subject, model: Any, others: Others) -> dict[str, bool | None]:
    before = [others.intact(subject.model), others.intact(open_outputs(subject.copy()))]
    replies: dict[str, Reply] = others.ask(model)
    entries: dict[str, bool | None] = {}
    for name in OTHERS:
        verdict = replies[name].accepted if all(reply[name].accepted for reply in before) else None
        entries[name] = None if verdict is None else not verdict
    return entries


@dataclass
class Known:
    """Known broken models that specgate does not reject, and the entries that occurred.

    gaps: (way, operator or "*") that the tables reject and lint misses. refused: (operator, way or "*", field or "*")
    that another implementation rejects. open: (way, operator, field) that no rule covers.
    """

    gaps: dict[tuple[str, str], str]
    refused: dict[tuple[str, str, str], str]
    open: set[tuple[str, str, str]]
    met: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def explains(self, case: Case) -> bool:
        """Return whether an entry explains why a case is not rejected."""
        if case.way in STATED:
            return self._met([(case.way, case.operator), (case.way, "*")], self.gaps)
        if any(case.others.values()):
            return self._met(self.keys(case), self.refused)
        message = self._met([(case.way, case.operator, case.field)], self.open)
        return message or (not _ask(case) and self._met(self.keys(case), self.refused))

    @staticmethod
    def keys(case: Case) -> list[tuple[str, str, str]]:
        return [(case.operator, way, where) for way in (case.way, "*") for where in (case.field, "*")]

    def _met(self, keys: Iterable[tuple[str, ...]], facts: Mapping[Any, str] | set[Any]) -> bool:
        texts = next((key for key in keys if key in facts), None)
        if texts is not None:
            self.met[texts] += 1
        return texts is not None

    def unmet(self) -> list[tuple[str, ...]]:
        """Return entries that did not occur, which are outdated."""
        return sorted(key for key in (*self.gaps, *self.refused, *self.open) if not self.met[key])


def _ask(case: Case) -> bool:
    return any(word is not None for word in case.others.values())


def load_known() -> Known:
    """Read the known differences from the file next to this one."""
    raw: Any
    raw, _ = load_yaml(KNOWN.read_text(encoding="utf-8"), str(KNOWN))
    gaps = {(e["way"], operator): e["because"] for e in raw["gaps"] for operator in e.get("operators", ["*"])}
    refused = {
        (operator, way, where): e["because"]
        for e in raw["refused"]
        for operator in e["operators"]
        for way in e.get("ways", ["*"])
        for where in e.get("fields", ["*"])
    }
    opened = {(way, op, name) for way, ops in raw["open"].items() for op, names in ops.items() for name in names}
    return Known(gaps, refused, opened)
