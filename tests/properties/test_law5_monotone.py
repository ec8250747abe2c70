"""Higher levels accept what lower ones do, except documented removals."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.spec.dialect_spec import Dialect
from specgate.spec.tables import dialect, in_use
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing
from specgate.validate.check import accepts
from specgate.validate.row import explain_at
from tests.drawing import shown_descriptors
from tests.properties.single_changes import changed_once
from tests.properties.support import chosen_cases, chosen_operators, shown_operators, spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

_NARROWER: Final = "the vendor lists fewer types"
_AXIS: Final = "version 1 does not limit axis; this one states [-r, r-1]"
#: (dialect, operator, first level) -> the vendor's removals: types, values and rules by finding, and the reason.
REMOVED: Final[dict[tuple[str, str, str], tuple[str, str]]] = {
    ("onnx", "BatchNormalization", "7"): (
        "scale-shape bias-shape mean-shape variance-shape",
        "version 6 states size C even with spatial 0, this one C x D1 x ... x Dn",
    ),
    ("onnx", "Dropout", "10"): ("mask.type", "mask is BOOL, and no longer of the type of the data"),
    ("onnx", "Erf", "13"): ("input.type output.type", _NARROWER),
    ("onnx", "GridSample", "20"): ("mode-word", "bilinear and bicubic were renamed to linear and cubic"),
    ("onnx", "Hardmax", "11"): ("axis-range", _AXIS),
    ("onnx", "LogSoftmax", "11"): ("axis-range", _AXIS),
    ("onnx", "ReduceLogSum", "28"): ("data.type reduced.type", _NARROWER),
    ("onnx", "ReduceLogSumExp", "28"): ("data.type reduced.type", _NARROWER),
    ("onnx", "Resize", "11"): ("scales.required", "roi is the second input, in the place of scales"),
    ("onnx", "Resize", "13"): ("coordinate_transformation_mode.value", "tf_half_pixel_for_nn was removed"),
    ("onnx", "Scan", "9"): (
        "initial_state_and_scan_inputs.type body-inputs body-outputs state-kept",
        "without sequence_lens the first input is a state or a scan input",
    ),
    ("onnx", "Softmax", "11"): ("axis-range", _AXIS),
    ("onnx", "Split", "2"): (
        "split-sum equal-parts output-sizes output-parts output-equal-parts",
        "axis has the default 0; version 1 leaves open which dimension is split",
    ),
    ("openvino", "AvgPool", "opset14"): ("data.type output.type", _NARROWER),
    ("openvino", "Broadcast", "opset3"): ("data.type output.type", _NARROWER),
    ("openvino", "GatherND", "opset8"): ("output-rank", "the batch dimensions are no longer merged"),
    ("openvino", "Interpolate", "opset4"): ("mode.value", "area was removed"),
    ("openvino", "NonMaxSuppression", "opset3"): ("selected_indices.type", "i32 and i64 only"),
    ("openvino", "ShapeOf", "opset3"): ("data.type", _NARROWER),
    ("openvino", "TopK", "opset3"): ("data.type values.type", _NARROWER),
    ("openvino", "TopK", "opset11"): ("k-positive", "k must be positive; earlier versions do not exclude 0"),
}


def removed_by(spec: OperatorSpec, level: str) -> set[str]:
    """Return the findings by which a level may reject what the level before accepts.

    They concern fields that end there, become required, or change their kind, with the rules that read them; fewer
    inputs or outputs; new rules that do not replace one of the same name; and `REMOVED`.
    """
    names = {f"{info.name}.exists" for info in spec.fields.values() if info.until == level}
    begun = ((name, form) for name, info in spec.fields.items() for form in info.forms or (info,))
    levels = spec.dialect.levels[spec.dialect.position[level] - 1], level
    before, now = (Counter(info.kind for info in spec.fields_at(each).values()) for each in levels)
    names |= {f"too-many-{kind}s" for kind in ("input", "output") if now[kind] < before[kind]}
    names |= {f"{name}.required" for name, form in begun if form.since == level and not form.optional}
    rules = (*spec.rule_forms, *spec.dialect.tensor_rules)
    followed = {form.name for form in rules if form.until == level}
    names |= {form.name for form in rules if form.since == level} - followed
    kinds = {name: {form.since: form.type for form in info.forms} for name, info in spec.fields.items()}
    other = {name for name, types in kinds.items() if level in types and len(set(types.values())) > 1}
    names |= {form.name for form in rules if form.fields & other}
    names |= {*REMOVED.get((spec.dialect.name, spec.name, level), ("", ""))[0].split()}
    return names | {f"{name}.{aspect}" for name in other for aspect in ("value", "wrong-kind", "range")}


def unrecorded_removals(spec: OperatorSpec, descriptor: Descriptor) -> dict[str, list[str]]:
    """Return by level the findings that reject what the level before accepted.

    Findings that a removal explains are left out.
    """
    order = spec.dialect.levels
    answers = [accepts(descriptor, level, "documented") for level in order]
    lost = [after for after, was, current in zip(order[1:], answers, answers[1:], strict=False) if was and not current]
    texts_by_name = {}
    for level in lost:
        resolved = spec.resolve(level)
        if resolved is None:
            unexplained = [] if level in {spec.table.removed, *spec.table.deprecated} else ["level"]
        else:
            excused = removed_by(spec, level)
            failures = explain_at(reordered_for(descriptor, spec, level), resolved)
            unexplained = [each.rule for each in failures if each.rule not in excused]
        if unexplained:
            texts_by_name[level] = unexplained
    return texts_by_name


def narrowed_cells(spec: OperatorSpec) -> Iterator[tuple[str, str]]:
    """Yield levels whose row lacks a type or value of the row before, with the finding."""
    for before, after in pairwise(filter(None, map(spec.resolve, spec.levels))):
        for name, cell in () if after.cases else after.cells.items():
            old = before.cells.get(name)
            if old is not None and set(old.types or ()) - set(cell.types or old.types or ()):
                yield after.level, f"{name}.type"
            if old is not None and set(old.values or ()) - set(cell.values or old.values or ()):
                yield after.level, f"{name}.value"


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_later_levels_accept_descriptors_of_earlier_levels(case: Case, data: st.DataObject) -> None:
    spec = spec_of(case)
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(descriptors(*case) | near)
    with reproducing(descriptor, case.target):
        assert not unrecorded_removals(spec, descriptor)


@pytest.mark.parametrize(("name", "operator"), chosen_operators())
@given(data=st.data())
def test_later_levels_keep_accepting_arbitrary_descriptors(name: str, operator: str, data: st.DataObject) -> None:
    spec = dialect(name).operator(operator)
    descriptor = data.draw(any_descriptors(name, operator))
    with reproducing(descriptor, f"{name}:{spec.rows[0]}"):
        assert not unrecorded_removals(spec, descriptor)


def test_rows_only_grow() -> None:
    specs = [dialect(name).operator(operator) for name, operator in shown_operators()]
    assert not [
        f"{spec.name} {level}: {finding}"
        for spec in specs
        for level, finding in narrowed_cells(spec)
        if finding not in removed_by(spec, level)
    ]


@pytest.mark.parametrize(("name", "operator", "level"), REMOVED)
def test_each_removal_is_in_the_tables(name: str, operator: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, removed = dialect(name).operator(operator), set(REMOVED[name, operator, level][0].split())
    monkeypatch.delitem(REMOVED, (name, operator, level))
    removed -= {finding for at, finding in narrowed_cells(spec) if at == level}
    before = spec.dialect.levels[spec.dialect.position[level] - 1]
    drawn = chain(changed_once(spec, before), shown_descriptors(spec, before, 80, "0"))
    lost = [unrecorded_removals(spec, descriptor).get(level, []) for descriptor in drawn] if removed else []
    assert removed <= {finding for findings in lost for finding in findings}


def test_fields_are_read_in_the_order_of_the_later_level() -> None:
    """ReduceMean's axes is an attribute before 18, and then the second input."""
    axes = {"op_type": "ReduceMean", "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}], "attributes": {"axes": [1]}}
    spec = dialect("onnx").operator("ReduceMean")
    assert not unrecorded_removals(spec, read_dict({**axes, "outputs": []}, "onnx"))


def test_a_withdrawn_version_is_a_removal() -> None:
    """OpenVINO's opset2 lacks ShuffleChannels, which opset1 and opset3 have."""
    layer = {"type": "ShuffleChannels", "inputs": [{"element_type": "f32", "shape": [2, 4, 1]}], "outputs": []}
    assert not unrecorded_removals(dialect("openvino").operator("ShuffleChannels"), read_dict(layer, "openvino"))


def test_a_wrong_removal_is_detected_next_to_a_valid_removal() -> None:
    """Reshape loses an attribute at 5; the type it also loses is a separate change."""
    table, reshape = dialect("onnx"), {"op_type": "Reshape", "outputs": []}
    raw = copy.deepcopy(table.tables.operators["Reshape"])
    raw["support"]["5"]["data"]["types"].remove("DOUBLE")
    entries = {**table.tables.entries, "operators": {**table.tables.operators, "Reshape": raw}, "counted": {}}
    tensor = {"elem_type": "DOUBLE", "shape": [6]}
    kept = read_dict({**reshape, "inputs": [tensor], "attributes": {"shape": [2, 3]}}, "onnx")
    with in_use(Dialect("onnx", entries)):
        assert unrecorded_removals(dialect("onnx").operator("Reshape"), kept) == {"5": ["data.type"]}
    assert not unrecorded_removals(table.operator("Reshape"), kept)
