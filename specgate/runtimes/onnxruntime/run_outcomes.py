"""Outcomes of invalid nodes on the CPU provider.

The provider rejects such a node, fails at run time, or computes outputs. The data is loading.yaml, and for rules that
do not prevent a session runs.yaml, in the folder of the runtime.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.runtimes.onnxruntime.load_checks import VersionedRule, is_of, loading_of, node_state, refusals, rule_holds
from specgate.runtimes.onnxruntime.lowering.expressions import holds_at, rule_of, scope_of, versions_of
from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.registrations import release_position, runtime_tables
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.accepting_levels import aspect, compares_outputs
from specgate.validate.check import accepts, check_at

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.runtimes.onnxruntime.lowering.schema import Schema
    from specgate.verdict import Finding

#: Rule groups that a schema states.
_SCHEMA: Final = ("structure", "type")
#: No session; a session whose runs all fail; a session that computes an output; not measured.
Outcome = Literal["refused", "fails", "runs", "unknown"]


class _Runs(NamedTuple):
    """The entries of one operator in one release.

    schema: None if no entry has a condition.
    """

    runs: tuple[VersionedRule, ...]
    fails: tuple[VersionedRule, ...]
    schema: Schema | None

    def matching_rules(self, entries: tuple[VersionedRule, ...], descriptor: Descriptor, version: int) -> set[str]:
        """Return the rules of the entries that apply to a descriptor."""
        return {
            entry.name
            for entry in entries
            if holds_at(entry.since, entry.until, version)
            and (
                entry.when is None
                or (self.schema and rule_holds(node_state(self.schema, descriptor, version), entry.when))
            )
        }


def outcome(descriptor: Descriptor, rule: str, release: str) -> Outcome:
    """Return the behaviour of a release's CPU provider on an invalid node.

    descriptor: of the models' dialect, with its version. rule: the broken rule or cell, which is the last part of a
    finding's id: ``axis-range``, ``mode.value``, ``X.rank``.
    """
    if descriptor.version is None:
        return "unknown"
    if any(finding.id.rpartition("/")[2] == rule for finding in refusals(descriptor, release, on_cpu=True)):
        return "refused"
    runs, version = _runs_of(descriptor.operator, release), int(descriptor.version)
    if rule in runs.matching_rules(runs.runs, descriptor, version):
        return "runs"
    if rule in runs.matching_rules(runs.fails, descriptor, version):
        return "fails"
    general = runtime_tables()["runs"]
    if general["schemas"] and aspect(f"/{rule}") in _SCHEMA:
        return "refused"
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    if general["outputs"] and compares_outputs(spec, rule, observed=True):
        return "runs"
    return "unknown"


def run_failure(
    descriptor: Descriptor | None, release: str, *, on_cpu: bool = True, inputs: int = 0
) -> tuple[Finding, bool] | None:
    """Return why every run of a node on the CPU fails, None if unknown.

    on_cpu: whether the checks of the CPU kernel apply; they do not if the node is the call of a function. inputs: how
    many inputs the node lists, named or not. The flag says whether the reason is a rule of the dialect. The session is
    created; `load_checks.refusal` covers nodes that prevent it.
    """
    if descriptor is None or descriptor.version is None:
        return None
    load_failure = loading_of(descriptor.operator, release).failing_check(
        descriptor, on_cpu=on_cpu, at_run=True, inputs=inputs
    )
    if load_failure is not None:
        return load_failure, False
    runs, version = _runs_of(descriptor.operator, release), int(descriptor.version)
    if not runs.fails or accepts(descriptor, descriptor.version, "documented") is not False:
        return None
    rule_names = runs.matching_rules(runs.fails, descriptor, version) - runs.matching_rules(
        runs.runs, descriptor, version
    )
    findings = check_at(descriptor, descriptor.version, "documented").findings if rule_names else ()
    return next(((finding, True) for finding in findings if finding.id.rpartition("/")[2] in rule_names), None)


def with_open_outputs(descriptor: Descriptor) -> Descriptor:
    """Return a descriptor whose outputs have unknown shapes."""
    outputs = dialect(descriptor.dialect).operator(descriptor.operator).outputs
    fields = dict(descriptor.fields)
    for name in {info.name for info in outputs} & fields.keys():
        fields[name] = _without_sizes(fields[name])
    return replace(descriptor, fields=fields, plain=False)


def _without_sizes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_sizes(item) for item in value]
    return value._replace(sizes=None) if isinstance(value, TensorDesc) else value


@cache
def _runs_of(operator: str, release: str) -> _Runs:
    raw = runtime_tables()["runs"]["operators"].get(operator, {})
    pos = release_position(release)
    matching_entries = {key: [entry for entry in raw.get(key, ()) if is_of(entry, pos)] for key in ("runs", "fails")}
    conditional = any("when" in entry for entries in matching_entries.values() for entry in entries)
    schema = schema_from(operator, None) if conditional else None

    def entry(raw: dict[str, str]) -> VersionedRule:
        condition = rule_of(raw["when"], scope_of(raw, schema.scope), "truth") if schema and "when" in raw else None
        return VersionedRule(raw["rule"], *versions_of(raw), when=condition)

    return _Runs(tuple(map(entry, matching_entries["runs"])), tuple(map(entry, matching_entries["fails"])), schema)
