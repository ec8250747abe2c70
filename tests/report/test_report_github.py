from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specgate.report import RenderOptions, render
from specgate.verdict import Finding, Location, NodeRef, Report, Severity

if TYPE_CHECKING:
    from pathlib import Path


def github(report: Report) -> list[str]:
    return render(report, "github", options=RenderOptions()).splitlines()


def test_errors_first_then_warnings_then_notices_then_the_summary(sample: Report) -> None:
    assert github(sample) == [
        "::error file=models/a.onnx,title=onnx/OneHot/axis-range::graph/node[3] 'OneHot_3': onnx:17: axis < rank(indices) + 1, but axis is 4 and rank(indices) is 3%0Afix: set axis to a value from -4 to 3",
        "::warning file=models/b.json,line=12,title=directml/ROUND/ranks::dispatchables/round: directml:4.1: OutputTensor takes ranks 4, but rank(OutputTensor) is 5%0Aaccepted from 3.0%0Adocumented as supported, but rejected by real builds",
        "::notice file=models/a.onnx,title=onnx/ir-version::onnx:17: the IR version is 11",
        "::notice title=specgate::1 undecided; 3 nodes without a table: foo (2), aten::x (1)",
    ]


def test_a_clean_report_prints_no_lines() -> None:
    assert render(Report(targets=["onnx:17"], files=["a"], nodes=3), "github", options=RenderOptions()) == ""


def test_escapes_of_data_and_properties() -> None:
    finding = Finding("a:b,c%d\n", "error", "100% a:b,c\r\nd", location=Location("x:y,%0A.onnx", 3))
    assert github(Report(findings=[finding])) == [
        r"::error file=x%3Ay%2C%250A.onnx,line=3,title=a%3Ab%2Cc%25d\n::100%25 a:b,c\r\nd"
    ]


def test_a_hostile_name_stays_inside_its_annotation() -> None:
    place = Location("a::b,line=9.onnx", None, "n%0A::error::forged\u2028\n::error::x")
    finding = Finding("x/y", "warning", "##[error]z", location=place)
    assert github(Report(findings=[finding])) == [
        r"::warning file=a%3A%3Ab%2Cline=9.onnx,title=x/y::n%250A::error::forged\u2028\n::error::x: #\x23[error]z"
    ]


@pytest.mark.parametrize(
    ("severity", "command", "shown"), [("error", "error", 10), ("warning", "warning", 10), ("note", "notice", 9)]
)
def test_ten_of_each_level_and_a_count_of_the_rest(severity: Severity, command: str, shown: int) -> None:
    result = [Finding("x/y", severity, f"number {at}", location=Location("a")) for at in range(13)]
    lines = github(Report(findings=result))
    assert [line.split("title")[0] for line in lines[:-1]] == [f"::{command} file=a,"] * shown
    assert lines[-1] == f"::notice title=specgate::{13 - shown} more {severity}s not shown here"


def test_ten_errors_are_shown_without_a_count() -> None:
    findings = [Finding("x/y", "error", f"number {at}") for at in range(10)]
    assert len(github(Report(findings=findings))) == 10
    assert github(Report(findings=[*findings, findings[0]]))[-1].endswith("::1 more error not shown here")


def test_paths_start_from_the_root_and_are_never_shortened(tmp_path: Path) -> None:
    name = "d" * 150
    inside = Finding("x/y", "error", "m", location=Location(str(tmp_path / name / name / "a.onnx")))
    outside = replace(inside, location=Location("/elsewhere/b.onnx"))
    lines = render(Report(findings=[inside, outside]), "github", options=RenderOptions(root=tmp_path)).splitlines()
    assert sorted(lines) == [
        "::error file=/elsewhere/b.onnx,title=x/y::m",
        f"::error file={name}/{name}/a.onnx,title=x/y::m",
    ]


def test_an_empty_message_is_replaced_by_the_id() -> None:
    assert github(Report(findings=[Finding("x/y", "error", "")])) == ["::error title=x/y::x/y"]


def test_undecided_nodes_are_counted() -> None:
    assert github(Report(undecided=[NodeRef(Location("a"))])) == ["::notice title=specgate::1 undecided"]


def test_every_file_has_an_annotation_or_is_in_the_summary() -> None:
    def find_ids(file: str, at: int, severity: Severity = "error") -> Finding:
        return Finding("onnx/A/b", severity, "m", location=Location(file, None, f"node[{at}]"))

    many = [find_ids("a.onnx", at) for at in range(30)] + [
        find_ids(f"m{n:02}.onnx", at) for n in range(12) for at in range(2)
    ]
    lines = github(
        Report(findings=[*many, find_ids("z.onnx", 0, "note"), *(find_ids("y.onnx", n, "note") for n in range(11))])
    )
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == 10
    assert len({line.partition("file=")[2].partition(",")[0] for line in errors}) == 10
    assert lines[-1] == (
        "::notice title=specgate::44 more errors, 3 more notes not shown here"
        "%0Am09.onnx: 2 errors%0Am10.onnx: 2 errors%0Am11.onnx: 2 errors"
    )


def test_unusable_files_beyond_the_limit_are_in_the_summary() -> None:
    lines = github(Report(unusable=[f"u{n}.onnx: broken" for n in range(12)]))
    assert lines[-1] == (
        "::notice title=specgate::2 more unusable files not shown here%0Au10.onnx: broken%0Au11.onnx: broken"
    )
