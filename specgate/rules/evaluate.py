"""Evaluate a rule in strong Kleene logic over a descriptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.rules.alike import LEAST, first_turns
from specgate.rules.calls import count_turns
from specgate.rules.kleene import decide
from specgate.rules.language import UNKNOWN, Context, Undefined, known
from specgate.rules.parts import part_of
from specgate.rules.primitives import TURN_LIMIT

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.rules.language import Rule

__all__ = ["UNKNOWN", "Context", "Evaluator", "Undefined", "decide", "evaluate"]


def evaluate(rule: Rule, context: Context) -> Any:
    """Return True, False, UNKNOWN, or the value of a sub-expression.

    Raises Undefined where it has no value.
    """
    return Evaluator(context).value(rule.tree, {})


class Evaluator:
    """Evaluates trees of one context's rules, checked by parse().

    turns: the number of loop iterations so far.
    """

    __slots__ = ("context", "turns")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.turns = 0

    def value(self, node: ast.expr, variables: Mapping[str, Any]) -> Any:
        """Return the value of a part.

        variables: those of the enclosing loops.
        """
        return part_of(node)(self, variables)

    def loop(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]] | None:
        """Return (variables, whether it counts) per iteration of a loop.

        None where the sequence is unknown.
        """
        sequence = part_of(node.generators[0].iter)(self, variables)
        return None if sequence is UNKNOWN else self._turns(node.generators[0], sequence, variables)

    def _turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        name = loop.target.id  # type: ignore[attr-defined]  # checked by parse()
        tests = [part_of(test) for test in loop.ifs]
        for item in sequence:
            count_turns(self, 1)
            inner = {**variables, name: known(item)}
            keep = decide((test(self, inner) for test in tests), decisive=False) if tests else True
            if keep is not False:
                yield inner, keep

    def _first_turns(
        self, loop: ast.comprehension, sequence: Sequence[Any], variables: Mapping[str, Any], chosen: list[int]
    ) -> Iterator[tuple[dict[str, Any], Any]]:
        before = self.turns
        for index in chosen:
            self.turns = before + index
            yield from self._turns(loop, (sequence[index],), variables)
        self.turns = before + len(sequence)

    def quantify(self, node: ast.GeneratorExp, variables: Mapping[str, Any], *, decisive: bool) -> Any:
        """Return any() (decisive: True) or all() of a loop."""
        loop = node.generators[0]
        sequence = part_of(loop.iter)(self, variables)
        if sequence is UNKNOWN:
            return UNKNOWN
        turns = self._turns(loop, sequence, variables)
        if LEAST <= len(sequence) <= TURN_LIMIT - self.turns:
            chosen = first_turns(node, sequence, self.context)
            turns = turns if chosen is None else self._first_turns(loop, sequence, variables, chosen)
        return decide((self.turn(node, *turn, decisive=decisive) for turn in turns), decisive=decisive)

    def turn(self, node: ast.GeneratorExp, inner: Mapping[str, Any], keep: Any, *, decisive: bool) -> Any:
        """Return the value of one iteration.

        Where it is unknown whether the iteration counts, only a value that does not change the result is known.
        """
        if keep is True:
            return part_of(node.elt)(self, inner)
        try:
            result = part_of(node.elt)(self, inner)
        except Undefined:
            return UNKNOWN
        return result if result is (not decisive) else UNKNOWN

    def collect(self, node: ast.GeneratorExp, variables: Mapping[str, Any]) -> Any:
        """Return the items of a loop, UNKNOWN where its filter is unknown."""
        turns = self.loop(node, variables)
        if turns is None:
            return UNKNOWN
        items = []
        for inner, keep in turns:
            if keep is UNKNOWN:
                return UNKNOWN
            items.append(part_of(node.elt)(self, inner))
        return tuple(items)
