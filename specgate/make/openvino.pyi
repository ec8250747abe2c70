# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from typing import Literal, TypeAlias

from specgate.descriptors.core import Descriptor, GraphDesc, TensorDesc

_AvgPool_auto_pad: TypeAlias = Literal["explicit", "same_upper", "same_lower", "valid"]

def Abs(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The absolute value of each element."""

def Acos(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The angle between 0 and pi whose cosine is the element."""

def Acosh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The number, 0 or more, whose hyperbolic cosine is the element."""

def AdaptiveAvgPool(
    *,
    data: TensorDesc,
    output_size: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The mean of parts that divide the input into as many as output_size says.

    output_size: the spatial sizes of the output
    """

def AdaptiveMaxPool(
    *,
    data: TensorDesc,
    output_size: TensorDesc,
    output: TensorDesc | None = None,
    indices: TensorDesc | None = None,
    index_element_type: str | None = None,
) -> Descriptor:
    """The largest element, and its place, of parts that divide the input into as many as output_size says.

    output_size: the spatial sizes of the output
    indices: places in the flat spatial dimensions
    """

def Add(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The sum of a and b, element by element."""

def Asin(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The angle between minus pi / 2 and pi / 2 whose sine is the element."""

def Asinh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The number whose hyperbolic sine is the element."""

def Assign(
    *,
    new_value: TensorDesc,
    output: TensorDesc | None = None,
    variable_id: str,
) -> Descriptor:
    """Writes a value to a variable, which ReadValue reads when the model runs again."""

def Atan(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The angle between minus pi / 2 and pi / 2 whose tangent is the element."""

def Atanh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The number whose hyperbolic tangent is the element."""

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
) -> Descriptor:
    """The mean of the elements under each window.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    exclude_pad: padding does not count in the mean
    """

def BGRtoNV12(
    *,
    image: TensorDesc,
    output: TensorDesc | None = None,
    uv: TensorDesc | None = None,
    single_plane: bool | None = None,
) -> Descriptor:
    """The planes Y and UV of an image of blue, green and red.

    image: NHWC
    output: both planes, Y above UV, or the plane Y
    """

def BatchNormInference(
    *,
    data: TensorDesc,
    gamma: TensorDesc,
    beta: TensorDesc,
    mean: TensorDesc,
    variance: TensorDesc,
    output: TensorDesc | None = None,
    epsilon: float,
) -> Descriptor:
    """Each channel less a mean, divided by a standard deviation, scaled and shifted.

    data: batch, channels and further dimensions
    gamma: factor for each channel
    beta: what is added to each channel
    """

def BatchToSpace(
    *,
    data: TensorDesc,
    block_shape: TensorDesc,
    crops_begin: TensorDesc,
    crops_end: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with its batches laid out as blocks of the other dimensions, which are then cropped at both ends."""

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
) -> Descriptor:
    """The convolution of data of 0 and 1 with filters of bits, where 0 stands for -1.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    data: holds 0 and 1
    """

def BitwiseAnd(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The bits that a and b both have, element by element."""

def BitwiseLeftShift(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """a shifted up by b bits, element by element."""

def BitwiseNot(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element with all its bits inverted; of truth values, the other one."""

def BitwiseOr(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The bits that a or b has, or both, element by element."""

def BitwiseRightShift(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """a shifted down by b bits, element by element."""

def BitwiseXor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The bits that one of a and b has, but not both, element by element."""

def Broadcast(
    *,
    data: TensorDesc,
    target_shape: TensorDesc,
    axes_mapping: TensorDesc | None = None,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor:
    """The input repeated to target_shape, with its dimensions at the end, or where axes_mapping says."""

def Bucketize(
    *,
    data: TensorDesc,
    buckets: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
    with_right_bound: bool | None = None,
) -> Descriptor:
    """For each element of data, the index of the bucket it falls in; buckets holds the sorted boundaries.

    buckets: sorted boundaries, no two alike; may be empty
    output_type: i64 if absent
    """

def CTCGreedyDecoder(
    *,
    data: TensorDesc,
    sequence_mask: TensorDesc,
    output: TensorDesc | None = None,
    ctc_merge_repeated: bool | None = None,
) -> Descriptor:
    """The most probable class at each step of each sequence, without blanks and, if asked, without repetitions.

    sequence_mask: 1 where a sequence has a symbol, 0 behind its end
    output: classes, then -1
    """

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
) -> Descriptor:
    """The most probable class at each step of each sequence, without blanks, and how many classes that leaves.

    blank_index: the last class if absent
    classes: decoded classes, then -1
    """

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
) -> Descriptor:
    """The negative logarithm of the probability that logits spell labels, for each sequence of the batch.

    blank_index: the last class if absent
    ctc_merge_repeated: true if absent
    """

def Ceiling(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element rounded up to a whole number."""

def Clamp(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    min: float,
    max: float,
) -> Descriptor:
    """Each element held between min and max."""

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
) -> Descriptor:
    """Images put together from blocks that slid over them; where blocks overlap, their elements are added.

    strides: 1 and 1 where it is left out
    dilations: 1 and 1 where it is left out
    pads_begin: 0 and 0 where it is left out
    pads_end: 0 and 0 where it is left out
    """

def Concat(
    *,
    inputs: list[TensorDesc],
    output: TensorDesc | None = None,
    axis: int,
) -> Descriptor:
    """The inputs one behind the other along axis."""

def Const(
    *,
    output: TensorDesc | None = None,
    element_type: str,
    shape: list[int],
    offset: int,
    size: int,
) -> Descriptor:
    """A constant whose elements lie in the file of weights.

    shape: none for a scalar
    offset: the first byte of the elements
    size: how many bytes they take
    """

def Convert(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    destination_type: str,
) -> Descriptor:
    """Each element as a number of the type destination_type."""

def ConvertLike(
    *,
    data: TensorDesc,
    like: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element of data as a number of the type that like has.

    like: only its type is read
    """

def ConvertPromoteTypes(
    *,
    input_0: TensorDesc,
    input_1: TensorDesc,
    output_0: TensorDesc | None = None,
    output_1: TensorDesc | None = None,
    promote_unsafe: bool | None = None,
    pytorch_scalar_promotion: bool | None = None,
    u64_integer_promotion_target: str | None = None,
) -> Descriptor:
    """Both inputs converted to the type that holds the numbers of both."""

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
) -> Descriptor:
    """The convolution of data with filters, which are not mirrored, over one, two or three dimensions.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    """

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
) -> Descriptor:
    """The transposed convolution of data with filters.

    output_shape: the spatial sizes of the output
    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    """

def Cos(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The cosine of each element, in radians."""

def Cosh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic cosine of each element."""

def CumSum(
    *,
    data: TensorDesc,
    axis: TensorDesc | None = None,
    output: TensorDesc | None = None,
    exclusive: bool | None = None,
    reverse: bool | None = None,
) -> Descriptor:
    """The sum of all elements up to each one along axis.

    axis: 0 if absent; negative counts from the end
    """

def DFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The discrete Fourier transform, complex to complex.

    axes: the last one is what a real side is halved along
    signal_size: how long the signal is taken along each axis; -1 is as it is
    """

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
) -> Descriptor:
    """A convolution whose filters look at places that offsets move, and weigh them with a mask.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    offsets: two numbers for each element of a kernel
    mask: weights of all places that the filters look at
    group: 1 if absent
    deformable_group: 1 if absent
    """

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
) -> Descriptor:
    """The mean of interpolated elements in each part of each region of interest, each part from channels of its own
    and moved by an offset.

    data: feature maps, NCHW
    rois: a region in each row
    spatial_scale: what coordinates of regions are multiplied by
    offsets: by how much each part of a region moves
    part_size: height and width of offsets
    """

def DepthToSpace(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    block_size: int | None = None,
    mode: str,
) -> Descriptor:
    """The input with its second dimension laid out as blocks of the dimensions behind it.

    block_size: 1 where it is left out
    """

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
) -> Descriptor:
    """Boxes decoded from predictions and priors, without those that overlap better ones of their class.

    box_logits: four numbers for each prior box, or for each prior box and class
    class_preds: a number for each prior box and class
    proposals: the prior boxes, behind them their variances
    output: batch, class, confidence and four coordinates of each box
    keep_top_k: -1 keeps all boxes
    """

def Divide(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    m_pythondiv: bool | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The quotient of a and b, element by element; of integers rounded down or cut, as m_pythondiv says."""

def Einsum(
    *,
    inputs: list[TensorDesc],
    output: TensorDesc | None = None,
    equation: str,
) -> Descriptor:
    """A sum of products over the dimensions that an equation names."""

def Elu(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    alpha: float,
) -> Descriptor:
    """Each element above 0, and below alpha times its exponential less 1."""

def EmbeddingBagOffsets(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    offsets: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor:
    """The sum or the mean of the rows of emb_table in each bag; offsets says where in indices each bag begins.

    offsets: where in indices each bag begins
    default_index: row for empty bags; -1 and absent mean zeros
    """

def EmbeddingBagOffsetsSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    offsets: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The sum of the rows of emb_table in each bag; offsets says where in indices each bag begins.

    offsets: where in indices each bag begins
    default_index: row for empty bags; -1 and absent mean zeros
    """

def EmbeddingBagPacked(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor:
    """The sum or the mean of the rows of emb_table in each bag; each row of indices is a bag."""

def EmbeddingBagPackedSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The sum of the rows of emb_table in each bag; each row of indices is a bag."""

def EmbeddingSegmentsSum(
    *,
    emb_table: TensorDesc,
    indices: TensorDesc,
    segment_ids: TensorDesc,
    num_segments: TensorDesc,
    default_index: TensorDesc | None = None,
    per_sample_weights: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The sum of the rows of emb_table in each segment; segment_ids says which segment each of indices belongs to.

    segment_ids: sorted, may repeat
    default_index: row for empty segments; absent means zeros
    """

def Equal(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a and b are equal, element by element."""

def Erf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The Gauss error function of each element."""

def ErfInv(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The number whose Gauss error function is the element."""

def Exp(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """e to the power of each element."""

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
) -> Descriptor:
    """Boxes refined by predictions, without those that overlap better ones of their class.

    rois: four coordinates in each row
    deltas: four numbers for each region and class
    scores: a number for each region and class
    image_info: height, width and scale of the image
    deltas_weights: what the four deltas are divided by
    """

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
) -> Descriptor:
    """Regions of one image that are likely to hold an object, from anchors and predictions.

    image_info: height, width and scale of the image
    anchors: four coordinates in each row
    deltas: channels, height and width
    scores: channels, height and width
    """

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
) -> Descriptor:
    """The prior boxes moved to each cell of a grid.

    priors: four coordinates in each row
    feature_map: NCHW; its sizes count alone
    image: NCHW; its sizes count alone
    flatten: true if absent
    h: 0 for the height of the feature map
    w: 0 for the width of the feature map
    """

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
) -> Descriptor:
    """Regions of interest pooled to one size, each from the feature maps of a pyramid that fit its size.

    rois: four coordinates in each row
    pyramid: feature maps, NCHW
    output_rois: the regions in the order of the pyramid
    sampling_ratio: 0 for a number that follows from the region
    """

def ExperimentalDetectronTopKROIs(
    *,
    rois: TensorDesc,
    probabilities: TensorDesc,
    output: TensorDesc | None = None,
    max_rois: int | None = None,
) -> Descriptor:
    """The regions with the highest probabilities, the best first.

    rois: four coordinates in each row
    """

def ExtractImagePatches(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    sizes: list[int],
    strides: list[int],
    rates: list[int],
    auto_pad: str,
) -> Descriptor:
    """Patches of an image, strides apart, each written behind one another into the second dimension."""

def Eye(
    *,
    num_rows: TensorDesc,
    num_columns: TensorDesc,
    diagonal_index: TensorDesc,
    batch_shape: TensorDesc | None = None,
    output: TensorDesc | None = None,
    output_type: str,
) -> Descriptor:
    """A matrix, or a batch of them, with ones on one diagonal and zeros elsewhere."""

def FakeConvert(
    *,
    data: TensorDesc,
    scale: TensorDesc,
    shift: TensorDesc | None = None,
    output: TensorDesc | None = None,
    destination_type: str,
) -> Descriptor:
    """Data scaled and shifted, rounded to a float of 8 bits, and brought back.

    scale: what data is multiplied with
    shift: what is subtracted then
    """

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
) -> Descriptor:
    """Each element of X as the nearest of levels numbers between output_low and output_high."""

