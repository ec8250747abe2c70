"""Matrix products, inverse, determinant, distances and Einsum."""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

#: Multiplications between two checks of the time: a fraction of a second, also for integers.
_BLOCK: Final = 2**28
#: Matrix elements converted per block, so that they are still cached when multiplied; also the size of the largest of
#: several matrices up to which scratch memory is reused.
_CONVERSION_BLOCK, _SHARED_SCRATCH = 2**20, 2**15


def multiply_matrices(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return ``left @ right``, at least 2-D, with broadcast batch dimensions.

    The result is written to `out` if given. Raises InputError once the time budget is exceeded.
    """
    batch = batch_of(left, right)
    shape = (*batch, left.shape[-2], right.shape[-1])
    if prod(shape) * left.shape[-1] <= _BLOCK:
        return np.matmul(left, right, out=out)
    result = memory.empty(shape, np.result_type(left, right)) if out is None else out
    left_array = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    rows = max(1, _BLOCK // max(1, left.shape[-1] * right.shape[-1]))
    for place in memory.within_time_limit(np.ndindex(batch)):
        for top in memory.within_time_limit(range(0, left.shape[-2], rows)):
            np.matmul(left_array[place][top : top + rows], rights[place], out=result[place][top : top + rows])
    return result


def batch_of(left: NDArray[Any], right: NDArray[Any]) -> tuple[int, ...]:
    """Return the batch shape of a product; raise ValueError if incompatible."""
    first, other = left.shape[:-2], right.shape[:-2]
    return first if first == other or not other else np.broadcast_shapes(first, other)


def multiply_rounded(left: NDArray[Any], right: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``left @ right`` of floats in float64, rounded to `dtype`.

    Batches and time are handled as in `multiply_matrices`.
    """
    shape = (*batch_of(left, right), left.shape[-2], right.shape[-1])
    if dtype == np.float64 or (left.shape[:-2] != right.shape[:-2] and right.ndim > 2):
        product = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(to_float64(left), to_float64(right), product)
        return round_to(product, dtype)
    result = memory.empty(shape, dtype)
    if result.size:
        if right.ndim == 2:
            rows = prod(shape[:-1])
            _multiply_by_columns(left.reshape(rows, left.shape[-1]), right, result.reshape(rows, shape[-1]))
        else:
            lists = (array.reshape(prod(shape[:-2]), *array.shape[-2:]) for array in (left, right, result))
            _multiply_lists(*lists)
    return result


def _multiply_by_columns(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write the product of two matrices, some columns at a time."""
    wide_left = left.astype(np.float64)
    (rows, inner), count = left.shape, right.shape[1]
    columns_per_block = min(count, max(16, _CONVERSION_BLOCK // max(1, rows, inner) // 16 * 16))
    rooms = np.empty(inner * columns_per_block), np.empty(rows * columns_per_block)  # reused: fresh memory is slower
    for first in memory.within_time_limit(range(0, count, columns_per_block)):
        columns = slice(first, min(first + columns_per_block, count))
        column_count = columns.stop - first
        part, array = (
            workspace[: size * column_count].reshape(size, column_count)
            for workspace, size in zip(rooms, left.T.shape, strict=True)
        )
        part[...] = right[:, columns]
        result[:, columns] = _to_accumulator(multiply_matrices(wide_left, part, array), result.dtype)


def _multiply_lists(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write products of [count, rows, columns], some matrices at a time."""
    arrays = left, right, result
    chunk_size = min(len(result), max(1, _SHARED_SCRATCH // max(1, *(prod(operand.shape[1:]) for operand in arrays))))
    rooms = [np.empty((chunk_size, *operand.shape[1:])) for operand in arrays]
    for first in memory.within_time_limit(range(0, len(result), chunk_size)):
        chunk = slice(first, min(first + chunk_size, len(result)))
        a, b, array = (workspace[: chunk.stop - first] for workspace in rooms)
        a[...], b[...] = left[chunk], right[chunk]
        result[chunk] = _to_accumulator(multiply_matrices(a, b, array), result.dtype)


def _to_accumulator(wide_values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array to be rounded to `dtype`: float32 for narrower types."""
    return wide_values if dtype.itemsize >= 4 else to_float32(wide_values, dtype)


def gemm(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return activation(alpha * a @ b + beta * c), of the type of `a`.

    a: […, M, K], or […, K, M] if transposed; b: […, K, N], or […, N, K]; c: of the result's shape, optional. The
    leading dimensions are equal. activation: function of a float32 array.
    """
    if a.ndim < 2 or b.ndim != a.ndim or a.dtype != b.dtype:
        raise InputError(
            f"gemm: expected two inputs of rank 2 or more, found {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        )
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    if left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise InputError(f"gemm: matrices of shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied")
    shape = (*left.shape[:-1], right.shape[-1])
    if c is not None:
        require_shape("gemm", f"an addend of type {a.dtype}", c.shape if c.dtype == a.dtype else (), shape)
    with memory.ignore_warnings():
        product = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(to_float64(left), to_float64(right), product)
        result = to_float64(to_float32(product, a.dtype)) * np.float32(alpha)
        if c is not None:
            result += to_float64(c) * np.float32(beta)
        result = to_float32(result, a.dtype)
        return round_to(result if activation is None else activation(result), a.dtype)


def matmul(a: NDArray[Any], b: NDArray[Any], *, transpose_a: bool = False, transpose_b: bool = False) -> NDArray[Any]:
    """Return the matrix product of the last two dimensions, others broadcast.

    The result has the type of `a` and `b`. A 1-D `a` is a row, a 1-D `b` a column, whether transposed or not; the
    result drops that dimension. Integers wrap around.
    """
    if not a.ndim or not b.ndim or a.dtype != b.dtype:
        raise InputError(
            f"matrix product: expected arrays of one type, found {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        )
    left = a[np.newaxis] if a.ndim == 1 else np.swapaxes(a, -1, -2) if transpose_a else a
    right = b[:, np.newaxis] if b.ndim == 1 else np.swapaxes(b, -1, -2) if transpose_b else b
    try:
        if left.shape[-1] != right.shape[-2]:
            raise ValueError
        batch = batch_of(left, right)
    except ValueError:
        raise InputError(
            f"matrix product: shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied"
        ) from None
    with memory.ignore_warnings():
        if is_float(a.dtype):
            result = multiply_rounded(left, right, a.dtype)
        else:
            result = memory.empty((*batch, left.shape[-2], right.shape[-1]), a.dtype)
            multiply_matrices(left, right, result)
    if b.ndim == 1:
        result = result[..., 0]
    return result[..., 0, :] if a.ndim == 1 and b.ndim > 1 else result[..., 0] if a.ndim == 1 else result


def scaled_matrix_product(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    stretch: bool = True,
) -> NDArray[Any]:
    """Return alpha * a @ b + beta * c, with c broadcast to the product.

    Integers are truncated at the end. stretch: c may have another shape than the product.
    """
    if a.ndim != 2 or b.ndim != 2 or a.dtype != b.dtype:
        raise InputError(f"gemm: expected two matrices, found {a.dtype}{a.shape} and {b.dtype}{b.shape}")
    product = matmul(a.T if transpose_a else a, b.T if transpose_b else b)
    if c is not None and not stretch:
        require_shape("gemm", "a summand", c.shape, product.shape)
    if c is None:
        summand = np.zeros((), a.dtype)
    elif c.dtype != a.dtype or c.ndim > 2 or any(m not in {1, n} for m, n in zip(c.shape[::-1], product.shape[::-1],
                                                                              strict=False)):  # fmt: skip
        raise InputError(f"gemm: C ({c.dtype}{c.shape}) does not broadcast to {a.dtype}{product.shape}")
    else:
        summand = c
    with memory.ignore_warnings():
        if not is_float(a.dtype):
            if all(abs(number) < 2**63 and number == int(number) for number in (alpha, beta)):
                factors = (np.asarray(int(number)).astype(a.dtype) for number in (alpha, beta))
                return np.asarray(next(factors) * product + next(factors) * summand)
            real = np.float32(alpha) * product.astype(np.float64) + np.float32(beta) * summand.astype(np.float64)
            return np.trunc(real).astype(a.dtype)
        if a.dtype == np.float32 and c is not None and alpha == beta == 1:
            product += summand  # a sum of two float32 is rounded the same with or without float64 between
            return product
        result = to_float64(product) * np.float32(alpha) + to_float64(summand) * np.float32(beta)
        return round_to(result if c is not None else to_float64(product) * np.float32(alpha), a.dtype)


def grouped_matmul(a: NDArray[Any], b: NDArray[Any], ends: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the product of each group, as in OpenVINO GroupedMatMul.

    The result has the type of `a` and `b`. a [groups, M, K] and b [groups, K, N]: [groups, M, N], without ends. a
    [rows, K] and b [groups, K, N]: [rows, N], where a group is the rows up to its end. a [K, columns] and b [columns,
    N]: [groups, K, N], where a group is that part of the columns of a and of the rows of b. ends: [groups], ascending;
    the last one is the number of rows or columns. Integers wrap around.
    """
    ranks = a.ndim, b.ndim
    if a.dtype != b.dtype or ranks not in {(3, 3), (2, 3), (2, 2)} or (ends is None) != (ranks == (3, 3)):
        raise InputError(f"groups: {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)} cannot be multiplied")
    if a.shape[-1] != b.shape[-2]:
        raise InputError(f"groups: {a.shape[-1]} columns and {b.shape[-2]} rows cannot be multiplied")
    dtype = np.dtype(np.float64) if is_float(a.dtype) else a.dtype
    left, right = to_float64(a), to_float64(b)
    with memory.ignore_warnings():
        if ends is None:
            require_shape("groups", "matrices", b.shape[:1], a.shape[:1])
            return round_to(multiply_matrices(left, right, memory.empty((*a.shape[:2], b.shape[2]), dtype)), a.dtype)
        groups = _groups(ends, a.shape[0] if b.ndim == 3 else a.shape[1])
        if b.ndim == 3:
            require_shape("groups", "matrices", b.shape[:1], ends.shape)
        shape = (a.shape[0], b.shape[2]) if b.ndim == 3 else (len(groups), a.shape[0], b.shape[1])
        result = memory.empty(shape, dtype)
        for group, part in memory.within_time_limit(enumerate(groups)):
            if b.ndim == 3:
                result[part] = multiply_matrices(left[part], right[group])
            else:
                result[group] = multiply_matrices(left[:, part], right[part])
        return round_to(result, a.dtype)


def _groups(ends: NDArray[Any], count: int) -> list[slice]:
    """Return the slice of each group.

    Raises InputError unless the groups cover `count` in order.
    """
    bounds = [0, *ends.reshape(-1).tolist()]
    if ends.ndim != 1 or any(end < start for start, end in pairwise(bounds)):
        raise InputError(f"groups: expected group ends in ascending order, found {bounds[1:]!r:.80}")
    if bounds[-1] != count:
        raise InputError(f"groups: expected the last group to end at {count}, found {bounds[-1]}")
    return [slice(start, end) for start, end in pairwise(bounds)]


#: From this condition number on, a float32 matrix counts as singular.
_CONDITION = float(1 / np.finfo(np.float32).eps)


def eye(
    rows: NDArray[Any],
    columns: NDArray[Any],
    diagonal: NDArray[Any],
    batch: NDArray[Any] | None = None,
    *,
    like: np.dtype[Any],
) -> NDArray[Any]:
    """Return matrices [*batch, rows, columns] with ones on one diagonal.

    diagonal: columns right of the main one. All inputs are integers, and all but `batch` are one number each. The type
    is that of `like`.
    """
    if any(array.size != 1 for array in (rows, columns, diagonal)):
        raise InputError("diagonal: expected num_rows, num_columns and k of one element each")
    height, width, right = (int(array.reshape(())) for array in (rows, columns, diagonal))
    shape = (*(() if batch is None else map(int, batch.reshape(-1))), height, width)
    if min(shape) < 0:
        raise InputError(f"diagonal: expected output sizes of at least 0, found {list(shape)}")
    result = memory.empty(shape, like)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    result[...] = 0
    places = np.arange(max(0, -right), max(0, -right, min(height, width - right)))
    result[..., places, places + right] = 1
    return result


def matrix_inverse(data: NDArray[Any], *, transposed: bool = False) -> NDArray[Any]:
    """Return the inverses of matrices [..., n, n] of floats.

    They are first rounded to float32. transposed: transpose the inverses. Matrices that are singular in float32 are
    masked.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or not is_float(data.dtype):
        raise InputError(f"inverse: expected square matrices of floats, found {data.dtype} {list(data.shape)}")
    result = memory.empty(data.shape, data.dtype)
    is_open = np.zeros(data.shape, np.bool_)
    with memory.ignore_warnings():
        single = data.astype(np.float32).astype(np.float64)
        for place in memory.within_time_limit(np.ndindex(data.shape[:-2])):
            array = _inverse(single[place])
            is_open[place] = array is None
            result[place] = 0 if array is None else round_to(round_to(array, np.dtype(np.float32)), data.dtype)
    new_array = np.swapaxes(result, -1, -2) if transposed else result
    return np.ma.MaskedArray(new_array, mask=is_open) if is_open.any() else new_array


def determinant(data: NDArray[Any]) -> NDArray[Any]:
    """Return the determinants of matrices [..., n, n], computed in float64.

    nan in a matrix gives nan.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or not is_float(data.dtype):
        raise InputError(f"determinant: expected square matrices of floats, found {data.dtype} {list(data.shape)}")
    result = memory.empty(data.shape[:-2], np.dtype(np.float64))
    with memory.ignore_warnings():
        for place in memory.within_time_limit(np.ndindex(data.shape[:1] if data.ndim > 2 else ())):
            result[place] = np.linalg.det(data[place].astype(np.float64))
        result[(data != data).any(axis=(-2, -1))] = np.nan  # noqa: PLR0124  # elimination may end before it is met
        return round_to(result, data.dtype)


def _inverse(matrix: NDArray[Any]) -> NDArray[Any] | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        array: NDArray[Any] = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    if not matrix.size:
        return array
    condition = np.abs(matrix).sum(axis=0).max() * np.abs(array).sum(axis=0).max()
    return array if condition < _CONDITION else None


_METRICS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "euclidean": lambda differences: np.sqrt(np.square(differences).sum(axis=1)),
    "sqeuclidean": lambda differences: np.square(differences).sum(axis=1),
}


def cdist(a: NDArray[Any], b: NDArray[Any], *, metric: str) -> NDArray[Any]:
    """Return the distance of each row of `a` [m, n] to each of `b` [k, n].

    The result is [m, k]. metric: euclidean or sqeuclidean; NoKernel for others.
    """
    require_float("distance", a, b)
    if a.dtype != b.dtype or a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise InputError(f"distance: inputs {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)} do not match")
    if metric not in _METRICS:
        raise NoKernel(f"distance: {metric!r:.40} is not supported; known: {', '.join(_METRICS)}")
    result = memory.empty((len(a), len(b)), np.dtype(np.float64))
    wide_rows = to_float64(b)
    with ignore_warnings():
        for row_index, row in enumerate(memory.within_time_limit(to_float64(a))):
            result[row_index] = _METRICS[metric](wide_rows - row)
    return round_to(result, a.dtype)


_TERM: Final = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")
#: Dimension names of a term in order: a letter, or for an ellipsis dimension its distance from the last, from 0.
_Names = tuple[str | int, ...]


def einsum(inputs: Sequence[NDArray[Any]], *, equation: str) -> NDArray[Any]:
    """Return the einsum of inputs of one type.

    equation: comma-separated input terms and the output term after ``->``; letters name dimensions, an ellipsis the
    dimensions counted from the last. Dimensions of one name iterate together and broadcast with size 1; a name repeated
    in one input is its diagonal. Without an arrow the output has the ellipsis dimensions, then the letters that appear
    once, in ASCII order. Where the output repeats a name, elements off the diagonal are masked. Integers wrap around.
    """
    terms, target = _parse_equation(equation, [array.ndim for array in inputs])
    dtype = inputs[0].dtype
    if any(array.dtype != dtype for array in inputs):
        raise InputError(f"einsum: expected all inputs to be {dtype}")
    sizes = _sizes(terms, inputs)
    if any(name not in sizes for name in target):
        raise InputError(f"einsum: the output of {equation!r:.80} has a label that is not in any input")
    kept_names = tuple(dict.fromkeys(target))
    memory.check_budget(tuple(sizes[name] for name in target), dtype)
    with memory.ignore_warnings():
        names, total = _contract_inputs(terms, inputs, sizes, kept_names)
    new_array = round_to(total.transpose([names.index(name) for name in kept_names]), dtype)
    return new_array if len(kept_names) == len(target) else _spread_diagonal(new_array, kept_names, target)


def _parse_equation(equation: str, ranks: Sequence[int]) -> tuple[list[_Names], _Names]:
    """Return the dimension names of each input and of the output.

    Raises InputError for an invalid equation.
    """
    input_terms, arrow, output_term = equation.replace(" ", "").partition("->")
    texts = input_terms.split(",")
    if len(texts) != len(ranks):
        raise InputError(f"einsum: {equation!r:.80} has {len(texts)} terms for {len(ranks)} inputs")
    terms: list[_Names] = []
    widest = 0
    for text, rank in zip(texts, ranks, strict=True):
        first, points, last = _parts(text)
        rest = rank - len(first) - len(last)
        if rest < 0 or (rest and not points):
            raise InputError(f"einsum: the term {text!r:.60} does not have {rank} labels")
        terms.append((*first, *reversed(range(rest)), *last))
        widest = max(widest, rest)
    letters = input_terms.replace(".", "").replace(",", "")
    if not arrow:
        output_term = ("..." if "." in input_terms else "") + "".join(
            sorted(c for c in letters if letters.count(c) == 1)
        )
    first, points, last = _parts(output_term)
    return terms, (*first, *(reversed(range(widest)) if points else ()), *last)


def _parts(text: str) -> tuple[str, str, str]:
    match = _TERM.fullmatch(text)
    if match is None:
        raise InputError(f"einsum: {text!r:.60} is not a term (letters and at most one ellipsis)")
    return match[1], match[2] or "", match[3]


def _sizes(terms: Sequence[_Names], inputs: Sequence[NDArray[Any]]) -> dict[str | int, int]:
    """Return the size of each name; raise InputError for inconsistent sizes."""
    sizes: dict[str | int, int] = {}
    for names, array in zip(terms, inputs, strict=True):
        sizes_by_name: dict[str | int, int] = {}
        for name, size in zip(names, array.shape, strict=True):
            if sizes_by_name.setdefault(name, size) != size or (
                sizes.get(name, 1) != 1 and size not in {1, sizes[name]}
            ):
                raise InputError(
                    f"einsum: the label {name} has the sizes {sizes.get(name, sizes_by_name[name])} and {size}"
                )
        sizes.update({name: size for name, size in sizes_by_name.items() if sizes.get(name, 1) == 1})
    return sizes


def _contract_inputs(
    terms: Sequence[_Names], inputs: Sequence[NDArray[Any]], sizes: Mapping[str | int, int], kept_names: _Names
) -> tuple[_Names, NDArray[Any]]:
    """Return the product of all inputs, each name summed as early as possible.

    A name is summed as soon as no later input and no output has it.
    """
    parts = [_take_diagonal(names, array, sizes) for names, array in zip(terms, inputs, strict=True)]
    names, total = parts[0]
    for place, (other_names, array) in enumerate(parts):
        later_names = {*kept_names, *(name for part_names, _ in parts[place + 1 :] for name in part_names)}
        if place:
            names, total = _product(names, total, other_names, array, later_names, last=place == len(parts) - 1)
        else:
            names, total = _sum_out(names, total, later_names)
    return names, total


def _take_diagonal(names: _Names, array: NDArray[Any], sizes: Mapping[str | int, int]) -> tuple[_Names, NDArray[Any]]:
    """Return diagonals as plain dimensions, without broadcast dimensions."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    repeated = len(places) < len(names)
    diagonal = np.einsum(array, [places[name] for name in names], list(places.values())) if repeated else array
    broadcast_axes = tuple(place for name, place in places.items() if diagonal.shape[place] != sizes[name])
    return tuple(name for name, place in places.items() if place not in broadcast_axes), diagonal.squeeze(
        broadcast_axes
    )


def _sum_out(names: _Names, array: NDArray[Any], later_names: set[str | int]) -> tuple[_Names, NDArray[Any]]:
    summed_axes = tuple(place for place, name in enumerate(names) if name not in later_names)
    if not summed_axes:
        return names, array
    wide_array = to_float64(array)
    return tuple(name for name in names if name in later_names), wide_array.sum(
        axis=summed_axes, dtype=wide_array.dtype
    )


def _product(
    names: _Names,
    left: NDArray[Any],
    other_names: _Names,
    right: NDArray[Any],
    later_names: set[str | int],
    *,
    last: bool,
) -> tuple[_Names, NDArray[Any]]:
    """Return the product of two terms as one matrix product.

    Summed over the names that both have and nothing later has. last: no product follows, so the product is rounded to
    the inputs' type at once.
    """
    names, left = _sum_out(names, left, {*later_names, *other_names})
    other_names, right = _sum_out(other_names, right, {*later_names, *names})
    shared_names = [name for name in names if name in other_names and name in later_names]
    inner = [name for name in names if name in other_names and name not in later_names]
    rows, columns = [n for n in names if n not in other_names], [n for n in other_names if n not in names]
    matrix = left.transpose([names.index(name) for name in (*shared_names, *rows, *inner)])
    other = right.transpose([other_names.index(name) for name in (*shared_names, *inner, *columns)])
    shared, high = matrix.shape[: len(shared_names)], matrix.shape[len(shared_names) : len(shared_names) + len(rows)]
    column_size = other.shape[len(shared_names) + len(inner) :]
    summed_size = prod(other.shape[len(shared_names) : len(shared_names) + len(inner)])
    shape = (*shared, *high, *column_size)
    matrix, other = (
        matrix.reshape(*shared, prod(high), summed_size),
        other.reshape(*shared, summed_size, prod(column_size)),
    )
    if last and is_float(left.dtype) and left.dtype == right.dtype:
        array = multiply_rounded(matrix, other, left.dtype)
    else:
        matrix, other = to_float64(matrix), to_float64(other)
        memory.check_budget(shape, matrix.dtype)
        array = multiply_matrices(matrix, other)
    return (*shared_names, *rows, *columns), array.reshape(shape)


def _spread_diagonal(array: NDArray[Any], kept_names: _Names, target: _Names) -> NDArray[Any]:
    """Return elements on the diagonal of repeated output names, others masked."""
    shape = tuple(array.shape[kept_names.index(name)] for name in target)
    diagonal_array = np.ma.MaskedArray(np.zeros(shape, array.dtype), mask=np.ones(shape, np.bool_))
    indices = np.indices(array.shape, sparse=True)
    place: tuple[Any, ...] = tuple(np.broadcast_to(indices[kept_names.index(name)], array.shape) for name in target)
    diagonal_array[place] = array
    return diagonal_array
