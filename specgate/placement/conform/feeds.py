"""Arrays for the first run of a model of one node that fit its descriptor, where drawn ones did not do."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from specgate.conform.fill import fill
from specgate.descriptors.core import TensorDesc
from specgate.errors import Error
from specgate.execution.types import as_array, numpy_type
from specgate.placement.oracle.cpu_inputs import MOST_ELEMENTS
from specgate.placement.outcomes import run_failure, with_open_outputs
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.placement.oracle.cpu import Feed

__all__ = ["fitting_feeds", "unfit"]

#: Small values, values at which something may change, and others of the first kind.
_SETS: Final = (True, False, True)
#: Of an input whose values rules may read: sizes, axes, a depth.
_MOST_VALUES: Final = 64


def fitting_feeds(descriptor: Descriptor, level: str) -> list[Feed]:
    """Return sets of arrays by a model's input names, none where the descriptor allows none.

    Inputs that rules read get elements that satisfy them; constants get their own, as a model may have them as inputs.
    """
    feeds: list[Feed] = []
    if any(tensor.known_elements > MOST_ELEMENTS for _, tensor in descriptor.tensors()):
        return feeds
    for at, tame in enumerate(_SETS):
        try:
            made = fill(descriptor, level, Random(at), tame=tame)  # noqa: S311  # repeatable on purpose
            feeds.append(_constants(descriptor) | _by_name(made))
        except (Error, ValueError, TypeError, KeyError, ArithmeticError):  # a descriptor that breaks a rule, often
            break
    return feeds


def unfit(descriptor: Descriptor, level: str, feed: Feed, release: str) -> bool:
    """Return whether arrays break a rule, or a condition of a release, that the descriptor without values does not.

    What it states of its outputs' shapes does not count.
    """
    opened = replace(with_open_outputs(descriptor), version=level)
    values = {
        name: tensor._replace(value=tuple(feed[name].ravel().tolist()))
        for name, tensor in opened.fields.items()
        if name in feed and isinstance(tensor, TensorDesc) and feed[name].size <= _MOST_VALUES
    }
    held = replace(opened, fields={**opened.fields, **values}, plain=False)
    return bool(_broken(held, level, release) - _broken(opened, level, release))


def _broken(descriptor: Descriptor, level: str, release: str) -> set[str]:
    failure = run_failure(descriptor, release)
    findings = [*check_at(descriptor, level, "documented").findings, *([failure[0]] if failure else [])]
    return {found.id for found in findings}


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
