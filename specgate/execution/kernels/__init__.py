"""Kernel registry: kernel name to the module that defines the function."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import NoKernel

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_PACKAGE: Final = "specgate.execution.kernels"
_MODULES: Final[dict[str, tuple[str, ...]]] = {
    "activation": (
        "celu", "celu_of_any", "clamp", "clip", "clip_gradient", "elu", "gelu", "hard_sigmoid",
        "hard_sigmoid_by_tensors", "hard_swish", "clip_between", "leaky_relu", "linear", "mish",
        "parametric_softplus", "prelu", "prelu_of_channels", "threshold_to", "relu", "relu_by_product", "relu_gradient",
        "scaled_elu", "scaled_elu_by_tensors", "scaled_tanh", "shrink", "sigmoid", "softplus", "softsign", "swish",
        "swish_by_tensor", "thresholded_relu",
    ),
    "adaptive_pool": ("adaptive_max_pool", "adaptive_avg_pool", "extract_image_patches"),
    "attention": (
        "attend", "linear_attention", "flex_attention", "attention", "causal_conv_with_state",
        "scaled_dot_product_attention",
    ),
    "cast": ("cast", "cast_elements", "convert", "convert_promote_types", "bit_cast"),
    "contrib_attention": (
        "projected_attention", "group_query_attention", "multi_head_attention", "quantized_attention",
        "rotary_embedding_heads",
    ),
    "conv": (
        "convolution", "convolve", "conv_transpose", "binary_convolution", "group_convolution",
        "convolution_backprop_data",
    ),
    "detection": (
        "region_yolo", "top_k_rois", "prior_box_clustered", "prior_box", "prior_grid",
        "reorg_yolo", "detection_output", "roi_feature_extractor", "proposal", "generate_proposals_single_image",
        "generate_proposals", "detectron_detection_output",
    ),
    "elementwise": (
        "absolute", "add", "fused_add", "arccos", "arccosh", "arccosh_from_logarithm", "arcsin", "arcsinh",
        "arcsinh_from_logarithm", "arctan", "arctan2", "arctan_of_nan_as_one", "arctanh", "average", "bit_count",
        "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "cos", "cosh", "cosh_from_exponentials",
        "squared_difference", "divide", "equal", "erf", "exp", "floor", "greater", "greater_equal", "identity",
        "erf_inv", "is_finite", "is_infinite", "is_not_a_number", "left_shift", "less", "less_equal",
        "log", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "maximum_of_all", "mean_of_all",
        "minimum", "minimum_of_all", "multiply", "negative", "not_equal", "power", "power_by_logarithm",
        "power_to_constant", "quotient", "reciprocal", "remainder", "right_shift", "round_to_integer", "select",
        "shift", "sign", "sin", "sinh", "sinh_from_exponentials", "sqrt", "subtract", "sum_of_all", "tan", "tanh",
    ),
    "ml_features": (
        "array_feature_extractor", "normalize_rows", "binarizer", "feature_vectorizer", "label_encoder",
        "category_mapper", "zip_map",
        "one_hot_encoder", "imputer", "cast_map", "scaler", "dict_vectorizer",
    ),
    "fft": (
        "dft_complex", "cosine_window", "rdft", "irdft", "mel_weight_matrix",
        "istft", "dft_along", "stft_frames", "stft_steps",
    ),
    "fill": (
        "count_elements", "eye_like", "diagonal_matrix", "diagonal_matrix_band", "fill_constant", "fill_sequence",
        "constant_of_shape", "trilu", "arange", "non_zero", "nonzero_coordinates", "shape_between",
        "stated_value",
    ),
    "fused": ("fused_conv", "fused_gemm", "bias_gelu", "fused_matmul"),
    "gather": (
        "gather_elements_along", "gather_elements_from_start", "scatter_update", "sparse_fill_empty_rows", "gather",
        "gather_elements",
        "gather_nd", "segment_max", "gather_slices", "embedding_bag_offsets", "embedding_bag_packed",
        "embedding_segments_sum", "gather_nd_slices",
        "gather_nd_batched",
    ),
    "grid_sample": (
        "col2im", "col2im_columns", "deform_conv", "grid_sample_2d", "grid_sample", "deformable_convolution",
    ),
    "images": ("yuv_to_rgb", "decode_image", "rgb_to_yuv"),
    "linear_models": ("svm_classifier", "linear_classifier", "svm_regressor", "linear_regressor"),
    "matmul": (
        "determinant", "cdist", "gemm", "matrix_inverse", "matmul", "grouped_matmul",
        "eye", "scaled_matrix_product", "einsum",
    ),
    "matmul_n_bits": (
        "matmul_n_bits", "matmul_bnb4", "dynamic_quantize_matmul", "matmul_integer_to_float", "quantized_gemm",
        "qlinear_conv_nhwc",
    ),
    "narrow_types": ("fake_convert",),
    "nms": (
        "non_max_suppression", "non_max_suppression_sorted", "multiclass_nms", "matrix_nms", "nms_rotated",
    ),
    "normalization": (
        "batch_normalization_gradient", "local_response_normalization", "local_response_normalization_gradient",
        "mvn", "batch_normalization",
        "normalize_by", "batch_normalization_training", "batch_norm_inference", "group_normalization",
        "instance_normalization",
        "layer_normalization", "mean_variance_normalization", "lrn", "normalize_l2",
        "lp_normalization", "rms_normalization", "value_scale_2d",
    ),
    "optimizer": ("adam_optimizer", "adagrad", "adam", "momentum_optimizer"),
    "pad_transpose": (
        "space_to_batch", "depth_to_space_nd", "broadcast_by", "space_to_depth_nd", "gather_along", "pad",
        "pad_between", "pad_ends", "shuffle_channels", "batch_to_space", "split_equally", "variadic_split",
        "tile_any", "transpose_by",
    ),
    "pool": (
        "average_pool", "average_pool_gradient", "average_pool_nd", "max_pool_with_index", "max_pool_nd",
        "lp_pool", "max_pool", "max_pool_gradient", "max_pool_values", "avg_pool", "lp_pool_nd",
        "global_pool", "max_unpooling",
    ),
    "quantize": (
        "dequantize_by_axis", "dequantize_in_blocks", "dequantize_linear", "fake_quantize", "quantize_by_axis",
        "quantize_by_range", "quantize_in_blocks", "quantize_linear", "dynamic_quantize_linear", "quantized_add",
    ),
    "quantized": (
        "quantized_where", "gather_block_quantized", "quantized_concat", "nhwc_max_pool",
        "quantized_global_average_pool",
        "quantized_average_pool_nd", "quantized_embed_layer_normalization", "quantized_mul", "quantized_leaky_relu",
        "quantized_sigmoid", "quantized_softmax", "qlinear_add",
    ),
    "quantized_conv_matmul": (
        "convolution_integer", "quantized_convolution", "matmul_integer", "conv_integer", "quantized_average_pool",
        "matrix_multiply_integer", "quantized_matrix_multiply", "matrix_multiply_integer_to_float", "qlinear_matmul",
        "qlinear_conv",
    ),
    "random": (
        "multinomial", "random_normal", "bernoulli", "random_uniform", "dropout", "random_generator",
        "random_uniform_seeded",
    ),
    "reduce": ("arg_reduce", "arg_reduce_dimension", "cumulate", "cumulative", "reduce", "reduce_dimensions"),
    "regex": ("regex_full_match",),
    "reshape": (
        "squeeze_ones", "expand", "flatten", "unsqueeze", "join", "squeeze", "reshape",
        "reshape_by_pattern", "reverse_sequences", "tensor_shape", "slice_between", "split", "split_along", "tile_by",
        "transpose",
    ),
    "resize": ("upsample_2d", "interpolate", "resample", "resample_gradient", "resize"),
    "rnn": (
        "gru", "gru_sequence", "gru_cell", "lstm", "lstm_sequence", "lstm_cell", "rnn", "rnn_sequence", "rnn_cell",
    ),
    "rnn_networks": ("run_gru", "run_lstm", "dynamic_quantize_lstm", "run_rnn"),
    "roi_align": ("roi_align", "roi_align_rotated", "roi_align_gradient", "roi_align_by_samples"),
    "roi_pool": ("psroi_pooling", "roi_pooling", "deformable_psroi_pooling", "max_roi_pool"),
    "rotary_embedding": ("affine_grid", "rotary_embedding", "swiglu"),
    "scatter": (
        "scatter_elements_update", "scatter_nd_update", "scatter_elements", "scatter_nd", "scatter_into",
        "scatter_nd_into",
    ),
    "sequence": (
        "empty_sequence", "optional_has_element", "optional_get_element", "make_optional", "concat_from_sequence",
        "sequence_at",
        "sequence_length", "sequence_construct", "sequence_insert", "sequence_erase", "split_to_sequence",
    ),
    "signed_halves": (
        "arg_reduce_by_halves", "greater_by_halves", "greater_equal_by_halves", "less_by_halves",
        "less_equal_by_halves", "max_pool_by_halves", "max_pool_values_by_halves", "maximum_by_halves",
        "minimum_by_halves", "place_by_halves", "reduce_by_halves", "top_k_by_halves",
    ),
    "skip_layer_norm": ("embed_layer_normalization", "simplified_layer_normalization", "skip_layer_normalization"),
    "slice": (
        "center_crop_pad", "compress", "depth_to_space", "max_unpool", "slice_gradient", "reverse_axes",
        "reverse_subsequences",
        "reverse_sequence", "roll_axes", "strided_slice", "slice_counted", "slice_window", "space_to_depth", "tile",
        "tensor_scatter", "slice_scatter",
    ),
    "softmax": (
        "ctc_greedy_decoder", "ctc_greedy_decoder_masked", "hardmax", "hardmax_along",
        "negative_log_likelihood_loss", "log_softmax",
        "log_softmax_along", "ctc_loss", "softmax", "softmax_along", "softmax_cross_entropy_loss",
    ),
    "sort": (
        "bucketize", "unique", "unique_along", "gather_tree", "search_sorted", "top_k_along", "top_k",
    ),
    "text": (
        "tfidf_vectorizer", "murmur_hash3", "string_concat", "string_normalizer", "string_split", "string_tensor_pack",
        "string_tensor_unpack",
    ),
    "tree_ensemble": ("tree_ensemble_classifier", "tree_ensemble", "tree_ensemble_regressor"),
    "window_products": ("unfold", "fold_columns"),
}  # fmt: skip
KERNELS: Final[dict[str, str]] = {
    "one_hot": "specgate.execution.kernels.fill",
    **{name: f"{_PACKAGE}.{module}" for module, names in _MODULES.items() for name in names},
}
#: Kernels that sum products of their inputs: with absolute inputs they compute the sums of the absolute products.
PRODUCT_SUM_KERNELS: Final = frozenset({
    "col2im_columns", "average_pool_nd", "convolution", "convolve", "conv_transpose", "cumulate", "gemm",
    "matmul", "avg_pool", "global_pool", "reduce_dimensions", "scaled_matrix_product", "group_convolution",
    "convolution_backprop_data", "sum_of_all", "einsum",
})  # fmt: skip
#: Kernels that sum many terms. The order is up to the implementation; it decides which partial sums overflow and how
#: much of a small term is lost next to a large one.
SUM_KERNELS: Final = frozenset({
    "col2im_columns", "grid_sample_2d",
    "roi_align", "roi_align_rotated", "attention", "average_pool", "average_pool_nd", "convolution",
    "convolve", "conv_transpose", "cumulate", "cumulative", "gemm", "gru", "gru_sequence", "gru_cell",
    "interpolate", "log_softmax",
    "log_softmax_along", "lp_pool", "lstm", "lstm_sequence", "lstm_cell", "matmul", "avg_pool",
    "adaptive_avg_pool",
    "lp_pool_nd", "mvn", "batch_normalization", "batch_norm_inference", "group_normalization",
    "instance_normalization", "layer_normalization", "mean_variance_normalization", "lrn",
    "normalize_l2", "lp_normalization", "global_pool", "reduce", "reduce_dimensions", "resample",
    "rnn", "rnn_sequence", "rnn_cell", "rms_normalization", "scaled_matrix_product", "ctc_loss",
    "group_convolution", "convolution_backprop_data",
    "softmax", "softmax_along", "embedding_bag_offsets", "embedding_bag_packed", "einsum", "embedding_segments_sum",
    "scaled_dot_product_attention",
    "dft_complex", "rdft", "irdft", "stft_frames", "matrix_inverse",
    "grouped_matmul", "matrix_multiply_integer_to_float", "istft", "deformable_convolution",
    "roi_align_gradient", "roi_align_by_samples",
    "adam_optimizer", "average_pool_gradient", "batch_normalization_gradient", "local_response_normalization",
    "local_response_normalization_gradient", "upsample_2d",
    "max_pool_gradient", "normalize_by", "batch_normalization_training", "resample_gradient", "fold_columns",
    "tree_ensemble_classifier", "svm_classifier", "linear_classifier", "normalize_rows", "tree_ensemble",
    "tree_ensemble_regressor",
    "svm_regressor", "linear_regressor",
    "col2im", "attend", "linear_attention", "flex_attention", "deform_conv", "causal_conv_with_state",
    "negative_log_likelihood_loss", "resize", "grid_sample", "softmax_cross_entropy_loss",
    "fused_conv", "fused_gemm", "projected_attention", "group_query_attention", "multi_head_attention",
    "quantized_attention",
    "rotary_embedding_heads",
    "cdist", "matmul_n_bits", "matmul_bnb4", "dynamic_quantize_matmul", "matmul_integer_to_float",
    "embed_layer_normalization", "quantized_embed_layer_normalization",
    "simplified_layer_normalization", "skip_layer_normalization", "fused_matmul",
    "determinant", "affine_grid", "run_gru", "run_lstm", "dynamic_quantize_lstm",
    "run_rnn", "dft_along", "stft_steps",
})  # fmt: skip
#: Working memory of a kernel besides its inputs, in bytes per element of its inputs and of its outputs. Listed where it
#: exceeds the default, or is low enough that large weights fit. tests/execution/test_budget.py measures all of them.
_DEFAULT_NEEDS: Final = (16.0, 32.0)
_KERNEL_NEEDS: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("gemm", "matmul", "scaled_matrix_product"), (12.0, 32.0)),
    **dict.fromkeys(("convolution", "convolve", "conv_transpose"), (24.0, 32.0)),
    **dict.fromkeys(("group_convolution", "convolution_backprop_data"), (24.0, 32.0)),
    **dict.fromkeys(("gather", "gather_along", "gather_nd", "gather_elements_along", "gather_slices",
                     "gather_nd_slices"), (4.0, 32.0)),
    **dict.fromkeys(("average_pool", "average_pool_nd", "lp_pool", "avg_pool", "lp_pool_nd"), (24.0, 32.0)),
    **dict.fromkeys(("max_pool_with_index", "max_pool_nd", "max_pool", "max_pool_values"), (24.0, 32.0)),
    **dict.fromkeys(("top_k_along", "top_k"), (28.0, 32.0)),
    "einsum": (28.0, 32.0), "one_hot": (48.0, 20.0),
    **dict.fromkeys(("roi_align", "roi_align_rotated"), (16.0, 96.0)),
    "grid_sample_2d": (16.0, 80.0), "sparse_fill_empty_rows": (96.0, 64.0),
    "non_max_suppression_sorted": (64.0, 48.0), "nms_rotated": (128.0, 96.0),
    **dict.fromkeys(("proposal", "generate_proposals_single_image", "generate_proposals"), (96.0, 64.0)),
    **dict.fromkeys(("multiclass_nms", "matrix_nms"), (112.0, 48.0)),
    "fake_quantize": (16.0, 64.0), "bias_gelu": (48.0, 48.0),
    "erf_inv": (160.0, 32.0), "power": (16.0, 64.0), "reduce_dimensions": (36.0, 32.0),
    "resample": (44.0, 44.0), "interpolate": (24.0, 40.0), "resample_gradient": (36.0, 32.0),
    "rnn": (16.0, 48.0), "rnn_cell": (16.0, 48.0), "multinomial": (32.0, 32.0), "murmur_hash3": (64.0, 32.0),
    "grid_sample": (64.0, 64.0),
    **dict.fromkeys(("convolution_integer", "quantized_convolution", "quantized_average_pool"), (64.0, 48.0)),
    **dict.fromkeys(("matrix_multiply_integer", "quantized_matrix_multiply", "matrix_multiply_integer_to_float"),
                    (32.0, 48.0)),
    **dict.fromkeys(("dequantize_in_blocks", "quantize_in_blocks"), (32.0, 32.0)),
    **dict.fromkeys(
        ("quantized_concat", "nhwc_max_pool", "quantized_global_average_pool", "quantized_average_pool_nd",
         "quantized_mul", "quantized_leaky_relu", "quantized_sigmoid", "quantized_softmax", "qlinear_add"),
        (48.0, 48.0),
    ),
    **dict.fromkeys(("scatter_into", "scatter_nd_into"), (48.0, 32.0)),
    **dict.fromkeys(("projected_attention", "group_query_attention", "multi_head_attention", "quantized_attention"),
                    (64.0, 64.0)),
    **dict.fromkeys(("dynamic_quantize_matmul", "matmul_integer_to_float", "quantized_gemm"), (32.0, 48.0)),
    "cdist": (48.0, 32.0), "matmul_n_bits": (96.0, 48.0), "qlinear_conv_nhwc": (64.0, 48.0),
    "quantize_by_range": (32.0, 32.0), "random_generator": (16.0, 96.0), "nonzero_coordinates": (24.0, 64.0),
    **dict.fromkeys(("unique", "unique_along"), (200.0, 64.0)),
    "binary_convolution": (64.0, 32.0), "deformable_convolution": (24.0, 64.0), "fake_convert": (32.0, 72.0),
    "tree_ensemble_classifier": (96.0, 96.0), "tfidf_vectorizer": (64.0, 64.0), "tree_ensemble": (64.0, 96.0),
    "tree_ensemble_regressor": (96.0, 96.0),
    "istft": (64.0, 48.0), "string_tensor_pack": (16.0, 96.0), "string_tensor_unpack": (96.0, 32.0),
}  # fmt: skip
#: Kernels that only move elements: they need memory for their output, and a little per input element.
_MOVE_KERNELS: Final = frozenset({
    "broadcast_by", "depth_to_space", "squeeze_ones", "expand", "flatten", "constant_of_shape", "unsqueeze", "join",
    "squeeze", "reshape", "reshape_by_pattern", "slice_between", "slice_counted", "slice_window",
    "space_to_depth", "split", "split_along", "split_equally", "variadic_split", "tile", "tile_any", "tile_by",
    "transpose", "transpose_by",
})  # fmt: skip
#: Arguments whose elements a kernel only moves, compares or converts. They may have any type, including the ml_dtypes
#: types of at most 8 bits, for which numpy has little arithmetic. All other arguments have numpy's own number types.
_UNTYPED_ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("space_to_batch", "depth_to_space_nd", "broadcast_by", "convert", "space_to_depth_nd", "squeeze_ones",
         "gather_elements_from_start", "gather_along", "unsqueeze", "non_zero", "reshape_by_pattern",
         "reverse_axes", "reverse_sequence", "roll_axes", "shuffle_channels", "tensor_shape", "slice_between",
         "strided_slice", "batch_to_space", "split_equally", "variadic_split", "tile_any", "transpose_by",
         "gather_nd_batched",
         "gather_elements_along", "expand", "flatten", "squeeze", "reshape", "gather_slices", "split_along",
         "tile_by", "transpose", "gather_nd_slices",
         "cast_elements", "center_crop_pad", "compress", "count_elements", "random_normal", "random_uniform",
         "trilu", "bit_cast", "shape_between"),
        ("inputs", "like"),
    ),
    **dict.fromkeys(("scatter_elements_update", "scatter_nd_update", "scatter_update", "slice_scatter"),
                    ("inputs", "updates")),
    **dict.fromkeys(("equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "select"), ("a", "b")),
    **dict.fromkeys(("unique", "extract_image_patches"), ("data",)),
    **dict.fromkeys(("is_infinite", "is_not_a_number"), ("x",)),
    "convert_promote_types": ("first", "second"), "identity": ("x",), "join": ("parts",),
    "one_hot": ("on_value", "off_value"), "pad_between": ("inputs", "value"),
    "gather_block_quantized": ("data", "zeros"), "dropout": ("inputs", "ratio"), "pad_ends": ("inputs", "value"),
    **dict.fromkeys(("is_infinite", "is_not_a_number"), ("x",)),
    "quantize_by_axis": ("scale", "zero_point"), "dequantize_by_axis": ("x", "scale", "zero_point"),
    "binary_convolution": ("filters",), "tensor_scatter": ("buffer", "update"),
}  # fmt: skip
_registered: dict[str, Callable[..., Any]] = {}


def register_kernel(name: str, function: Callable[..., Any]) -> None:
    """Register a kernel for operators of a user's spec folder."""
    _registered[name] = function


def registered_kernels() -> dict[str, Callable[..., Any]]:
    """Return the kernels passed to `register_kernel`, by name."""
    return dict(_registered)


def needs_of(name: str, item_size: int) -> tuple[float, float]:
    """Return a kernel's working memory in bytes per input and output element.

    These are upper bounds. item_size: element size of its largest input, in bytes.
    """
    return (1.0, 1.5 * item_size) if name in _MOVE_KERNELS else _KERNEL_NEEDS.get(name, _DEFAULT_NEEDS)


def is_carried(name: str, argument: str) -> bool:
    """Return whether a kernel argument accepts elements of any type.

    Registered kernels accept any type.
    """
    return name in _registered or argument in _UNTYPED_ARGUMENTS.get(name, ())


def find_kernel(name: str) -> Callable[..., Any]:
    """Return the kernel of this name; raise NoKernel if there is none."""
    function: Callable[..., Any] = _registered.get(name) or getattr(_module(name), name)
    return function


@cache
def _module(name: str) -> ModuleType:
    if name not in KERNELS:
        raise NoKernel(f"no kernel {name!r:.60}; known: {', '.join([*KERNELS, *_registered])}")
    return importlib.import_module(KERNELS[name])
