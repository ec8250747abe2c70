from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specgate.errors import InputError
from specgate.report import FORMATS, RenderOptions, render, sort_findings
from specgate.verdict import Finding, Location, Report

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("name", FORMATS)
def test_every_registered_format_renders_an_empty_report(name: str) -> None:
    assert isinstance(render(Report(), name, options=RenderOptions()), str)


@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_the_findings_does_not_matter(name: str, sample: Report) -> None:
    first = render(sample, name, options=RenderOptions(verbose=True))
    sample.findings.reverse()
    sample.no_table.reverse()
    assert render(sample, name, options=RenderOptions(verbose=True)) == first


def test_an_unknown_format_is_an_input_error() -> None:
    with pytest.raises(
        InputError, match=r"^format: expected one of text, json, sarif, junit, github, html, found 'h\\x1bml'$"
    ):
        render(Report(), "h\x1bml", options=RenderOptions())


def test_nodes_are_ordered_by_their_numbers() -> None:
    nodes = ["graph/node[10]", "graph/node[9]", "graph/node[009]", None, "graph", "graph/node[" + "9" * 5000 + "]"]
    findings = [Finding("x/y", "error", "m", location=Location("f", None, node)) for node in nodes]
    ordered = [f.location.node for f in sort_findings(findings) if f.location]
    assert ordered[0] is None
    assert ordered[1] == "graph"
    assert set(ordered[2:4]) == {"graph/node[9]", "graph/node[009]"}
    assert ordered[4] == "graph/node[10]"


def test_findings_are_ordered_by_file_node_field_and_id() -> None:
    def finding(file: str | None, where: str, rule: str) -> Finding:
        return Finding(rule, "error", "m", where=where, location=Location(file) if file else None)

    expected = [finding(None, "Z", "z"), finding("a", "A", "z"), finding("a", "B", "a"), finding("b", "A", "a")]
    assert sort_findings(reversed(expected)) == expected


@pytest.mark.parametrize(
    ("file", "inside"),
    [
        (lambda root: root / "m" / "a.onnx", "m/a.onnx"),
        (lambda root: root / "m" / ".." / "a.onnx", "a.onnx"),
        (lambda root: root / "..m" / "a.onnx", "..m/a.onnx"),
        (lambda root: root.parent / "a.onnx", None),
        (lambda root: root.parent, None),
    ],
)
def test_inside(file: Callable[[Path], Path], inside: str | None, tmp_path: Path) -> None:
    assert RenderOptions(root=tmp_path).path_inside(str(file(tmp_path))) == inside


def test_inside_resolves_paths_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert RenderOptions().path_inside("m/a.onnx") == "m/a.onnx"
    assert RenderOptions(root="m").path_inside("m/a.onnx") == "a.onnx"
    assert RenderOptions(root="n").path_inside("m/a.onnx") is None


def test_importing_the_registry_loads_no_format_and_nothing_heavy() -> None:
    code = "import sys, specgate; before = set(sys.modules); import specgate.report; print(*sys.modules, '-', *before)"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    loaded, _, before = (set(part.split()) for part in done.stdout.decode().partition(" - "))
    assert "specgate.report" in loaded
    heavy = {
        "json",
        "xml",
        "hashlib",
        "urllib",
        "numpy",
        "rich",
        "yaml",
        "pydantic",
        "unicodedata",
        "importlib.metadata",
    }
    assert heavy.isdisjoint(loaded - before)
    assert loaded.isdisjoint(place.partition(":")[0] for place in FORMATS.values())
