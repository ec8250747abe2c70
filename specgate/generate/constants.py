"""Elements for the inputs whose elements rules read.

The elements are consistent with the rest of a descriptor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc
from specgate.generate.domains import element_kind
from specgate.generate.moves import put
from specgate.generate.repair import mended
from specgate.generate.seeds import find_operator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved
    from specgate.validate.failures import Failure

__all__ = ["consistent_constants"]

#: The first elements to try: all equal, or ascending.
_STARTS: Final = 4


def consistent_constants(
    descriptor: Descriptor, level: str, pick: Callable[[int, int], int]
) -> Mapping[str, tuple[Any, ...]]:
    """Return elements for the inputs whose elements rules read.

    These are the descriptor's own elements, or elements consistent with the rest. If none are found, the result breaks
    only rules that are not structural, or else consists of small numbers. String inputs are omitted.
    """
    own = descriptor.version or level
    spec = find_operator(descriptor.dialect, descriptor.operator, own)
    tensors = {n: t for n, t in descriptor.fields.items() if isinstance(t, TensorDesc) and n in spec.fields}
    items_by_name = {n: t.value for n, t in tensors.items() if t.value is not None}
    resolved = spec.resolve(own)
    if resolved is None:
        return items_by_name
    read = _read(resolved)
    inputs = {info.name for info in spec.inputs}
    open_ones = {
        name: tensor
        for name, tensor in tensors.items()
        if name in read & inputs and tensor.value is None and tensor.concrete
        if element_kind(spec.dialect, tensor.type)[0] != "O"
    }
    if not open_ones:
        return items_by_name
    solved = _solved(descriptor, open_ones, resolved, pick)
    return {
        **items_by_name,
        **(solved or {name: (pick(0, 9),) * tensor.known_elements for name, tensor in open_ones.items()}),
    }


def _solved(
    descriptor: Descriptor,
    open_ones: Mapping[str, TensorDesc],
    resolved: Resolved,
    pick: Callable[[int, int], int],
) -> dict[str, tuple[Any, ...]] | None:
    others = {name: value for name, value in descriptor.fields.items() if name not in open_ones}

    def keep(descriptor: Descriptor) -> bool:
        """Return whether only elements differ."""
        if any(descriptor.fields.get(name) != value for name, value in others.items()):
            return False
        kept = (descriptor.fields.get(name) for name in open_ones)
        return all(
            isinstance(tensor, TensorDesc) and tensor.value is not None and tensor._replace(value=None) == bare
            for tensor, bare in zip(kept, open_ones.values(), strict=True)
        )

    def structural(failure: Failure) -> bool:
        return failure.structural

    for only in (lambda _: True, structural):
        for _ in range(_STARTS):
            first, step = pick(0, 3), pick(0, 1)
            values = {n: tuple(first + step * at for at in range(t.known_elements)) for n, t in open_ones.items()}
            begun = put(descriptor, {n: t._replace(value=values[n]) for n, t in open_ones.items()})
            done = mended(begun, [resolved], pick, keep, only)
            if done is not None:
                return {name: done.fields[name].value for name in open_ones}
    return None


def _read(resolved: Resolved) -> set[str]:
    """Return the fields whose elements some rule or condition reads."""
    forms = [form for row in resolved.alternatives for form in row.rules]
    rules = [rule for form in forms for rule in (form.require, form.when) if rule is not None]
    rules += [case.when for case in resolved.cases]
    return {need.removesuffix(".value") for rule in rules for need in rule.needs if need.endswith(".value")}
