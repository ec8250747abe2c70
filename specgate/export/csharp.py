"""The C# file with which a program prints what it is about to create, for ``specgate check``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects import package, packages
from specgate.errors import InputError
from specgate.files import write_text

if TYPE_CHECKING:
    from specgate.export import Wanted

__all__ = ["export"]

_LANGUAGE = "csharp"


def export(wanted: Wanted) -> list[str]:
    """Write the file, and return what to say; the text itself where no file is named. Raises InputError."""
    if wanted.operators:
        raise InputError("the C# file has every operator; leave out --operator")
    asked = map(package, wanted.dialects) if wanted.dialects else packages()
    found = [text for one in asked if (text := one.source_for(_LANGUAGE)) is not None]
    if not found:
        raise InputError(f"{' and '.join(wanted.dialects)} has no structures that programs in C# hold")
    if wanted.output is None:
        return found
    write_text(wanted.output, "".join(found))
    return [f"{wanted.output} written\n"]
