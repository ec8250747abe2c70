"""Valid nodes, and nodes that break one rule, that always fail on some releases' CPU."""

from __future__ import annotations

import math
from typing import Any

import pytest

import specgate
from specgate.runtimes.onnxruntime.oracle.cpu import CpuPlacementOracle, cpu_releases
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx

RELEASES = ("1.20.1", "1.24.4", "1.31.1", "1.32.0")
UINT8, INT8, BOOL, INT32, STRING, UINT4, FLOAT16, BFLOAT16, DOUBLE = (
    onnx.TensorProto.DataType.Value(name)
    for name in ("UINT8", "INT8", "BOOL", "INT32", "STRING", "UINT4", "FLOAT16", "BFLOAT16", "DOUBLE")
)
OWN = "com.microsoft"


def node(operator, *inputs, opset=13, output=FLOAT, outputs=1, domain="", **attributes):
    """Return a one-node model.

    inputs: of FLOAT by their sizes, else (type, sizes) or (type, sizes, values).
    """
    names, infos, constants = [], [], []
    for at, item in enumerate(inputs):
        names.append("" if item is None else f"x{at}")
        kind, sizes, *values = item if isinstance(item, tuple) else (FLOAT, item)
        if item is not None and values:
            constants.append(helper.make_tensor(names[-1], kind, sizes, values[0]))
        elif item is not None:
            infos.append(info(names[-1], sizes, kind))
    onnx_model = helper.make_node(
        operator, names, [f"y{at}" for at in range(outputs)], domain=domain, name="n", **attributes
    )
    ends = [info(f"y{at}", None, output[at] if isinstance(output, list) else output) for at in range(outputs)]
    return model(graph([onnx_model], infos, ends, constants), opsets=[("", opset), *([(domain, 1)] if domain else [])])


def attention(*more):
    return node("Attention", [2, 3, 5], [5, 24], [24], *more, outputs=2, domain=OWN, num_heads=2)


def multi_head_attention(value, past_value):
    pasts = [2, 2, 2, 4], [2, 2, 2, past_value]
    inputs = [2, 3, 8], [2, 5, 8], [2, 5, value], None, None, None, *pasts
    return node("MultiHeadAttention", *inputs, outputs=3, domain=OWN, num_heads=2)


def grouped_attention(*more, past=None, **attributes):
    lengths: Any = (INT32, [1]), (INT32, [], [3])
    inputs: Any = [1, 3, 32], [1, 3, 16], [1, 3, 16], past, None, *lengths
    attributes = {"num_heads": 4, "kv_num_heads": 2} | attributes
    return node("GroupQueryAttention", *inputs, *more, outputs=3, domain=OWN, **attributes)


def cached(lengths, total=(INT32, [], [3]), queries=3, output=(FLOAT,) * 3):
    inputs: Any = [1, queries, 32], [1, queries, 16], [1, queries, 16], None, None, lengths, total
    heads = {"num_heads": 4, "kv_num_heads": 2}
    return node("GroupQueryAttention", *inputs, outputs=3, output=list(output), domain=OWN, **heads)


def embedded(positions, words=(2, 3), outputs=2):
    tables: Any = [5, 4], [6, 4], [2, 4], [4], [4]
    ids: Any = (INT32, list(words))
    position_ids = [] if positions is None else [None, (INT32, positions)]
    types = [FLOAT, INT32][:outputs]
    return node("EmbedLayerNormalization", ids, ids, *tables, *position_ids, outputs=outputs, output=types, domain=OWN)


def gathered(sizes, scales, index=3, kind=UINT8, **attributes):
    indices = (INT32, [1], [index])
    return node("GatherBlockQuantized", (kind, sizes), indices, scales, domain=OWN, block_size=16, **attributes)


def scored(kind):
    return node("MultiHeadAttention", *[[2, 3, 8]] * 3, outputs=4, output=[FLOAT] * 3 + [kind], domain=OWN, num_heads=2)


def dequantize(axis, scales):
    return node("DequantizeLinear", (INT8, [2, 3, 5]), scales, axis=axis)


def product(operator, zero_points, matrix=(5, 4, 6)):
    inputs: Any
    if operator == "MatMulInteger":
        return node(operator, (UINT8, [3, 4]), (UINT8, list(matrix)), None, (UINT8, zero_points), output=INT32)
    if operator == "DynamicQuantizeMatMul":
        inputs = [3, 4], (UINT8, list(matrix)), zero_points, (UINT8, zero_points)
    else:
        inputs = (UINT8, [3, 4]), (UINT8, list(matrix)), [], zero_points, None, (UINT8, zero_points)
    return node(operator, *inputs, domain=OWN)


def blocks(count, *image, **attributes):
    sizes = (INT64, [2], list(image)), (INT64, [2], [1, 5])
    return node("Col2Im", [1, 10, count], *sizes, opset=18, **attributes)


def ml_node(operator, *inputs, **attributes):
    attributes = {name: value for name, value in attributes.items() if value is not None}
    return node(operator, *(inputs or ([3, 2],)), domain="ai.onnx.ml", **attributes)


def vectors(parameters, rho=(1.0,), coefficients=(1.0, 2.0)):
    onnx_model = ml_node("SVMRegressor", coefficients=coefficients, rho=rho, kernel_params=parameters or None)
    if parameters == []:
        empty = helper.make_attribute("kernel_params", [], attr_type=onnx.AttributeProto.FLOATS)
        onnx_model.graph.node[0].attribute.append(empty)
    return onnx_model


def classify(labels, coefficients, intercepts):
    weights = {"coefficients": coefficients, "intercepts": intercepts}
    return ml_node("LinearClassifier", output=[INT64, FLOAT], outputs=2, classlabels_ints=labels, **weights)


