"""Sizes that the runtime infers for contrib operators, and their effects.

Measured with onnxruntime-directml 1.24.4 (and 1.18.0 or 1.20.1 where stated): a Relu after the node becomes an operator
with the session if its sizes are known.
"""

from __future__ import annotations

import pytest

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.linting.input_source import InputSource
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.place import place_model
from specgate.runtimes.onnxruntime.shape_inference import as_inferred
from specgate.targets import parse_target

onnx = pytest.importorskip("onnx", reason="it infers")
pytestmark = pytest.mark.oracle

MS = "com.microsoft"


def model(call, inputs, infos="", constants="", opset=17):
    value = f"<{', '.join(filter(None, [constants, infos]))}>" if constants or infos else ""
    text = (
        f'<ir_version: 8, opset_import: ["" : {opset}, "{MS}" : 1]> g ({inputs}) => (r) {value} {{{call} r = Relu(y)}}'
    )
    return onnx.parser.parse_model(text).SerializeToString()


def sizes(call, inputs, name="y", release="1.24.4", **more):
    """Return a value's sizes, None for an unknown size or rank."""
    read = onnx_units(read_model_bytes(model(call, inputs, **more)), LintSettings()).source
    read = as_inferred(read, release)
    tensor = read.scopes[id(read.model.graph)].get(name)
    if tensor is None or tensor.sizes is None:
        return None
    return [size if isinstance(size, int) else None for size in tensor.sizes]


PRODUCTS = [
    ("float[3,4] a, float[4,6] b", "", [3, 6]),
    ("float[2,1,3,4] a, float[5,4,6] b", "", [2, 5, 3, 6]),
    ("float[4] a, float[4,6] b", "", [6]),
    ("float[3,4] a, float[4] b", "", [3]),
    ("float[4,3] a, float[6,4] b", "<transA = 1, transB = 1>", [3, 6]),
    ("float[3,2,4] a, float[2,4,6] b", "<transBatchA = 1>", [2, 3, 6]),
    ("float[2,3,4] a, float[4,2,6] b", "<transBatchB = 1>", [2, 3, 6]),
]


@pytest.mark.parametrize(("inputs", "attributes", "expected"), PRODUCTS)
def test_a_product_has_batches_rows_and_columns(inputs, attributes, expected):
    assert sizes(f"y = {MS}.FusedMatMul {attributes}(a, b)", inputs) == expected


SCALES = "float s, uint8 z"
QUERY, KEYS, PAST = "float[2,3,8] q", "float[2,5,8] k", "float[2,2,4,4] p"
OTHERS = [
    ("BiasSplitGelu(x, b)", "float[2,3,8] x, float[8] b", [2, 3, 4]),
    ("MatMulNBits<K = 64, N = 16, bits = 4, block_size = 32>(x, b, s)", "float[2,3,64] x, uint8[16,2,16] b, float[32] s",
     [2, 3, 16]),
    ("EmbedLayerNormalization(i, , w, p, , g, h)",
     "int32[2,3] i, float[7,4] w, float[5,4] p, float[4] g, float[4] h", [2, 3, 4]),
    ("Attention<num_heads = 2>(x, w, b)", "float[2,3,5] x, float[5,24] w, float[24] b", [2, 3, 8]),
    ("Attention<num_heads = 2, qkv_hidden_sizes = [8, 8, 4]>(x, w, b)", "float[2,3,5] x, float[5,20] w, float[20] b",
     [2, 3, 4]),
    ("Attention<num_heads = 2>(x, w)", "float[2,3,5] x, float[5,24] w", None),
    ("MultiHeadAttention<num_heads = 2>(q, k, k)", f"{QUERY}, {KEYS}", [2, 3, 8]),
    ("MultiHeadAttention<num_heads = 2>(q, k)", f"{QUERY}, float[2,5,2,2,4] k", [2, 3, 8]),
    ("MultiHeadAttention<num_heads = 2>(q)", "float[2,3,2,3,4] q", [2, 3, 8]),
    ("MultiHeadAttention<num_heads = 2>(q)", QUERY, None),
    ('NhwcConv<strides = [2, 2], auto_pad = "VALID">(x, w)', "float[1,7,9,4] x, float[6,2,2,4] w", [1, 3, 3, 6]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "inputs", "expected"), OTHERS)
def test_sizes_of_each_contrib_operator(call, inputs, expected):
    assert sizes(f"y = {MS}.{call}", inputs) == expected


