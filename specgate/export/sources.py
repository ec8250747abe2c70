"""Source files for programs that use a dialect's structures.

A C# file prints structures as JSON; a C++ header validates them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects import implementing, package
from specgate.dialects.protocols import Exporter
from specgate.errors import InputError
from specgate.files import write_text

if TYPE_CHECKING:
    from specgate.export import ExportScope

__all__ = ["cpp", "csharp"]


def csharp(result: ExportScope) -> list[str]:
    """Write the C# file that prints descriptions as JSON; InputError."""
    if result.operators:
        raise InputError("the C# file contains every operator; remove --operator")
    return _written(result, "csharp", "C#")


def cpp(result: ExportScope) -> list[str]:
    """Write the C++ header that validates descriptions in-process.

    Raises InputError and NoTable.
    """
    return _written(result, "cpp", "C++")


def _written(scope: ExportScope, language: str, title: str) -> list[str]:
    """Write the file and return a message, or the text without a file."""
    owners = map(package, scope.dialects) if scope.dialects else implementing(Exporter)
    exporters = (each for each in owners if isinstance(each, Exporter))
    sources = (each.source_for(language, scope.operators, scope.levels, text=scope.text) for each in exporters)
    texts = [text for text in sources if text is not None]
    if not texts:
        raise InputError(f"{' and '.join(scope.dialects)} has no structures that programs in {title} hold")
    if scope.output is None:
        return texts
    write_text(scope.output, "".join(texts))
    return [f"{scope.output} written\n"]
