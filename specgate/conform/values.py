"""Differences in values, and the observed entries that explain them."""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.conform.cases import draw_cases, fill, size_of
from specgate.conform.compare import compare_outputs
from specgate.conform.result import Difference, ValueTally
from specgate.descriptors.core import TensorDesc, is_record
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import write_dict
from specgate.dialects import package
from specgate.dialects.protocols import Backend
from specgate.errors import Error, NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.observed import tolerance_of
from specgate.execution.types import numpy_type
from specgate.generate.cases import reproduce
from specgate.rules.evaluate import Context, certainly_holds
from specgate.rules.functions import extent, overlapping
from specgate.spec.tables import dialect as tables
from specgate.validate.check import accepts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.conform.compare import OutputDifference
    from specgate.conform.result import Kind
    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Values
    from specgate.spec.forms import OtherValues, Overlay
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis


class _Entry(NamedTuple):
    difference: OtherValues
    bug: bool
    context: Context


def classify(
    spec: OperatorSpec,
    level: str,
    implementation: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    outputs: Iterable[OutputDifference],
) -> tuple[Kind, str, list[OutputDifference]]:
    """Return the kind of a difference, its explanations, and the rest.

    The rest is the outputs with only those wrong elements that no entry explains. If an entry names elements, the other
    elements remain to be explained. Elements that the other side did not write are explained only by an entry that
    names no elements.
    """
    used_notes: dict[str, bool] = {}
    left = []
    for output in outputs:
        is_different = output.wrong.copy()
        for entry in _entries(spec, level, implementation, descriptor, output.tensor):
            if not is_different.any():
                break
            hit = (
                is_different
                if entry.difference.elements is None
                else _matching_elements(entry, output._replace(wrong=is_different), arrays)
            )
            if hit.any():
                used_notes[entry.difference.what] = used_notes.get(entry.difference.what, False) or entry.bug
                is_different = is_different & ~hit
        if is_different.any():
            left.append(output._replace(wrong=is_different))
    if left:
        return "unexplained", "", left
    return "bug" if any(used_notes.values()) else "recorded", "; ".join(used_notes), []


def classify_whole(spec: OperatorSpec, level: str, implementation: str, descriptor: Descriptor) -> tuple[Kind, str]:
    """Return kind and explanation for outputs of another type or shape.

    Only uses entries that name no elements.
    """
    entries = _entries(spec, level, implementation, descriptor, None)
    bugs_by_note = {entry.difference.what: entry.bug for entry in entries if entry.difference.elements is None}
    return "bug" if any(bugs_by_note.values()) else "recorded" if bugs_by_note else "unexplained", "; ".join(
        bugs_by_note
    )


def _entries(
    spec: OperatorSpec, level: str, implementation: str, descriptor: Descriptor, tensor: Any
) -> Iterator[_Entry]:
    """Yield the observed entries that apply to a descriptor and output.

    Entries in the operator's table come before those for all tensors.
    """
    dialect = spec.dialect
    infos = {name: spec.field_at(name, level) or info for name, info in spec.fields.items()}
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    of_operator = Context(fields, dialect.limits(level), dialect.bits, spec.scope.defines)
    of_tensor = Context({"tensor": tensor}, dialect.limits(level), dialect.bits)
    overlay_contexts: list[tuple[list[Overlay], Context]] = [
        (spec.overlays, of_operator),
        (dialect.tensor_overlays, of_tensor),
    ]
    for overlays, context in overlay_contexts:
        for overlay in overlays:
            for values in overlay.values if overlay.holds(level, implementation) else ():
                if values.when is None or certainly_holds(values.when, context):
                    yield _Entry(values, overlay.bug, context)


def _is_single_value(value: Any) -> bool:
    """Return whether an attribute has one value for all elements.

    False for tensors, and for lists except those that a record names.
    """
    return is_record(value) or not isinstance(value, TensorDesc | list | tuple)


