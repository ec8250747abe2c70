# Written by `python -m specgate.make.stubs` from the tables; a test holds it against them.
from typing import Literal, TypeAlias

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D

_AXIS_DIRECTION: TypeAlias = Literal["INCREASING", "DECREASING"]
_CONVOLUTION_MODE: TypeAlias = Literal["CONVOLUTION", "CROSS_CORRELATION"]
_CONVOLUTION_DIRECTION: TypeAlias = Literal["FORWARD", "BACKWARD"]
_DEPTH_SPACE_ORDER: TypeAlias = Literal["DEPTH_COLUMN_ROW", "COLUMN_ROW_DEPTH"]
_QUANTIZATION_TYPE: TypeAlias = Literal["NONE", "SCALE", "SCALE_ZERO_POINT"]
_TENSOR_DATA_TYPE: TypeAlias = Literal[
    "UNKNOWN",
    "FLOAT32",
    "FLOAT16",
    "UINT32",
    "UINT16",
    "UINT8",
    "INT32",
    "INT16",
    "INT8",
    "FLOAT64",
    "UINT64",
    "INT64",
    "UINT4",
    "INT4",
]
_IS_INFINITY_MODE: TypeAlias = Literal["EITHER", "POSITIVE", "NEGATIVE"]
_ROUNDING_MODE: TypeAlias = Literal["HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY"]
_MATRIX_TRANSFORM: TypeAlias = Literal["NONE", "TRANSPOSE"]
_RECURRENT_NETWORK_DIRECTION: TypeAlias = Literal["FORWARD", "BACKWARD", "BIDIRECTIONAL"]
_MULTIHEAD_ATTENTION_MASK_TYPE: TypeAlias = Literal[
    "NONE",
    "KEY_SEQUENCE_LENGTH",
    "KEY_SEQUENCE_END_START",
    "KEY_QUERY_SEQUENCE_LENGTH_START_END",
    "BOOLEAN",
]
_PADDING_MODE: TypeAlias = Literal["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"]
_RANDOM_GENERATOR_TYPE: TypeAlias = Literal["PHILOX_4X32_10"]
_REDUCE_FUNCTION: TypeAlias = Literal[
    "ARGMAX",
    "ARGMIN",
    "AVERAGE",
    "L1",
    "L2",
    "LOG_SUM",
    "LOG_SUM_EXP",
    "MAX",
    "MIN",
    "MULTIPLY",
    "SUM",
    "SUM_SQUARE",
]
_INTERPOLATION_MODE: TypeAlias = Literal["NEAREST_NEIGHBOR", "LINEAR"]

def ACTIVATION_CELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor:
    """max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: scale of the negative part and of its bend, often 1.0
    """

def ACTIVATION_ELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor:
    """x where x is at least 0, else Alpha * (exp(x) - 1).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: scale of the negative part, often 1.0
    """

def ACTIVATION_GELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """0.5 * x * (1 + erf(x / sqrt(2))).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_HARDMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """1 at the first largest element of each row, 0 elsewhere.

    InputTensor: BatchCount rows of Width elements, behind any number of dimensions of size 1
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_HARDMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor:
    """1 at the first largest among the elements that differ only along Axes, 0 elsewhere.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    AxisCount: how many Axes there are
    Axes: the dimensions that together form one group of elements
    """

def ACTIVATION_HARD_SIGMOID(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor:
    """Alpha * x + Beta, cut off below 0 and above 1.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: slope, often 0.2
    Beta: value at 0, often 0.5
    """

def ACTIVATION_HARD_SWISH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor:
    """x * (Alpha * x + Beta), the second factor cut off below 0 and above 1.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: slope of the second factor, often 1/6 (0.166667)
    Beta: the second factor at 0, often 0.5
    """

def ACTIVATION_IDENTITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """A copy of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_LEAKY_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor:
    """x where x is at least 0, else Alpha * x.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: slope below 0, often 0.01
    """

def ACTIVATION_LINEAR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor:
    """Alpha * x + Beta.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: factor
    Beta: summand
    """

def ACTIVATION_LOG_SOFTMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The natural logarithm of the softmax of each row.

    InputTensor: BatchCount rows of Width elements, behind any number of dimensions of size 1
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_LOG_SOFTMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor:
    """The natural logarithm of the softmax over the elements that differ only along Axes.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    AxisCount: how many Axes there are
    Axes: the dimensions that together form one group of elements
    """

def ACTIVATION_PARAMETERIZED_RELU(
    *,
    InputTensor: TensorDesc,
    SlopeTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """x where x is at least 0, else the slope at the same place times x.

    InputTensor: what the function is applied to
    SlopeTensor: one slope per element of InputTensor
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_PARAMETRIC_SOFTPLUS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor:
    """Alpha * ln(1 + exp(Beta * x)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: factor of the result
    Beta: factor of x
    """

def ACTIVATION_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The larger of 0 and x.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_RELU_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
) -> Descriptor:
    """The incoming gradient where the input is above 0, else 0.

    InputTensor: what the forward pass (ACTIVATION_RELU) was given
    InputGradientTensor: the gradient of the layer that comes after
    OutputGradientTensor: one result per element of InputTensor
    """

def ACTIVATION_SCALED_ELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Gamma: float,
) -> Descriptor:
    """Gamma * x where x is above 0, else Gamma * (Alpha * exp(x) - Alpha).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: scale of the negative part, often 1.6732
    Gamma: scale of the whole, often 1.0507
    """

def ACTIVATION_SCALED_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor:
    """Alpha * tanh(Beta * x).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: factor of the result, often 1.0
    Beta: factor of x, often 0.5
    """

def ACTIVATION_SHRINK(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Bias: float,
    Threshold: float,
) -> Descriptor:
    """x - Bias where x is above Threshold, x + Bias where x is below -Threshold, else 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Bias: how far values outside the threshold move towards 0, often 0.0
    Threshold: half the width of the zone that becomes 0, often 0.5
    """

def ACTIVATION_SIGMOID(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """1 / (1 + exp(-x)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_SOFTMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """exp(x) of each element divided by the sum of exp over its row.

    InputTensor: BatchCount rows of Width elements, behind any number of dimensions of size 1
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_SOFTMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor:
    """exp(x) of each element divided by the sum of exp over the elements that differ from it only along Axes.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    AxisCount: how many Axes there are
    Axes: the dimensions that together form one group of elements
    """

def ACTIVATION_SOFTPLUS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Steepness: float,
) -> Descriptor:
    """ln(1 + exp(Steepness * x)) / Steepness.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Steepness: how sharply the curve bends at 0, often 1.0
    """

def ACTIVATION_SOFTSIGN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """x / (1 + abs(x)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_SWISH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    SigmoidInputScale: float,
) -> Descriptor:
    """x * sigmoid(SigmoidInputScale * x).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    SigmoidInputScale: factor of x inside the sigmoid, often 1.0
    """

def ACTIVATION_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The hyperbolic tangent, (1 - exp(-2 * x)) / (1 + exp(-2 * x)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ACTIVATION_THRESHOLDED_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor:
    """x where x is above Alpha, else 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    Alpha: the threshold, often 1.0
    """

def ADAM_OPTIMIZER(
    *,
    InputParametersTensor: TensorDesc,
    InputFirstMomentTensor: TensorDesc,
    InputSecondMomentTensor: TensorDesc,
    GradientTensor: TensorDesc,
    TrainingStepTensor: TensorDesc,
    OutputParametersTensor: TensorDesc,
    OutputFirstMomentTensor: TensorDesc,
    OutputSecondMomentTensor: TensorDesc,
    LearningRate: float,
    Beta1: float,
    Beta2: float,
    Epsilon: float,
) -> Descriptor:
    """One step of the Adam optimizer. Updates the moments, M = Beta1 * M + (1 - Beta1) * G and V = Beta2 * V + (1 -
    Beta2) * G * G, and takes LearningRate * Alpha * M / (sqrt(V) + Epsilon) off the parameters, where Alpha =
    sqrt(1 - Beta2 ** T) / (1 - Beta1 ** T).

    InputParametersTensor: the weights to update
    InputFirstMomentTensor: M, the estimate of the gradient's mean
    InputSecondMomentTensor: V, the estimate of the gradient's mean square
    GradientTensor: G, the gradient of each weight
    TrainingStepTensor: T, the number of the step
    OutputParametersTensor: the updated weights; may alias an input other than TrainingStepTensor
    OutputFirstMomentTensor: the updated M; may alias an input other than TrainingStepTensor
    OutputSecondMomentTensor: the updated V; may alias an input other than TrainingStepTensor
    LearningRate: the size of a step
    Beta1: how slowly M decays, from 0 to 1
    Beta2: how slowly V decays, from 0 to 1
    Epsilon: added to the divisor so that nothing is divided by 0
    """

def ARGMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor:
    """The index of the maximum among the elements that differ only along Axes.

    InputTensor: the elements to reduce
    OutputTensor: one result per group of elements that differ only along Axes
    AxisCount: how many Axes there are
    Axes: the dimensions that are reduced
    AxisDirection: whether the first or the last of equals counts
    """

def ARGMIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor:
    """The index of the minimum among the elements that differ only along Axes.

    InputTensor: the elements to reduce
    OutputTensor: one result per group of elements that differ only along Axes
    AxisCount: how many Axes there are
    Axes: the dimensions that are reduced
    AxisDirection: whether the first or the last of equals counts
    """

def AVERAGE_POOLING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    IncludePadding: bool,
) -> Descriptor:
    """The mean of the elements under a window that slides over the spatial dimensions.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    IncludePadding: whether padding counts in the divisor of the mean
    """

def AVERAGE_POOLING1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    Dilations: list[int],
    IncludePadding: bool,
) -> Descriptor:
    """The mean of the elements under a window, which may be dilated, that slides over the spatial dimensions.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    Dilations: per spatial dimension, the step between elements of the window
    IncludePadding: whether padding counts in the divisor of the mean
    """

def AVERAGE_POOLING_GRAD(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    IncludePadding: bool,
) -> Descriptor:
    """The gradient of AVERAGE_POOLING, each incoming gradient, divided by the elements of its window, added to every
    element of that window.

    InputGradientTensor: the gradient of the layer that comes after, one element per window
    OutputGradientTensor: batch, channel, depth if there are 5 dimensions, height, width
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    IncludePadding: whether padding counts in the divisor of the mean
    """

def BATCH_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    MeanTensor: TensorDesc,
    VarianceTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    BiasTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Spatial: bool,
    Epsilon: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias), with a mean, variance, scale and
    bias that are given.

    InputTensor: the elements to normalize
    MeanTensor: what is subtracted; repeated along sizes of 1
    VarianceTensor: what is divided by, as its square root; repeated along sizes of 1
    ScaleTensor: the factor; repeated along sizes of 1
    BiasTensor: the summand; repeated along sizes of 1
    OutputTensor: one result per element of InputTensor
    Spatial: false wants a mean and a variance for each place; without effect from 4.0 on
    Epsilon: added to the variance so that nothing is divided by 0
    FusedActivation: an activation of the results, without tensors of its own
    """

