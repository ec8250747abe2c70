"""The places of a descriptor that choices fill: what stands there in a draft, and what else could."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import UNKNOWN, Context
from specgate.testing.draft import Key
from specgate.testing.ranges import TOP, Span, Values, meet

if TYPE_CHECKING:
    from specgate.spec.forms import FieldInfo
    from specgate.testing.bounds import Ref
    from specgate.testing.draft import Draft
    from specgate.testing.problem import Problem

__all__ = ["MAX_ARRAY", "MAX_COUNT", "MAX_ELEMENTS", "MAX_RANK", "TRUTHS", "Places", "Room"]

#: How a tensor's elements are shared out among dimensions whose sizes are open: most to the one that a draft calls
#: wide, the same to all, or to any as much as there is.
Room = Literal["wide", "fair", "any"]
TRUTHS: Final = frozenset({True, False})
MAX_RANK: Final = 9
#: An array of numbers is drawn with at most so many, one of operators too.
MAX_COUNT: Final = MAX_RANK
#: An array of tensors is drawn with at most so many.
MAX_ARRAY: Final = 3
MAX_ELEMENTS: Final = {"input": 256, "output": 4096}
_LENGTH: Final = 3
_SIGNED: Final = frozenset({"int", "int64", "float", "scalar"})
_WILDEST: Final = 2**32 - 1
_ANY: Final = (Span(-TOP, TOP),)
_NATURAL: Final = (Span(0, TOP),)


class Places:
    """Answers for one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._own: dict[Ref, Values | None] = {}
        self._least: dict[str, int] = {}

    def known(self, draft: Draft, ref: Ref) -> Any:
        """Return what stands at a place, UNKNOWN where that is still open or there is no such place."""
        if ref.aspect == "present":
            return self._presence(draft, ref.slot)
        if ref.aspect in {"attribute", "item", "member"}:
            value = _attribute(draft.fields.get(ref.slot), ref)
        else:
            tensor = draft.tensor(ref.slot)
            value = _part(tensor, ref) if isinstance(tensor, TensorDesc) else None
        return UNKNOWN if value is None else value

    def _presence(self, draft: Draft, name: str) -> Any:
        if Key(name, "present") in draft.waiting:
            return UNKNOWN
        value = draft.fields.get(name)
        info = self.problem.fields.get(name)
        if info is not None and info.type == "tensor[]":
            return 0 if value is None else len(value)
        return not draft.context.absent(name)

    def possible(self, draft: Draft, ref: Ref, room: Room) -> Values | None:
        """Return what may come to stand at an open place; None where nothing limits it."""
        info = self.problem.fields.get(ref.slot.partition("[")[0])
        if info is None:
            return None
        if ref.aspect == "size":
            return (Span(self.least(ref.slot), self.room(draft, ref, room)),)
        own = ref._replace(at=0)
        if own not in self._own:
            self._own[own] = self._usual(info, ref)
            self._own[own] = self._limited(info, own)
        return self._own[own]

    def _usual(self, info: FieldInfo, ref: Ref) -> Values | None:
        """What a place may hold by its kind and its support row."""
        problem = self.problem
        if ref.aspect == "type":
            return frozenset(problem.types(ref.slot))
        if ref.aspect == "rank":
            ranks = problem.ranks(ref.slot)
            return (Span(min(ranks), max(ranks)),) if ranks else ()
        if ref.aspect == "present":
            return (Span(1, MAX_ARRAY),) if info.type == "tensor[]" else TRUTHS
        if ref.aspect == "value":
            return None
        if ref.aspect == "attribute" and info.type.endswith("[]"):
            return (Span(0, MAX_COUNT),)
        words = problem.words(info.name)
        if words is not None:
            return frozenset(words) if all(isinstance(word, str) for word in words) else None
        base = info.type.removesuffix("[]")
        if base in {"bool", "string", "operator"} or base.startswith("enum:"):
            return TRUTHS if base == "bool" else None
        return _ANY if base in _SIGNED or (ref.aspect == "member" and base == "scale-bias") else _NATURAL

    def _limited(self, info: FieldInfo, ref: Ref) -> Values | None:
        """The same, less what rules refuse whatever the rest of the descriptor is."""
        usual = self._own[ref]
        if info.kind != "attribute" or isinstance(usual, frozenset) or usual is None:
            return usual
        if ref.aspect != "item":
            return meet(usual, self._refused(ref, self.problem.draft()))
        # Rules name elements by dimensions, so there must be some: as many as elements, or two more.
        found = [self._refused(ref, self._shaped(_LENGTH, rank)) for rank in (_LENGTH, _LENGTH + 2)]
        lows = [min(span.low for span in values) for values in found if isinstance(values, tuple) and values]
        return meet(usual, (Span(max(lows), TOP),)) if lows else usual

    def _refused(self, ref: Ref, draft: Draft) -> Values | None:
        from specgate.testing.bounds import View  # which asks here for what is open

        return self.problem.allowed(View(self.problem, draft, depth=0), ref)

    def _shaped(self, length: int, rank: int) -> Draft:
        """Return a draft with arrays of a length and tensors of a rank, and nothing else."""
        draft = self.problem.draft()
        for name, info in self.problem.fields.items():
            if info.tensor:
                draft.fields[name] = TensorDesc(None, (None,) * rank)
            elif info.kind == "attribute" and info.type.endswith("[]"):
                draft.fields[name] = [None] * length
        return draft

    def least(self, slot: str) -> int:
        """Return the smallest size of a dimension that shared rules take: 0 or 1."""
        name = slot.partition("[")[0]
        if name not in self._least:
            empty = Context({"tensor": TensorDesc(None, (0,))}, dict(self.problem.sides[0].numbers))
            self._least[name] = int(any(c.refuses(name, empty) for c in self.problem.constraints))
        return self._least[name]

    def room(self, draft: Draft, ref: Ref, room: Room) -> int:
        """Return how large a dimension may become while its tensor stays small."""
        goal = self.problem.goal
        if goal is not None and goal.wild:
            return _WILDEST
        limit = MAX_ELEMENTS[self.problem.fields[ref.slot.partition("[")[0]].kind]
        tensor = draft.tensor(ref.slot)
        sizes = tensor.sizes if tensor is not None and tensor.sizes is not None else ()
        open_ones = [d for d, size in enumerate(sizes) if size is None]
        left = limit // max(1, prod(size for size in sizes if isinstance(size, int) and size))
        if room == "any" or len(open_ones) < 2:  # alone, a dimension may have it all
            return left
        wide = (draft.wide - 1) % len(sizes) if draft.wide and room == "wide" else None
        if wide not in open_ones:
            return max(1, int(left ** (1 / len(open_ones)) + 1e-9))
        return max(1, left >> (len(open_ones) - 1)) if ref.at == wide else min(2, left)


def _attribute(value: Any, ref: Ref) -> Any:
    if ref.aspect == "attribute":
        return len(value) if isinstance(value, list) else value
    return value[ref.at] if isinstance(value, list | tuple) and ref.at < len(value) else None


def _part(tensor: TensorDesc, ref: Ref) -> Any:
    if ref.aspect == "type":
        return tensor.type
    if ref.aspect == "value":
        return tensor.value[0] if tensor.value is not None and len(tensor.value) == 1 else None
    if tensor.sizes is None:
        return None
    if ref.aspect == "rank":
        return len(tensor.sizes)
    return tensor.sizes[ref.at] if ref.at < len(tensor.sizes) else None