def _matching_elements(entry: _Entry, output: OutputDifference, arrays: Mapping[str, Any]) -> NDArray[Any]:
    """Return the mask of differing elements that satisfy the condition.

    Tensors of size 1 along a dimension are broadcast. A tensor of another size has no corresponding element; the
    condition treats it as missing.
    """
    import numpy as np

    rule = entry.difference.elements
    assert rule is not None  # checked by the caller  # noqa: S101
    fields = {n: v if _is_single_value(v) else None for n, v in entry.context.fields.items()}
    sides = {output.name: output.ours, "tensor": output.ours, "ours": output.ours, "theirs": output.theirs}
    shape = output.ours.shape
    arrays_by_name = {n: a for n, a in arrays.items() if isinstance(a, np.ndarray) and a.ndim == len(shape)}
    fitting_arrays = {
        n: a for n, a in arrays_by_name.items() if all(x in {1, y} for x, y in zip(a.shape, shape, strict=True))
    }
    broadcast_arrays = {n: np.broadcast_to(a, shape) for n, a in fitting_arrays.items()}
    fields_read = {name: array for name, array in {**broadcast_arrays, **sides}.items() if name in rule.fields}
    hit = np.zeros(output.wrong.shape, np.bool_)
    for place in zip(*np.nonzero(output.wrong & output.written), strict=True) if hit.ndim else [()]:
        values = {name: array[place].item() for name, array in fields_read.items()}
        hit[place] = certainly_holds(rule, Context({**fields, **values}, entry.context.numbers))
    return hit


#: Sets of arrays per descriptor; preparing a descriptor is expensive.
_ARRAY_SETS: Final = 4
#: Maximum number of elements in the largest buffer; larger ones only take more time.
_MAX_ELEMENTS: Final = 2**14


@dataclass(slots=True)
class _Count:
    cases: int = 0
    equal: int = 0
    unavailable: Counter[str] = field(default_factory=Counter)
    differing: dict[tuple[Kind, str], list[Any]] = field(default_factory=dict)


