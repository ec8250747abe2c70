"""Input from standard input or from the text of an argument."""

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

#: The name of standard input in reports and messages.
STDIN: Final = "<stdin>"
_ARGUMENT: Final = "<argument>"
#: The kind of input that is not a model: descriptors as JSON or YAML.
TEXT: Final = "text"
_HEAD: Final = 4096
_BLOCK: Final = 2**20


@slotted(frozen=True)
class InputSource:
    """Input in memory.

    kind: the dialect of the model according to its first bytes, or `TEXT`. name: its name in messages.
    """

    data: bytes
    kind: str
    name: str = STDIN

    @property
    def file(self) -> str | None:
        """The file name for locations; None for the text of an argument."""
        return None if self.name == _ARGUMENT else self.name

    def text(self) -> str:
        """Return the text; raise InputError if it is not UTF-8."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise not_utf8(error, self.name) from None


def argument(text: str) -> InputSource | None:
    """Return the JSON text of an argument as input; None for a file name."""
    if not is_text(text):
        return None
    return InputSource(text.encode("utf-8", "surrogateescape"), TEXT, _ARGUMENT)


def is_text(text: str) -> bool:
    """Return whether an argument is a JSON text.

    It starts with a brace, or with a comment or bracket and contains a brace.
    """
    start = text.lstrip()
    return start.startswith("{") or (start.startswith(("//", "/*", "[")) and "{" in start)


def standard_input(first_bytes: bytes = b"") -> InputSource:
    """Read standard input to its end.

    first_bytes: the part that was already read. Raises InputError if it is empty or too large.
    """
    data = bytearray(first_bytes)
    try:
        source = source_bytes()
        while block := source.read(_BLOCK):
            data += block
            # Determine the kind first: the limit for text is lower than the limit for models.
            kind = kind_of(data[:_HEAD])
            max_size = MAX_FILE if kind == TEXT else capability(kind, ModelFormat).max_bytes
            if len(data) > max_size:
                raise InputError(f"expected at most {max_size} bytes, found more", file=STDIN)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=STDIN) from None
    if not data[:_HEAD].strip() and not data.strip():
        raise InputError("expected a descriptor or a model, found nothing", file=STDIN)
    return InputSource(bytes(data), kind_of(bytes(data[:_HEAD])))


def source_bytes() -> BinaryIO:
    """Return standard input as a byte stream; raise InputError if closed."""
    if sys.stdin is None:
        raise InputError("it is closed", file=STDIN)
    return sys.stdin.buffer


def kind_of(start: bytes | bytearray) -> str:
    """Return the dialect of a model that begins with `start`.

    `TEXT` for a descriptor file (JSON, YAML).
    """
    plain_start = bytes(start).removeprefix(b"\xef\xbb\xbf").lstrip()
    if plain_start.startswith((b"{", *UTF16)):  # avoids a search for plugins for each descriptor
        return TEXT
    return next((owner.name for owner in implementing(ModelFormat) if owner.begins_model(plain_start[:_HEAD])), TEXT)


def name_input(graph: Graph, result: InputSource) -> Graph:
    """Set the input's name in the locations of a graph read from memory."""
    file = result.file
    graph.units = [replace(unit, at=partial(_move_location, unit.at, file)) for unit in graph.units]
    graph.findings = [
        replace(finding, location=replace(finding.location, file=file)) if finding.location else finding
        for finding in graph.findings
    ]
    return graph


def _move_location(location: Location | Callable[[], Location], file: str | None) -> Location:
    place = location() if callable(location) else location
    # A text that is a single descriptor, and is not a file, has no location.
    return replace(place, file=file, node=place.node or None if file is None else place.node)
