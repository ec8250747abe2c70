"""What a draft must satisfy: the rules that hold at a level, each with what it reads, and one of them turned round."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.evaluate import UNKNOWN, Broken, evaluate
from specgate.rules.language import GRAPH_ENDS
from specgate.testing.bounds import MEMBERS
from specgate.testing.draft import Key, Open
from specgate.testing.mentions import mentioned
from specgate.testing.narrow import Narrower
from specgate.testing.places import MAX_ARRAY
from specgate.testing.ranges import meet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.parse import Rule
    from specgate.spec.forms import FieldInfo, RuleForm
    from specgate.testing.bounds import Ref, View
    from specgate.testing.draft import Draft
    from specgate.testing.ranges import Values

__all__ = ["Budget", "Constraint", "reads_of"]

#: Function or attribute of the rule language -> the aspects of a tensor that it reads.
_ASPECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "present": ("present",),
    "type": ("type",),
    "bits": ("type",),
    "value": ("value",),
    "values": ("value",),
    "extent": ("shape", "strides"),
    "minimum_size": ("type", "shape", "strides"),
    "overlapping": ("shape", "strides"),
    "strides": ("strides",),
    "TotalTensorSizeInBytes": ("size_in_bytes",),
    "GuaranteedBaseOffsetAlignment": ("alignment",),
    "Flags": ("flags",),
}
_OF_TENSORS: Final = frozenset({"rank", "elements", "dims", *_ASPECTS})
#: Members of attributes that are chosen as a whole, or asked for by a question about the attribute.
_WHOLE: Final = frozenset({*MEMBERS, *GRAPH_ENDS})
#: A rule that reads one of these waits until it is chosen: until then "left out" and "not chosen yet" look alike.
_AWAITED: Final = frozenset({"value", "strides", "size_in_bytes", "alignment", "flags"})


def reads_of(
    tree: ast.expr, defines: Mapping[str, Rule], fields: Mapping[str, FieldInfo], slot: str | None = None
) -> frozenset[Key]:
    """Return what an expression reads; `slot` is the tensor that ``tensor`` stands for in a shared rule."""
    found: set[Key] = set()
    for name, aspect in _reads(tree, defines, {}):
        info = fields.get(name)
        if info is not None and info.type == "tensor[]" and aspect not in {"present", "attribute"}:
            found.update(Key(f"{name}[{index}]", aspect) for index in range(MAX_ARRAY))
        elif info is None or not info.fuses or aspect in {"present", "attribute"}:
            found.add(Key(slot or name, aspect))
    return frozenset(found)


def _reads(tree: ast.expr, defines: Mapping[str, Rule], arrays: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each field with an aspect of it; `arrays`: the arrays of tensors that variables of loops run over."""
    loops = [n.generators[0] for n in ast.walk(tree) if isinstance(n, ast.GeneratorExp)]
    arrays = {
        **arrays,
        **{loop.target.id: loop.iter.id for loop in loops if isinstance(loop.iter, ast.Name)},  # type: ignore[attr-defined]
    }
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            aspects = _ASPECTS.get(node.attr, ("attribute",) if node.attr in _WHOLE else ("shape",))
            yield from ((name, aspect) for name in _owner(node.value, arrays) for aspect in aspects)
        elif isinstance(node, ast.Call) and node.func.id in _OF_TENSORS:  # type: ignore[attr-defined]
            aspects = _ASPECTS.get(node.func.id, ("shape",))  # type: ignore[attr-defined]
            yield from ((name, aspect) for name in _owner(node.args[0], arrays) for aspect in aspects)
        elif isinstance(node, ast.Name) and id(node) not in functions:
            if node.id in defines:
                yield from _reads(defines[node.id].tree, defines, arrays)
            else:
                yield from ((node.id, aspect) for aspect in ("present", "attribute"))


