"""What a device must be able to do before it takes a type that the level takes, as notes where it is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import TensorDesc
from specgate.dialects import packages
from specgate.errors import InputError
from specgate.slotted import replace
from specgate.spec.tables import dialect as tables
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Verdict

__all__ = ["DEVICE_RULE", "capabilities", "device_of", "lacking", "noted", "required_capabilities"]

#: The name of the finding on a type that a device does not take.
DEVICE_RULE: Final = "device-capability"
_WORDS: Final = {"all", "none"}
_known: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}


@on_change
def _forget() -> None:
    """Drop what was read from tables that are gone."""
    _known.clear()


def required_capabilities(dialect: str, level: str) -> Mapping[str, tuple[str, ...]]:
    """Return, for each type that some devices refuse at a level, the capabilities that allow it (one is enough)."""
    texts_by_name = _known.get((dialect, level))
    if texts_by_name is None:
        table = tables(dialect)
        texts_by_name = _known[dialect, level] = {
            name: tuple(gate["any"])
            for name, info in table.types.items()
            for gate in info.get("capability") or ()
            if table.holds(level, gate.get("since"), gate.get("until"))
        }
    return texts_by_name


def capabilities(dialect: str) -> list[str]:
    """Return the names of all capabilities that the types of a dialect ask for."""
    types = tables(dialect).types.values()
    return sorted({name for info in types for gate in info.get("capability") or () for name in gate["any"]})


def device_of(given: str | Iterable[str] | None, dialect: str | None = None) -> frozenset[str] | None:
    """Return what a device reports: names of capabilities (several in one text with commas), ``all``, ``none``.

    None, a device that is not known, stays None. dialect: whose types ask for them; None for the one that
    has such types.

    Raises InputError for a name that no type asks for.
    """
    if given is None:
        return None
    known = capabilities(dialect or next(one.name for one in packages() if one.has_devices))
    texts = [given] if isinstance(given, str) else list(given)
    names = {part.strip() for text in texts for part in str(text).split(",")} - {""}
    strange = sorted(names - set(known) - _WORDS)
    if strange or not names:
        raise InputError(f"expected a device as {', '.join(known)}, all or none, found {', '.join(strange)[:60]!r}")
    return frozenset(known) if "all" in names else frozenset(names - _WORDS)


def lacking(descriptor: Descriptor, level: str, device: frozenset[str]) -> list[tuple[str, str]]:
    """Return (place, type) of each tensor whose type asks at `level` for what `device` lacks."""
    texts_by_name = required_capabilities(descriptor.dialect, level)
    if not texts_by_name:
        return []
    return [
        (place, str(tensor.type))
        for place, tensor in descriptor.tensors()
        if tensor.type in texts_by_name and device.isdisjoint(texts_by_name[str(tensor.type)])
    ]


def _asks(descriptor: Descriptor, entries: Mapping[str, Any]) -> bool:
    """Whether a tensor may be of one of the types, seen at a glance: an array may hold one."""
    for value in descriptor.fields.values():
        if value.__class__ is TensorDesc:
            if value.type in entries:
                return True
        elif isinstance(value, list | tuple):
            return True
    return False


def noted(verdict: Verdict, descriptor: Descriptor, level: str) -> Verdict:
    """Return an accepting verdict with what its types ask of a device that is not known; any other as it is."""
    texts_by_name = required_capabilities(descriptor.dialect, level)
    if not texts_by_name or verdict.accepted is not True or not _asks(descriptor, texts_by_name):
        return verdict
    notes = [
        f"{place} is {tensor.type}, which needs a device that reports {' or '.join(texts_by_name[str(tensor.type)])}"
        for place, tensor in descriptor.tensors()
        if tensor.type in texts_by_name
    ]
    return replace(verdict, notes=(*verdict.notes, *notes)) if notes else verdict
