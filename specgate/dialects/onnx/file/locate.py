"""Which message of a file is around a byte, for what is said of a damaged file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.onnx.file.varints import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.onnx.file.messages import Message
    from specgate.dialects.onnx.file.wire import Reader

__all__ = ["locate"]


def locate(reader: Reader, message: Message, messages: Mapping[str, Message], offset: int) -> str:
    """The path of the innermost message around a byte, such as `graph.node[3].attribute[0]`; "" for the outermost.

    It is read again from the start, up to the byte, so that no count is kept while all is well.
    """
    path: list[str] = []
    span = (0, reader.size)
    inner: Message | None = message
    while inner:
        kinds = dict(inner.fields.values())
        counts = dict.fromkeys(kinds, 0)
        found = inner
        inner = None
        try:
            for name, begin, end in reader.fields([span], found):
                kind = kinds[name].removeprefix("repeated ")
                if end and begin <= offset < end and kind in messages:
                    path.append(name if kind == kinds[name] else f"{name}[{counts[name]}]")
                    span, inner = (begin, end), messages[kind]
                    break
                counts[name] += 1
        except WireError:
            break
    return ".".join(path)
