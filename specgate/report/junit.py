"""The report as JUnit XML: one suite per file and target, one case per finding, undecided nodes as skipped cases."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from specgate.report import details, in_order, nodes_in_order, without_table
from specgate.report.clean import clean

if TYPE_CHECKING:
    from specgate.report.options import RenderOptions
    from specgate.verdict import Finding, Location, NodeRef, Report

__all__ = ["render"]

_LINE_LIMIT = 4000

# Every text goes through clean(): what XML 1.0 cannot hold is not printable and is shown as an escape.


def render(report: Report, options: RenderOptions) -> str:  # noqa: ARG001 (every format takes both)
    """Return the report as ASCII XML; a file that is clean for a target has one passing case there.

    Errors and warnings are failures; a note is a passing case with its text as output. Operators without a table
    are named in their suite's output.
    """
    root = ET.Element("testsuites", name="specgate")
    totals = [0, 0, 0]
    for (file, target), suite in sorted(_suites(report).items()):
        numbers = _finish(suite, file, target)
        root.append(suite)
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
    _number(root, totals)
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return written.decode("ascii") + "\n"


def _suites(report: Report) -> dict[tuple[str, str], ET.Element]:
    """Return the cases of each (file, target); "" stands for an unknown file and for no particular target."""
    suites: defaultdict[tuple[str, str], ET.Element] = defaultdict(lambda: ET.Element("testsuite"))
    suites.update(
        {(file, target): ET.Element("testsuite") for file in report.files for target in report.targets or [""]}
    )
    for finding in in_order(report.findings):
        suites[_key(finding.location, finding.target)].append(_failed(finding))
    for node in nodes_in_order(report.undecided):
        suites[_key(node.location, node.target)].append(_undecided(node))
    no_table: defaultdict[tuple[str, str], list[NodeRef]] = defaultdict(list)
    for node in report.no_table:
        no_table[_key(node.location, node.target)].append(node)
    for key, nodes in no_table.items():
        text = "operators without a table: " + ", ".join(without_table(nodes))
        ET.SubElement(suites[key], "system-out").text = text
    return suites


def _key(location: Location | None, target: str | None) -> tuple[str, str]:
    return ((location.file or "") if location is not None else "", target or "")


def _finish(suite: ET.Element, file: str, target: str) -> list[int]:
    """Name and count a suite and its cases; return how many cases, failures and skipped cases it has."""
    shown = clean(file, None)
    name = " ".join(part for part in (shown, clean(target)) if part) or "specgate"
    suite.set("name", name)
    if suite.find("testcase") is None:
        suite.insert(0, ET.Element("testcase", name="no findings"))
    cases = suite.findall("testcase")
    for case in cases:
        case.set("classname", name)
        if shown:
            case.set("file", shown)
    numbers = [len(cases), len(suite.findall("*/failure")), len(suite.findall("*/skipped"))]
    _number(suite, numbers)
    return numbers


def _number(element: ET.Element, numbers: list[int]) -> None:
    tests, failures, skipped = (str(number) for number in numbers)
    for name, value in {"tests": tests, "failures": failures, "errors": "0", "skipped": skipped}.items():
        element.set(name, value)


def _failed(finding: Finding) -> ET.Element:
    case = _case(finding.location, finding.id, finding.where)
    message = clean(finding.message or finding.id, _LINE_LIMIT)
    lines = "\n".join([message, *(clean(line, _LINE_LIMIT) for line in details(finding))])
    if finding.severity == "note":
        ET.SubElement(case, "system-out").text = lines
    else:
        ET.SubElement(case, "failure", message=message, type=finding.severity).text = lines
    return case


def _undecided(node: NodeRef) -> ET.Element:
    case = _case(node.location, "undecided")
    ET.SubElement(case, "skipped", message=clean(node.reason or "undecided", _LINE_LIMIT))
    return case


def _case(location: Location | None, *words: str) -> ET.Element:
    node = location.node if location is not None else None
    case = ET.Element("testcase", name=" ".join(clean(word) for word in (node, *words) if word))
    if location is not None and location.line is not None and location.line > 0:
        case.set("line", str(location.line))
    return case
