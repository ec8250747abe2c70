"""The page of a lint report: contents, loaded resources, and escaped names."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

import specgate
from specgate.report import RenderOptions, render
from specgate.report.clean import clean
from specgate.report.rule_links import SITE
from specgate.verdict import Finding, Location, NodeContext, NodeRef, Port, Report
from tests.report.test_report_properties import reports, slow

pytest.importorskip("onnx", reason="NO REPORT OF A MODEL IS TESTED: pip install onnx (it is in the test extra)")
from tests.linting.test_model import helper, model, one_hot  # where there is onnx

if TYPE_CHECKING:
    from pathlib import Path

VOID = {"meta", "input", "wbr"}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`&amp;\u202e日本\x00\ud800"


class Page(HTMLParser):
    """A page as elements with attributes and text; unbalanced tags fail."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attrs), [""])
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, messages in self.open:
            messages[0] += data

    def all(self, tag: str, **expected: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, messages[0])
            for name, attributes, messages in self.elements
            if name == tag
            and all(attributes.get(key.rstrip("_").replace("_", "-")) == v for key, v in expected.items())
        ]


def page(report: Report) -> str:
    return render(report, "html", options=RenderOptions())


def test_nodes_findings_and_counts(sample: Report) -> None:
    read = Page(page(sample))
    tiles = dict(zip([t for _, t in read.all("dt")], [t for _, t in read.all("dd")], strict=True))
    assert tiles == {
        "errors": "1",
        "warnings": "1",
        "notes": "1",
        "undecided": "1",
        "without a table": "3",
        "ignored": "1",
    }
    assert [message for _, message in read.all("h1")] == ["specgate: 3 findings in 2 files"]
    assert [message for _, message in read.all("h2")] == [
        "Files",
        "models/a.onnx",
        "models/b.json",
        "Rules",
        "Without a table",
    ]
    kinds = [
        (texts_by_name["data-kind"], texts_by_name["data-target"])
        for texts_by_name, _ in read.all("li", class_="finding")
    ]
    assert kinds == [
        ("error", "onnx:17"),
        ("ignored", "onnx:17"),
        ("note", "onnx:17"),
        ("undecided", "onnx:17"),
        ("warning", "directml:4.1"),
    ]
    assert "ignored: the exporter is fixed in its next release" in page(sample)
    assert [message for _, message in read.all("ul", class_="operators")] == ["foo (2)aten::x (1)"]


def test_neighbours_are_drawn_and_linked_if_on_the_page(sample: Report) -> None:
    read = Page(page(sample))
    (drawn,) = [message for _, message in read.all("div", class_="neighbours")]
    assert drawn == (
        "Inputs fromids (indices) INT64 [batch,3,?]graph/node[2] (Gather)depth INT64 []an input or a constant"
        "v (values) unknownan input or a constantOneHotOutputs tohot (output) FLOAT [...]graph/node[5] (Reshape), and 1 more"
    )
    (anchor,) = [
        texts_by_name["id"]
        for texts_by_name, message in read.all("article")
        if "graph/node[5]" in message and "undecided" in message
    ]
    assert f'href="#{anchor}"' in page(sample)


def test_a_real_model_has_its_neighbours() -> None:
    nodes = [
        helper.make_node("Identity", ["ids"], ["copy"], name="before"),
        helper.make_node("OneHot", ["copy", "depth", "values"], ["y"], axis=9, name="here"),
        helper.make_node("Relu", ["y"], ["z"], name="after"),
    ]
    pairs = Page(page(specgate.lint(model([*nodes, one_hot(axis=9)]), ["onnx:17"]))).all("div", class_="neighbours")
    assert any("graph/before (Identity)" in text and "graph/after (Relu)" in text for _, text in pairs)


