"""Build of the whole site into a folder."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from docs.agreement import agreement_page
from docs.compare import compare_page
from docs.data import data_files
from docs.frame import Page, render
from docs.home import OPSET_QUESTION, dialect_page, first_page, rules_page
from docs.levels import level_pages
from docs.matrix import matrix_page
from docs.operators import operator_page_of
from docs.reference import reference_pages
from docs.rule_ids import operator_rules, other_rules, tensor_rule_names
from docs.rules import other_rule_page, rule_page_of
from docs.runtime import runtime_pages
from docs.written import written_pages
from specgate.dialects import BUILT_IN
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["ASSETS", "build", "pages"]

ASSETS: Final = Path(__file__).parent / "assets"


def build(to: Path, only: Collection[str] = ()) -> int:
    """Write the site into the folder `to`; return the number of pages.

    The folder is created or emptied. only: ids of the operators (``directml/ONE_HOT``) that get pages; all if empty.
    Other pages are always written.
    """
    if to.exists():
        if any(to.iterdir()) and not (to / "assets" / "site.js").is_file():
            raise FileExistsError(f"{to} contains files that are not a generated site")
        shutil.rmtree(to)
    to.mkdir(parents=True)
    shutil.copytree(ASSETS, to / "assets")
    count = 0
    found_by = [("runtime/index.html", OPSET_QUESTION, "")]
    for page in pages(only):
        path = to / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(page), encoding="utf-8")
        count += 1
        if not page.by_operator:
            found_by.append((page.path, page.title, _words(page.main)))
    for name, content in data_files(found_by, only):
        path = to / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return count


def _words(content: str) -> str:
    """Return the different words of a page, in lower case, for the search."""
    plain = unescape(re.sub(r"<[^>]*>", " ", content)).lower()
    return " ".join(dict.fromkeys(re.findall(r"\w[\w.-]*\w", plain)))


def pages(only: Collection[str] = ()) -> Iterator[Page]:
    """Yield every page."""
    yield first_page()
    yield matrix_page()
    yield rules_page()
    yield compare_page()
    yield agreement_page()
    yield from level_pages()
    yield from written_pages()
    yield from reference_pages()
    yield from runtime_pages()
    yield from (other_rule_page(*rule) for rule in other_rules())
    for name in BUILT_IN:
        every = dialect(name).operators
        operators = [operator for operator in every if not only or f"{name}/{operator}" in only]
        yield dialect_page(name, operators)
        yield from (rule_page_of(name, "tensor", rule) for rule in tensor_rule_names(name))
        for operator in operators:
            yield operator_page_of(name, operator)
            for rule in operator_rules(dialect(name).operator(operator)):
                yield rule_page_of(name, operator, rule)
