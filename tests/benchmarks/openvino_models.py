"""Two OpenVINO models for the benchmarks: ResNet-50 and a dynamic transformer.

They have the layers of the real networks with the types that OpenVINO's converters write, and as many of them. Weights
are small, and random because `openvino.save_model` stores equal ones once. Importing this module needs the openvino
package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import openvino
from openvino import opset13 as ops

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NETWORKS", "resnet", "transformer"]

_STAGES: Final = (3, 4, 6, 3)  # numbers of blocks of three convolutions
_WIDTH: Final = 8
_LAYERS, _HEADS, _HEAD, _WORDS, _POSITIONS, _OPEN = 12, 12, 8, 100, 64, -1
_HIDDEN: Final = _HEADS * _HEAD
_RANDOM: Final = np.random.default_rng(0)


def _weights(*sizes: int) -> Any:
    return ops.constant(_RANDOM.standard_normal(sizes, np.float32))


def _numbers(*numbers: int) -> Any:
    return ops.constant(np.array(numbers, np.int64))


def _number(number: int) -> Any:
    return ops.constant(np.int64(number))


def resnet() -> Any:
    """Return an `openvino.Model` of ResNet-50 with static sizes.

    Batch normalization is folded into the convolutions.
    """
    image = ops.parameter([1, 3, 64, 64], np.float32, name="image")
    last = ops.relu(_convolve(image, 3, _WIDTH, 7, 2, "stem"))
    last = ops.max_pool(last, [2, 2], [1, 1], [1, 1], [1, 1], [3, 3]).output(0)
    width = _WIDTH
    for stage, blocks in enumerate(_STAGES):
        inner = _WIDTH << stage
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
            result = ops.relu(_convolve(last, width, inner, 1, 1, f"{name}.conv1"))
            result = ops.relu(_convolve(result, inner, inner, 3, stride, f"{name}.conv2"))
            result = _convolve(result, inner, 4 * inner, 1, 1, f"{name}.conv3")
            neighbour = last if block else _convolve(last, width, 4 * inner, 1, stride, f"{name}.downsample")
            last, width = ops.relu(ops.add(result, neighbour, name=f"{name}.add")), 4 * inner
    pooled = ops.reshape(ops.reduce_mean(last, _numbers(2, 3), keep_dims=True), _numbers(0, -1), special_zero=True)
    scores = ops.matmul(pooled, _weights(10, width), transpose_a=False, transpose_b=True, name="fc")
    return openvino.Model([ops.add(scores, _weights(1, 10))], [image], "resnet50")


def _convolve(data: Any, count: int, number: int, size: int, stride: int, name: str) -> Any:
    pads = [size // 2] * 2
    result = ops.convolution(data, _weights(number, count, size, size), [stride] * 2, pads, pads, [1, 1], name=name)
    return ops.add(result, _weights(1, number, 1, 1), name=f"{name}.bias")


def transformer() -> Any:
    """Return an `openvino.Model` of a 12-layer encoder, with sizes from ShapeOf."""
    words = ops.parameter([_OPEN, _OPEN], np.int64, name="input_ids")
    mask = ops.parameter([_OPEN, _OPEN], np.int64, name="attention_mask")
    last = ops.gather(_weights(_WORDS, _HIDDEN), words, _number(0), name="embeddings.words")
    length = ops.gather(ops.shape_of(words, "i64"), _number(1), _number(0))
    places = ops.range(_number(0), length, _number(1), "i64")
    places = ops.gather(_weights(_POSITIONS, _HIDDEN), places, _number(0), name="embeddings.places")
    last = _normalize(ops.add(last, ops.unsqueeze(places, _number(0))), "embeddings.norm")
    kept = ops.convert(ops.unsqueeze(mask, _numbers(1, 2)), "f32")
    added = ops.multiply(ops.subtract(_weights(1, 1, 1, 1), kept), _weights(1, 1, 1, 1), name="mask")
    for layer in range(_LAYERS):
        name = f"encoder.{layer}"
        result = _project(_attend(last, added, name), _HIDDEN, _HIDDEN, f"{name}.attention.out")
        last = _normalize(ops.add(result, last), f"{name}.attention.norm")
        result = ops.gelu(_project(last, _HIDDEN, 4 * _HIDDEN, f"{name}.up"), "erf")
        last = _normalize(ops.add(_project(result, 4 * _HIDDEN, _HIDDEN, f"{name}.down"), last), f"{name}.norm")
    return openvino.Model([last], [words, mask], "encoder")


def _project(data: Any, count: int, number: int, name: str) -> Any:
    result = ops.matmul(data, _weights(number, count), transpose_a=False, transpose_b=True, name=name)
    return ops.add(result, _weights(1, 1, number), name=f"{name}.bias")


def _normalize(data: Any, name: str) -> Any:
    result = ops.mvn(data, _numbers(-1), normalize_variance=True, eps=1e-12, eps_mode="INSIDE_SQRT", name=name)
    result = ops.multiply(result, _weights(1, 1, _HIDDEN))
    return ops.add(result, _weights(1, 1, _HIDDEN))


def _attend(data: Any, mask: Any, name: str) -> Any:
    """Attention from Reshape and Transpose, with sizes from ShapeOf."""
    heads = []
    for which in ("query", "key", "value"):
        result = _project(data, _HIDDEN, _HIDDEN, f"{name}.{which}")
        result = ops.reshape(result, _numbers(0, 0, _HEADS, _HEAD), special_zero=True)
        heads.append(ops.transpose(result, _numbers(0, 2, 1, 3)))
    query, key, value = heads
    scores = ops.matmul(query, key, transpose_a=False, transpose_b=True)
    scores = ops.add(ops.divide(scores, _weights(1, 1, 1, 1)), mask)
    result = ops.transpose(ops.matmul(ops.softmax(scores, -1), value, False, False), _numbers(0, 2, 1, 3))
    sizes = ops.gather(ops.shape_of(result, "i64"), _numbers(0, 1), _number(0))
    return ops.reshape(result, ops.concat([sizes, _numbers(_HIDDEN)], 0), special_zero=False, name=f"{name}.joined")


#: Keyed by their names in reports.
NETWORKS: Final[dict[str, Callable[[], Any]]] = {
    "a ResNet-50": resnet,
    f"a transformer of {_LAYERS} layers, batch and sequence dynamic": transformer,
}
