"""The report as JUnit XML: suites per file and target, case per finding.

Undecided nodes are skipped cases. Elements and attributes are those of Jenkins' schema (junit-10.xsd of its xUnit
plugin), which pytest's ``xunit2`` follows too. GitLab identifies cases by class and name, so this pair is unique.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from specgate.report import details, nodes_in_order, sort_findings, without_table
from specgate.report.clean import clean
from specgate.report.ports import context_at, inputs_line

if TYPE_CHECKING:
    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, Location, NodeRef, Report

_LINE_LIMIT = 4000
_UNUSABLE_FILES = "unusable files"

# Every text goes through clean(), as XML 1.0 does not allow some unprintable characters.


def render(report: Report, options: RenderOptions) -> str:  # noqa: ARG001 (every format takes both)
    """Return the report as ASCII XML.

    Errors and warnings are failures; a note is a passing case with its text as output; an unreadable file is an error.
    A file without findings for a target has one passing case. Operators without a table are listed in their suite's
    output.
    """
    root = ET.Element("testsuites", name="specgate")
    totals = [0, 0, 0, 0]
    suites = sorted(_suites(report).items())
    if report.unusable:
        suites.append(((_UNUSABLE_FILES, ""), _error_suite(report.unusable)))
    for (file, target), suite in suites:
        numbers = _finish_suite(suite, file, target)
        root.append(suite)
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
    for name, number in zip(("tests", "failures", "errors"), totals, strict=False):
        root.set(name, str(number))
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return document.decode("ascii") + "\n"


def _suites(report: Report) -> dict[tuple[str, str], ET.Element]:
    """Return the cases of each (file, target).

    "" is an unknown file and no specific target.
    """
    suites: defaultdict[tuple[str, str], ET.Element] = defaultdict(lambda: ET.Element("testsuite"))
    suites.update(
        {(file, target): ET.Element("testsuite") for file in report.files for target in report.targets_of(file) or [""]}
    )
    for finding in sort_findings(report.findings):
        suites[_key(finding.location, finding.target)].append(_failed_case(finding, report))
    for node in nodes_in_order(report.undecided):
        suites[_key(node.location, node.target)].append(_undecided_case(node))
    no_table: defaultdict[tuple[str, str], list[NodeRef]] = defaultdict(list)
    for node in report.no_table:
        no_table[_key(node.location, node.target)].append(node)
    for key, nodes in no_table.items():
        text = "operators without a table: " + ", ".join(without_table(nodes))
        ET.SubElement(suites[key], "system-out").text = text
    return suites


def _error_suite(lines: list[str]) -> ET.Element:
    suite = ET.Element("testsuite")
    for line in lines:
        cleaned = clean(line, _LINE_LIMIT)
        case = ET.SubElement(suite, "testcase", name=clean(line))
        ET.SubElement(case, "error", message=cleaned, type="unusable").text = cleaned
    return suite


def _key(location: Location | None, target: str | None) -> tuple[str, str]:
    return ((location.file or "") if location is not None else "", target or "")


def _finish_suite(suite: ET.Element, file: str, target: str) -> list[int]:
    """Set a suite's name and counts; return the counts.

    They are the numbers of cases, failures, errors and skipped cases.
    """
    cleaned = clean(file, None)
    name = " ".join(part for part in (cleaned, clean(target)) if part) or "specgate"
    if suite.find("testcase") is None:
        suite.insert(0, ET.Element("testcase", name="no findings"))
    cases = suite.findall("testcase")
    name_counts: Counter[str] = Counter()
    for case in cases:
        case.set("classname", name)
        own_name = case.get("name", "")
        name_counts[own_name] += 1
        if name_counts[own_name] > 1:
            case.set("name", f"{own_name} #{name_counts[own_name]}")
    numbers = [len(cases), *(len(suite.findall(f"*/{kind}")) for kind in ("failure", "error", "skipped"))]
    suite.set("name", name)
    for key, number in zip(("tests", "failures", "errors", "skipped"), numbers, strict=True):
        suite.set(key, str(number))
    if cleaned and file != _UNUSABLE_FILES:
        suite.set("file", cleaned)
    return numbers


def _failed_case(finding: Finding, report: Report) -> ET.Element:
    place = finding.location
    case = _case(place, finding.id, finding.where)
    message = clean(finding.message or finding.id, _LINE_LIMIT)
    lines = [message, *(clean(line, _LINE_LIMIT) for line in details(finding))]
    if place is not None and place.line is not None and place.line > 0:
        lines.append(f"at {clean(place.file or '', None)}:{place.line}")
    if (context := context_at(report, place)) is not None and context.inputs:
        lines.append("inputs: " + clean(inputs_line(context.inputs), _LINE_LIMIT))
    text = "\n".join(lines)
    if finding.severity == "note":
        ET.SubElement(case, "system-out").text = text
    else:
        ET.SubElement(case, "failure", message=message, type=finding.severity).text = text
    return case


def _undecided_case(node: NodeRef) -> ET.Element:
    case = _case(node.location, "undecided")
    ET.SubElement(case, "skipped", message=clean(node.reason or "undecided", _LINE_LIMIT))
    return case


def _case(location: Location | None, *words: str) -> ET.Element:
    node = location.node if location is not None else None
    return ET.Element("testcase", name=" ".join(clean(word) for word in (node, *words) if word))
