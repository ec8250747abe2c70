"""The elements of a buffer as DxDispatch prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError

if TYPE_CHECKING:
    from specgate.dialects.directml.dxdispatch.buffers import Buffer

__all__ = ["MAX_PRINTED", "printed"]

#: Buffers with more elements are not printed.
MAX_PRINTED: Final = 1_000_000


def printed(buffer: Buffer, verbose: bool) -> str:
    """Return the initialized elements in DxDispatch's print format.

    The format is C++'s default with 6 significant digits; 8-bit integers are printed as numbers. verbose: one line per
    element with its index and bits.
    """
    if buffer.type is None:
        raise InputError("a buffer of mixed types cannot be printed")
    values = buffer.values(buffer.initialised)
    text = [_number(value) for value in values[:MAX_PRINTED]]
    if verbose:
        width, digits = len(str(values.size)), values.itemsize * 2
        bits = values[:MAX_PRINTED].view(f"u{values.itemsize}")
        text = [f"[{i:{width}}] {value} (0x{int(bits[i]):{digits}X})" for i, value in enumerate(text)]
    if values.size > MAX_PRINTED:
        text.append(f"… ({values.size} elements)")
    return ("\n" if verbose else ", ").join(text)


def _number(value: Any) -> str:
    if value.dtype.kind in "iu":
        return str(value)
    return "nan" if np.isnan(value) else f"{float(value):g}"
