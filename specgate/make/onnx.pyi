# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from typing import Literal, TypeAlias

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc

_AveragePool_auto_pad: TypeAlias = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]
_BitShift_direction: TypeAlias = Literal["LEFT", "RIGHT"]
_Cast_round_mode: TypeAlias = Literal["up", "down", "nearest"]
_CausalConvWithState_activation: TypeAlias = Literal["silu", "swish", "none"]
_DepthToSpace_mode: TypeAlias = Literal["DCR", "CRD"]
_Gelu_approximate: TypeAlias = Literal["none", "tanh"]
_GridSample_padding_mode: TypeAlias = Literal["zeros", "border", "reflection"]
_ImageDecoder_pixel_format: TypeAlias = Literal["RGB", "BGR", "Grayscale"]
_LSTM_direction: TypeAlias = Literal["forward", "reverse", "bidirectional"]
_LinearAttention_update_rule: TypeAlias = Literal["linear", "gated", "delta", "gated_delta"]
_NegativeLogLikelihoodLoss_reduction: TypeAlias = Literal["none", "sum", "mean"]
_Resize_keep_aspect_ratio_policy: TypeAlias = Literal["stretch", "not_larger", "not_smaller"]
_Resize_nearest_mode: TypeAlias = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
_RoiAlign_coordinate_transformation_mode: TypeAlias = Literal["half_pixel", "output_half_pixel"]
_RoiAlign_mode: TypeAlias = Literal["avg", "max"]
_StringNormalizer_case_change_action: TypeAlias = Literal["LOWER", "UPPER", "NONE"]
_TensorScatter_mode: TypeAlias = Literal["linear", "circular"]
_TfIdfVectorizer_mode: TypeAlias = Literal["TF", "IDF", "TFIDF"]

