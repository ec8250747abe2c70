"""The lowering table of one operator: its checks and its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import UNKNOWN, Descriptor, TensorDesc
from specgate.rules.language import NUMBERS
from specgate.runtimes.onnxruntime.lowering.expressions import (
    FormError,
    check_of,
    holds_at,
    numbers_form,
    rule_of,
    scope_of,
    versions_of,
)
from specgate.runtimes.onnxruntime.lowering.forms import fields_form
from specgate.runtimes.onnxruntime.lowering.functions import FUNCTIONS, function_of
from specgate.runtimes.onnxruntime.lowering.schema import Schema, schema_from
from specgate.runtimes.onnxruntime.lowering.state import ProviderRefusal, State, UnknownValue
from specgate.runtimes.onnxruntime.lowering.tensors import output_sizes
from specgate.runtimes.onnxruntime.registrations import contains_release
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.rules.language import Rule, Scope
    from specgate.runtimes.onnxruntime.lowering.expressions import Check
    from specgate.spec.fields import FieldInfo, Layout

#: A tensor of a DirectML operator, and the node's tensor that it was created from.
Origin = tuple[TensorDesc, TensorDesc]


class Step(NamedTuple):
    """One DirectML operator of a row.

    It is created if `when` holds, as often as `repeat` says.
    """

    make: Callable[[State, int], Descriptor | None]
    when: Rule | None
    repeat: Rule | None


class Row(NamedTuple):
    """The lowering of versions from `since` to before `until`.

    It applies to `releases` if `when` holds. function: a name in `FUNCTIONS`; it creates the descriptors instead of
    steps. deferred: why the kernel is always created at the first run, None if it is not.
    """

    since: int
    until: int | None
    when: Rule | None
    steps: tuple[Step, ...]
    function: str | None
    deferred: str | None
    releases: str | None


class Table:
    """The lowering of nodes of one operator.

    general: the part that applies to all operators.
    """

    def __init__(self, schema: Schema, raw: Mapping[str, Any], general: Mapping[str, Any]) -> None:
        self.schema = schema
        self.general = general
        self.defines: dict[str, Rule] = {}
        scope = schema.scope
        for name, text in raw.get("define", {}).items():
            self.defines[name] = _locate_form_errors(rule_of, text, scope, path=("define", name))
            scope = _with_defines(scope, self.defines)
        self.lists: dict[str, Callable[[State, int], Any]] = {}
        for name, entry in raw.get("lists", {}).items():
            self.lists[name] = _locate_form_errors(numbers_form, entry, scope, int, path=("lists", name))
            scope = _with_list(scope, name)
        entries = raw.get("inferred", {})
        self.late = {n: e["releases"] for n, e in entries.items() if isinstance(e, dict) and "releases" in e}
        self.inferred = _sizes({n: e["sizes"] if n in self.late else e for n, e in entries.items()}, "inferred", scope)
        self.outputs = self.inferred | _sizes(raw.get("outputs", {}), "outputs", scope)
        self.sizes_open: bool = raw.get("sizes_open", False)
        self.checks = tuple(_checks(raw, "refuses", scope))
        self.warnings = tuple(_checks(raw, "warns", scope))
        self.rows = tuple(_rows(raw, scope))

    def lower_node(
        self, descriptor: Descriptor, version: int, release: str | None = None, origins: list[Origin] | None = None
    ) -> list[Descriptor] | None:
        """Return the descriptors of a node, None without a matching row.

        Raises Open or Refused. release: the runtime's, None for the newest. origins: receives the tensors that the
        row's steps create from the node's; see `State`.
        """
        layout = self.schema.layout(version)
        if not self.sizes_open:
            require_ranks(descriptor, self.general["dimensions"]["most"])
            require_inputs(descriptor, layout)
        state = self._state(descriptor, version)
        if self.outputs:
            lowered = self._infer_sizes(descriptor, state)
            if lowered is not descriptor:
                descriptor, state = lowered, self._state(lowered, version)
        for check in self.checks:
            result = holds_at(check.since, check.until, version) and contains_release(check.releases, release)
            if result and _check_applies(check, descriptor, layout) and state.holds(check.when):
                raise ProviderRefusal(check.name, check.because)
        if not self.sizes_open:
            require_outputs(descriptor, layout)
        for row in self.rows:
            result = holds_at(row.since, row.until, version) and contains_release(row.releases, release)
            if result and state.holds(row.when):
                descriptors = _without_empty(list(_lowered_rows(row, state)))
                if origins is not None:
                    origins += state.origins
                return descriptors
        return None

    def outline_node(self, descriptor: Descriptor, version: int, release: str | None = None) -> list[Descriptor]:
        """Return the known descriptors of a node with unknown sizes or constants.

        Descriptors that depend on unknown values are omitted. Raises Refused if the kernel rejects the node for all
        such values.
        """
        require_ranks(descriptor, self.general["dimensions"]["most"])
        layout, state = self.schema.layout(version), self._state(descriptor, version, partial=True)
        for check in self.checks:
            result = holds_at(check.since, check.until, version) and contains_release(check.releases, release)
            if result and _check_applies(check, descriptor, layout) and state.value(check.when, 0) is True:
                raise ProviderRefusal(check.name, check.because)
        for row in self.rows:
            if not holds_at(row.since, row.until, version) or not contains_release(row.releases, release):
                continue
            condition_value = True if row.when is None else state.value(row.when, 0)
            if condition_value is True:
                return [] if row.function is not None else list(_outline_row(row, state))
            if condition_value is UNKNOWN:
                break
        return []

    def kernel_warnings(self, descriptor: Descriptor, version: int, release: str | None = None) -> Iterator[str]:
        """Yield warnings for a created kernel that certainly deviates from ONNX."""
        state = self._state(descriptor, version, partial=True) if self.warnings else None
        for check in self.warnings:
            result = holds_at(check.since, check.until, version) and contains_release(check.releases, release)
            if state is not None and result and state.value(check.when, 0) is True:
                yield check.because

    def _state(self, descriptor: Descriptor, version: int, *, partial: bool = False) -> State:
        values = self.schema.values(descriptor, version)
        return State(values, self.defines, self.lists, self.general, descriptor.operator, partial=partial)

    def sizes_inferred(self, descriptor: Descriptor, version: int, release: str | None) -> dict[str, tuple[int, ...]]:
        """Return the output sizes that a release infers, by name.

        They are known for the runtime's own operators.
        """
        state = self._state(descriptor, version)
        forms = {name: form for name, form in self.inferred.items() if contains_release(self.late.get(name), release)}
        numbers_by_name = {name: _evaluate_sizes(form, state) for name, form in forms.items()}
        return {name: sizes for name, sizes in numbers_by_name.items() if sizes is not None}

    def _infer_sizes(self, descriptor: Descriptor, state: State) -> Descriptor:
        """Return a node with output sizes that only the provider computes."""
        tensors_by_name: dict[str, TensorDesc] = {}
        for name, form in self.outputs.items():
            tensor = descriptor.fields.get(name)
            if not isinstance(tensor, TensorDesc) or tensor.type is None or tensor.concrete:
                continue
            sizes = _evaluate_sizes(form, state)
            if sizes is not None:
                tensors_by_name[name] = tensor._replace(sizes=sizes)
        return replace(descriptor, fields={**descriptor.fields, **tensors_by_name}) if tensors_by_name else descriptor


def _sizes(entries: Mapping[str, Any], key: str, scope: Scope) -> dict[str, Callable[[State, int], Any]]:
    return {
        name: _locate_form_errors(output_sizes, name, entry, scope, path=(key, name)) for name, entry in entries.items()
    }


def _evaluate_sizes(form: Callable[[State, int], Any], state: State) -> tuple[int, ...] | None:
    """Return sizes, None if one is negative, unknown or undefined."""
    try:
        sizes = form(state, 0)
    except (UnknownValue, ProviderRefusal):
        return None
    return None if sizes is None or any(size is None or size < 0 for size in sizes) else tuple(sizes)


def _check_applies(check: Check, descriptor: Descriptor, layout: Layout) -> bool:
    """Return whether a check applies, by the stated shape of an output."""
    if check.stated_output is None:
        return True
    if check.stated_output >= len(layout.outputs):
        return False
    tensor = descriptor.fields.get(layout.outputs[check.stated_output].name)
    return isinstance(tensor, TensorDesc) and tensor.sizes is not None


def require_ranks(descriptor: Descriptor, max_rank: int) -> None:
    """Raise Refused if a tensor has too many dimensions."""
    for name, tensor in descriptor.tensors():
        if tensor.sizes is not None and len(tensor.sizes) > max_rank:
            raise ProviderRefusal(
                "rank", f"{name} has {len(tensor.sizes)} dimensions, but the provider supports at most {max_rank}"
            )


def require_inputs(descriptor: Descriptor, layout: Layout) -> None:
    """Raise Open if the type or a size of an input is unknown.

    Such a kernel is created at the first run.
    """
    for name, tensor in _tensors(descriptor, layout.inputs):
        if not tensor.concrete and (tensor.type is not None or tensor.sizes is not None):
            raise UnknownValue(f"the type and sizes of {name} are unknown before the first run")


def require_outputs(descriptor: Descriptor, layout: Layout) -> None:
    """Raise Open if the type or a size of an output is unknown.

    The provider computes them, but this table does not.
    """
    for info in layout.outputs:
        if not info.optional and not descriptor.fields.get(info.name):
            raise UnknownValue(f"{info.name} has no type and sizes; only the provider infers them")
    for name, tensor in _tensors(descriptor, layout.outputs):
        if not tensor.concrete and (tensor.type is not None or tensor.sizes is not None):
            raise UnknownValue(f"not all sizes of {name} are known; only the provider infers them")


def _tensors(descriptor: Descriptor, infos: Iterable[FieldInfo]) -> Iterator[tuple[str, TensorDesc]]:
    for info in infos:
        result = descriptor.fields.get(info.name)
        for tensor in result if isinstance(result, list) else (result,):
            if isinstance(tensor, TensorDesc):
                yield info.name, tensor


def _lowered_rows(row: Row, state: State) -> Iterator[Descriptor]:
    if row.deferred is not None:
        raise UnknownValue(row.deferred)
    if row.function is not None:
        yield from function_of(row.function)(state)
    for step in row.steps:
        turns = 1 if step.repeat is None else max(0, state.value(step.repeat, 0) or 0)
        for turn in range(turns):
            if state.holds(step.when, turn) and (descriptor := step.make(state, turn)) is not None:
                yield descriptor


def _outline_row(row: Row, state: State) -> Iterator[Descriptor]:
    """Yield the known operators that a row creates in any case."""
    for step in row.steps:
        try:
            turns = 1 if step.repeat is None else state.value(step.repeat, 0)
            if isinstance(turns, int) and turns > 0 and state.holds(step.when) and (descriptor := step.make(state, 0)):
                yield descriptor
        except (UnknownValue, ProviderRefusal):  # later descriptors are unknown
            continue


def _without_empty(descriptors: list[Descriptor]) -> list[Descriptor]:
    """Return no descriptors if a tensor is empty, as the provider does."""
    empty = any(isinstance(t, TensorDesc) and 0 in (t.sizes or ()) for d in descriptors for _, t in d.tensors())
    return [] if empty else descriptors


def _with_defines(scope: Scope, defines: Mapping[str, Rule]) -> Scope:
    return replace(scope, defines=dict(defines))


def _with_list(scope: Scope, name: str) -> Scope:
    """Return a scope with one more name for every range of versions."""

    def stretch(since: str | None, until_level: str | None) -> Scope:
        known_scope = scope.scope_between(since, until_level)
        return replace(known_scope, fields={**known_scope.fields, name: NUMBERS})

    return replace(scope, fields={**scope.fields, name: NUMBERS}, stretch=stretch)


def _locate_form_errors(make: Callable[..., Any], *arguments: Any, path: tuple[str | int, ...]) -> Any:
    try:
        return make(*arguments)
    except FormError as error:
        raise FormError(str(error), *path, *error.path) from None


def _checks(raw: Mapping[str, Any], key: str, scope: Scope) -> Iterator[Check]:
    for name, entries in raw.get(key, {}).items():
        for entry in entries if isinstance(entries, list) else [entries]:
            yield _locate_form_errors(check_of, name, entry, scope, path=(key, name, "when"))


def _rows(raw: Mapping[str, Any], scope: Scope) -> Iterator[Row]:
    for index, entry in enumerate(raw.get("rows", ())):
        path, known_scope = ("rows", index), scope_of(entry, scope)
        condition = (
            _locate_form_errors(rule_of, entry["when"], known_scope, "truth", path=(*path, "when"))
            if "when" in entry
            else None
        )
        steps = tuple(
            _locate_form_errors(_step, step, known_scope, path=(*path, "to", step_index))
            for step_index, step in enumerate(entry.get("to", ()))
        )
        function = entry.get("function")
        if function is not None and function not in FUNCTIONS:
            raise FormError(f"unknown function {function!r:.60}", *path, "function")
        yield Row(*versions_of(entry), condition, steps, function, entry.get("deferred"), entry.get("releases"))


def _step(raw: Mapping[str, Any], scope: Scope) -> Step:
    table = dialect("directml")
    name = raw.get("operator")
    if name not in table.operators:
        raise FormError(f"unknown operator of DirectML {name!r:.60}", "operator")
    fields = {key: entry for key, entry in raw.items() if key not in {"operator", "when", "repeat"}}
    rules = {
        key: _locate_form_errors(rule_of, raw[key], scope, kind, path=(key,)) if key in raw else None
        for key, kind in (("when", "truth"), ("repeat", "number"))
    }
    return Step(fields_form(table.operator(str(name)), fields, scope), rules["when"], rules["repeat"])


def make_table(operator: str, raw: Mapping[str, Any], general: Mapping[str, Any]) -> Table:
    """Return an operator's table; raise FormError for an invalid one."""
    schema = schema_from(operator, raw.get("fields"))
    if schema is None:
        raise FormError(f"{operator} has no ONNX table, so its fields are required here", "fields")
    return Table(schema, raw, general)
