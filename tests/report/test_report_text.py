from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent
from typing import Any

from specgate.report import RenderOptions, render
from specgate.report.clean import columns
from specgate.report.rule_links import SITE
from specgate.verdict import Finding, Location, Report


def text(report: Report, **options: Any) -> str:
    return render(report, "text", options=RenderOptions(**options))


def test_at_eighty_columns(sample: Report) -> None:
    assert text(sample) == dedent("""\
        models/a.onnx
            note     onnx:17       onnx/ir-version
                     the IR version is 11
          graph/node[3] 'OneHot_3' (OneHot)   ids (indices) INT64 [batch,3,?], depth
              INT64 [], v (values) unknown
            error    onnx:17       onnx/OneHot/axis-range axis
                     axis < rank(indices) + 1, but axis is 4 and rank(indices) is 3
                     fix: set axis to a value from -4 to 3

        models/b.json
          dispatchables/round (ROUND, line 12)
            warning  directml:4.1  directml/ROUND/ranks OutputTensor
                     OutputTensor takes ranks 4, but rank(OutputTensor) is 5
                     accepted from 3.0
                     documented as supported, but rejected by real builds

        targets: directml:4.1, onnx:17 (a node counts once per target)
        files: 2
        3 findings in 41 nodes (1 error, 1 warning, 1 note); 1 undecided; 3 nodes
          without a table; 1 ignored
        operators without a table: foo (2), aten::x (1)
        """)


def test_at_thirty_columns_and_below(sample: Report) -> None:
    sample.findings = sample.findings[1:2]
    expected = dedent("""\
        models/a.onnx
          graph/node[3] 'OneHot_3'
              (OneHot)   ids (indices)
              INT64 [batch,3,?], depth
              INT64 [], v (values)
              unknown
            error onnx:17
              onnx/OneHot/axis-range
              axis
              axis < rank(indices) +
              1, but axis is 4 and
              rank(indices) is 3
              fix: set axis to a value
                from -4 to 3

        undecided:
          models/a.onnx: graph/node[5]
            (Reshape, onnx:17)
            same-sizes: pin 'N' of
              data

        targets: directml:4.1, onnx:17
          (a node counts once per
          target)
        files: 2
        1 finding in 41 nodes (1
          error, 0 warnings); 1
          undecided; 3 nodes without a
          table; 1 ignored
        operators without a table: foo
          (2), aten::x (1)
        """)
    assert text(sample, width=30, verbose=True) == expected
    assert text(sample, width=0, verbose=True) == expected


def test_the_expression_of_a_rule_is_shown_on_request_only(sample: Report) -> None:
    line = "             rule: axis < rank(indices) + 1\n"
    assert line not in text(sample, verbose=True)
    shown = re.sub(r"rules:\n(  https:.*\n)+\n", "", text(sample, rules=True))
    assert shown.replace(line, "") == text(sample)
    assert line in text(sample, rules=True)


def test_undecided_nodes_are_listed_only_when_verbose(sample: Report) -> None:
    listed = dedent("""\
        undecided:
          models/a.onnx: graph/node[5] (Reshape, onnx:17)
            same-sizes: pin 'N' of data

        """)
    assert listed in text(sample, verbose=True)
    assert text(sample, verbose=True).replace(listed, "") == text(sample)
    sample.undecided.clear()
    assert text(sample, verbose=True) == text(sample)


def test_a_clean_report_lists_the_checked_targets_and_files() -> None:
    assert text(Report(targets=["onnx:17"], files=["a.onnx"], nodes=1), width=120) == dedent("""\
        targets: onnx:17
        files: 1
        0 findings in 1 node (0 errors, 0 warnings); 0 undecided; 0 nodes without a table; 0 ignored
        """)


def test_a_finding_without_a_location_has_no_headings() -> None:
    report = Report(targets=[], nodes=1, findings=[Finding("directml/ROUND/ranks", "error", "rank is 9")])
    assert text(report).splitlines()[:3] == ["    error    directml/ROUND/ranks", "             rank is 9", ""]


