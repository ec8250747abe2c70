"""YAML is read with JSON's semantics, with line numbers, safely."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.spec.yamlio import MAX_DEPTH, format_problem, load_yaml

pytestmark = pytest.mark.timeout(240)  # what is hostile must not hang


def load(text: str) -> Any:
    return load_yaml(text, "f.yaml")[0]


def reject(text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(text)
    message = str(caught.value)
    assert message.startswith("f.yaml: ")
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 300
    return message.removeprefix("f.yaml: ")


SCALARS = {
    "on": "on",
    "off": "off",
    "yes": "yes",
    "no": "no",
    "y": "y",
    "True": "True",
    "NULL": "NULL",
    "1:30": "1:30",
    "010": "010",
    "0o10": "0o10",
    "0x10": "0x10",
    "0b1": "0b1",
    "1_000": "1_000",
    "+5": "+5",
    ".5": ".5",
    "5.": "5.",
    ".inf": ".inf",
    ".nan": ".nan",
    "nan": "nan",
    "2020-01-01": "2020-01-01",
    "=": "=",
    "<<": "<<",
    "3.0.1": "3.0.1",
    "1..8": "1..8",
    "null": None,
    "~": None,
    "true": True,
    "false": False,
    "0": 0,
    "-0": 0,
    "-12": -12,
    "4.10": 4.1,
    "-0.5": -0.5,
    "1e3": 1000.0,
    "1E-2": 0.01,
    "18446744073709551616": 2**64,
    '"4.10"': "4.10",
    "'on'": "on",
    '"null"': "null",
    '"12"': "12",
    '""': "",
}


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=SCALARS.keys())
def test_scalars(text: str, value: Any) -> None:
    for document, result in ((f"- {text}\n", [value]), (f"[{text}]", [value]), (f"k: {text}\n", {"k": value})):
        read = load(document)
        assert read == result
        assert repr(read) == repr(result)  # True is not 1, and 1000.0 not 1000


def test_missing_values_are_null() -> None:
    assert load("a:\nb: \n") == {"a": None, "b": None}


def test_blocks_are_strings() -> None:
    assert load("a: |\n  12\n  on\nb: >\n  1\n  2\n") == {"a": "12\non\n", "b": "1 2\n"}


def test_keys_stay_as_they_are_written() -> None:
    assert load('{2.10: a, "2.1": b, on: c, 010: d, 0x1: e, true: f, ~: g}') == {
        "2.10": "a",
        "2.1": "b",
        "on": "c",
        "010": "d",
        "0x1": "e",
        "true": "f",
        "~": "g",
    }


REFUSED = {
    "duplicate keys": ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is duplicated"),
    "duplicate keys in a flow": ("x: {a: 1, a: 2}", "line 1: the key 'a' is duplicated"),
    "duplicate keys by quotes": ("a: 1\n'a': 2\n", "line 2: the key 'a' is duplicated"),
    "duplicate keys deep down": (
        "a:\n  - b: {c: 1}\n  - b:\n      c: 1\n      c: 2\n",
        "line 5: the key 'c' is duplicated",
    ),
    "anchor": ("a: &x 1\n", "line 1: anchors and aliases are not allowed; write the value out"),
    "anchor of a list": ("a: &x [1]\n", "line 1: anchors and aliases are not allowed"),
    "anchor of a mapping": ("a:\n  &x b: 1\n", "line 2: anchors and aliases are not allowed"),
    "alias": ("a: 1\nb: *x\n", "line 2: anchors and aliases are not allowed"),
    "merge": ("a: &x {b: 1}\nc: {<<: *x}\n", "line 1: anchors and aliases are not allowed"),
    "tag": ("a: !!str 1\n", "line 1: tags are not allowed, found 'tag:yaml.org,2002:str'"),
    "tag of Python": ("a: !!python/object/apply:os.system ['true']\n", "line 1: tags are not allowed"),
    "own tag": ("a: !x {b: 1}\n", "line 1: tags are not allowed, found '!x'"),
    "tag of a list": ("a: !!seq [1]\n", "line 1: tags are not allowed"),
    "tag of a set": ("a: !!set {x}\n", "line 1: tags are not allowed"),
    "bare tag": ("a: ! 5\n", "line 1: tags are not allowed, found '!'"),
    "bare tag of a list": ("a: ! [5]\n", "line 1: tags are not allowed, found '!'"),
    "binary": ("a: !!binary aGk=\n", "line 1: tags are not allowed"),
    "list as a key": ("? [a, b]\n: 1\n", "line 1: expected a plain key, found a list or mapping"),
    "mapping as a key": ("{{a: 1}: 2}", "line 1: expected a plain key"),
    "two documents": ("a: 1\n---\nb: 2\n", "expected one YAML document, found 2"),
    "empty": ("", "expected one YAML document, found 0"),
    "comment only": ("# nothing\n", "expected one YAML document, found 0"),
    "tab as indent": ("a:\n\tb: 1\n", "line 2: not valid YAML: found character that cannot start any token"),
    "no end": ("a: [1, 2\n", "line 2: not valid YAML: did not find expected ',' or ']'"),
    "no end of text": ("a: 'x\n", "line 2: not valid YAML: found unexpected end of stream"),
    "no colon": ("a: 1\nb\n", "not valid YAML: could not find expected ':'"),
    "NUL": ("a: \x00\n", ": control characters are not allowed"),
    "escape character": ("a: \x1b[31m\n", ": control characters are not allowed"),
    "lone surrogate": ("a: \ud800\n", "not valid YAML: "),
    "too deep in a flow": ("[" * 100_000, f"line 1: expected at most {MAX_DEPTH} levels of nesting"),
    "too deep in mappings": ("{a: " * 100_000, f"line 1: expected at most {MAX_DEPTH} levels of nesting"),
    "too deep in blocks": ("".join(f"{' ' * d}a:\n" for d in range(3000)), f"expected at most {MAX_DEPTH} levels"),
    "too many digits": ("a: " + "9" * 5000, "line 1: expected a number of at most 400 digits"),
    "alias bomb": (
        "a: &a [x, x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)),
        "line 1: anchors and aliases are not allowed",
    ),
    "too many values": ("[" + "1," * 600_000 + "]", "expected at most 500000 YAML nodes"),
    "unknown directive": ("%FOO bar\n", "not valid YAML"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_rejected(text: str, message: str) -> None:
    assert message in reject(text)


def test_nesting_up_to_the_limit() -> None:
    value = load("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH - 1):
        value = value[0]
    assert value == []


@pytest.mark.parametrize(
    "text", ["\ufeffa: 1\nb: [2]\n", "a: 1\r\nb: [2]\r\n", "---\na: 1\nb: [2]\n...\n", "%YAML 1.1\n---\na: 1\nb: [2]\n"]
)
def test_marks_and_line_ends(text: str) -> None:
    assert load(text) == {"a": 1, "b": [2]}


def test_numbers_beyond_a_float_are_infinite_as_in_json() -> None:
    assert load("a: 1e999") == {"a": math.inf}


DOCUMENT = """\
# a comment
operator: X