def BATCH_NORMALIZATION_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    MeanTensor: TensorDesc,
    VarianceTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    OutputScaleGradientTensor: TensorDesc,
    OutputBiasGradientTensor: TensorDesc,
    Epsilon: float,
) -> Descriptor:
    """The gradients of batch normalization by its input, its scale and its bias; the mean and the variance count as
    constants.

    InputTensor: the input of BATCH_NORMALIZATION
    InputGradientTensor: the incoming gradient
    MeanTensor: the mean; repeated along sizes of 1
    VarianceTensor: the variance; repeated along sizes of 1
    ScaleTensor: the scale; repeated along sizes of 1
    OutputGradientTensor: the gradient by InputTensor
    OutputScaleGradientTensor: the gradient by the scale, summed where ScaleTensor has a size of 1
    OutputBiasGradientTensor: the gradient by the bias, summed where ScaleTensor has a size of 1
    Epsilon: added to the variance so that nothing is divided by 0
    """

def BATCH_NORMALIZATION_TRAINING(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    BiasTensor: TensorDesc,
    FusedAddTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    OutputMeanTensor: TensorDesc,
    OutputVarianceTensor: TensorDesc,
    Epsilon: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias + FusedAdd), with the mean and the
    variance computed from the input.

    InputTensor: the elements to normalize
    ScaleTensor: the factor; repeated along sizes of 1
    BiasTensor: the summand; repeated along sizes of 1
    FusedAddTensor: added to the results before FusedActivation
    OutputTensor: one result per element of InputTensor
    OutputMeanTensor: the mean over the dimensions in which ScaleTensor has a size of 1
    OutputVarianceTensor: the variance over the same dimensions
    Epsilon: added to the variance so that nothing is divided by 0
    FusedActivation: an activation of the results, without tensors of its own
    """

def BATCH_NORMALIZATION_TRAINING_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    MeanTensor: TensorDesc,
    VarianceTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    OutputScaleGradientTensor: TensorDesc,
    OutputBiasGradientTensor: TensorDesc,
    Epsilon: float,
) -> Descriptor:
    """The gradients of batch normalization by its input, its scale and its bias, where the mean and the variance
    were computed from the input.

    InputTensor: the input of BATCH_NORMALIZATION_TRAINING
    InputGradientTensor: the incoming gradient
    MeanTensor: the mean; repeated along sizes of 1
    VarianceTensor: the variance; repeated along sizes of 1
    ScaleTensor: the scale; repeated along sizes of 1
    OutputGradientTensor: the gradient by InputTensor
    OutputScaleGradientTensor: the gradient by the scale, summed where ScaleTensor has a size of 1
    OutputBiasGradientTensor: the gradient by the bias, summed where ScaleTensor has a size of 1
    Epsilon: added to the variance so that nothing is divided by 0
    """

def CAST(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Each element converted to the data type of the output.

    InputTensor: the elements to convert
    OutputTensor: one result per element of InputTensor
    """

def CONVOLUTION(
    *,
    InputTensor: TensorDesc,
    FilterTensor: TensorDesc,
    BiasTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    Mode: _CONVOLUTION_MODE,
    Direction: _CONVOLUTION_DIRECTION,
    DimensionCount: int,
    Strides: list[int],
    Dilations: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    OutputPadding: list[int],
    GroupCount: int,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """Convolves InputTensor with the filters, forward or backward (transposed) and in groups, adds a bias per
    channel and applies FusedActivation if there is one.

    InputTensor: batch, channel, then 1 to 3 spatial dimensions
    FilterTensor: filter, channel within a group, then the spatial dimensions; channels the other way round if
    BACKWARD
    BiasTensor: one summand per channel of OutputTensor
    OutputTensor: batch, channel, then the spatial dimensions
    Mode: CONVOLUTION flips every filter along its spatial dimensions
    Direction: BACKWARD is the transposed convolution
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from place to place of the filter
    Dilations: per spatial dimension, the step between elements of the filter
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    OutputPadding: per spatial dimension, the zeros behind the last result
    GroupCount: into how many separate convolutions the channels are divided
    FusedActivation: an activation applied to the results, without tensors of its own
    """

def CONVOLUTION_INTEGER(
    *,
    InputTensor: TensorDesc,
    InputZeroPointTensor: TensorDesc | None = None,
    FilterTensor: TensorDesc,
    FilterZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    Dilations: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    GroupCount: int,
) -> Descriptor:
    """Convolves InputTensor, less its zero point, with the filters, less theirs, forward and in groups, in 32-bit
    integers.

    InputTensor: batch, channel, then 1 or 2 spatial dimensions
    InputZeroPointTensor: the one zero point of InputTensor; 0 if absent
    FilterTensor: filter, channel within a group, then the spatial dimensions
    FilterZeroPointTensor: the zero point of FilterTensor, one or one per filter; 0 if absent
    OutputTensor: batch, channel, then the spatial dimensions
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from place to place of the filter
    Dilations: per spatial dimension, the step between elements of the filter
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    GroupCount: into how many separate convolutions the channels are divided
    """

def CUMULATIVE_PRODUCT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    AxisDirection: _AXIS_DIRECTION,
    HasExclusiveProduct: bool,
) -> Descriptor:
    """The running product of the elements along Axis.

    InputTensor: the elements to multiply
    OutputTensor: the running result at each element
    Axis: the dimension to go along
    AxisDirection: from the first element or from the last
    HasExclusiveProduct: true leaves the current element out of its own result
    """

def CUMULATIVE_SUMMATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    AxisDirection: _AXIS_DIRECTION,
    HasExclusiveSum: bool,
) -> Descriptor:
    """The running sum of the elements along Axis.

    InputTensor: the elements to add up
    OutputTensor: the running result at each element
    Axis: the dimension to go along
    AxisDirection: from the first element or from the last
    HasExclusiveSum: true leaves the current element out of its own result
    """

def DEPTH_TO_SPACE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
) -> Descriptor:
    """Moves channels to the places of blocks of height and width.

    InputTensor: batch, channel, height, width
    OutputTensor: the same elements, its dimensions in the same order
    BlockSize: height and width of a block
    """

def DEPTH_TO_SPACE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
    Order: _DEPTH_SPACE_ORDER,
) -> Descriptor:
    """Moves channels to the places of blocks of height and width.

    InputTensor: batch, channel, height, width
    OutputTensor: the same elements, its dimensions in the same order
    BlockSize: height and width of a block
    Order: whether the place in the block or the channel runs slower in the depth
    """

