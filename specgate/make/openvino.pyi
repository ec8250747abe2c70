# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from typing import Literal, TypeAlias

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc

_AvgPool_auto_pad: TypeAlias = Literal["explicit", "same_upper", "same_lower", "valid"]

def Abs(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Acos(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Acosh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def AdaptiveAvgPool(
    *,
    data: TensorDesc,
    output_size: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def AdaptiveMaxPool(
    *,
    data: TensorDesc,
    output_size: TensorDesc,
    output: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    index_element_type: str | None = None,
) -> Descriptor: ...
def Add(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Asin(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Asinh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Assign(
    *,
    new_value: TensorDesc,
    output: TensorDesc | None = None,
    variable_id: str,
) -> Descriptor: ...
def Atan(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Atanh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def AvgPool(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    kernel: list[int],
    rounding_type: str | None = None,
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    output: TensorDesc | None = None,
    exclude_pad: bool,
    dilations: list[int] | None = None,
) -> Descriptor: ...
def BGRtoNV12(
    *,
    image: TensorDesc,
    output: TensorDesc | None = None,
    uv: TensorDesc | None = None,
    single_plane: bool | None = None,
) -> Descriptor: ...
def BatchNormInference(
    *,
    data: TensorDesc,
    gamma: TensorDesc,
    beta: TensorDesc,
    mean: TensorDesc,
    variance: TensorDesc,
    output: TensorDesc | None = None,
    epsilon: float,
) -> Descriptor: ...
def BatchToSpace(
    *,
    data: TensorDesc,
    block_shape: TensorDesc,
    crops_begin: TensorDesc,
    crops_end: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def BinaryConvolution(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    filters: TensorDesc,
    output: TensorDesc | None = None,
    mode: str,
    pad_value: float,
) -> Descriptor: ...
def BitwiseAnd(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def BitwiseLeftShift(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def BitwiseNot(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def BitwiseOr(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def BitwiseRightShift(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def BitwiseXor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Broadcast(
    *,
    data: TensorDesc,
    target_shape: TensorDesc,
    axes_mapping: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor: ...
def Bucketize(
    *,
    data: TensorDesc,
    buckets: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
    with_right_bound: bool | None = None,
) -> Descriptor: ...
def CTCGreedyDecoder(
    *,
    data: TensorDesc,
    sequence_mask: TensorDesc,
    output: TensorDesc | None = None,
    ctc_merge_repeated: bool | None = None,
) -> Descriptor: ...
def CTCGreedyDecoderSeqLen(
    *,
    data: TensorDesc,
    sequence_length: TensorDesc,
    blank_index: TensorDesc | None = None,
    classes: TensorDesc | None = None,
    decoded_length: TensorDesc | None = None,
    merge_repeated: bool | None = None,
    classes_index_type: str | None = None,
    sequence_length_type: str | None = None,
) -> Descriptor: ...
def CTCLoss(
    *,
    logits: TensorDesc,
    logit_length: TensorDesc,
    labels: TensorDesc,
    label_length: TensorDesc,
    blank_index: TensorDesc | None = None,
    output: TensorDesc | None = None,
    preprocess_collapse_repeated: bool | None = None,
    ctc_merge_repeated: bool | None = None,
    unique: bool | None = None,
) -> Descriptor: ...
def Ceiling(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Clamp(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    min: float,
    max: float,
) -> Descriptor: ...
def Col2Im(
    *,
    data: TensorDesc,
    output_size: TensorDesc,
    kernel_size: TensorDesc,
    output: TensorDesc | None = None,
    strides: list[int] | None = None,
    dilations: list[int] | None = None,
    pads_begin: list[int] | None = None,
    pads_end: list[int] | None = None,
) -> Descriptor: ...
def Concat(
    *,
    inputs: list[TensorDesc],
    output: TensorDesc | None = None,
    axis: int,
) -> Descriptor: ...
def Const(
    *,
    output: TensorDesc | None = None,
    element_type: str,
    shape: list[int],
    offset: int,
    size: int,
) -> Descriptor: ...
def Convert(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    destination_type: str,
) -> Descriptor: ...
def ConvertLike(
    *,
    data: TensorDesc,
    like: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ConvertPromoteTypes(
    *,
    input_0: TensorDesc,
    input_1: TensorDesc,
    output_0: TensorDesc | None = None,
    output_1: TensorDesc | None = None,
    promote_unsafe: bool | None = None,
    pytorch_scalar_promotion: bool | None = None,
    u64_integer_promotion_target: str | None = None,
) -> Descriptor: ...
def Convolution(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    filters: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ConvolutionBackpropData(
    *,
    data: TensorDesc,
    filters: TensorDesc,
    output_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    output_padding: list[int] | None = None,
) -> Descriptor: ...
def Cos(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Cosh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def CumSum(
    *,
    data: TensorDesc,
    axis: TensorDesc | None = None,
    output: TensorDesc | None = None,
    exclusive: bool | None = None,
    reverse: bool | None = None,
) -> Descriptor: ...
def DFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def DeformableConvolution(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    offsets: TensorDesc,
    filters: TensorDesc,
    mask: TensorDesc | None = None,
    output: TensorDesc | None = None,
    group: int | None = None,
    deformable_group: int | None = None,
    bilinear_interpolation_pad: bool | None = None,
) -> Descriptor: ...
def DeformablePSROIPooling(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    offsets: TensorDesc | None = None,
    output_dim: int,
    group_size: int | None = None,
    mode: str | None = None,
    spatial_bins_x: int | None = None,
    spatial_bins_y: int | None = None,
    trans_std: float | None = None,
    part_size: int | None = None,
) -> Descriptor: ...
def DepthToSpace(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    block_size: int | None = None,
    mode: str,
) -> Descriptor: ...
def DetectionOutput(
    *,
    box_logits: TensorDesc,
    class_preds: TensorDesc,
    proposals: TensorDesc,
    aux_class_preds: TensorDesc | None = None,
    aux_box_preds: TensorDesc | None = None,
    output: TensorDesc | None = None,
    background_label_id: int | None = None,
    top_k: int | None = None,
    variance_encoded_in_target: bool | None = None,
    keep_top_k: list[int],
    code_type: str | None = None,
    share_location: bool | None = None,
    nms_threshold: float,
    confidence_threshold: float | None = None,
    clip_after_nms: bool | None = None,
    clip_before_nms: bool | None = None,
    decrease_label_id: bool | None = None,
    normalized: bool | None = None,
    input_height: int | None = None,
    input_width: int | None = None,
    objectness_score: float | None = None,
) -> Descriptor: ...
def Divide(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    m_pythondiv: bool | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Einsum(
    *,
    inputs: list[TensorDesc],
    output: TensorDesc | None = None,
    equation: str,
) -> Descriptor: ...
def Elu(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    alpha: float,
) -> Descriptor: ...
def EmbeddingBagOffsets(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    offsets: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor: ...
def EmbeddingBagOffsetsSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    offsets: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def EmbeddingBagPacked(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor: ...
def EmbeddingBagPackedSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def EmbeddingSegmentsSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    segment_ids: TensorDesc,
    num_segments: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Equal(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Erf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ErfInv(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Exp(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ExperimentalDetectronDetectionOutput(
    *,
    rois: TensorDesc,
    deltas: TensorDesc,
    scores: TensorDesc,
    image_info: TensorDesc,
    boxes: TensorDesc | None = None,
    box_classes: TensorDesc | None = None,
    box_scores: TensorDesc | None = None,
    score_threshold: float,
    nms_threshold: float,
    num_classes: int,
    post_nms_count: int,
    max_detections_per_image: int,
    class_agnostic_box_regression: bool | None = None,
    max_delta_log_wh: float,
    deltas_weights: list[float],
) -> Descriptor: ...
def ExperimentalDetectronGenerateProposalsSingleImage(
    *,
    image_info: TensorDesc,
    anchors: TensorDesc,
    deltas: TensorDesc,
    scores: TensorDesc,
    rois: TensorDesc | None = None,
    roi_scores: TensorDesc | None = None,
    min_size: float,
    nms_threshold: float,
    pre_nms_count: int,
    post_nms_count: int,
) -> Descriptor: ...
def ExperimentalDetectronPriorGridGenerator(
    *,
    priors: TensorDesc,
    feature_map: TensorDesc,
    image: TensorDesc,
    output: TensorDesc | None = None,
    flatten: bool | None = None,
    h: int | None = None,
    w: int | None = None,
    stride_x: float | None = None,
    stride_y: float | None = None,
) -> Descriptor: ...
def ExperimentalDetectronROIFeatureExtractor(
    *,
    rois: TensorDesc,
    pyramid: list[TensorDesc],
    features: TensorDesc | None = None,
    output_rois: TensorDesc | None = None,
    output_size: int,
    sampling_ratio: int,
    pyramid_scales: list[int],
    aligned: bool | None = None,
) -> Descriptor: ...
def ExperimentalDetectronTopKROIs(
    *,
    rois: TensorDesc,
    probabilities: TensorDesc,
    output: TensorDesc | None = None,
    max_rois: int | None = None,
) -> Descriptor: ...
def ExtractImagePatches(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    sizes: list[int],
    strides: list[int],
    rates: list[int],
    auto_pad: str,
) -> Descriptor: ...
def Eye(
    *,
    num_rows: TensorDesc,
    num_columns: TensorDesc,
    diagonal_index: TensorDesc,
    batch_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    output_type: str,
) -> Descriptor: ...
def FakeConvert(
    *,
    data: TensorDesc,
    scale: TensorDesc,
    shift: TensorDesc | None = None,
    output: TensorDesc | None = None,
    destination_type: str,
) -> Descriptor: ...
def FakeQuantize(
    *,
    X: TensorDesc,
    input_low: TensorDesc,
    input_high: TensorDesc,
    output_low: TensorDesc,
    output_high: TensorDesc,
    output: TensorDesc | None = None,
    levels: int,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Floor(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def FloorMod(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def GRN(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    bias: float,
) -> Descriptor: ...
def GRUCell(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc | None = None,
    Ho: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
    linear_before_reset: bool | None = None,
) -> Descriptor: ...
def GRUSequence(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    sequence_lengths: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
    Ho: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
    direction: str,
    linear_before_reset: bool | None = None,
) -> Descriptor: ...
def Gather(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor: ...
def GatherElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int,
) -> Descriptor: ...
def GatherND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor: ...
def GatherTree(
    *,
    step_ids: TensorDesc,
    parent_ids: TensorDesc,
    max_seq_len: TensorDesc,
    end_token: TensorDesc,
    final_ids: TensorDesc | None = None,
) -> Descriptor: ...
def Gelu(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    approximation_mode: str | None = None,
) -> Descriptor: ...
def GenerateProposals(
    *,
    im_info: TensorDesc,
    anchors: TensorDesc,
    boxesdeltas: TensorDesc,
    scores: TensorDesc,
    rpnrois: TensorDesc | None = None,
    rpnscores: TensorDesc | None = None,
    rpnroisnum: TensorDesc | None = None,
    min_size: float,
    nms_threshold: float,
    pre_nms_count: int,
    post_nms_count: int,
    normalized: bool | None = None,
    nms_eta: float | None = None,
    roi_num_type: str | None = None,
) -> Descriptor: ...
def Greater(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def GreaterEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def GridSample(
    *,
    data: TensorDesc,
    grid: TensorDesc,
    output: TensorDesc | None = None,
    align_corners: bool | None = None,
    mode: str | None = None,
    padding_mode: str | None = None,
) -> Descriptor: ...
def GroupConvolution(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    filters: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def GroupConvolutionBackpropData(
    *,
    data: TensorDesc,
    filters: TensorDesc,
    output_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    dilations: list[int],
    auto_pad: _AvgPool_auto_pad | None = None,
    output_padding: list[int] | None = None,
) -> Descriptor: ...
def GroupNormalization(
    *,
    data: TensorDesc,
    scale: TensorDesc,
    bias: TensorDesc,
    output: TensorDesc | None = None,
    num_groups: int,
    epsilon: float,
) -> Descriptor: ...
def GroupedMatMul(
    *,
    mat_a: TensorDesc,
    mat_b: TensorDesc,
    offsets: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def HSigmoid(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def HSwish(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def HardSigmoid(
    *,
    data: TensorDesc,
    alpha: TensorDesc,
    beta: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def I420toBGR(
    *,
    y: TensorDesc,
    u: TensorDesc | None = None,
    v: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def I420toRGB(
    *,
    y: TensorDesc,
    u: TensorDesc | None = None,
    v: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def IDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def IRDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ISTFT(
    *,
    data: TensorDesc,
    window: TensorDesc,
    frame_size: TensorDesc,
    frame_step: TensorDesc,
    signal_length: TensorDesc | None = None,
    signal: TensorDesc | None = None,
    center: bool,
    normalized: bool,
) -> Descriptor: ...
def Identity(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def If(
    *,
    cond: TensorDesc,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    then_body: GraphDesc,
    else_body: GraphDesc,
) -> Descriptor: ...
def Interpolate(
    *,
    data: TensorDesc,
    scales_or_sizes: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mode: str,
    shape_calculation_mode: str,
    coordinate_transformation_mode: str | None = None,
    nearest_mode: str | None = None,
    antialias: bool | None = None,
    pads_begin: list[int] | None = None,
    pads_end: list[int] | None = None,
    cube_coeff: float | None = None,
) -> Descriptor: ...
def Inverse(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    adjoint: bool | None = None,
) -> Descriptor: ...
def IsFinite(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def IsInf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    detect_negative: bool | None = None,
    detect_positive: bool | None = None,
) -> Descriptor: ...
def IsNaN(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def LRN(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    alpha: float,
    beta: float,
    bias: float,
    size: int,
) -> Descriptor: ...
def LSTMCell(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    initial_cell_state: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc | None = None,
    Ho: TensorDesc | None = None,
    Co: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
) -> Descriptor: ...
def LSTMSequence(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    initial_cell_state: TensorDesc,
    sequence_lengths: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
    Ho: TensorDesc | None = None,
    Co: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
    direction: str,
) -> Descriptor: ...
def Less(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def LessEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Log(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def LogSoftmax(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def LogicalAnd(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def LogicalNot(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def LogicalOr(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def LogicalXor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Loop(
    *,
    trip_count: TensorDesc,
    execution_condition: TensorDesc,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor: ...
def MVN(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    normalize_variance: bool,
    eps: float,
    eps_mode: str,
) -> Descriptor: ...
def MatMul(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    transpose_a: bool | None = None,
    transpose_b: bool | None = None,
) -> Descriptor: ...
def MatrixNms(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    selected_outputs: TensorDesc | None = None,
    selected_indices: TensorDesc | None = None,
    selected_num: TensorDesc | None = None,
    sort_result_type: str | None = None,
    sort_result_across_batch: bool | None = None,
    output_type: str | None = None,
    score_threshold: float | None = None,
    nms_top_k: int | None = None,
    keep_top_k: int | None = None,
    background_class: int | None = None,
    normalized: bool | None = None,
    decay_function: str | None = None,
    gaussian_sigma: float | None = None,
    post_threshold: float | None = None,
) -> Descriptor: ...
def MaxPool(
    *,
    strides: list[int],
    pads_begin: list[int],
    pads_end: list[int],
    kernel: list[int],
    rounding_type: str | None = None,
    auto_pad: _AvgPool_auto_pad | None = None,
    data: TensorDesc,
    output: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    dilations: list[int] | None = None,
    index_element_type: str | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def Maximum(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Minimum(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Mish(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Mod(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def MulticlassNms(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    roisnum: TensorDesc | None = None,
    selected_outputs: TensorDesc | None = None,
    selected_indices: TensorDesc | None = None,
    selected_num: TensorDesc | None = None,
    sort_result_type: str | None = None,
    sort_result_across_batch: bool | None = None,
    output_type: str | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    nms_top_k: int | None = None,
    keep_top_k: int | None = None,
    background_class: int | None = None,
    normalized: bool | None = None,
    nms_eta: float | None = None,
) -> Descriptor: ...
def Multinomial(
    *,
    probs: TensorDesc,
    num_samples: TensorDesc,
    output: TensorDesc | None = None,
    convert_type: str,
    with_replacement: bool,
    log_probs: bool,
    global_seed: int | None = None,
    op_seed: int | None = None,
) -> Descriptor: ...
def Multiply(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def NMSRotated(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    max_output_boxes_per_class: TensorDesc,
    iou_threshold: TensorDesc,
    score_threshold: TensorDesc,
    selected_indices: TensorDesc | None = None,
    selected_scores: TensorDesc | None = None,
    valid_outputs: TensorDesc | None = None,
    sort_result_descending: bool | None = None,
    output_type: str | None = None,
    clockwise: bool | None = None,
) -> Descriptor: ...
def NV12toBGR(
    *,
    y: TensorDesc,
    uv: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def NV12toRGB(
    *,
    y: TensorDesc,
    uv: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Negative(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def NonMaxSuppression(
    *,
    boxes: TensorDesc,
    scores: TensorDesc,
    max_output_boxes_per_class: TensorDesc | None = None,
    iou_threshold: TensorDesc | None = None,
    score_threshold: TensorDesc | None = None,
    soft_nms_sigma: TensorDesc | None = None,
    selected_indices: TensorDesc | None = None,
    selected_scores: TensorDesc | None = None,
    valid_outputs: TensorDesc | None = None,
    box_encoding: str | None = None,
    sort_result_descending: bool | None = None,
    output_type: str | None = None,
) -> Descriptor: ...
def NonZero(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
) -> Descriptor: ...
def NormalizeL2(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    eps: float,
    eps_mode: str,
) -> Descriptor: ...
def NotEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    on_value: TensorDesc,
    off_value: TensorDesc,
    output: TensorDesc | None = None,
    axis: int,
    negative_indices_mode: str | None = None,
) -> Descriptor: ...
def PReLU(
    *,
    data: TensorDesc,
    slope: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def PSROIPooling(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    output_dim: int,
    group_size: int | None = None,
    mode: str | None = None,
    spatial_bins_x: int | None = None,
    spatial_bins_y: int | None = None,
) -> Descriptor: ...
def Pad(
    *,
    data: TensorDesc,
    pads_begin: TensorDesc,
    pads_end: TensorDesc,
    pad_value: TensorDesc | None = None,
    output: TensorDesc | None = None,
    pad_mode: str,
) -> Descriptor: ...
def Parameter(
    *,
    output: TensorDesc | None = None,
    element_type: str,
    shape: list[int],
) -> Descriptor: ...
def Power(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def PriorBox(
    *,
    output_size: TensorDesc,
    image_size: TensorDesc,
    output: TensorDesc | None = None,
    min_size: list[float] | None = None,
    max_size: list[float] | None = None,
    aspect_ratio: list[float] | None = None,
    flip: bool | None = None,
    clip: bool | None = None,
    step: float | None = None,
    offset: float,
    variance: list[float] | None = None,
    scale_all_sizes: bool | None = None,
    fixed_ratio: list[float] | None = None,
    fixed_size: list[float] | None = None,
    density: list[float] | None = None,
    min_max_aspect_ratios_order: bool | None = None,
) -> Descriptor: ...
def PriorBoxClustered(
    *,
    output_size: TensorDesc,
    image_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
    width: list[float] | None = None,
    height: list[float] | None = None,
    clip: bool | None = None,
    step: float | None = None,
    step_w: float | None = None,
    step_h: float | None = None,
    offset: float,
    variance: list[float] | None = None,
) -> Descriptor: ...
def Proposal(
    *,
    class_probs: TensorDesc,
    bbox_deltas: TensorDesc,
    image_shape: TensorDesc,
    boxes: TensorDesc | None = None,
    probabilities: TensorDesc | None = None,
    base_size: int,
    pre_nms_topn: int,
    post_nms_topn: int,
    nms_thresh: float,
    feat_stride: int,
    min_size: int,
    ratio: list[float],
    scale: list[float],
    clip_before_nms: bool | None = None,
    clip_after_nms: bool | None = None,
    normalize: bool | None = None,
    box_size_scale: float | None = None,
    box_coordinate_scale: float | None = None,
    framework: str | None = None,
) -> Descriptor: ...
def RDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def RGBtoNV12(
    *,
    image: TensorDesc,
    output: TensorDesc | None = None,
    uv: TensorDesc | None = None,
    single_plane: bool | None = None,
) -> Descriptor: ...
def RNNCell(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc,
    Ho: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
) -> Descriptor: ...
def RNNSequence(
    *,
    X: TensorDesc,
    initial_hidden_state: TensorDesc,
    sequence_lengths: TensorDesc,
    W: TensorDesc,
    R: TensorDesc,
    B: TensorDesc,
    Y: TensorDesc | None = None,
    Ho: TensorDesc | None = None,
    hidden_size: int,
    activations: list[str] | None = None,
    activations_alpha: list[float] | None = None,
    activations_beta: list[float] | None = None,
    clip: float | None = None,
    direction: str,
) -> Descriptor: ...
def ROIAlign(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    batch_indices: TensorDesc,
    pooled_h: int,
    pooled_w: int,
    sampling_ratio: int,
    mode: str,
    aligned_mode: str | None = None,
) -> Descriptor: ...
def ROIAlignRotated(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    batch_indices: TensorDesc,
    pooled_h: int,
    pooled_w: int,
    sampling_ratio: int,
    clockwise_mode: bool | None = None,
) -> Descriptor: ...
def ROIPooling(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    pooled_h: int,
    pooled_w: int,
    method: str | None = None,
) -> Descriptor: ...
def RandomUniform(
    *,
    shape: TensorDesc,
    minval: TensorDesc,
    maxval: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str,
    global_seed: int | None = None,
    op_seed: int | None = None,
) -> Descriptor: ...
def Range(
    *,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str,
) -> Descriptor: ...
def ReLU(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ReadValue(
    *,
    init_value: TensorDesc | None = None,
    output: TensorDesc | None = None,
    variable_id: str,
    variable_type: str,
    variable_shape: list[int],
) -> Descriptor: ...
def ReduceL1(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceL2(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceLogicalAnd(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceLogicalOr(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceMax(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceMean(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceMin(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceProd(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def ReduceSum(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor: ...
def RegionYolo(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    anchors: list[float] | None = None,
    axis: int,
    coords: int,
    classes: int,
    end_axis: int,
    num: int,
    do_softmax: bool | None = None,
    mask: list[int] | None = None,
) -> Descriptor: ...
def ReorgYolo(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    stride: int,
) -> Descriptor: ...
def Reshape(
    *,
    data: TensorDesc,
    shape: TensorDesc,
    output: TensorDesc | None = None,
    special_zero: bool,
) -> Descriptor: ...
def Result(
    *,
    input: TensorDesc,
) -> Descriptor: ...
def Reverse(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    mode: str,
) -> Descriptor: ...
def ReverseSequence(
    *,
    data: TensorDesc,
    seq_lengths: TensorDesc,
    output: TensorDesc | None = None,
    batch_axis: int | None = None,
    seq_axis: int | None = None,
) -> Descriptor: ...
def Roll(
    *,
    data: TensorDesc,
    shift: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Round(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor: ...
def STFT(
    *,
    signal: TensorDesc,
    window: TensorDesc,
    frame_size: TensorDesc,
    frame_step: TensorDesc,
    output: TensorDesc | None = None,
    transpose_frames: bool,
) -> Descriptor: ...
def ScaledDotProductAttention(
    *,
    query: TensorDesc,
    key: TensorDesc,
    value: TensorDesc,
    attention_mask: TensorDesc | None = None,
    scale: TensorDesc | None = None,
    output: TensorDesc | None = None,
    causal: bool,
) -> Descriptor: ...
def ScatterElementsUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
    use_init_val: bool | None = None,
) -> Descriptor: ...
def ScatterNDUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor: ...
def ScatterUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SearchSorted(
    *,
    sorted_sequence: TensorDesc,
    values: TensorDesc,
    output: TensorDesc | None = None,
    right_mode: bool | None = None,
    output_type: str | None = None,
) -> Descriptor: ...
def SegmentMax(
    *,
    data: TensorDesc,
    segment_ids: TensorDesc,
    num_segments: TensorDesc | None = None,
    output: TensorDesc | None = None,
    fill_mode: str,
) -> Descriptor: ...
def Select(
    *,
    cond: TensorDesc,
    then: TensorDesc,
    otherwise: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Selu(
    *,
    data: TensorDesc,
    alpha: TensorDesc,
    scale: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def ShapeOf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
) -> Descriptor: ...
def ShuffleChannels(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    group: int | None = None,
) -> Descriptor: ...
def Sigmoid(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Sign(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Sin(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Sinh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Slice(
    *,
    data: TensorDesc,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SliceScatter(
    *,
    data: TensorDesc,
    updates: TensorDesc,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SoftMax(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor: ...
def SoftPlus(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SoftSign(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SpaceToBatch(
    *,
    data: TensorDesc,
    block_shape: TensorDesc,
    pads_begin: TensorDesc,
    pads_end: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SpaceToDepth(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    block_size: int | None = None,
    mode: str,
) -> Descriptor: ...
def SparseFillEmptyRows(
    *,
    values: TensorDesc,
    dense_shape: TensorDesc,
    indices: TensorDesc,
    default_value: TensorDesc,
    output_indices: TensorDesc | None = None,
    output_values: TensorDesc | None = None,
    empty_row_indicator: TensorDesc | None = None,
) -> Descriptor: ...
def Split(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    outputs: list[TensorDesc] | None = None,
    num_splits: int,
) -> Descriptor: ...
def Sqrt(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def SquaredDifference(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Squeeze(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
    allow_axis_skip: bool | None = None,
) -> Descriptor: ...
def StridedSlice(
    *,
    data: TensorDesc,
    begin: TensorDesc,
    end: TensorDesc,
    stride: TensorDesc | None = None,
    output: TensorDesc | None = None,
    begin_mask: list[int],
    end_mask: list[int],
    new_axis_mask: list[int] | None = None,
    shrink_axis_mask: list[int] | None = None,
    ellipsis_mask: list[int] | None = None,
) -> Descriptor: ...
def StringTensorPack(
    *,
    begins: TensorDesc,
    ends: TensorDesc,
    symbols: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def StringTensorUnpack(
    *,
    data: TensorDesc,
    begins: TensorDesc | None = None,
    ends: TensorDesc | None = None,
    symbols: TensorDesc | None = None,
) -> Descriptor: ...
def Subtract(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
def Swish(
    *,
    data: TensorDesc,
    beta: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Tan(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Tanh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def TensorIterator(
    *,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor: ...
def Tile(
    *,
    data: TensorDesc,
    repeats: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def TopK(
    *,
    data: TensorDesc,
    k: TensorDesc,
    values: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    axis: int,
    mode: str,
    sort: str,
    stable: bool | None = None,
    index_element_type: str | None = None,
) -> Descriptor: ...
def Transpose(
    *,
    arg: TensorDesc,
    input_order: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def Unique(
    *,
    data: TensorDesc,
    axis: TensorDesc | None = None,
    output: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    inverse_indices: TensorDesc | None = None,
    counts: TensorDesc | None = None,
    sorted: bool | None = None,
    index_element_type: str | None = None,
    count_element_type: str | None = None,
) -> Descriptor: ...
def Unsqueeze(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor: ...
def VariadicSplit(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    split_lengths: TensorDesc,
    outputs: list[TensorDesc] | None = None,
) -> Descriptor: ...
def Xor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor: ...
