"""Device capabilities that element types require, as notes or findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc, format_value
from specgate.dialects import packages
from specgate.errors import InputError
from specgate.slotted import replace
from specgate.spec.tables import dialect as tables
from specgate.spec.tables import until_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Verdict

#: The name of the finding on a type that a device does not support.
DEVICE_RULE: Final = "device-capability"
_WORDS: Final = {"all", "none"}


@until_change
def required_capabilities(dialect: str, level: str) -> Mapping[str, tuple[str, ...]]:
    """Return the capabilities that each optional type requires at a level.

    A device needs one of the listed capabilities to support the type.
    """
    table = tables(dialect)
    return {
        name: tuple(gate["any"])
        for name, info in table.types.items()
        for gate in info.get("capability") or ()
        if table.holds(level, gate.get("since"), gate.get("until"))
    }


def capabilities(dialect: str) -> list[str]:
    """Return the names of all capabilities that types of a dialect require."""
    types = tables(dialect).types.values()
    return sorted({name for info in types for gate in info.get("capability") or () for name in gate["any"]})


def device_of(device: str | Iterable[str] | None, dialect: str | None = None) -> frozenset[str] | None:
    """Return the capabilities of a device: names, ``all`` or ``none``.

    A string may hold several names separated by commas. None, an unknown device, stays None. dialect: the one whose
    types define the names; None selects the dialect with optional types.

    Raises InputError for an unknown capability.
    """
    if device is None:
        return None
    types_by_option = capabilities(dialect or next(package.name for package in packages() if package.has_devices))
    if not isinstance(device, Iterable):
        raise InputError(f"expected a device as text or several texts, found {format_value(device)}")
    texts = [device] if isinstance(device, str) else list(device)
    names = {part.strip() for text in texts for part in str(text).split(",")} - {""}
    strange = sorted(names - set(types_by_option) - _WORDS)
    if strange or not names:
        raise InputError(
            f"expected a device as {', '.join(types_by_option)}, all or none, found {', '.join(strange)[:60]!r}"
        )
    return frozenset(types_by_option) if "all" in names else frozenset(names - _WORDS)


def unsupported_types(descriptor: Descriptor, level: str, device: frozenset[str]) -> list[tuple[str, str]]:
    """Return (place, type) of each tensor that `device` does not support."""
    texts_by_name = required_capabilities(descriptor.dialect, level)
    if not texts_by_name:
        return []
    return [
        (place, str(tensor.type))
        for place, tensor in descriptor.tensors()
        if tensor.type in texts_by_name and device.isdisjoint(texts_by_name[str(tensor.type)])
    ]


def _may_need(descriptor: Descriptor, entries: Mapping[str, Any]) -> bool:
    """Return whether a tensor may have one of the types.

    This quick test does not look into arrays of tensors and returns True for them.
    """
    for value in descriptor.fields.values():
        if value.__class__ is TensorDesc:
            if value.type in entries:
                return True
        elif isinstance(value, list | tuple):
            return True
    return False


def add_capability_notes(verdict: Verdict, descriptor: Descriptor, level: str) -> Verdict:
    """Return an accepting verdict with notes on required capabilities.

    Other verdicts are returned unchanged.
    """
    texts_by_name = required_capabilities(descriptor.dialect, level)
    if not texts_by_name or verdict.accepted is not True or not _may_need(descriptor, texts_by_name):
        return verdict
    notes = [
        f"{place} is {tensor.type}, which requires a device with {' or '.join(texts_by_name[str(tensor.type)])}"
        for place, tensor in descriptor.tensors()
        if tensor.type in texts_by_name
    ]
    return replace(verdict, notes=(*verdict.notes, *notes)) if notes else verdict
