"""Every ONNX example is lowered to accepted DirectML operators, or has a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.read import read_dict
from specgate.dialects.directml.reader import read, write
from specgate.runtimes.onnxruntime.lower import NotLowered, lower
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor

ONNX = dialect("onnx")
OPERATORS = sorted(set(lowering_tables()["operators"]) & set(ONNX.operators))
#: Findings on lowered examples at feature level 6.4. The provider creates the operator and the session fails;
#: or a support query keeps such a node off DirectML (layout 1, paddings below 0). The provider
#: confuses height and width of a pooled region.
REFUSED = {
    "directml/GATHER_ELEMENTS/indices-sizes", "directml/SCATTER/indices-sizes", "directml/SCATTER/indices-axis-size",
    "directml/REDUCE/InputTensor.type", "directml/REDUCE/OutputTensor.type",
    "directml/FOLD/window-count", "directml/QUANTIZE/whole-blocks", "directml/DEQUANTIZE/whole-blocks",
    "directml/LSTM/output-sequence-sizes", "directml/LSTM/output-single-sizes",
    "directml/RNN/output-sequence-sizes", "directml/RNN/output-single-sizes", "directml/PADDING1/output-sizes",
    "directml/GRU/output-sequence-sizes", "directml/GRU/output-single-sizes",
    "directml/ROI_POOLING/pooled-width", "directml/ROI_POOLING/pooled-height",
}  # fmt: skip


#: The same for examples of contrib operators: a score bias broadcast over batches,
#: shared buffers, keys by heads, a broadcast matrix, column scales of a left matrix. onnxruntime-directml 1.24.4
#: under Wine does not create sessions with these. An Attention with a past whose mask has another length runs on the
#: CPU.
REFUSED_OWN = {
    "directml/MULTIHEAD_ATTENTION/relative-position-bias-sizes", "directml/MULTIHEAD_ATTENTION/mask-length",
    "directml/MULTIHEAD_ATTENTION/key-once", "directml/MULTIHEAD_ATTENTION/value-once",
    "directml/MULTIHEAD_ATTENTION/present-key-length", "directml/MULTIHEAD_ATTENTION/present-value-length",
    "directml/tensor/output-strides-not-zero",
    "directml/MATRIX_MULTIPLY_INTEGER_TO_FLOAT/a-scale-sizes",
    "directml/MATRIX_MULTIPLY_INTEGER_TO_FLOAT/a-zero-point-sizes",
}  # fmt: skip
#: Versions that no provider registers, and operators whose tables do not show their versions.
BEFORE = {("Clip", 1)}
WITHOUT = {"SequenceConstruct"}


def examples(operator: str) -> Iterator[tuple[int, Descriptor]]:
    spec = ONNX.operator(operator)
    for example in spec.table.examples.values():
        for level in {*levels_of_example(spec, example)} & {*spec.rows}:
            yield int(level), read_dict({**example["descriptor"], "opset": int(level)}, "onnx")


def evaluate(descriptor: Descriptor) -> set[str]:
    round_trip = read(write(descriptor))
    assert round_trip.fields == descriptor.fields
    verdict = check_at(round_trip, "6.4", "observed")
    return set() if verdict.accepted else {finding.id for finding in verdict.findings}


@pytest.mark.parametrize("operator", OPERATORS)
def test_examples_are_lowered(operator: str) -> None:
    seen: list[Any] = []
    for version, descriptor in examples(operator):
        result = lower(descriptor, version)
        seen.append(result)
        if isinstance(result, NotLowered):
            assert result.kind in {"refused", "open"} or (operator, version) in BEFORE
            assert result.reason
            continue
        for onnx_model in result:
            if not any(finding.endswith(".type") for finding in evaluate(onnx_model)):  # a type that no row registers
                own = operator.rpartition(".")[0] in ONNX.tables.foreign
                assert evaluate(onnx_model) <= (REFUSED | REFUSED_OWN if own else REFUSED)
    assert seen or operator in WITHOUT
