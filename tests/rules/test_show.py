"""Printed expressions parse to the same tree, with minimal parentheses."""

from __future__ import annotations

import ast

import pytest

from specgate.rules.show import shown_tree
from specgate.spec.tables import dialect

AS_WRITTEN = [
    "a + b - c * (d - e) // 2 % 3",
    "a - (b - c)",
    "-(a + b) * -c",
    "-a[0].sizes[-1 - d]",
    "not (a and b) or (c and not d)",
    "a < b == c and (d or e in (1, 2)) and f not in [x, 'y']",
    "(a if b else c) + 1 if d or e else f if g else h",
    "all(x.sizes[i] == 1 for i in range(2) if i > 0 if i < 9)",
    "sum(n if n else 0 for n in (a,))",
    "max((0, min((a, b))))",
    "(a == b) == c",
    "True and 1.5 > 2",
]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_shown_text_equals_the_source(text: str) -> None:
    assert shown_tree(ast.parse(text, mode="eval").body) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("((a))+(b*c)", "a + b * c"),
        ("a and b or c", "(a and b) or c"),
        ("(yield)", "(yield)"),
        ("x[1:2]", "x[1:2]"),
        ("f(a, *b, k=1)", "f(a, *b, k=1)"),
        ("1 .real", "1 .real"),
        ("a ** b", "a ** b"),
        ("a is b", "a is b"),
    ],
)
def test_other_texts(text: str, shown: str) -> None:
    assert shown_tree(ast.parse(text, mode="eval").body) == shown


def test_rules_of_the_tables_keep_their_trees() -> None:
    for operator in ("ONE_HOT", "CONVOLUTION", "MULTIHEAD_ATTENTION", "GRU", "GEMM"):
        for form in dialect("directml").operator(operator).rule_forms:
            for rule in filter(None, (form.require, form.when)):
                tree = ast.parse(shown_tree(rule.tree), mode="eval").body
                assert ast.dump(tree) == ast.dump(ast.parse(rule.text, mode="eval").body)