def DEQUANTIZE(
    *,
    InputTensor: TensorDesc,
    QuantizationType: _QUANTIZATION_TYPE,
    QuantizationTensorCount: int,
    QuantizationTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Turns quantized values back, with one scale, and perhaps a zero point, per element or block of elements.

    InputTensor: the quantized values
    QuantizationType: which QuantizationTensors there are
    QuantizationTensorCount: how many QuantizationTensors there are
    QuantizationTensors: the scales, then the zero points if there are any
    OutputTensor: one result per element of InputTensor
    """

def DIAGONAL_MATRIX(
    *,
    OutputTensor: TensorDesc,
    Offset: int,
    Value: float,
) -> Descriptor:
    """Matrices with Value along one diagonal and 0 elsewhere.

    OutputTensor: a matrix in its last two dimensions, for each index of the others
    Offset: how far right of the main diagonal it lies (below 0: left)
    Value: what the diagonal holds, often 1.0; integer types may cut it off
    """

def DIAGONAL_MATRIX1(
    *,
    InputTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    Value: float,
    DiagonalFillBegin: int,
    DiagonalFillEnd: int,
) -> Descriptor:
    """Matrices with Value on a strip of diagonals, or outside of it where the strip's ends are inverted, and the
    input or 0 elsewhere.

    InputTensor: what the elements that Value does not fill become; 0 if absent
    OutputTensor: a matrix in its last two dimensions, for each index of the others
    ValueDataType: how Value is to be read
    Value: what the strip holds
    DiagonalFillBegin: the strip's first diagonal, as column minus row
    DiagonalFillEnd: the diagonal after the strip's last; where it is below DiagonalFillBegin, the diagonals
    between are spared
    """

def DYNAMIC_QUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc,
) -> Descriptor:
    """Takes a scale from the range of InputTensor, (greatest - least) / (Max - Min) with the limits of the output's
    type, and a zero point, Min - least / scale, and quantizes with them, clamp(round(input / scale) + zero point,
    Min, Max).

    InputTensor: the values
    OutputTensor: one quantized element per element of InputTensor
    OutputScaleTensor: the one scale of OutputTensor
    OutputZeroPointTensor: the one zero point of OutputTensor
    """

def ELEMENT_WISE_ABS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The absolute value of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ACOS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The arc cosine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ACOSH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The inverse hyperbolic cosine of every element, ln(x + sqrt(x * x - 1)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ADD(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Adds BTensor to ATensor, element by element. ELEMENT_WISE_ADD1 is its newer form.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_ADD1(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """Adds BTensor to ATensor, element by element, and applies FusedActivation to the sums if there is one.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    FusedActivation: an activation applied to the sums, without tensors of its own; for FLOAT32 and FLOAT16
    outputs only
    """

def ELEMENT_WISE_ASIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The arc sine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ASINH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The inverse hyperbolic sine of every element, ln(x + sqrt(x * x + 1)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ATAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The arc tangent of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ATANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The inverse hyperbolic tangent of every element, ln((1 + x) / (1 - x)) / 2.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ATAN_YX(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The arctangent of two arguments, atan2(y, x), with y from ATensor and x from BTensor; undefined where both are
    0.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_BIT_AND(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The bitwise and of two elements; a type only gives the width of its elements.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_BIT_COUNT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """How many bits of every element are set, whatever the type encodes with them.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_BIT_NOT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Every bit of every element inverted, whatever the type encodes with it.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_BIT_OR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The bitwise or of two elements; a type only gives the width of its elements.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_BIT_SHIFT_LEFT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Shifts the bits of ATensor's elements to the left by BTensor's; zeros come in.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_BIT_SHIFT_RIGHT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Shifts the bits of ATensor's elements to the right by BTensor's; zeros come in.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_BIT_XOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The bitwise exclusive or of two elements; a type only gives the width of its elements.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_CEIL(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The least integer not below x, of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_CLIP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Min: float,
    Max: float,
) -> Descriptor:
    """Every element held within Min and Max, min(Max, max(Min, x)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    Min: what elements below it become
    Max: what elements above it become
    """

def ELEMENT_WISE_CLIP1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    MinMaxDataType: _TENSOR_DATA_TYPE,
    Min: float,
    Max: float,
) -> Descriptor:
    """Every element held within Min and Max, numbers of the tensors' own type, max(Min, min(x, Max)).

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    MinMaxDataType: how Min and Max are to be read
    Min: what elements below it become
    Max: what elements above it become
    """

def ELEMENT_WISE_CLIP_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    Min: float,
    Max: float,
) -> Descriptor:
    """The incoming gradient where the input is above Min and below Max, else 0.

    InputTensor: what the forward pass was given
    InputGradientTensor: the gradient of the layer that comes after
    OutputGradientTensor: one result per element of InputTensor
    Min: inputs at or below it have the gradient 0
    Max: inputs at or above it have the gradient 0
    """

def ELEMENT_WISE_CLIP_GRAD1(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    MinMaxDataType: _TENSOR_DATA_TYPE,
    Min: float,
    Max: float,
) -> Descriptor:
    """The incoming gradient where the input is above Min and below Max, numbers of the tensors' own type, else 0.

    InputTensor: what the forward pass was given
    InputGradientTensor: the gradient of the layer that comes after
    OutputGradientTensor: one result per element of InputTensor
    MinMaxDataType: how Min and Max are to be read
    Min: inputs at or below it have the gradient 0
    Max: inputs at or above it have the gradient 0
    """

def ELEMENT_WISE_CONSTANT_POW(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Exponent: float,
) -> Descriptor:
    """Every element to the power of Exponent; NaN where the element is negative and Exponent is not an integer.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    Exponent: the power, the same for all elements
    """

def ELEMENT_WISE_COS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The cosine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_COSH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The hyperbolic cosine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_DEQUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    ZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Turns quantized values back, (input - zero point) * scale.

    InputTensor: the values
    ScaleTensor: a scale per element; 0 is undefined behaviour
    ZeroPointTensor: a zero point per element; may be left out from 6.2 on
    OutputTensor: the results
    """

def ELEMENT_WISE_DIFFERENCE_SQUARE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Squares the difference of two elements, (a - b) * (a - b).

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_DIVIDE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Divides ATensor by BTensor, element by element; integer quotients are truncated.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_ERF(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The Gaussian error function of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_EXP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """e to the power of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_FLOOR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The greatest integer not above x, of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_IDENTITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """A copy of every element; with strides, also to another layout.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_IF(
    *,
    ConditionTensor: TensorDesc,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Takes the element of ATensor where that of ConditionTensor is not 0, else the one of BTensor.

    ConditionTensor: not 0 selects ATensor, 0 selects BTensor
    ATensor: the values where the condition holds
    BTensor: the values where it does not
    OutputTensor: the selected values
    """

def ELEMENT_WISE_IS_INFINITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InfinityMode: _IS_INFINITY_MODE,
) -> Descriptor:
    """1 where the element is an infinity of the sign that InfinityMode names, else 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    InfinityMode: which infinities count: both, the positive one, the negative one
    """

def ELEMENT_WISE_IS_NAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """1 where the element is NaN, else 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_LOG(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The natural logarithm of every element; minus infinity of 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_LOGICAL_AND(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True, as 1, where both elements are not 0, else 0.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_LOGICAL_EQUALS(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where the element of ATensor equals that of BTensor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: 1 where the comparison holds, else 0
    """

def ELEMENT_WISE_LOGICAL_GREATER_THAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where the element of ATensor is greater than that of BTensor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: 1 where the comparison holds, else 0
    """

def ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where the element of ATensor is greater than or equal to that of BTensor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: 1 where the comparison holds, else 0
    """

def ELEMENT_WISE_LOGICAL_LESS_THAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where the element of ATensor is less than that of BTensor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: 1 where the comparison holds, else 0
    """

def ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where the element of ATensor is less than or equal to that of BTensor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: 1 where the comparison holds, else 0
    """