POOLS = [
    ("QLinearAveragePool<kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1>", "1,4,7,9", [1, 4, 4, 5]),
    ("QLinearAveragePool<kernel_shape = [2, 2], strides = [2, 2], channels_last = 1>", "1,4,7,9", [1, 2, 3, 9]),
    ('QLinearAveragePool<kernel_shape = [2], strides = [2], auto_pad = "SAME_UPPER">', "1,4,7", [1, 4, 4]),
    ("QLinearGlobalAveragePool<channels_last = 1>", "1,4,7,9", [1, 1, 1, 9]),
    ("QLinearSigmoid", "2,3", [2, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "inputs", "expected"), POOLS)
def test_quantized_numbers(call, inputs, expected):
    result = sizes(f"c = {MS}.{call}(x, s, z, s, z) y = Cast<to = 1>(c)", f"uint8[{inputs}] x, {SCALES}", name="c")
    assert result == expected


def test_parts_are_joined():
    call = f"c = {MS}.QLinearConcat<axis = -1>(s, z, x, s, z, w, s, z) y = Cast<to = 1>(c)"
    assert sizes(call, f"uint8[2,3] x, uint8[2,5] w, {SCALES}", name="c") == [2, 8]


def test_the_present_length_is_the_sum_of_past_and_keys():
    call = f"o, y, v = {MS}.MultiHeadAttention<num_heads = 2>(q, k, k, , , , p, p)"
    assert sizes(call, f"{QUERY}, {KEYS}, {PAST}") == [2, 2, 9, 4]
    shared = f"o, y, v = {MS}.MultiHeadAttention<num_heads = 2>(q, k, k, , , , p, p, n)"
    assert sizes(shared, f"{QUERY}, {KEYS}, {PAST}, int32[1] n") is None


@pytest.mark.parametrize(("release", "expected"), [("1.24.4", [2, 1, 9, 4]), ("1.20.1", None), ("1.18.0", None)])
def test_a_cache_has_sizes_from_a_release_on(release, expected):
    call = f"o, y, v = {MS}.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, k, p, p, l, t)"
    inputs = "float[2,3,8] q, float[2,3,4] k, float[2,1,6,4] p, int32[2] l"
    assert sizes(call, inputs, release=release, constants="int32 t = {9}") == expected


def test_sizes_propagate_through_onnx_and_contrib_operators():
    call = f"a = {MS}.Gelu(x) b = Relu(a) c = {MS}.QuickGelu(b) y = {MS}.FusedMatMul(c, w)"
    assert sizes(call, "float[2,3] x, float[3,5] w") == [2, 5]
    assert sizes(call, "float[n,3] x, float[3,5] w") is None


@pytest.mark.parametrize(
    ("stated", "expected"), [("2,4", [2, None]), ("6", None), ("2,3", [2, 3]), ("n,3", [2, 3]), ("1,2,3", None)]
)
def test_conflicting_stated_sizes_are_unknown(stated, expected):
    assert sizes(f"y = {MS}.Gelu(x)", "float[2,3] x", infos=f"float[{stated}] y") == expected


def placed(call, inputs, **more):
    source = InputSource(model(call, inputs, **more), "onnx", "model")
    return list(place_model(source, parse_target("onnxruntime-directml:1.24.4"), None, LintSettings()))


def test_a_kernel_uses_its_computed_sizes():
    own, following = placed(f"y = {MS}.Gelu(x)", "float[2,3] x", infos="float[2,4] y")
    assert own.creation == "created"
    assert own.lowered[0].fields["OutputTensor"].sizes == (1, 1, 2, 3)
    assert following.creation == "deferred"


@pytest.mark.parametrize(
    ("call", "inputs"),
    [
        (f"y = {MS}.FusedGemm(a, b)", "float[3,4] a, float[4,6] b"),
        (f'y = {MS}.FusedGemm<activation = "Foo">(a, b)', "float[3,4] a, float[4,6] b"),
        (f"y, m, i = {MS}.SkipLayerNormalization<epsilon = -1.0>(x, x, g)", "float[2,3,4] x, float[4] g"),
        (f"y, m, i = {MS}.SkipSimplifiedLayerNormalization<epsilon = -1.0>(x, x, g)", "float[2,3,4] x, float[4] g"),
    ],
)
def test_the_cpu_rejects(call, inputs):
    assert placed(call, inputs)[0].creation == "fails"


@pytest.mark.parametrize(("kind", "creation"), [("float", "fails"), ("uint8", "created")])
def test_a_requantized_product_has_the_type_of_its_zero_point(kind, creation):
    call = f"c = {MS}.QGemm(a, s, z, b, s, z, , s, z) y = Cast<to = 1>(c)"
    result = placed(call, f"uint8[3,4] a, uint8[4,6] b, {SCALES}", infos=f"{kind}[3,6] c")
    refused = [node for node in result if node.creation == "fails"]
    assert bool(refused) is (creation == "fails")
