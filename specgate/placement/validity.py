"""Nodes that the runtime refuses when it loads a model, wherever they might run: they are not what ONNX takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.spec.tables import dialect
from specgate.validate.check import check_at
from specgate.validate.looking import UNSURE, looked_at, named_rules

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Finding

__all__ = ["refusal"]

#: The implementation whose own ways the tables know: a session of the runtime on the CPU.
_RUNTIME: Final = "onnxruntime"


def refusal(descriptor: Descriptor | None) -> Finding | None:
    """Return why the runtime refuses a node of a model, None where it takes it, or nothing certain is known.

    What the runtime does not look at, or looks at by chance, is no reason.
    """
    if descriptor is None or descriptor.version is None:
        return None
    verdict = check_at(descriptor, descriptor.version, "observed", _RUNTIME)
    if verdict.accepted is not False:
        return None
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    unsure = {name for key in UNSURE for name in named_rules(key, spec, descriptor.version, _RUNTIME)}
    seen = looked_at(spec, _RUNTIME, {found.id for found in verdict.findings})
    certain = (found for found in verdict.findings if found.id in seen and found.id.rpartition("/")[2] not in unsure)
    return next(certain, None)
