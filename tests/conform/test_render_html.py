from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import HealthCheck, given, settings

from specgate.conform.render.html import render, shade_class
from specgate.conform.render.shared import format_descriptor
from specgate.conform.result import Tally
from specgate.report.clean import clean
from tests.conform.samples import EMPTY, results, sample

VOID = {"meta", "input", "wbr"}
STYLE = files("specgate.report").joinpath("base.css").read_text(encoding="utf-8")
#: Every element and attribute of the page; none of them loads or runs anything.
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "script"}
ELEMENTS |= {"h1", "h2", "h3", "p", "dl", "dt", "dd", "div", "span", "b", "code", "q", "pre", "a", "ul", "li", "wbr"}
ELEMENTS |= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "details", "summary"}
ELEMENTS |= {"form", "label", "input", "fieldset", "legend", "output"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "title", "open", "hidden"}
ATTRIBUTES |= {"role", "aria-label", "aria-live", "tabindex", "scope", "rowspan", "data-operator", "data-kind"}
ATTRIBUTES |= {"type", "value", "checked", "autocomplete", "spellcheck", "placeholder"}


class Reader(HTMLParser):
    """Check that elements nest, and collect texts and attributes by element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        assert page.startswith("<!doctype html>\n")
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        texts_by_name = dict(attrs)
        assert len(texts_by_name) == len(attrs)
        self.seen.append((tag, texts_by_name))
        if tag in VOID:
            return
        key = f"{tag}.{texts_by_name['class']}" if texts_by_name.get("class") else tag
        self.open.append((tag, key))
        self.texts.setdefault(key, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, key in self.open:
            self.texts[key][-1] += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.seen if name == tag]


def test_page_needs_no_network_and_has_a_single_script():
    page = render(sample())
    reader = Reader(page)
    assert {tag for tag, _ in reader.seen} <= ELEMENTS
    assert {name for _, attributes in reader.seen for name in attributes} <= ATTRIBUTES
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = (meta["content"] for meta in reader.all("meta") if meta.get("http-equiv"))
    assert policy is not None
    for content in (*reader.texts["script"], *reader.texts["style"]):
        assert f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; ")


def test_page_without_script_hides_only_the_filter():
    hidden = [(tag, attributes) for tag, attributes in Reader(render(sample())).seen if "hidden" in attributes]
    assert [(tag, attributes["id"]) for tag, attributes in hidden] == [("form", "filters")]


def test_tables_have_captions_and_headers_with_scopes():
    reader = Reader(render(sample()))
    tables = len(reader.all("table"))
    assert tables == 5
    assert len(reader.all("caption")) == tables
    assert {header.get("scope") for header in reader.all("th")} == {"col", "row"}


def test_several_implementations_share_a_row_group():
    tallies = tuple(Tally("Add", "7", name, 10, 5, 10, 10, {}) for name in ("checker", "onnxruntime"))
    reader = Reader(render(replace(sample(), tallies=tallies)))
    groups = [header for header in reader.all("th") if header.get("scope") == "rowgroup"]
    assert [group["rowspan"] for group in groups] == ["2"]


def test_cell_shows_both_agreements_and_links_differences():
    page = render(sample())
    assert '<span class="part high">99.99</span><span class="part second low">' in page
    reader = Reader(page)
    names = [texts_by_name["id"] for texts_by_name in reader.all("details") if texts_by_name.get("id")]
    assert names == ["d0", "d1", "d2"]
    assert {link["href"] for link in reader.all("a")} == {"#d0", "#d1"}


def test_unexplained_differences_come_first():
    reader = Reader(render(sample()))
    kinds = [group["data-kind"] for group in reader.all("div") if "data-kind" in group]
    assert kinds == ["unexplained", "bug", "recorded"]
    assert reader.texts["div.tile bad"] == ["unexplained11"]


def test_empty_comparison_is_not_shown_as_success():
    reader = Reader(render(EMPTY))
    assert reader.texts["div.tile none"] == ["unexplained-"]
    assert "No implementation was tested." in reader.texts["p"]


@pytest.mark.parametrize(
    ("part", "whole", "name"),
    [
        (10, 10, "full"),
        (99_999, 100_000, "high"),
        (9_989, 10_000, "good"),
        (1, 2, "poor"),
        (0, 9, "poor"),
        (0, 0, "none"),
    ],
)
def test_full_agreement_alone_has_its_color(part, whole, name):
    assert shade_class(part, whole) == name


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(text: str, other: str) -> float:
    high, low = sorted((luminance(text), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_sufficient_contrast(scheme):
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    assert len(blocks) == 2
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[scheme]))
    pairs = [(name.removesuffix("-ink"), name) for name in colours if name.endswith("-ink")]
    pairs += [
        (ground, ink) for ground in ("page", "raised") for ink in ("ink", "soft", "accent", "alarm", "warn", "well")
    ]
    assert len(pairs) == 22
    assert {
        pair: contrast(colours[pair[0]], colours[pair[1]])
        for pair in pairs
        if contrast(colours[pair[0]], colours[pair[1]]) < 4.5
    } == {}


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(results)
def test_output_of_implementations_is_escaped(result):
    page = render(result)
    assert page.replace("\n", "").isprintable()
    reader = Reader(page)
    assert {tag for tag, _ in reader.seen} <= ELEMENTS
    assert {name for _, attributes in reader.seen for name in attributes} <= ATTRIBUTES
    assert len(reader.all("script")) == 1
    assert reader.texts["span.dialect"] == [clean(result.dialect, None)]
    differences = [*result.differences, *(d for v in result.values for d in v.differing)]
    assert sorted(reader.texts.get("q", [])) == sorted(clean(d.detail, None) for d in differences if d.detail)
    assert sorted(reader.texts.get("pre", [])) == sorted(
        "\n".join(clean(line, None) for line in format_descriptor(d.descriptor).split("\n")) for d in differences
    )
    commands = [clean(d.command, None) for d in differences if d.command]
    assert sorted(reader.texts["pre.command"][:-1]) == sorted(commands)
    assert set(map(clean, result.skipped)) <= set(reader.texts.get("li", []))
    named = {attributes["data-operator"] for _, attributes in reader.seen if "data-operator" in attributes}
    assert {clean(t.operator, None) for t in result.tallies} <= named
