"""Checks of the runtime at load time that differ from the onnx package's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import format_value
from specgate.descriptors.positional import positional
from specgate.dialects.onnx.lint.references import RULES
from specgate.dialects.onnx.lint.units import function_key, function_place, label, subgraphs
from specgate.runtimes.onnxruntime.lowering.expressions import check_of, condition_rule, holds_at, versions_of
from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal, State, UnknownValue
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.runtimes.onnxruntime.registrations import minor_release, release_position, runtime_tables
from specgate.runtimes.onnxruntime.schemas import own_schema, schema_of
from specgate.spec.tables import dialect
from specgate.validate.accepting_levels import UNSURE, aspect, checked_ids, compares_outputs, named_rules
from specgate.validate.check import accepts, check_at
from specgate.validate.witness import rejecting_implementations
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel
    from specgate.linting.nodes import Graph
    from specgate.rules.language import Rule
    from specgate.runtimes.onnxruntime.graph import Body
    from specgate.runtimes.onnxruntime.lowering.expressions import Check
    from specgate.runtimes.onnxruntime.lowering.schema import Schema
    from specgate.runtimes.onnxruntime.schemas import Param
    from specgate.runtimes.onnxruntime.schemas import Schema as OwnSchema

#: Rule groups that a schema states.
_SCHEMA: Final = ("structure", "type")


def own_refusals(descriptor: Descriptor, loading: LoadBehavior, release: str, *, on_cpu: bool) -> Iterator[Finding]:
    """Yield why a release rejects a node of one of the contrib operators.

    known: the operator's entry of loading.yaml in the release. on_cpu: whether the checks of the CPU kernel apply.
    """
    domain, _, operator = descriptor.operator.rpartition(".")
    version = int(descriptor.version or 0)
    release_schema, newest = (
        own_schema(domain, operator, version, schema_release) for schema_release in (release, None)
    )
    if release_schema is None or newest is None:
        return
    newer = _newer_part(descriptor, release_schema, newest)
    if newer:
        yield Finding(
            f"onnxruntime/{descriptor.operator}/newer", "error", f"{minor_release(release)} does not have {newer}"
        )
        return
    changed_fields = _changed_fields(descriptor, release_schema, newest)  # which the table describes differently
    verdict = check_at(descriptor, str(version), "documented")
    if verdict.accepted is not False:
        return
    names = set() if changed_fields else loading.checks_of(version, on_cpu=on_cpu)
    skipped = loading.unenforced_rules(set(), version)
    for finding in verdict.findings:
        name = finding.id.rpartition("/")[2]
        of_schema = aspect(finding.id) in _SCHEMA and finding.where not in changed_fields
        if name in names or (of_schema and name not in skipped):
            yield finding


def _changed_fields(descriptor: Descriptor, own_schema: OwnSchema, newest: OwnSchema) -> set[str]:
    """Return the inputs and outputs that two schemas constrain differently."""
    layout = dialect(descriptor.dialect).operator(descriptor.operator).layout(descriptor.version or "")
    ends = (own_schema.inputs, newest.inputs, layout.inputs), (own_schema.outputs, newest.outputs, layout.outputs)
    return {
        field.name
        for older, new_fields, fields in ends
        for old, new, field in zip(older, new_fields, fields, strict=False)
        if _constraint(old) != _constraint(new)
    }


def _constraint(param: Param) -> tuple[str, bool, bool]:
    return param.only or param.limited, param.optional, param.several


def _newer_part(descriptor: Descriptor, own_schema: OwnSchema, newest: OwnSchema) -> str:
    """Return the first part of a node that only the newest schema defines.

    An empty text stands for none.
    """
    layout = dialect(descriptor.dialect).operator(descriptor.operator).layout(descriptor.version or "")
    ends = (("input", own_schema.inputs, layout.inputs), ("output", own_schema.outputs, layout.outputs))
    for end, places, fields in ends:
        tensors = positional(descriptor.fields, fields)
        last = max((index for index, tensor in enumerate(tensors, 1) if tensor is not None), default=0)
        if last > len(places) and not (places and places[-1].several):
            return f"{end} {last - 1}, which is {fields[last - 1].vendor_name}"
    before, after = ({info.vendor_name: info.default for info in schema.attributes} for schema in (own_schema, newest))
    new_attributes = sorted((after.keys() - before.keys()) & descriptor.fields.keys())
    if new_attributes:
        return f"attribute {new_attributes[0]}"
    defaults = {name for name, default in after.items() if default is not None and before.get(name, default) is None}
    missing_names = sorted(defaults - descriptor.fields.keys())
    return f"default of {missing_names[0]}" if missing_names else ""


class VersionedRule(NamedTuple):
    """A rule of the dialect with its range of operator versions.

    The range includes its first version and excludes its end. cpu: only the CPU kernel enforces the rule. when: only
    for nodes for which this holds.
    """

    name: str
    since: int
    until: int | None
    cpu: bool = False
    when: Rule | None = None


class LoadBehavior(NamedTuple):
    """Load-time behavior of one operator in one release.

    takes: rules that it skips. asks: rules that it always enforces.
    """

    takes: tuple[VersionedRule, ...]
    asks: tuple[VersionedRule, ...]
    schema: Schema | None
    checks: tuple[Check, ...]

    def checks_of(self, version: int, *, on_cpu: bool) -> set[str]:
        """Return the rules that are always enforced at a version.

        on_cpu: whether the checks of the CPU kernel apply.
        """
        ruleds = (check for check in self.asks if on_cpu or not check.cpu)
        return {check.name for check in ruleds if holds_at(check.since, check.until, version)}

    def unenforced_rules(self, uncertain_rules: set[str], version: int) -> set[str]:
        """Return the uncertain rules that are not enforced at a version."""
        accepted_rules, enforced_rules = (
            {rule.name for rule in rules if holds_at(rule.since, rule.until, version)}
            for rules in (self.takes, self.asks)
        )
        return (uncertain_rules - enforced_rules) | accepted_rules

    def failing_check(
        self, descriptor: Descriptor, *, on_cpu: bool, at_run: bool = False, inputs: int = 0
    ) -> Finding | None:
        """Return the finding of a check that surely fails, or None.

        at_run: evaluate the checks of every run instead of those at session creation. inputs: how many inputs the node
        lists, trailing ones without a name included.
        """
        if not self.checks or self.schema is None or descriptor.version is None:
            return None
        version = int(descriptor.version)
        state = node_state(self.schema, descriptor, version)
        for check in self.checks:
            result = holds_at(check.since, check.until, version) and check.at_run == at_run
            result = result and (check.inputs is None or inputs <= check.inputs)
            if result and (on_cpu or not check.cpu) and rule_holds(state, check.when):
                return Finding(f"onnxruntime/{descriptor.operator}/{check.name}", "error", check.because)
        return None


def node_state(schema: Schema, descriptor: Descriptor, version: int) -> State:
    """Return the values of a node for conditions of tables."""
    return State(schema.values(descriptor, version), {}, {}, lowering_tables()["general"], schema.operator)


def rule_holds(state: State, rule: Rule) -> bool:
    """Return whether a condition on a node certainly holds."""
    try:
        return state.holds(rule)
    except (UnknownValue, ProviderRefusal):  # unknown or undefined
        return False


@cache
def condition_of(operator: str, condition_text: str, version: int) -> Callable[[Descriptor], bool]:
    """Return a predicate for a condition on one version of an operator.

    The predicate is true for a node only if the condition certainly holds.
    """
    condition = condition_rule(operator, condition_text, version)
    if condition is None:
        return lambda _: False
    schema, rule = condition
    return lambda descriptor: rule_holds(node_state(schema, descriptor, version), rule)


@cache
def loading_of(operator: str, release: str) -> LoadBehavior:
    """Return the load-time behavior of an operator in a release.

    operator: its name in the dialect's tables.
    """
    raw = runtime_tables()["loading"]["operators"].get(operator, {})
    position = release_position(release)
    accepted_rules, enforced_rules = (
        tuple(
            VersionedRule(entry["rule"], *versions_of(entry), entry.get("cpu", False))
            for entry in raw.get(key, ())
            if is_of(entry, position)
        )
        for key in ("takes", "asks")
    )
    refusal_entries = {name: entry for name, entry in raw.get("refuses", {}).items() if is_of(entry, position)}
    schema = schema_from(operator, None) if refusal_entries else None
    checks = (
        () if schema is None else tuple(check_of(name, entry, schema.scope) for name, entry in refusal_entries.items())
    )
    return LoadBehavior(accepted_rules, enforced_rules, schema, checks)


def is_of(entry: Mapping[str, Any], position: int) -> bool:
    """Return whether a compiled entry applies to the release at a position."""
    return bool(entry["first"] <= position <= entry["last"])


class FileRule(NamedTuple):
    """A rule on a whole file that a release enforces at load time.

    read: only if a node reads the constant that the finding names. constants: where Constant nodes may break the rule
    ("graph": the main graph; "body": bodies too; "": nowhere). uncalled: also in functions without a call. bodies: only
    in bodies, not in the main graph. absent: only if the file omits the subject of the rule.
    """

    read: bool
    constants: str
    uncalled: bool
    bodies: bool
    absent: bool


@cache
def refusing_rules(release: str) -> Mapping[str, FileRule]:
    """Return the file rules that a release enforces at load time.

    The keys are the ids of their findings.
    """
    position = release_position(release)
    rules = runtime_tables()["loading"]["models"]
    return {
        f"onnx/model/{name}": FileRule(
            bool(rule["read"]), rule["constants"] or "", *(bool(rule[key]) for key in ("uncalled", "bodies", "absent"))
        )
        for name, rule in rules.items()
        if is_of(rule, position)
    }


def unloadable_types(release: str) -> frozenset[str]:
    """Return the element types of values with which a model does not load."""
    position = release_position(release)
    return frozenset(name for name, entry in runtime_tables()["loading"]["types"].items() if is_of(entry, position))


#: The onnx package's checks, which the runtime contains.
_LOADING: Final = ("checker", "inference")
#: The enforcer of checks in CPU kernels.
_KERNEL_ENFORCER: Final = "onnxruntime"


def refusing_findings(graph: Graph, main: Body, release: str) -> list[Finding]:
    """Return the findings on the file for which a release does not load it.

    main: its main graph as it is placed.
    """
    rules = refusing_rules(release) if graph.findings else {}
    return [
        finding
        for finding in graph.findings
        if finding.id in rules
        and finding.severity == RULES[finding.id.rpartition("/")[2]][0]  # otherwise a milder form
        and _counts(finding, rules[finding.id], graph.source.model, main)
    ]


def _counts(finding: Finding, rule: FileRule, model: OnnxModel, main: Body) -> bool:
    """Return whether a finding prevents a release from loading the file."""
    place = _finding_place(finding)
    if rule.constants and finding.values.get("constants") in ("graph", rule.constants):
        return False
    if (rule.bodies and place == "graph") or (rule.absent and finding.where):
        return False
    if rule.read and _is_unused_constant(finding, model.graph, main):
        return False
    of_function = finding.id.startswith("onnx/model/function-")
    return of_function or rule.uncalled or not place.startswith("function ") or _is_in_called_function(model, place)


def _is_in_called_function(model: OnnxModel, place: str) -> bool:
    """Return whether a place is in a function that the main graph calls.

    Indirect calls count.
    """
    functions = {function_key(function): function for function in model.functions}
    waiting, visited = [model.graph.nodes], set()
    while waiting:
        for node in waiting.pop():
            key = function_key(node)
            if key in functions and key not in visited:
                visited.add(key)
                own_place = function_place(functions[key])
                if place == own_place or place.startswith(f"{own_place}/"):
                    return True
                waiting.append(functions[key].nodes)
            waiting += [inner.nodes for _, inner in subgraphs(node)]
    return False


def refused_models(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield why a release rejects a model with these findings, once per rule."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.id, []).append(finding)
    for first, *other_models in by_rule.values():
        remainder = f" (and {len(other_models)} more)" if other_models else ""
        yield f"{_finding_place(first)}: {first.message}{remainder}"


def _is_unused_constant(finding: Finding, graph: OnnxGraph, main: Body) -> bool:
    """Return whether a finding names an unused constant of the main graph."""
    place = _finding_place(finding)
    if place == "graph":
        names = [finding.values.get("initializer")]
    else:
        constants = ((i, node) for i, node in enumerate(graph.nodes) if node.op_type == "Constant")
        names = [node.outputs[0] for i, node in constants if node.outputs and place == f"graph/{label(node, i)}"]
    return bool(names) and not any(name in main.outputs or main.readers.get(str(name)) for name in names)


def refused_graph(model: OnnxModel, main: Body) -> Iterator[str]:
    """Yield violations of checks on a model that only the runtime has."""
    graph = model.graph
    if not model.stated_imports and model.opset_imports:
        yield "model: it imports no opset, which its IR version allows, but the runtime does not"
    if not main.nodes and not main.outputs:
        yield "graph: it has neither nodes nor outputs"
    for info in graph.inputs:
        if info.type is None and info.name in main.inputs:
            yield f"graph: the input {format_value(info.name)} has no type"


def _finding_place(finding: Finding) -> str:
    return finding.node or "graph"


def _only_in_the_runtime(descriptor: Descriptor, release: str) -> bool:
    """Return whether only the runtime has an operator at this version.

    The dialect does not define it yet, or has withdrawn it.
    """
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    domain, _, name = descriptor.operator.rpartition(".")
    version = descriptor.version or ""
    return spec.row_at(version) is None and schema_of(domain, name, int(version), release) is not None


def refusal(descriptor: Descriptor | None, release: str, *, on_cpu: bool) -> Finding | None:
    """Return why a release rejects a node, None if it accepts it.

    It is also None for an uncertain answer. Rules whose enforcement is unreliable do not count. release: the runtime's.
    on_cpu: whether the checks of the CPU kernel apply.
    """
    if descriptor is None:
        return None
    return next(refusals(descriptor, release, on_cpu=on_cpu), None)


def refusals(descriptor: Descriptor, release: str, *, on_cpu: bool) -> Iterator[Finding]:
    """Yield every reason why a release rejects a node; see `refusal`."""
    if descriptor.version is None:
        return
    loading = loading_of(descriptor.operator, release)
    load_failure = loading.failing_check(descriptor, on_cpu=on_cpu)
    if load_failure is not None:
        yield load_failure
    if descriptor.operator.rpartition(".")[0] in dialect(descriptor.dialect).tables.foreign:
        yield from own_refusals(descriptor, loading, release, on_cpu=on_cpu)
        return
    if _only_in_the_runtime(descriptor, release):
        return
    texts = (*_LOADING, _KERNEL_ENFORCER) if on_cpu else _LOADING
    yielded = set()
    for impl in rejecting_implementations(descriptor, descriptor.version, "observed", texts):
        verdict = check_at(descriptor, descriptor.version, "observed", impl)
        spec = dialect(descriptor.dialect).operator(descriptor.operator)
        uncertain_rules = {name for key in UNSURE for name in named_rules(key, spec, descriptor.version, impl)}
        if impl != _KERNEL_ENFORCER:  # only strict inference enforces it, which the runtime does not use
            uncertain_rules |= {form.name for overlay in spec.overlays if overlay.by == impl for form in overlay.rules}
        uncertain_rules = loading.unenforced_rules(uncertain_rules, int(descriptor.version))
        checked_rules = checked_ids(spec, impl, {finding.id for finding in verdict.findings})
        for finding in verdict.findings:
            is_certain = finding.id in checked_rules and finding.id.rpartition("/")[2] not in uncertain_rules
            if is_certain and not compares_outputs(
                spec, finding.id, observed=True
            ):  # inference overrides a stated shape
                yielded.add(finding.id)
                yield finding
    always = loading.checks_of(int(descriptor.version), on_cpu=on_cpu)
    if always and accepts(descriptor, descriptor.version, "documented") is False:
        for finding in check_at(descriptor, descriptor.version, "documented").findings:
            if finding.id not in yielded and finding.id.rpartition("/")[2] in always:
                yield finding