fields:
  A: {kind: input,
      doc: "x"}
  B:
    kind: output
support:
  "1.0":
    A: {types: [INT8,
                INT16]}
  "2.0": {}
rules:
  - first
  - require: second
    because: >
      of
      this
"""


def test_lines_of_values() -> None:
    _, lines = load_yaml(DOCUMENT, "f.yaml")
    assert lines[()] == 2
    assert lines["operator",] == 2
    assert lines["fields", "A"] == 5
    assert lines["fields", "A", "kind"] == 5
    assert lines["fields", "A", "doc"] == 6
    assert lines["fields", "B", "kind"] == 8
    assert lines["support", "1.0", "A", "types", 0] == 11
    assert lines["support", "1.0", "A", "types", 1] == 12
    assert lines["support", "2.0"] == 13
    assert lines["rules", 0] == 15
    assert lines["rules", 1, "require"] == 16
    assert lines["rules", 1, "because"] == 17


def test_every_value_has_a_line() -> None:
    value, lines = load_yaml(DOCUMENT, "f.yaml")

    def paths(value: Any, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [path, *(result for key, item in items for result in paths(item, (*path, key)))]

    assert sorted(map(str, lines)) == sorted(map(str, paths(value, ())))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("fields", "A", "kind"), "f:5: fields.A.kind: m"),
        (("fields", "A", "type", "x"), "f:5: fields.A.type.x: m"),
        (("support", "2.0", "A"), "f:13: support.2.0.A: m"),
        (("nowhere",), "f:2: nowhere: m"),
        ((), "f:2: m"),
        (("fields", "a\nb"), "f:5: fields.'a\\nb': m"),
        (("fields", "x" * 200), f"f:5: fields.'{'x' * 58}…: m"),
    ],
)
def test_placing_a_problem(path: tuple[str, ...], line: str) -> None:
    assert format_problem("f", load_yaml(DOCUMENT, "f")[1], path, "m") == line


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_json_is_read_as_json(value: Any) -> None:
    read = load(json.dumps(value, ensure_ascii=False))
    assert read == value
    assert repr(read) == repr(value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        load(text)
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("text", [DOCUMENT, "a: [1\n", "a: \x00", "a: &x 1", "a: !!str 1", "\ufeffa: 1"])
def test_the_slow_loader_gives_the_same_values(text: str, monkeypatch) -> None:
    """PyYAML may lack its C extension."""

    def outcome() -> Any:
        try:
            return load_yaml(text, "f")
        except InputError:
            return InputError

    fast = outcome()
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert outcome() == fast
