"""Baselines: contents, round trips, and messages about stale entries."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.linting.baseline import Baseline, Entry, apply_baseline, load_baseline, write_baseline
from specgate.verdict import Finding, Location, Report

ENTRY = {"node": "n", "field": "Axis", "rule": "a/b", "target": "onnx:17", "count": 1}


def finding(
    rule: str = "a/b", file: str | None = "m/a.onnx", line: int | None = None, target: str | None = "onnx:17"
) -> Finding:
    return Finding(rule, "error", "m", where="Axis", target=target, location=Location(file, line, node="n"))


def report(*findings: Finding, files: tuple[str, ...] = ("m/a.onnx", "m/b.onnx")) -> Report:
    return Report(targets=["onnx:17"], files=list(files), findings=list(findings))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_is_as_documented(root: Path) -> None:
    write_baseline(report(finding("z/z"), finding(line=3), finding(line=9)), root / "b.json", root)
    assert json.loads((root / "b.json").read_text()) == {
        "schema": "specgate-baseline/1",
        "findings": {"m/a.onnx": [{**ENTRY, "count": 2}, {**ENTRY, "rule": "z/z"}]},
    }


def test_baseline_findings_are_ignored_up_to_their_count(root: Path) -> None:
    write_baseline(report(finding(line=1), finding(line=2)), root / "b.json", root)
    current = report(finding(line=7), finding("new/rule"), finding(line=8), finding(line=9))
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert [(result.id, result.location and result.location.line) for result in current.findings] == [
        ("new/rule", None),
        ("a/b", 9),
    ]
    assert [result.location and result.location.line for result in current.ignored] == [7, 8]


@pytest.mark.parametrize(
    "other",
    [
        finding("a/c"),
        finding(file="m/b.onnx"),
        finding(target=None),
        Finding("a/b", "error", "m", where="Sizes", target="onnx:17", location=Location("m/a.onnx", node="n")),
        Finding("a/b", "error", "m", where="Axis", target="onnx:17", location=Location("m/a.onnx", node="o")),
        Finding("a/b", "error", "m", where="Axis", target="onnx:17"),
    ],
)
def test_findings_that_differ_in_structure_are_not_ignored(root: Path, other: Finding) -> None:
    write_baseline(report(finding()), root / "b.json", root)
    current = report(finding(), other)
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert current.findings == [other]


def test_severity_and_message_do_not_matter(root: Path) -> None:
    write_baseline(report(finding()), root / "b.json", root)
    current = report(Finding("a/b", "note", "other", where="Axis", target="onnx:17", location=finding().location))
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert current.findings == []


def test_any_spelling_of_a_file_matches_its_entry(root: Path) -> None:
    write_baseline(report(finding(file=str(root / "m" / "a.onnx"))), root / "b.json", root)
    current = report(finding(file=os.path.join(".", "m", "..", "m", "a.onnx")))  # noqa: PTH118
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert current.findings == []


def test_entries_that_no_longer_occur_are_noted(root: Path) -> None:
    write_baseline(report(finding(), finding(), finding("z/z")), root / "b.json", root)
    current = report(finding())
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert [(result.id, result.severity) for result in current.findings] == [("specgate/baseline-stale", "note")] * 2
    assert current.findings[0].values == {"rule": "a/b", "count": 2, "occurring": 1}
    assert current.findings[1].values == {"rule": "z/z", "count": 1, "occurring": 0}
    assert current.findings[0].location == Location(str(root / "b.json"))
    assert "m/a.onnx" in current.findings[0].message
    assert current.clean


def test_entries_of_files_or_targets_not_linted_are_not_stale(root: Path) -> None:
    write_baseline(report(finding(), finding("z/z", target="onnx:13")), root / "b.json", root)
    baseline = load_baseline(root / "b.json")
    for current in (report(files=("m/b.onnx",)), report(finding())):
        apply_baseline(current, baseline, root)
        assert current.findings == []


def test_entries_of_ignored_findings_are_not_stale(root: Path) -> None:
    write_baseline(report(finding()), root / "b.json", root)
    current = report()
    current.ignored = [finding()]
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert current.findings == []
    assert current.ignored == [finding()]


def test_applying_does_not_change_the_baseline(root: Path) -> None:
    baseline = Baseline({Entry("m/a.onnx", "n", "Axis", "a/b", "onnx:17"): 1})
    for _ in range(2):
        current = report(finding())
        apply_baseline(current, baseline, root)
        assert current.ignored == [finding()]


def test_neither_ignored_findings_nor_those_about_the_configuration_are_written(root: Path) -> None:
    own = [finding(f"specgate/{name}") for name in ("ignore-expired", "ignore-stale", "baseline-stale")]
    current = report(*own, finding("specgate/model-unreadable"))
    current.ignored = [finding("z/z")]
    write_baseline(current, root / "b.json", root)
    assert [entry.rule for entry in load_baseline(root / "b.json").counts] == ["specgate/model-unreadable"]


# A file name may contain surrogates (undecodable bytes), but no null and, here, no separators.
names = st.text(st.characters(exclude_characters="/\\\0:"), min_size=1).filter(lambda name: name not in {".", ".."})
texts = st.text(st.characters())
findings_drawn = st.builds(
    lambda rule, where, target, file, node, line: Finding(
        rule, "error", "m", where=where, target=target, location=Location(file, line, node)
    ),
    texts,
    texts,
    st.none() | texts,
    st.none() | names,
    st.none() | texts,
    st.none() | st.integers(1),
)


@pytest.mark.slow
@given(
    st.lists(findings_drawn, max_size=8).flatmap(
        lambda drawn: st.lists(st.sampled_from(drawn)) if drawn else st.just([])
    )
)
def test_a_round_trip_ignores_exactly_the_written_findings(drawn: list[Finding]) -> None:
    with TemporaryDirectory() as folder:
        path, root = Path(folder) / "b.json", Path.cwd()
        write_baseline(report(*drawn), path, root)
        before = path.read_bytes()
        facts = load_baseline(path)
        assert sum(facts.counts.values()) == len(drawn)
        files = tuple({result.location.file for result in drawn if result.location and result.location.file})
        current = report(*drawn, files=files)
        current.targets = [result.target for result in drawn if result.target]
        apply_baseline(current, facts, root)
        assert current.findings == []
        assert current.ignored == drawn
        write_baseline(report(*reversed(drawn)), path, root)
        assert path.read_bytes() == before


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
entries = st.fixed_dictionaries(
    {"node": st.text(), "field": st.text(), "rule": st.text(), "target": st.text(), "count": st.integers()}
)
documents = st.fixed_dictionaries(
    {"schema": st.just("specgate-baseline/1"), "findings": st.dictionaries(st.text(), st.lists(entries | json_values))}
)


@pytest.mark.slow
@given(documents | json_values)
def test_arbitrary_documents_raise_only_input_errors(document: Any) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "b.json"
        path.write_text(json.dumps(document))
        try:
            facts = load_baseline(path)
        except InputError as error:
            assert str(path) in str(error)
        else:
            assert all(count > 0 for count in facts.counts.values())


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "expected JSON"),
        (b"{", "expected JSON"),
        (b"\xff\xfe\xfd", "expected JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "expected JSON"),
        (b'{"schema": "specgate-baseline/1", "schema": "x"}', "a key occurs twice"),
        (b"[]", "schema: expected specgate-baseline/1, found an array"),
        (b'{"schema": "specgate-baseline/2"}', "schema: expected specgate-baseline/1, found 'specgate-baseline/2'"),
        (b'{"schema": "specgate-baseline/1"}', "findings: expected an object, found nothing"),
        (b"x" * (16 << 20) + b"x", "expected at most 16777216 bytes"),
    ],
)
def test_a_malformed_file(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=what):
        load_baseline(path)


@pytest.mark.parametrize(
    ("entries_given", "place", "what"),
    [
        ({}, "", "expected an array, found a table"),
        (["x"], "[0]", "expected an object of node, field, rule, target, count, found 'x'"),
        ([ENTRY, {"node": "n"}], "[1]", "found the keys 'node'"),
        ([{**ENTRY, "more": 1}], "[0]", "found the keys 'node, field, rule, target, count, more'"),
        ([{**ENTRY, "node": None}], "[0].node", "expected a string, found nothing"),
        ([{**ENTRY, "count": 0}], "[0].count", "expected a count from 1 on, found an integer"),
        ([{**ENTRY, "count": True}], "[0].count", "expected a count from 1 on, found a boolean"),
        ([{**ENTRY, "count": 1.0}], "[0].count", "expected a count from 1 on, found a float"),
        ([{**ENTRY, "count": 10**30}], "[0].count", "expected a count from 1 on, found an integer"),
        ([ENTRY, {**ENTRY, "count": 2}], "[1]", "expected each finding once, found a duplicate"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path: Path, entries_given: Any, place: str, what: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps({"schema": "specgate-baseline/1", "findings": {"a.onnx": entries_given}}))
    with pytest.raises(InputError) as caught:
        load_baseline(path)
    assert caught.value.place == f"findings['a.onnx']{place}"
    assert what in caught.value.message


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path / "none.json")
    with pytest.raises(InputError, match="expected a regular file, found a directory"):
        load_baseline(tmp_path)


def test_a_failed_write_keeps_the_old_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "b.json"
    write_baseline(report(finding()), path, root)
    before = path.read_bytes()

    def refuse(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_baseline(report(finding("z/z")), path, root)
    assert path.read_bytes() == before
    assert list(root.iterdir()) == [path]


@pytest.mark.parametrize("name", ["missing/b.json", "nul\0.json"])
def test_an_unwritable_path(root: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_baseline(report(finding()), root / name, root)
    assert list(root.iterdir()) == []


def test_only_regular_files_are_replaced(root: Path) -> None:
    (root / "folder").mkdir()
    with pytest.raises(InputError, match="expected a file, found a directory"):
        write_baseline(report(), root / "folder", root)
    assert (root / "folder").is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and permission bits")
def test_a_link_stays_a_link_and_permissions_are_the_usual(root: Path) -> None:
    (root / "real").mkdir()
    link = root / "b.json"
    link.symlink_to(root / "real" / "b.json")
    write_baseline(report(finding()), link, root)
    assert link.is_symlink()
    assert list(load_baseline(root / "real" / "b.json").counts.values()) == [1]
    (root / "usual").touch()
    assert stat.S_IMODE(link.stat().st_mode) == stat.S_IMODE((root / "usual").stat().st_mode)


def test_too_many_findings_are_rejected_before_writing(root: Path) -> None:
    many = report(*(finding(f"{i}/" + "r" * 100_000) for i in range(170)))
    with pytest.raises(InputError, match="expected a baseline of at most 16777216 bytes"):
        write_baseline(many, root / "b.json", root)
    assert not (root / "b.json").exists()


def test_rewriting_keeps_entries_that_were_not_linted(root: Path) -> None:
    (root / "m").mkdir()
    for name in ("a.onnx", "b.onnx"):
        (root / "m" / name).touch()
    old = [
        finding("kept/file", file="m/b.onnx"),
        finding("kept/target", target="onnx:13"),
        finding("dropped/file", file="m/gone.onnx"),
        finding("dropped/repaired"),
    ]
    write_baseline(report(*old, files=("m/a.onnx", "m/b.onnx", "m/gone.onnx")), root / "b.json", root)
    current = report(finding("new/rule"), files=("m/a.onnx",))
    write_baseline(current, root / "b.json", root, load_baseline(root / "b.json"))
    rules = [(entry.file, entry.rule) for entry in load_baseline(root / "b.json").counts]
    assert rules == [("m/a.onnx", "kept/target"), ("m/a.onnx", "new/rule"), ("m/b.onnx", "kept/file")]


def test_entries_of_unchecked_targets_are_neither_stale_nor_dropped(root: Path) -> None:
    (root / "m").mkdir()
    (root / "m/a.onnx").touch()
    baseline = Baseline({Entry("m/a.onnx", "n", "Axis", "a/b", "onnx:13"): 1})
    current = report(files=("m/a.onnx",))
    current.targets, current.judged = ["onnx:17", "onnx:13"], {"m/a.onnx": ("onnx:17",)}
    apply_baseline(current, baseline, root)
    assert current.findings == []


def test_ignored_findings_name_their_baseline(root: Path) -> None:
    write_baseline(report(finding()), root / "b.json", root)
    current = report(finding())
    apply_baseline(current, load_baseline(root / "b.json"), root)
    assert [result.ignored for result in current.ignored] == [f"known in the baseline {root / 'b.json'}"]
