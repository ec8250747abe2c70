from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.conform.render import FORMATS
from specgate.conform.render.shared import (
    format_descriptor,
    headline,
    natural_key,
    one_line,
    percent,
    repeat_command,
    sort_tallies,
)
from specgate.conform.result import KIND_ORDER, KINDS, Result, Tally
from tests.conform.samples import EMPTY, sample


def test_the_formats_of_the_command_are_registered():
    assert list(FORMATS) == ["text", "json", "html", "markdown"]


@pytest.mark.parametrize("name", FORMATS)
def test_render_ends_with_a_newline_and_is_deterministic(name):
    text = FORMATS[name](sample())
    assert text.endswith("\n")
    assert text == FORMATS[name](sample())
    assert FORMATS[name](EMPTY).endswith("\n")


def test_renderers_load_neither_numpy_nor_pydantic_nor_yaml():
    code = "import sys, specgate.conform.render as r; print({'numpy', 'pydantic', 'yaml', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_every_kind_has_a_sort_position():
    assert sorted(KIND_ORDER) == sorted(KINDS)
    assert KIND_ORDER[0] == "unexplained"


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (100_000, 100_000, "100.00"),
        (99_997, 100_000, "99.99"),
        (10**12 - 1, 10**12, "99.99"),
        (1, 3, "33.33"),
        (1, 10_000, "0.01"),
        (1, 10_001, "<0.01"),
        (0, 7, "0.00"),
        (0, 0, "-"),
    ],
)
def test_a_percentage_is_rounded_down(part, whole, shown):
    assert percent(part, whole) == shown


@given(st.integers(1, 10**15), st.integers(0, 10**15))
def test_percentage_is_100_or_0_only_if_exact(whole, missing):
    part = max(whole - missing, 0)
    assert (percent(part, whole) == "100.00") == (part == whole)
    assert (percent(part, whole) == "0.00") == (part == 0)


def test_names_sort_by_their_numbers():
    names = ["opset13", "Opset9", "opset", "10.0", "2.1", "9", "a", ""]
    assert sorted(names, key=natural_key) == ["", "2.1", "9", "10.0", "a", "opset", "Opset9", "opset13"]


@pytest.mark.slow
@given(st.text(max_size=8), st.text(max_size=8))
def test_the_order_of_names_is_total(a, b):
    assert (natural_key(a) == natural_key(b)) == (a == b)
    assert (natural_key(a) < natural_key(b)) != (natural_key(a) >= natural_key(b))


def test_implementations_keep_the_order_of_the_versions():
    def tally(name: str) -> Tally:
        return Tally("Add", "7", name, 1, 1, 1, 1, {})

    versions = {"onnxruntime": "1", "checker 7, 8": "2", "checker 9": "3"}
    names = ("checker", "a stranger", "onnxruntime")
    result = Result("onnx", "specgate conform onnx", 0, 1, 1.0, False, versions, tuple(map(tally, names)), (), ())
    assert [t.implementation for t in sort_tallies(result)] == ["onnxruntime", "checker", "a stranger"]


def test_headline_begins_with_unexplained_cases():
    assert headline(sample()).startswith("11 cases UNEXPLAINED (2 of them values); 600,000 descriptors")
    assert "95.62 % documented, 99.99 % observed" in headline(sample())
    assert "98.00 % of 100 values equal, 98.00 % explained" in headline(sample())


def test_headline_counts_explained_values():
    first, second = sample().values
    recorded = replace(second, differing=tuple(replace(each, kind="recorded") for each in second.differing))
    result = replace(sample(), values=(first, recorded))
    assert headline(result).startswith("9 cases UNEXPLAINED; ")
    assert "98.00 % of 100 values equal, 100.00 % explained" in headline(result)


def test_empty_comparison_is_not_called_explained():
    assert headline(EMPTY) == "nothing was compared; 0 descriptors, 0 verdicts"


def test_command_reproduces_the_campaign_in_the_same_format():
    assert repeat_command(sample(), "json") == f"{sample().command} --format json"


def test_single_line_and_indented_json_are_equal():
    import json

    value = {"a": [1.5, None, {"b": "##[x] ::y \x7f\u202e\U0001f600"}], "c": list(range(60)), "d": {"e": "f" * 90}}
    line, lines = one_line(value), format_descriptor(value)
    assert json.loads(line) == json.loads(lines) == value
    assert line.isprintable()
    assert line.isascii()
    assert "##" not in line + lines
    assert "::" not in line + lines
    assert max(map(len, format_descriptor({"x": [[7] * 20] * 20}).splitlines())) <= 96
