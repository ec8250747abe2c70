"""Input arrays for executing a descriptor."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc, integer_limits
from specgate.errors import InputError
from specgate.execution.containers import is_container, made_of
from specgate.execution.types import as_array, numpy_type
from specgate.generate.constants import consistent_constants
from specgate.generate.domains import element_kind
from specgate.generate.seeds import find_operator, named_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.dialect_spec import Dialect

__all__ = ["MAX_INPUT", "arrays"]

#: Maximum number of elements of an input.
MAX_INPUT: Final = 2**20
_PALETTE: Final = 6
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 3.0, -0.0, 0.5, -1.5, 100.0, float("nan"), float("inf"), float("-inf"), 1e30)
_TEXTS: Final = ("", "off", "on", "a b", "\u00e9\u4e2d", "\x00")


def arrays(descriptor: Descriptor, level: str | float) -> st.SearchStrategy[dict[str, NDArray[Any]]]:
    """Return a strategy for the input arrays of `descriptor` by name.

    Any value of the type may occur. Small integers are the most frequent; indices may be negative, out of range or
    huge, and floats may be nan, infinite or -0.0. A constant is omitted or has the descriptor's value. An input whose
    elements a rule reads (such as a depth) gets elements that are consistent with the rest of the descriptor. If none
    are found, its elements break only rules that are not structural, or are small. An array contains at most six
    different values.

    Raises InputError for an unknown size or type or an input of more than 2**20 elements, NoKernel for a type that
    numpy cannot represent.
    """
    level = named_level(descriptor.dialect, descriptor.operator, level)
    spec = find_operator(descriptor.dialect, descriptor.operator, descriptor.version or level)
    plan: dict[str, list[tuple[TensorDesc, np.dtype[Any] | None]]] = {}
    for info in spec.inputs:
        value = descriptor.fields.get(info.name)
        tensors = value if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) else [value]
        plan[info.name] = [(t, _carrier(spec.dialect, t, info.name)) for t in tensors if t is not None]
    many = {info.name for info in spec.inputs if info.type == "tensor[]"}

    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        fixed = consistent_constants(descriptor, level, lambda low, high: draw(st.integers(low, high)))
        entries: dict[str, Any] = {}
        for name, tensors in plan.items():
            if len(tensors) == 1 and tensors[0][0].value is not None and draw(st.booleans()):
                continue
            filled = [
                draw(
                    _contained(spec.dialect, tensor)
                    if dtype is None
                    else _filled(spec.dialect, tensor, dtype, fixed.get(name))
                )
                for tensor, dtype in tensors
            ]
            if filled and all(array is not None for array in filled):
                entries[name] = filled if name in many else filled[0]
        return entries

    return drawn()


def _carrier(dialect: Dialect, tensor: TensorDesc, name: str) -> np.dtype[Any] | None:
    """Return the numpy type of a tensor's elements.

    None for sequences, optionals and maps.
    """
    if is_container(dialect, tensor.type):
        return None
    if not tensor.concrete or tensor.type not in dialect.types:
        raise InputError("expected a known type and sizes, to draw arrays for it", place=name)
    if prod(size for size in tensor.sizes or () if isinstance(size, int) and size) > MAX_INPUT:
        raise InputError(f"expected at most {MAX_INPUT} elements, to draw arrays for it", place=name)
    return numpy_type(dialect, tensor.type)


@st.composite
def _contained(draw: st.DrawFn, dialect: Dialect, tensor: TensorDesc) -> Any:
    """Draw a sequence, optional or map of up to two arrays of one shape."""

    def array(word: str) -> Any:
        return draw(_filled(dialect, TensorDesc(word, (2, 3)), numpy_type(dialect, word), None))

    return made_of(str(tensor.type), dialect, array, draw(st.integers(0, 2)))


@st.composite
def _filled(
    draw: st.DrawFn, dialect: Dialect, tensor: TensorDesc, dtype: np.dtype[Any], fixed: tuple[Any, ...] | None
) -> NDArray[Any] | None:
    """Draw one array.

    None for a constant with too many elements or with elements that do not fit its type.
    """
    shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if fixed is not None:
        try:
            return as_array(list(fixed), dtype, (prod(shape),), "a constant").reshape(shape)
        except InputError:
            return None
    count = prod(shape)
    result: NDArray[Any] = np.empty(count, dtype)
    kind, bits = element_kind(dialect, tensor.type)
    element = _elements(kind, bits)
    palette = [draw(element) for _ in range(min(count, draw(st.integers(1, _PALETTE))))]
    with np.errstate(over="ignore"):
        colours = np.array(palette, dtype=dtype)
    if count <= _PALETTE:
        chosen = [draw(st.integers(0, len(palette) - 1)) for _ in range(count)]
    else:
        chosen = list(np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, len(palette), count))
    result[:] = colours[np.array(chosen, dtype=np.intp)] if count else result
    return result.reshape(shape)


def _elements(kind: str, bits: int) -> st.SearchStrategy[Any]:
    """Return a strategy for elements of a type; small ones are frequent."""
    if kind in "iu":
        low, high = integer_limits(bits, signed=kind != "u")
        small = st.integers(max(low, -9), min(high, 16))
        return small | small | st.integers(low, high) | st.sampled_from([high, low, high // 2])
    if kind == "O":
        return st.sampled_from(_TEXTS) | st.text(max_size=3)
    if kind == "b":
        return st.booleans()
    width: Literal[16, 32, 64] = 64 if (kind, bits) in {("f", 64), ("c", 128)} else 32 if bits >= 32 else 16
    numbers = st.sampled_from(_FLOATS) | st.integers(-9, 16).map(float) | st.floats(width=width)
    return st.builds(complex, numbers, numbers) if kind == "c" else numbers
