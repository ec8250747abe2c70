"""Rewritten tables keep correct text byte for byte, and are readable."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.spec.yamlio import load_yaml
from tests.paths import SPECS

pytest.importorskip("ruamel.yaml", reason="NO TABLE IS WRITTEN: pip install ruamel.yaml (it is in the test extra)")

from tools.rewrite import Quoted, rewrite_file  # it imports ruamel.yaml

TEXT = """\
# The first line.
name:   'x'  # of it
list:
  - {a: 1,   b: "two"}   # an item

# Above the part.
part:
  # Above one.
  one: {kind: 'k',
    more: [1, 2]}   # behind one
  two:   # behind two
    kind: "3"
    # inside two
    last: 'l'
    # at the end of two

  # Above three.
  three: {}
tail: >-
  # no comment
  of any kind
# The end.
"""
SAYS: dict[str, Any] = {
    "name": "x",
    "list": [{"a": 1, "b": "two"}],
    "part": {"one": {"kind": "k", "more": [1, 2]}, "two": {"kind": "3", "last": "l"}, "three": {}},
    "tail": "# no comment of any kind",
}


def parse_entry(text: str) -> Any:
    return load_yaml(text, "x")[0]


def change(**parts: Any) -> str:
    text = rewrite_file(TEXT, SAYS, {**SAYS, **parts})
    assert parse_entry(text) == {**SAYS, **parts}
    return text


def test_the_example() -> None:
    assert parse_entry(TEXT) == SAYS


def test_nothing_changes() -> None:
    assert rewrite_file(TEXT, SAYS, SAYS) == TEXT


def test_one_entry_changes() -> None:
    text = change(part={**SAYS["part"], "two": {"kind": "4", "more": 1, "last": "l"}})
    before, following = TEXT.split("  two:   # behind two\n")
    two = "  # behind two\n  # inside two\n  # at the end of two\n  two: {kind: \"4\", more: 1, last: 'l'}\n"
    assert text == before + two + following.partition("of two\n")[2].removeprefix("\n").replace(
        "  # Above three", "\n  # Above three"
    )


def test_entries_are_added_and_removed() -> None:
    part = SAYS["part"]
    text = change(part={"zero": 0, "one": part["one"], "three": part["three"]})
    assert text == TEXT.replace("part:\n", "part:\n  zero: 0\n").replace(
        TEXT[TEXT.index("  two:") : TEXT.index("\n  # Above three")], ""
    )


def test_a_list_at_the_top_has_a_line_for_each_item() -> None:
    text = change(list=[{"a": 1, "b": "three"}, "a text of some words", {"c": "long " * 30}])
    listed = '# an item\nlist:\n  - {a: 1, b: "three"}\n  - a text of some words\n  - c: "long long'
    assert f"# of it\n{listed}" in text
    assert max(map(len, text.splitlines())) <= 120 + len("long ")


def test_keys_that_are_new_or_gone_and_their_order() -> None:
    text = rewrite_file(TEXT, SAYS, {"new": None, "tail": SAYS["tail"], "name": "x"})
    assert (
        text
        == "new: null\ntail: >-\n  # no comment\n  of any kind\n# The first line.\nname:   'x'  # of it\n# The end.\n"
    )


def test_remarks_and_quotes() -> None:
    expected = {"a": {"x": 1, Quoted("y"): {"z": Quoted("w")}}, "b": Quoted("c"), "n": "1", "d": "yes"}
    text = rewrite_file("", {}, expected, {("a",): "of a", ("a", "x"): "of x", ("b",): "of b"})
    assert text == 'a:  # of a\n  x: 1  # of x\n  "y": {z: "w"}\nb: "c"  # of b\nn: "1"\nd: yes\n'
    round_trip = rewrite_file(text, expected, {**expected, "a": {"x": 2}}, {("a",): "not again"})
    assert round_trip == 'a:  # of a\n  # of x\n  x: 2\nb: "c"  # of b\nn: "1"\nd: yes\n'


def test_keys_that_look_like_something_else() -> None:
    text = "1: a\n~: b  # none\nNull: c\n0x1: d\n2001-01-01: {1: e}"
    result = rewrite_file(text, parse_entry(text), {**parse_entry(text), "Null": "x"})
    assert result == text.replace("Null: c", '"Null": x') + "\n"


def test_long_values() -> None:
    words = [f"word_{number}" for number in range(30)]
    text = rewrite_file("", {}, {"a": {"x": {"short": 1, "words": words}, "y": {k: {"z": 1} for k in "abcd"}}})
    lines = text.splitlines()
    assert lines[:3] == ["a:", "  x:", "    short: 1"]
    assert lines[-5:] == ["  y:", *(f"    {key}: {{z: 1}}" for key in "abcd")]
    assert max(map(len, lines)) <= 120
    assert parse_entry(text)["a"]["x"]["words"] == words


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=40) | st.sampled_from(
    ["null", "true", "~", "1", "1e5", "0x10", "2001-01-01", "no", "a: b", "a #b", "- a", "int[]", "$x", "word " * 40]
)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e300, 1e300) | texts
keys = texts.filter(lambda key: key.strip() and len(key) < 100)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=6
)
tables = st.dictionaries(keys, values | st.dictionaries(keys, values, max_size=3), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=40)
@given(tables, tables)
def test_rewritten_files_have_the_requested_contents(first: dict[str, Any], second: dict[str, Any]) -> None:
    result = rewrite_file("", {}, first)
    assert parse_entry(result) == first
    both = {**second, **first}
    round_trip = rewrite_file(result, first, both)
    assert parse_entry(round_trip) == both
    assert rewrite_file(round_trip, parse_entry(round_trip), both) == round_trip


@pytest.mark.parametrize("dialect", ["directml", "onnx", "openvino"])
def test_shipped_tables_keep_unchanged_entries(dialect: str) -> None:
    pick = Random(dialect)
    for file in pick.sample(sorted((SPECS / dialect / "operators").rglob("*.yaml")), 4):
        text = file.read_text(encoding="utf-8")
        old = parse_entry(text)
        assert rewrite_file(text, old, old) == text
        expected_value = json.loads(json.dumps(old))
        section = pick.choice([key for key, value in expected_value.items() if isinstance(value, dict) and value])
        name = pick.choice(list(expected_value[section]))
        expected_value[section][name] = {"new": 1}
        result = rewrite_file(text, old, expected_value)
        assert parse_entry(result) == expected_value
        present, repeated = text.splitlines(), result.splitlines()
        new = [line for line in repeated if line not in present]
        expected = [[f"{name}: {{new: 1}}"], [f'"{name}": {{new: 1}}'], [f"{section}:", f"{name}: {{new: 1}}"]]
        assert [line.strip() for line in new] in expected, file.name
        rest = iter(present)
        assert all(line in new or line in rest for line in repeated), file.name  # the others in their order


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruamel.yaml", None)
    monkeypatch.delitem(sys.modules, "tools.rewrite")
    with pytest.raises(InputError, match=r"ruamel\.yaml is needed to write tables; pip install ruamel\.yaml"):
        import tools.rewrite  # noqa: F401