def tree(nodes=(0, 1, 2), branches=(2, 0, 0), features=(0, 0, 0), voter=1):
    attributes = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": nodes, "nodes_featureids": features, "n_targets": 1}
    attributes |= {"nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0], "target_ids": [0, 0]}
    attributes |= {"nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": branches, "target_treeids": [0, 0]}
    return ml_node("TreeEnsembleRegressor", **attributes, target_nodeids=[voter, 2], target_weights=[1.0, 2.0])


def classify_by_tree(domain_version=1, sizes=(3, 2), **more):
    attributes: dict[str, Any] = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3}
    attributes |= {"nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0]}
    attributes |= {"nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "classlabels_int64s": [0, 1]}
    attributes |= {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 1], "class_weights": [1.0, 1.0]}
    onnx_model = ml_node("TreeEnsembleClassifier", list(sizes), output=[INT64, FLOAT], outputs=2, **attributes | more)
    onnx_model.opset_import[1].version = domain_version
    return onnx_model


def rates(*sizes):
    tensor = helper.make_tensor("rates", FLOAT, sizes, [1.0] * math.prod(sizes))
    return classify_by_tree(3, nodes_hitrates_as_tensor=tensor)


def weights(count):
    tensor = helper.make_tensor("weights", FLOAT, [count], [1.0] * count)
    return classify_by_tree(3, class_weights=None, class_weights_as_tensor=tensor)


def trees(leaves=(3,), members=(3,), member=6):
    tensors = {
        "nodes_modes": helper.make_tensor("modes", UINT8, [2], [member, 0]),
        "nodes_splits": helper.make_tensor("splits", FLOAT, [2], [0.0, 5.0]),
        "leaf_weights": helper.make_tensor("leaves", FLOAT, leaves, [0.0, 1.0, 2.0]),
        "membership_values": helper.make_tensor("members", FLOAT, members, [1.0] * math.prod(members)),
    }
    edges = {"nodes_falseleafs": [0, 1], "nodes_trueleafs": [1, 1]}
    edges |= {"nodes_falsenodeids": [1, 2], "nodes_truenodeids": [0, 1], "tree_roots": [0], "nodes_featureids": [0, 1]}
    onnx_model = ml_node("TreeEnsemble", n_targets=1, leaf_targetids=[0] * 3, **edges, **tensors)
    onnx_model.opset_import[1].version = 5
    return onnx_model


def empty_categories(name, kind):
    onnx_model = ml_node("OneHotEncoder")
    onnx_model.graph.node[0].attribute.append(helper.make_attribute(name, [], attr_type=kind))
    return onnx_model


def constant(output, **values):
    onnx_model = node("Identity", opset=21, output=output)
    items = [helper.make_node("Constant", [], ["c"], **{name: item}).attribute[0] for name, item in values.items()]
    onnx_model.graph.node.insert(0, helper.make_node("Constant", [], ["c"]))
    onnx_model.graph.node[0].attribute.extend(items)
    onnx_model.graph.node[1].input.append("c")
    return onnx_model


def unpool(*sizes):
    shape = (INT64, [4], list(sizes))
    return node("MaxUnpool", [1, 1, 2, 2], (INT64, [1, 1, 2, 2]), shape, kernel_shape=[2, 2], strides=[2, 2])


def scatter(update, *places, mode="linear"):
    indices = (INT64, [2], list(places))
    return node("TensorScatter", [2, 3, 8, 5], [2, 3, update, 5], indices, opset=24, mode=mode)


def mel(bins, points):
    numbers: list[Any] = [(INT64, [], [item]) for item in (bins, points, 8192)]
    return node("MelWeightMatrix", *numbers, (FLOAT, [], [0.0]), (FLOAT, [], [4096.0]), opset=17)


def resize(*scales, **attributes):
    inputs = [1, 1, 2, 2], None, (FLOAT, [4], [1.0, 1.0, 2.0, 2.0]) if not scales else scales[0]
    return node("Resize", *inputs, *([(INT64, [4], [1, 1, 4, 3])] if scales else []), **attributes)


def spectrum(length, frame):
    return node("STFT", [2, length, 1], (INT64, [], [4]), None, (INT64, [], [frame]), opset=17)


def reduce_model(operator, kind, reduction):
    indices = (INT64, [4, 1] if operator == "ScatterND" else [4], [4, 3, 1, 0])
    return node(operator, (kind, [8]), indices, (kind, [4]), opset=18, output=kind, reduction=reduction)


def fused_conv(**attributes):
    return node("FusedConv", [2, 2, 7, 7], [3, 2, 3, 3], domain=OWN, **attributes)


def quantize(scales, **attributes):
    return node("QuantizeLinear", [2, 3], scales, (UINT8, scales), output=UINT8, domain=OWN, **attributes)


def framed(length, step=(INT64, [], [8])):
    return node("STFT", [2, 128, 1], step, None, *([length] if length else []), opset=17)


def four_bits(weights, **attributes):
    attributes = {"K": 8, "N": 6, "block_size": 16, "quant_type": 1} | attributes
    return node("MatMulBnb4", [2, 3, 8], (UINT8, weights), [3], domain=OWN, **attributes)


def bits_of(bits, kind, *zero_points):
    inputs = (kind, [3, 32]), (UINT8, [6, 2, 2 * bits]), (kind, [6, 2]), *zero_points
    return node("MatMulNBits", *inputs, output=kind, domain=OWN, K=32, N=6, bits=bits, block_size=16)


def without(model_, name):
    attributes = model_.graph.node[0].attribute
    attributes.remove(next(each for each in attributes if each.name == name))
    return model_


def rotate(rows):
    return node("RotaryEmbedding", [2, 3, 8], (INT64, [1], [0]), [rows, 2], [rows, 2], domain=OWN, num_heads=2)


def block(zero_points):
    inputs = [2, 3, 40], (UINT8, [6, 3, 8]), [6, 3], zero_points
    return node("MatMulNBits", *inputs, domain=OWN, K=40, N=6, bits=4, block_size=16)


def normalize(*outputs):
    onnx_model = node("BatchNormalization", [2, 3, 4], [3], [3], [3], [3], opset=9)
    onnx_model.graph.node[0].output[:] = outputs
    onnx_model.graph.output[0].name = outputs[0]
    return onnx_model


def crop(sizes, *values, **attributes):
    return node("CenterCropPad", [5, 6], (INT64, sizes, *values), opset=18, **attributes)


def transpose(padding, stride):
    return node("ConvTranspose", [1, 2, 7], [2, 3, 3], output_padding=[padding], strides=[stride])


def recurrent(operator, gates, *lengths, outputs=1):
    inputs = [0, 2, 3], [1, 4 * gates, 3], [1, 4 * gates, 4], None, *lengths
    return node(operator, *inputs, opset=14, outputs=outputs, hidden_size=4)


def half_grid(theta, *sizes):
    inputs = (FLOAT16, theta), (INT64, [len(sizes)], list(sizes))
    return node("AffineGrid", *inputs, opset=20, output=FLOAT16)


def lstm(count, direction, *biases):
    weights = [count, 16, 3], [count, 16, 4], *biases
    return node("LSTM", [2, 2, 3], *weights, opset=7, hidden_size=4, direction=direction)


def untyped(onnx_model):
    onnx_model.graph.output[0].ClearField("type")
    return onnx_model


def counted(kind):
    return node("Range", (kind, [1], [10]), (kind, [], [3]), (kind, [], [-2]), opset=11, output=kind)


def blocked(operator, scales, sizes=(2, 3, 4), **attributes):
    kind, output = (FLOAT, UINT8) if operator == "QuantizeLinear" else (UINT8, FLOAT)
    return node(operator, (kind, list(sizes)), scales, opset=21, output=output, **attributes)


def svm_classifier(coefficients, counts=None, **labels):
    labels = labels or {"classlabels_ints": [0, 1]}
    attributes = {"coefficients": [1.0] * coefficients, "rho": [0.5], "kernel_params": [1.0, 0.0, 2.0], **labels}
    if counts:
        attributes |= {"vectors_per_class": counts, "support_vectors": [1.0] * (2 * sum(counts))}
    return ml_node("SVMClassifier", output=[INT64, FLOAT], outputs=2, **attributes)


def padded(mode, *pads, sizes=(2, 2)):
    return node("Pad", list(sizes), (INT64, [len(pads)], list(pads)), mode=mode)


def train(*outputs, mode=1):
    onnx_model = node("BatchNormalization", [1, 2, 4], [2], [2], [2], [2], opset=15, training_mode=mode)
    onnx_model.graph.node[0].output[:] = ["y0", *outputs]
    return onnx_model


def stretch(*sizes):
    return node("ConvTranspose", [1, 1, 3, 3], [1, 3, 3, 3], opset=11, output_shape=list(sizes))


def square(noop):
    return node("ReduceSumSquare", (FLOAT16, [2, 0]), opset=18, output=FLOAT16, noop_with_empty_axes=noop)


def reverse(batch, time):
    return node("ReverseSequence", [3, 3], (INT64, [3], [1, 1, 1]), opset=10, batch_axis=batch, time_axis=time)


def in_buffer(length, total):
    past: Any = [1, 2, 9, 8]
    numbers: Any = (INT32, [1], [length]), (INT32, [], [total])
    inputs: Any = [1, 3, 32], [1, 3, 16], [1, 3, 16], past, past, *numbers
    return node("GroupQueryAttention", *inputs, outputs=3, domain=OWN, num_heads=4, kv_num_heads=2)


#: By name: a model, and the releases in which no run succeeds (the first and the last, or all of them); None: no release.
EVERY = RELEASES[0], RELEASES[-1]
COMPLEX = helper.make_tensor("complex", onnx.TensorProto.COMPLEX64, [2], [0.5, 2.0])
MODELS = {
    "AffineGrid without points": (node("AffineGrid", [2, 3, 4], (INT64, [5], [2, 3, 0, 5, 6]), opset=20), ("1.31.1", "1.32.0")),
    "AffineGrid of FLOAT16": (
        node("AffineGrid", (FLOAT16, [2, 3, 4]), (INT64, [5]), opset=20, output=FLOAT16), None,
    ),
    "AffineGrid without channels": (node("AffineGrid", [2, 3, 4], (INT64, [5], [2, 0, 4, 5, 6]), opset=20), None),
    "Attention with a past and a bias": (attention(None, [2, 2, 2, 6, 4], [1, 2, 3, 9]), EVERY),
    "Attention with a past": (attention(None, [2, 2, 2, 6, 4]), None),
    "Col2Im with other blocks": (blocks(12, 5, 5), ("1.31.1", "1.32.0")),
    "Col2Im with blocks beyond the image": (blocks(5, 5, 3), ("1.31.1", "1.32.0")),
    "Col2Im": (blocks(5, 5, 5), None),
    "Col2Im with pads": (blocks(15, 5, 5, pads=[0, 1, 0, 1]), None),
    "Col2Im with strides and dilations": (blocks(3, 5, 9, strides=[2, 1], dilations=[1, 2]), None),
    "DequantizeLinear along no axis": (dequantize(3, [3]), EVERY),
    "DequantizeLinear with four scales": (
        node("DequantizeLinear", (INT8, [2, 3, 5]), [4], (INT8, [4]), domain=OWN, axis=1), EVERY),
    "DequantizeLinear with a scalar": (node("DequantizeLinear", (INT8, [2, 3, 5]), [], (INT8, []), domain=OWN, axis=1), None),
    "DequantizeLinear with one scale and no axis": (dequantize(3, [1]), None),
    "Gather of nothing": (node("Gather", [2, 0, 3], (INT64, [2]), axis=1), EVERY),
    "Gather nothing": (node("Gather", [2, 0, 3], (INT64, [0]), axis=1), None),
    "GatherElements of nothing": (node("GatherElements", [2, 0, 3], (INT64, [2, 1, 3]), axis=1), EVERY),
    "GatherND of nothing": (node("GatherND", [2, 0, 3], (INT64, [2, 2])), ("1.31.1", "1.32.0")),
    "GatherND of rows of nothing": (node("GatherND", [2, 0, 3], (INT64, [2, 1])), None),
    "GatherND of other batches": (node("GatherND", [5, 2, 3], (INT64, [4, 1]), batch_dims=1), EVERY),
    "GatherND of other batches of two dimensions": (node("GatherND", [2, 4, 3], (INT64, [2, 3, 1]), batch_dims=2), EVERY),
    "GatherND of more batches along two dimensions": (node("GatherND", [3, 2, 5], (INT64, [4, 3, 1]), batch_dims=1), None),
    "GatherND of more batches": (node("GatherND", [5, 2, 3], (INT64, [10, 1]), batch_dims=1), None),
    "GroupQueryAttention with norms": (grouped_attention(*[None] * 7, [8], [8]), ("1.31.1", "1.32.0")),
    "GRU without a sequence": (recurrent("GRU", 3), EVERY),
    "GRU with lengths of no sequence": (recurrent("GRU", 3, (INT32, [2], [0, 0])), None),
    "RNN without a sequence": (recurrent("RNN", 1), None),
    "RNN at the end of no sequence": (recurrent("RNN", 1, outputs=2), ("1.20.1", "1.24.4")),
    "MatMul to no batch": (node("MatMul", [3, 4], [5, 0, 4, 6]), ("1.20.1", "1.31.1")),
    "MatMul of no batch": (node("MatMul", [0, 5, 3, 4], [5, 4, 6]), ("1.20.1", "1.31.1")),
    "FusedMatMul to no batch": (node("FusedMatMul", [4], [0, 4, 6], domain=OWN), ("1.20.1", "1.31.1")),
    "FusedMatMul of no batch": (node("FusedMatMul", [0, 3, 4], [4, 6], domain=OWN), None),
    "MatMul of no batch and a matrix": (node("MatMul", [0, 3, 4], [1, 4, 6]), None),
    "MultiHeadAttention with other values": (multi_head_attention(12, 6), EVERY),
    "MultiHeadAttention, packed": (node("MultiHeadAttention", [2, 3, 2, 3, 4], domain=OWN, num_heads=2), EVERY),
    "MultiHeadAttention": (multi_head_attention(8, 4), None),
    "ReduceMax of nothing": (node("ReduceMax", [2, 3, 0], opset=12), ("1.20.1", "1.20.1")),
    "ReduceMin of nothing": (node("ReduceMin", [2, 3, 0], opset=18), None),
    "QuantizeLinear with a matrix of zero points": (node("QuantizeLinear", [2, 3], [], (INT8, [1, 1]), output=INT8), EVERY),
    "ReduceMax beside nothing": (node("ReduceMax", [2, 3, 0], opset=12, axes=[0]), None),
    "ReduceMax of no truth": (node("ReduceMax", (BOOL, [2, 3, 0]), opset=20, output=BOOL), EVERY),
    "ReduceSum without axes": (node("ReduceSum", [2, 3, 4], noop_with_empty_axes=1), ("1.20.1", "1.20.1")),
    "ReduceL1 without axes": (node("ReduceL1", [2, 3, 4], opset=18, noop_with_empty_axes=1), ("1.20.1", "1.20.1")),
    "ReduceL1 without axes and with a 2": (node("ReduceL1", [2, 3, 4], opset=18, noop_with_empty_axes=2), None),
    "ReduceL1 of one element": (node("ReduceL1", [1, 1], opset=18, noop_with_empty_axes=1), None),
    "ScatterElements into nothing": (node("ScatterElements", [2, 0, 3], (INT64, [1, 1, 2]), [1, 1, 2], axis=1), EVERY),
    "ScatterND into nothing": (node("ScatterND", [2, 0, 3], (INT64, [2, 2]), [2, 3]), EVERY),
    "AffineGrid of a negative size": (node("AffineGrid", [2, 2, 3], (INT64, [4], [2, 3, 5, -1]), opset=20), EVERY),
    "AffineGrid of negative channels": (node("AffineGrid", [2, 2, 3], (INT64, [4], [2, -3, 5, 5]), opset=20), None),
    "ArgMax of nothing": (node("ArgMax", [2, 0, 3], axis=1, output=INT64), EVERY),
    "ArgMax of nothing along the last axis": (node("ArgMax", [2, 3, 0], axis=-1, output=INT64), ("1.32.0", "1.32.0")),
    "BlackmanWindow of no type": (node("BlackmanWindow", (INT64, [], [5]), opset=17, output_datatype=0), EVERY),
    "Cast of strings to four bits": (node("Cast", (STRING, [2]), opset=21, output=UINT4, to=UINT4), EVERY),
    "Col2Im of a small image": (blocks(5, 5, 4), ("1.31.1", "1.32.0")),
    "Col2Im of an empty image": (blocks(5, 5, 0), ("1.31.1", "1.32.0")),
    "Conv without space": (node("Conv", [1, 4], [6, 2]), EVERY),
    "ConvInteger with an empty word": (node("ConvInteger", (UINT8, [1, 2, 7]), (UINT8, [3, 2, 3]), auto_pad="", output=INT32), None),
    "ConvTranspose padded by a stride": (transpose(2, 2), ("1.31.1", "1.32.0")),
    "ConvTranspose padded by less": (transpose(1, 2), None),
    "DeformConv without channels": (node("DeformConv", [1, 0, 7, 4], [1, 0, 3, 2], [1, 12, 5, 3], opset=19), EVERY),
    "FeatureVectorizer of other batches": (ml_node("FeatureVectorizer", [3, 2], [2, 1], inputdimensions=[2, 1]), ("1.31.1", "1.32.0")),
    "FeatureVectorizer of one batch": (ml_node("FeatureVectorizer", [3, 2, 1], [3, 1], inputdimensions=[2, 1]), None),
    "FusedMatMul of batches and a matrix": (node("FusedMatMul", [4, 3], [3, 5], domain=OWN, transBatchB=1), EVERY),
    "FastGelu of a scalar": (node("FastGelu", [], domain=OWN), EVERY),
    "GatherND of too many batch dimensions": (node("GatherND", [4, 2, 3], (INT64, [4, 1]), batch_dims=2), EVERY),
    "GroupNormalization of other groups": (node("GroupNormalization", [3, 4, 2], [4], [4], opset=21, num_groups=3), EVERY),
    "GroupNormalization": (node("GroupNormalization", [3, 4, 2], [4], [4], opset=21, num_groups=2), None),
    "LabelEncoder without classes": (ml_node("LabelEncoder", (INT64, [2]), output=STRING), EVERY),
    "LabelEncoder with classes": (ml_node("LabelEncoder", (INT64, [2]), output=STRING, classes_strings=["a"]), None),
    "LayerNormalization with few biases": (node("LayerNormalization", [2, 3, 4], [3, 4], [4], opset=17, axis=1), ("1.20.1", "1.20.1")),
    "LayerNormalization with another stash": (node("LayerNormalization", [2, 4], [4], opset=17, stash_type=10), None),
    "LinearClassifier without intercepts": (classify([0, 1], [1.0, 2.0, 3.0, 4.0], None), EVERY),
    "LinearClassifier with a row for two intercepts": (classify([0, 1], [1.0, 2.0], [1.0, 2.0]), ("1.31.1", "1.32.0")),
    "LinearClassifier with more intercepts than labels": (classify([0, 1], [1.0, 2.0], [1.0, 2.0, 3.0]), ("1.31.1", "1.32.0")),
    "LinearClassifier with one intercept": (classify([0, 1], [1.0, 2.0, 3.0], [1.0]), None),
    "LinearRegressor with more coefficients": (ml_node("LinearRegressor", coefficients=[1.0, 2.0, 3.0]), None),
    "LinearRegressor with fewer coefficients": (ml_node("LinearRegressor", coefficients=[1.0]), ("1.31.1", "1.32.0")),
    "LpPool beyond the image": (node("LpPool", [1, 4, 9], kernel_shape=[13]), EVERY),
    "LpPool of an empty image": (node("LpPool", [1, 4, 9], kernel_shape=[10]), None),
    "MatMulIntegerToFloat with zero points of rows": (
        node("MatMulIntegerToFloat", (UINT8, [1, 2]), (UINT8, [2, 1]), [], [], (UINT8, [2]), domain=OWN), EVERY),
    "MaxUnpool to a small shape": (unpool(1, 1, 5, 3), EVERY),
    "MaxUnpool to a negative size": (unpool(1, 1, 5, -5), EVERY),
    "Max of other shapes": (node("Max", [2, 3], [2, 1], opset=6), EVERY),
    "MaxUnpool of four spatial dimensions": (
        node("MaxUnpool", [1, 1, 2, 2, 2, 2], (INT64, [1, 1, 2, 2, 2, 2]), kernel_shape=[1] * 4), EVERY),
    "MelWeightMatrix of negative bins": (mel(-1, 16), EVERY),
    "MelWeightMatrix of -1 points": (mel(8, -1), None),
    "MelWeightMatrix of -2 points": (mel(8, -2), EVERY),
    "OneHotEncoder of numbers to strings": (ml_node("OneHotEncoder", cats_strings=["1"]), None),
    "Imputer of a scalar": (ml_node("Imputer", [], imputed_value_floats=[7.0], replaced_value_float=-1.0), EVERY),
    "OneHotEncoder without categories": (ml_node("OneHotEncoder"), EVERY),
    "OneHotEncoder with two kinds of categories": (ml_node("OneHotEncoder", cats_int64s=[1], cats_strings=["1"]), EVERY),
    "OneHotEncoder of no numbers": (empty_categories("cats_int64s", onnx.AttributeProto.INTS), EVERY),
    "OneHotEncoder of no words": (empty_categories("cats_strings", onnx.AttributeProto.STRINGS), EVERY),
    "OneHotEncoder of numbers among strings": (ml_node("OneHotEncoder", cats_strings=["1"], zeros=0), EVERY),
    "OneHotEncoder of nothing": (ml_node("OneHotEncoder", [0], cats_strings=["1"], zeros=0), None),
    "ArrayFeatureExtractor of no index": (ml_node("ArrayFeatureExtractor", [1, 4], (INT64, [0])), EVERY),
    "TreeEnsembleClassifier": (classify_by_tree(), None),
    "TreeEnsembleClassifier of a list": (classify_by_tree(sizes=[2]), None),
    "TreeEnsembleClassifier of a scalar": (classify_by_tree(sizes=[]), EVERY),
    "TreeEnsembleClassifier of three dimensions": (classify_by_tree(sizes=[1, 3, 4]), EVERY),
    "TreeEnsembleClassifier with a hit rate": (rates(3), None),
    "TreeEnsembleClassifier with a scalar hit rate": (rates(), ("1.20.1", "1.20.1")),
    "TreeEnsembleClassifier without hit rates": (rates(0), ("1.20.1", "1.20.1")),
    "TreeEnsembleClassifier with a matrix of hit rates": (rates(1, 3), ("1.20.1", "1.20.1")),
    "TreeEnsembleClassifier with more weights": (weights(3), ("1.31.1", "1.32.0")),
    "TreeEnsembleClassifier with one track": (classify_by_tree(nodes_missing_value_tracks_true=[1]), None),
    "TreeEnsembleClassifier with three base values": (classify_by_tree(base_values=[1.0] * 3), ("1.31.1", "1.32.0")),
    "TreeEnsembleClassifier with more trees": (classify_by_tree(class_treeids=[0, 0, 7]), {"1.20.1", "1.31.1", "1.32.0"}),
    "TreeEnsembleClassifier with fewer trees": (classify_by_tree(class_treeids=[0]), EVERY),
    "TreeEnsembleClassifier with more modes": (classify_by_tree(nodes_modes=["BRANCH_LEQ", *["LEAF"] * 3]), {"1.20.1", "1.31.1", "1.32.0"}),
    "TreeEnsembleClassifier with one child": (classify_by_tree(nodes_truenodeids=[1]), {"1.20.1", "1.31.1", "1.32.0"}),
    "TreeEnsembleClassifier without children": (without(classify_by_tree(), "nodes_truenodeids"), EVERY),
    "TreeEnsembleClassifier with a child twice": (classify_by_tree(nodes_truenodeids=[2, 0, 0]), ("1.20.1", "1.20.1")),
    "TreeEnsembleRegressor with a child twice": (tree(branches=[1, 0, 0]), ("1.20.1", "1.20.1")),
    "SVMClassifier of vectors of two lengths": (
        ml_node(
            "SVMClassifier", output=[INT64, FLOAT], outputs=2, classlabels_ints=[0, 1], coefficients=[1.0, -1.0],
            kernel_params=[0.5, 0.0, 3.0], rho=[0.25], support_vectors=[2.0, 3.0, 4.0], vectors_per_class=[1, 1],
        ),
        ("1.31.1", "1.32.0"),
    ),
    "TreeEnsemble": (trees(), ("1.20.1", "1.20.1")),
    "TreeEnsemble with a matrix of members": (trees(members=(1, 3)), ("1.20.1", "1.20.1")),
    "TreeEnsemble without members": (trees(members=(0,)), EVERY),
    "TreeEnsemble with a column of weights": (trees(leaves=(3, 1)), {"1.20.1", "1.32.0"}),
    "TreeEnsemble with a row of weights": (trees(leaves=(1, 3)), EVERY),
    "Constant of a complex number and a number": (constant(COMPLEX.data_type, value=COMPLEX, value_int=3), EVERY),
    "Constant of a number and a complex number": (constant(INT64, value_int=3, value=COMPLEX), None),
    "Pad of a scalar": (node("Pad", [], (INT64, [0], [])), EVERY),
    "PRelu with other slopes": (node("PRelu", [2, 3], [2]), EVERY),
    "PRelu with more slopes": (node("PRelu", [2, 3], [2, 2, 3]), None),
    "QuantizeLinear along no axis": (node("QuantizeLinear", [2, 3, 5], [3], (UINT8, [3]), axis=3, output=UINT8), EVERY),
    "Resize with an odd word of another mode": (resize(mode="linear", nearest_mode="odd"), None),
    "Resize with an odd word": (resize(nearest_mode="odd"), EVERY),
    "Resize with empty scales that are given": (resize([0]), EVERY),
    "Resize with empty scales": (resize((FLOAT, [0], [])), None),
    "RoiAlign of two regions": (node("RoiAlign", [2, 3, 8, 8], [2, 5], (INT64, [3]), opset=16), EVERY),
    "RoiAlign to a negative size": (node("RoiAlign", [2, 3, 8, 8], [2, 4], (INT64, [2]), opset=16, output_height=-1), EVERY),
    "Scaler of a scalar": (ml_node("Scaler", [], scale=[1.0], offset=[1.0]), EVERY),
    "Slice of a scalar": (node("Slice", [], (INT64, [0], []), (INT64, [0], [])), EVERY),
    "Split into more outputs": (node("Split", [2, 6], opset=11, outputs=3, axis=1, split=[2, 4]), EVERY),
    "Split into more outputs than parts": (node("Split", [2, 6], (INT64, [2], [2, 4]), outputs=3, axis=1), EVERY),
    "STFT of a short signal": (spectrum(2, 8), EVERY),
    "STFT of one frame": (spectrum(8, 8), None),
    "SVMRegressor without parameters": (vectors(None), EVERY),
    "SVMRegressor with no parameters": (vectors([]), None),
    "SVMRegressor with two parameters": (vectors([1.0, 2.0]), EVERY),
    "SVMRegressor with four parameters": (vectors([1.0, 2.0, 3.0, 4.0]), ("1.31.1", "1.32.0")),
    "SVMRegressor with two numbers to add": (vectors([], rho=[1.0, 2.0]), None),
    "SVMRegressor with another feature": (vectors([], coefficients=[1.0, 2.0, 3.0]), EVERY),
    "Transpose with few dimensions": (node("Transpose", [1, 3, 4], perm=[1, 0]), EVERY),
    "TreeEnsembleRegressor": (tree(), None),
    "TreeEnsembleRegressor with a node twice": (tree(nodes=[0, 2, 2]), EVERY),
    **{
        f"{operator} {reduction} of {name}": (reduce_model(operator, kind, reduction), releases)
        for operator, reduction, name, kind, releases in [
            ("ScatterND", "min", "BFLOAT16", BFLOAT16, EVERY),
            ("ScatterND", "max", "FLOAT16", FLOAT16, EVERY),
            ("ScatterND", "mul", "STRING", STRING, EVERY),
            ("ScatterND", "none", "BFLOAT16", BFLOAT16, None),
            ("ScatterElements", "min", "BOOL", BOOL, EVERY),
            ("ScatterElements", "mul", "FLOAT16", FLOAT16, EVERY),
            ("ScatterElements", "max", "FLOAT16", FLOAT16, None),
            ("ScatterElements", "add", "STRING", STRING, None),
        ]
    },
    "FusedConv with dilations": (fused_conv(auto_pad="SAME_UPPER", dilations=[2, 2]), EVERY),
    "FusedConv with an unknown auto_pad": (fused_conv(auto_pad="foo"), EVERY),
    "FusedConv with SAME": (fused_conv(auto_pad="SAME_UPPER"), None),
    "FastGelu with a matrix as bias": (node("FastGelu", [2, 3], [1, 3], domain=OWN), EVERY),
    "FastGelu with a bias": (node("FastGelu", [2, 3], [3], domain=OWN), None),
    "SkipLayerNormalization with a row": (node("SkipLayerNormalization", [2, 3, 4], [1, 4], [4], domain=OWN), EVERY),
    "SkipSimplifiedLayerNormalization with a row": (
        node("SkipSimplifiedLayerNormalization", [2, 3, 4], [1, 4], [4], domain=OWN), EVERY,
    ),
    "SkipSimplifiedLayerNormalization of rank 4": (
        node("SkipSimplifiedLayerNormalization", [1, 2, 3, 4], [2, 3, 4], [4], domain=OWN), EVERY,
    ),
    "QuantizeLinear with a list without axis": (quantize([2]), EVERY),
    "QuantizeLinear with a list for the default axis": (quantize([3]), None),
    "QuantizeLinear with a matrix of scales": (quantize([1, 1]), EVERY),
    "QuantizeLinear with a scalar and axis": (quantize([], axis=0), None),
    "QuantizeLinear with a scalar and an axis out of range": (quantize([1], axis=5), None),
    "STFT with two lengths": (framed((INT64, [2])), EVERY),
    "STFT with a list of one length": (framed((INT64, [1], [16])), EVERY),
    "STFT with a list of one length and an open step": (framed((INT64, [1], [16]), (INT64, [])), None),
    "STFT without a length": (framed(None), EVERY),
    "HannWindow with four sizes": (node("HannWindow", (INT64, [4]), opset=17), EVERY),
    "HannWindow with a list of one size": (node("HannWindow", (INT64, [1]), opset=17), None),
    "CenterCropPad with one open size for two axes": (crop([1], axes=[0, 1]), None),
    "CenterCropPad with an open scalar": (crop([]), None),
    "CenterCropPad with two open sizes for an axis": (crop([2], axes=[0]), EVERY),
    "CenterCropPad with one size": (crop([1], [3]), EVERY),
    "Attention without a bias": (node("Attention", [2, 3, 5], [5, 24], domain=OWN, num_heads=2), ("1.20.1", "1.31.1")),
    "RotaryEmbedding of a long sequence": (rotate(2), EVERY),
    "RotaryEmbedding of a sequence": (rotate(3), None),
    "MatMulNBits with a row of zero points": (block([1, 18]), ("1.24.4", "1.32.0")),
    "MatMulNBits with zero points per column": (block([6, 3]), None),
    "QLinearLeakyRelu with two scales": (
        node("QLinearLeakyRelu", (UINT8, [2, 3]), [2], (UINT8, []), [], (UINT8, []), output=UINT8, domain=OWN), EVERY,
    ),
    "Transpose by a place beyond perm": (node("Transpose", [1, 3], perm=[1]), EVERY),
    "MultiHeadAttention without heads": (
        node("MultiHeadAttention", [2, 3, 8], [2, 5, 8], [2, 5, 8], domain=OWN, num_heads=0), EVERY,
    ),
    "Grouped attention without past_value": (grouped_attention(past=[1, 2, 4, 8]), EVERY),
    "Grouped attention without heads": (grouped_attention(num_heads=0), EVERY),
    "Grouped attention with a window of 0": (grouped_attention(local_window_size=0), None),
    "Grouped attention with three heads for two": (grouped_attention(num_heads=3, kv_num_heads=2), EVERY),
    "Grouped attention with cosines alone": (grouped_attention([3, 8]), EVERY),
    "Grouped attention with cosines of FLOAT16": (grouped_attention((FLOAT16, [3, 8]), (FLOAT16, [3, 8])), EVERY),
    "Grouped attention with other lengths": (cached((INT32, [1], [9])), ("1.31.1", "1.32.0")),
    "Grouped attention with a matrix of lengths": (cached((INT32, [1, 1], [2])), None),
    "Grouped attention with a scalar as lengths": (cached((INT32, [], [2])), EVERY),
    "Grouped attention with a total of 0": (cached((INT32, [1], [2]), (INT32, [], [0])), EVERY),
    "Grouped attention without queries": (cached((INT32, [1], [0]), (INT32, [], [1]), queries=0), EVERY),
    "Grouped attention to FLOAT16": (cached((INT32, [1], [2]), output=[FLOAT16, FLOAT, FLOAT]), EVERY),
    "EmbedLayerNormalization with positions of one batch": (embedded([1, 3]), None),
    "EmbedLayerNormalization with more positions": (embedded([2, 4]), EVERY),
    "EmbedLayerNormalization with a list of positions": (embedded([3]), EVERY),
    "EmbedLayerNormalization of a list": (embedded(None, [3]), EVERY),
    "EmbedLayerNormalization with one output": (embedded(None, outputs=1), EVERY),
    "FusedConv with HardSwish": (fused_conv(activation="HardSwish"), ("1.20.1", "1.24.4")),
    "GatherBlockQuantized of 2 bits": (gathered([4, 8], [4, 2], bits=2), ("1.20.1", "1.24.4")),
    "GatherBlockQuantized of 8 bits in columns": (gathered([32, 4], [2, 4], bits=8, quantize_axis=0), EVERY),
    "GatherBlockQuantized of 4 bits in columns": (gathered([4, 32, 4], [4, 2, 8]), EVERY),
    "GatherBlockQuantized beyond the rows": (gathered([4, 8], [4, 1], 4), ("1.20.1", "1.24.4")),
    "MultiHeadAttention with scores of FLOAT16": (scored(FLOAT16), EVERY),
    "NhwcMaxPool with an unknown auto_pad": (
        node("NhwcMaxPool", (INT8, [1, 5, 5, 2]), output=INT8, domain=OWN, kernel_shape=[2, 2], auto_pad="odd"), EVERY,
    ),
    "FusedConv with negative strides": (fused_conv(strides=[1, -1]), EVERY),
    "RotaryEmbedding of a part without heads": (
        node("RotaryEmbedding", [2, 2, 3, 4], (INT64, [1], [0]), [3, 2], [3, 2], domain=OWN, rotary_embedding_dim=4),
        EVERY,
    ),
    "EmbedLayerNormalization of segments without a table": (
        node("EmbedLayerNormalization", (INT32, [2, 3]), (INT32, [2, 3]), [5, 4], [6, 4], None, [4], [4], outputs=2,
             output=[FLOAT, INT32], domain=OWN), EVERY,
    ),
    "FastGelu of FLOAT16 with a matrix as bias": (
        node("FastGelu", (FLOAT16, [2, 3]), (FLOAT16, [1, 3]), output=FLOAT16, domain=OWN), None,
    ),
    "SkipLayerNormalization of a matrix": (node("SkipLayerNormalization", [2, 4], [1, 2, 4], [4], domain=OWN), EVERY),
    "MatMulBnb4 with few weights": (four_bits([23]), ("1.31.1", "1.32.0")),
    "MatMulBnb4 with more weights": (four_bits([25]), None),
    "MatMulBnb4 without rows": (four_bits([24], K=0), EVERY),
    "DynamicQuantizeMatMul with one bias": (
        node("DynamicQuantizeMatMul", [3, 4], (UINT8, [4, 6]), [], (UINT8, []), [1], domain=OWN), ("1.31.1", "1.32.0"),
    ),
    "Attention with a mask of rank 4": (
        node("Attention", [2, 3, 5], [5, 24], [24], (INT32, [2, 1, 3, 3]), domain=OWN, num_heads=2), EVERY,
    ),
    "MatMulNBits of 2 bits and FLOAT16": (bits_of(2, FLOAT16), ("1.20.1", "1.24.4")),
    "MatMulNBits of 8 bits and FLOAT16": (bits_of(8, FLOAT16), ("1.20.1", "1.20.1")),
    "MatMulNBits of 8 bits and zero points of FLOAT": (bits_of(8, FLOAT, [6, 2]), EVERY),
    "Grouped attention without a number of heads": (without(cached((INT32, [1], [2])), "kv_num_heads"), EVERY),
    **{
        f"{name} of a kernel larger than its input": (onnx_model, EVERY)
        for name, onnx_model in {
            "Conv": node("Conv", [1, 2, 2, 4], [3, 2, 3, 1]),
            "FusedConv": node("FusedConv", [1, 2, 2, 4], [3, 2, 3, 1], domain=OWN),
            "ConvInteger": node("ConvInteger", (UINT8, [1, 2, 2, 4]), (UINT8, [3, 2, 3, 1]), output=INT32),
        }.items()
    },
    "Conv of a kernel as large as its padded input": (
        node("Conv", [1, 2, 1, 4], [3, 2, 3, 1], pads=[1, 0, 1, 0]), None,
    ),
    "NhwcMaxPool of a window larger than its input": (
        node("NhwcMaxPool", (INT8, [1, 2, 4, 2]), output=INT8, domain=OWN, kernel_shape=[3, 1]), None,
    ),
    "Cast to BFLOAT16 at opset 9": (node("Cast", [2], opset=9, output=BFLOAT16, to=BFLOAT16), None),
    "Cast to no type": (node("Cast", [2], opset=9, to=99), EVERY),
    "EyeLike of type 0": (node("EyeLike", (INT32, [3, 4]), opset=9, dtype=0), EVERY),
    "Gelu with an odd word": (node("Gelu", [2, 3], opset=20, approximate="odd"), EVERY),
    "Gelu of FLOAT16 with an odd word": (
        node("Gelu", (FLOAT16, [2, 3]), opset=20, output=FLOAT16, approximate="odd"), None,
    ),
    "PRelu with more slopes that do not fit": (node("PRelu", [2, 3], [4, 3, 3]), EVERY),
    "Split of 7 into 3": (node("Split", [7], opset=18, outputs=3, num_outputs=3), None),
    "Split of 4 into 3": (node("Split", [4], opset=18, outputs=3, num_outputs=3), ("1.20.1", "1.31.1")),
    "Split of 5 into 4": (node("Split", [5], opset=18, outputs=4, num_outputs=4), EVERY),
    "Split of 1 into 2": (node("Split", [1], opset=18, outputs=2, num_outputs=2), ("1.20.1", "1.31.1")),
    "Split of 1 into 3": (node("Split", [1], opset=18, outputs=3, num_outputs=3), EVERY),
    "AffineGrid of FLOAT16 with one batch": (half_grid([1, 2, 3], 1, 3, 5, 6), EVERY),
    "AffineGrid of FLOAT16 with two batches": (half_grid([2, 2, 3], 2, 3, 5, 6), None),
    "AffineGrid of FLOAT16 with more batches": (half_grid([1, 2, 3], 2, 3, 5, 6), EVERY),
    "AffineGrid of FLOAT16 with fewer batches": (half_grid([3, 2, 3], 2, 3, 5, 6), None),
    "AffineGrid of FLOAT16 with larger matrices": (half_grid([2, 3, 4], 2, 3, 5, 6), None),
    "AffineGrid of FLOAT16 with a width of 0": (half_grid([2, 2, 3], 2, 3, 5, 0), EVERY),
    "AffineGrid of FLOAT16 with a depth of 0": (half_grid([2, 3, 4], 2, 3, 0, 5, 6), None),
    "AffineGrid of FLOAT16 with other batches of 3-D": (half_grid([2, 3, 4], 1, 3, 4, 5, 6), EVERY),
    "AffineGrid of a matrix of sizes": (node("AffineGrid", [2, 3, 4], (INT64, [1, 5]), opset=20), EVERY),
    "ReduceLogSumExp of FLOAT16 without axes": (
        node("ReduceLogSumExp", (FLOAT16, [2, 3, 4]), opset=18, output=FLOAT16, noop_with_empty_axes=1), None,
    ),
    "ReduceSum with axes without a name": (node("ReduceSum", [2, 3, 4], None, noop_with_empty_axes=1), None),
    "LSTM with the weights of two directions": (lstm(2, "reverse"), ("1.31.1", "1.32.0")),
    "LSTM with the weights and biases of two directions": (lstm(2, "reverse", [2, 32]), EVERY),
    "LSTM with the weights of two directions and the bias of one": (lstm(2, "reverse", [1, 32]), ("1.31.1", "1.32.0")),
    "LSTM with the weights of one of two directions": (lstm(1, "bidirectional"), ("1.31.1", "1.32.0")),
    "QuantizeLinear with three scales at opset 10": (node("QuantizeLinear", [2, 3], [3], opset=10, output=UINT8), None),
    "QuantizeLinear with two scales at opset 10": (node("QuantizeLinear", [2, 3], [2], opset=10, output=UINT8), EVERY),
    "DequantizeLinear with three scales at opset 10": (
        node("DequantizeLinear", (INT8, [2, 3]), [3], (INT8, [3]), opset=10), None,
    ),
    "DequantizeLinear with three scales and one zero point at opset 10": (
        node("DequantizeLinear", (INT8, [2, 3]), [3], (INT8, [1]), opset=10), EVERY,
    ),
    "QuantizeLinear of a list with three scales": (node("QuantizeLinear", [3], [3], output=UINT8), EVERY),
    "QuantizeLinear of a list along axis 0": (node("QuantizeLinear", [3], [3], output=UINT8, axis=0), None),
    "DequantizeLinear of a list with three scales": (node("DequantizeLinear", (INT8, [3]), [3]), EVERY),
    "Resize with a matrix of four scales": (node("Resize", [1, 1, 2, 2], None, [2, 2]), None),
    "Resize with a matrix of six scales": (node("Resize", [1, 1, 2, 2], None, [2, 3]), EVERY),
    "Resize with a matrix of six scales for two axes": (
        node("Resize", [1, 1, 2, 2], None, [2, 3], opset=18, axes=[2, 3]), EVERY,
    ),
    "Upsample with a matrix of four scales": (node("Upsample", [1, 1, 2, 2], [2, 2], opset=9), None),
    "Upsample with a matrix of six scales": (node("Upsample", [1, 1, 2, 2], [2, 3], opset=9), EVERY),
    **{
        f"{operator} {name}": (onnx_model, releases)
        for operator in ("QuantizeLinear", "DequantizeLinear")
        for name, onnx_model, releases in (
            ("in blocks", blocked(operator, [2, 3, 2], axis=2, block_size=2), None),
            ("in blocks by a scalar", blocked(operator, [], block_size=2), EVERY),
            ("in blocks by a list", blocked(operator, [4], axis=2, block_size=2), EVERY),
            ("in blocks along no axis", blocked(operator, [2, 3, 4], axis=3, block_size=1), EVERY),
            ("of a list by two scales", blocked(operator, [2], (4,), axis=0), EVERY),
            ("of a list in two blocks", blocked(operator, [2], (4,), axis=0, block_size=2), None),
        )
    },
    "SVMClassifier of one class": (svm_classifier(2, classlabels_ints=[0]), None),
    "SVMClassifier with few coefficients": (svm_classifier(1), ("1.31.1", "1.32.0")),
    "SVMClassifier of words with few coefficients": (
        untyped(svm_classifier(1, classlabels_strings=["a", "b"])), ("1.31.1", "1.32.0"),
    ),
    "SVMClassifier of vectors with few coefficients": (svm_classifier(1, [1, 1]), EVERY),
    "SVMClassifier of words and numbers": (
        svm_classifier(4, classlabels_ints=[0, 1], classlabels_strings=["a", "b"]), EVERY,
    ),
    "SVMClassifier of words and numbers to an untyped output": (
        untyped(svm_classifier(4, classlabels_ints=[0, 1], classlabels_strings=["a", "b"])), None,
    ),
    "OneHot of no class": (node("OneHot", (INT64, [3]), (INT64, [], [0]), [2], opset=11), EVERY),
    "DFT of two parts with onesided": (node("DFT", [1, 10, 3, 2], opset=17, axis=2, onesided=1), ("1.31.1", "1.32.0")),
    "DFT of three parts with onesided": (node("DFT", [1, 10, 3, 3], opset=17, axis=2, onesided=1), EVERY),
    "Pad with a row of pads": (node("Pad", [3, 2], (INT64, [1, 4]), opset=18), None),
    "Pad with two rows of pads": (node("Pad", [3, 2], (INT64, [2, 2]), opset=18), EVERY),
    "GroupNormalization of nothing": (node("GroupNormalization", [0, 4, 2], [4], [4], opset=21, num_groups=2), EVERY),
    "GroupNormalization of an empty width": (
        node("GroupNormalization", [3, 4, 2, 0], [4], [4], opset=21, num_groups=2), EVERY,
    ),
    "Split in no parts": (node("Split", [4], opset=18, outputs=2, num_outputs=0), EVERY),
    "Split of 4 in 3 of 4 parts": (node("Split", [4], opset=18, outputs=3, num_outputs=4), EVERY),
    "ArgMin of nothing along axis 1": (node("ArgMin", [3, 0], axis=1, output=INT64), EVERY),
    "LayerNormalization of few scales": (node("LayerNormalization", [2, 3, 4], [4], opset=17, axis=1), ("1.20.1", "1.20.1")),
    "LayerNormalization of flat scales": (
        node("LayerNormalization", [2, 3, 4], [12], opset=17, axis=1), ("1.24.4", "1.32.0"),
    ),
    "Reshape of nothing with allowzero 2": (
        node("Reshape", [0, 3, 4], (INT64, [2], [7, 0]), opset=14, allowzero=2), EVERY,
    ),
    "Reshape with allowzero 2": (node("Reshape", [2, 3], (INT64, [2], [0, 3]), opset=14, allowzero=2), None),
    "Resize of an empty image": (
        node("Resize", [1, 1, 0, 2], None, None, (INT64, [4], [1, 1, 4, 3]), opset=13), EVERY,
    ),
    "Resize to nothing": (
        node("Resize", [1, 1, 2, 2], [0], (FLOAT, [0], []), (INT64, [0], []), opset=11), EVERY,
    ),
    "FusedMatMul of batches and a matrix that do not fit": (
        node("FusedMatMul", [2, 4, 3], [6, 4], domain=OWN, transBatchB=1), EVERY,
    ),
    "Col2Im of negative blocks": (
        node("Col2Im", [1, 10, 5], (INT64, [2], [5, 5]), (INT64, [2], [-1, 5]), opset=18), EVERY,
    ),
    "Expand to a negative size": (node("Expand", [3], (INT64, [1], [-1])), EVERY),
    "RotaryEmbedding of one row of sines": (
        node("RotaryEmbedding", [2, 4, 3, 8], [50, 4], [1, 4], (INT64, [2, 3]), opset=23), EVERY,
    ),
    "CumSum along a listed axis that is not there": (node("CumSum", [2, 3], (INT32, [1], [3]), opset=14), EVERY),
    "CumSum along a listed axis": (node("CumSum", [2, 3], (INT32, [1], [-2]), opset=14), None),
    "CumSum of a scalar": (node("CumSum", [], (INT32, [], [0]), opset=14), EVERY),
    "PRelu of one column": (node("PRelu", [2, 1], [2], opset=16), None),
    "PRelu of three columns": (node("PRelu", [2, 3], [2], opset=16), EVERY),
    "Scaler by the second of three dimensions": (
        ml_node("Scaler", [2, 3, 2], scale=[1.0] * 3, offset=[1.0] * 3), None,
    ),
    "Pad that reflects what is cut": (padded("reflect", 0, 1, 0, -1), ("1.24.4", "1.32.0")),
    "Pad that reflects too much": (padded("reflect", 0, 2, 0, 0), ("1.31.1", "1.32.0")),
    "Pad that leaves nothing": (padded("edge", 0, -2, 0, 0), ("1.24.4", "1.32.0")),
    "Pad that leaves nothing to repeat": (padded("edge", 0, -3, 0, 1), EVERY),
    "Pad that leaves nothing but constants": (padded("constant", 0, -3, 0, 1), ("1.20.1", "1.20.1")),
    "Pad of nothing": (padded("edge", 1, 0, 0, 0, sizes=(0, 2)), EVERY),
    "Pad of a row that is reflected": (padded("reflect", 2, 0, 0, 0, sizes=(1, 4)), ("1.31.1", "1.32.0")),
    "GatherND with more indices than dimensions": (node("GatherND", [2, 3], (INT64, [2, 2]), batch_dims=1), EVERY),
    "DFT along a listed axis": (node("DFT", [1, 6, 1], None, (INT64, [1], [1]), opset=20), EVERY),
    "BatchNormalization without a mean": (untyped(train("", "y2")), EVERY),
    "BatchNormalization without a mean in mode 2": (untyped(train("", "y2", mode=2)), None),
    "GroupNormalization with one scale": (node("GroupNormalization", [3, 4, 2], [1], [1], opset=21, num_groups=2), None),
    "GroupNormalization with five scales": (node("GroupNormalization", [3, 4, 2], [5], [5], opset=21, num_groups=2), EVERY),
    "ConvTranspose to a negative size": (stretch(1, -8), EVERY),
    "ConvTranspose to sizes of -1": (stretch(-1, -1), ("1.31.1", "1.32.0")),
    "ConvTranspose to a size out of reach": (stretch(5, 8), ("1.31.1", "1.32.0")),
    "MatMulBnb4 of blocks of -2": (four_bits([24], block_size=-2), EVERY),
    "MatMulBnb4 with a matrix of scales": (
        node("MatMulBnb4", [2, 3, 8], (UINT8, [24]), [1, 3], domain=OWN, K=8, N=6, block_size=16, quant_type=1), None,
    ),
    "ReduceSumSquare of no FLOAT16": (square(0), ("1.20.1", "1.24.4")),
    "ReduceSumSquare of no FLOAT16 with a 2": (square(2), EVERY),
    "STFT of four parts": (
        node("STFT", [2, 32, 4], (INT64, [], [4]), None, (INT64, [], [8]), opset=17, onesided=0), EVERY,
    ),
    "ReverseSequence along negative axes": (reverse(-1, -2), None),
    "ReverseSequence along equal axes": (reverse(-1, -1), EVERY),
    "ReverseSequence along axis 2": (reverse(0, 2), EVERY),
    "MelWeightMatrix of a list of bins": (
        node("MelWeightMatrix", (INT64, [1], [8]), (INT64, [], [16]), (INT64, [], [8192]), (FLOAT, [], [0.0]),
             (FLOAT, [], [4096.0]), opset=17), EVERY,
    ),
    "MelWeightMatrix of a list of rates": (
        node("MelWeightMatrix", (INT64, [], [8]), (INT64, [], [16]), (INT64, [1], [8192]), (FLOAT, [], [0.0]),
             (FLOAT, [], [4096.0]), opset=17), None,
    ),
    "ConstantOfShape of BFLOAT16": (
        node("ConstantOfShape", (INT64, [1], [2]), opset=9, output=BFLOAT16,
             value=helper.make_tensor("v", BFLOAT16, [1], [1.0])), None,
    ),
    "HannWindow of truth": (node("HannWindow", (INT64, [], [5]), opset=17, output=BOOL, output_datatype=BOOL), None),
    "HannWindow of four bits": (
        node("HannWindow", (INT64, [], [5]), opset=17, output=UINT4, output_datatype=UINT4), ("1.20.1", "1.20.1"),
    ),
    "Bernoulli of four bits": (node("Bernoulli", [2], opset=15, output=UINT4, dtype=UINT4), ("1.20.1", "1.20.1")),
    **{
        f"{operator} of nothing with SAME_UPPER": (
            node(operator, [1, 2, 7, 0], [3, 2, 3, 2], auto_pad="SAME_UPPER", domain=domain), EVERY,
        )
        for operator, domain in (("Conv", ""), ("FusedConv", OWN))
    },
    "ReduceMin of no truth to an untyped output": (untyped(node("ReduceMin", (BOOL, [0, 3]), opset=20)), EVERY),
    "SoftmaxCrossEntropyLoss with one batch of labels": (
        node("SoftmaxCrossEntropyLoss", [2, 3, 4], (INT32, [1, 4])), ("1.24.4", "1.32.0"),
    ),
    "SoftmaxCrossEntropyLoss with more batches of labels": (
        node("SoftmaxCrossEntropyLoss", [2, 3, 4], (INT32, [3, 4])), EVERY,
    ),
    "Range of INT16 from a list": (counted(onnx.TensorProto.INT16), None),
    "Range of FLOAT from a list": (counted(FLOAT), EVERY),
    "Grouped attention with lengths beyond the total": (in_buffer(5, 5), None),
    "Grouped attention with lengths beyond the past": (in_buffer(9, 5), ("1.31.1", "1.32.0")),
    **{
        f"{operator} of empty rows of FLOAT16": (
            node(operator, (FLOAT16, [2, 0]), opset=13, output=FLOAT16, axis=1), ("1.20.1", "1.20.1"),
        )
        for operator in ("Softmax", "LogSoftmax")
    },
    "FastGelu to FLOAT16": (node("FastGelu", [2, 3], output=FLOAT16, domain=OWN), EVERY),
    "DequantizeLinear of FLOAT scales to FLOAT16": (
        node("DequantizeLinear", (INT8, [2]), [], opset=23, output=FLOAT16, output_dtype=FLOAT16), ("1.20.1", "1.24.4"),
    ),
    "MaxUnpool to no batch": (unpool(0, 1, 4, 4), EVERY),
    "MaxUnpool to more channels": (unpool(1, 2, 3, 3), ("1.31.1", "1.32.0")),
    "BatchNormalization of FLOAT16 in mode 3": (
        node("BatchNormalization", (FLOAT16, [1, 2, 4]), *[(FLOAT16, [2])] * 4, opset=15, outputs=3, output=FLOAT16,
             training_mode=3), EVERY,
    ),
    "BatchNormalization with four of five outputs": (normalize("y", "a", "", "b", "c"), EVERY),
    "BatchNormalization with five outputs": (normalize("y", "a", "b", "c", "d"), None),
    "BatchNormalization with two outputs": (normalize("y", "a"), EVERY),
    "Squeeze of 4 and beyond": (node("Squeeze", [4, 1, 2, 5], opset=11, axes=[4, 0]), EVERY),
    "Einsum with two arrows": (node("Einsum", [2, 3], opset=12, equation="->ij->"), EVERY),
    "Resize of a negative axis": (
        node("Resize", [1, 1, 2, 2], None, None, (INT64, [2], [3, 7]), opset=18, axes=[2, -1]), ("1.20.1", "1.24.4"),
    ),
    "Resize of two axes": (
        node("Resize", [1, 1, 2, 2], None, None, (INT64, [2], [3, 7]), opset=18, axes=[2, 3]), None,
    ),
    "Reshape to another type": (node("Reshape", [6], opset=1, output=DOUBLE, shape=[6]), EVERY),
    "Split in fewer parts": (node("Split", [7], opset=18, outputs=2, num_outputs=3), ("1.32.0", "1.32.0")),
    "TreeEnsembleRegressor with a lost branch": (tree(branches=[3, 0, 0]), EVERY),
    "TreeEnsembleRegressor with a loop": (tree(branches=[0, 0, 0]), EVERY),
    "TreeEnsembleRegressor with a lost vote": (tree(voter=5), EVERY),
    "TreeEnsembleRegressor with the feature of a leaf": (tree(features=[0, 0, 3]), ("1.20.1", "1.24.4")),
    "Unsqueeze at the end": (node("Unsqueeze", [2, 3], opset=1, axes=[-1]), None),
    "Unsqueeze twice": (node("Unsqueeze", [2, 3], opset=11, axes=[1, 1]), EVERY),
    **{
        f"{operator} with {zero_points} zero points": (product(operator, zero_points), EVERY if zero_points == [6] else None)
        for operator in ("MatMulInteger", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")
        for zero_points in ([6], [1])
    },
}  # fmt: skip


def failing(releases):
    if releases is None:
        return set()
    if isinstance(releases, set):
        return releases
    return set(RELEASES[RELEASES.index(releases[0]) : RELEASES.index(releases[1]) + 1])


@pytest.mark.parametrize("name", MODELS)
def test_every_run_fails_in_these_releases(name):
    onnx_model, releases = MODELS[name]
    if "GroupQueryAttention" in name:  # older releases know no such inputs
        assert not specgate.place(onnx_model, "onnxruntime:1.24.4").usable
        releases = EVERY
    placed = {at for at in RELEASES if not specgate.place(onnx_model, f"onnxruntime:{at}").usable}
    assert placed == failing(releases)


def test_einsum_output_only_letters_fail_before_a_run_from_1_32_on():
    onnx_model = node("Einsum", [2, 3], [3, 4], opset=12, equation="ij,jk->il")
    sessions = {at: specgate.place(onnx_model, f"onnxruntime:{at}").unoptimised for at in RELEASES}
    assert sessions == {"1.20.1": "fails", "1.24.4": "fails", "1.31.1": "fails", "1.32.0": "fails"}
    first = {at: next(iter(specgate.place(onnx_model, f"onnxruntime:{at}"))).at_run for at in RELEASES}
    assert first == {"1.20.1": True, "1.24.4": True, "1.31.1": True, "1.32.0": False}


@pytest.mark.parametrize(
    ("name", "late"),
    [
        ("FusedMatMul of batches and a matrix that do not fit", False),
        ("Resize to nothing", True),
        ("Expand to a negative size", False),
        ("Split in no parts", False),
        ("Squeeze of 4 and beyond", False),
        ("Einsum with two arrows", False),
        ("CenterCropPad with two open sizes for an axis", True),
        ("BatchNormalization with four of five outputs", True),
        ("MultiHeadAttention without heads", False),
        ("Transpose by a place beyond perm", False),
        ("ArrayFeatureExtractor of no index", True),
        ("OneHotEncoder without categories", False),
        ("OneHotEncoder of no numbers", False),
        ("TreeEnsembleClassifier of three dimensions", True),
        ("OneHotEncoder of numbers among strings", True),
    ],
)
def test_a_session_is_created_before_late_failures_only(name, late):
    for release in RELEASES:
        nodes = specgate.place(MODELS[name][0], f"onnxruntime:{release}").nodes
        assert any(each.at_run for each in nodes) == late, release


def test_a_branch_that_may_not_run_fails_no_session():
    split = helper.make_node("Split", ["x"], ["a", "b", "c"], num_outputs=3)
    branches = {
        "then_branch": graph([split], [], [info("a", None)]),
        "else_branch": graph([helper.make_node("Identity", ["x"], ["d"])], [], [info("d", None)]),
    }
    choice = helper.make_node("If", ["choice"], ["y"], **branches)
    onnx_model = model(
        graph([choice], [info("choice", [], BOOL), info("x", [1])], [info("y", None)]), opsets=[("", 18)]
    )
    assert specgate.place(onnx_model, "onnxruntime:1.24.4").usable


@pytest.mark.parametrize("operator", ["Max", "Mean", "Min", "Sum"])
def test_a_stated_output_does_not_violate_rules(operator):
    def usable(*sizes):
        infos = [info(f"x{at}", each) for at, each in enumerate(sizes)]
        onnx_model = helper.make_node(operator, [each.name for each in infos], ["y"])
        return specgate.place(
            model(graph([onnx_model], infos, [info("y", [3])]), opsets=[("", 6)]), "onnxruntime:1.32.0"
        ).usable

    assert usable([1])
    assert usable([1], [1])
    assert not usable([3], [1])


@pytest.mark.parametrize("operator", ["Conv", "ConvInteger"])
def test_negative_strides_prevent_the_session_in_late_releases_only(operator):
    kind, output = (FLOAT, FLOAT) if operator == "Conv" else (UINT8, INT32)
    onnx_model = node(operator, (kind, [2, 2, 7]), (kind, [3, 2, 3]), output=output, strides=[-2])
    nodes = {at: next(iter(specgate.place(onnx_model, f"onnxruntime:{at}"))) for at in RELEASES}
    assert all(each.creation == "fails" for each in nodes.values())
    assert [each.at_run for each in nodes.values()] == [True, True, False, False]


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("release", [one for one in cpu_releases() if one in RELEASES])
def test_installed_releases_agree(release):
    with CpuPlacementOracle(release, run=True, timeout=10) as oracle:
        for name, (onnx_model, releases) in MODELS.items():
            if "1.3" in release or "GroupQuery" not in name:
                ran = oracle.ask([onnx_model.SerializeToString()])[0].run == "ran"
                assert ran == (release not in failing(releases)), name
