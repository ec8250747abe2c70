"""Einsum: sums of products over dimensions named by letters.

ONNX Einsum; OpenVINO Einsum.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64
from specgate.execution.kernels.matmul import multiply_matrices, multiply_rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["sum_products"]

_TERM: Final = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")
#: Dimension names of a term in order: a letter, or for an ellipsis dimension its distance from the last, from 0.
_Names = tuple[str | int, ...]


def sum_products(inputs: Sequence[NDArray[Any]], *, equation: str) -> NDArray[Any]:
    """Return the einsum of inputs of one type.

    equation: comma-separated input terms and the output term after ``->``; letters name dimensions, an ellipsis the
    dimensions counted from the last. Dimensions of one name iterate together and broadcast with size 1; a name repeated
    in one input is its diagonal. Without an arrow the output has the ellipsis dimensions, then the letters that appear
    once, in ASCII order. Where the output repeats a name, elements off the diagonal are masked. Integers wrap around.
    """
    terms, target = _parsed(equation, [array.ndim for array in inputs])
    dtype = inputs[0].dtype
    if any(array.dtype != dtype for array in inputs):
        raise InputError(f"einsum: expected arrays of {dtype} only")
    sizes = _sizes(terms, inputs)
    if any(name not in sizes for name in target):
        raise InputError(f"einsum: the output of {equation!r:.80} has a letter that no input has")
    kept = tuple(dict.fromkeys(target))
    memory.hold(tuple(sizes[name] for name in target), dtype)
    with memory.quiet():
        names, total = _summed(terms, inputs, sizes, kept)
    new_array = round_to(total.transpose([names.index(name) for name in kept]), dtype)
    return new_array if len(kept) == len(target) else _spread(new_array, kept, target)


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[_Names], _Names]:
    """Return the dimension names of each input and of the output.

    Raises InputError for an invalid equation.
    """
    written, arrow, shown = equation.replace(" ", "").partition("->")
    texts = written.split(",")
    if len(texts) != len(ranks):
        raise InputError(f"einsum: {equation!r:.80} has {len(texts)} terms for {len(ranks)} inputs")
    terms: list[_Names] = []
    widest = 0
    for text, rank in zip(texts, ranks, strict=True):
        first, points, last = _parts(text)
        rest = rank - len(first) - len(last)
        if rest < 0 or (rest and not points):
            raise InputError(f"einsum: the term {text!r:.60} does not name {rank} dimensions")
        terms.append((*first, *reversed(range(rest)), *last))
        widest = max(widest, rest)
    letters = written.replace(".", "").replace(",", "")
    if not arrow:
        shown = ("..." if "." in written else "") + "".join(sorted(c for c in letters if letters.count(c) == 1))
    first, points, last = _parts(shown)
    return terms, (*first, *(reversed(range(widest)) if points else ()), *last)


def _parts(text: str) -> tuple[str, str, str]:
    match = _TERM.fullmatch(text)
    if match is None:
        raise InputError(f"einsum: {text!r:.60} is not a term of letters with at most one ellipsis")
    return match[1], match[2] or "", match[3]


def _sizes(terms: Sequence[_Names], inputs: Sequence[NDArray[Any]]) -> dict[str | int, int]:
    """Return the size of each name; raise InputError for inconsistent sizes."""
    sizes: dict[str | int, int] = {}
    for names, array in zip(terms, inputs, strict=True):
        own: dict[str | int, int] = {}
        for name, size in zip(names, array.shape, strict=True):
            if own.setdefault(name, size) != size or (sizes.get(name, 1) != 1 and size not in {1, sizes[name]}):
                raise InputError(
                    f"einsum: dimensions named {name} have the sizes {sizes.get(name, own[name])} and {size}"
                )
        sizes.update({name: size for name, size in own.items() if sizes.get(name, 1) == 1})
    return sizes


def _summed(
    terms: Sequence[_Names], inputs: Sequence[NDArray[Any]], sizes: Mapping[str | int, int], kept: _Names
) -> tuple[_Names, NDArray[Any]]:
    """Return the product of all inputs, each name summed as early as possible.

    A name is summed as soon as no later input and no output has it.
    """
    parts = [_single(names, array, sizes) for names, array in zip(terms, inputs, strict=True)]
    names, total = parts[0]
    for place, (others, array) in enumerate(parts):
        later = {*kept, *(name for more, _ in parts[place + 1 :] for name in more)}
        if place:
            names, total = _product(names, total, others, array, later, last=place == len(parts) - 1)
        else:
            names, total = _without(names, total, later)
    return names, total


def _single(names: _Names, array: NDArray[Any], sizes: Mapping[str | int, int]) -> tuple[_Names, NDArray[Any]]:
    """Return diagonals as plain dimensions, without broadcast dimensions."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    repeated = len(places) < len(names)
    diagonal = np.einsum(array, [places[name] for name in names], list(places.values())) if repeated else array
    gone = tuple(place for name, place in places.items() if diagonal.shape[place] != sizes[name])
    return tuple(name for name, place in places.items() if place not in gone), diagonal.squeeze(gone)


def _without(names: _Names, array: NDArray[Any], later: set[str | int]) -> tuple[_Names, NDArray[Any]]:
    gone = tuple(place for place, name in enumerate(names) if name not in later)
    if not gone:
        return names, array
    wide = to_float64(array)
    return tuple(name for name in names if name in later), wide.sum(axis=gone, dtype=wide.dtype)


def _product(
    names: _Names, left: NDArray[Any], others: _Names, right: NDArray[Any], later: set[str | int], *, last: bool
) -> tuple[_Names, NDArray[Any]]:
    """Return the product of two terms as one matrix product.

    Summed over the names that both have and nothing later has. last: no product follows, so the product is rounded to
    the inputs' type at once.
    """
    names, left = _without(names, left, {*later, *others})
    others, right = _without(others, right, {*later, *names})
    both = [name for name in names if name in others and name in later]
    inner = [name for name in names if name in others and name not in later]
    rows, columns = [n for n in names if n not in others], [n for n in others if n not in names]
    one = left.transpose([names.index(name) for name in (*both, *rows, *inner)])
    other = right.transpose([others.index(name) for name in (*both, *inner, *columns)])
    shared, high = one.shape[: len(both)], one.shape[len(both) : len(both) + len(rows)]
    wide = other.shape[len(both) + len(inner) :]
    summed = prod(other.shape[len(both) : len(both) + len(inner)])
    shape = (*shared, *high, *wide)
    one, other = one.reshape(*shared, prod(high), summed), other.reshape(*shared, summed, prod(wide))
    if last and is_float(left.dtype) and left.dtype == right.dtype:
        array = multiply_rounded(one, other, left.dtype)
    else:
        one, other = to_float64(one), to_float64(other)
        memory.hold(shape, one.dtype)
        array = multiply_matrices(one, other)
    return (*both, *rows, *columns), array.reshape(shape)


def _spread(array: NDArray[Any], kept: _Names, target: _Names) -> NDArray[Any]:
    """Return elements on the diagonal of repeated output names, others masked."""
    shape = tuple(array.shape[kept.index(name)] for name in target)
    whole = np.ma.MaskedArray(np.zeros(shape, array.dtype), mask=np.ones(shape, np.bool_))
    indices = np.indices(array.shape, sparse=True)
    place: tuple[Any, ...] = tuple(np.broadcast_to(indices[kept.index(name)], array.shape) for name in target)
    whole[place] = array
    return whole
