"""Values that differ, beside what observed entries say: which of them an entry explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import TensorDesc, is_record
from specgate.rules.evaluate import Context, Undefined, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from specgate.conform.elements import Differing
    from specgate.conform.result import Kind
    from specgate.descriptors.core import Descriptor
    from specgate.rules.language import Rule
    from specgate.spec.forms import OtherValues, Overlay
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["classify", "classify_whole"]


class _Entry(NamedTuple):
    said: OtherValues
    bug: bool
    context: Context


def classify(
    spec: OperatorSpec,
    level: str,
    implementation: str,
    descriptor: Descriptor,
    arrays: Mapping[str, Any],
    outputs: Iterable[Differing],
) -> tuple[Kind, str, list[Differing]]:
    """Return the kind of a difference, what the entries that explain it say, and the outputs as they are left.

    The outputs are those in which elements differ that no entry explains, with only those as wrong. Where an entry
    names elements, the others still have to be explained; elements that theirs did not write are explained only by an
    entry that names none.
    """
    used: dict[str, bool] = {}
    left = []
    for output in outputs:
        wrong = output.wrong.copy()
        for entry in _entries(spec, level, implementation, descriptor, output.tensor):
            if not wrong.any():
                break
            hit = wrong if entry.said.elements is None else _hit(entry, output._replace(wrong=wrong), arrays)
            if hit.any():
                used[entry.said.what] = used.get(entry.said.what, False) or entry.bug
                wrong = wrong & ~hit
        if wrong.any():
            left.append(output._replace(wrong=wrong))
    if left:
        return "unexplained", "", left
    return "bug" if any(used.values()) else "recorded", "; ".join(used), []


def classify_whole(spec: OperatorSpec, level: str, implementation: str, descriptor: Descriptor) -> tuple[Kind, str]:
    """Return the kind of outputs of another type or shape, and what entries that name no elements say of them."""
    entries = _entries(spec, level, implementation, descriptor, None)
    used = {entry.said.what: entry.bug for entry in entries if entry.said.elements is None}
    return "bug" if any(used.values()) else "recorded" if used else "unexplained", "; ".join(used)


def _entries(
    spec: OperatorSpec, level: str, implementation: str, descriptor: Descriptor, tensor: Any
) -> Iterator[_Entry]:
    """Yield what is said of such a descriptor: by the operator's table, then of its output by that of any tensor."""
    dialect = spec.dialect
    infos = {name: spec.field_at(name, level) or info for name, info in spec.fields.items()}
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    of_operator = Context(fields, dialect.limits(level), dialect.bits, spec.scope.defines)
    of_tensor = Context({"tensor": tensor}, dialect.limits(level), dialect.bits)
    both: list[tuple[list[Overlay], Context]] = [(spec.overlays, of_operator), (dialect.tensor_overlays, of_tensor)]
    for overlays, context in both:
        for overlay in overlays:
            for said in overlay.values if overlay.holds(level, implementation) else ():
                if said.when is None or _holds(said.when, context):
                    yield _Entry(said, overlay.bug, context)


def _holds(rule: Rule, context: Context) -> bool:
    try:
        return not any(map(context.absent, rule.needs)) and evaluate(rule, context) is True
    except Undefined:
        return False


def _one(value: Any) -> bool:
    """Whether an attribute is one for all elements: no tensor, and no list but the numbers that a record names."""
    return is_record(value) or not isinstance(value, TensorDesc | list | tuple)


def _hit(entry: _Entry, output: Differing, arrays: Mapping[str, Any]) -> NDArray[Any]:
    """Return at which of the differing elements the entry's condition holds.

    A tensor of size 1 along a dimension has one element for all places along it. One of other sizes has none at the
    same place, nor is it there for the condition.
    """
    import numpy as np

    rule = entry.said.elements
    assert rule is not None  # the caller has looked  # noqa: S101
    fields = {n: v if _one(v) else None for n, v in entry.context.fields.items()}
    sides = {output.name: output.ours, "tensor": output.ours, "ours": output.ours, "theirs": output.theirs}
    shape = output.ours.shape
    given = {n: a for n, a in arrays.items() if isinstance(a, np.ndarray) and a.ndim == len(shape)}
    fitting = {n: a for n, a in given.items() if all(x in {1, y} for x, y in zip(a.shape, shape, strict=True))}
    same = {n: np.broadcast_to(a, shape) for n, a in fitting.items()}
    read = {name: array for name, array in {**same, **sides}.items() if name in rule.fields}
    hit = np.zeros(output.wrong.shape, np.bool_)
    for place in zip(*np.nonzero(output.wrong & output.written), strict=True) if hit.ndim else [()]:
        values = {name: array[place].item() for name, array in read.items()}
        hit[place] = _holds(rule, Context({**fields, **values}, entry.context.numbers))
    return hit
