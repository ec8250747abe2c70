"""The page of a dialect's tables: whole, by itself, with an anchor for every rule."""

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
    """Checks that elements nest, and holds their attributes and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[int] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[list[str]] = []  # pieces: the whole page's text, made longer piece by piece, takes seconds
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
            (found, "".join(said)) for (name, found), said in zip(self.seen, self.texts, strict=True) if name == tag
        ]


@pytest.fixture(scope="module")
def page() -> str:
    return render(dialect("directml"), parse_target("directml:5.0"))


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


@pytest.mark.slow
def test_every_operator_and_level_is_there(reader):
    table = dialect("directml")
    heads = [said.removesuffix("target") for found, said in reader.all("th") if found.get("scope") == "col"]
    assert heads[1 : 1 + len(table.levels)] == list(table.levels)
    assert [found["data-operator"] for found, _ in reader.all("tr") if "data-operator" in found] == table.operators
    assert [found["data-operator"] for found, _ in reader.all("details")] == table.operators
    cells = [found["aria-label"] for found, _ in reader.all("td") if "aria-label" in found]
    assert len(cells) == len(table.operators) * len(table.levels)
    there = sum(len(table.operator(name).levels) for name in table.operators)
    assert cells.count("not available") == len(cells) - there
    assert sum("new" in cell.split(", ") for cell in cells) == len(table.operators)


def test_every_rule_has_an_anchor_and_every_link_inside_leads_somewhere(reader):
    ids = [found["id"] for _, found in reader.seen if "id" in found]
    assert len(ids) == len(set(ids))
    table = dialect("directml")
    for name in table.operators:
        spec = table.operator(name)
        forms = [*spec.rule_forms, *(form for overlay in spec.overlays for form in overlay.rules)]
        assert {f"directml/{name}/{form.name}" for form in forms} <= set(ids)
    assert {f"directml/tensor/{form.name}" for form in table.tensor_rules} <= set(ids)
    links = [found["href"] or "" for found, _ in reader.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    outside = [link for link in links if not link.startswith("#")]
    assert outside
    assert all(link.startswith("https://github.com/") and "/blob/" in link for link in outside)


def test_the_page_loads_nothing_and_runs_only_its_own_script(page, reader):
    assert not LOADING & {name for _, found in reader.seen for name in found}
    assert {tag for tag, _ in reader.seen}.isdisjoint({"link", "img", "iframe", "object", "base", "embed"})
    assert not [name for _, found in reader.seen for name in found if name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page
    (policy,) = (found["content"] for found, _ in reader.all("meta") if found.get("http-equiv"))
    assert (policy or "").startswith("default-src 'none'; ")
    for part in ("style", "script"):
        ((_, content),) = reader.all(part)
        assert f"{part}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in (policy or "")


def test_without_a_script_only_the_filter_is_hidden(reader):
    assert [found["id"] for _, found in reader.seen if "hidden" in found] == ["filters"]


def test_the_targets_column_and_rows_are_marked(reader):
    assert [said for found, said in reader.all("th") if found.get("class") == "target"] == ["5.0target"]
    marked = [found for found, _ in reader.all("td") if found.get("class") == "target"]
    assert len(marked) == len(dialect("directml").operators)


def test_cells_say_what_colours_say(reader):
    signs = {(found["class"], said[:1]) for found, said in reader.all("span") if found.get("class") in _CLASSES}
    assert signs == {("absent", ""), ("limited", "◐"), ("full", "●")}


_CLASSES = {"absent", "limited", "full"}


def test_the_page_stays_small(page):
    assert len(page.encode()) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_other_dialects_have_a_page_too(name):
    reader = Reader(render(dialect(name), None))
    assert [found["data-operator"] for found, _ in reader.all("details")] == dialect(name).operators
    assert not [found for _, found in reader.seen if found.get("class") == "target"]


def test_an_operators_name_alone_leads_to_it(reader, page):
    """``#GEMM`` is the row in the matrix without a script; with one the operator's details open."""
    rows = {found["id"]: found for found, _ in reader.all("tr") if "id" in found}
    assert list(rows) == dialect("directml").operators
    assert all(found["data-operator"] == name for name, found in rows.items())
    assert "named(id) ??" in page
