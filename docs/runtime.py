"""Operator support of ONNX Runtime.

Lists the kernels that providers register by release, and the operators that lose their DirectML kernel at an opset.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from docs.frame import Page, breadcrumb, command, link, listing, section, table
from docs.twins import directml_by_onnx
from specgate.report.markup import Markup, tag, text
from specgate.report.rule_links import operator_page
from specgate.runtimes.onnxruntime.registrations import known_releases, registrations, runtime_tables
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.runtimes.onnxruntime.registrations import Registration

__all__ = ["operators_leaving", "opset_table", "registered_kernels", "runtime_pages"]

_GPU: Final = "DirectML"
_WHY: Final = (
    "ONNX Runtime {release} registers its DirectML kernels per operator version. A model at a newer opset may use "
    "a version that has no kernel: that node then runs on the CPU, and its tensors are copied."
)


@cache
def _releases(provider: str) -> tuple[str, ...]:
    """Return the minor releases with known registrations, oldest first."""
    minors = dict.fromkeys(release.minor for release in known_releases() if provider in release.registered)
    order = list(runtime_tables()["releases"])
    return tuple(sorted(minors, key=order.index))


@cache
def _newest() -> tuple[str, int]:
    """Return the newest release with DirectML and its newest opset."""
    releases = [release for release in known_releases() if _GPU in release.registered]
    return releases[-1].minor, releases[-1].opsets["ai.onnx"]


def _split_operator(operator: str) -> tuple[str, str]:
    domain, _, name = operator.rpartition(".")
    return domain, name


def registered_kernels(operator: str) -> list[Markup]:
    """Return the registered kernels of an ONNX operator.

    Includes the DirectML operators to which its nodes are lowered.
    """
    parts = []
    rows = [row for provider in runtime_tables()["providers"] for row in _stretches(provider, operator)]
    if rows:
        heads = ("provider", "releases", "kernels for versions")
        parts.append(table("Kernels that ONNX Runtime registers", heads, rows))
    descriptors = directml_by_onnx().get(operator, ())
    if descriptors:
        links = Markup(", ".join(link(operator_page("directml", name), name) for name in descriptors))
        parts.append(tag("p", "On DirectML a node becomes ", links, "."))
    spec = dialect("onnx").operator(operator)
    newest, _ = _newest()
    if spec.dialect.parent is None and rows:
        gone = [opset for opset, names in operators_leaving().items() if operator in names]
        for opset in gone:
            message = f"DirectML of ONNX Runtime {newest} has no kernel from "
            parts.append(
                tag("p", message, link(f"runtime/opset-{opset}.html", f"opset {opset}"), " on: nodes run on the CPU.")
            )
    return parts


def _stretches(provider: str, operator: str) -> Iterator[tuple[str, str, str]]:
    domain, name = _split_operator(operator)
    groups: list[tuple[str, list[str]]] = []
    for release in _releases(provider):
        versions = _versions(registrations(provider, release).of(domain, name))
        if groups and groups[-1][0] == versions:
            groups[-1][1].append(release)
        else:
            groups.append((versions, [release]))
    for versions, releases in groups:
        if any(versions for versions, _ in groups):
            yield provider, f"{releases[0]} to {releases[-1]}", versions or "none"


def _versions(kernels: Sequence[Registration]) -> str:
    spans = dict.fromkeys(
        str(kernel.version) if kernel.until in {None, kernel.version} else f"{kernel.version} to {kernel.until}"
        for kernel in kernels
    )
    return ", ".join(spans)


@cache
def _on_gpu(opset: str) -> Mapping[str, bool]:
    """Return for each operator of ai.onnx whether DirectML has a kernel.

    Applies to the newest release and the given opset.
    """
    registry = registrations(_GPU, _newest()[0])
    kernels = {}
    table_ = dialect("onnx")
    for operator in table_.operators:
        spec = table_.operator(operator)
        if spec.dialect.parent is not None or opset not in spec.levels:
            continue
        since = spec.row_at(opset)
        kernels[operator] = since is not None and any(kernel.holds(int(since)) for kernel in registry.of("", operator))
    return kernels


@cache
def operators_leaving() -> Mapping[str, list[str]]:
    """Return by opset the operators that lose their DirectML kernel.

    These have a kernel at the opset before.
    """
    levels = dialect("onnx").levels
    releases_by_operator = {}
    for before, opset in pairwise(levels):
        now = _on_gpu(opset)
        releases_by_operator[opset] = [
            name for name, had in _on_gpu(before).items() if had and name in now and not now[name]
        ]
    return {opset: names for opset, names in releases_by_operator.items() if names}


def opset_table() -> Markup:
    """Return the number of operators with a DirectML kernel per opset."""
    release, most = _newest()
    rows = []
    for opset in reversed(dialect("onnx").levels):
        had = _on_gpu(opset)
        gone = operators_leaving().get(opset, [])
        count = f"{sum(had.values())} of {len(had)}"
        page = link(f"runtime/opset-{opset}.html", f"{len(gone)} lost") if gone else text("none lost")
        columns = (
            "yes" if int(opset) <= most else f"newer than {most}, the newest that the release accepts without a warning"
        )
        rows.append((f"opset {opset}", count, page, columns))
    heads = ("export at", "operators with a DirectML kernel", "compared with the previous opset", "loaded")
    return table(f"DirectML of ONNX Runtime {release}, by opset of the model", heads, rows)


def runtime_pages() -> Iterator[Page]:
    """Yield the page on opsets and releases, and a page per opset.

    Only opsets at which operators lose their DirectML kernel get a page.
    """
    release, _ = _newest()
    best = best_opset()
    after = str(int(best) + 1)
    gone = operators_leaving()[after]
    few = [
        tag("span", f"opset {opset}: ", *_links(names))
        for opset, names in operators_leaving().items()
        if 15 < int(opset) <= int(best)
    ]
    parts = [
        breadcrumb("ONNX Runtime"),
        tag("h1", "Which opset may I export at for DirectML?"),
        tag(
            "p",
            tag("b", f"Opset {best} or lower."),
            f" At opset {after} ",
            link(f"runtime/opset-{after}.html", f"{len(gone)} operators lose their DirectML kernel"),
            f" in ONNX Runtime {release}, such as {', '.join(gone[:8])}.",
            class_="says",
        ),
        tag("p", _WHY.format(release=release)),
        tag("p", "The result depends on the operators of the model, so check the model itself:"),
        command(f"specgate place model.onnx --target onnxruntime-directml:{release}"),
        section("Earlier opsets", tag("p", f"At opset {best} these run on the CPU, unlike at 15:"), listing(few)),
        section("By opset", opset_table()),
        section("Releases", _release_table()),
    ]
    yield Page("runtime/index.html", "Which opset for DirectML? ONNX Runtime by release", Markup("".join(parts)))
    yield from (_opset_page(opset, names) for opset, names in operators_leaving().items())


def _links(names: Sequence[str]) -> Iterator[Markup]:
    for at, name in enumerate(names):
        yield Markup((", " if at else "") + link(operator_page("onnx", name), name))


def best_opset() -> str:
    """Return the opset before the one at which most kernels are lost."""
    return str(int(max(operators_leaving(), key=lambda opset: len(operators_leaving()[opset]))) - 1)


def _opset_page(opset: str, names: Sequence[str]) -> Page:
    release, _ = _newest()
    rows = [
        (
            link(operator_page("onnx", name), name),
            f"version {dialect('onnx').operator(name).row_at(opset)}",
            _version_text(name),
        )
        for name in names
    ]
    title = f"What falls back to the CPU at opset {opset}"
    parts = [
        breadcrumb(link("runtime/index.html", "ONNX Runtime")),
        tag("h1", title),
        tag(
            "p",
            f"{len(names)} operators have a new version at opset {opset} for which DirectML of ONNX Runtime {release} "
            "registers no kernel. Their nodes run on the CPU in models of this opset.",
            class_="says",
        ),
        table(title, ("operator", f"at opset {opset}", "versions with DirectML kernels"), rows),
        section(
            "What to do",
            listing(
                [
                    text(f"Export at opset {int(opset) - 1} or lower, where the model allows it."),
                    tag(
                        "span",
                        "Check the cost: ",
                        tag("code", f"specgate place model.onnx --target onnxruntime-directml:{release}"),
                        " lists the nodes, the copies, and the opset that moves more nodes to DirectML.",
                    ),
                ]
            ),
        ),
    ]
    return Page(f"runtime/opset-{opset}.html", title, Markup("".join(parts)))


def _version_text(operator: str) -> str:
    return _versions(registrations(_GPU, _newest()[0]).of("", operator)) or "none"


def _release_table() -> Markup:
    rows = []
    for release in reversed(known_releases()):
        carried = f"{release.carries[0]} {release.carries[1]}" if release.carries else ""
        rows.append((release.target, f"opset {release.opsets['ai.onnx']}", carried, ", ".join(release.registered)))
    return table(
        "Releases that can be targets", ("target", "newest opset", "includes", "providers with known kernels"), rows
    )