def test_colour_adds_codes_and_nothing_else(sample: Report) -> None:
    plain = text(sample)
    coloured = text(sample, color=True)
    assert "\x1b" not in plain
    link = f"\x1b]8;;{SITE}rules/onnx/OneHot/axis-range.html\x1b\\onnx/OneHot/axis-range\x1b]8;;\x1b\\"
    assert f"    \x1b[1;31merror\x1b[0m    onnx:17       {link} axis\n" in coloured
    assert "    \x1b[33mwarning\x1b[0m  directml:4.1  " in coloured
    assert "\x1b[1mmodels/a.onnx\x1b[0m\n" in coloured
    coloured = re.sub(r"\x1b\]8;;[^\x1b]*\x1b\\", "", coloured)
    for code in ("1;31", "33", "36", "1", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


def equal_findings(count: int, target: str = "onnx:17", message: str = "X of 'Relu_{0}' is INT{0}") -> list[Finding]:
    return [
        Finding(
            "onnx/Relu/type",
            "error",
            message.format(at),
            target=target,
            location=Location("a.onnx", None, f"graph/node[{at}]", "Relu"),
        )
        for at in range(count)
    ]


def test_equal_findings_are_collapsed_beyond_the_limit_only() -> None:
    assert text(Report(findings=equal_findings(20))).count("onnx/Relu/type") == 20
    collapsed = text(Report(nodes=50, findings=equal_findings(21)))
    assert collapsed == dedent("""\
        a.onnx
          graph/node[0] (Relu)
            error    onnx:17  onnx/Relu/type
                     X of 'Relu_0' is INT0
          graph/node[1] (Relu)
            error    onnx:17  onnx/Relu/type
                     X of 'Relu_1' is INT1
          graph/node[2] (Relu)
            error    onnx:17  onnx/Relu/type
                     X of 'Relu_2' is INT2
            ... and 18 more like this, in 18 nodes

        21 findings in 50 nodes (21 errors, 0 warnings); 0 undecided; 0 nodes without a
          table; 0 ignored
        """)


def test_findings_of_another_shape_or_target_are_not_equal() -> None:
    report = Report(
        findings=[
            *equal_findings(4),
            *equal_findings(4, target="onnx:18"),
            *equal_findings(4, message="another {0}"),
            *equal_findings(1, message="once {0}"),
        ]
    )
    shown = text(report, max_per_rule=3)
    assert shown.count("... and 1 more like this, in 1 node\n") == 3
    assert shown.count("onnx/Relu/type") == 10
    assert "once 0" in shown


def test_a_repeated_finding_is_collapsed() -> None:
    shown = text(Report(findings=equal_findings(1) * 5), max_per_rule=1)
    assert shown.count("onnx/Relu/type") == 3
    assert "... and 2 more like this, in 1 node\n" in shown


def test_three_equal_findings_are_never_collapsed() -> None:
    assert "more like this" not in text(Report(findings=equal_findings(3)), max_per_rule=0)


def test_a_hostile_name_neither_drives_the_terminal_nor_forges_a_command() -> None:
    place = Location("a\x1b[2J.onnx", 1, "n\n::error file=x::forged\u202e", "O\x07p")
    hostile = Finding(
        "x/y", "error", "m ##[error]x ::error::y", where="\x9bw", fix="a\rb", target="t\x1b", location=place
    )
    assert text(Report(findings=[hostile])).splitlines()[:5] == [
        r"a\x1b[2J.onnx",
        r"  n\n::error file=x::forged\u202e (O\x07p, line 1)",
        r"    error    t\x1b  x/y \x9bw",
        r"             m #\x23[error]x \x3a:error::y",
        r"             fix: a\rb",
    ]


def test_long_targets_and_wide_names_keep_to_the_width(sample: Report) -> None:
    sample.findings = [replace(finding, target="日本語" * 20) for finding in sample.findings]
    for width in (30, 59, 60, 80, 200):
        assert all(columns(line) <= width for line in text(sample, width=width, verbose=True).splitlines())


def test_user_rules_have_no_address(sample: Report) -> None:
    mine = ("onnx/Mine/axis", "mine/ROUND/x", "nothing", "onnx/OneHot/axis-range")
    sample.findings = [replace(sample.findings[0], id=rule) for rule in mine]
    assert text(sample, rules=True).count(SITE) == 1


def test_addresses_are_printed_only_when_rules_are(sample: Report) -> None:
    address = f"rules:\n  {SITE}rules/onnx/OneHot/axis-range.html\n"
    sample.findings = sample.findings[1:2]
    assert address in text(sample, rules=True)
    assert SITE not in text(sample, verbose=True)


def test_every_file_with_findings_is_shown() -> None:
    many = [
        replace(f, location=Location(f"models/{n}.onnx", None, "graph/node[0]", "Relu"))
        for n, f in enumerate(equal_findings(164))
    ]
    shown = text(Report(findings=many))
    assert [n for n in range(164) if f"models/{n}.onnx\n" not in shown] == []
    assert "more like this" not in shown


def test_equal_findings_are_collapsed_within_each_file() -> None:
    second = [
        replace(f, location=replace(f.location, file="b.onnx")) for f in equal_findings(21) if f.location is not None
    ]
    shown = text(Report(findings=[*equal_findings(21), *second]))
    assert shown.count("... and 18 more like this, in 18 nodes") == 2
    assert shown.count("onnx/Relu/type") == 6


def test_filtered_findings_are_counted_on_a_single_line() -> None:
    assert "\n2 findings hidden (--severity, --select, --ignore)\n" in text(
        Report(findings=equal_findings(1), hidden=2)
    )
    assert "hidden" not in text(Report(findings=equal_findings(1)))
