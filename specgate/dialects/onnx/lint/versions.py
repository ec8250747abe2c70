"""Checks of opset imports and IR versions, in general and per target.

Sources: docs/IR.md and onnx/checker.cc of onnx, commit f75469120.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import format_value
from specgate.dialects.onnx.lint.fixes import lower_ir_version, lower_opset
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS, domain_name, finding, function_key
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.dialects.onnx.lint.units import Body, Place
    from specgate.linting.nodes import Graph
    from specgate.linting.versions import Versions
    from specgate.targets import Target

#: Since this IR version a model imports opsets; before, all operators are those of opset 1.
_IMPORTS_SINCE: Final = 3
_MAX_LISTED: Final = 5


def level_of(domain: str, version: int) -> str | None:
    """Return the level for `version` of a domain, None beyond the tables.

    For ai.onnx that is the opset. For other domains it is the first opset released with this version.
    """
    table = dialect("onnx")
    if not domain:
        return str(version) if str(version) in table.position else None
    if version < 1:
        return None
    for level in table.levels:
        newest = newest_version(domain, level)
        if newest is not None and version <= newest:
            return level
    return None


def newest_version(domain: str, level: str) -> int | None:
    """Return a domain's newest version at a level, None if not in the tables."""
    if not domain:
        return int(level)
    version = dialect("onnx").tables.levels[level].get("domains", {}).get(domain)
    return None if version is None else int(version)


def _newest_ir_version() -> int:
    """Return the highest IR version in the tables."""
    return max(map(int, dialect("onnx").tables.ir_versions))


def complete_imports(model: OnnxModel) -> None:
    """Add the implicit opset 1 to a model older than opset imports."""
    if not model.opset_imports and model.ir_version is not None and model.ir_version < _IMPORTS_SINCE:
        model.opset_imports[""] = 1


def import_findings(model: OnnxModel, walked_bodies: Sequence[Body]) -> Iterator[Finding]:
    """Yield problems with the imports and the IR version of `model`.

    They do not depend on a target. `walked_bodies` are its bodies.
    """
    model_place: Place = (model.file, "model", None)
    if model.ir_version is None:
        yield finding("ir-version", "error", "has no IR version, which is required", model_place)
    elif not 1 <= model.ir_version <= _newest_ir_version():
        message = f"has IR version {model.ir_version}, expected one from 1 to {_newest_ir_version()}"
        yield finding("ir-version", "error", message, model_place, graph_place="ir_version")
    if not model.opset_imports:
        yield finding("opset-missing", "error", "imports no opset, so its operators have no version", model_place)
    yield from _check_imports(model.opset_imports, model.repeated_imports, model_place)
    for function in model.functions:
        place: Place = (model.file, f"function {function.domain}.{function.name}", None)
        yield from _check_imports(function.opset_imports, function.repeated_imports, place)
    yield from _check_used_domains(model, walked_bodies)


def _check_imports(imports: Mapping[str, int], repeated: Mapping[str, list[int]], place: Place) -> Iterator[Finding]:
    for domain, version in imports.items():
        name = format_value(domain_name(domain))
        if version < 1:
            message = f"imports version {version} of {name}; versions start at 1"
            yield finding("opset-version", "error", message, place, graph_place="opset_import")
        if domain in repeated:
            versions = [*repeated[domain], version]
            is_consistent = len(set(versions)) == 1
            listing = ", ".join(map(str, versions[: 2 * _MAX_LISTED]))
            message = f"imports the opset of {name} {len(versions)} times, as version {listing}"
            fix = "keep one of them" if is_consistent else "import one version"
            severity = "note" if is_consistent else "error"
            yield finding("opset-duplicate", severity, message, place, graph_place="opset_import", fix=fix)  # type: ignore[arg-type]