def test_internal_links_resolve_and_anchors_are_unique(sample: Report) -> None:
    read = Page(page(sample))
    ids = [texts_by_name["id"] for _, texts_by_name, _ in read.elements if "id" in texts_by_name]
    assert len(ids) == len(set(ids))
    links = [texts_by_name["href"] or "" for texts_by_name, _ in read.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(link.startswith(("#", "https://github.com/", SITE)) for link in links)


def hostile() -> Report:
    place = Location(f"m/{HOSTILE}.onnx", 1, f"graph/{HOSTILE}", HOSTILE)
    peers = ((f"graph/{HOSTILE}", HOSTILE),)
    port = Port(HOSTILE, HOSTILE, HOSTILE, (HOSTILE, 1), peers)
    finding = Finding(
        f"x/{HOSTILE}", "error", HOSTILE, where=HOSTILE, fix=HOSTILE, target=HOSTILE, location=place, ignored=HOSTILE
    )
    return Report(
        targets=[HOSTILE],
        files=[place.file or ""],
        nodes=1,
        findings=[finding],
        ignored=[finding],
        undecided=[NodeRef(place, HOSTILE, HOSTILE)],
        no_table=[NodeRef(place, HOSTILE, HOSTILE)],
        context={(place.file, place.node or ""): NodeContext((port,), (port,))},
        unusable=[HOSTILE],
    )


def is_closed(text: str) -> None:
    """Assert that the page loads nothing and runs only its own script."""
    read = Page(text)
    names = {name for name, _, _ in read.elements}
    assert names.isdisjoint({"img", "link", "iframe", "object", "base", "embed", "svg", "math", "template"})
    attributes = {key for _, texts_by_name, _ in read.elements for key in texts_by_name}
    assert attributes.isdisjoint({"src", "srcset", "action", "formaction", "style", "background"})
    assert not [key for key in attributes if key.startswith("on")]
    (policy,) = (texts_by_name["content"] for texts_by_name, _ in read.all("meta") if texts_by_name.get("http-equiv"))
    assert (policy or "").startswith("default-src 'none'; ")
    for part in ("style", "script"):
        ((_, content),) = read.all(part)
        assert f"{part}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in (policy or "")
    assert "url(" not in text
    assert "@import" not in text
    text.encode("utf-8")


def test_hostile_names_stay_text() -> None:
    text = page(hostile())
    is_closed(text)
    read = Page(text)
    shown = clean(HOSTILE, None)
    assert "\u202e" not in text
    assert next(message for _, message in read.all("h2")) == f"m/{shown}.onnx"
    assert next(message for _, message in read.all("h3")).startswith(f"graph/{shown} ")
    assert {texts_by_name["value"] for texts_by_name, _ in read.all("option")} == {"", shown}


def test_the_sample_page_is_well_formed(sample: Report) -> None:
    is_closed(page(sample))
    is_closed(page(Report()))


@pytest.mark.slow
@slow
@given(reports)
def test_any_report_is_a_well_formed_page(report: Report) -> None:
    is_closed(page(report))


def test_without_a_script_only_the_filters_are_hidden(sample: Report) -> None:
    assert [
        texts_by_name.get("id") for _, texts_by_name, _ in Page(page(sample)).elements if "hidden" in texts_by_name
    ] == ["filters"]


def test_filters_list_the_contents_of_the_page(sample: Report) -> None:
    read = Page(page(sample))
    assert [texts_by_name["value"] for texts_by_name, _ in read.all("input", type="checkbox")] == [
        "error",
        "warning",
        "note",
        "undecided",
        "ignored",
    ]
    assert [
        texts_by_name["value"]
        for texts_by_name, _ in read.all("input")
        if "checked" not in texts_by_name and "value" in texts_by_name
    ] == ["ignored"]
    options = [texts_by_name["value"] for texts_by_name, _ in read.all("option")]
    assert options == ["", "directml:4.1", "onnx:17", "", "OneHot", "ROUND", "Reshape"]
    labelled = [message for _, message in read.all("label")]
    assert len(labelled) == len(read.all("input")) + len(read.all("select"))


def test_a_clean_report_states_no_findings() -> None:
    read = Page(page(Report(targets=["onnx:17"], files=["a.onnx"], nodes=3)))
    assert [message for _, message in read.all("p", class_="nothing")] == ["No findings."]
    assert read.all("form") == []


def test_the_most_severe_of_many_findings_are_shown() -> None:
    def finding(severity: Any, at: int) -> Finding:
        return Finding("x/y", severity, "m", location=Location("a.onnx", None, f"node[{at}]"))

    report = Report(findings=[finding("note", at) for at in range(2500)] + [finding("error", 9999)])
    text = page(report)
    assert len(re.findall('class="finding"', text)) == 2000
    assert "node[9999]" in text
    assert "501 more are omitted here" in text


@pytest.mark.slow
def test_each_file_shows_its_most_severe_findings() -> None:
    def finding(severity: Any, file: str, at: int) -> Finding:
        return Finding("x/y", severity, "m", location=Location(file, None, f"node[{at}]"))

    report = Report(findings=[finding("error", "a.onnx", at) for at in range(2500)])
    report.findings += [finding("warning", "z.onnx", 1), finding("note", "z.onnx", 2)]
    text = page(report)
    assert len(re.findall('class="finding"', text)) == 2000
    assert "z.onnx" in text
    assert "node[1]" in text


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_severities_are_shown_as_words(severity: Any) -> None:
    read = Page(page(Report(findings=[Finding("x/y", severity, "m")])))
    assert [message for _, message in read.all("span", class_=f"mark {severity}")] == [severity]


def test_files_are_listed_with_counts_worst_first(sample: Report) -> None:
    sample.files.append("models/clean.onnx")
    read = Page(page(sample))
    (table,) = [message for _, message in read.all("table")]
    head, *rows = [message for _, message in read.all("tr")]
    assert head == "Fileerrorswarningsnotesundecidedignored"
    assert rows == ["models/a.onnx10111", "models/b.json01000", "models/clean.onnx00000"]
    assert "3 files, the worst first" in table
    links = {
        message: texts_by_name["href"]
        for texts_by_name, message in read.all("a")
        if (texts_by_name["href"] or "").startswith("#file-")
    }
    assert links == {"models/a.onnx": "#file-0", "models/b.json": "#file-1"}  # nothing is on the page of the other


def test_a_single_file_has_no_file_list() -> None:
    assert 'id="files"' not in page(specgate.lint(model([one_hot(axis=9)]), ["onnx:17"]))


def test_notes_are_folded_and_errors_are_not(sample: Report) -> None:
    read = Page(page(sample))
    folded = [message for _, message in read.all("details", class_="lesser")]
    kinds = [
        (texts_by_name["data-kind"], any(message in part for part in folded))
        for texts_by_name, message in read.all("li", class_="finding")
    ]
    assert {kind for kind, inside in kinds if inside} == {"note", "undecided", "ignored"}
    assert {kind for kind, inside in kinds if not inside} == {"error", "warning"}
    assert [message for texts_by_name, message in read.all("summary") if "note" in message or "undecided" in message]


def test_each_rule_has_a_count_and_links_to_its_nodes(sample: Report) -> None:
    read = Page(page(sample))
    rules = [(texts_by_name["id"], message) for texts_by_name, message in read.all("div", class_="rule")]
    assert rules[0][0] == "rule/onnx/OneHot/axis-range"  # the gravest
    anchors = {texts_by_name["id"] for texts_by_name, _ in read.all("article")}
    places = [
        texts_by_name["href"] for texts_by_name, message in read.all("a") if message.startswith("models/a.onnx: ")
    ]
    assert places
    assert {(place or "").removeprefix("#") for place in places} <= anchors


def test_fixable_findings_are_marked(tmp_path: Path) -> None:
    new_model = model([helper.make_node("Identity", ["x"], ["y"])])
    new_model.opset_import.append(helper.make_opsetid("com.some", 1))
    (tmp_path / "m.onnx").write_bytes(new_model.SerializeToString())
    assert page(specgate.lint(tmp_path / "m.onnx", ["onnx:28"])).count("fixable with --fix") == 1


def test_summary_numbers_match_the_filters() -> None:
    levels = ["onnx:13", "onnx:14", "onnx:15"]
    same = [Finding("x/y", "note", "m", target=level, location=Location("a.onnx")) for level in levels]
    own = Finding("x/z", "error", "n", target="onnx:14", location=Location("a.onnx"))
    options = RenderOptions(queries={"onnx:13..15": levels})
    read = Page(
        render(Report(targets=levels, files=["a.onnx"], nodes=3, findings=[*same, own]), "html", options=options)
    )
    tiles = dict(
        zip([message for _, message in read.all("dt")], [message for _, message in read.all("dd")], strict=True)
    )
    assert (tiles["errors"], tiles["notes"]) == ("1", "1")
    assert [message for _, message in read.all("label", class_="choice")] == ["error 1", "note 1"]
    assert [message for _, message in read.all("h1")] == ["specgate: 2 findings in 1 file"]
    assert "3 nodes of 1 file linted" in read.all("p", class_="headline")[0][1]


def test_a_truncated_page_keeps_the_summary_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = ["onnx:13", "onnx:14"]
    files = ["a.onnx", "b.onnx"]
    notes = [Finding("x/y", "note", "m", target=at, location=Location(name)) for at in levels for name in files]
    more = [Finding(f"x/z{i}", "note", "n", target="onnx:14", location=Location("a.onnx")) for i in range(3)]
    report = Report(targets=levels, files=files, nodes=2, findings=[*notes, *more])
    options = RenderOptions(queries={"onnx:13..14": levels})
    read = Page(render(report, "html", options=options))
    assert [message for _, message in read.all("td", class_="number")] == ["4", "1"]
    monkeypatch.setattr("specgate.report.lint.html._MAX_NODES", 3)
    assert [message for _, message in Page(render(report, "html", options=options)).all("label", class_="choice")] == [
        "note 3 of 5"
    ]
