"""Each proposed fix, once applied, removes its finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.descriptors.read import read_dict
from specgate.spec.lint import counterexample
from specgate.spec.tables import dialect
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved
    from specgate.validate.failures import Failure

#: One operator of a dialect out of this many; all of them take minutes.
ONE_IN = {"directml": 7, "onnx": 7, "openvino": 1}


def break_all(name: str) -> Iterator[tuple[Descriptor, Resolved, Failure]]:
    """Yield documented failures of counterexamples that may have a proposed change."""
    table = dialect(name)
    for operator in table.operators[:: ONE_IN[name]]:
        spec = table.operator(operator)
        for entry in spec.table.counterexamples.values():
            data, level = counterexample(spec, entry)
            resolved = spec.resolve(level)
            descriptor = read_dict(data, name)
            if resolved is None or resolved.cases:
                continue
            for failure in explain_at(descriptor, resolved):
                if failure.remedy is not None:
                    yield descriptor, resolved, failure


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ONE_IN))
def test_proposed_fixes_repair_the_failure(name: str) -> None:
    repaired = failed = 0
    for descriptor, resolved, failure in break_all(name):
        assert failure.remedy is not None
        failed += 1
        repair = failure.remedy.repair()
        if repair is None:
            continue
        repaired += 1
        assert failure.message[0] != " "
        for choice in range(len(repair[-1].values_to_test)):
            mended = failure.remedy.apply_repair(repair, choice)
            assert mended.fields != descriptor.fields
            left = [f.key for f in explain_at(mended, resolved) if not f.unknown]
            assert failure.key not in left, (failure.rule, failure.remedy.fix(), choice)
    assert repaired >= 0.8 * failed > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ONE_IN))
def test_a_fix_names_the_changed_field(name: str) -> None:
    for _, resolved, failure in break_all(name):
        assert failure.remedy is not None
        repair = failure.remedy.repair()
        if repair is None:
            continue
        text = failure.remedy.fix()
        assert text is not None
        for step in repair:
            name = step.place.field
            owner = failure.where if name == "tensor" else resolved.fields[name].vendor_name
            assert owner in text, (failure.rule, text)
        assert len(text) < 300


def node(operator: str, inputs: list[Any], outputs: list[Any], **attributes: Any) -> dict[str, Any]:
    def make(item: Any) -> Any:
        return item and {"elem_type": item[0], "shape": item[1], **({"value": item[2]} if len(item) > 2 else {})}

    return {
        "op_type": operator,
        "inputs": [make(item) for item in inputs],
        "outputs": [make(item) for item in outputs],
        "attributes": attributes,
    }


A, B, IMAGE, KERNEL = ("FLOAT", [2, 3]), ("FLOAT", [4]), ("FLOAT", [1, 3, 8, 8]), ("FLOAT", [4, 3, 3, 3])
FIXES: dict[str, tuple[dict[str, Any], str]] = {
    "sizes that broadcast": (node("Add", [A, B], [A]), "set dimension -1 of B to 3 or 1"),
    "the narrower type is cast": (node("Add", [A, ("FLOAT16", [3])], [A]), "cast B to FLOAT"),
    "even the first one": (node("Add", [("FLOAT16", [3]), A], [("FLOAT16", [2, 3])]), "cast A to FLOAT"),
    "type of an output": (node("Relu", [A], [("DOUBLE", [2, 3])]), "give Y the type FLOAT"),
    "range of an attribute": (node("Softmax", [A], [A], axis=5), "set axis to a value from -2 to 1"),
    "element of an attribute": (
        node("Transpose", [A], [("FLOAT", [3, 2])], perm=[1, 2]),
        "set perm[1] to a value from 0 to 1",
    ),
    "an element that repeats": (node("Transpose", [A], [("FLOAT", [3, 2])], perm=[1, 1]), "set perm[1] to 0"),
    "length of an attribute": (node("Conv", [IMAGE, KERNEL], [IMAGE], pads=[0, 0, 0]), "give pads 4 values"),
    "size of an output": (
        node("Conv", [IMAGE, KERNEL], [("FLOAT", [1, 4, 6, 5])]),
        "set dimension 3 of Y to 6",
    ),
    "sizes of an output": (node("Relu", [A], [("FLOAT", [3, 2])]), "set the sizes of Y to [2, 3]"),
    "rank of an output": (node("Softmax", [A], [("FLOAT", [6])], axis=0), "set the sizes of output to [2, 3]"),
    "several ends of an image": (node("MaxPool", [IMAGE], [IMAGE], kernel_shape=[9, 9, 9]), "give kernel_shape 2 values"),
    "a divisor": (
        node("DepthToSpace", [("FLOAT", [1, 6, 2, 2])], [], blocksize=2),
        "set blocksize to 1",
    ),
    "one of two": (
        node("Split", [A, ("INT64", [2], [1, 1])], [("FLOAT", [1, 3])] * 2, num_outputs=2),
        "leave num_outputs out",
    ),
    "an input as an attribute": (node("Gather", [A], [A], indices=[0]), "give indices as an input"),
    "a misspelt attribute": (node("Softmax", [A], [A], axes=1), "rename axes to axis, or leave it out"),
    "an unknown attribute": (node("Relu", [A], [A], zzz=1), "leave zzz out"),
    "an attribute of another kind": (node("Softmax", [A], [A], axis=1.5), "give axis a 64-bit integer"),
    "an input that is required": (node("Add", [A], [A]), "give B"),
    "too many inputs": (node("Relu", [A, A], [A]), "give at most 1 input"),
    "a word": (node("Conv", [IMAGE, KERNEL], [], auto_pad="SAME"), "set auto_pad to NOTSET, SAME_UPPER, SAME_LOWER or VALID"),
    "a type of the row": (
        node("Reshape", [A, ("INT32", [2], [3, 2])], [("FLOAT", [3, 2])]),
        "cast shape to INT64",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("data", "fix"), FIXES.values(), ids=FIXES.keys())
def test_fix(data: dict[str, Any], fix: str) -> None:
    fixes = [(result.fix or "").split(" or use opset ")[0] for result in specgate.check(data, "onnx:18").findings]
    assert fix in fixes


def test_a_range_fix_proposes_no_invalid_negative_number(one_hot) -> None:
    one_hot["desc"]["Axis"] = 4
    (finding,) = specgate.check(one_hot, "directml:4.1").findings
    assert finding.fix == "set Axis to 3 or less"


def test_an_undecided_rule_has_no_fix() -> None:
    verdict = specgate.check(node("Add", [("FLOAT", ["N"]), B], []), "onnx:18")
    assert [finding.fix for finding in verdict.undecided] == [None]


def test_proposed_sizes_fit_uint32() -> None:
    def propose(height: int) -> str | None:
        sizes = {"InputTensor": [1, 4, height, 1], "OutputTensor": [1, 1, 4, 2]}
        tensors = {name: {"DataType": "UINT8", "Sizes": numbers} for name, numbers in sizes.items()}
        texts_by_name = {"type": "DML_OPERATOR_DEPTH_TO_SPACE", "desc": {**tensors, "BlockSize": 2}}
        findings = specgate.check(texts_by_name, "directml:5.0").findings
        return next(finding.fix for finding in findings if finding.id.endswith("/output-height"))

    assert propose(100) == "set dimension 2 of OutputTensor to 200"
    assert propose(2**31) is None  # twice that exceeds UINT