def ELEMENT_WISE_LOGICAL_NOT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The logical negation of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_LOGICAL_OR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where at least one of two elements is not 0.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_LOGICAL_XOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """True where exactly one of two elements is not 0.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MAX(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Takes the greater of two elements.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MEAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Averages two elements, (a + b) / 2.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MIN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Takes the lesser of two elements.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MODULUS_FLOOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The remainder a - b * floor(a / b), as Python has it, with the sign of the divisor.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MODULUS_TRUNCATE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """The remainder a - b * trunc(a / b), as C has it, with the sign of the dividend.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_MULTIPLY(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Multiplies ATensor by BTensor, element by element.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_NEGATE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Every element with the opposite sign.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_POW(
    *,
    InputTensor: TensorDesc,
    ExponentTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """Raises InputTensor to the power of ExponentTensor, element by element; a negative base with a fraction as
    exponent gives NaN, and integers to integers are exact.

    InputTensor: the bases
    ExponentTensor: the exponents
    OutputTensor: the results
    ScaleBias: x * scale + bias, applied to the bases beforehand
    """

def ELEMENT_WISE_QUANTIZED_LINEAR_ADD(
    *,
    ATensor: TensorDesc,
    AScaleTensor: TensorDesc,
    AZeroPointTensor: TensorDesc | None = None,
    BTensor: TensorDesc,
    BScaleTensor: TensorDesc,
    BZeroPointTensor: TensorDesc | None = None,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Dequantizes ATensor and BTensor, adds them element by element and quantizes the sums, clamp(round(sum / output
    scale) + output zero point, Min, Max) with the limits of the output's type.

    ATensor: left-hand side, quantized
    AScaleTensor: the one scale of ATensor
    AZeroPointTensor: the one zero point of ATensor; 0 if absent
    BTensor: right-hand side, quantized
    BScaleTensor: the one scale of BTensor
    BZeroPointTensor: the one zero point of BTensor; 0 if absent
    OutputScaleTensor: the one scale of OutputTensor
    OutputZeroPointTensor: the one zero point of OutputTensor; 0 if absent
    OutputTensor: the sums, quantized
    """

def ELEMENT_WISE_QUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    ZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Quantizes to 8 bits, clamp(round(input / scale) + zero point, Min, Max) with the limits of the output's type.

    InputTensor: the values
    ScaleTensor: a scale per element; 0 is undefined behaviour
    ZeroPointTensor: a zero point per element; may be left out from 6.2 on
    OutputTensor: the results
    """

def ELEMENT_WISE_RECIP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """One divided by every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_ROUND(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    RoundingMode: _ROUNDING_MODE,
) -> Descriptor:
    """Every element rounded to an integer, as RoundingMode says.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    RoundingMode: to the nearest, halves to the even neighbour; towards zero; to the nearest, halves away from
    zero
    """

def ELEMENT_WISE_SIGN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """-1 of elements below 0, 1 of those above, else 0, also of minus 0.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    """

def ELEMENT_WISE_SIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The sine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_SINH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The hyperbolic sine of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_SQRT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The square root of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_SUBTRACT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Subtracts BTensor from ATensor, element by element.

    ATensor: left-hand side
    BTensor: right-hand side
    OutputTensor: the results
    """

def ELEMENT_WISE_TAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The tangent of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor:
    """The hyperbolic tangent of every element.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    """

def ELEMENT_WISE_THRESHOLD(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Min: float,
) -> Descriptor:
    """Every element, but at least Min.

    InputTensor: what the function is applied to
    OutputTensor: one result per element of InputTensor
    ScaleBias: two FLOATs; where given, x * Scale + Bias takes the place of every input element x
    Min: what elements below it become
    """

def FILL_VALUE_CONSTANT(
    *,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    Value: float,
) -> Descriptor:
    """A tensor whose elements are all Value.

    OutputTensor: of any size
    ValueDataType: how Value is to be read
    Value: what every element becomes
    """

def FILL_VALUE_SEQUENCE(
    *,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    ValueStart: float,
    ValueDelta: float,
) -> Descriptor:
    """ValueStart in the first element, and ValueDelta more in each one after it, in the order of the indices.

    OutputTensor: of any size
    ValueDataType: how ValueStart and ValueDelta are to be read
    ValueStart: the first element
    ValueDelta: the step from each element to the next
    """

def FOLD(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    WindowSizes: list[int],
    Strides: list[int],
    Dilations: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """Puts windows, given as columns, back to where they were taken from, and adds up where they overlap.

    InputTensor: batch, the elements of a window with their channels, windows
    OutputTensor: batch, channel, 1 to 6 spatial dimensions
    DimensionCount: how many spatial dimensions there are
    WindowSizes: per spatial dimension, the elements of the window
    Strides: per spatial dimension, the step from window to window
    Dilations: per spatial dimension, the step between elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    """

def GATHER(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    IndexDimensions: int,
) -> Descriptor:
    """Takes whole slices of the input along Axis, in the order and number of the indices.

    InputTensor: what is read
    IndicesTensor: which slice to take; negative ones of a signed type count from the end from 3.0 on, others
    beyond the end read some element of the input
    OutputTensor: the sizes of InputTensor, with those of the indices in place of the one along Axis
    Axis: the dimension of InputTensor that the indices count along
    IndexDimensions: how many of the last dimensions of IndicesTensor count
    """

def GATHER_ELEMENTS(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor:
    """For each index the element of the input at its place, but along Axis at the index.

    InputTensor: what is read
    IndicesTensor: which element along Axis to take; negative ones of a signed type count from the end from 3.0 on
    OutputTensor: one element per index
    Axis: the dimension that the indices count along
    """

def GATHER_ND(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
) -> Descriptor:
    """For each tuple of coordinates the element or block of the input that it leads to.

    InputTensor: what is read
    IndicesTensor: tuples of coordinates along the last dimension; negative ones of a signed type count from the
    end from 3.0 on
    OutputTensor: the block of InputTensor that each tuple leads to
    InputDimensionCount: how many of the last dimensions of InputTensor count
    IndicesDimensionCount: how many of the last dimensions of IndicesTensor count
    """

def GATHER_ND1(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
    BatchDimensionCount: int,
) -> Descriptor:
    """For each tuple of coordinates the element or block that it leads to in the input of its batch.

    InputTensor: what is read
    IndicesTensor: tuples of coordinates along the last dimension; negative ones of a signed type count from the
    end from 3.0 on
    OutputTensor: the block of InputTensor that each tuple leads to
    InputDimensionCount: how many of the last dimensions of InputTensor count
    IndicesDimensionCount: how many of the last dimensions of IndicesTensor count
    BatchDimensionCount: how many of the first dimensions that count are batches, each with indices of its own
    """

def GEMM(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    CTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    TransA: _MATRIX_TRANSFORM,
    TransB: _MATRIX_TRANSFORM,
    Alpha: float,
    Beta: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """FusedActivation(Alpha * A x B + Beta * C), matrix by matrix, with A and B transposed first where TransA and
    TransB say so.

    ATensor: matrices of M by K, or K by M if TransA transposes them
    BTensor: matrices of K by N, or N by K if TransB transposes them
    CTensor: matrices of M by N that are added; zeros if absent
    OutputTensor: matrices of M by N
    TransA: whether ATensor is transposed
    TransB: whether BTensor is transposed
    Alpha: the factor of the product
    Beta: the factor of CTensor; without effect if that is absent
    FusedActivation: an activation applied to the results, without tensors of its own
    """

def GRU(
    *,
    InputTensor: TensorDesc,
    WeightTensor: TensorDesc,
    RecurrenceTensor: TensorDesc,
    BiasTensor: TensorDesc | None = None,
    HiddenInitTensor: TensorDesc | None = None,
    SequenceLengthsTensor: TensorDesc | None = None,
    OutputSequenceTensor: TensorDesc | None = None,
    OutputSingleTensor: TensorDesc | None = None,
    ActivationDescCount: int,
    ActivationDescs: list[Descriptor],
    Direction: _RECURRENT_NETWORK_DIRECTION,
    LinearBeforeReset: bool,
) -> Descriptor:
    """One layer of gated recurrent units over sequences, forward, backward or both.

    InputTensor: X, of 1, sequence, batch and input elements
    WeightTensor: W, of 1, directions, the update, reset and hidden gates (zrh), and input elements
    RecurrenceTensor: R, of 1, directions, the update, reset and hidden gates (zrh), and hidden elements
    BiasTensor: the biases of W, then those of R; optional
    HiddenInitTensor: H before the first step; zeros if absent
    SequenceLengthsTensor: the length of each sequence of the batch; all of it if absent
    OutputSequenceTensor: H after every step
    OutputSingleTensor: H after the last step
    ActivationDescCount: how many ActivationDescs there are
    ActivationDescs: the activations f and g, without tensors of their own; those of the forward direction, then
    those of the backward one
    Direction: in which order the steps are taken
    LinearBeforeReset: in the hidden gate, multiply by the reset gate after the linear transformation instead of
    before
    """

def JOIN(
    *,
    InputCount: int,
    InputTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor:
    """Puts tensors one behind the other along Axis.

    InputCount: how many InputTensors there are
    InputTensors: the parts in their order
    OutputTensor: the parts joined
    Axis: the dimension along which they are joined
    """

def LOCAL_RESPONSE_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    CrossChannel: bool,
    LocalSize: int,
    Alpha: float,
    Beta: float,
    Bias: float,
) -> Descriptor:
    """Input / (Bias + Alpha / LocalSize * S) ** Beta, where S is the sum of the squares in the neighbourhood of each
    element.

    InputTensor: batch, channel, height, width
    OutputTensor: one result per element of InputTensor
    CrossChannel: sum across channels
    LocalSize: how many elements the neighbourhood has per dimension
    Alpha: the factor of the mean of squares
    Beta: the exponent
    Bias: added to the scaled mean of squares
    """

def LOCAL_RESPONSE_NORMALIZATION_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    CrossChannel: bool,
    LocalSize: int,
    Alpha: float,
    Beta: float,
    Bias: float,
) -> Descriptor:
    """The gradient of local response normalization by its input.

    InputTensor: batch, channel, height, width; the input of LOCAL_RESPONSE_NORMALIZATION
    InputGradientTensor: the incoming gradient
    OutputGradientTensor: the gradient by InputTensor
    CrossChannel: sum across channels
    LocalSize: how many elements the neighbourhood has per dimension, where it is not cut off by the border
    Alpha: the factor of the mean of squares
    Beta: the exponent
    Bias: added to the scaled mean of squares
    """

def LP_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    Epsilon: float,
    P: int,
) -> Descriptor:
    """Divides the elements by the L1 or L2 norm of their sequence along Axis.

    InputTensor: the elements to normalize
    OutputTensor: one result per element of InputTensor
    Axis: the dimension of the sequences
    Epsilon: keeps the division from being one by 0
    P: 1 for the sum of absolute values, 2 for the root of the sum of squares
    """

def LP_POOLING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    P: int,
) -> Descriptor:
    """The Lp norm, (x1^P + … + xn^P)^(1/P), of the elements under a window that slides over the spatial dimensions.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    P: the exponent of the elements; the sum's root is of the same degree
    """

def LP_POOLING1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    Dilations: list[int],
    P: int,
) -> Descriptor:
    """The Lp norm, (x1^P + … + xn^P)^(1/P), of the elements under a window, which may be dilated, that slides over
    the spatial dimensions.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    Dilations: per spatial dimension, the step between elements of the window
    P: the exponent of the elements; the sum's root is of the same degree
    """

def LSTM(
    *,
    InputTensor: TensorDesc,
    WeightTensor: TensorDesc,
    RecurrenceTensor: TensorDesc,
    BiasTensor: TensorDesc | None = None,
    HiddenInitTensor: TensorDesc | None = None,
    CellMemInitTensor: TensorDesc | None = None,
    SequenceLengthsTensor: TensorDesc | None = None,
    PeepholeTensor: TensorDesc | None = None,
    OutputSequenceTensor: TensorDesc | None = None,
    OutputSingleTensor: TensorDesc | None = None,
    OutputCellSingleTensor: TensorDesc | None = None,
    ActivationDescCount: int,
    ActivationDescs: list[Descriptor],
    Direction: _RECURRENT_NETWORK_DIRECTION,
    ClipThreshold: float,
    UseClipThreshold: bool,
    CoupleInputForget: bool,
) -> Descriptor:
    """One layer of long short-term memory over sequences, forward, backward or both.

    InputTensor: X, of 1, sequence, batch and input elements
    WeightTensor: W, of 1, directions, the input, output, forget and cell gates (iofc), and input elements
    RecurrenceTensor: R, of 1, directions, the input, output, forget and cell gates (iofc), and hidden elements
    BiasTensor: the biases of W, then those of R; zeros if absent
    HiddenInitTensor: H before the first step; zeros if absent
    CellMemInitTensor: C before the first step; zeros if absent
    SequenceLengthsTensor: the length of each sequence of the batch; all of it if absent
    PeepholeTensor: P, the peepholes of the input, output and forget gates (iof); zeros if absent
    OutputSequenceTensor: H after every step
    OutputSingleTensor: H after the last step
    OutputCellSingleTensor: C after the last step
    ActivationDescCount: how many ActivationDescs there are
    ActivationDescs: the activations f, g and h, without tensors of their own; those of the forward direction,
    then those of the backward one
    Direction: in which order the steps are taken
    ClipThreshold: what goes into the activations is held between -ClipThreshold and ClipThreshold
    UseClipThreshold: whether ClipThreshold counts
    CoupleInputForget: whether the input and forget gates are coupled
    """

def MATRIX_MULTIPLY_INTEGER(
    *,
    ATensor: TensorDesc,
    AZeroPointTensor: TensorDesc | None = None,
    BTensor: TensorDesc,
    BZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """(A - zero point of A) x (B - zero point of B), matrix by matrix, in 32-bit integers.

    ATensor: matrices of M by K
    AZeroPointTensor: the zero point of ATensor, one or one per row; 0 if absent
    BTensor: matrices of K by N
    BZeroPointTensor: the zero point of BTensor, one or one per column; 0 if absent
    OutputTensor: matrices of M by N
    """

def MATRIX_MULTIPLY_INTEGER_TO_FLOAT(
    *,
    ATensor: TensorDesc,
    AScaleTensor: TensorDesc,
    AZeroPointTensor: TensorDesc | None = None,
    BTensor: TensorDesc,
    BScaleTensor: TensorDesc,
    BZeroPointTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Dequantizes ATensor and BTensor, multiplies them matrix by matrix and adds BiasTensor if there is one.

    ATensor: matrices of M by K, quantized
    AScaleTensor: the scale of ATensor, one or one per row
    AZeroPointTensor: the zero point of ATensor, one or one per row; 0 if absent
    BTensor: matrices of K by N, quantized
    BScaleTensor: the scale of BTensor, one or one per column
    BZeroPointTensor: the zero point of BTensor, one or one per column; 0 if absent
    BiasTensor: matrices of M by N that are added
    OutputTensor: matrices of M by N
    """

def MAX_POOLING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """The largest of the elements under a window that slides over the spatial dimensions.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    """

def MAX_POOLING1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputIndicesTensor: TensorDesc | None = None,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """The largest of the elements under a window that slides over the spatial dimensions, and where it stands.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    OutputIndicesTensor: where each maximum, the first of equals, is in the flat InputTensor
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    """

def MAX_POOLING2(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputIndicesTensor: TensorDesc | None = None,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    Dilations: list[int],
) -> Descriptor:
    """The largest of the elements under a window, which may be dilated, that slides over the spatial dimensions, and
    where it stands.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: one result per window, its dimensions in the same order
    OutputIndicesTensor: where each maximum, the first of equals, is in the flat InputTensor
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    Dilations: per spatial dimension, the step between elements of the window
    """

def MAX_POOLING_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    Dilations: list[int],
) -> Descriptor:
    """The gradient of MAX_POOLING2, each incoming gradient added at the largest element of its window, the first of
    equals, and 0 elsewhere.

    InputTensor: what the forward pass (MAX_POOLING2) was given
    InputGradientTensor: the gradient of the layer that comes after, one element per window
    OutputGradientTensor: batch, channel, depth if there are 5 dimensions, height, width
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    Dilations: per spatial dimension, the step between elements of the window
    """

def MAX_UNPOOLING(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Undoes max pooling, each element of InputTensor at the place of OutputTensor that its index names, and 0
    elsewhere.

    InputTensor: batch, channel, height, width: what max pooling gave
    IndicesTensor: per element of InputTensor its place in the flat OutputTensor
    OutputTensor: batch, channel, height, width as before the pooling
    """

def MEAN_VARIANCE_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    CrossChannel: bool,
    NormalizeVariance: bool,
    Epsilon: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias), with the mean and the variance of
    each image or each channel of it.

    InputTensor: batch, channel, height, width
    ScaleTensor: the factor; repeated along sizes of 1
    BiasTensor: the summand; repeated along sizes of 1
    OutputTensor: one result per element of InputTensor
    CrossChannel: mean and variance over channel, height and width instead of height and width only
    NormalizeVariance: false leaves out the division by the square root of the variance
    Epsilon: added to the variance so that nothing is divided by 0
    FusedActivation: an activation of the results, without tensors of its own
    """

def MEAN_VARIANCE_NORMALIZATION1(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    NormalizeVariance: bool,
    Epsilon: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """FusedActivation(Scale * (Input - Mean) / sqrt(Variance + Epsilon) + Bias), with the mean and the variance over
    chosen dimensions.

    InputTensor: batch, channel, height, width
    ScaleTensor: the factor; repeated along sizes of 1
    BiasTensor: the summand; repeated along sizes of 1
    OutputTensor: one result per element of InputTensor
    AxisCount: how many Axes there are
    Axes: the dimensions over which the mean and the variance are taken
    NormalizeVariance: false leaves out the division by the square root of the variance
    Epsilon: added to the variance so that nothing is divided by 0
    FusedActivation: an activation of the results, without tensors of its own
    """

def MEAN_VARIANCE_NORMALIZATION2(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    UseMean: bool,
    UseVariance: bool,
    Epsilon: float,
    FusedActivation: Descriptor | None = None,
) -> Descriptor:
    """Normalization with the mean and the variance over chosen dimensions, either of which may be left out; then
    scale, bias and FusedActivation.

    InputTensor: batch, channel, height, width
    ScaleTensor: the factor; repeated along sizes of 1
    BiasTensor: the summand; repeated along sizes of 1
    OutputTensor: one result per element of InputTensor
    AxisCount: how many Axes there are
    Axes: the dimensions over which the mean and the variance are taken
    UseMean: not described; by its name, whether the mean is subtracted
    UseVariance: not described; by its name, whether the square root of the variance is divided by
    Epsilon: added to the variance so that nothing is divided by 0
    FusedActivation: an activation of the results, without tensors of its own
    """

def MULTIHEAD_ATTENTION(
    *,
    QueryTensor: TensorDesc | None = None,
    KeyTensor: TensorDesc | None = None,
    ValueTensor: TensorDesc | None = None,
    StackedQueryKeyTensor: TensorDesc | None = None,
    StackedKeyValueTensor: TensorDesc | None = None,
    StackedQueryKeyValueTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    MaskTensor: TensorDesc | None = None,
    RelativePositionBiasTensor: TensorDesc | None = None,
    PastKeyTensor: TensorDesc | None = None,
    PastValueTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    OutputPresentKeyTensor: TensorDesc | None = None,
    OutputPresentValueTensor: TensorDesc | None = None,
    Scale: float,
    MaskFilterValue: float,
    HeadCount: int,
    MaskType: _MULTIHEAD_ATTENTION_MASK_TYPE,
) -> Descriptor:
    """Attention of several heads, softmax(query x transposed keys * Scale + relative position bias + mask) x values,
    per head, after a bias to query, keys and values.

    QueryTensor: batch, sequence, hidden, which is all heads side by side
    KeyTensor: batch, keys, hidden
    ValueTensor: batch, keys, hidden size of the values
    StackedQueryKeyTensor: batch, sequence, heads, 2, size of a head
    StackedKeyValueTensor: batch, keys, heads, 2, size of a head
    StackedQueryKeyValueTensor: batch, sequence, heads, 3, size of a head
    BiasTensor: added to the query, the keys and the values before all else
    MaskTensor: which positions count, in the form of MaskType
    RelativePositionBiasTensor: added to the scaled products of query and keys
    PastKeyTensor: keys that come before those of this call
    PastValueTensor: values that come before those of this call
    OutputTensor: batch, sequence, hidden size of the values
    OutputPresentKeyTensor: all keys, past ones in front
    OutputPresentValueTensor: all values, past ones in front
    Scale: the factor of the products of query and keys, usually 1 / sqrt(size of a head)
    MaskFilterValue: added where the mask says that a position does not count, usually -10000
    HeadCount: how many heads there are
    MaskType: the form of MaskTensor
    """

def MULTIHEAD_ATTENTION1(
    *,
    QueryTensor: TensorDesc | None = None,
    KeyTensor: TensorDesc | None = None,
    ValueTensor: TensorDesc | None = None,
    StackedQueryKeyTensor: TensorDesc | None = None,
    StackedKeyValueTensor: TensorDesc | None = None,
    StackedQueryKeyValueTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    MaskTensor: TensorDesc | None = None,
    RelativePositionBiasTensor: TensorDesc | None = None,
    PastKeyTensor: TensorDesc | None = None,
    PastValueTensor: TensorDesc | None = None,
    PastSequenceLengthsTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    OutputPresentKeyTensor: TensorDesc | None = None,
    OutputPresentValueTensor: TensorDesc | None = None,
    Scale: float,
    MaskFilterValue: float,
    QueryHeadCount: int,
    KeyValueHeadCount: int,
    MaskType: _MULTIHEAD_ATTENTION_MASK_TYPE,
) -> Descriptor:
    """Attention of several heads, softmax(query x transposed keys * Scale + relative position bias + mask) x values,
    per head, after a bias to query, keys and values.

    QueryTensor: batch, sequence, hidden, which is all heads side by side
    KeyTensor: batch, keys, hidden
    ValueTensor: batch, keys, hidden size of the values
    StackedQueryKeyTensor: batch, sequence, heads, 2, size of a head
    StackedKeyValueTensor: batch, keys, heads, 2, size of a head
    StackedQueryKeyValueTensor: batch, sequence, heads, 3, size of a head
    BiasTensor: added to the query, the keys and the values before all else
    MaskTensor: which positions count, in the form of MaskType
    RelativePositionBiasTensor: added to the scaled products of query and keys
    PastKeyTensor: keys that come before those of this call
    PastValueTensor: values that come before those of this call
    PastSequenceLengthsTensor: not described on the page
    OutputTensor: batch, sequence, hidden size of the values
    OutputPresentKeyTensor: all keys, past ones in front
    OutputPresentValueTensor: all values, past ones in front
    Scale: the factor of the products of query and keys, usually 1 / sqrt(size of a head)
    MaskFilterValue: added where the mask says that a position does not count, usually -10000
    QueryHeadCount: how many heads the query has
    KeyValueHeadCount: how many heads the keys and values have
    MaskType: the form of MaskTensor
    """

def NONZERO_COORDINATES(
    *,
    InputTensor: TensorDesc,
    OutputCountTensor: TensorDesc,
    OutputCoordinatesTensor: TensorDesc,
) -> Descriptor:
    """How many elements are not zero, and the coordinates of each, in the order of the elements.

    InputTensor: what is searched; -0.0 counts as zero
    OutputCountTensor: the number of elements that are not zero
    OutputCoordinatesTensor: room for one row per element of InputTensor; the rows from the count on are undefined
    """

def ONE_HOT(
    *,
    IndicesTensor: TensorDesc,
    ValuesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor:
    """Fills the output with OffValue and writes OnValue, once per sequence along Axis, where the indices say.

    IndicesTensor: per sequence, the position of OnValue; negative ones count from the end from 3.0 on
    ValuesTensor: element 0 is OffValue, element 1 along the fastest dimension larger than 1 is OnValue
    OutputTensor: any size but zero along Axis
    Axis: the dimension of the sequences
    """

def PADDING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    PaddingMode: _PADDING_MODE,
    PaddingValue: float,
    DimensionCount: int,
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """Adds elements before and behind those of the input along each dimension.

    InputTensor: what is surrounded
    OutputTensor: the elements of InputTensor with the padding around them
    PaddingMode: PaddingValue, the edge repeated, mirrored without or with the edge, or repeated from the other
    end
    PaddingValue: what CONSTANT adds; without its fraction where the type is an integer
    DimensionCount: how many StartPadding and EndPadding there are
    StartPadding: how many elements to add before, per dimension
    EndPadding: how many elements to add behind, per dimension
    """

def PADDING1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    PaddingMode: _PADDING_MODE,
    PaddingValueDataType: _TENSOR_DATA_TYPE,
    PaddingValue: float,
    DimensionCount: int,
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """Adds elements before and behind those of the input along each dimension.

    InputTensor: what is surrounded
    OutputTensor: the elements of InputTensor with the padding around them
    PaddingMode: PaddingValue, the edge repeated, mirrored without or with the edge, or repeated from the other
    end
    PaddingValueDataType: how PaddingValue is to be read
    PaddingValue: what CONSTANT adds
    DimensionCount: how many StartPadding and EndPadding there are
    StartPadding: how many elements to add before, per dimension
    EndPadding: how many elements to add behind, per dimension
    """

def QUANTIZE(
    *,
    InputTensor: TensorDesc,
    QuantizationType: _QUANTIZATION_TYPE,
    QuantizationTensorCount: int,
    QuantizationTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Quantizes to 8 or 4 bits, with one scale, and perhaps a zero point, per element or block of elements.

    InputTensor: the values
    QuantizationType: which QuantizationTensors there are
    QuantizationTensorCount: how many QuantizationTensors there are
    QuantizationTensors: the scales, then the zero points if there are any
    OutputTensor: one result per element of InputTensor
    """

def QUANTIZED_LINEAR_AVERAGE_POOLING(
    *,
    InputTensor: TensorDesc,
    InputScaleTensor: TensorDesc,
    InputZeroPointTensor: TensorDesc | None = None,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    Dilations: list[int],
    IncludePadding: bool,
) -> Descriptor:
    """Dequantizes InputTensor, takes the mean under a window, which may be dilated, that slides over the spatial
    dimensions, and quantizes it, clamp(round(mean / output scale) + output zero point, Min, Max) with the limits
    of the output's type.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width, quantized
    InputScaleTensor: the scale of InputTensor, one or one per channel
    InputZeroPointTensor: the zero point of InputTensor, one or one per channel
    OutputScaleTensor: the scale of OutputTensor, one or one per channel
    OutputZeroPointTensor: the zero point of OutputTensor, one or one per channel
    OutputTensor: one result per window, quantized, its dimensions in the same order
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from window to window
    WindowSize: per spatial dimension, the elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    Dilations: per spatial dimension, the step between elements of the window
    IncludePadding: whether padding counts in the divisor of the mean
    """

def QUANTIZED_LINEAR_CONVOLUTION(
    *,
    InputTensor: TensorDesc,
    InputScaleTensor: TensorDesc,
    InputZeroPointTensor: TensorDesc | None = None,
    FilterTensor: TensorDesc,
    FilterScaleTensor: TensorDesc,
    FilterZeroPointTensor: TensorDesc | None = None,
    BiasTensor: TensorDesc | None = None,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    Dilations: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
    GroupCount: int,
) -> Descriptor:
    """Dequantizes InputTensor and FilterTensor, convolves them forward and in groups, adds a bias per channel and
    quantizes the results, clamp(round(result / output scale) + output zero point, Min, Max) with the limits of
    the output's type.

    InputTensor: batch, channel, then 1 or 2 spatial dimensions, quantized
    InputScaleTensor: the one scale of InputTensor; 0 is undefined behaviour
    InputZeroPointTensor: the one zero point of InputTensor; 0 if absent
    FilterTensor: filter, channel within a group, then the spatial dimensions, quantized
    FilterScaleTensor: the scale of FilterTensor, one or one per filter; 0 is undefined behaviour
    FilterZeroPointTensor: the zero point of FilterTensor, one or one per filter; 0 if absent
    BiasTensor: one summand per channel of OutputTensor
    OutputScaleTensor: the one scale of OutputTensor; 0 is undefined behaviour
    OutputZeroPointTensor: the one zero point of OutputTensor; 0 if absent
    OutputTensor: batch, channel, then the spatial dimensions, quantized
    DimensionCount: how many spatial dimensions there are
    Strides: per spatial dimension, the step from place to place of the filter
    Dilations: per spatial dimension, the step between elements of the filter
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    GroupCount: into how many separate convolutions the channels are divided
    """

def QUANTIZED_LINEAR_MATRIX_MULTIPLY(
    *,
    ATensor: TensorDesc,
    AScaleTensor: TensorDesc,
    AZeroPointTensor: TensorDesc | None = None,
    BTensor: TensorDesc,
    BScaleTensor: TensorDesc,
    BZeroPointTensor: TensorDesc | None = None,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor:
    """Dequantizes ATensor and BTensor, multiplies them matrix by matrix and quantizes the products,
    clamp(round(product / output scale) + output zero point, Min, Max) with the limits of the output's type.

    ATensor: matrices of M by K, quantized
    AScaleTensor: the scale of ATensor, one or one per row; 0 is undefined behaviour
    AZeroPointTensor: the zero point of ATensor, one or one per row; 0 if absent
    BTensor: matrices of K by N, quantized
    BScaleTensor: the scale of BTensor, one or one per column; 0 is undefined behaviour
    BZeroPointTensor: the zero point of BTensor, one or one per column; 0 if absent
    OutputScaleTensor: the scale of OutputTensor, one or one per row; 0 is undefined behaviour
    OutputZeroPointTensor: the zero point of OutputTensor, one or one per row; 0 if absent
    OutputTensor: matrices of M by N, quantized
    """

def RANDOM_GENERATOR(
    *,
    InputStateTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputStateTensor: TensorDesc | None = None,
    Type: _RANDOM_GENERATOR_TYPE,
) -> Descriptor:
    """Fills OutputTensor with pseudo-random bits that depend on the state alone, by Philox 4x32-10, and gives the
    next state.

    InputStateTensor: a counter of 128 bits in four elements, then a key of 64 bits in two
    OutputTensor: the bits, of any size
    OutputStateTensor: the state with its counter raised by a quarter of OutputTensor's elements, rounded up
    Type: the algorithm
    """

def REDUCE(
    *,
    Function: _REDUCE_FUNCTION,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor:
    """Reduces all the elements that differ only along Axes to one, by the Function.

    Function: how elements become one; ARGMAX and ARGMIN give indices
    InputTensor: the elements to reduce
    OutputTensor: one result per group of elements that differ only along Axes
    AxisCount: how many Axes there are
    Axes: the dimensions that are reduced
    """

def RESAMPLE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    ScaleCount: int,
    Scales: list[float],
) -> Descriptor:
    """A tensor enlarged or reduced along any of its dimensions, with the pixels' centres in the middle.

    InputTensor: the elements to resample
    OutputTensor: the elements at the new places
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    ScaleCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    """

def RESAMPLE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor:
    """A tensor enlarged or reduced along any of its dimensions, output place = (input place + InputPixelOffsets) *
    Scales + OutputPixelOffsets.

    InputTensor: the elements to resample
    OutputTensor: the elements at the new places
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    DimensionCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    InputPixelOffsets: per dimension, what is added to a place in the input before scaling
    OutputPixelOffsets: per dimension, what is added to the scaled place
    """

def RESAMPLE2(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    RoundingDirection: _AXIS_DIRECTION,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor:
    """A tensor enlarged or reduced along any of its dimensions, output place = (input place + InputPixelOffsets) *
    Scales + OutputPixelOffsets, with places between two elements rounded up or down.

    InputTensor: the elements to resample
    OutputTensor: the elements at the new places
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    RoundingDirection: whether NEAREST_NEIGHBOR takes the element above a place between two, or the one below
    DimensionCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    InputPixelOffsets: per dimension, what is added to a place in the input before scaling
    OutputPixelOffsets: per dimension, what is added to the scaled place
    """

def RESAMPLE3(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    RoundingDirection: _AXIS_DIRECTION,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
    Antialiased: bool,
) -> Descriptor:
    """A tensor enlarged or reduced along any of its dimensions, output place = (input place + InputPixelOffsets) *
    Scales + OutputPixelOffsets, with places between two elements rounded up or down, and on request without
    aliasing.

    InputTensor: the elements to resample
    OutputTensor: the elements at the new places
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    RoundingDirection: whether NEAREST_NEIGHBOR takes the element above a place between two, or the one below
    DimensionCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    InputPixelOffsets: per dimension, what is added to a place in the input before scaling
    OutputPixelOffsets: per dimension, what is added to the scaled place
    Antialiased: whether LINEAR takes in more elements where it reduces, max(1, 1 / scale) times as far
    """

def RESAMPLE_GRAD(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor:
    """The gradient of RESAMPLE1, each incoming gradient, weighted as the forward pass weighted the elements it read,
    added to them.

    InputGradientTensor: the gradient of the layer that comes after, with the sizes of the forward pass's output
    OutputGradientTensor: the gradient with respect to the forward pass's input, with its sizes
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    DimensionCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    InputPixelOffsets: per dimension, what is added to a place in the input before scaling
    OutputPixelOffsets: per dimension, what is added to the scaled place
    """

def RESAMPLE_GRAD1(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    RoundingDirection: _AXIS_DIRECTION,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor:
    """The gradient of RESAMPLE2, each incoming gradient, weighted as the forward pass weighted the elements it read,
    added to them.

    InputGradientTensor: the gradient of the layer that comes after, with the sizes of the forward pass's output
    OutputGradientTensor: the gradient with respect to the forward pass's input, with its sizes
    InterpolationMode: the element nearest to the place, or the weighted mean of 2 along every dimension
    RoundingDirection: whether NEAREST_NEIGHBOR takes the element above a place between two, or the one below
    DimensionCount: how many dimensions the tensors have
    Scales: per dimension, the factor from places in the input to places in the output
    InputPixelOffsets: per dimension, what is added to a place in the input before scaling
    OutputPixelOffsets: per dimension, what is added to the scaled place
    """

def REVERSE_SUBSEQUENCES(
    *,
    InputTensor: TensorDesc,
    SequenceLengthsTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor:
    """Along Axis the first elements of each sequence in reverse order, as many as its length says, and the others as
    they are.

    InputTensor: the elements to reverse
    SequenceLengthsTensor: per sequence, how many elements to reverse; more than there are means all
    OutputTensor: one element per element of InputTensor
    Axis: the dimension of the sequences
    """

def RNN(
    *,
    InputTensor: TensorDesc,
    WeightTensor: TensorDesc,
    RecurrenceTensor: TensorDesc,
    BiasTensor: TensorDesc | None = None,
    HiddenInitTensor: TensorDesc | None = None,
    SequenceLengthsTensor: TensorDesc | None = None,
    OutputSequenceTensor: TensorDesc | None = None,
    OutputSingleTensor: TensorDesc | None = None,
    ActivationDescCount: int,
    ActivationDescs: list[Descriptor],
    Direction: _RECURRENT_NETWORK_DIRECTION,
) -> Descriptor:
    """One layer of a simple recurrent network over sequences, forward, backward or both.

    InputTensor: X, of 1, sequence, batch and input elements
    WeightTensor: W, of 1, directions, the input gate, and input elements
    RecurrenceTensor: R, of 1, directions, the input gate, and hidden elements
    BiasTensor: the biases of W, then those of R; zeros if absent
    HiddenInitTensor: H before the first step; zeros if absent
    SequenceLengthsTensor: the length of each sequence of the batch; all of it if absent
    OutputSequenceTensor: H after every step
    OutputSingleTensor: H after the last step
    ActivationDescCount: how many ActivationDescs there are
    ActivationDescs: the activations f, without tensors of their own; those of the forward direction, then those
    of the backward one
    Direction: in which order the steps are taken
    """

def ROI_ALIGN(
    *,
    InputTensor: TensorDesc,
    ROITensor: TensorDesc,
    BatchIndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ReductionFunction: _REDUCE_FUNCTION,
    InterpolationMode: _INTERPOLATION_MODE,
    SpatialScaleX: float,
    SpatialScaleY: float,
    OutOfBoundsInputValue: float,
    MinimumSamplesPerOutput: int,
    MaximumSamplesPerOutput: int,
) -> Descriptor:
    """Regions of an image, each resized to the height and width of OutputTensor.

    InputTensor: batch, channel, height, width
    ROITensor: per region x1, y1, x2 and y2
    BatchIndicesTensor: per region the index of its image in InputTensor
    OutputTensor: region, channel, height, width
    ReductionFunction: how the samples of an element become one, AVERAGE or MAX
    InterpolationMode: the element nearest to the sample, or the weighted mean of 2 in height by 2 in width
    SpatialScaleX: the factor from x in ROITensor to x in InputTensor
    SpatialScaleY: the factor from y in ROITensor to y in InputTensor
    OutOfBoundsInputValue: what is read outside of InputTensor
    MinimumSamplesPerOutput: the fewest samples of an element along a dimension
    MaximumSamplesPerOutput: the most samples of an element along a dimension
    """

def ROI_ALIGN1(
    *,
    InputTensor: TensorDesc,
    ROITensor: TensorDesc,
    BatchIndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ReductionFunction: _REDUCE_FUNCTION,
    InterpolationMode: _INTERPOLATION_MODE,
    SpatialScaleX: float,
    SpatialScaleY: float,
    InputPixelOffset: float,
    OutputPixelOffset: float,
    OutOfBoundsInputValue: float,
    MinimumSamplesPerOutput: int,
    MaximumSamplesPerOutput: int,
    AlignRegionsToCorners: bool,
) -> Descriptor:
    """Regions of an image, each resized to the height and width of OutputTensor, with the pixels' centres given.

    InputTensor: batch, channel, height, width
    ROITensor: per region x1, y1, x2 and y2
    BatchIndicesTensor: per region the index of its image in InputTensor
    OutputTensor: region, channel, height, width
    ReductionFunction: how the samples of an element become one, AVERAGE or MAX
    InterpolationMode: the element nearest to the sample, or the weighted mean of 2 in height by 2 in width
    SpatialScaleX: the factor from x in ROITensor to x in InputTensor
    SpatialScaleY: the factor from y in ROITensor to y in InputTensor
    InputPixelOffset: where a pixel of the input has its centre; 0.5 is the middle, 0 its corner
    OutputPixelOffset: the same of the output, negative; -0.5 is the middle, 0 its corner
    OutOfBoundsInputValue: what is read outside of InputTensor
    MinimumSamplesPerOutput: the fewest samples of an element along a dimension
    MaximumSamplesPerOutput: the most samples of an element along a dimension
    AlignRegionsToCorners: whether samples reach the corners of a region instead of keeping even distances
    """

def ROI_ALIGN_GRAD(
    *,
    InputTensor: TensorDesc | None = None,
    InputGradientTensor: TensorDesc,
    ROITensor: TensorDesc,
    BatchIndicesTensor: TensorDesc,
    OutputGradientTensor: TensorDesc | None = None,
    OutputROIGradientTensor: TensorDesc | None = None,
    ReductionFunction: _REDUCE_FUNCTION,
    InterpolationMode: _INTERPOLATION_MODE,
    SpatialScaleX: float,
    SpatialScaleY: float,
    InputPixelOffset: float,
    OutputPixelOffset: float,
    MinimumSamplesPerOutput: int,
    MaximumSamplesPerOutput: int,
    AlignRegionsToCorners: bool,
) -> Descriptor:
    """The gradients of ROI_ALIGN and ROI_ALIGN1 with respect to the image, to the regions, or to both.

    InputTensor: batch, channel, height, width, as in the forward pass; needed for regions and for MAX
    InputGradientTensor: region, channel, height, width: the gradient of the layer that comes after
    ROITensor: per region x1, y1, x2 and y2
    BatchIndicesTensor: per region the index of its image
    OutputGradientTensor: the gradient with respect to InputTensor
    OutputROIGradientTensor: the gradient with respect to ROITensor
    ReductionFunction: how the samples of an element become one, AVERAGE or MAX
    InterpolationMode: the element nearest to the sample, or the weighted mean of 2 in height by 2 in width
    SpatialScaleX: the factor from x in ROITensor to x in InputTensor
    SpatialScaleY: the factor from y in ROITensor to y in InputTensor
    InputPixelOffset: where a pixel of the input has its centre; 0.5 is the middle, 0 its corner
    OutputPixelOffset: the same of the output, negative; -0.5 is the middle, 0 its corner
    MinimumSamplesPerOutput: the fewest samples of an element along a dimension
    MaximumSamplesPerOutput: the most samples of an element along a dimension
    AlignRegionsToCorners: whether samples reach the corners of a region instead of keeping even distances
    """

def ROI_POOLING(
    *,
    InputTensor: TensorDesc,
    ROITensor: TensorDesc,
    OutputTensor: TensorDesc,
    SpatialScale: float,
    PooledSize: Size2D,
) -> Descriptor:
    """Regions of an image, each divided into PooledSize cells; the largest element of each is taken.

    InputTensor: batch, channel, height, width
    ROITensor: per region the batch index, x1, y1, x2 and y2; corners are part of the region
    OutputTensor: region, channel, height, width
    SpatialScale: the factor from coordinates in ROITensor to those of InputTensor
    PooledSize: the Width and Height of each region in OutputTensor
    """

def SCATTER(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    UpdatesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor:
    """A copy of the input in which each update is put at its own place, but along Axis at its index.

    InputTensor: what is copied
    IndicesTensor: where along Axis each update goes; negative ones of a signed type count from the end from 3.0
    on
    UpdatesTensor: the new elements
    OutputTensor: the copy with the updates
    Axis: the dimension that the indices count along
    """

def SCATTER_ND(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    UpdatesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
) -> Descriptor:
    """A copy of the input in which each tuple of coordinates puts an update over the element or block that it leads
    to.

    InputTensor: what is copied
    IndicesTensor: tuples of coordinates along the last dimension; negative ones of a signed type count from the
    end from 3.0 on
    UpdatesTensor: the new element or block of each tuple
    OutputTensor: the copy with the updates
    InputDimensionCount: how many of the last dimensions of InputTensor count
    IndicesDimensionCount: how many of the last dimensions of IndicesTensor count
    """

def SLICE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Offsets: list[int],
    Sizes: list[int],
    Strides: list[int],
) -> Descriptor:
    """Copies the elements from Offsets on, every Strides-th along each dimension, Sizes of them.

    InputTensor: what is read
    OutputTensor: the elements copied
    DimensionCount: how many Offsets, Sizes and Strides there are
    Offsets: the first element copied, per dimension
    Sizes: how many elements are copied, per dimension
    Strides: the step from each element copied to the next, per dimension
    """

def SLICE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    InputWindowOffsets: list[int],
    InputWindowSizes: list[int],
    InputWindowStrides: list[int],
) -> Descriptor:
    """Copies elements of a window of the input, from its beginning or, along dimensions with a negative stride, from
    its end.

    InputTensor: what is read
    OutputTensor: the elements copied; it may take fewer than the window has
    DimensionCount: how many offsets, sizes and strides there are
    InputWindowOffsets: where the window begins, per dimension
    InputWindowSizes: how far the window reaches, per dimension
    InputWindowStrides: the step from each element to the next; negative ones go from the window's end to its
    beginning
    """

def SLICE_GRAD(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    DimensionCount: int,
    InputWindowOffsets: list[int],
    InputWindowSizes: list[int],
    InputWindowStrides: list[int],
) -> Descriptor:
    """Puts each incoming gradient where SLICE1 copied its element from, and 0 elsewhere.

    InputGradientTensor: the incoming gradient, of what SLICE1 copied
    OutputGradientTensor: the gradient by the input of SLICE1; 0 where nothing was copied
    DimensionCount: how many offsets, sizes and strides there are
    InputWindowOffsets: where the window begins, per dimension
    InputWindowSizes: how far the window reaches, per dimension
    InputWindowStrides: the step from each element to the next; negative ones go from the window's end to its
    beginning
    """

def SPACE_TO_DEPTH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
) -> Descriptor:
    """Moves the places of each block of height and width into the channels.

    InputTensor: batch, channel, height, width
    OutputTensor: the same elements, its dimensions in the same order
    BlockSize: height and width of a block
    """

def SPACE_TO_DEPTH1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
    Order: _DEPTH_SPACE_ORDER,
) -> Descriptor:
    """Moves the places of each block of height and width into the channels.

    InputTensor: batch, channel, height, width
    OutputTensor: the same elements, its dimensions in the same order
    BlockSize: height and width of a block
    Order: whether the place in the block or the channel runs slower in the depth
    """

def SPLIT(
    *,
    InputTensor: TensorDesc,
    OutputCount: int,
    OutputTensors: list[TensorDesc],
    Axis: int,
) -> Descriptor:
    """Cuts a tensor along Axis into consecutive parts.

    InputTensor: what is cut
    OutputCount: how many OutputTensors there are
    OutputTensors: the parts in their order
    Axis: the dimension that is cut
    """

def TILE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    RepeatsCount: int,
    Repeats: list[int],
) -> Descriptor:
    """Repeats the input as a whole along each dimension.

    InputTensor: what is repeated
    OutputTensor: the repetitions
    RepeatsCount: how many Repeats there are
    Repeats: how many copies, per dimension
    """

def TOP_K(
    *,
    InputTensor: TensorDesc,
    OutputValueTensor: TensorDesc,
    OutputIndexTensor: TensorDesc,
    Axis: int,
    K: int,
) -> Descriptor:
    """The K largest elements of each sequence along Axis, sorted, and where they stood.

    InputTensor: what is searched
    OutputValueTensor: the elements found, the largest first
    OutputIndexTensor: their places in their sequences; of equal elements the earlier comes first
    Axis: the dimension of the sequences
    K: how many elements to find
    """

def TOP_K1(
    *,
    InputTensor: TensorDesc,
    OutputValueTensor: TensorDesc,
    OutputIndexTensor: TensorDesc,
    Axis: int,
    K: int,
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor:
    """The K largest or smallest elements of each sequence along Axis, sorted, and where they stood.

    InputTensor: what is searched
    OutputValueTensor: the elements found, in the order of AxisDirection
    OutputIndexTensor: their places in their sequences; of equal elements the earlier comes first
    Axis: the dimension of the sequences
    K: how many elements to find
    AxisDirection: the smallest in rising order or the largest in falling order
    """

def UNFOLD(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    WindowSizes: list[int],
    Strides: list[int],
    Dilations: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor:
    """The windows that slide over the spatial dimensions, each written as a column.

    InputTensor: batch, channel, 1 to 6 spatial dimensions
    OutputTensor: batch, the elements of a window with their channels, windows
    DimensionCount: how many spatial dimensions there are
    WindowSizes: per spatial dimension, the elements of the window
    Strides: per spatial dimension, the step from window to window
    Dilations: per spatial dimension, the step between elements of the window
    StartPadding: per spatial dimension, the padding before the first element
    EndPadding: per spatial dimension, the padding behind the last element
    """

def UPSAMPLE_2D(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleSize: Size2D,
    InterpolationMode: _INTERPOLATION_MODE,
) -> Descriptor:
    """An image enlarged by whole numbers in height and width, by the nearest element or bilinearly.

    InputTensor: batch, channel, depth if there are 5 dimensions, height, width
    OutputTensor: the enlarged image, its dimensions in the same order
    ScaleSize: the factors of Width and Height
    InterpolationMode: the element nearest to the pixel's centre, or the weighted mean of 2 in height by 2 in
    width
    """

def VALUE_SCALE_2D(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Scale: float,
    ChannelCount: int,
    Bias: list[float],
) -> Descriptor:
    """Scale * x + Bias, with a bias of its own for each channel.

    InputTensor: batch, channel, height, width
    OutputTensor: one result per element of InputTensor
    Scale: the factor of every element
    ChannelCount: how many channels, and biases, there are
    Bias: the summand of each channel
    """