def Floor(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element rounded down to a whole number."""

def FloorMod(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """What the floored division of a by b leaves, with the sign of b."""

def GRN(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    bias: float,
) -> Descriptor:
    """Each element divided by the root of the channels' sum of squares plus bias.

    data: batch, channels and up to two more dimensions
    """

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
) -> Descriptor:
    """One step of a gated recurrent unit.

    W: weights of the input, gates in the order zrh
    R: weights of the state, gates in the order zrh
    B: sums of the biases of input and state
    activations: sigmoid, tanh if absent
    clip: nothing is clipped if absent
    """

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
) -> Descriptor:
    """All steps of a gated recurrent unit over a batch of sequences, in one direction or both.

    W: weights of the input, gates in the order zrh
    R: weights of the state, gates in the order zrh
    B: sums of the biases of input and state
    activations: sigmoid, tanh if absent
    clip: nothing is clipped if absent
    """

def Gather(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor:
    """Entries of data along axis, picked by indices, in the place of that dimension; from opset7 on in each batch.

    indices: may be 0D
    batch_dims: how many first dimensions of data and indices are batches; negative ones count from the end of
    indices
    """

def GatherElements(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    axis: int,
) -> Descriptor:
    """For each index the element of data at its own place but for axis, where the index is the place."""

def GatherND(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    output: TensorDesc | None = None,
    batch_dims: int | None = None,
) -> Descriptor:
    """For each tuple of coordinates, along the last dimension of indices, the element or slice of data it leads to."""

def GatherTree(
    *,
    step_ids: TensorDesc,
    parent_ids: TensorDesc,
    max_seq_len: TensorDesc,
    end_token: TensorDesc,
    final_ids: TensorDesc | None = None,
) -> Descriptor:
    """The tokens of each beam from the first step to the last, found by going back along parent_ids from its end."""

def Gelu(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    approximation_mode: str | None = None,
) -> Descriptor:
    """Each element times the share of the normal distribution below it."""

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
) -> Descriptor:
    """Regions of each image that are likely to hold an object, from anchors and predictions.

    im_info: height, width and one scale or two of each image
    anchors: height, width, anchors, four coordinates
    boxesdeltas: NCHW
    scores: NCHW
    rpnrois: how many regions depends on the elements
    rpnroisnum: how many regions each image has
    """

def Greater(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a is greater than b, element by element."""

def GreaterEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a is at least b, element by element."""

def GridSample(
    *,
    data: TensorDesc,
    grid: TensorDesc,
    output: TensorDesc | None = None,
    align_corners: bool | None = None,
    mode: str | None = None,
    padding_mode: str | None = None,
) -> Descriptor:
    """The input at the places that grid names, interpolated.

    data: NCHW
    grid: a pair of coordinates for each place of the output
    """

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
) -> Descriptor:
    """The convolution of each group of channels with its own filters.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    filters: groups, output channels and input channels of a group, kernel
    """

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
) -> Descriptor:
    """The transposed convolution of data in groups of channels, with filters.

    output_shape: the spatial sizes of the output
    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    """

def GroupNormalization(
    *,
    data: TensorDesc,
    scale: TensorDesc,
    bias: TensorDesc,
    output: TensorDesc | None = None,
    num_groups: int,
    epsilon: float,
) -> Descriptor:
    """Groups of channels of each batch normalized, then scaled and shifted by channel.

    data: batch, channels and further dimensions
    """

def GroupedMatMul(
    *,
    mat_a: TensorDesc,
    mat_b: TensorDesc,
    offsets: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The matrix products of groups, which share one matrix or are batches.

    offsets: where each group ends among the tokens
    """

def HSigmoid(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """A sixth of each element plus 3, held between 0 and 1."""

def HSwish(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element times a sixth of itself plus 3, which is held between 0 and 1."""

def HardSigmoid(
    *,
    data: TensorDesc,
    alpha: TensorDesc,
    beta: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Alpha times each element plus beta, held between 0 and 1.

    alpha: scalar
    beta: scalar
    """

def I420toBGR(
    *,
    y: TensorDesc,
    u: TensorDesc | None = None,
    v: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """An image of blue, green and red from the planes Y, U and V.

    y: the Y plane, or all planes, Y above U above V
    output: NHWC
    """

def I420toRGB(
    *,
    y: TensorDesc,
    u: TensorDesc | None = None,
    v: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """An image of red, green and blue from the planes Y, U and V.

    y: the Y plane, or all planes, Y above U above V
    output: NHWC
    """

def IDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse discrete Fourier transform, complex to complex.

    axes: the last one is what a real side is halved along
    signal_size: how long the signal is taken along each axis; -1 is as it is
    """

def IRDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The inverse discrete Fourier transform to real numbers.

    axes: the last one is what a real side is halved along
    signal_size: how long the signal is taken along each axis; -1 is as it is
    """

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
) -> Descriptor:
    """The signal whose STFT data is."""

def Identity(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input as it is."""

def If(
    *,
    cond: TensorDesc,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    then_body: GraphDesc,
    else_body: GraphDesc,
) -> Descriptor:
    """The outputs of one of two bodies, by a condition."""

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
) -> Descriptor:
    """The input interpolated to other sizes along some dimensions.

    data: called image from Interpolate-11 on
    scales_or_sizes: a scale or a size for each of axes
    axes: all dimensions if absent
    """

def Inverse(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    adjoint: bool | None = None,
) -> Descriptor:
    """The inverse of each matrix, or its transpose with adjoint."""

def IsFinite(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Whether each element is neither an infinity nor not a number."""

def IsInf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    detect_negative: bool | None = None,
    detect_positive: bool | None = None,
) -> Descriptor:
    """Whether each element is an infinity of a sign that is looked for."""

def IsNaN(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Whether each element is not a number."""

def LRN(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    alpha: float,
    beta: float,
    bias: float,
    size: int,
) -> Descriptor:
    """Each element divided by a power of the sum of squares of its neighbours along axes."""

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
) -> Descriptor:
    """One step of a long short-term memory.

    W: weights of the input, gates in the order fico
    R: weights of the state, gates in the order fico
    B: sums of the biases of input and state
    activations: sigmoid, tanh, tanh if absent
    clip: nothing is clipped if absent
    """

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
) -> Descriptor:
    """All steps of a long short-term memory over a batch of sequences, in one direction or both.

    W: weights of the input, gates in the order fico
    R: weights of the state, gates in the order fico
    B: sums of the biases of input and state
    activations: sigmoid, tanh, tanh if absent
    clip: nothing is clipped if absent
    """

def Less(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a is less than b, element by element."""

def LessEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a is at most b, element by element."""

def Log(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The natural logarithm of each element."""

def LogSoftmax(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """The natural logarithm of the softmax along axis."""

def LogicalAnd(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a and b are both true, element by element."""

def LogicalNot(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """True where an element is false, and false where it is true."""

def LogicalOr(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a or b is true, or both, element by element."""

def LogicalXor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether one of a and b is true, but not both, element by element."""

def Loop(
    *,
    trip_count: TensorDesc,
    execution_condition: TensorDesc,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor:
    """Runs a body as often as a count and a condition say.

    trip_count: -1 for no limit
    execution_condition: whether there is a first turn
    """

def MVN(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    normalize_variance: bool,
    eps: float,
    eps_mode: str,
) -> Descriptor:
    """Each element less the mean along axes, divided by the standard deviation if that is asked for.

    axes: dimensions, negative ones count from the end
    eps_mode: whether eps is added to the variance or to its root
    """

def MatMul(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    transpose_a: bool | None = None,
    transpose_b: bool | None = None,
) -> Descriptor:
    """The matrix product of a and b over their last two dimensions, each transposed if wanted."""

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
) -> Descriptor:
    """The boxes with the best scores, after the scores of boxes that overlap better ones were lowered.

    selected_outputs: class, score and coordinates of each selected box
    selected_indices: the place of each selected box among all boxes of all batches
    selected_num: how many boxes of each batch are selected
    sort_result_type: the page calls it sort_result, and classid class
    nms_top_k: -1 means all boxes
    keep_top_k: -1 means all boxes
    background_class: -1 means none
    """

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
) -> Descriptor:
    """The largest element under each window, and where it lies.

    pads_begin: without effect unless auto_pad is explicit
    pads_end: without effect unless auto_pad is explicit
    indices: places in the flat input, or in what axis leaves of it
    """

def Maximum(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The larger of a and b, element by element."""

def Minimum(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The lesser of a and b, element by element."""

def Mish(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element times the hyperbolic tangent of its softplus."""

def Mod(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """What the truncated division of a by b leaves, with the sign of a."""

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
) -> Descriptor:
    """The boxes of each class that overlap little enough with boxes of a higher score, the best of each batch.

    roisnum: how many boxes each image has; with it, classes come first
    selected_outputs: class, score and coordinates of each selected box
    selected_indices: the place of each selected box among all boxes of all batches
    selected_num: how many boxes of each batch are selected
    sort_result_type: the page calls it sort_result, and classid class
    nms_top_k: -1 means all boxes
    keep_top_k: -1 means all boxes
    background_class: -1 means none
    """

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
) -> Descriptor:
    """Samples of class indices, drawn by the probabilities of the classes."""

def Multiply(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The product of a and b, element by element."""

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
) -> Descriptor:
    """The rotated boxes that overlap little enough with boxes of a higher score, for each class of each batch.

    boxes: center, width, height and angle of each box
    selected_indices: batch, class and box of each selected box
    selected_scores: batch, class and score of each selected box
    valid_outputs: how many boxes are selected
    """

def NV12toBGR(
    *,
    y: TensorDesc,
    uv: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """An image of blue, green and red from the planes Y and UV.

    y: the Y plane, or both planes, Y above UV
    output: NHWC
    """

def NV12toRGB(
    *,
    y: TensorDesc,
    uv: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """An image of red, green and blue from the planes Y and UV.

    y: the Y plane, or both planes, Y above UV
    output: NHWC
    """

def Negative(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element with the opposite sign."""

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
) -> Descriptor:
    """The boxes that overlap little enough with boxes of a higher score, for each class of each batch.

    max_output_boxes_per_class: absent, no boxes are selected
    iou_threshold: 0 if absent
    score_threshold: 0 if absent
    soft_nms_sigma: 0 if absent
    selected_indices: batch, class and box of each selected box
    selected_scores: batch, class and score of each selected box
    valid_outputs: how many boxes are selected
    """

def NonZero(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
) -> Descriptor:
    """The places of the elements that are not 0, one row of indices for each dimension of data."""

def NormalizeL2(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    eps: float,
    eps_mode: str,
) -> Descriptor:
    """Each element divided by the root of the sum of squares along axes.

    axes: dimensions, negative ones count from the end
    eps_mode: whether eps is added to the sum, or the least that it is
    """

def NotEqual(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether a and b differ, element by element."""

def OneHot(
    *,
    indices: TensorDesc,
    depth: TensorDesc,
    on_value: TensorDesc,
    off_value: TensorDesc,
    output: TensorDesc | None = None,
    axis: int,
    negative_indices_mode: str | None = None,
) -> Descriptor:
    """Adds a dimension of size depth at axis and writes on_value where it equals the index, off_value elsewhere.

    indices: may be 0D
    depth: positive scalar, the size of the new dimension
    axis: where the new dimension goes; negative counts from the end
    negative_indices_mode: the page spells ignore-negative, OpenVINO's own code ignore_negative, which is what
    builds take
    """

def PReLU(
    *,
    data: TensorDesc,
    slope: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element that is not negative, the others times a slope.

    slope: one slope for each channel, or a tensor that broadcasts to data
    """

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
) -> Descriptor:
    """The mean or an interpolated element in each part of each region of interest, each part from its own channels.

    data: feature maps, NCHW
    rois: a region in each row
    spatial_scale: what coordinates of regions are multiplied by
    group_size: 1 if absent
    mode: average if absent
    spatial_bins_x: 1 if absent
    spatial_bins_y: 1 if absent
    """

def Pad(
    *,
    data: TensorDesc,
    pads_begin: TensorDesc,
    pads_end: TensorDesc,
    pad_value: TensorDesc | None = None,
    output: TensorDesc | None = None,
    pad_mode: str,
) -> Descriptor:
    """The input with elements added before and behind it along its dimensions; from opset12 on also taken away."""

def Parameter(
    *,
    output: TensorDesc | None = None,
    element_type: str,
    shape: list[int],
) -> Descriptor:
    """An input of a model or of a body, of the type and shape that its attributes state.

    shape: -1 where a size is unknown; none for a scalar
    """

def Power(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """a to the power of b, element by element."""

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
) -> Descriptor:
    """Boxes of given sizes and ratios around each point of a grid.

    output_size: height and width of the grid
    image_size: height and width of the image
    output: boxes, then their variances
    """

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
) -> Descriptor:
    """Boxes of given widths and heights around each point of a grid.

    output_size: height and width of the grid
    image_size: height and width of the image
    output: boxes, then their variances
    width: 1 if absent
    height: 1 if absent
    """

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
) -> Descriptor:
    """Boxes that are likely to hold an object, from predictions for anchors that attributes describe.

    class_probs: two probabilities for each anchor, NCHW
    bbox_deltas: four deltas for each anchor, NCHW
    image_shape: height, width and one scale or two
    boxes: batch and four coordinates of each box
    framework: empty for boxes as in Caffe
    """

def RDFT(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    signal_size: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The discrete Fourier transform of real numbers, the half of it from which the other follows.

    axes: the last one is what a real side is halved along
    signal_size: how long the signal is taken along each axis; -1 is as it is
    """

def RGBtoNV12(
    *,
    image: TensorDesc,
    output: TensorDesc | None = None,
    uv: TensorDesc | None = None,
    single_plane: bool | None = None,
) -> Descriptor:
    """The planes Y and UV of an image of red, green and blue.

    image: NHWC
    output: both planes, Y above UV, or the plane Y
    """

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
) -> Descriptor:
    """One step of a simple recurrent network.

    initial_hidden_state: the page calls it H
    W: weights of the input
    R: weights of the state
    B: sums of the biases of input and state
    activations: tanh if absent
    clip: nothing is clipped if absent
    """

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
) -> Descriptor:
    """All steps of a simple recurrent network over a batch of sequences, in one direction or both.

    initial_hidden_state: the page calls it H
    W: weights of the input
    R: weights of the state
    B: sums of the biases of input and state
    activations: tanh if absent
    clip: nothing is clipped if absent
    """

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
) -> Descriptor:
    """The mean or largest of interpolated elements in each part of each region of interest.

    data: feature maps, NCHW
    rois: a region in each row
    spatial_scale: what coordinates of regions are multiplied by
    batch_indices: the batch of each region
    sampling_ratio: 0 for a number that follows from the region
    """

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
) -> Descriptor:
    """The mean of interpolated elements in each part of each region of interest, which is turned by an angle.

    data: feature maps, NCHW
    rois: a region in each row
    spatial_scale: what coordinates of regions are multiplied by
    batch_indices: the batch of each region
    sampling_ratio: 0 for a number that follows from the region
    """

def ROIPooling(
    *,
    data: TensorDesc,
    rois: TensorDesc,
    output: TensorDesc | None = None,
    spatial_scale: float,
    pooled_h: int,
    pooled_w: int,
    method: str | None = None,
    output_size: list[int] | None = None,
    output_roi: list[int] | None = None,
) -> Descriptor:
    """The largest or an interpolated element in each part of each region of interest.

    data: feature maps, NCHW
    rois: a region in each row
    spatial_scale: what coordinates of regions are multiplied by
    output_size: pooled_h and pooled_w again
    output_roi: pooled_h and pooled_w again
    """

def RandomUniform(
    *,
    shape: TensorDesc,
    minval: TensorDesc,
    maxval: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str,
    global_seed: int | None = None,
    op_seed: int | None = None,
    alignment: str | None = None,
) -> Descriptor:
    """Random numbers from minval on and below maxval, all equally likely.

    alignment: whose numbers they are: TENSORFLOW for those of Philox 4x32, PYTORCH for those of a Mersenne
    Twister
    """

def Range(
    *,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str,
) -> Descriptor:
    """The numbers from start on, step by step, that lie before stop."""

def ReLU(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The larger of 0 and each element."""

def ReadValue(
    *,
    init_value: TensorDesc | None = None,
    output: TensorDesc | None = None,
    variable_id: str,
    variable_type: str,
    variable_shape: list[int],
) -> Descriptor:
    """The value of a variable, which starts as the input or as zeros.

    variable_shape: -1 where a size is unknown; none for a scalar
    """

def ReduceL1(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The sum of the magnitudes along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceL2(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The root of the sum of squares along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceLogicalAnd(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """Whether all elements along axes are true.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceLogicalOr(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """Whether an element along axes is true.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceMax(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The largest of the elements along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceMean(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The mean of the elements along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceMin(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The least of the elements along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceProd(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The product of the elements along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

def ReduceSum(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
    keep_dims: bool | None = None,
) -> Descriptor:
    """The sum of the elements along axes.

    axes: dimensions, negative ones count from the end; an empty list names none
    """

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
) -> Descriptor:
    """Coordinates and probabilities of regions from the activations of a YOLO network.

    data: NCHW
    anchors: widths and heights; no part of the result
    axis: the first of the dimensions that become one
    end_axis: the last of the dimensions that become one
    num: how many regions
    do_softmax: true if absent
    mask: its length is the regions without softmax
    """

def ReorgYolo(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    stride: int,
) -> Descriptor:
    """The elements of each block of stride times stride go to channels of their own.

    data: NCHW
    """

def Reshape(
    *,
    data: TensorDesc,
    shape: TensorDesc,
    output: TensorDesc | None = None,
    special_zero: bool,
) -> Descriptor:
    """The elements of data in the same order, in another shape.

    shape: sizes; -1 is calculated, 0 with special_zero is the size of data at its place
    """

def Result(
    *,
    input: TensorDesc,
) -> Descriptor:
    """An output of a model or of a body."""

def Reverse(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    mode: str,
) -> Descriptor:
    """The input with the order of its elements reversed along the dimensions that axis lists or marks."""

def ReverseSequence(
    *,
    data: TensorDesc,
    seq_lengths: TensorDesc,
    output: TensorDesc | None = None,
    batch_axis: int | None = None,
    seq_axis: int | None = None,
) -> Descriptor:
    """The input with the first elements along seq_axis in reverse order, as many as seq_lengths says for each batch."""

def Roll(
    *,
    data: TensorDesc,
    shift: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with its elements moved by shift along axes; what goes beyond the end comes in at the beginning."""

def Round(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    mode: str | None = None,
) -> Descriptor:
    """Each element rounded to the nearest whole number; mode says where halves go."""

def STFT(
    *,
    signal: TensorDesc,
    window: TensorDesc,
    frame_size: TensorDesc,
    frame_step: TensorDesc,
    output: TensorDesc | None = None,
    transpose_frames: bool,
) -> Descriptor:
    """The Fourier transforms of parts of a real signal, each weighed with a window."""

def ScaledDotProductAttention(
    *,
    query: TensorDesc,
    key: TensorDesc,
    value: TensorDesc,
    attention_mask: TensorDesc | None = None,
    scale: TensorDesc | None = None,
    sink: TensorDesc | None = None,
    output: TensorDesc | None = None,
    causal: bool,
) -> Descriptor:
    """Sums of values, weighted by how well keys match queries.

    sink: a score for each query that takes its part of the weights and no value
    """

def ScatterElementsUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
    use_init_val: bool | None = None,
) -> Descriptor:
    """The input with each update at its own place but for axis, where its index is the place.

    reduction: what becomes of what is there
    use_init_val: whether it is part of that
    """

def ScatterNDUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    output: TensorDesc | None = None,
    reduction: str | None = None,
) -> Descriptor:
    """The input with each update where its tuple of coordinates, along the last dimension of indices, leads."""

def ScatterUpdate(
    *,
    data: TensorDesc,
    indices: TensorDesc,
    updates: TensorDesc,
    axis: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with the entries along axis that indices name replaced by updates."""

def SearchSorted(
    *,
    sorted_sequence: TensorDesc,
    values: TensorDesc,
    output: TensorDesc | None = None,
    right_mode: bool | None = None,
    output_type: str | None = None,
) -> Descriptor:
    """Where each of values must be inserted into the last dimension of sorted_sequence, so that it stays sorted.

    sorted_sequence: ascending along the last dimension
    right_mode: the page calls it right
    output_type: not on the page, which has i64 only
    """

def SegmentMax(
    *,
    data: TensorDesc,
    segment_ids: TensorDesc,
    num_segments: TensorDesc | None = None,
    output: TensorDesc | None = None,
    fill_mode: str,
) -> Descriptor:
    """The largest elements of segments of data along its first dimension; segment_ids says what belongs to which.

    segment_ids: for each slice of data the segment that it belongs to, sorted
    num_segments: one more than the largest segment if absent
    fill_mode: what empty segments get: 0, or the lowest number of the type
    """

def Select(
    *,
    cond: TensorDesc,
    then: TensorDesc,
    otherwise: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Elements of then where cond holds, those of else elsewhere."""

def Selu(
    *,
    data: TensorDesc,
    alpha: TensorDesc,
    scale: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The scaled exponential linear unit of each element.

    alpha: one element
    scale: one element, lambda on the page
    """

def ShapeOf(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    output_type: str | None = None,
) -> Descriptor:
    """The sizes of data, as a list.

    output_type: i64 if absent
    """

def ShuffleChannels(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
    group: int | None = None,
) -> Descriptor:
    """The input with the places along axis read in group rows and written by columns."""

def Sigmoid(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The logistic function of each element."""

def Sign(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """1 of what is above 0, -1 of what is below, 0 of 0."""

def Sin(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The sine of each element, in radians."""

def Sinh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic sine of each element."""

def Slice(
    *,
    data: TensorDesc,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The elements of the input from start on and before stop along axes, in steps.

    axes: the first dimensions, one for each start, where it is left out
    """

def SliceScatter(
    *,
    data: TensorDesc,
    updates: TensorDesc,
    start: TensorDesc,
    stop: TensorDesc,
    step: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with the elements from start on and before stop along axes, in steps, replaced by updates.

    axes: the first dimensions, one for each start, where it is left out
    """

def SoftMax(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    axis: int | None = None,
) -> Descriptor:
    """Exponentials along axis, divided by their sum.

    axis: 1 if absent
    """

def SoftPlus(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The logarithm of 1 plus the exponential of each element."""

def SoftSign(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element divided by 1 plus its absolute value."""

def SpaceToBatch(
    *,
    data: TensorDesc,
    block_shape: TensorDesc,
    pads_begin: TensorDesc,
    pads_end: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input padded with zeros and cut into blocks along all dimensions but the first, which gets their places."""

def SpaceToDepth(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
    block_size: int | None = None,
    mode: str,
) -> Descriptor:
    """The input with blocks of the dimensions behind the second moved into that.

    block_size: 1 where it is left out
    """

def SparseFillEmptyRows(
    *,
    values: TensorDesc,
    dense_shape: TensorDesc,
    indices: TensorDesc,
    default_value: TensorDesc,
    output_indices: TensorDesc | None = None,
    output_values: TensorDesc | None = None,
    empty_row_indicator: TensorDesc | None = None,
) -> Descriptor:
    """Adds an element of default_value to each empty row of a sparse matrix, and says which rows were empty.

    values: the elements of the sparse matrix
    dense_shape: the numbers of rows and columns
    indices: row and column of each element
    """

def Split(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    outputs: list[TensorDesc] | None = None,
    num_splits: int,
) -> Descriptor:
    """The input cut into num_splits parts of equal size along axis."""

def Sqrt(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The square root of each element."""

def SquaredDifference(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The square of the difference of a and b, element by element."""

def Squeeze(
    *,
    data: TensorDesc,
    axes: TensorDesc | None = None,
    output: TensorDesc | None = None,
    allow_axis_skip: bool | None = None,
) -> Descriptor:
    """Data without the dimensions of size 1 that axes names, or without any of size 1.

    axes: dimensions, negative ones count from the end; those of another size stay
    allow_axis_skip: whether the output's rank stays unknown where a size that axes names may be 1
    """

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
) -> Descriptor:
    """The elements from begin on and before end, stride apart; masks open ends, add and remove dimensions.

    stride: 1 where it is left out
    new_axis_mask: [0] where it is left out
    shrink_axis_mask: [0] where it is left out
    ellipsis_mask: [0] where it is left out
    """

def StringTensorPack(
    *,
    begins: TensorDesc,
    ends: TensorDesc,
    symbols: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Strings cut out of symbols, which holds them one after the other; begins and ends say where.

    begins: where each string begins in symbols
    ends: the position behind the last byte of each string
    symbols: the bytes of all strings in UTF-8
    """

def StringTensorUnpack(
    *,
    data: TensorDesc,
    begins: TensorDesc | None = None,
    ends: TensorDesc | None = None,
    symbols: TensorDesc | None = None,
) -> Descriptor:
    """The bytes of all strings one after the other, and where each string begins and ends in them."""

def Subtract(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """The difference of a and b, element by element."""

def Swish(
    *,
    data: TensorDesc,
    beta: TensorDesc | None = None,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Each element times the sigmoid of beta times itself.

    beta: scalar that is not negative, 1 if absent
    """

def Tan(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The tangent of each element, in radians."""

def Tanh(
    *,
    data: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The hyperbolic tangent of each element."""

def TensorIterator(
    *,
    inputs: list[TensorDesc] | None = None,
    outputs: list[TensorDesc] | None = None,
    body: GraphDesc,
) -> Descriptor:
    """Runs a body once for each part of its sliced inputs."""

def Tile(
    *,
    data: TensorDesc,
    repeats: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input repeated along each dimension as often as repeats says; the shorter list gets 1s in front."""

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
) -> Descriptor:
    """The k largest or least elements along axis, and where they lie."""

def Transpose(
    *,
    arg: TensorDesc,
    input_order: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """The input with its dimensions in the order that input_order gives, reversed if that is empty."""

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
) -> Descriptor:
    """The different elements of data, or its different slices along axis, with where and how often they occur.

    axis: a constant; absent, data is taken as a list
    indices: where each element or slice of the output first occurs
    inverse_indices: the place in the output of each element or slice of data
    """

def Unsqueeze(
    *,
    data: TensorDesc,
    axes: TensorDesc,
    output: TensorDesc | None = None,
) -> Descriptor:
    """Data with dimensions of size 1 at the places of the output that axes names.

    axes: places in the output, negative ones count from the end
    """

def VariadicSplit(
    *,
    data: TensorDesc,
    axis: TensorDesc,
    split_lengths: TensorDesc,
    outputs: list[TensorDesc] | None = None,
) -> Descriptor:
    """The input cut along axis into parts as long as split_lengths says; one of -1 takes what the others leave."""

def Xor(
    *,
    a: TensorDesc,
    b: TensorDesc,
    output: TensorDesc | None = None,
    auto_broadcast: str | None = None,
) -> Descriptor:
    """Whether one of a and b is true, but not both, element by element."""
