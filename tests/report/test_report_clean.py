from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.report.clean import clean, columns, well_formed, wrap

ANYTHING = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("graph/node[3] 'OneHot_3'", "graph/node[3] 'OneHot_3'"),
        ("日本 é", "日本 é"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\r\nb\tc\x7f\x00", r"a\r\nb\tc\x7f\x00"),
        ("a\u2028b\u2029c\u0085", r"a\u2028b\u2029c\x85"),
        ("\u202egpj.exe\u2066\u200f\u061c", r"\u202egpj.exe\u2066\u200f\u061c"),
        ("zero\u200bwidth\ufeff\u00ad", r"zero\u200bwidth\ufeff\xad"),
        ("\ud800 \udcff", r"\ud800 \udcff"),
        ("\U000e0041", r"\U000e0041"),
        ("C:\\models\\a.onnx", "C:\\models\\a.onnx"),
        ("::error::x", r"\x3a:error::x"),
        ("a ::error::x", r"a \x3a:error::x"),
        ("aten::add", "aten::add"),
        ("##[error]x ##vso[a] ###", r"#\x23[error]x #\x23vso[a] #\x23#"),
    ],
)
def test_clean_escapes_unprintable_characters(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_shortens_long_names_in_the_middle() -> None:
    assert clean("a" * 200) == "a" * 200
    assert clean("a" * 150 + "b" * 60) == "a" * 133 + "...[10 more]..." + "a" * 7 + "b" * 60
    assert clean("ab" * 10, 3) == "ab...[17 more]...b"
    assert clean("a" * 5000, None) == "a" * 5000


@given(ANYTHING, st.none() | st.integers(0, 50))
def test_clean_is_printable_command_free_and_idempotent(text: str, limit: int | None) -> None:
    shown = clean(text, limit)
    assert shown.isprintable()
    assert "##" not in shown
    assert not shown.lstrip(" ").startswith("::")
    assert " ::" not in shown
    assert clean(shown, None) == shown


@given(ANYTHING)
def test_well_formed_encodes_and_keeps_valid_text(text: str) -> None:
    shown = well_formed(text)
    shown.encode("utf-8")
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert shown == text


def test_columns_of_wide_and_combining_characters() -> None:
    assert columns("abc") == 3
    assert columns("日本") == 4
    assert columns("Ａ") == 2
    assert columns("e\u0301") == 1


def test_wrap_prefers_spaces_then_separators() -> None:
    assert wrap("one two three", 9, first="* ", hanging_indent="  ") == ["* one two", "  three"]
    assert wrap("directml/ONE_HOT/axis-range", 20) == ["directml/ONE_HOT/", "axis-range"]
    assert wrap("abcdefghijkl", 9, hanging_indent=" ") == ["abcdefghi", " jkl"]
    assert wrap("日本語日本語", 9) == ["日本語日", "本語"]
    assert wrap("", 10, first="  ") == [""]


def test_wrap_never_begins_a_line_with_a_command() -> None:
    assert wrap("abcdefgh::error::x", 8) == ["abcdefgh", r"\x3a:", "error::x"]


def test_wrap_terminates_even_if_nothing_fits() -> None:
    assert wrap("::" * 6, 0, first="  ", hanging_indent=" " * 40)[-1].endswith(":")


@given(st.text(st.characters().filter(lambda c: c != ":"), max_size=300), st.integers(14, 120), st.integers(0, 6))
def test_wrap_fits_and_loses_nothing(text: str, width: int, hang: int) -> None:
    shown = clean(text, None)
    lines = wrap(shown, width, first="> ", hanging_indent=" " * hang)
    assert all(columns(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == ">" + shown.replace(" ", "")
