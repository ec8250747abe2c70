"""Powers, by way of logarithms for floats and exactly for integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32
from specgate.execution.kernels.elementwise import held, paired, prepared, quiet, whole

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from specgate.execution.kernels.elementwise import Broadcast

__all__ = ["power", "power_by_logarithm", "power_to_constant"]

_WORD: Final = 32


def power(base: NDArray[Any], exponent: NDArray[Any], **how: Unpack[Broadcast]) -> NDArray[Any]:
    """Return base ** exponent in the base's type, where types may differ.

    Where one of them is a float: as in float64, rounded; a base of integers has the result truncated and held in its
    range. Of integers: exact, wrapped around in the bits of the base; 0 for a negative exponent unless the base is 1 or
    -1.
    """
    square = exponent.size == 1 and exponent.dtype.kind == "f" and exponent.item() == 2 and base.dtype.kind == "f"
    base, exponent = paired(
        "power", base, exponent, same_type=False, repeat=not square or exponent.ndim > base.ndim, **how
    )
    with quiet():
        if square:
            return round_to(np.square(to_float32(base, base.dtype)), base.dtype)
        if is_float(base.dtype) or is_float(exponent.dtype):
            result = np.power(base.astype(np.float64), exponent.astype(np.float64))
            return round_to(result, base.dtype) if is_float(base.dtype) else held(result, base.dtype)
        whole("power", base)
        whole("power", exponent)
        return _integer_power(base, exponent).astype(base.dtype)


def power_by_logarithm(
    base: NDArray[Any], exponent: NDArray[Any], *, scale_bias: tuple[float, float] | None = None
) -> NDArray[Any]:
    """Return base ** exponent in the base's type, where types may differ.

    Where one of them is a float: 2 ** (exponent * log2(abs(base))), which has no value for an infinity to the power of
    0; the sign of a negative base where the exponent is odd, nan where it is no whole number; 0 of a base of 0 with any
    exponent. A base of integers has the result truncated and held in its range.
    Of integers: exact, wrapped around in 32 bits (64 for wider types) and then held in the range of narrower types; 0
    for a negative exponent unless the base is 1 or -1.
    scale_bias: applied to the bases and to the exponents; narrower integers become ones of 32 bits by it.
    """
    base, exponent = paired("power_by_logarithm", base, exponent, same_type=False)
    given = (base, exponent) if scale_bias is None else (_word(base), _word(exponent))
    x, y = (prepared(array, scale_bias) for array in given)
    with quiet():
        if is_float(base.dtype) or is_float(exponent.dtype):
            work = np.dtype(np.float64 if base.dtype == np.float64 else np.float32)
            result = _real_power(x.astype(work), y)
            return round_to(result, base.dtype) if is_float(base.dtype) else held(result, base.dtype)
        whole("power_by_logarithm", base)
        whole("power_by_logarithm", exponent)
        return held(_integer_power(x, y), base.dtype)


def _word(x: NDArray[Any]) -> NDArray[Any]:
    """Return integers of at least 32 bits."""
    return x if is_float(x.dtype) else x.astype(f"{x.dtype.kind}{max(_WORD // 8, x.dtype.itemsize)}")


def power_to_constant(
    x: NDArray[Any], *, exponent: float, scale_bias: tuple[float, float] | None = None
) -> NDArray[Any]:
    """Return every float to one power, as `power_by_logarithm` has it."""
    if not is_float(x.dtype):
        raise InputError(f"power_to_constant: expected floating-point elements, found {x.dtype}")
    values = prepared(x, scale_bias)
    with quiet():
        power = np.full(x.shape, exponent, np.float64).astype(values.dtype)
        return round_to(_real_power(values, power), x.dtype)


def _real_power(x: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    y = exponent.astype(np.float32 if exponent.dtype.itemsize < 8 else np.float64).astype(np.float64)
    size = np.exp2(y * np.log2(np.abs(x.astype(np.float64)))).astype(x.dtype)
    odd = np.fmod(y, 2) != 0 if is_float(exponent.dtype) else exponent % 2 != 0
    fraction = (y != np.trunc(y)) | np.isinf(y)
    signed = np.where(x < 0, np.where(fraction, np.asarray(np.nan, x.dtype), np.where(odd, -size, size)), size)
    return np.where(x == 0, np.zeros((), x.dtype), signed)


def _integer_power(x: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    """Wrapped around in 32 bits, or in 64 of such integers."""
    base = _word(x)
    wide = base.dtype
    left = np.where(exponent > 0, exponent, 0).astype(np.uint64)
    result, factor = np.ones(x.shape, wide), base
    while left.any():
        result = np.where(left % 2 == 1, result * factor, result)
        factor, left = factor * factor, left // 2
    unit = np.where(base == 1, 1, np.where((base == -1) if wide.kind == "i" else False, 1 - 2 * (exponent % 2 != 0), 0))
    return np.where(exponent < 0, unit.astype(wide), result)
