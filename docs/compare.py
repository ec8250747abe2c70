"""Comparison of equivalent operators in the dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.frame import Page, breadcrumb, link, section, table
from docs.twins import equivalents_by_operator
from specgate.dialects import BUILT_IN
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["compare_page"]


def compare_page() -> Page:
    """Return the comparison by ONNX operator.

    Also lists the operators that exist in one dialect only.
    """
    directml, onnx, openvino = BUILT_IN
    rows = [
        (_render_operator(onnx, name), *(_cell(other, operators.get(other, ())) for other in (directml, openvino)))
        for name, operators in equivalents_by_operator().items()
    ]
    heads = [dialect(name).tables.title for name in (onnx, directml, openvino)]
    both = {
        (name, op) for operators in equivalents_by_operator().values() for name, ops in operators.items() for op in ops
    }
    both |= {(onnx, name) for name in equivalents_by_operator()}
    parts = [
        breadcrumb("Dialects compared"),
        tag("h1", "Dialects compared"),
        tag(
            "p",
            f"{len(rows)} ONNX operators have a counterpart. In DirectML it is the operator to which ONNX Runtime "
            "lowers the node, or the one of the same name; in OpenVINO the one of the same name or in a curated list. "
            "Their limits differ.",
            class_="says",
        ),
        table("Corresponding operators", heads, rows),
    ]
    for name in BUILT_IN:
        alone = [operator for operator in dialect(name).operators if (name, operator) not in both]
        links = [tag("li", link(operator_page(name, operator), operator)) for operator in alone]
        parts.append(section(f"Only in {dialect(name).tables.title}", tag("ul", *links, class_="names")))
    return Page("compare.html", "Dialects compared", Markup("".join(parts)))


def _render_operator(name: str, operator: str) -> Markup:
    levels = dialect(name).operator(operator).levels
    return tag("span", link(operator_page(name, operator), operator), " ", tag("small", str(levels)))


def _cell(name: str, operators: Sequence[str]) -> Markup:
    return Markup("".join(_join_operators(name, operators)))


def _join_operators(name: str, operators: Sequence[str]) -> Iterator[str]:
    for at, operator in enumerate(operators):
        yield text(", ") if at else ""
        yield _render_operator(name, operator)
