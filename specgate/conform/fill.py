"""Arrays to execute a descriptor with, from a seed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import TensorDesc
from specgate.errors import InputError
from specgate.execution.kernels import SUMMING
from specgate.execution.recipe import carrier_of
from specgate.execution.tolerance import tolerance_of
from specgate.execution.types import as_array
from specgate.generate.constants import consistent_constants
from specgate.oracles.cases import boundary_arrays, laid_out, tame_arrays
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from random import Random

    from specgate.descriptors.core import Descriptor

__all__ = ["fill"]


def fill(descriptor: Descriptor, level: str, random: Random, *, tame: bool = False) -> dict[str, Any]:
    """Return arrays by input name, of values at which something may change, or of small ones; constants are left out.

    Where a kernel sums, values at which that changes with the order of the sum are left out too.

    An input that rules read (a depth) gets what fits the rest of the descriptor. Raises InputError and NoKernel as
    `specgate.testing.arrays` does.
    """
    table = tables(descriptor.dialect)
    spec = table.operator(descriptor.operator)
    if tame:
        made = tame_arrays(descriptor, random)
    else:
        made = boundary_arrays(descriptor, random, summed=_summed(descriptor, level))
    for name, elements in consistent_constants(descriptor, level, random.randint).items():
        tensor = descriptor.fields[name]
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        made[name] = as_array(list(elements), carrier_of(spec, name, str(tensor.type)), (prod(shape),), name).reshape(
            shape
        )
    given = {n: array for n, array in made.items() if not _constant(descriptor.fields.get(n))}
    return laid_out(descriptor, given) if table.tensor_rules else given  # others have no memory layout


def _summed(descriptor: Descriptor, level: str) -> bool:
    """Whether the outputs are sums whose order is left open, and so are not asked for bit by bit."""
    recipe = tables(descriptor.dialect).operator(descriptor.operator).table.recipe
    if recipe is None or recipe["kernel"] not in SUMMING:
        return False
    try:
        return tolerance_of(descriptor, level) > 0
    except InputError:  # of outputs whose types are not stated yet
        return True


def _constant(value: Any) -> bool:
    return isinstance(value, TensorDesc) and value.value is not None
