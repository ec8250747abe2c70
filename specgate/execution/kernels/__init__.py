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
        "parametric_softplus", "prelu", "prelu_of_channels", "raise_to", "relu", "relu_by_product", "relu_gradient",
        "scaled_elu", "scaled_elu_by_tensors", "scaled_tanh", "shrink", "sigmoid", "softplus", "softsign", "swish",
        "swish_by_tensor", "thresholded_relu",
    ),
    "adaptive_pool": ("largest_of_parts", "mean_of_parts", "patches"),
    "attention": (
        "attend", "attend_linearly", "attend_to_heads", "attention", "filter_causally", "weigh_values",
    ),
    "cast": ("cast", "cast_elements", "convert", "convert_both", "reinterpret_bits"),
    "contrib_attention": (
        "attend_by_projection", "attend_cached", "attend_packed", "attend_quantized", "rotate_heads",
    ),
    "conv": (
        "convolution", "convolve", "convolve_transposed", "slide_binary", "slide_filters", "slide_filters_back",
    ),
    "detection": (
        "activate_predictions", "best_regions", "boxes_of_lists", "boxes_of_sizes", "boxes_on_grid",
        "channels_of_places", "detect_boxes", "pool_from_pyramid", "propose_from_sizes", "propose_of_image",
        "generate_image_proposals", "refine_boxes",
    ),
    "elementwise": (
        "absolute", "add", "add_activated", "arccos", "arccosh", "arccosh_from_logarithm", "arcsin", "arcsinh",
        "arcsinh_from_logarithm", "arctan", "arctan2", "arctan_of_nan_as_one", "arctanh", "average", "bit_count",
        "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "cos", "cosh", "cosh_from_exponentials",
        "difference_squared", "divide", "equal", "erf", "exp", "floor", "greater", "greater_equal", "identity",
        "inverse_error_function", "is_finite", "is_infinite", "is_not_a_number", "left_shift", "less", "less_equal",
        "log", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "maximum_of_all", "mean_of_all",
        "minimum", "minimum_of_all", "multiply", "negative", "not_equal", "power", "power_by_logarithm",
        "power_to_constant", "quotient", "reciprocal", "remainder", "right_shift", "round_to_integer", "select",
        "shift", "sign", "sin", "sinh", "sinh_from_exponentials", "sqrt", "subtract", "sum_of_all", "tan", "tanh",
    ),
    "ml_features": (
        "choose_columns", "divide_rows", "exceeds", "join_columns", "map_labels", "map_names", "maps_of_rows",
        "mark_categories", "replace_value", "row_of_map", "scale_columns", "values_at_words",
    ),
    "fft": (
        "complex_transform", "cosine_window", "half_transform", "inverse_half_transform", "mel_weights",
        "restore_signal", "transform_axis", "transform_frames", "transform_steps",
    ),
    "fill": (
        "count_elements", "diagonal_like", "diagonal_matrix", "diagonal_strip", "fill_constant", "fill_sequence",
        "full_of", "keep_triangle", "numbers_between", "places_not_zero", "rows_not_zero", "sizes_between",
        "stated_value",
    ),
    "fused": ("activated_convolution", "activated_product", "gelu_of_sum", "product_of_batches"),
    "gather": (
        "elements_at", "elements_from_start", "entries_replaced", "fill_empty_rows", "gather", "gather_elements",
        "gather_nd", "segment_max", "slices_at", "sum_bags", "sum_packed", "sum_segments", "tuples_at",
        "tuples_in_batches",
    ),
    "grid_sample": (
        "add_blocks", "add_columns", "convolve_deformed", "sample_at_grid", "sample_places", "slide_deformed",
    ),
    "images": ("colours_of_planes", "decode_image", "planes_of_colours"),
    "linear_models": ("classify_by_vectors", "classify_linearly", "regress_by_vectors", "regress_linearly"),
    "matmul": (
        "determinants", "distances_of_rows", "gemm", "inverse_matrices", "matrix_product", "multiply_groups",
        "ones_on_diagonal", "scaled_matrix_product", "sum_products",
    ),
    "matmul_n_bits": (
        "multiply_by_blocks", "multiply_by_codes", "multiply_by_range", "multiply_scaled", "product_of_scaled",
        "quantized_windows_of_places",
    ),
    "narrow_types": ("round_between_scales",),
    "nms": (
        "select_boxes", "suppress_boxes", "suppress_by_class", "suppress_by_matrix", "suppress_turned_boxes",
    ),
    "normalization": (
        "batch_gradients", "divide_by_near", "divide_by_near_gradient", "normalize_along", "normalize_batch",
        "normalize_by", "normalize_by_own", "normalize_channels", "normalize_groups", "normalize_instances",
        "normalize_layer", "normalize_mean_variance", "normalize_neighbourhoods", "normalize_squares",
        "normalize_to_unit", "root_mean_square", "scale_channels",
    ),
    "optimizer": ("adam_step", "step_by_adagrad", "step_by_adam", "step_by_momentum"),
    "pad_transpose": (
        "batches_from_space", "blocks_from_depth", "broadcast_by", "depth_from_blocks", "gather_along", "pad",
        "pad_between", "pad_ends", "shuffle_groups", "space_from_batches", "split_equally", "split_lengths",
        "tile_any", "transpose_by",
    ),
    "pool": (
        "average_pool", "average_pool_gradient", "average_windows", "largest_in_windows", "largest_of_windows",
        "lp_pool", "max_pool", "max_pool_gradient", "max_pool_values", "mean_in_windows", "norm_of_windows",
        "pool_whole", "unpool",
    ),
    "quantize": (
        "dequantize_by_axis", "dequantize_in_blocks", "dequantize_linear", "fake_quantize", "quantize_by_axis",
        "quantize_by_range", "quantize_in_blocks", "quantize_linear", "quantize_over_range", "quantized_add",
    ),
    "quantized": (
        "choose_quantized", "gather_from_blocks", "join_quantized", "largest_of_places", "mean_of_quantized_places",
        "mean_of_quantized_windows", "normalize_quantized_embeddings", "product_of_quantized", "quantized_leaky_relu",
        "quantized_sigmoid", "quantized_softmax", "sum_of_quantized",
    ),
    "quantized_conv_matmul": (
        "convolve_integers", "convolve_quantized", "integer_product", "integer_windows", "mean_of_quantized",
        "multiply_integers", "multiply_quantized", "multiply_to_floats", "quantized_product", "quantized_windows",
    ),
    "random": (
        "draw_classes", "draw_normal", "draw_truths", "draw_uniform", "drop_out", "random_words", "uniform_numbers",
    ),
    "reduce": ("arg_reduce", "arg_reduce_dimension", "cumulate", "cumulative", "reduce", "reduce_dimensions"),
    "regex": ("match_pattern",),
    "reshape": (
        "drop_ones", "expand", "flatten", "insert_dimensions", "join", "remove_dimensions", "reshape",
        "reshape_by_pattern", "reverse_sequences", "sizes_of", "slice_between", "split", "split_along", "tile_by",
        "transpose",
    ),
    "resize": ("enlarge", "interpolate_along", "resample", "resample_gradient", "resize"),
    "rnn": (
        "gru", "gru_sequences", "gru_step", "lstm", "lstm_sequences", "lstm_step", "rnn", "rnn_sequences", "rnn_step",
    ),
    "rnn_networks": ("run_gru", "run_lstm", "run_quantized_lstm", "run_rnn"),
    "roi_align": ("align_regions", "align_turned_regions", "crop_gradients", "crop_regions"),
    "roi_pool": ("pool_channels_of_parts", "pool_listed_parts", "pool_moved_parts", "pool_parts"),
    "rotary_embedding": ("grid_of_places", "rotate_pairs", "swish_product"),
    "scatter": (
        "combine_elements", "combine_tuples", "scatter_elements", "scatter_tuples", "write_elements", "write_tuples",
    ),
    "sequence": (
        "empty_sequence", "has_value", "optional_value", "make_optional", "join_sequence", "sequence_at",
        "sequence_length", "sequence_of", "sequence_with", "sequence_without", "split_to_sequence",
    ),
    "signed_halves": (
        "arg_reduce_by_halves", "greater_by_halves", "greater_equal_by_halves", "less_by_halves",
        "less_equal_by_halves", "max_pool_by_halves", "max_pool_values_by_halves", "maximum_by_halves",
        "minimum_by_halves", "place_by_halves", "reduce_by_halves", "top_k_by_halves",
    ),
    "skip_layer_norm": ("normalize_embeddings", "normalize_roots", "normalize_sum"),
    "slice": (
        "centre", "choose", "depth_to_space", "place_again", "place_in_window", "reverse_along", "reverse_beginnings",
        "reverse_parts", "roll_along", "slice_by_masks", "slice_counted", "slice_window", "space_to_depth", "tile",
        "write_into_buffer", "write_slices",
    ),
    "softmax": (
        "decode_best", "decode_best_masked", "hardmax", "hardmax_along", "likelihood_loss", "log_softmax",
        "log_softmax_along", "sequence_loss", "softmax", "softmax_along", "softmax_loss",
    ),
    "sort": (
        "bucket_numbers", "distinct", "distinct_along", "paths_of_beams", "places_to_insert", "top_elements", "top_k",
    ),
    "text": (
        "count_n_grams", "hash_elements", "join_texts", "normalize_texts", "split_texts", "texts_from_bytes",
        "texts_to_bytes",
    ),
    "tree_ensemble": ("classify_by_trees", "ensemble_of", "regress_by_trees"),
    "window_products": ("columns_of_windows", "windows_from_columns"),
}  # fmt: skip
KERNELS: Final[dict[str, str]] = {
    "one_hot": "specgate.execution.kernels.fill",
    **{name: f"{_PACKAGE}.{module}" for module, names in _MODULES.items() for name in names},
}
#: Kernels that sum products of their inputs: with absolute inputs they compute the sums of the absolute products.
PRODUCT_SUM_KERNELS: Final = frozenset({
    "add_columns", "average_windows", "convolution", "convolve", "convolve_transposed", "cumulate", "gemm",
    "matrix_product", "mean_in_windows", "pool_whole", "reduce_dimensions", "scaled_matrix_product", "slide_filters",
    "slide_filters_back", "sum_of_all", "sum_products",
})  # fmt: skip
#: Kernels that sum many terms. The order is up to the implementation; it decides which partial sums overflow and how
#: much of a small term is lost next to a large one.
SUM_KERNELS: Final = frozenset({
    "add_columns", "sample_at_grid",
    "align_regions", "align_turned_regions", "attention", "average_pool", "average_windows", "convolution",
    "convolve", "convolve_transposed", "cumulate", "cumulative", "gemm", "gru", "gru_sequences", "gru_step",
    "interpolate_along", "log_softmax",
    "log_softmax_along", "lp_pool", "lstm", "lstm_sequences", "lstm_step", "matrix_product", "mean_in_windows",
    "mean_of_parts",
    "norm_of_windows", "normalize_along", "normalize_batch", "normalize_channels", "normalize_groups",
    "normalize_instances", "normalize_layer", "normalize_mean_variance", "normalize_neighbourhoods",
    "normalize_squares", "normalize_to_unit", "pool_whole", "reduce", "reduce_dimensions", "resample",
    "rnn", "rnn_sequences", "rnn_step", "root_mean_square", "scaled_matrix_product", "sequence_loss",
    "slide_filters", "slide_filters_back",
    "softmax", "softmax_along", "sum_bags", "sum_packed", "sum_products", "sum_segments", "weigh_values",
    "complex_transform", "half_transform", "inverse_half_transform", "transform_frames", "inverse_matrices",
    "multiply_groups", "multiply_to_floats", "restore_signal", "slide_deformed",
    "crop_gradients", "crop_regions",
    "adam_step", "average_pool_gradient", "batch_gradients", "divide_by_near", "divide_by_near_gradient", "enlarge",
    "max_pool_gradient", "normalize_by", "normalize_by_own", "resample_gradient", "windows_from_columns",
    "classify_by_trees", "classify_by_vectors", "classify_linearly", "divide_rows", "ensemble_of", "regress_by_trees",
    "regress_by_vectors", "regress_linearly",
    "add_blocks", "attend", "attend_linearly", "attend_to_heads", "convolve_deformed", "filter_causally",
    "likelihood_loss", "resize", "sample_places", "softmax_loss",
    "activated_convolution", "activated_product", "attend_by_projection", "attend_cached", "attend_packed",
    "attend_quantized",
    "rotate_heads",
    "distances_of_rows", "multiply_by_blocks", "multiply_by_codes", "multiply_by_range", "multiply_scaled",
    "normalize_embeddings", "normalize_quantized_embeddings",
    "normalize_roots", "normalize_sum", "product_of_batches",
    "determinants", "grid_of_places", "run_gru", "run_lstm", "run_quantized_lstm",
    "run_rnn", "transform_axis", "transform_steps",
})  # fmt: skip
#: Working memory of a kernel besides its inputs, in bytes per element of its inputs and of its outputs. Listed where it
#: exceeds the default, or is low enough that large weights fit. tests/execution/test_budget.py measures all of them.
_DEFAULT_NEEDS: Final = (16.0, 32.0)
_KERNEL_NEEDS: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("gemm", "matrix_product", "scaled_matrix_product"), (12.0, 32.0)),
    **dict.fromkeys(("convolution", "convolve", "convolve_transposed"), (24.0, 32.0)),
    **dict.fromkeys(("slide_filters", "slide_filters_back"), (24.0, 32.0)),
    **dict.fromkeys(("gather", "gather_along", "gather_nd", "elements_at", "slices_at", "tuples_at"), (4.0, 32.0)),
    **dict.fromkeys(("average_pool", "average_windows", "lp_pool", "mean_in_windows", "norm_of_windows"), (24.0, 32.0)),
    **dict.fromkeys(("largest_in_windows", "largest_of_windows", "max_pool", "max_pool_values"), (24.0, 32.0)),
    **dict.fromkeys(("top_elements", "top_k"), (28.0, 32.0)),
    "sum_products": (28.0, 32.0), "one_hot": (48.0, 20.0),
    **dict.fromkeys(("align_regions", "align_turned_regions"), (16.0, 96.0)),
    "sample_at_grid": (16.0, 80.0), "fill_empty_rows": (96.0, 64.0),
    "suppress_boxes": (64.0, 48.0), "suppress_turned_boxes": (128.0, 96.0),
    **dict.fromkeys(("propose_from_sizes", "propose_of_image", "generate_image_proposals"), (96.0, 64.0)),
    **dict.fromkeys(("suppress_by_class", "suppress_by_matrix"), (112.0, 48.0)),
    "fake_quantize": (16.0, 64.0), "gelu_of_sum": (48.0, 48.0),
    "inverse_error_function": (160.0, 32.0), "power": (16.0, 64.0), "reduce_dimensions": (36.0, 32.0),
    "resample": (44.0, 44.0), "interpolate_along": (24.0, 40.0), "resample_gradient": (36.0, 32.0),
    "rnn": (16.0, 48.0), "rnn_step": (16.0, 48.0), "draw_classes": (32.0, 32.0), "hash_elements": (64.0, 32.0),
    "sample_places": (64.0, 64.0),
    **dict.fromkeys(("convolve_integers", "convolve_quantized", "mean_of_quantized"), (64.0, 48.0)),
    **dict.fromkeys(("multiply_integers", "multiply_quantized", "multiply_to_floats"), (32.0, 48.0)),
    **dict.fromkeys(("dequantize_in_blocks", "quantize_in_blocks"), (32.0, 32.0)),
    **dict.fromkeys(
        ("join_quantized", "largest_of_places", "mean_of_quantized_places", "mean_of_quantized_windows",
         "product_of_quantized", "quantized_leaky_relu", "quantized_sigmoid", "quantized_softmax", "sum_of_quantized"),
        (48.0, 48.0),
    ),
    **dict.fromkeys(("write_elements", "write_tuples"), (48.0, 32.0)),
    **dict.fromkeys(("attend_by_projection", "attend_cached", "attend_packed", "attend_quantized"), (64.0, 64.0)),
    **dict.fromkeys(("multiply_by_range", "multiply_scaled", "product_of_scaled"), (32.0, 48.0)),
    "distances_of_rows": (48.0, 32.0), "multiply_by_blocks": (96.0, 48.0), "quantized_windows_of_places": (64.0, 48.0),
    "quantize_by_range": (32.0, 32.0), "random_words": (16.0, 96.0), "rows_not_zero": (24.0, 64.0),
    **dict.fromkeys(("distinct", "distinct_along"), (200.0, 64.0)),
    "slide_binary": (64.0, 32.0), "slide_deformed": (24.0, 64.0), "round_between_scales": (32.0, 72.0),
    "classify_by_trees": (96.0, 96.0), "count_n_grams": (64.0, 64.0), "ensemble_of": (64.0, 96.0),
    "regress_by_trees": (96.0, 96.0),
    "restore_signal": (64.0, 48.0), "texts_from_bytes": (16.0, 96.0), "texts_to_bytes": (96.0, 32.0),
}  # fmt: skip
#: Kernels that only move elements: they need memory for their output, and a little per input element.
_MOVE_KERNELS: Final = frozenset({
    "broadcast_by", "depth_to_space", "drop_ones", "expand", "flatten", "full_of", "insert_dimensions", "join",
    "remove_dimensions", "reshape", "reshape_by_pattern", "slice_between", "slice_counted", "slice_window",
    "space_to_depth", "split", "split_along", "split_equally", "split_lengths", "tile", "tile_any", "tile_by",
    "transpose", "transpose_by",
})  # fmt: skip
#: Arguments whose elements a kernel only moves, compares or converts. They may have any type, including the ml_dtypes
#: types of at most 8 bits, for which numpy has little arithmetic. All other arguments have numpy's own number types.
_UNTYPED_ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("batches_from_space", "blocks_from_depth", "broadcast_by", "convert", "depth_from_blocks", "drop_ones",
         "elements_from_start", "gather_along", "insert_dimensions", "places_not_zero", "reshape_by_pattern",
         "reverse_along", "reverse_parts", "roll_along", "shuffle_groups", "sizes_of", "slice_between",
         "slice_by_masks", "space_from_batches", "split_equally", "split_lengths", "tile_any", "transpose_by",
         "tuples_in_batches",
         "elements_at", "expand", "flatten", "remove_dimensions", "reshape", "slices_at", "split_along",
         "tile_by", "transpose", "tuples_at",
         "cast_elements", "centre", "choose", "count_elements", "draw_normal", "draw_uniform",
         "keep_triangle", "reinterpret_bits", "sizes_between"),
        ("inputs", "like"),
    ),
    **dict.fromkeys(("combine_elements", "combine_tuples", "entries_replaced", "write_slices"), ("inputs", "updates")),
    **dict.fromkeys(("equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "select"), ("a", "b")),
    **dict.fromkeys(("distinct", "patches"), ("data",)),
    **dict.fromkeys(("is_infinite", "is_not_a_number"), ("x",)),
    "convert_both": ("first", "second"), "identity": ("x",), "join": ("parts",),
    "one_hot": ("on_value", "off_value"), "pad_between": ("inputs", "value"),
    "gather_from_blocks": ("data", "zeros"), "drop_out": ("inputs", "ratio"), "pad_ends": ("inputs", "value"),
    **dict.fromkeys(("is_infinite", "is_not_a_number"), ("x",)),
    "quantize_by_axis": ("scale", "zero_point"), "dequantize_by_axis": ("x", "scale", "zero_point"),
    "slide_binary": ("filters",), "write_into_buffer": ("buffer", "update"),
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
