"""Settings for linting models, besides targets and basis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specgate.descriptors.core import format_value
from specgate.descriptors.python_values import python_values
from specgate.errors import InputError
from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Iterable

_LARGEST = 2**63 - 1


@slotted(frozen=True)
class LintSettings:
    """Settings of inference, pins and severity.

    infer: let the onnx package infer types and shapes that a model omits. pins: sizes of symbolic dimensions, by the
    name of the dimension (``batch``) or by ``INPUT[AXIS]`` for an unnamed dimension of an input. custom_domains:
    domains that the targets are known to provide; they are not reported. placing: values computed from sizes are not
    treated as known, and nodes are read later with the types that a runtime infers. strict: a pin without effect is an
    error, not a note.
    """

    infer: bool = True
    pins: Mapping[str, int] = field(default_factory=dict)
    custom_domains: tuple[str, ...] = ()
    placing: bool = False
    strict: bool = False


def checked_pins(pins: object) -> dict[str, int]:
    """Return validated pins; raise InputError for wrong names or sizes."""
    result = {} if pins is None else pins
    if not isinstance(result, Mapping):
        raise InputError(
            f"expected pins as a mapping from dimension to size, such as {{'batch': 1}}, found {format_value(pins)}"
        )
    checked: dict[str, int] = {}
    for name, value in result.items():
        size = python_values(value)
        if not isinstance(name, str) or size.__class__ is not int or not 0 <= size <= _LARGEST:
            text = f"{format_value(name)}: {format_value(size)}"
            raise InputError(f"expected a pin with a dimension name and a size, such as batch: 1, found {text}")
        checked[name] = size
    return checked


def read_pins(texts: Iterable[str]) -> dict[str, int]:
    """Parse ``NAME=SIZE`` texts.

    Raises InputError for a malformed text, an invalid size, or a name with two sizes.
    """
    pins: dict[str, int] = {}
    for text in texts:
        name, equals, size = text.rpartition("=")
        number = int(size) if size.isascii() and size.isdecimal() and len(size) < 20 else -1
        if not equals or not name or not 0 <= number <= _LARGEST:
            raise InputError(f"expected --pin NAME=SIZE such as batch=1, found {format_value(text)}")
        if pins.setdefault(name, number) != number:
            raise InputError(f"expected one size for {format_value(name)}, found {pins[name]} and {number}")
    return pins
