"""Equivalent iterations of a long loop are evaluated once, with the same result.

The iteration count is also the same.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import NumberedWord, TensorDesc
from specgate.rules import evaluate
from specgate.rules.evaluate import UNKNOWN, Context, Evaluator, Undefined
from specgate.rules.language import NUMBER, NUMBERS, TENSOR, WORDS, Scope
from specgate.rules.parse import parse

if TYPE_CHECKING:
    from specgate.rules.language import Rule

FIELDS = {"Numbers": NUMBERS, "Others": NUMBERS, "Words": WORDS, "Limit": NUMBER, "X": TENSOR}
TWICE = parse("all(n < 2 * Limit for n in Numbers)", Scope(FIELDS))
SCOPE = Scope(FIELDS, defines={"small": TWICE})
RULES = [
    "all(0 <= n < Limit for n in Numbers)",
    "any(n == Limit for n in Numbers)",
    "all(10 // n >= 0 for n in Numbers)",
    "all(n < X.sizes[0] or 7 // (n - 9) >= 0 for n in Numbers)",
    "all(n < X.sizes[0] for n in Numbers)",
    "all(n < X.sizes[0] or X.sizes[n] == 1 for n in Numbers)",
    "any(n < 5 for n in Numbers if n < X.sizes[0])",
    "all(w in ('LEAF', 'BRANCH') for w in Words)",
    "any(w == 'LAST' for w in Words)",
    "all(0 <= Numbers[i] < Limit or Words[i] == 'LEAF' for i in range(len(Numbers)))",
    "all(Numbers[i] < Limit or Words[i] == 'LEAF' for i in range(Limit))",
    "all(Numbers[i] < Limit or Words[i] == 'LEAF' for i in range(len(Others)))",
    "all(Numbers[i] <= Limit + 3 or Others[i] == 0 for i in range(len(Words)))",
    "all(Numbers[i] + i < 2 * Limit for i in range(len(Numbers)))",
    "all(Numbers[i] <= Numbers[i + 1] for i in range(len(Numbers) - 1))",
    "all(any(n == m for m in X.sizes) for n in Numbers)",
    "all(n < Limit or small for n in Numbers)",
    "all(n < Limit for n in Numbers) or all(n >= 0 for n in Numbers)",
]


def answer(rule: Rule, fields: dict[str, Any]) -> tuple[Any, int]:
    """Return a rule's answer, and its iteration count."""
    evaluator = Evaluator(Context(fields, defines={"small": TWICE}))
    try:
        return evaluator.value(rule.tree, {}), evaluator.turns
    except Undefined as error:
        return str(error), evaluator.turns


def draw_cases(rng: random.Random) -> dict[str, Any]:
    count = rng.choice((256, 300, 1000))
    most = rng.choice((1, 3, 9, 12, 400))
    numbers: list[Any] = [rng.randrange(most) for _ in range(count)]
    words: list[Any] = [rng.choice(("LEAF", "BRANCH")) for _ in range(count + rng.choice((-1, 0, 0, 0, 5)))]
    if rng.random() < 0.3:
        numbers[rng.randrange(count)] = rng.choice((-1, 9, 50, True, 2.0, None, NumberedWord(1, "ONE")))
    if rng.random() < 0.3:
        words[rng.randrange(len(words))] = rng.choice(("LAST", "OTHER", None))
    others = [rng.randrange(2) for _ in range(count - rng.choice((0, 0, 1)))]
    sizes = (rng.choice((None, 5, most)), *[1] * rng.choice((1, 12)))
    limit = rng.choice((1, 9, most, 256, 999, count))
    return {"Numbers": numbers, "Others": others, "Words": words, "Limit": limit, "X": TensorDesc("FLOAT", sizes)}


@pytest.mark.slow
@pytest.mark.parametrize("text", RULES)
def test_deduplicated_loops_give_the_full_answer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, rng, result = parse(text, SCOPE), random.Random(text), set()
    for _ in range(60):
        fields = draw_cases(rng)
        once = answer(rule, fields)
        with monkeypatch.context() as patched:
            patched.setattr(evaluate, "MIN_LENGTH", 1 << 60)
            assert answer(rule, fields) == once
        result.add(str(once[0]))
    assert len(result) > 1


def test_the_iteration_limit_counts_equal_iterations() -> None:
    rule = parse("all(n < 5 for n in Numbers) and any(n == 9 for n in Numbers)", SCOPE)
    fields = {"Numbers": [3] * 49_999 + [4]}
    assert answer(rule, fields) == (False, 100_000)
    fields["Numbers"].append(4)
    assert answer(rule, fields) == ("its loops have more than 100000 iterations", 100_001)
    fields["Numbers"][5] = 9
    assert answer(rule, fields) == (False, 6)


@pytest.mark.parametrize("text", ["all(0 <= n < Limit for n in Numbers)", RULES[9]])
def test_equal_iterations_run_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[Any] = []
    turn = Evaluator.turn

    def count_call(*inputs: Any, **named: Any) -> Any:
        result.append(inputs)
        return turn(*inputs, **named)

    monkeypatch.setattr(Evaluator, "turn", count_call)
    fields = {"Numbers": [i % 7 for i in range(10_000)], "Words": ["LEAF", "BRANCH"] * 5_000, "Limit": 7}
    assert answer(parse(text, SCOPE), fields) == (True, 10_000)
    assert len(result) <= 14


def test_an_unknown_element_stays_undecided() -> None:
    rule = parse("all(n < 5 for n in Numbers)", SCOPE)
    assert answer(rule, {"Numbers": [3] * 300 + [None]}) == (UNKNOWN, 301)
