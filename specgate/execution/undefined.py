"""Elements without a defined value, and the outputs that depend on them.

A kernel masks elements that the documentation leaves undefined, such as an infinity cast to an integer. A node that
reads such elements is computed where the dependent results can be determined: those are masked in turn, and a node that
drops the elements, such as a selection, gives defined results again. The placeholder values of masked elements do not
matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution.arguments import array_fields, recipe_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from specgate.spec.operator_spec import OperatorSpec

    Evaluate = Callable[[Mapping[str, Any]], dict[str, Any]]

#: Element-wise kernels: each result element depends only on the elements at its position, in inputs that broadcast.
_ELEMENTWISE_KERNELS: Final = frozenset({
    "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "cast_elements", "ceil", "celu_of_any", "cos", "cosh", "divide", "elu", "equal", "erf",
    "exp", "floor", "gelu", "greater", "greater_equal", "hard_sigmoid", "hard_swish", "clip_between", "identity",
    "is_infinite", "is_not_a_number", "leaky_relu", "less", "less_equal", "log", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum_of_all", "mean_of_all", "minimum_of_all", "mish", "multiply", "negative",
    "power", "prelu", "reciprocal", "relu", "remainder", "round_to_integer", "scaled_elu", "shift", "shrink", "sigmoid",
    "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "subtract", "sum_of_all", "swish", "swiglu", "tan",
    "tanh", "thresholded_relu",
})  # fmt: skip
#: Kernels that only move, repeat or drop elements of these arguments, independent of the values.
_MOVED_ARGUMENTS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("depth_to_space", "gather_elements_along", "expand", "flatten", "unsqueeze", "trilu",
         "squeeze", "reshape", "reverse_sequences", "slice_between", "gather_slices", "space_to_depth",
         "split_along", "tile_by", "transpose", "gather_nd_slices"),
        frozenset({"inputs"}),
    ),
    "join": frozenset({"parts"}), "pad_ends": frozenset({"inputs", "value"}), "select": frozenset({"a", "b"}),
}  # fmt: skip
#: Kernels that read only the shape of their input.
_SIZES: Final = frozenset({"count_elements", "shape_between"})


def is_undefined(value: Any) -> bool:
    """Return whether an array has elements without a defined value."""
    return isinstance(value, np.ma.MaskedArray)


def mask_undefined_outputs(
    spec: OperatorSpec, level: str, arrays: Mapping[str, Any], evaluate: Evaluate, evaluate_again: Evaluate
) -> dict[str, Any] | None:
    """Return a node's outputs by name, masked where they are undefined.

    None where the dependency is not known. arrays: by input name, or lists of them, some of them masked. evaluate:
    computes the node; evaluate_again: computes it again with other placeholder values.
    """
    kernel = recipe_of(spec)["kernel"]
    names = {field: argument for argument, field in array_fields(spec, level).items()}
    undefined_fields = {field for field, value in arrays.items() if any(map(is_undefined, _to_list(value)))}
    integer_fields = {field for field in arrays if names.get(field) in _MOVED_ARGUMENTS.get(kernel, ())}
    if kernel not in _ELEMENTWISE_KERNELS | _SIZES and not undefined_fields <= integer_fields:
        return None
    if any(part.dtype.kind not in "biuf" for field in undefined_fields for part in _to_list(arrays[field])):
        return None
    results = evaluate({field: _map_parts(_fill_masked, value) for field, value in arrays.items()})
    if kernel in _SIZES:
        return results
    if kernel in _ELEMENTWISE_KERNELS:
        masks = [np.ma.getmaskarray(part) for field in undefined_fields for part in _to_list(arrays[field])]
        return {
            name: _add_masks(result, [_broadcast_mask(mask, np.shape(result)) for mask in masks])
            for name, result in results.items()
        }
    marked_positions = evaluate_again(
        {**arrays, **{field: _map_parts(_marks, arrays[field]) for field in integer_fields}}
    )
    return {name: _each_pair(result, marked_positions[name]) for name, result in results.items()}


def _to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _map_parts(change: Callable[[Any], Any], value: Any) -> Any:
    return [change(part) for part in value] if isinstance(value, list) else change(value)


def _fill_masked(array: Any) -> Any:
    return np.ma.filled(array, 1) if is_undefined(array) else array


def _marks(array: NDArray[Any]) -> NDArray[Any]:
    """Return 1 where an array is undefined, in its type."""
    return np.ma.getmaskarray(array).astype(array.dtype)


def _each_pair(result: Any, marks: Any) -> Any:
    if isinstance(result, list):
        return [_each_pair(*pair) for pair in zip(result, marks, strict=True)]
    return _add_masks(result, [np.ma.getdata(marks) != 0])


def _broadcast_mask(mask: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a mask broadcast to `shape`.

    All results are masked where older operators may align dimensions differently.
    """
    if mask.ndim == len(shape) or mask.size == 1:
        return np.broadcast_to(mask.reshape(()) if mask.size == 1 else mask, shape)
    return np.full(shape, mask.any())


def _add_masks(result: NDArray[Any], masks: list[NDArray[np.bool_]]) -> NDArray[Any]:
    """Return a result with masks added; a plain array if nothing is masked."""
    mask = np.ma.getmaskarray(result).copy()
    for mask_array in masks:
        mask |= mask_array
    data = np.ma.getdata(result)
    return np.ma.MaskedArray(data, mask=mask) if mask.any() else data
