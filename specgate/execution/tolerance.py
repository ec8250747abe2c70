"""Tolerance of results: the table's `tolerance` * max(1, abs(expected)).

The number is an expression over the fields, such as ``0.001 if type(OutputTensor) == FLOAT16 else 4e-6``: about one
unit in the last place of FLOAT16, and for others the error of an implementation's polynomials. A tolerance of 0
requires equal values; -0 equals 0, and any nan equals any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.descriptors.core import Descriptor
from specgate.errors import InputError
from specgate.execution.observed import other_types
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate
from specgate.rules.parse import parse
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from specgate.verdict import Basis

__all__ = ["differing", "tolerance_of"]


def tolerance_of(
    descriptor: Descriptor,
    level: str,
    *,
    basis: Basis = "documented",
    by: str | None = None,
    arrays: Mapping[str, Any] | None = None,
) -> float:
    """Return the tolerance of a descriptor's outputs at a level, default 0.

    That of a fused operator is added, as if it computed the first output. basis, by, arrays: as for `execute_at`. Where
    its values are computed in other element types, the tolerance of these types applies if it is larger. Raises
    InputError where the expression cannot be evaluated.
    """
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    own = _evaluated(descriptor, descriptor.fields, level)
    other = None if basis == "documented" else other_types(descriptor, arrays or {}, spec, (level, basis, by))
    if other is not None:
        own = max(own, _evaluated(descriptor, other.retyped(descriptor).fields, level))
    first = next((descriptor.fields[info.name] for info in spec.outputs if descriptor.fields.get(info.name)), None)
    for value in descriptor.fields.values():
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, Descriptor):
                inner = dialect(part.dialect).operator(part.operator)
                tensors = {info.name: first for info in (*inner.inputs, *inner.outputs)}
                own += _evaluated(part, {**tensors, **part.fields}, level)
    return own


def _evaluated(descriptor: Descriptor, entries: Mapping[str, Any], level: str) -> float:
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    text = spec.table.tolerance
    fields = {name: entries.get(name, info.default) for name, info in spec.fields.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    rule = parse(text, spec.scope, expect=None)
    try:
        value = UNKNOWN if any(context.absent(path) for path in rule.needs) else evaluate(rule, context)
    except Undefined as error:
        raise InputError(f"the tolerance of {spec.name}: {error}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"the tolerance of {spec.name} must be a known number: {text}")
    return float(value)


def differing(expected: Any, value: Any, tolerance: float, summed: Any = None) -> NDArray[np.bool_]:
    """Return where two arrays of one shape differ beyond the tolerance.

    The limit is tolerance * max(1, abs(expected), summed). summed: for sums of products, the sums of the absolute
    products, because large terms cancel. Masked elements of `expected` may be anything; masked ones of `value` differ.
    An infinity equals only itself. Raises InputError for different shapes or types.
    """
    ours, theirs = np.ma.getdata(expected), np.ma.getdata(value)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        one, other = (f"{array.dtype} {list(array.shape)}" for array in (ours, theirs))
        raise InputError(f"expected arrays of one type and shape, found {one} and {other}")
    wrong = np.asarray(ours != theirs, np.bool_)
    if ours.dtype.kind not in "OUSb":
        wrong &= ~((ours != ours) & (theirs != theirs))  # noqa: PLR0124  # nan, also in types that isnan lacks
        if tolerance > 0:
            wide, real = ours.astype(np.float64), theirs.astype(np.float64)
            with np.errstate(invalid="ignore"):
                scale = np.maximum(1.0, np.abs(wide))
                if summed is not None:
                    scale = np.maximum(scale, np.nan_to_num(summed, nan=0.0, posinf=0.0))
                near = np.abs(wide - real) <= tolerance * scale
            wrong &= ~(near & np.isfinite(wide) & np.isfinite(real))
    result: NDArray[np.bool_] = (wrong | np.ma.getmaskarray(value)) & ~np.ma.getmaskarray(expected)
    return result