def Abs(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Acos(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Acosh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Add(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def AffineGrid(
    *,
    theta: TensorDesc,
    size: TensorDesc,
    grid: TensorDesc | None = None,
    align_corners: int | None = None,
) -> Descriptor: ...
def And(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def ArgMax(
    *,
    data: TensorDesc,
    reduced: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
    select_last_index: int | None = None,
) -> Descriptor: ...
def ArgMin(
    *,
    data: TensorDesc,
    reduced: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
    select_last_index: int | None = None,
) -> Descriptor: ...
def Asin(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Asinh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Atan(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Atanh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Attention(
    *,
    Q: TensorDesc,
    K: TensorDesc,
    V: TensorDesc,
    attn_mask: TensorDesc | None = None,
    past_key: TensorDesc | None = None,
    past_value: TensorDesc | None = None,
    nonpad_kv_seqlen: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    present_key: TensorDesc | None = None,
    present_value: TensorDesc | None = None,
    qk_matmul_output: TensorDesc | None = None,
    is_causal: int | None = None,
    kv_num_heads: int | None = None,
    left_window_size: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int | None = None,
    right_window_size: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    softmax_precision: int | None = None,
) -> Descriptor: ...
def AveragePool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    ceil_mode: int | None = None,
    count_include_pad: int | None = None,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def BatchNormalization(
    *,
    X: TensorDesc,
    scale: TensorDesc,
    B: TensorDesc,
    input_mean: TensorDesc,
    input_var: TensorDesc,
    Y: TensorDesc | None = None,
    running_mean: TensorDesc | None = None,
    running_var: TensorDesc | None = None,
    epsilon: float | None = None,
    momentum: float | None = None,
    training_mode: int | None = None,
) -> Descriptor: ...
def Bernoulli(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    seed: float | None = None,
) -> Descriptor: ...
def BitCast(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    to: int,
) -> Descriptor: ...
def BitShift(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
    direction: _BitShift_direction,
) -> Descriptor: ...
def BitwiseAnd(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def BitwiseNot(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def BitwiseOr(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def BitwiseXor(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def BlackmanWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | None = None,
    periodic: int | None = None,
) -> Descriptor: ...
def Cast(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    round_mode: _Cast_round_mode | None = None,
    saturate: int | None = None,
    to: int,
) -> Descriptor: ...
def CastLike(
    *,
    input: TensorDesc,
    target_type: TensorDesc,
    output: TensorDesc | None = None,
    round_mode: _Cast_round_mode | None = None,
    saturate: int | None = None,
) -> Descriptor: ...
def CausalConvWithState(
    *,
    input: TensorDesc,
    weight: TensorDesc,
    bias: TensorDesc | None = None,
    past_state: TensorDesc | None = None,
    output: TensorDesc | None = None,
    present_state: TensorDesc | None = None,
    activation: _CausalConvWithState_activation | None = None,
) -> Descriptor: ...
def Ceil(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Celu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def CenterCropPad(
    *,
    input_data: TensorDesc,
    shape: TensorDesc,
    output_data: TensorDesc | None = None,
    axes: list[int] | None = None,
) -> Descriptor: ...
def Clip(
    *,
    input: TensorDesc,
    min: TensorDesc | None = None,
    max: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Col2Im(
    *,
    input: TensorDesc,
    image_shape: TensorDesc,
    block_shape: TensorDesc,
    output: TensorDesc | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def Compress(
    *,
    input: TensorDesc,
    condition: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Concat(
    *,
    inputs: list[TensorDesc],
    concat_result: TensorDesc | None = None,
    axis: int,
) -> Descriptor: ...
def ConcatFromSequence(
    *,
    input_sequence: TensorDesc,
    concat_result: TensorDesc | None = None,
    axis: int,
    new_axis: int | None = None,
) -> Descriptor: ...
def Constant(
    *,
    output: TensorDesc | None = None,
    sparse_value: TensorDesc | None = None,
    value: TensorDesc | None = None,
    value_float: float | None = None,
    value_floats: list[float] | None = None,
    value_int: int | None = None,
    value_ints: list[int] | None = None,
    value_string: str | None = None,
    value_strings: list[str] | None = None,
) -> Descriptor: ...
def ConstantOfShape(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    value: TensorDesc | None = None,
) -> Descriptor: ...
def Conv(
    *,
    X: TensorDesc,
    W: TensorDesc,
    B: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    dilations: list[int] | None = None,
    group: int | None = None,
    kernel_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def ConvInteger(
    *,
    x: TensorDesc,
    w: TensorDesc,
    x_zero_point: TensorDesc | None = None,
    w_zero_point: TensorDesc | None = None,
    y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    dilations: list[int] | None = None,
    group: int | None = None,
    kernel_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def ConvTranspose(
    *,
    X: TensorDesc,
    W: TensorDesc,
    B: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    dilations: list[int] | None = None,
    group: int | None = None,
    kernel_shape: list[int] | None = None,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def Cos(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Cosh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def CumProd(
    *,
    x: TensorDesc,
    axis: TensorDesc,
    y: TensorDesc | None = None,
    exclusive: int | None = None,
    reverse: int | None = None,
) -> Descriptor: ...
def CumSum(
    *,
    x: TensorDesc,
    axis: TensorDesc,
    y: TensorDesc | None = None,
    exclusive: int | None = None,
    reverse: int | None = None,
) -> Descriptor: ...
def DFT(
    *,
    input: TensorDesc,
    dft_length: TensorDesc | None = None,
    axis: TensorDesc | None = None,
    output: TensorDesc | None = None,
    inverse: int | None = None,
    onesided: int | None = None,
) -> Descriptor: ...
def DeformConv(
    *,
    X: TensorDesc,
    W: TensorDesc,
    offset: TensorDesc,
    B: TensorDesc | None = None,
    mask: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    dilations: list[int] | None = None,
    group: int | None = None,
    kernel_shape: list[int] | None = None,
    offset_group: int | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def DepthToSpace(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    blocksize: int,
    mode: _DepthToSpace_mode | None = None,
) -> Descriptor: ...
def DequantizeLinear(
    *,
    x: TensorDesc,
    x_scale: TensorDesc,
    x_zero_point: TensorDesc | None = None,
    y: TensorDesc | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: int | None = None,
) -> Descriptor: ...
def Det(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Div(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def Dropout(
    *,
    data: TensorDesc,
    ratio: TensorDesc | None = None,
    training_mode: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mask: TensorDesc | None = None,
    seed: int | None = None,
) -> Descriptor: ...
def DynamicQuantizeLinear(
    *,
    x: TensorDesc,
    y: TensorDesc | None = None,
    y_scale: TensorDesc | None = None,
    y_zero_point: TensorDesc | None = None,
) -> Descriptor: ...
def Einsum(
    *,
    Inputs: list[TensorDesc],
    Output: TensorDesc | None = None,
    equation: str,
) -> Descriptor: ...
def Elu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def Equal(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def Erf(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Exp(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Expand(
    *,
    input: TensorDesc,
    shape: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def EyeLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    k: int | None = None,
) -> Descriptor: ...
def Flatten(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Floor(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def GRU(
    *,
    X: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc | None = None,
    sequence_lens: TensorDesc | None = None,
    initial_h: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    Y_h: TensorDesc | None = None,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: str | None = None,
    hidden_size: int | None = None,
    layout: int | None = None,
    linear_before_reset: int | None = None,
) -> Descriptor: ...
def Gather(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def GatherElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def GatherND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor: ...
def Gelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    approximate: _Gelu_approximate | None = None,
) -> Descriptor: ...
def Gemm(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    transA: int | None = None,
    transB: int | None = None,
) -> Descriptor: ...
def GlobalAveragePool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def GlobalLpPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    p: int | None = None,
) -> Descriptor: ...
def GlobalMaxPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Greater(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def GreaterOrEqual(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def GridSample(
    *,
    X: TensorDesc,
    grid: TensorDesc,
    Y: TensorDesc | None = None,
    align_corners: int | None = None,
    mode: str | None = None,
    padding_mode: _GridSample_padding_mode | None = None,
) -> Descriptor: ...
def GroupNormalization(
    *,
    X: TensorDesc,
    scale: TensorDesc,
    bias: TensorDesc,
    Y: TensorDesc | None = None,
    epsilon: float | None = None,
    num_groups: int,
    stash_type: int | None = None,
) -> Descriptor: ...
def HammingWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | None = None,
    periodic: int | None = None,
) -> Descriptor: ...
def HannWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | None = None,
    periodic: int | None = None,
) -> Descriptor: ...
def HardSigmoid(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    beta: float | None = None,
) -> Descriptor: ...
def HardSwish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Hardmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Identity(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def If(
    *,
    cond: TensorDesc,
    outputs: list[TensorDesc] | None = None,
    else_branch: GraphDesc,
    then_branch: GraphDesc,
) -> Descriptor: ...
def ImageDecoder(
    *,
    encoded_stream: TensorDesc,
    image: TensorDesc | None = None,
    pixel_format: _ImageDecoder_pixel_format | None = None,
) -> Descriptor: ...
def InstanceNormalization(
    *,
    input: TensorDesc,
    scale: TensorDesc,
    B: TensorDesc,
    output: TensorDesc | None = None,
    epsilon: float | None = None,
) -> Descriptor: ...
def IsInf(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    detect_negative: int | None = None,
    detect_positive: int | None = None,
) -> Descriptor: ...
def IsNaN(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def LRN(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    bias: float | None = None,
    size: int,
) -> Descriptor: ...
def LSTM(
    *,
    X: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc | None = None,
    sequence_lens: TensorDesc | None = None,
    initial_h: TensorDesc | None = None,
    initial_c: TensorDesc | None = None,
    P: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    Y_h: TensorDesc | None = None,
    Y_c: TensorDesc | None = None,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: _LSTM_direction | None = None,
    hidden_size: int | None = None,
    input_forget: int | None = None,
    layout: int | None = None,
) -> Descriptor: ...
def LayerNormalization(
    *,
    X: TensorDesc,
    Scale: TensorDesc,
    B: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    Mean: TensorDesc | None = None,
    InvStdDev: TensorDesc | None = None,
    axis: int | None = None,
    epsilon: float | None = None,
    stash_type: int | None = None,
) -> Descriptor: ...
def LeakyRelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def Less(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def LessOrEqual(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def LinearAttention(
    *,
    query: TensorDesc,
    key: TensorDesc,
    value: TensorDesc,
    past_state: TensorDesc | None = None,
    decay: TensorDesc | None = None,
    beta: TensorDesc | None = None,
    output: TensorDesc | None = None,
    present_state: TensorDesc | None = None,
    chunk_size: int | None = None,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float | None = None,
    update_rule: _LinearAttention_update_rule | None = None,
) -> Descriptor: ...
def Log(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def LogSoftmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Loop(
    *,
    M: TensorDesc | None = None,
    cond: TensorDesc | None = None,
    v_initial: list[TensorDesc] | None = None,
    v_final_and_scan_outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor: ...
def LpNormalization(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    p: int | None = None,
) -> Descriptor: ...
def LpPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    ceil_mode: int | None = None,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    p: int | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def MatMul(
    *,
    A: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def MatMulInteger(
    *,
    A: TensorDesc,
    B: TensorDesc,
    a_zero_point: TensorDesc | None = None,
    b_zero_point: TensorDesc | None = None,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Max(
    *,
    data_0: list[TensorDesc],
    max: TensorDesc | None = None,
) -> Descriptor: ...
def MaxPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    Indices: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    ceil_mode: int | None = None,
    dilations: list[int] | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    storage_order: int | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def MaxRoiPool(
    *,
    X: TensorDesc,
    rois: TensorDesc,
    Y: TensorDesc | None = None,
    pooled_shape: list[int],
    spatial_scale: float | None = None,
) -> Descriptor: ...
def MaxUnpool(
    *,
    X: TensorDesc,
    I: TensorDesc,
    output_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def Mean(
    *,
    data_0: list[TensorDesc],
    mean: TensorDesc | None = None,
) -> Descriptor: ...
def MeanVarianceNormalization(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    axes: list[int] | None = None,
) -> Descriptor: ...
def MelWeightMatrix(
    *,
    num_mel_bins: TensorDesc,
    dft_length: TensorDesc,
    sample_rate: TensorDesc,
    lower_edge_hertz: TensorDesc,
    upper_edge_hertz: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | None = None,
) -> Descriptor: ...
def Min(
    *,
    data_0: list[TensorDesc],
    min: TensorDesc | None = None,
) -> Descriptor: ...
def Mish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Mod(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
    fmod: int | None = None,
) -> Descriptor: ...
def Mul(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def Multinomial(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    sample_size: int | None = None,
    seed: float | None = None,
) -> Descriptor: ...
def Neg(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def NegativeLogLikelihoodLoss(
    *,
    input: TensorDesc,
    target: TensorDesc,
    weight: TensorDesc | None = None,
    loss: TensorDesc | None = None,
    ignore_index: int | None = None,
    reduction: _NegativeLogLikelihoodLoss_reduction | None = None,
) -> Descriptor: ...
def NonMaxSuppression(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    max_output_boxes_per_class: TensorDesc | None = None,
    iou_threshold: TensorDesc | None = None,
    score_threshold: TensorDesc | None = None,
    selected_indices: TensorDesc | None = None,
    center_point_box: int | None = None,
) -> Descriptor: ...
def NonZero(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Not(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    values: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Optional(
    *,
    input: TensorDesc | None = None,
    output: TensorDesc | None = None,
    type: TensorDesc | None = None,
) -> Descriptor: ...
def OptionalGetElement(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def OptionalHasElement(
    *,
    input: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Or(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def PRelu(
    *,
    X: TensorDesc,
    slope: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Pad(
    *,
    data: TensorDesc,
    pads: TensorDesc,
    constant_value: TensorDesc | None = None,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor: ...
def Pow(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
) -> Descriptor: ...
def QLinearConv(
    *,
    x: TensorDesc,
    x_scale: TensorDesc,
    x_zero_point: TensorDesc,
    w: TensorDesc,
    w_scale: TensorDesc,
    w_zero_point: TensorDesc,
    y_scale: TensorDesc,
    y_zero_point: TensorDesc,
    B: TensorDesc | None = None,
    y: TensorDesc | None = None,
    auto_pad: _AveragePool_auto_pad | None = None,
    dilations: list[int] | None = None,
    group: int | None = None,
    kernel_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor: ...
def QLinearMatMul(
    *,
    a: TensorDesc,
    a_scale: TensorDesc,
    a_zero_point: TensorDesc,
    b: TensorDesc,
    b_scale: TensorDesc,
    b_zero_point: TensorDesc,
    y_scale: TensorDesc,
    y_zero_point: TensorDesc,
    y: TensorDesc | None = None,
) -> Descriptor: ...
def QuantizeLinear(
    *,
    x: TensorDesc,
    y_scale: TensorDesc,
    y_zero_point: TensorDesc | None = None,
    y: TensorDesc | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: int | None = None,
    precision: int | None = None,
    saturate: int | None = None,
) -> Descriptor: ...
def RMSNormalization(
    *,
    X: TensorDesc,
    scale: TensorDesc,
    Y: TensorDesc | None = None,
    axis: int | None = None,
    epsilon: float | None = None,
    stash_type: int | None = None,
) -> Descriptor: ...
def RNN(
    *,
    X: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc | None = None,
    sequence_lens: TensorDesc | None = None,
    initial_h: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    Y_h: TensorDesc | None = None,
    activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None,
    activations: list[str] | None = None,
    clip: float | None = None,
    direction: _LSTM_direction | None = None,
    hidden_size: int | None = None,
    layout: int | None = None,
) -> Descriptor: ...
def RandomNormal(
    *,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    mean: float | None = None,
    scale: float | None = None,
    seed: float | None = None,
    shape: list[int],
) -> Descriptor: ...
def RandomNormalLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    mean: float | None = None,
    scale: float | None = None,
    seed: float | None = None,
) -> Descriptor: ...
def RandomUniform(
    *,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    high: float | None = None,
    low: float | None = None,
    seed: float | None = None,
    shape: list[int],
) -> Descriptor: ...
def RandomUniformLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | None = None,
    high: float | None = None,
    low: float | None = None,
    seed: float | None = None,
) -> Descriptor: ...
def Range(
    *,
    start: TensorDesc,
    limit: TensorDesc,
    delta: TensorDesc,
    output: TensorDesc | None = None,
    stash_type: int | None = None,
) -> Descriptor: ...
def Reciprocal(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def ReduceL1(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceL2(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceLogSum(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceLogSumExp(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceMax(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceMean(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceMin(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceProd(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceSum(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def ReduceSumSquare(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor: ...
def RegexFullMatch(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    pattern: str | None = None,
) -> Descriptor: ...
def Relu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Reshape(
    *,
    data: TensorDesc,
    shape: TensorDesc,
    reshaped: TensorDesc | None = None,
    allowzero: int | None = None,
) -> Descriptor: ...
def Resize(
    *,
    X: TensorDesc,
    roi: TensorDesc | None = None,
    scales: TensorDesc | None = None,
    sizes: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    antialias: int | None = None,
    axes: list[int] | None = None,
    coordinate_transformation_mode: str | None = None,
    cubic_coeff_a: float | None = None,
    exclude_outside: int | None = None,
    extrapolation_value: float | None = None,
    keep_aspect_ratio_policy: _Resize_keep_aspect_ratio_policy | None = None,
    mode: str | None = None,
    nearest_mode: _Resize_nearest_mode | None = None,
) -> Descriptor: ...
def ReverseSequence(
    *,
    input: TensorDesc,
    sequence_lens: TensorDesc,
    Y: TensorDesc | None = None,
    batch_axis: int | None = None,
    time_axis: int | None = None,
) -> Descriptor: ...
def RoiAlign(
    *,
    X: TensorDesc,
    rois: TensorDesc,
    batch_indices: TensorDesc,
    Y: TensorDesc | None = None,
    coordinate_transformation_mode: _RoiAlign_coordinate_transformation_mode | None = None,
    mode: _RoiAlign_mode | None = None,
    output_height: int | None = None,
    output_width: int | None = None,
    sampling_ratio: int | None = None,
    spatial_scale: float | None = None,
) -> Descriptor: ...
def RotaryEmbedding(
    *,
    X: TensorDesc,
    cos_cache: TensorDesc,
    sin_cache: TensorDesc,
    position_ids: TensorDesc | None = None,
    Y: TensorDesc | None = None,
    interleaved: int | None = None,
    num_heads: int | None = None,
    rotary_embedding_dim: int | None = None,
) -> Descriptor: ...
def Round(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def STFT(
    *,
    signal: TensorDesc,
    frame_step: TensorDesc,
    window: TensorDesc | None = None,
    frame_length: TensorDesc | None = None,
    output: TensorDesc | None = None,
    onesided: int | None = None,
) -> Descriptor: ...
def Scan(
    *,
    initial_state_and_scan_inputs: list[TensorDesc],
    final_state_and_scan_outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
    num_scan_inputs: int,
    scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None,
    scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> Descriptor: ...
def Scatter(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def ScatterElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    reduction: str | None = None,
) -> Descriptor: ...
def ScatterND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor: ...
def Selu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
) -> Descriptor: ...
def SequenceAt(
    *,
    input_sequence: TensorDesc,
    position: TensorDesc,
    tensor: TensorDesc | None = None,
) -> Descriptor: ...
def SequenceConstruct(
    *,
    inputs: list[TensorDesc],
    output_sequence: TensorDesc | None = None,
) -> Descriptor: ...
def SequenceEmpty(
    *,
    output: TensorDesc | None = None,
    dtype: int | None = None,
) -> Descriptor: ...
def SequenceErase(
    *,
    input_sequence: TensorDesc,
    position: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
) -> Descriptor: ...
def SequenceInsert(
    *,
    input_sequence: TensorDesc,
    tensor: TensorDesc,
    position: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
) -> Descriptor: ...
def SequenceLength(
    *,
    input_sequence: TensorDesc,
    length: TensorDesc | None = None,
) -> Descriptor: ...
def SequenceMap(
    *,
    input_sequence: TensorDesc,
    additional_inputs: list[TensorDesc] | None = None,
    out_sequence: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor: ...
def Shape(
    *,
    data: TensorDesc,
    shape: TensorDesc | None = None,
    end: int | None = None,
    start: int | None = None,
) -> Descriptor: ...
def Shrink(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    bias: float | None = None,
    lambd: float | None = None,
) -> Descriptor: ...
def Sigmoid(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Sign(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Sin(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Sinh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Size(
    *,
    data: TensorDesc,
    size: TensorDesc | None = None,
) -> Descriptor: ...
def Slice(
    *,
    data: TensorDesc,
    starts: TensorDesc,
    ends: TensorDesc,
    axes: TensorDesc | None = None,
    steps: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Softmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def SoftmaxCrossEntropyLoss(
    *,
    scores: TensorDesc,
    labels: TensorDesc,
    weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    log_prob: TensorDesc | None = None,
    ignore_index: int | None = None,
    reduction: _NegativeLogLikelihoodLoss_reduction | None = None,
) -> Descriptor: ...
def Softplus(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Softsign(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SpaceToDepth(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    blocksize: int,
    mode: _DepthToSpace_mode | None = None,
) -> Descriptor: ...
def Split(
    *,
    input: TensorDesc,
    split: TensorDesc | None = None,
    outputs: list[TensorDesc] | None = None,
    axis: int | None = None,
    num_outputs: int | None = None,
) -> Descriptor: ...
def SplitToSequence(
    *,
    input: TensorDesc,
    split: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
) -> Descriptor: ...
def Sqrt(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor: ...
def Squeeze(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    squeezed: TensorDesc | None = None,
) -> Descriptor: ...
def StringConcat(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
) -> Descriptor: ...
def StringNormalizer(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    case_change_action: _StringNormalizer_case_change_action | None = None,
    is_case_sensitive: int | None = None,
    locale: str | None = None,
    stopwords: list[str] | None = None,
) -> Descriptor: ...
def StringSplit(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    Z: TensorDesc | None = None,
    delimiter: str | None = None,
    maxsplit: int | None = None,
) -> Descriptor: ...
def Sub(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
def Sum(
    *,
    data_0: list[TensorDesc],
    sum: TensorDesc | None = None,
) -> Descriptor: ...
def SwiGLU(
    *,
    A: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def Swish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def Tan(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Tanh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def TensorScatter(
    *,
    past_cache: TensorDesc,
    update: TensorDesc,
    write_indices: TensorDesc | None = None,
    present_cache: TensorDesc | None = None,
    axis: int | None = None,
    mode: _TensorScatter_mode | None = None,
) -> Descriptor: ...
def TfIdfVectorizer(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: _TfIdfVectorizer_mode,
    ngram_counts: list[int],
    ngram_indexes: list[int],
    pool_int64s: list[int] | None = None,
    pool_strings: list[str] | None = None,
    weights: list[float] | None = None,
) -> Descriptor: ...
def ThresholdedRelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor: ...
def Tile(
    *,
    input: TensorDesc,
    repeats: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def TopK(
    *,
    X: TensorDesc,
    K: TensorDesc,
    Values: TensorDesc | None = None,
    Indices: TensorDesc | None = None,
    axis: int | None = None,
    largest: int | None = None,
    sorted: int | None = None,
) -> Descriptor: ...
def Transpose(
    *,
    data: TensorDesc,
    transposed: TensorDesc | None = None,
    perm: list[int] | None = None,
) -> Descriptor: ...
def Trilu(
    *,
    input: TensorDesc,
    k: TensorDesc | None = None,
    output: TensorDesc | None = None,
    upper: int | None = None,
) -> Descriptor: ...
def Unique(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    inverse_indices: TensorDesc | None = None,
    counts: TensorDesc | None = None,
    axis: int | None = None,
    sorted: int | None = None,
) -> Descriptor: ...
def Unsqueeze(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    expanded: TensorDesc | None = None,
) -> Descriptor: ...
def Upsample(
    *,
    X: TensorDesc,
    scales: TensorDesc,
    Y: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor: ...
def Where(
    *,
    condition: TensorDesc,
    X: TensorDesc,
    Y: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Xor(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor: ...
