"""Modules stay small enough to be read at once; one that does not says why at its head."""

from __future__ import annotations

import ast

from tests.paths import ROOT

MOST_LINES = 300
#: How the sentence of the docstring begins that gives the reason.
REASON = f"Over {MOST_LINES} lines: "


def test_long_modules_say_why() -> None:
    files = sorted([*(ROOT / "specgate").rglob("*.py"), *(ROOT / "docs").rglob("*.py")])
    texts = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    silent = {
        name: count
        for name, text in texts.items()
        if (count := len(text.splitlines())) > MOST_LINES and REASON not in (ast.get_docstring(ast.parse(text)) or "")
    }
    assert len(texts) > 150
    assert silent == {}
