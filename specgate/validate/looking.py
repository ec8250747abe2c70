"""Properties that an implementation enforces, fully or in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import ImplementationEntry, ObservedEntry

    Unsure = Literal["nondeterministic", "partially_enforced"]

__all__ = ["UNSURE", "about", "aspect", "entries_of", "looked_at", "named_rules", "of_outputs"]

#: Keys of rules that an implementation does not always enforce.
UNSURE: Final[tuple[Unsure, ...]] = ("nondeterministic", "partially_enforced")


def about(spec: OperatorSpec, implementation: str) -> ImplementationEntry | None:
    """Return the dialect's entry for an implementation."""
    return spec.dialect.tables.about.get("implementations", {}).get(implementation)


def looked_at(spec: OperatorSpec, implementation: str, ids: Iterable[str]) -> set[str]:
    """Return the finding ids that the implementation checks at all."""
    entry = about(spec, implementation)
    ignored = set(entry.get("ignores", ())) if entry else set()
    return {
        finding
        for finding in ids
        if aspect(finding) not in ignored and not ("outputs" in ignored and of_outputs(spec, finding))
    }


def of_outputs(spec: OperatorSpec, finding: str, *, observed: bool = False) -> bool:
    """Return whether a rule compares declared output types or shapes.

    observed: also look for rules that only builds enforce.
    """
    outputs = {info.name for info in spec.outputs}
    name = finding.rpartition("/")[2]
    own = [form for overlay in spec.overlays for form in overlay.rules] if observed else []
    forms = [form for form in (*spec.rule_forms, *own) if form.name == name]
    return bool(forms) and all(form.require.fields & outputs for form in forms)


def aspect(finding: str) -> str:
    """Return the subject of a finding: type, rank, value, structure or rule."""
    field, dot, what = finding.rpartition("/")[2].rpartition(".")
    if finding.endswith("/unknown-attribute"):
        return "structure"
    if not dot or not field:
        return "rule"
    if what == "same-type":
        return "type"
    return what if what in {"type", "rank", "value"} else "structure"


def entries_of(spec: OperatorSpec, level: str, implementation: str) -> Iterator[ObservedEntry]:
    """Yield observations of an implementation at a level.

    They are those of the operator and those of all tensors.
    """
    tensors = spec.dialect.tables.tensor.observed
    for entry in (*spec.table.observed, *tensors):
        if level in spec.dialect.level_set(entry["builds"]) and entry.get("by") in {None, implementation}:
            yield entry


def named_rules(key: Unsure, spec: OperatorSpec, level: str, implementation: str) -> set[str]:
    """Return the rules that an implementation's entries list under a key."""
    entries = entries_of(spec, level, implementation)
    return {name for entry in entries if key in entry for name in entry[key]}
