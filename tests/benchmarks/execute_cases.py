"""Nodes of real image and language models for ``tests.benchmarks execute``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CASES", "Case", "arrays_of"]

_IMAGE: Final = "float 1x64x56x56"
_WORDS: Final = "float 1x128x768"
_SPEC: Final = re.compile(r"(\w+)(?: \[(-?\d+)\.\.(-?\d+)\])?(?: ([\dx]+))?(?: = (.*))?")


class Case(NamedTuple):
    """A node.

    inputs: texts for `arrays_of`, "" for an omitted one. outputs: their number.
    """

    operator: str
    inputs: tuple[str, ...]
    attributes: dict[str, Any]
    opset: int = 22
    outputs: int = 1
    what: str = ""


def arrays_of(case: Case, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Return a case's arrays by the names x0, x1 and so on.

    An input is written as ``float 1x64x56x56`` (normal distribution), ``int64 [0..9] 3`` (integers of a range) or
    ``int64 = 1, 2`` (these values).
    """
    random = np.random.default_rng(seed)
    arrays_by_name = {}
    for index, text in enumerate(case.inputs):
        if not text:
            continue
        match = _SPEC.fullmatch(text)
        assert match is not None, text  # malformed case
        word, low, high, sizes, values = match.groups()
        dtype = np.dtype("float32" if word == "float" else word)
        shape = tuple(map(int, sizes.split("x"))) if sizes else ()
        if values is not None:
            array = np.array([float(value) for value in values.split(", ")]).astype(dtype)
            array = array if "," in values or sizes else array.reshape(())
        elif low is not None:
            array = random.integers(int(low), int(high), shape, endpoint=True).astype(dtype)
        else:
            array = random.normal(size=shape).astype(dtype)
        arrays_by_name[f"x{index}"] = array
    return arrays_by_name


def _plain(*operators: str) -> list[Case]:
    return [Case(operator, (_IMAGE,), {}) for operator in operators]


_POOL: Final = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
_QUANTIZED: Final = ("float = 0.02", "uint8 = 128")

