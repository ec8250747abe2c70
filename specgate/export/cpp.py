"""The C++ header that judges descriptions in the process that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects import package, packages
from specgate.errors import InputError
from specgate.files import write_text

if TYPE_CHECKING:
    from specgate.export import Wanted

__all__ = ["export"]


def export(wanted: Wanted) -> list[str]:
    """Write the header, and return what to say; the text itself where no file is named. Raises InputError, NoTable."""
    asked = map(package, wanted.dialects) if wanted.dialects else packages()
    one = next((each for each in asked if each.has_cpp_header), None)
    if one is None:
        raise InputError(f"{' and '.join(wanted.dialects)} has no structures that programs in C++ hold")
    operators = [one.named(name) for name in wanted.operators] or None
    header = one.cpp_header(operators, list(wanted.levels) or None, text=wanted.text)
    if wanted.output is None:
        return [header]
    write_text(wanted.output, header)
    return [f"{wanted.output} written\n"]