def custom_operators(
    model: OnnxModel, walked_bodies: Sequence[Body], domains: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return node counts of operators in custom domains, by domain.

    Custom domains are neither ONNX's nor in `known`.
    """
    functions = {function_key(function) for function in model.functions}
    entries: dict[str, dict[str, int]] = {}
    for body in walked_bodies:
        for key, count in body.operators.items():
            domain, op_type, _ = key
            if key not in functions and domain not in STANDARD_DOMAINS and domain not in domains:
                counts = entries.setdefault(domain, {})
                counts[op_type] = counts.get(op_type, 0) + count
    return entries


def _check_used_domains(model: OnnxModel, walked_bodies: Sequence[Body]) -> Iterator[Finding]:
    """Yield domains without an import, and imports without operators."""
    used_domains: set[str] = set()
    for body in walked_bodies:
        missing_imports: dict[str, dict[str, int]] = {}
        for (domain, op_type, _), count in body.operators.items():
            used_domains.add(domain)
            if domain not in body.imports:
                counts = missing_imports.setdefault(domain, {})
                counts[op_type] = counts.get(op_type, 0) + count
        if body.imports or body.function is not None:  # a model without any import already has a finding
            for domain, counts in missing_imports.items():
                name = format_value(domain_name(domain))
                message = f"has {_format_counts(counts)} of the domain {name}, but imports no opset of it"
                yield finding(
                    "opset-missing", "error", message, (model.file, body.place, None), graph_place="opset_import"
                )
    place: Place = (model.file, "model", None)
    unused_domains = [domain for domain in model.opset_imports if domain and domain not in used_domains]
    if unused_domains:
        listing = ", ".join(map(format_value, unused_domains[:_MAX_LISTED])) + (
            " …" if len(unused_domains) > _MAX_LISTED else ""
        )
        message = (
            f"imports {'an opset' if len(unused_domains) == 1 else 'opsets'} of {listing}, but has no operator of "
        )
        message += "it" if len(unused_domains) == 1 else "them"
        values = {"domains": unused_domains}
        fix = "remove the import" + "s" * (len(unused_domains) > 1)
        yield finding("opset-unused", "note", message, place, graph_place="opset_import", values=values, fix=fix)


def custom_findings(graph: Graph, targets: Sequence[Target], file: str | None) -> Iterator[Finding]:
    """Yield custom domains in use.

    A warning unless all targets have the domain, else a note.
    """
    place: Place = (file, "model", None)
    for domain, counts in graph.custom.items():
        lacking_targets = [target for target in targets if domain not in target.domains]
        if len(lacking_targets) == len(targets):
            yield _custom_domain_finding(domain, counts, place)
        elif lacking_targets:
            yield from (
                replace(_custom_domain_finding(domain, counts, place), target=str(target)) for target in lacking_targets
            )
        else:
            nodes, environment = _format_counts(counts), targets[0].environment
            message = f"has {nodes} of the domain {format_value(domain)}, which {environment} defines"
            values = {"domain": domain, "operators": dict(counts)}
            yield finding("custom-domain", "note", message, place, values=values)


def _custom_domain_finding(domain: str, counts: Mapping[str, int], place: Place) -> Finding:
    owner = dialect("onnx").tables.foreign.get(domain)
    operators = dialect("onnx").tables.operators
    is_unknown = owner is None or any(f"{domain}.{name}" not in operators for name in counts)
    reason = "its operators are unknown" if owner is None else f"it belongs to {owner}"
    reason += ", and some of these have no table" if owner is not None and is_unknown else ""
    return finding(
        "custom-domain",
        "warning",
        f"has {_format_counts(counts)} of the domain {format_value(domain)}, which is not an ONNX domain: {reason}",
        place,
        values={"domain": domain, "operators": dict(counts)},
        fix=f"if the target supports them, add {format_value(domain)} to custom_domains in the configuration",
    )


def _format_counts(counts: Mapping[str, int]) -> str:
    names = [name if name.isidentifier() else format_value(name) for name in counts]
    listing = ", ".join(names[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")
    total = sum(counts.values())
    return f"{total} node{'' if total == 1 else 's'} ({listing})"


def target_findings(graph: Graph, target: Target, files: list[str], versions: Versions) -> Iterator[Finding]:
    """Yield conflicts of opset imports and IR version with a target.

    `versions` summarizes the checked nodes.
    """
    location = Location(files[0] if files else None, None, "model", None)
    for domain, opset in graph.imports.items():
        newest = newest_version(domain, target.level)
        if newest is None:  # importing a domain unknown to the target is harmless, using its operators is not
            is_above_target = domain in dialect("onnx").domains and any(
                _domain_of(u.operator) == domain for u in graph.units
            )
        else:
            is_above_target = opset > newest
        if is_above_target:
            new_finding = _import_above(domain, opset, newest, target, location, versions)
            edits = () if newest is None else lower_opset(graph, target, domain, newest)
            if edits and versions.plain[domain]:
                new_finding = replace(
                    new_finding, fix=f"{new_finding.fix}; lint --fix removes the attributes and lowers the import"
                )
            yield replace(new_finding, edits=edits)
    readable = target.ir_version if target.alias is not None else None  # only a release of a runtime reads files
    if graph.ir_version is not None and readable is not None and graph.ir_version > readable:
        yield Finding(
            id=f"{graph.dialect}/model/ir-version",
            severity="error",
            message=f"has IR version {graph.ir_version}, but {target.environment} reads those up to {readable}",
            where="ir_version",
            values={"ir_version": graph.ir_version, "target": readable},
            fix=f"save it with IR version {readable}",
            target=str(target),
            location=location,
            edits=lower_ir_version(graph, readable),
        )


def _domain_of(operator: str) -> str:
    return operator.rpartition(".")[0]


def _import_above(
    domain: str, opset: int, newest: int | None, target: Target, location: Location, versions: Versions
) -> Finding:
    table = dialect("onnx")
    first = level_of(domain, opset)
    last = newest_version(domain, table.levels[-1])
    version_text = f"opset {opset}" if not domain else f"version {opset} of {domain}"
    support_text = "does not support that domain" if newest is None else f"supports up to {newest}"
    text = f"version {newest} of {domain}" if domain else f"opset {newest}"
    nodes, equal_nodes = versions.newer[domain], versions.unchanged[domain]
    if equal_nodes == nodes:
        nodes_text = "its node exists" if nodes == 1 else f"all {nodes} nodes exist"
    else:
        nodes_text = (
            f"{equal_nodes} of {nodes} nodes {'exists' if equal_nodes == 1 else 'exist'}"
            if equal_nodes
            else "no node exists"
        )
    unchanged_text = f"; {nodes_text} unchanged at {newest}"
    plain_count, names = versions.plain[domain], list(versions.defaults.get(domain, ()))
    if plain_count:
        listing = ", ".join(names[:_MAX_LISTED]) + (" …" if len(names) > _MAX_LISTED else "")
        unchanged_text += (
            f", and {plain_count} more do after removing {listing} (default values that the target does not define)"
        )
    return Finding(
        id="onnx/model/opset-import",
        severity="error",
        message=f"uses {version_text}, but the target {support_text}"
        + (f"; the tables end at {last}" if last is not None and opset > last else "")
        + (unchanged_text if nodes and newest is not None else ""),
        where="opset_import",
        values={
            "opset_import": opset,
            "target": None if newest is None else str(newest),
            "nodes": nodes,
            "the same": equal_nodes,
            **({"the same without defaults": plain_count} if plain_count else {}),
        },
        first_level=first,
        levels=() if first is None else tuple(table.levels[table.position[first] :]),
        fix=None if newest is None else f"export for {text} or lower",
        target=str(target),
        location=location,
    )
