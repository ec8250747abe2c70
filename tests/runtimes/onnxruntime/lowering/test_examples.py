"""Every example of ONNX's tables is lowered, or it is said why not; what it becomes is read and taken by DirectML's."""

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
#: Findings on what examples become at feature level 6.4. The provider asks for it all the same, and the session fails;
#: or a support query keeps such a node off DirectML (layout 1, paddings below 0). The provider
#: takes the height of a pooled region for its width.
REFUSED = {
    "directml/GATHER_ELEMENTS/indices-sizes", "directml/SCATTER/indices-sizes", "directml/SCATTER/indices-axis-size",
    "directml/REDUCE/InputTensor.type", "directml/REDUCE/OutputTensor.type",
    "directml/FOLD/window-count", "directml/QUANTIZE/whole-blocks", "directml/DEQUANTIZE/whole-blocks",
    "directml/LSTM/output-sequence-sizes", "directml/LSTM/output-single-sizes",
    "directml/RNN/output-sequence-sizes", "directml/RNN/output-single-sizes", "directml/PADDING1/output-sizes",
    "directml/GRU/output-sequence-sizes", "directml/GRU/output-single-sizes",
    "directml/ROI_POOLING/pooled-width", "directml/ROI_POOLING/pooled-height",
}  # fmt: skip


#: As those, of what examples of the runtime's own operators become: a bias of scores that is stretched over batches,
#: shared buffers, keys by heads, a stretched matrix, scales for the columns of a left matrix. onnxruntime-directml 1.24.4
#: under Wine creates no session with these. An Attention with a past, whose mask has another length, it leaves to the
#: CPU.
REFUSED_OWN = {
    "directml/MULTIHEAD_ATTENTION/relative-position-bias-sizes", "directml/MULTIHEAD_ATTENTION/mask-length",
    "directml/MULTIHEAD_ATTENTION/key-once", "directml/MULTIHEAD_ATTENTION/value-once",
    "directml/MULTIHEAD_ATTENTION/present-key-length", "directml/MULTIHEAD_ATTENTION/present-value-length",
    "directml/tensor/output-strides-not-zero",
    "directml/MATRIX_MULTIPLY_INTEGER_TO_FLOAT/a-scale-sizes",
    "directml/MATRIX_MULTIPLY_INTEGER_TO_FLOAT/a-zero-point-sizes",
}  # fmt: skip
#: Versions that no provider registers, and operators whose tables show none of their versions.
BEFORE = {("Clip", 1)}
WITHOUT = {"SequenceConstruct"}


def examples(operator: str) -> Iterator[tuple[int, Descriptor]]:
    spec = ONNX.operator(operator)
    for example in spec.table.examples.values():
        for level in {*levels_of_example(spec, example)} & {*spec.rows}:
            yield int(level), read_dict({**example["descriptor"], "opset": int(level)}, "onnx")


def judged(descriptor: Descriptor) -> set[str]:
    again = read(write(descriptor))
    assert again.fields == descriptor.fields
    verdict = check_at(again, "6.4", "observed")
    return set() if verdict.accepted else {finding.id for finding in verdict.findings}


@pytest.mark.parametrize("operator", OPERATORS)
def test_examples_are_lowered(operator: str) -> None:
    seen: list[Any] = []
    for version, descriptor in examples(operator):
        found = lower(descriptor, version)
        seen.append(found)
        if isinstance(found, NotLowered):
            assert found.kind in {"refused", "open"} or (operator, version) in BEFORE
            assert found.reason
            continue
        for made in found:
            if not any(finding.endswith(".type") for finding in judged(made)):  # a type that no row registers
                own = operator.rpartition(".")[0] in ONNX.tables.foreign
                assert judged(made) <= (REFUSED | REFUSED_OWN if own else REFUSED)
    assert seen or operator in WITHOUT
