"""Input that is no file: what came through standard input, or a text that was given as it is."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final

from specgate.descriptors.read import MAX_FILE, UTF16, not_utf8
from specgate.dialects import capability, implementing
from specgate.dialects.protocols import ModelFormat
from specgate.errors import InputError
from specgate.slotted import replace, slotted

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.linting.nodes import Graph
    from specgate.verdict import Location

__all__ = ["STDIN", "TEXT", "Given", "argument", "is_text", "kind_of", "named", "source_bytes", "standard_input"]

#: What standard input is called in reports and messages.
STDIN: Final = "<stdin>"
_ARGUMENT: Final = "<argument>"
#: The kind of what is no model of some dialect: descriptors as JSON or YAML.
TEXT: Final = "text"
_SNIFFED: Final = 4096
_BLOCK: Final = 2**20


@slotted(frozen=True)
class Given:
    """Bytes. kind: the dialect whose model they are by their content, or `TEXT`. name: as messages call them."""

    data: bytes
    kind: str
    name: str = STDIN

    @property
    def file(self) -> str | None:
        """What locations have for a file: None for a text of the command line."""
        return None if self.name == _ARGUMENT else self.name

    def text(self) -> str:
        """Return the text; InputError where it is not UTF-8."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise not_utf8(error, self.name) from None


def argument(text: str) -> Given | None:
    """Return a descriptor or model that is given as JSON text in place of a file's name; None for a name."""
    if not is_text(text):
        return None
    return Given(text.encode("utf-8", "surrogateescape"), TEXT, _ARGUMENT)


def is_text(text: str) -> bool:
    """Whether an argument is a JSON text: it begins with a brace, or with a comment or bracket and has one later."""
    start = text.lstrip()
    return start.startswith("{") or (start.startswith(("//", "/*", "[")) and "{" in start)


def standard_input(begun: bytes = b"") -> Given:
    """Read standard input to its end. begun: what was read of it before. Raises InputError for nothing or too much."""
    data = bytearray(begun)
    try:
        source = source_bytes()
        while block := source.read(_BLOCK):
            data += block
            # The kind is asked before all is read: endless text must not take what a large model may.
            kind = kind_of(data[:_SNIFFED])
            most = MAX_FILE if kind == TEXT else capability(kind, ModelFormat).max_bytes
            if len(data) > most:
                raise InputError(f"expected at most {most} bytes, found more", file=STDIN)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=STDIN) from None
    if not data[:_SNIFFED].strip() and not data.strip():
        raise InputError("expected a descriptor or a model, found nothing", file=STDIN)
    return Given(bytes(data), kind_of(bytes(data[:_SNIFFED])))


def source_bytes() -> BinaryIO:
    """Return standard input as bytes; InputError where it is closed."""
    if sys.stdin is None:
        raise InputError("it is closed", file=STDIN)
    return sys.stdin.buffer


def kind_of(start: bytes | bytearray) -> str:
    """Return the dialect whose models begin like `start`, `TEXT` for a descriptor file (JSON, YAML)."""
    plain = bytes(start).removeprefix(b"\xef\xbb\xbf").lstrip()
    if plain.startswith((b"{", *UTF16)):  # so that other packages are not looked up for each descriptor
        return TEXT
    return next((each.name for each in implementing(ModelFormat) if each.begins_model(plain[:_SNIFFED])), TEXT)


def named(graph: Graph, result: Given) -> Graph:
    """Place all units and findings of a graph that was read from memory in the input, by its name."""
    file = result.file
    graph.units = [replace(unit, at=partial(_moved, unit.at, file)) for unit in graph.units]
    graph.findings = [
        replace(finding, location=replace(finding.location, file=file)) if finding.location else finding
        for finding in graph.findings
    ]
    return graph


def _moved(at: Location | Callable[[], Location], file: str | None) -> Location:
    place = at() if callable(at) else at
    # Without a file a descriptor that is all of it has no place at all.
    return replace(place, file=file, node=place.node or None if file is None else place.node)
