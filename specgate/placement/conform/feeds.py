"""Arrays for the first run of a model of one node that fit its descriptor, where drawn ones did not do."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.fill import fill
from specgate.descriptors.core import TensorDesc
from specgate.errors import Error
from specgate.execution.types import as_array, numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.placement.oracle.cpu import Feed

__all__ = ["fitting_feeds"]

#: Small values, values at which something may change, and others of the first kind.
_SETS: Final = (True, False, True)


def fitting_feeds(descriptor: Descriptor, level: str) -> list[Feed]:
    """Return sets of arrays by a model's input names, none where the descriptor allows none.

    Inputs that rules read get elements that satisfy them; constants get their own, as a model may have them as inputs.
    """
    feeds: list[Feed] = []
    for at, tame in enumerate(_SETS):
        try:
            made = fill(descriptor, level, Random(at), tame=tame)  # noqa: S311  # repeatable on purpose
            feeds.append(_constants(descriptor) | _by_name(made))
        except (Error, ValueError, TypeError, KeyError, ArithmeticError):  # a descriptor that breaks a rule, often
            break
    return feeds


def _by_name(arrays: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, array in arrays.items():
        named |= {f"{name}_{at}": one for at, one in enumerate(array)} if isinstance(array, list) else {name: array}
    return {name: array for name, array in named.items() if hasattr(array, "dtype")}


def _constants(descriptor: Descriptor) -> dict[str, Any]:
    table = dialect(descriptor.dialect)
    return {
        name: as_array(list(tensor.value), numpy_type(table, str(tensor.type)), (tensor.known_elements,), name).reshape(
            tensor.sizes
        )
        for name, tensor in descriptor.fields.items()
        if isinstance(tensor, TensorDesc) and tensor.value is not None and tensor.concrete
    }
