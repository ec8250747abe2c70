"""Two OpenVINO models that the benchmarks lint: a ResNet-50, and a transformer whose batch and sequence are dynamic.

They have the layers of the real networks, in the words that OpenVINO's converters use. The structure, which is what is
judged, is as large as the real one. Weights are narrow, and random: `openvino.save_model` keeps equal ones once.

To import this needs the openvino package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import openvino
from openvino import opset13 as ops

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NETWORKS", "resnet", "transformer"]

_STAGES: Final = (3, 4, 6, 3)  # blocks of three convolutions
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
    """Return the `openvino.Model` of a ResNet-50 with static sizes, batch normalization folded into convolutions."""
    image = ops.parameter([1, 3, 64, 64], np.float32, name="image")
    last = ops.relu(_convolved(image, 3, _WIDTH, 7, 2, "stem"))
    last = ops.max_pool(last, [2, 2], [1, 1], [1, 1], [1, 1], [3, 3]).output(0)
    width = _WIDTH
    for stage, blocks in enumerate(_STAGES):
        inner = _WIDTH << stage
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
            made = ops.relu(_convolved(last, width, inner, 1, 1, f"{name}.conv1"))
            made = ops.relu(_convolved(made, inner, inner, 3, stride, f"{name}.conv2"))
            made = _convolved(made, inner, 4 * inner, 1, 1, f"{name}.conv3")
            beside = last if block else _convolved(last, width, 4 * inner, 1, stride, f"{name}.downsample")
            last, width = ops.relu(ops.add(made, beside, name=f"{name}.add")), 4 * inner
    pooled = ops.reshape(ops.reduce_mean(last, _numbers(2, 3), keep_dims=True), _numbers(0, -1), special_zero=True)
    scores = ops.matmul(pooled, _weights(10, width), transpose_a=False, transpose_b=True, name="fc")
    return openvino.Model([ops.add(scores, _weights(1, 10))], [image], "resnet50")


def _convolved(data: Any, taken: int, given: int, size: int, stride: int, name: str) -> Any:
    pads = [size // 2] * 2
    made = ops.convolution(data, _weights(given, taken, size, size), [stride] * 2, pads, pads, [1, 1], name=name)
    return ops.add(made, _weights(1, given, 1, 1), name=f"{name}.bias")


def transformer() -> Any:
    """Return the `openvino.Model` of an encoder of 12 layers as converters write it: sizes come from ShapeOf."""
    words = ops.parameter([_OPEN, _OPEN], np.int64, name="input_ids")
    mask = ops.parameter([_OPEN, _OPEN], np.int64, name="attention_mask")
    last = ops.gather(_weights(_WORDS, _HIDDEN), words, _number(0), name="embeddings.words")
    length = ops.gather(ops.shape_of(words, "i64"), _number(1), _number(0))
    places = ops.range(_number(0), length, _number(1), "i64")
    places = ops.gather(_weights(_POSITIONS, _HIDDEN), places, _number(0), name="embeddings.places")
    last = _normalized(ops.add(last, ops.unsqueeze(places, _number(0))), "embeddings.norm")
    kept = ops.convert(ops.unsqueeze(mask, _numbers(1, 2)), "f32")
    added = ops.multiply(ops.subtract(_weights(1, 1, 1, 1), kept), _weights(1, 1, 1, 1), name="mask")
    for layer in range(_LAYERS):
        name = f"encoder.{layer}"
        made = _projected(_attended(last, added, name), _HIDDEN, _HIDDEN, f"{name}.attention.out")
        last = _normalized(ops.add(made, last), f"{name}.attention.norm")
        made = ops.gelu(_projected(last, _HIDDEN, 4 * _HIDDEN, f"{name}.up"), "erf")
        last = _normalized(ops.add(_projected(made, 4 * _HIDDEN, _HIDDEN, f"{name}.down"), last), f"{name}.norm")
    return openvino.Model([last], [words, mask], "encoder")


def _projected(data: Any, taken: int, given: int, name: str) -> Any:
    made = ops.matmul(data, _weights(given, taken), transpose_a=False, transpose_b=True, name=name)
    return ops.add(made, _weights(1, 1, given), name=f"{name}.bias")


def _normalized(data: Any, name: str) -> Any:
    made = ops.mvn(data, _numbers(-1), normalize_variance=True, eps=1e-12, eps_mode="INSIDE_SQRT", name=name)
    made = ops.multiply(made, _weights(1, 1, _HIDDEN))
    return ops.add(made, _weights(1, 1, _HIDDEN))


def _attended(data: Any, mask: Any, name: str) -> Any:
    """Attention written out: heads are split off by Reshape and Transpose, and joined by sizes from ShapeOf."""
    heads = []
    for which in ("query", "key", "value"):
        made = _projected(data, _HIDDEN, _HIDDEN, f"{name}.{which}")
        made = ops.reshape(made, _numbers(0, 0, _HEADS, _HEAD), special_zero=True)
        heads.append(ops.transpose(made, _numbers(0, 2, 1, 3)))
    query, key, value = heads
    scores = ops.matmul(query, key, transpose_a=False, transpose_b=True)
    scores = ops.add(ops.divide(scores, _weights(1, 1, 1, 1)), mask)
    made = ops.transpose(ops.matmul(ops.softmax(scores, -1), value, False, False), _numbers(0, 2, 1, 3))
    sizes = ops.gather(ops.shape_of(made, "i64"), _numbers(0, 1), _number(0))
    return ops.reshape(made, ops.concat([sizes, _numbers(_HIDDEN)], 0), special_zero=False, name=f"{name}.joined")


#: By the words that a report has for them.
NETWORKS: Final[dict[str, Callable[[], Any]]] = {
    "a ResNet-50": resnet,
    f"a transformer of {_LAYERS} layers, batch and sequence dynamic": transformer,
}
