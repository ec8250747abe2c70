"""The matrix of a dialect: operators down, levels across."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.report.markup import Markup, breakable, tag
from specgate.report.page import scrolled
from specgate.spec.history import more_from, steps

if TYPE_CHECKING:
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.history import Step
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["legend", "matrix"]

#: A cell's sign and words by its class: they distinguish what the colours do.
_SIGNS: Final = {"absent": ("", "not there"), "limited": ("◐", "there"), "full": ("●", "as much as the newest level")}
_STEPS: Final = {"new": ("+", "new"), "changed": ("Δ", "changed here")}


def matrix(table: Dialect, level: str | None) -> Markup:
    """Return the matrix, the column of `level` marked."""
    heads = [_head(name, marked=name == level) for name in table.levels]
    head = tag("thead", tag("tr", tag("th", "operator", class_="name", scope="col"), *heads))
    rows = [_row(table.operator(name), table, level) for name in table.operators]
    caption = f"Operators by {table.level_word}"
    whole = tag("table", tag("caption", tag("span", caption)), head, tag("tbody", *rows), class_="support")
    return scrolled(whole, caption)


def _head(name: str, *, marked: bool) -> Markup:
    if not marked:
        return tag("th", name, scope="col")
    return tag("th", name, tag("span", "target", class_="mark"), scope="col", class_="target")


def _row(spec: OperatorSpec, table: Dialect, target: str | None) -> Markup:
    own = steps(spec)
    stepped: dict[str, Step] = {}
    cells, limited, before = [], [], None
    for level in table.levels:
        at = spec.level_for(level)  # several levels may have one version of a domain
        if at is not None and at != before and at in own:
            stepped[level] = own[at]
        before = at
        kind = "absent" if at is None or at not in spec.levels else "limited" if more_from(spec, at) else "full"
        limited += [level] if kind == "limited" else []
        cells.append(_cell(kind, stepped.get(level), marked=level == target))
    link = tag("a", breakable(spec.name), href=f"#{spec.dialect.name}/{spec.name}")
    data = {"data_changed": " ".join(stepped), "data_limited": " ".join(limited)}
    return tag("tr", tag("th", link, class_="name", scope="row"), *cells, id=spec.name, data_operator=spec.name, **data)


def _cell(kind: str, step: str | None, *, marked: bool) -> Markup:
    sign, said = _SIGNS[kind]
    extra, more = _STEPS[step] if step else ("", "")
    label = f"{said}, {more}" if more else said
    shown = tag("span", sign, tag("b", extra) if extra else Markup(), class_=kind)
    return tag("td", shown, aria_label=label, title=label, class_="target" if marked else False)


def legend() -> Markup:
    """Return what the signs mean."""
    signs = [(kind, sign, said) for kind, (sign, said) in _SIGNS.items()]
    signs += [("", sign, said) for sign, said in _STEPS.values()]
    keys = [
        tag(
            "li",
            tag("span", sign, class_=f"key {kind}".strip()),
            f" {said}{', a later level takes more' * (kind == 'limited')}",
        )
        for kind, sign, said in signs
    ]
    return tag("ul", *keys, class_="legend")
