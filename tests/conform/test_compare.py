"""Our verdicts in a comparison."""

from __future__ import annotations

from specgate.conform.compare import kind_of, verdicts_of
from specgate.descriptors.read import read_dict
from specgate.oracles.protocol import Reply
from specgate.spec.tables import dialect


def test_conditional_row_cells_are_counted():
    tensor = {"DataType": "FLOAT64", "Sizes": [1]}
    desc = {"Function": "L1", "InputTensor": tensor, "OutputTensor": tensor, "AxisCount": 1, "Axes": [0]}
    reduce = dialect("directml").operator("REDUCE")
    verdicts = verdicts_of(read_dict({"type": "REDUCE", "desc": desc}, "directml"), reduce, "3.1", "linux")
    assert verdicts.documented.accepted is False
    assert verdicts.observed.ids == {"directml/REDUCE/InputTensor.type", "directml/REDUCE/OutputTensor.type"}


def test_accidental_acceptance_is_a_bug_of_the_build():
    """PADDING at 3.1 and 4.1 reads past arrays that are shorter than DimensionCount."""
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    desc = {
        "InputTensor": tensor,
        "OutputTensor": tensor,
        "PaddingMode": "CONSTANT",
        "PaddingValue": 0,
        "DimensionCount": 2,
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
    }
    padding = dialect("directml").operator("PADDING")
    for level, kind in ("3.1", "bug"), ("4.1", "bug"), ("5.0", "unexplained"):
        ours = verdicts_of(read_dict({"type": "PADDING", "desc": desc}, "directml"), padding, level, "linux")
        assert ours.observed.ids == {"directml/PADDING/dimension-count-rank"}
        assert kind_of(padding, level, "linux", ours, Reply("accepted")) == kind
        assert kind_of(padding, level, "linux", ours, Reply("rejected")) is None


def kind(inputs, attributes, implementation, word, op_type="LpNormalization"):
    node = {"op_type": op_type, "inputs": inputs, "outputs": [], "attributes": attributes}
    spec = dialect("onnx").operator(op_type)
    ours = verdicts_of(read_dict(node, "onnx"), spec, "22", implementation)
    assert ours.observed.accepted is False
    return kind_of(spec, "22", implementation, ours, Reply(word))


def test_partially_checked_fields_are_recorded_either_way():
    tensor = [{"elem_type": "FLOAT", "shape": [2]}]
    assert kind(tensor, {"p": 3}, "inference", "accepted") == "recorded"
    assert kind(tensor, {"p": 3}, "inference", "rejected") is None
    # Facts that it ignores do not count; those that it reads do.
    assert kind(tensor, {"p": 3, "axis": 1.5}, "inference", "accepted") == "recorded"
    assert kind([{"elem_type": "INT64", "shape": [2]}], {"p": 3}, "inference", "accepted") == "unexplained"


def test_missing_kernel_is_not_a_disagreement():
    tensor = [{"elem_type": "FLOAT16", "shape": [2]}]
    assert kind(tensor, {"p": 3}, "onnxruntime", "no kernel") == "not looked at"
    assert kind(tensor, {"p": 3}, "onnxruntime", "accepted") == "unexplained"
