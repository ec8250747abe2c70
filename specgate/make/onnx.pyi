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
) -> Descriptor:
    """The absolute value of each element."""

def Acos(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse cosine of each element, in radians."""

def Acosh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse hyperbolic cosine of each element."""

def Add(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """The sum of A and B, element by element."""

def AffineGrid(
    *,
    theta: TensorDesc,
    size: TensorDesc,
    grid: TensorDesc | None = None,
    align_corners: int | None = None,
) -> Descriptor:
    """"""

def And(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether both A and B hold, element by element."""

def ArgMax(
    *,
    data: TensorDesc,
    reduced: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
    select_last_index: int | None = None,
) -> Descriptor:
    """Where the largest element along axis lies."""

def ArgMin(
    *,
    data: TensorDesc,
    reduced: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
    select_last_index: int | None = None,
) -> Descriptor:
    """Where the least element along axis lies."""

def Asin(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse sine of each element, in radians."""

def Asinh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse hyperbolic sine of each element."""

def Atan(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse tangent of each element, in radians."""

def Atanh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse hyperbolic tangent of each element."""

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
    softmax_precision: int | str | None = None,
) -> Descriptor:
    """Scaled products of queries and keys, through softmax, times values."""

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
) -> Descriptor:
    """The mean of each window over X."""

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
) -> Descriptor:
    """The input normalized for each channel by given or running statistics, then scaled and shifted."""

def Bernoulli(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    seed: float | None = None,
) -> Descriptor:
    """0 or 1 by chance, 1 with the probability that each element of the input says."""

def BitCast(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    to: int | str,
) -> Descriptor:
    """The bits of each element read as the type that `to` names."""

def BitShift(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
    direction: _BitShift_direction,
) -> Descriptor:
    """The bits of X moved by Y places to the left or right, element by element."""

def BitwiseAnd(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """The bits that both A and B have, element by element."""

def BitwiseNot(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Every bit of each element turned over."""

def BitwiseOr(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """The bits that A or B has, element by element."""

def BitwiseXor(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """The bits that one of A and B has, element by element."""

def BlackmanWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | str | None = None,
    periodic: int | None = None,
) -> Descriptor:
    """"""

def Cast(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    round_mode: _Cast_round_mode | None = None,
    saturate: int | None = None,
    to: int | str,
) -> Descriptor:
    """Each element converted to the type that `to` names."""

def CastLike(
    *,
    input: TensorDesc,
    target_type: TensorDesc,
    output: TensorDesc | None = None,
    round_mode: _Cast_round_mode | None = None,
    saturate: int | None = None,
) -> Descriptor:
    """Each element of the input converted to the type of target_type."""

def CausalConvWithState(
    *,
    input: TensorDesc,
    weight: TensorDesc,
    bias: TensorDesc | None = None,
    past_state: TensorDesc | None = None,
    output: TensorDesc | None = None,
    present_state: TensorDesc | None = None,
    activation: _CausalConvWithState_activation | None = None,
) -> Descriptor:
    """"""

def Ceil(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element rounded up to an integer."""

def Celu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """The continuously differentiable exponential linear unit of each element, with parameter alpha."""

def CenterCropPad(
    *,
    input_data: TensorDesc,
    shape: TensorDesc,
    output_data: TensorDesc | None = None,
    axes: list[int] | None = None,
) -> Descriptor:
    """"""

def Clip(
    *,
    input: TensorDesc,
    min: TensorDesc | None = None,
    max: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with elements below min set to min and those above max set to max."""

def Col2Im(
    *,
    input: TensorDesc,
    image_shape: TensorDesc,
    block_shape: TensorDesc,
    output: TensorDesc | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor:
    """"""

def Compress(
    *,
    input: TensorDesc,
    condition: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """The elements of the input for which condition holds, or the slices along axis."""

def Concat(
    *,
    inputs: list[TensorDesc],
    concat_result: TensorDesc | None = None,
    axis: int,
) -> Descriptor:
    """The inputs one behind the other along axis."""

def ConcatFromSequence(
    *,
    input_sequence: TensorDesc,
    concat_result: TensorDesc | None = None,
    axis: int,
    new_axis: int | None = None,
) -> Descriptor:
    """The tensors of a sequence, one behind the other along axis or along a new one."""

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
) -> Descriptor:
    """A tensor that the model holds."""

def ConstantOfShape(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    value: TensorDesc | None = None,
) -> Descriptor:
    """A tensor of the shape that the input holds, all its elements one value."""

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
) -> Descriptor:
    """The convolution of X with the weights W, with a bias B where it is given."""

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
) -> Descriptor:
    """The convolution of integers x with the weights w, each less its zero point, in 32 bits."""

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
) -> Descriptor:
    """The transposed convolution of X with the weights W, with a bias B where it is given."""

def Cos(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The cosine of each element, in radians."""

def Cosh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic cosine of each element."""

def CumProd(
    *,
    x: TensorDesc,
    axis: TensorDesc,
    y: TensorDesc | None = None,
    exclusive: int | None = None,
    reverse: int | None = None,
) -> Descriptor:
    """The product of all elements up to each one along axis."""

def CumSum(
    *,
    x: TensorDesc,
    axis: TensorDesc,
    y: TensorDesc | None = None,
    exclusive: int | None = None,
    reverse: int | None = None,
) -> Descriptor:
    """The sum of all elements up to each one along axis."""

def DFT(
    *,
    input: TensorDesc,
    dft_length: TensorDesc | None = None,
    axis: TensorDesc | None = None,
    output: TensorDesc | None = None,
    inverse: int | None = None,
    onesided: int | None = None,
) -> Descriptor:
    """"""

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
) -> Descriptor:
    """"""

def DepthToSpace(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    blocksize: int,
    mode: _DepthToSpace_mode | None = None,
) -> Descriptor:
    """Channels rearranged into blocks of height and width."""

def DequantizeLinear(
    *,
    x: TensorDesc,
    x_scale: TensorDesc,
    x_zero_point: TensorDesc | None = None,
    y: TensorDesc | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: int | str | None = None,
) -> Descriptor:
    """The input less a zero point, times a scale."""

def Det(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The determinant of each matrix of the last two dimensions."""

def Div(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """A divided by B, element by element."""

def Dropout(
    *,
    data: TensorDesc,
    ratio: TensorDesc | None = None,
    training_mode: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mask: TensorDesc | None = None,
    seed: int | None = None,
) -> Descriptor:
    """The input, in training with random elements set to 0 and the others scaled."""

def DynamicQuantizeLinear(
    *,
    x: TensorDesc,
    y: TensorDesc | None = None,
    y_scale: TensorDesc | None = None,
    y_zero_point: TensorDesc | None = None,
) -> Descriptor:
    """The input quantized by a scale and a zero point that fit its range, and both of them."""

def Einsum(
    *,
    Inputs: list[TensorDesc],
    Output: TensorDesc | None = None,
    equation: str,
) -> Descriptor:
    """"""

def Elu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """The exponential linear unit of each element, with coefficient alpha."""

def Equal(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A and B are equal, element by element."""

def Erf(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The error function of each element."""

def Exp(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The exponential of each element."""

def Expand(
    *,
    input: TensorDesc,
    shape: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input stretched to shape, as if it were broadcast against a tensor of that shape."""

def EyeLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    k: int | None = None,
) -> Descriptor:
    """A matrix of the input's size with ones on its k-th diagonal."""

def Flatten(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """The input as a matrix, the dimensions before axis folded into its rows, the others into its columns."""

def Floor(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element rounded down to an integer."""

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
) -> Descriptor:
    """A network of gated recurrent units of one layer."""

def Gather(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """Entries of data along axis, picked by indices, in the place of that dimension."""

def GatherElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """For each element of indices the element of data at its own place, but for axis, where indices says which."""

def GatherND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor:
    """Slices of data, each at the place that the last dimension of indices gives."""

def Gelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    approximate: _Gelu_approximate | None = None,
) -> Descriptor:
    """The Gaussian error linear unit of each element, exact or by its approximation with tanh."""

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
) -> Descriptor:
    """alpha * A * B + beta * C of matrices, A and B transposed first where transA and transB say so."""

def GlobalAveragePool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The mean of each channel."""

def GlobalLpPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    p: int | None = None,
) -> Descriptor:
    """The Lp norm of each channel."""

def GlobalMaxPool(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The largest element of each channel."""

def Greater(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A is greater than B, element by element."""

def GreaterOrEqual(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A is at least B, element by element."""

def GridSample(
    *,
    X: TensorDesc,
    grid: TensorDesc,
    Y: TensorDesc | None = None,
    align_corners: int | None = None,
    mode: str | None = None,
    padding_mode: _GridSample_padding_mode | None = None,
) -> Descriptor:
    """The input at the places that grid names, interpolated."""

def GroupNormalization(
    *,
    X: TensorDesc,
    scale: TensorDesc,
    bias: TensorDesc,
    Y: TensorDesc | None = None,
    epsilon: float | None = None,
    num_groups: int,
    stash_type: int | str | None = None,
) -> Descriptor:
    """Groups of channels of each batch normalized, then scaled and shifted."""

def HammingWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | str | None = None,
    periodic: int | None = None,
) -> Descriptor:
    """"""

def HannWindow(
    *,
    size: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | str | None = None,
    periodic: int | None = None,
) -> Descriptor:
    """"""

def HardSigmoid(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    beta: float | None = None,
) -> Descriptor:
    """alpha * x + beta of each element, cut to the range 0 to 1."""

def HardSwish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element times its hard sigmoid with alpha 1/6 and beta 0.5."""

def Hardmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """1 for the first of the largest elements along axis, 0 for the others."""

def Identity(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input as it is."""

def If(
    *,
    cond: TensorDesc,
    outputs: list[TensorDesc] | None = None,
    else_branch: GraphDesc,
    then_branch: GraphDesc,
) -> Descriptor:
    """The outputs of one of two graphs, by a condition."""

def ImageDecoder(
    *,
    encoded_stream: TensorDesc,
    image: TensorDesc | None = None,
    pixel_format: _ImageDecoder_pixel_format | None = None,
) -> Descriptor:
    """"""

def InstanceNormalization(
    *,
    input: TensorDesc,
    scale: TensorDesc,
    B: TensorDesc,
    output: TensorDesc | None = None,
    epsilon: float | None = None,
) -> Descriptor:
    """Each channel of each batch normalized, then scaled and shifted."""

def IsInf(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    detect_negative: int | None = None,
    detect_positive: int | None = None,
) -> Descriptor:
    """Whether each element is infinite, of the signs that are asked for."""

def IsNaN(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Whether each element is not a number."""

def LRN(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    bias: float | None = None,
    size: int,
) -> Descriptor:
    """Each element divided by a power of the sum of squares of its neighbouring channels."""

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
) -> Descriptor:
    """A long short-term memory network of one layer."""

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
    stash_type: int | str | None = None,
) -> Descriptor:
    """The input normalized over its dimensions from axis on, then scaled and shifted."""

def LeakyRelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """Each element, negative ones times alpha."""

def Less(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A is less than B, element by element."""

def LessOrEqual(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A is at most B, element by element."""

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
) -> Descriptor:
    """"""

def Log(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The natural logarithm of each element."""

def LogSoftmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """The logarithms of the softmax of the elements along axis."""

def Loop(
    *,
    M: TensorDesc | None = None,
    cond: TensorDesc | None = None,
    v_initial: list[TensorDesc] | None = None,
    v_final_and_scan_outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor:
    """"""

def LpNormalization(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    p: int | None = None,
) -> Descriptor:
    """The input divided by its Lp norm along axis."""

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
) -> Descriptor:
    """The Lp norm of each window over X."""

def MatMul(
    *,
    A: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The matrix product of A and B, as numpy.matmul has it."""

def MatMulInteger(
    *,
    A: TensorDesc,
    B: TensorDesc,
    a_zero_point: TensorDesc | None = None,
    b_zero_point: TensorDesc | None = None,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The matrix product of integers A and B, each less its zero point, in 32 bits."""

def Max(
    *,
    data_0: list[TensorDesc],
    max: TensorDesc | None = None,
) -> Descriptor:
    """The greatest of the inputs, element by element."""

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
) -> Descriptor:
    """The largest element of each window over X, and where it lies."""

def MaxRoiPool(
    *,
    X: TensorDesc,
    rois: TensorDesc,
    Y: TensorDesc | None = None,
    pooled_shape: list[int],
    spatial_scale: float | None = None,
) -> Descriptor:
    """The largest element in each part of each region of interest."""

def MaxUnpool(
    *,
    X: TensorDesc,
    I: TensorDesc,
    output_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    kernel_shape: list[int],
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Descriptor:
    """The input at the places that indices say, in a larger tensor of zeros."""

def Mean(
    *,
    data_0: list[TensorDesc],
    mean: TensorDesc | None = None,
) -> Descriptor:
    """The mean of the inputs, element by element."""

def MeanVarianceNormalization(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    axes: list[int] | None = None,
) -> Descriptor:
    """The input less its mean along axes, divided by its standard deviation."""

def MelWeightMatrix(
    *,
    num_mel_bins: TensorDesc,
    dft_length: TensorDesc,
    sample_rate: TensorDesc,
    lower_edge_hertz: TensorDesc,
    upper_edge_hertz: TensorDesc,
    output: TensorDesc | None = None,
    output_datatype: int | str | None = None,
) -> Descriptor:
    """"""

def Min(
    *,
    data_0: list[TensorDesc],
    min: TensorDesc | None = None,
) -> Descriptor:
    """The least of the inputs, element by element."""

def Mish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element times the hyperbolic tangent of its softplus."""

def Mod(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
    fmod: int | None = None,
) -> Descriptor:
    """The remainder of A divided by B, element by element, with the sign of B or (fmod) that of A."""

def Mul(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """The product of A and B, element by element."""

def Multinomial(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    sample_size: int | None = None,
    seed: float | None = None,
) -> Descriptor:
    """Draws of classes for each batch, by their unnormalized log-probabilities."""

def Neg(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element with its sign turned over."""

def NegativeLogLikelihoodLoss(
    *,
    input: TensorDesc,
    target: TensorDesc,
    weight: TensorDesc | None = None,
    loss: TensorDesc | None = None,
    ignore_index: int | None = None,
    reduction: _NegativeLogLikelihoodLoss_reduction | None = None,
) -> Descriptor:
    """"""

def NonMaxSuppression(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    max_output_boxes_per_class: TensorDesc | None = None,
    iou_threshold: TensorDesc | None = None,
    score_threshold: TensorDesc | None = None,
    selected_indices: TensorDesc | None = None,
    center_point_box: int | None = None,
) -> Descriptor:
    """The boxes that overlap little enough with boxes of a higher score."""

def NonZero(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The places of the elements that are not 0, one row of indices for each dimension of the input."""

def Not(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The logical negation of each element."""

def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    values: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """Adds a dimension of size depth at axis and writes on_value where it equals the index, off_value elsewhere.

    indices: non-integer ones are cast to int64 first
    depth: scalar or one element; cast to int64 first if it is no integer
    values: off_value, then on_value
    axis: where the new dimension goes; -1 is the last
    """

def Optional(
    *,
    input: TensorDesc | None = None,
    output: TensorDesc | None = None,
    type: TensorDesc | None = None,
) -> Descriptor:
    """An optional that holds the input, or nothing of a type."""

def OptionalGetElement(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """What an optional holds; a tensor or a sequence is put out as it is."""

def OptionalHasElement(
    *,
    input: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """"""

def Or(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether A or B holds, element by element."""

def PRelu(
    *,
    X: TensorDesc,
    slope: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element, negative ones times slope."""

def Pad(
    *,
    data: TensorDesc,
    pads: TensorDesc,
    constant_value: TensorDesc | None = None,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor:
    """The input with elements added before and behind it along its dimensions, or taken away where pads is negative."""

def Pow(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
) -> Descriptor:
    """X to the power Y, element by element."""

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
) -> Descriptor:
    """The convolution of quantized x with the quantized weights w, quantized by the scale and zero point of y."""

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
) -> Descriptor:
    """The matrix product of quantized a and b, quantized by the scale and zero point of y."""

def QuantizeLinear(
    *,
    x: TensorDesc,
    y_scale: TensorDesc,
    y_zero_point: TensorDesc | None = None,
    y: TensorDesc | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: int | str | None = None,
    precision: int | str | None = None,
    saturate: int | None = None,
) -> Descriptor:
    """The input divided by a scale, rounded, and moved by a zero point."""

def RMSNormalization(
    *,
    X: TensorDesc,
    scale: TensorDesc,
    Y: TensorDesc | None = None,
    axis: int | None = None,
    epsilon: float | None = None,
    stash_type: int | str | None = None,
) -> Descriptor:
    """"""

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
) -> Descriptor:
    """A simple recurrent network of one layer."""

def RandomNormal(
    *,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    mean: float | None = None,
    scale: float | None = None,
    seed: float | None = None,
    shape: list[int],
) -> Descriptor:
    """Random numbers of a normal distribution."""

def RandomNormalLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    mean: float | None = None,
    scale: float | None = None,
    seed: float | None = None,
) -> Descriptor:
    """Random numbers of a normal distribution, in the shape of the input."""

def RandomUniform(
    *,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    high: float | None = None,
    low: float | None = None,
    seed: float | None = None,
    shape: list[int],
) -> Descriptor:
    """Random numbers of a uniform distribution."""

def RandomUniformLike(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
    high: float | None = None,
    low: float | None = None,
    seed: float | None = None,
) -> Descriptor:
    """Random numbers of a uniform distribution, in the shape of the input."""

def Range(
    *,
    start: TensorDesc,
    limit: TensorDesc,
    delta: TensorDesc,
    output: TensorDesc | None = None,
    stash_type: int | str | None = None,
) -> Descriptor:
    """The numbers from start in steps of delta up to limit, which is left out."""

def Reciprocal(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """One divided by each element."""

def ReduceL1(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The sum of absolute values of the elements along axes."""

def ReduceL2(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The square root of the sum of squares of the elements along axes."""

def ReduceLogSum(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The logarithm of the sum of the elements along axes."""

def ReduceLogSumExp(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The logarithm of the sum of exponentials of the elements along axes."""

def ReduceMax(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The largest of the elements along axes."""

def ReduceMean(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The mean of the elements along axes."""

def ReduceMin(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The least of the elements along axes."""

def ReduceProd(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The product of the elements along axes."""

def ReduceSum(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The sum of the elements along axes."""

def ReduceSumSquare(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    reduced: TensorDesc | None = None,
    keepdims: int | None = None,
    noop_with_empty_axes: int | None = None,
) -> Descriptor:
    """The sum of squares of the elements along axes."""

def RegexFullMatch(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    pattern: str | None = None,
) -> Descriptor:
    """"""

def Relu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The larger of each element and 0."""

def Reshape(
    *,
    data: TensorDesc,
    shape: TensorDesc,
    reshaped: TensorDesc | None = None,
    allowzero: int | None = None,
) -> Descriptor:
    """The input's elements in the same order, in another shape."""

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
) -> Descriptor:
    """The input interpolated to other sizes."""

def ReverseSequence(
    *,
    input: TensorDesc,
    sequence_lens: TensorDesc,
    Y: TensorDesc | None = None,
    batch_axis: int | None = None,
    time_axis: int | None = None,
) -> Descriptor:
    """The first elements of each sequence in reverse order, the others as they are."""

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
) -> Descriptor:
    """The mean or largest of sampled elements in each part of each region of interest."""

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
) -> Descriptor:
    """"""

def Round(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """Each element rounded to the nearest integer, halves to the even one."""

def STFT(
    *,
    signal: TensorDesc,
    frame_step: TensorDesc,
    window: TensorDesc | None = None,
    frame_length: TensorDesc | None = None,
    output: TensorDesc | None = None,
    onesided: int | None = None,
) -> Descriptor:
    """"""

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
) -> Descriptor:
    """A graph run for each slice of its inputs, with state handed on."""

def Scatter(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """A copy of data in which the elements of updates stand at their own places, but for axis, where indices says
    which.
    """

def ScatterElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    reduction: str | None = None,
) -> Descriptor:
    """A copy of data in which the elements of updates stand at their own places, but for axis, where indices says
    which.
    """

def ScatterND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor:
    """A copy of data in which the updates stand at the places that the last dimension of indices gives."""

def Selu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
) -> Descriptor:
    """The scaled exponential linear unit of each element."""

def SequenceAt(
    *,
    input_sequence: TensorDesc,
    position: TensorDesc,
    tensor: TensorDesc | None = None,
) -> Descriptor:
    """One tensor of a sequence."""

def SequenceConstruct(
    *,
    inputs: list[TensorDesc],
    output_sequence: TensorDesc | None = None,
) -> Descriptor:
    """"""

def SequenceEmpty(
    *,
    output: TensorDesc | None = None,
    dtype: int | str | None = None,
) -> Descriptor:
    """"""

def SequenceErase(
    *,
    input_sequence: TensorDesc,
    position: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
) -> Descriptor:
    """A sequence without one of its tensors."""

def SequenceInsert(
    *,
    input_sequence: TensorDesc,
    tensor: TensorDesc,
    position: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
) -> Descriptor:
    """A sequence with one more tensor."""

def SequenceLength(
    *,
    input_sequence: TensorDesc,
    length: TensorDesc | None = None,
) -> Descriptor:
    """How many tensors a sequence has."""

def SequenceMap(
    *,
    input_sequence: TensorDesc,
    additional_inputs: list[TensorDesc] | None = None,
    out_sequence: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor:
    """"""

def Shape(
    *,
    data: TensorDesc,
    shape: TensorDesc | None = None,
    end: int | None = None,
    start: int | None = None,
) -> Descriptor:
    """The sizes of the input as a list, or those from start to end of them."""

def Shrink(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    bias: float | None = None,
    lambd: float | None = None,
) -> Descriptor:
    """Elements within lambd of 0 become 0, the others move by bias toward it."""

def Sigmoid(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The logistic function of each element."""

def Sign(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """-1, 0 or 1 for each element, by its sign."""

def Sin(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The sine of each element, in radians."""

def Sinh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic sine of each element."""

def Size(
    *,
    data: TensorDesc,
    size: TensorDesc | None = None,
) -> Descriptor:
    """How many elements the input has, as a scalar."""

def Slice(
    *,
    data: TensorDesc,
    starts: TensorDesc,
    ends: TensorDesc,
    axes: TensorDesc | None = None,
    steps: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The elements of the input from starts to ends along axes, every one or those in steps."""

def Softmax(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """The exponentials of the elements along axis, divided by their sum."""

def SoftmaxCrossEntropyLoss(
    *,
    scores: TensorDesc,
    labels: TensorDesc,
    weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    log_prob: TensorDesc | None = None,
    ignore_index: int | None = None,
    reduction: _NegativeLogLikelihoodLoss_reduction | None = None,
) -> Descriptor:
    """"""

def Softplus(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The logarithm of 1 plus the exponential of each element."""

def Softsign(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element divided by 1 plus its absolute value."""

def SpaceToDepth(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
    blocksize: int,
    mode: _DepthToSpace_mode | None = None,
) -> Descriptor:
    """Blocks of height and width rearranged into channels."""

def Split(
    *,
    input: TensorDesc,
    split: TensorDesc | None = None,
    outputs: list[TensorDesc] | None = None,
    axis: int | None = None,
    num_outputs: int | None = None,
) -> Descriptor:
    """The input cut into parts along axis, of equal size or of the sizes that split gives."""

def SplitToSequence(
    *,
    input: TensorDesc,
    split: TensorDesc | None = None,
    output_sequence: TensorDesc | None = None,
    axis: int | None = None,
    keepdims: int | None = None,
) -> Descriptor:
    """"""

def Sqrt(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
) -> Descriptor:
    """The square root of each element."""

def Squeeze(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    squeezed: TensorDesc | None = None,
) -> Descriptor:
    """The input without the dimensions of size 1 that axes names, or without any of size 1."""

def StringConcat(
    *,
    X: TensorDesc,
    Y: TensorDesc,
    Z: TensorDesc | None = None,
) -> Descriptor:
    """The strings of X followed by those of Y, element by element."""

def StringNormalizer(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    case_change_action: _StringNormalizer_case_change_action | None = None,
    is_case_sensitive: int | None = None,
    locale: str | None = None,
    stopwords: list[str] | None = None,
) -> Descriptor:
    """"""

def StringSplit(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    Z: TensorDesc | None = None,
    delimiter: str | None = None,
    maxsplit: int | None = None,
) -> Descriptor:
    """"""

def Sub(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """A minus B, element by element."""

def Sum(
    *,
    data_0: list[TensorDesc],
    sum: TensorDesc | None = None,
) -> Descriptor:
    """The sum of the inputs, element by element."""

def SwiGLU(
    *,
    A: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """"""

def Swish(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """Each element times the sigmoid of alpha times itself."""

def Tan(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The tangent of each element, in radians."""

def Tanh(
    *,
    input: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic tangent of each element."""

def TensorScatter(
    *,
    past_cache: TensorDesc,
    update: TensorDesc,
    write_indices: TensorDesc | None = None,
    present_cache: TensorDesc | None = None,
    axis: int | None = None,
    mode: _TensorScatter_mode | None = None,
) -> Descriptor:
    """"""

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
) -> Descriptor:
    """"""

def ThresholdedRelu(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    alpha: float | None = None,
) -> Descriptor:
    """Elements above alpha as they are, all others 0."""

def Tile(
    *,
    input: TensorDesc,
    repeats: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input repeated along each dimension as often as repeats says; before 6 along one."""

def TopK(
    *,
    X: TensorDesc,
    K: TensorDesc,
    Values: TensorDesc | None = None,
    Indices: TensorDesc | None = None,
    axis: int | None = None,
    largest: int | None = None,
    sorted: int | None = None,
) -> Descriptor:
    """The K largest or least elements along axis, and where they lie."""

def Transpose(
    *,
    data: TensorDesc,
    transposed: TensorDesc | None = None,
    perm: list[int] | None = None,
) -> Descriptor:
    """The input with its dimensions in another order, reversed unless perm says which."""

def Trilu(
    *,
    input: TensorDesc,
    k: TensorDesc | None = None,
    output: TensorDesc | None = None,
    upper: int | None = None,
) -> Descriptor:
    """The elements of each matrix on and above its k-th diagonal, or on and below it, and 0 elsewhere."""

def Unique(
    *,
    X: TensorDesc,
    Y: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    inverse_indices: TensorDesc | None = None,
    counts: TensorDesc | None = None,
    axis: int | None = None,
    sorted: int | None = None,
) -> Descriptor:
    """The different elements of the input, or the different slices along axis, with where and how often they occur."""

def Unsqueeze(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    expanded: TensorDesc | None = None,
) -> Descriptor:
    """The input with a dimension of size 1 at each place that axes names in the output."""

def Upsample(
    *,
    X: TensorDesc,
    scales: TensorDesc,
    Y: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor:
    """The input interpolated to larger sizes."""

def Where(
    *,
    condition: TensorDesc,
    X: TensorDesc,
    Y: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Elements of X where condition holds, those of Y elsewhere."""

def Xor(
    *,
    A: TensorDesc,
    B: TensorDesc,
    C: TensorDesc | None = None,
) -> Descriptor:
    """Whether exactly one of A and B holds, element by element."""