CASES: Final[tuple[Case, ...]] = (
    *_plain("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "HardSwish", "LeakyRelu", "Softplus", "Abs", "Round"),
    Case("Add", (_WORDS, "float 768"), {}),
    Case("Mul", (_IMAGE, _IMAGE), {}),
    Case("Div", (_WORDS, "float [1..9] 1x128x1"), {}),
    Case("Sqrt", ("float [0..9] 1x64x56x56",), {}),
    Case("Pow", (_WORDS, "float = 2"), {}),
    Case("Clip", (_IMAGE, "float = 0", "float = 6"), {}),
    Case("Equal", ("int64 [0..3] 1x12x128x128", "int64 = 0"), {}),
    Case("Where", ("bool [0..1] 1x1x128x128", "float 1x12x128x128", "float = -1e9"), {}),
    Case("Cast", (_IMAGE,), {"to": 10}),
    Case("MatMul", ("float 12x128x64", "float 12x64x128"), {}),
    Case("Gemm", ("float 128x768", "float 768x3072", "float 3072"), {}),
    Case("Einsum", ("float 4x12x64x64", "float 4x12x64x64"), {"equation": "bhid,bhjd->bhij"}),
    Case("Conv", (_IMAGE, "float 64x64x3x3", "float 64"), {"pads": [1, 1, 1, 1]}),
    Case("Conv", (_IMAGE, "float 256x64x1x1"), {}, what="1x1"),
    Case("Conv", (_IMAGE, "float 64x1x3x3"), {"pads": [1, 1, 1, 1], "group": 64}, what="of each channel"),
    Case("ConvTranspose", ("float 1x64x28x28", "float 64x32x4x4"), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    Case("DeformConv", ("float 1x64x28x28", "float 64x64x3x3", "float 1x18x28x28"), {"pads": [1, 1, 1, 1]}),
    Case("MaxPool", ("float 1x64x112x112",), _POOL),
    Case("AveragePool", ("float 1x64x112x112",), _POOL),
    Case("GlobalAveragePool", ("float 1x2048x7x7",), {}),
    Case("BatchNormalization", (_IMAGE, *["float [1..2] 64"] * 4), {}),
    Case("LayerNormalization", (_WORDS, "float 768", "float 768"), {}),
    Case("InstanceNormalization", (_IMAGE, "float 64", "float 64"), {}),
    Case("GroupNormalization", (_IMAGE, "float 64", "float 64"), {"num_groups": 8}),
    Case("LRN", (_IMAGE,), {"size": 5}),
    Case("Softmax", ("float 1x12x128x128",), {}),
    Case("LogSoftmax", ("float 32x1000",), {}),
    Case("ReduceMean", (_WORDS, "int64 1 = -1"), {}),
    Case("ReduceMax", (_IMAGE, "int64 2 = 2, 3"), {}),
    Case("ArgMax", ("float 32x30000",), {"axis": 1}),
    Case("TopK", ("float 32x30000", "int64 1 = 50"), {}, outputs=2),
    Case("CumSum", (_WORDS, "int64 = 1"), {}),
    Case("Transpose", ("float 1x128x12x64",), {"perm": [0, 2, 1, 3]}),
    Case("Concat", (_IMAGE, _IMAGE), {"axis": 1}),
    Case("Split", (_WORDS,), {"axis": 2, "num_outputs": 3}, outputs=3),
    Case("Slice", (_IMAGE, "int64 2 = 1, 1", "int64 2 = 55, 55", "int64 2 = 2, 3"), {}),
    Case("Gather", ("float 30522x768", "int64 [0..30521] 1x128"), {}),
    Case("GatherElements", ("float 128x768", "int64 [0..127] 128x768"), {}),
    Case("ScatterND", ("float 1024x768", "int64 [0..1023] 128x1", "float 128x768"), {}),
    Case("Expand", ("float 1x1x128x128", "int64 4 = 1, 12, 128, 128"), {}),
    Case("Tile", (_WORDS, "int64 3 = 4, 1, 1"), {}),
    Case("Pad", (_IMAGE, "int64 8 = 0, 0, 1, 1, 0, 0, 1, 1"), {}),
    Case("DepthToSpace", (_IMAGE,), {"blocksize": 2}),
    Case("Resize", ("float 1x64x28x28", "", "float 4 = 1, 1, 2, 2"), {"mode": "linear"}, 19),
    Case("Resize", ("float 1x64x28x28", "", "float 4 = 1, 1, 2, 2"), {"mode": "nearest"}, 19, what="nearest"),
    Case("GridSample", ("float 1x16x64x64", "float 1x64x64x2"), {}, 20),
    Case("RoiAlign", ("float 1x64x50x50", "float [0..49] 32x4", "int64 [0..0] 32"),
         {"output_height": 7, "output_width": 7, "sampling_ratio": 2}, 16),
    Case("NonMaxSuppression", ("float [0..99] 1x500x4", "float 1x1x500", "int64 = 100", "float = 0.5"), {}),
    Case("OneHot", ("int64 [0..63] 128x128", "int64 = 64", "float 2 = 0, 1"), {}),
    Case("NonZero", ("int64 [0..1] 128x768",), {}),
    Case("LSTM", ("float 64x1x256", "float 1x1024x256", "float 1x1024x256", "float 1x2048"), {"hidden_size": 256},
         outputs=2),
    Case("GRU", ("float 64x1x256", "float 1x768x256", "float 1x768x256", "float 1x1536"), {"hidden_size": 256},
         outputs=2),
    Case("QuantizeLinear", (_IMAGE, *_QUANTIZED), {}, 19),
    Case("DequantizeLinear", ("uint8 [0..255] 1x64x56x56", *_QUANTIZED), {}, 19),
    Case("DynamicQuantizeLinear", (_WORDS,), {}, 11, outputs=3),
    Case("QLinearConv", ("uint8 [0..255] 1x64x28x28", *_QUANTIZED, "int8 [-128..127] 64x64x3x3", "float = 0.01",
                         "int8 = 0", *_QUANTIZED), {"pads": [1, 1, 1, 1]}, 10),
    Case("QLinearMatMul", ("uint8 [0..255] 128x768", *_QUANTIZED, "uint8 [0..255] 768x768", *_QUANTIZED, *_QUANTIZED),
         {}, 10),
    Case("MatMulInteger", ("uint8 [0..255] 128x768", "int8 [-128..127] 768x768"), {}, 10),
)  # fmt: skip
