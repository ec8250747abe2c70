from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from specgate.conform.render.text import render
from specgate.conform.result import KINDS, Tally
from specgate.report.clean import clean, columns
from tests.conform.samples import EMPTY, results, sample


def test_table_has_a_row_per_tally_and_a_total():
    lines = render(sample()).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("operator"))
    rows = [line.split() for line in lines[at + 1 : at + 8]]
    assert [row[:2] for row in rows[:3]] == [["ONE_HOT", "2.1"], ["ONE_HOT", "3.0"], ["ONE_HOT", "10.0"]]
    assert rows[0][2:] == ["DirectML", "100,000", "61.20", "91.25", "99.99", "crashed", "1"]
    assert rows[-1] == ["all", "all", "DirectML", "600,000", "61.20", "95.62", "99.99"]


def test_kinds_are_ordered_and_unexplained_is_uppercase():
    text = render(sample())
    heads = [line.split(":")[0] for line in text.splitlines() if line.split(":")[0].lower() in KINDS]
    assert heads == ["UNEXPLAINED", "bug", "recorded"]
    assert "\nVALUES DIFFER, UNEXPLAINED: 2 cases in 1 class\n" in text


def test_difference_shows_both_sides_and_the_full_command():
    text = render(sample())
    assert "specgate    rejected by directml/ONE_HOT/axis-range, directml/ONE_HOT/IndicesTensor.type\n" in text
    assert "oracle      DirectML: accepted (created | <b>bold</b>\\x1b[31m)\n" in text
    assert "specgate    accepted\n    oracle      DirectML: crashed (signal 11)\n" in text
    long = "specgate check '" + "x" * 5000 + "'"
    difference = replace(sample().differences[2], command=long)
    assert f"\n    $ {long}\n" in render(replace(sample(), differences=(difference,)))


def test_long_descriptor_is_truncated_with_a_count():
    difference = replace(sample().differences[2], descriptor={"Sizes": [1] * 1000})
    text = render(replace(sample(), differences=(difference,), values=()))
    assert "more characters)" in text
    assert text.count("1, 1") < 200


def test_rules_are_listed_with_missing_cases():
    text = render(sample())
    assert "1 of 2 rules and cells have an accepting, a rejecting and an oracle case at every level\n" in text
    assert "two-values: no rejecting, no oracle case at 2.1, 10.0; no oracle case at 3.0\n" in text
    assert "same-rank:" not in text


def test_values_skipped_seed_and_versions():
    text = render(sample())
    assert "ONE_HOT   10.0   DirectML           50     48   96.00             0\n" in text
    assert "3 not computed by DirectML: no kernel: device removed (ROUND)\n" in text
    assert "directml:1.0: no build is installed\n" in text
    assert "DirectML 10.0 1.16.3" in text
    assert "seed 20240601; 312.4 s, ended by the time limit; again:\n" in text


def test_an_empty_campaign_is_short():
    assert len(render(EMPTY).splitlines()) == 5


def test_long_operator_names_keep_begin_and_end():
    name = "BEGIN_" + "X" * 60 + "_END"
    tally = Tally(name, "1.0", "DirectML", 1, 1, 1, 1, {})
    lines = render(replace(sample(), tallies=(tally,))).splitlines()
    row = next(line for line in lines if line.startswith("BEGIN_X"))
    assert "X_END  1.0" in row
    assert columns(row) <= 100


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(results)
def test_text_is_printable_and_limited_to_100_columns(result):
    text = render(result)
    assert text.replace("\n", "").isprintable()
    assert "##" not in text
    differences = [*result.differences, *(d for v in result.values for d in v.differing)]
    commands = [f"    $ {clean(d.command, None)}" for d in differences]
    for line in text.splitlines():
        assert not line.startswith("::")
        if not line.startswith("  $ ") and line not in commands:
            assert columns(line) <= 100
