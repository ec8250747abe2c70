"""What a draft must satisfy: the rules that hold at a level, each with what it reads, and one of them turned round."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import UNKNOWN, Broken, evaluate
from specgate.testing.draft import Key
from specgate.testing.mentions import mentioned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.parse import Rule
    from specgate.spec.forms import RuleForm
    from specgate.testing.draft import Draft

__all__ = ["Budget", "Constraint", "reads_of"]

#: Function or attribute of the rule language -> the aspects of a tensor that it reads.
_ASPECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "type": ("type",),
    "bits": ("type",),
    "value": ("value",),
    "extent": ("shape", "strides"),
    "minimum_size": ("type", "shape", "strides"),
    "overlapping": ("shape", "strides"),
    "strides": ("strides",),
    "TotalTensorSizeInBytes": ("size_in_bytes",),
    "GuaranteedBaseOffsetAlignment": ("alignment",),
    "Flags": ("flags",),
}
#: A rule that reads one of these waits until it is chosen: until then "left out" and "not chosen yet" look alike.
_AWAITED: Final = frozenset({"present", "value", "strides", "size_in_bytes", "alignment", "flags"})


def reads_of(tree: ast.expr, defines: Mapping[str, Rule], slot: str | None = None) -> frozenset[Key]:
    """Return what an expression reads; `slot` is the tensor that ``tensor`` stands for in a shared rule."""
    return frozenset(Key(slot or name, aspect) for name, aspect in _reads(tree, defines))


def _reads(tree: ast.expr, defines: Mapping[str, Rule]) -> Iterator[tuple[str, str]]:
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from ((node.value.id, aspect) for aspect in _ASPECTS.get(node.attr, ("shape",)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and isinstance(node.args[0], ast.Name):
            aspects = ("present",) if node.func.id == "present" else _ASPECTS.get(node.func.id, ("shape",))
            yield from ((node.args[0].id, aspect) for aspect in aspects)
        elif isinstance(node, ast.Name) and id(node) not in functions:
            if node.id in defines:
                yield from _reads(defines[node.id].tree, defines)
            else:
                yield from ((node.id, aspect) for aspect in ("present", "attribute"))


@dataclass(frozen=True, eq=False)
class Constraint:
    """One rule over a draft. slot: the tensor that a shared rule is about.

    broken: the rule is to apply and to fail. lenient: where the rule has no value it counts as met, because another
    one is broken on purpose and will be the one that is reported.
    """

    form: RuleForm
    reads: frozenset[Key]
    slot: str | None = None
    broken: bool = False
    lenient: bool = False
    awaits: frozenset[Key] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "awaits", frozenset(key for key in self.reads if key.aspect in _AWAITED))

    @property
    def name(self) -> str:
        """The rule with the field it is about, for messages."""
        return self.form.name if self.slot is None else f"{self.form.name} of {self.slot}"

    @property
    def _rules(self) -> list[Rule]:
        return [self.form.require] if self.form.when is None else [self.form.require, self.form.when]

    def _context(self, draft: Draft) -> Context:
        return draft.context if self.slot is None else draft.bound(self.slot)

    def mentions(self, draft: Draft, turn: int | None) -> list[Any]:
        """Return what the rule computes already (see `mentioned`)."""
        context = self._context(draft)
        return [value for rule in self._rules for value in mentioned(rule, context, turn)]

    def judge(self, draft: Draft) -> bool | None:
        """Return True when no further choice can violate it, False when it is violated, None while it is open."""
        if self.awaits & draft.waiting:
            return None
        if self.slot is not None and draft.tensor(self.slot) is None:
            return not self.broken
        context = self._context(draft)
        if any(context.absent(path) for rule in self._rules for path in rule.needs):
            return not self.broken
        applies, answer = self._answers(context)
        if self.broken:
            if applies is False or answer is True or answer is None:
                return False
            return True if applies is True and answer is False else None
        if applies is False or answer is True:
            return True
        if answer is None:
            return self.lenient
        return False if applies is True and answer is False else None

    def _answers(self, context: Context) -> tuple[Any, Any]:
        """Return whether the rule applies, and what it says: None where it has no value."""
        applies: Any = True
        try:
            if self.form.when is not None:
                applies = evaluate(self.form.when, context)
            return applies, None if applies is False else evaluate(self.form.require, context)
        except Broken:
            return applies if applies is UNKNOWN else True, None


@dataclass(frozen=True, eq=False)
class Budget:
    """Keeps the tensor at `slot` small: at most `limit` elements."""

    slot: str
    limit: int

    @property
    def reads(self) -> frozenset[Key]:
        return frozenset({Key(self.slot, "shape")})

    @property
    def name(self) -> str:
        return f"at most {self.limit} elements in {self.slot}"

    def mentions(self, _draft: Draft, _turn: int | None) -> list[Any]:
        """Return nothing: there is no rule."""
        return []

    def judge(self, draft: Draft) -> bool | None:
        """Answer as `Constraint.judge` does."""
        tensor = draft.tensor(self.slot)
        if tensor is None or tensor.sizes is None:
            return None
        known = [size for size in tensor.sizes if isinstance(size, int)]
        if prod(size for size in known if size) > self.limit:
            return False
        return True if len(known) == len(tensor.sizes) else None
