"""Elements converted to another type as C++ converts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["convert"]

_TYPES: Final = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "boolean": "bool",
}  # fmt: skip


def convert(inputs: NDArray[Any], like: NDArray[Any] | None = None, *, to: str | None = None) -> NDArray[Any]:
    """Return the elements in the type of `like`, or the one whose name is `to`.

    Integers keep their low bits. Floats lose their fraction on the way to integers; what those cannot hold is undefined
    and masked. What is not 0 becomes true.
    """
    if like is None and to is None:
        raise InputError("convert: expected a type, or an array that has it")
    dtype = like.dtype if like is not None else _named(str(to))
    if "O" in (inputs.dtype.kind, dtype.kind):
        raise NoKernel("texts have no kernel that converts them")
    memory.empty(inputs.shape, dtype)
    if dtype.kind == "b":
        return np.asarray(inputs != np.zeros((), inputs.dtype))
    if is_float(dtype):
        return round_to(inputs.astype(np.int8) if inputs.dtype.kind == "b" else inputs, dtype)
    if not is_float(inputs.dtype):
        return inputs.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.trunc(inputs.astype(np.float64))
    held = (whole >= float(limits.min)) & (whole < float(limits.max) + (limits.max < 2**53))
    made = np.where(held, whole, 0).astype(dtype)
    return made if held.all() else np.ma.array(made, mask=~held)


def _named(name: str) -> np.dtype[Any]:
    if name == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            raise NoKernel("bf16 has no numpy type; install ml_dtypes to execute it") from None
        wide: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return wide
    if name not in _TYPES:
        raise NoKernel(f"no kernel converts to {name:.40}")
    return np.dtype(_TYPES[name])
