"""Arrays to execute a descriptor with, from a seed: small numbers, the ends of the type, and what is special to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect as tables
from specgate.testing.arrays import consistent_constants

if TYPE_CHECKING:
    from random import Random

    import numpy as np
    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor

__all__ = ["fill"]

_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, -1.5, 3.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e30)


def fill(descriptor: Descriptor, level: str, random: Random) -> dict[str, Any]:
    """Return arrays by input name; those that rules read (a depth) fit the descriptor. Constants are left out.

    Raises InputError and NoKernel as `specgate.testing.arrays` does.
    """
    spec = tables(descriptor.dialect).operator(descriptor.operator)
    fixed = consistent_constants(descriptor, level, random.randint)
    made: dict[str, Any] = {}
    for info in spec.inputs:
        value = descriptor.fields.get(info.name)
        if isinstance(value, TensorDesc) and value.value is None:
            made[info.name] = _array(spec, value, fixed.get(info.name), random)
        elif isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
            made[info.name] = [_array(spec, item, None, random) for item in value]
    return made


def _array(spec: Any, tensor: TensorDesc, fixed: tuple[Any, ...] | None, random: Random) -> NDArray[Any]:
    import numpy as np

    dtype = numpy_type(spec.dialect, str(tensor.type))
    shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    count = int(np.prod(shape, dtype=np.int64))
    if fixed is not None:
        return as_array(list(fixed), dtype, (count,), "a constant").reshape(shape)
    bits = spec.dialect.bits.get(tensor.type) or dtype.itemsize * 8
    palette = [_element(dtype, bits, random) for _ in range(12)]
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([random.choice(palette) for _ in range(count)], dtype=dtype).reshape(shape)


def _element(dtype: np.dtype[Any], bits: int, random: Random) -> Any:
    if dtype.kind in "iu":
        low, high = (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        wild = random.randrange(5) == 0
        return random.choice([low, high, high // 2]) if wild else random.randint(max(low, -9), min(high, 12))
    if dtype.kind == "b":
        return random.randrange(2) == 1
    if dtype.kind in "fcV":
        return random.choice(_FLOATS) if random.randrange(3) == 0 else float(random.randint(-9, 16))
    return random.choice(["", "on", "off"])
