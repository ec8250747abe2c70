"""The page of a dialect's tables: self-contained, with an anchor for every rule."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from specgate.report.tables.html import render
from specgate.spec.tables import dialect
from specgate.targets import parse_target

VOID = {"meta", "input", "wbr"}
#: Attributes by which an element would load something.
LOADING = {"src", "srcset", "data", "poster", "action", "formaction", "style", "background", "ping"}


class Reader(HTMLParser):
    """Check that elements nest, and collect their attributes and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[int] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[list[str]] = []  # pieces: concatenating the page's text step by step takes seconds
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.texts.append([])
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(len(self.seen) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.seen[self.open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        for at in self.open:
            self.texts[at].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (texts_by_name, "".join(messages))
            for (name, texts_by_name), messages in zip(self.seen, self.texts, strict=True)
            if name == tag
        ]


@pytest.fixture(scope="module")
def page() -> str:
    return render(dialect("directml"), parse_target("directml:5.0"))


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


@pytest.mark.slow
def test_every_operator_and_level_has_a_cell(reader):
    table = dialect("directml")
    heads = [message.removesuffix("target") for result, message in reader.all("th") if result.get("scope") == "col"]
    assert heads[1 : 1 + len(table.levels)] == list(table.levels)
    assert [result["data-operator"] for result, _ in reader.all("tr") if "data-operator" in result] == table.operators
    assert [result["data-operator"] for result, _ in reader.all("details")] == table.operators
    cells = [result["aria-label"] for result, _ in reader.all("td") if "aria-label" in result]
    assert len(cells) == len(table.operators) * len(table.levels)
    existing = sum(len(table.operator(name).levels) for name in table.operators)
    assert cells.count("not available") == len(cells) - existing
    assert sum("new" in cell.split(", ") for cell in cells) == len(table.operators)


def test_rules_have_anchors_and_internal_links_resolve(reader):
    ids = [result["id"] for _, result in reader.seen if "id" in result]
    assert len(ids) == len(set(ids))
    table = dialect("directml")
    for name in table.operators:
        spec = table.operator(name)
        forms = [*spec.rule_forms, *(form for overlay in spec.overlays for form in overlay.rules)]
        assert {f"directml/{name}/{form.name}" for form in forms} <= set(ids)
    assert {f"directml/tensor/{form.name}" for form in table.tensor_rules} <= set(ids)
    links = [result["href"] or "" for result, _ in reader.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    outside = [link for link in links if not link.startswith("#")]
    assert outside
    assert all(link.startswith("https://github.com/") and "/blob/" in link for link in outside)


def test_the_page_loads_nothing_and_runs_only_the_inline_script(page, reader):
    assert not LOADING & {name for _, result in reader.seen for name in result}
    assert {tag for tag, _ in reader.seen}.isdisjoint({"link", "img", "iframe", "object", "base", "embed"})
    assert not [name for _, result in reader.seen for name in result if name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = (result["content"] for result, _ in reader.all("meta") if result.get("http-equiv"))
    assert (policy or "").startswith("default-src 'none'; ")
    for part in ("style", "script"):
        ((_, content),) = reader.all(part)
        assert f"{part}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in (policy or "")


def test_without_a_script_only_the_filter_is_hidden(reader):
    assert [result["id"] for _, result in reader.seen if "hidden" in result] == ["filters"]


def test_the_targets_column_and_rows_are_marked(reader):
    assert [message for result, message in reader.all("th") if result.get("class") == "target"] == ["5.0target"]
    marked = [result for result, _ in reader.all("td") if result.get("class") == "target"]
    assert len(marked) == len(dialect("directml").operators)


def test_cell_colours_have_matching_symbols(reader):
    signs = {
        (result["class"], message[:1]) for result, message in reader.all("span") if result.get("class") in _CLASSES
    }
    assert signs == {("absent", ""), ("limited", "◐"), ("full", "●")}


_CLASSES = {"absent", "limited", "full"}


def test_the_page_stays_small(page):
    assert len(page.encode()) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_other_dialects_have_a_page(name):
    reader = Reader(render(dialect(name), None))
    assert [result["data-operator"] for result, _ in reader.all("details")] == dialect(name).operators
    assert not [result for _, result in reader.seen if result.get("class") == "target"]


def test_the_operator_name_is_its_anchor(reader, page):
    """Without a script, ``#GEMM`` is the matrix row; with one, the details open."""
    rows = {result["id"]: result for result, _ in reader.all("tr") if "id" in result}
    assert list(rows) == dialect("directml").operators
    assert all(result["data-operator"] == name for name, result in rows.items())
    assert "named(id) ??" in page
