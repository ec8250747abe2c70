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
) -> Descriptor: ...
def ACTIVATION_ELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor: ...
def ACTIVATION_GELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_HARDMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_HARDMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor: ...
def ACTIVATION_HARD_SIGMOID(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor: ...
def ACTIVATION_HARD_SWISH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor: ...
def ACTIVATION_IDENTITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_LEAKY_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor: ...
def ACTIVATION_LINEAR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor: ...
def ACTIVATION_LOG_SOFTMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_LOG_SOFTMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor: ...
def ACTIVATION_PARAMETERIZED_RELU(
    *,
    InputTensor: TensorDesc,
    SlopeTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_PARAMETRIC_SOFTPLUS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor: ...
def ACTIVATION_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_RELU_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_SCALED_ELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Gamma: float,
) -> Descriptor: ...
def ACTIVATION_SCALED_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
    Beta: float,
) -> Descriptor: ...
def ACTIVATION_SHRINK(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Bias: float,
    Threshold: float,
) -> Descriptor: ...
def ACTIVATION_SIGMOID(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_SOFTMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_SOFTMAX1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor: ...
def ACTIVATION_SOFTPLUS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Steepness: float,
) -> Descriptor: ...
def ACTIVATION_SOFTSIGN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_SWISH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    SigmoidInputScale: float,
) -> Descriptor: ...
def ACTIVATION_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ACTIVATION_THRESHOLDED_RELU(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Alpha: float,
) -> Descriptor: ...
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
) -> Descriptor: ...
def ARGMAX(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor: ...
def ARGMIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def CAST(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def CUMULATIVE_PRODUCT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    AxisDirection: _AXIS_DIRECTION,
    HasExclusiveProduct: bool,
) -> Descriptor: ...
def CUMULATIVE_SUMMATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    AxisDirection: _AXIS_DIRECTION,
    HasExclusiveSum: bool,
) -> Descriptor: ...
def DEPTH_TO_SPACE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
) -> Descriptor: ...
def DEPTH_TO_SPACE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
    Order: _DEPTH_SPACE_ORDER,
) -> Descriptor: ...
def DEQUANTIZE(
    *,
    InputTensor: TensorDesc,
    QuantizationType: _QUANTIZATION_TYPE,
    QuantizationTensorCount: int,
    QuantizationTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def DIAGONAL_MATRIX(
    *,
    OutputTensor: TensorDesc,
    Offset: int,
    Value: float,
) -> Descriptor: ...
def DIAGONAL_MATRIX1(
    *,
    InputTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    Value: float,
    DiagonalFillBegin: int,
    DiagonalFillEnd: int,
) -> Descriptor: ...
def DYNAMIC_QUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputScaleTensor: TensorDesc,
    OutputZeroPointTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_ABS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ACOS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ACOSH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ADD(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_ADD1(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
    FusedActivation: Descriptor | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ASIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ASINH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ATAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ATANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ATAN_YX(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_AND(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_COUNT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_NOT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_OR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_SHIFT_LEFT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_SHIFT_RIGHT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_BIT_XOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_CEIL(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_CLIP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Min: float,
    Max: float,
) -> Descriptor: ...
def ELEMENT_WISE_CLIP1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    MinMaxDataType: _TENSOR_DATA_TYPE,
    Min: float,
    Max: float,
) -> Descriptor: ...
def ELEMENT_WISE_CLIP_GRAD(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    Min: float,
    Max: float,
) -> Descriptor: ...
def ELEMENT_WISE_CLIP_GRAD1(
    *,
    InputTensor: TensorDesc,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    MinMaxDataType: _TENSOR_DATA_TYPE,
    Min: float,
    Max: float,
) -> Descriptor: ...
def ELEMENT_WISE_CONSTANT_POW(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Exponent: float,
) -> Descriptor: ...
def ELEMENT_WISE_COS(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_COSH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_DEQUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    ZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_DIFFERENCE_SQUARE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_DIVIDE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_ERF(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_EXP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_FLOOR(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_IDENTITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_IF(
    *,
    ConditionTensor: TensorDesc,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_IS_INFINITY(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InfinityMode: _IS_INFINITY_MODE,
) -> Descriptor: ...
def ELEMENT_WISE_IS_NAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOG(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_AND(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_EQUALS(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_GREATER_THAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_LESS_THAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_NOT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_OR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_LOGICAL_XOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MAX(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MEAN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MIN(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MODULUS_FLOOR(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MODULUS_TRUNCATE(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_MULTIPLY(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_NEGATE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_POW(
    *,
    InputTensor: TensorDesc,
    ExponentTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
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
) -> Descriptor: ...
def ELEMENT_WISE_QUANTIZE_LINEAR(
    *,
    InputTensor: TensorDesc,
    ScaleTensor: TensorDesc,
    ZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_RECIP(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_ROUND(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    RoundingMode: _ROUNDING_MODE,
) -> Descriptor: ...
def ELEMENT_WISE_SIGN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_SIN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_SINH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_SQRT(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_SUBTRACT(
    *,
    ATensor: TensorDesc,
    BTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
def ELEMENT_WISE_TAN(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_TANH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
) -> Descriptor: ...
def ELEMENT_WISE_THRESHOLD(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleBias: ScaleBias | None = None,
    Min: float,
) -> Descriptor: ...
def FILL_VALUE_CONSTANT(
    *,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    Value: float,
) -> Descriptor: ...
def FILL_VALUE_SEQUENCE(
    *,
    OutputTensor: TensorDesc,
    ValueDataType: _TENSOR_DATA_TYPE,
    ValueStart: float,
    ValueDelta: float,
) -> Descriptor: ...
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
) -> Descriptor: ...
def GATHER(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    IndexDimensions: int,
) -> Descriptor: ...
def GATHER_ELEMENTS(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
def GATHER_ND(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
) -> Descriptor: ...
def GATHER_ND1(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
    BatchDimensionCount: int,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def JOIN(
    *,
    InputCount: int,
    InputTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
def LOCAL_RESPONSE_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    CrossChannel: bool,
    LocalSize: int,
    Alpha: float,
    Beta: float,
    Bias: float,
) -> Descriptor: ...
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
) -> Descriptor: ...
def LP_NORMALIZATION(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
    Epsilon: float,
    P: int,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def MATRIX_MULTIPLY_INTEGER(
    *,
    ATensor: TensorDesc,
    AZeroPointTensor: TensorDesc | None = None,
    BTensor: TensorDesc,
    BZeroPointTensor: TensorDesc | None = None,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
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
) -> Descriptor: ...
def MAX_POOLING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Strides: list[int],
    WindowSize: list[int],
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def MAX_UNPOOLING(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    OutputTensor: TensorDesc,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def NONZERO_COORDINATES(
    *,
    InputTensor: TensorDesc,
    OutputCountTensor: TensorDesc,
    OutputCoordinatesTensor: TensorDesc,
) -> Descriptor: ...
def ONE_HOT(
    *,
    IndicesTensor: TensorDesc,
    ValuesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
def PADDING(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    PaddingMode: _PADDING_MODE,
    PaddingValue: float,
    DimensionCount: int,
    StartPadding: list[int],
    EndPadding: list[int],
) -> Descriptor: ...
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
) -> Descriptor: ...
def QUANTIZE(
    *,
    InputTensor: TensorDesc,
    QuantizationType: _QUANTIZATION_TYPE,
    QuantizationTensorCount: int,
    QuantizationTensors: list[TensorDesc],
    OutputTensor: TensorDesc,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def RANDOM_GENERATOR(
    *,
    InputStateTensor: TensorDesc,
    OutputTensor: TensorDesc,
    OutputStateTensor: TensorDesc | None = None,
    Type: _RANDOM_GENERATOR_TYPE,
) -> Descriptor: ...
def REDUCE(
    *,
    Function: _REDUCE_FUNCTION,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    AxisCount: int,
    Axes: list[int],
) -> Descriptor: ...
def RESAMPLE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    ScaleCount: int,
    Scales: list[float],
) -> Descriptor: ...
def RESAMPLE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def RESAMPLE_GRAD(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    InterpolationMode: _INTERPOLATION_MODE,
    DimensionCount: int,
    Scales: list[float],
    InputPixelOffsets: list[float],
    OutputPixelOffsets: list[float],
) -> Descriptor: ...
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
) -> Descriptor: ...
def REVERSE_SUBSEQUENCES(
    *,
    InputTensor: TensorDesc,
    SequenceLengthsTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
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
) -> Descriptor: ...
def ROI_POOLING(
    *,
    InputTensor: TensorDesc,
    ROITensor: TensorDesc,
    OutputTensor: TensorDesc,
    SpatialScale: float,
    PooledSize: Size2D,
) -> Descriptor: ...
def SCATTER(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    UpdatesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Axis: int,
) -> Descriptor: ...
def SCATTER_ND(
    *,
    InputTensor: TensorDesc,
    IndicesTensor: TensorDesc,
    UpdatesTensor: TensorDesc,
    OutputTensor: TensorDesc,
    InputDimensionCount: int,
    IndicesDimensionCount: int,
) -> Descriptor: ...
def SLICE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    Offsets: list[int],
    Sizes: list[int],
    Strides: list[int],
) -> Descriptor: ...
def SLICE1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    DimensionCount: int,
    InputWindowOffsets: list[int],
    InputWindowSizes: list[int],
    InputWindowStrides: list[int],
) -> Descriptor: ...
def SLICE_GRAD(
    *,
    InputGradientTensor: TensorDesc,
    OutputGradientTensor: TensorDesc,
    DimensionCount: int,
    InputWindowOffsets: list[int],
    InputWindowSizes: list[int],
    InputWindowStrides: list[int],
) -> Descriptor: ...
def SPACE_TO_DEPTH(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
) -> Descriptor: ...
def SPACE_TO_DEPTH1(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    BlockSize: int,
    Order: _DEPTH_SPACE_ORDER,
) -> Descriptor: ...
def SPLIT(
    *,
    InputTensor: TensorDesc,
    OutputCount: int,
    OutputTensors: list[TensorDesc],
    Axis: int,
) -> Descriptor: ...
def TILE(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    RepeatsCount: int,
    Repeats: list[int],
) -> Descriptor: ...
def TOP_K(
    *,
    InputTensor: TensorDesc,
    OutputValueTensor: TensorDesc,
    OutputIndexTensor: TensorDesc,
    Axis: int,
    K: int,
) -> Descriptor: ...
def TOP_K1(
    *,
    InputTensor: TensorDesc,
    OutputValueTensor: TensorDesc,
    OutputIndexTensor: TensorDesc,
    Axis: int,
    K: int,
    AxisDirection: _AXIS_DIRECTION,
) -> Descriptor: ...
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
) -> Descriptor: ...
def UPSAMPLE_2D(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    ScaleSize: Size2D,
    InterpolationMode: _INTERPOLATION_MODE,
) -> Descriptor: ...
def VALUE_SCALE_2D(
    *,
    InputTensor: TensorDesc,
    OutputTensor: TensorDesc,
    Scale: float,
    ChannelCount: int,
    Bias: list[float],
) -> Descriptor: ...