def _owner(node: ast.expr, arrays: Mapping[str, str]) -> Iterator[str]:
    base = node.value if isinstance(node, ast.Subscript) else node
    if isinstance(base, ast.Name):
        yield arrays.get(base.id, base.id)


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
    needs: frozenset[str] = field(init=False)
    decided: frozenset[Key] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "awaits", frozenset(key for key in self.reads if key.aspect in _AWAITED))
        needs = frozenset(path for rule in self._rules for path in rule.needs)
        object.__setattr__(self, "needs", needs)
        paths = () if self.slot is not None else needs
        object.__setattr__(self, "decided", frozenset(Key(path.partition(".")[0], "present") for path in paths))

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

    def allows(self, view: View, ref: Ref) -> Values | None:
        """Return what may stand at `ref` for the rule to hold, or to fail where it is to be broken; None: anything."""
        draft = view.draft
        if self.awaits & draft.waiting or self.decided & draft.waiting:
            return None
        if self.slot is not None and draft.tensor(self.slot) is None:
            return None
        context = self._context(draft)
        if any(context.absent(path) for path in self.needs):
            return None
        narrower = Narrower(replace(view, via=self), ref, self.slot)
        require, when = self.form.require.tree, self.form.when
        applies = True if when is None else narrower.answer(when.tree)
        if self.broken:
            inside = narrower.allowed(require, truth=False)
            return inside if when is None else meet(inside, narrower.allowed(when.tree, truth=True))
        if applies is True or (applies is UNKNOWN and view.room != "any"):  # it had better hold in case that it applies
            return narrower.allowed(require, truth=True)
        if applies is UNKNOWN and when is not None and narrower.answer(require) is False:
            return narrower.allowed(when.tree, truth=False)
        return None

    def refuses(self, name: str, tensor: Context) -> bool:
        """Return whether it is a shared rule on the sizes of the field `name` alone, and `tensor` breaks it."""
        if self.broken or self.slot is None or self.slot.partition("[")[0] != name or self.form.when is not None:
            return False
        if any(key.aspect not in {"shape", "present", "attribute"} for key in self.reads):
            return False
        try:
            return evaluate(self.form.require, tensor) is False
        except Broken:
            return False

    def judge(self, draft: Draft) -> bool | None:
        """Return True when no further choice can violate it, False when it is violated, None while it is open."""
        if self.awaits & draft.waiting or self.decided & draft.waiting:
            return None
        if self.slot is not None and draft.tensor(self.slot) is None:
            return not self.broken
        context = self._context(draft)
        if any(context.absent(path) for path in self.needs):
            return not self.broken
        applies, answer = self._answers(Open(context, draft))
        if self.broken:
            if applies is False or answer is True or answer is None:
                return False
            return True if applies is True and answer is False else None
        if applies is False or answer is True:
            return True
        if answer is None:
            return self.lenient
        return False if applies is True and answer is False else None

    def _answers(self, evaluator: Open) -> tuple[Any, Any]:
        """Return whether the rule applies, and what it says: None where it has no value."""
        applies: Any = True
        try:
            if self.form.when is not None:
                applies = evaluator.value(self.form.when.tree, {})
            return applies, None if applies is False else evaluator.value(self.form.require.tree, {})
        except Broken:
            return applies if applies is UNKNOWN else True, None


@dataclass(frozen=True, eq=False)
class Budget:
    """Keeps the tensor at `slot` small: at most `limit` elements."""

    slot: str
    limit: int
    broken = False

    @property
    def reads(self) -> frozenset[Key]:
        return frozenset({Key(self.slot, "shape")})

    @property
    def name(self) -> str:
        return f"at most {self.limit} elements in {self.slot}"

    def refuses(self, _name: str, _tensor: Context) -> bool:
        """Return False: it is only a wish."""
        return False

    def mentions(self, _draft: Draft, _turn: int | None) -> list[Any]:
        """Return nothing: there is no rule."""
        return []

    def allows(self, _view: View, _ref: Ref) -> Values | None:
        """Return None: every question for a size asks for the room that is left."""
        return None

    def judge(self, draft: Draft) -> bool | None:
        """Answer as `Constraint.judge` does."""
        tensor = draft.tensor(self.slot)
        if tensor is None or tensor.sizes is None:
            return None
        known = [size for size in tensor.sizes if isinstance(size, int)]
        if prod(size for size in known if size) > self.limit:
            return False
        return True if len(known) == len(tensor.sizes) else None
