"""A descriptor in the making: what is chosen so far, the rest unknown, so that rules answer in three values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.rules.evaluate import UNKNOWN, Context, Evaluator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.tables import OperatorSpec

__all__ = ["Draft", "Key", "Open", "State"]

_BLANK = TensorDesc(None, None)


class Key(NamedTuple):
    """What a choice is about, and what a rule reads: one aspect of one field.

    slot: a field, or ``FIELD[1]`` for an element of an array of tensors. aspect: present, type, shape, value, strides,
    size_in_bytes, alignment or flags of a tensor; present or attribute of an attribute.
    """

    slot: str
    aspect: str


class State(NamedTuple):
    """A copy of what a draft holds, by its names there."""

    fields: dict[str, Any]
    held: set[str]
    left_out: set[str]
    waiting: set[Key]
    touched: set[Key]


class _Partial(Context):
    """A context in which what is chosen to be there, but not what it is, counts as unknown and not as left out."""

    __slots__ = ("held",)
    held: set[str]

    def absent(self, path: str) -> bool:
        return path not in self.held and Context.absent(self, path)


class Open(Evaluator):
    """Evaluates over a draft: whether a field will be there is unknown until it is decided."""

    def __init__(self, context: Context, draft: Draft) -> None:
        super().__init__(context)
        self.draft = draft

    def on_Call(self, node: ast.Call, variables: Mapping[str, Any]) -> Any:
        if node.func.id == "present":  # type: ignore[attr-defined]  # parse() has checked it
            argument = node.args[0]
            if isinstance(argument, ast.Name) and Key(argument.id, "present") in self.draft.waiting:
                return UNKNOWN
        return super().on_Call(node, variables)


class Draft:
    """Fields chosen so far.

    fields: as the rules see them (a left out attribute has its default). left_out: fields that the descriptor does not
    give. held: attributes that it gives with a value yet to be chosen. waiting: keys of choices not yet made. touched:
    those with a choice made.
    plain: tensors whose sizes are to be 1 where they may. constants: tensors that must be constants. wide: the
    dimension, counted from 1, that had better be the large one; 0 where all have an equal share.
    """

    __slots__ = (
        "constants",
        "context",
        "fields",
        "held",
        "layout",
        "left_out",
        "numbers",
        "plain",
        "spec",
        "touched",
        "waiting",
        "wide",
    )

    def __init__(self, spec: OperatorSpec, numbers: dict[str, int], level: str) -> None:
        self.spec = spec
        self.layout = level if spec.varies else None
        self.numbers = numbers
        self.fields: dict[str, Any] = {}
        self.held: set[str] = set()
        self.left_out: set[str] = set()
        self.waiting: set[Key] = set()
        self.touched: set[Key] = set()
        self.plain: set[str] = set()
        self.constants: set[str] = set()
        self.wide = 0
        self.context = _Partial(self.fields, numbers, spec.dialect.bits, spec.scope.defines)
        self.context.held = self.held

    def bound(self, slot: str) -> Context:
        """Return the context in which a shared tensor rule reads the tensor at `slot`."""
        return Context({"tensor": self.tensor(slot)}, self.numbers, self.context.bits)

    def tensor(self, slot: str) -> TensorDesc | None:
        """Return the tensor at `slot`, None where there is none."""
        name, bracket, index = slot.partition("[")
        value = self.fields.get(name)
        if not bracket:
            return value
        return value[int(index[:-1])] if value is not None and int(index[:-1]) < len(value) else None

    def change(self, slot: str, **parts: Any) -> None:
        """Set parts of the tensor at `slot`."""
        made = (self.tensor(slot) or _BLANK)._replace(**parts)
        name, bracket, index = slot.partition("[")
        if not bracket:
            self.fields[name] = made
            return
        items = list(self.fields[name])
        items[int(index[:-1])] = made
        self.fields[name] = items

    def blank(self, name: str, count: int | None = None) -> None:
        """Give a tensor field (or an array of `count` tensors) with nothing known yet."""
        self.fields[name] = _BLANK if count is None else [_BLANK] * count

    def snapshot(self) -> State:
        """Return what `restore` needs to come back here."""
        return State(dict(self.fields), set(self.held), set(self.left_out), set(self.waiting), set(self.touched))

    def restore(self, state: State) -> None:
        """Forget every choice made since `snapshot`."""
        # In place: the rules' context holds on to these very objects.
        self.fields.clear()
        self.fields.update(state.fields)
        self.held.clear()
        self.held.update(state.held)
        self.left_out.clear()
        self.left_out.update(state.left_out)
        self.waiting.clear()
        self.waiting.update(state.waiting)
        self.touched.clear()
        self.touched.update(state.touched)

    def descriptor(self) -> Descriptor:
        """Return what was chosen as a Descriptor."""
        names = [n for n in self.spec.fields if n in self.fields and n not in self.left_out]
        fields = {n: self.fields[n] for n in names if self.fields[n] is not None}
        return Descriptor(self.spec.dialect.name, self.spec.name, fields, layout=self.layout)