def compare_values(
    dialect: str, operator: str, level: str, cases: int, seed: int, deadline: float
) -> tuple[list[ValueTally], Mapping[str, str]]:
    """Return value tallies per implementation, and their versions.

    Both are empty if the operator has no kernel. cases: number of executions, four per descriptor. Elements that the
    documentation leaves undefined (masked) may have any value.
    """
    spec = tables(dialect).operator(operator)
    if spec.table.recipe is None:
        return [], {}
    random = Random(f"{seed}/{operator}/{level}/values")  # noqa: S311  # reproducible
    counts: dict[str, _Count] = {}
    owner = package(dialect)
    oracle = owner.values(level) if isinstance(owner, Backend) else None
    if oracle is None:
        return [], {}
    versions = {f"{name} (values)": version for name, version in getattr(oracle, "value_versions", {}).items()}
    try:
        for drawn_case in _executable(spec, level, max(1, cases // _ARRAY_SETS), seed):
            descriptor = _without_output_sizes(drawn_case, spec)
            try:
                sets = [fill(drawn_case, level, random, tame=run % 2 == 1) for run in range(_ARRAY_SETS)]
                matching_tables = oracle.compute_many(descriptor, sets)
            except Error as error:  # no arrays for it, or the implementation does not support it
                counts.setdefault("specgate", _Count()).unavailable[str(error)] += _ARRAY_SETS
                continue
            for arrays, answers in zip(sets, matching_tables, strict=True):
                if accepts(_with_elements(descriptor, arrays, spec), level, "both") is False:
                    counts.setdefault("specgate", _Count()).unavailable["elements that rules reject"] += 1
                    continue
                _compare(spec, level, descriptor, arrays, answers, counts)
            if time.time() > deadline:
                break
    finally:
        oracle.close()
    return [_tally(spec, level, name, count) for name, count in counts.items()], versions


def _executable(spec: OperatorSpec, level: str, count: int, seed: int) -> Iterator[Descriptor]:
    """Yield small descriptors that documentation and builds accept.

    Excludes outputs with overlapping elements, since the order of writes is undefined.
    """
    drawn_descriptors = (
        drawn_case.descriptor for drawn_case in draw_cases(spec, level, 8 * count, f"{seed}/{spec.name}/{level}/values")
    )
    fitting_descriptors = (
        descriptor
        for descriptor in drawn_descriptors
        if accepts(descriptor, level, "both") and _elements(descriptor) <= _MAX_ELEMENTS
    )
    fitting_descriptors = (
        reordered_for(descriptor, spec, descriptor.version or level) for descriptor in fitting_descriptors
    )  # arrays have names, too
    yield from islice(
        (descriptor for descriptor in fitting_descriptors if not _has_overlapping_output(descriptor, spec)), count
    )


def _without_output_sizes(descriptor: Descriptor, spec: OperatorSpec) -> Descriptor:
    """Remove output sizes that follow from the inputs.

    Then only computed values are compared. Sizes that no rule checks, such as those that depend on unknown elements,
    could otherwise have any value.
    """
    if not spec.dialect.infers_outputs:
        return descriptor
    open_sizes = {
        info.name: value._replace(sizes=None)
        for info in spec.outputs
        if isinstance(value := descriptor.fields.get(info.name), TensorDesc)
    }
    return replace(descriptor, fields={**descriptor.fields, **open_sizes}, plain=False)


def _with_elements(descriptor: Descriptor, arrays: Mapping[str, Any], spec: OperatorSpec) -> Descriptor:
    """Return the descriptor with the elements of inputs as constants.

    Only for inputs that rules read, because values for rejected elements are meaningless.
    """
    paths = {path.removesuffix(".value") for form in spec.rule_forms for path in form.require.needs if "." in path}
    return _add_constants(descriptor, arrays, paths)


def _read_by_entries(spec: OperatorSpec) -> set[str]:
    """Return the tensors in the conditions of observed values."""
    conditions = [values.when for overlay in spec.overlays for values in overlay.values if values.when is not None]
    return {name for rule in conditions for path in rule.needs for name, _, _ in [path.partition(".")] if name != path}


def _add_constants(descriptor: Descriptor, arrays: Mapping[str, Any], names: set[str]) -> Descriptor:
    """Return the descriptor with the elements of these inputs as constants."""
    fields = dict(descriptor.fields)
    for name in names & arrays.keys():
        if isinstance(fields[name], TensorDesc):
            fields[name] = fields[name]._replace(value=tuple(np.asarray(arrays[name]).ravel().tolist()))
    return replace(descriptor, fields=fields, plain=False)


def _has_overlapping_output(descriptor: Descriptor, spec: OperatorSpec) -> bool:
    outputs = {info.name for info in spec.outputs}
    output_tensors = (tensor for place, tensor in descriptor.tensors() if place.partition("[")[0] in outputs)
    return any(
        overlapping([s for s in tensor.sizes or () if isinstance(s, int)], tensor.strides) for tensor in output_tensors
    )


def _elements(descriptor: Descriptor) -> int:
    """Return the number of elements in the largest tensor's buffer."""
    sizes = [0]
    for _, tensor in descriptor.tensors():
        shape = [size for size in tensor.sizes or () if isinstance(size, int)]
        sizes.append(max(prod(shape), extent(shape, tensor.strides) if tensor.strides else 0))
    return max(sizes)


def _compare(
    spec: OperatorSpec,
    level: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    answers: Mapping[str, Values],
    counts: dict[str, _Count],
) -> None:
    try:
        outputs: dict[str, NDArray[Any]] | str = execute_at(descriptor, arrays, level)
    except NoKernel as error:
        counts.setdefault("specgate", _Count()).unavailable[str(error)] += 1
        return
    except Error as error:
        outputs = f"the executor rejects: {error}"
    for name, answer in answers.items():
        count = counts.setdefault(name, _Count())
        if answer.arrays is None:
            count.unavailable[f"{answer.reply.word}: {_kind(answer.reply.detail)}".rstrip(": ")] += 1
            continue
        count.cases += 1
        kind, explanation, problem = _classify_difference(spec, level, name, descriptor, arrays, outputs, answer.arrays)
        if problem and kind == "unexplained":
            known = _explain_by_execution(spec, level, name, descriptor, arrays, answer.arrays)
            kind, explanation = known or (kind, explanation)
        if not problem:
            count.equal += 1
            continue
        types = "/".join(str(v.type) for v in descriptor.fields.values() if isinstance(v, TensorDesc))
        entry = count.differing.setdefault((kind, explanation or types), [0, problem, descriptor])
        entry[0] += 1
        if size_of(descriptor) < size_of(entry[2]):
            entry[1:] = [problem, descriptor]


def _classify_difference(
    spec: OperatorSpec,
    level: str,
    implementation: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    our_outputs: Mapping[str, Any] | str,
    their_outputs: Mapping[str, Any],
    basis: Basis = "documented",
) -> tuple[Kind, str, str]:
    """Return a difference's kind, explanation and position.

    All are "" without a difference. basis: that of `our_outputs`.
    """
    if isinstance(our_outputs, str):
        return "unexplained", "", our_outputs
    declared = _declare_outputs(descriptor, spec, our_outputs)
    level = descriptor.version or level
    problem, differings = compare_outputs(
        our_outputs,
        their_outputs,
        descriptor,
        tolerance_of(declared, level, basis=basis, by=implementation, arrays=arrays),
    )
    if problem or differings:  # observed entries may depend on elements
        declared = _add_constants(declared, arrays, _read_by_entries(spec))
    if problem:
        kind, explanation = classify_whole(spec, level, implementation, declared)
        return kind, explanation, f"{explanation}; {problem}" if explanation else problem
    if not differings:
        return "unexplained", "", ""
    kind, explanation, left = classify(spec, level, implementation, declared, arrays, differings)
    difference = f"{(left or differings)[0].name}: {(left or differings)[0]}"
    return kind, explanation, f"{explanation}; {difference}" if explanation else difference


def _explain_by_execution(
    spec: OperatorSpec,
    level: str,
    implementation: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    theirs: Mapping[str, Any],
) -> tuple[Kind, str] | None:
    """Return the kind and the entries whose computed values explain a difference.

    None if they differ from the other side's values too, and no further entry explains that.
    """
    entries = [e for e in _entries(spec, level, implementation, descriptor, None) if e.difference.computed]
    if not entries:
        return None
    try:
        ours = execute_at(descriptor, arrays, level, basis="observed", by=implementation)
    except Error:
        return None
    kind, what, problem = _classify_difference(
        spec, level, implementation, descriptor, arrays, ours, theirs, "observed"
    )
    if problem and kind == "unexplained":
        return None
    names = [entry.difference.what for entry in entries]
    return ("bug" if any(entry.bug for entry in entries) else "recorded"), "; ".join([*names, *filter(None, [what])])


def _declare_outputs(descriptor: Descriptor, spec: OperatorSpec, computed_outputs: Mapping[str, Any]) -> Descriptor:
    """Declare the outputs with their computed types and sizes.

    The tolerance depends on the types, and conditions may depend on the sizes.
    """
    if not spec.dialect.infers_outputs:
        return descriptor
    fields = dict(descriptor.fields)
    for info in spec.outputs:
        array, declared_output = computed_outputs.get(info.name), fields.get(info.name)
        if isinstance(array, np.ndarray):
            type_ = declared_output.type if isinstance(declared_output, TensorDesc) else None
            fields[info.name] = TensorDesc(type_ or _type_of(array.dtype, spec), array.shape)
    return replace(descriptor, fields=fields)


def _type_of(dtype: np.dtype[Any], spec: OperatorSpec) -> str | None:
    for name in spec.dialect.types:
        with suppress(NoKernel):
            if numpy_type(spec.dialect, name) == dtype:
                return name
    return None


def _kind(detail: str) -> str:
    """Return a reason without its numbers, to count equal reasons together."""
    return re.sub(r"\d+", "N", detail)[:80]


def _tally(spec: OperatorSpec, level: str, name: str, count: _Count) -> ValueTally:
    examples = sorted(count.differing.items(), key=lambda item: (item[0][0] != "unexplained", -item[1][0]))
    differences = tuple(
        Difference(
            operator=spec.name,
            level=level,
            implementation=name,
            kind=kind,
            findings=(),
            theirs="other values",
            detail=problem,
            count=number,
            descriptor=write_dict(descriptor),
            command=reproduce(descriptor, f"{spec.dialect.name}:{level}"),
        )
        for (kind, _), (number, problem, descriptor) in examples
    )
    return ValueTally(spec.name, level, name, count.cases, count.equal, dict(count.unavailable), differences)
