"""Concrete sizes for unknown dimensions, to prove that none is rejected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.validate.check import accepts
from specgate.validate.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Basis

By = TypeVar("By", str, None)


def rejecting_implementations(
    descriptor: Descriptor, level: str, basis: Basis, implementations: Sequence[By]
) -> Iterator[By]:
    """Yield the implementations that reject; shared checks run only once.

    None stands for all implementations.
    """
    facts, of_plain = Facts(), Facts()
    plain_descriptor = descriptor if descriptor.plain else with_sizes(descriptor)
    for by in implementations:
        result = plain_descriptor is not None and accepts(plain_descriptor, level, basis, by, of_plain)  # cheap
        if not result and (plain_descriptor is descriptor or accepts(descriptor, level, basis, by, facts) is False):
            yield by


def with_sizes(descriptor: Descriptor, size: int = 1) -> Descriptor | None:
    """Return `descriptor` with `size` for every unknown size.

    None where something other than a size is unknown or odd. A rule that fails with an unknown size fails for every
    value, so the verdict on the result says whether the original can be rejected. Outputs without any type are left
    out, as they cannot fail.
    """
    if descriptor.oddities:
        return None
    fields = {}
    for name, value in descriptor.fields.items():
        if value is not UNSTATED:
            fields[name] = _with_size(value, size)
    new_descriptor = replace(descriptor, fields=fields, plain=False)
    return new_descriptor if new_descriptor.plain else None


def _with_size(value: Any, size: int) -> Any:
    if isinstance(value, TensorDesc):
        if value.sizes is None or value.concrete:
            return value
        return value._replace(
            sizes=tuple([old_size if isinstance(old_size, int) else size for old_size in value.sizes])
        )
    if value.__class__ is list or value.__class__ is tuple:
        return [_with_size(item, size) for item in value]
    return value
