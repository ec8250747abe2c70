"""Update of YAML tables; unchanged parts are preserved byte for byte.

ruamel.yaml locates entries and comments and writes new entries. Only this module requires it.
"""

from __future__ import annotations

from io import StringIO
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError

try:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedBase, CommentedMap, CommentedSeq
    from ruamel.yaml.emitter import RoundTripEmitter
    from ruamel.yaml.events import ScalarEvent
    from ruamel.yaml.representer import RoundTripRepresenter
    from ruamel.yaml.resolver import VersionedResolver
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString as Quoted
    from ruamel.yaml.scalarstring import SingleQuotedScalarString
    from ruamel.yaml.tokens import CommentToken
except ImportError:
    raise InputError("ruamel.yaml is needed to write tables; pip install ruamel.yaml") from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.yamlio import Keys

__all__ = ["Quoted", "rewrite_file"]

_WIDTH: Final = 120
#: Maximum number of mappings on one line within another mapping.
_MOST: Final = 3


def rewrite_file(
    text: str, old: Mapping[str, Any], new: Mapping[str, Any], remarks: Mapping[Keys, str] | None = None
) -> str:
    """Return the file `text` with content `old` changed to `wanted`.

    Keys are in the order of `wanted`. Unchanged entries, at the top or in top-level mappings, are kept as written.
    Changed entries are rewritten, with their comments on separate lines above them. `Quoted` strings are written with
    quotes.

    remarks: the comment after the key of a rewritten entry, or of a top-level mapping without a comment.
    """
    remarks = remarks or {}
    written = _Written(text)
    lines: list[str] = []
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            lines += written.lines(key)
        elif isinstance(value, dict) and value:
            lines += written.head(key, remarks.get((key,)))
            for name, entry in value.items():
                path = (key, name)
                if path in written.spans and before is not None and before[name] == entry:
                    lines += written.lines(*path)
                else:
                    lines += written.comments_of(*path)
                    lines += _entry(path, entry, written.at(path), remarks.get(path))
        else:
            lines += [*written.comments_of(key), *_entry((key,), value, written.at((key,)), remarks.get((key,)))]
    return "".join([*lines, *written.lines()])


class _Written:
    """The lines of entries and comments in a file.

    Covers the entries at the top and in top-level mappings. An entry includes the comments and blank lines above it,
    unless they are indented further than the entry. spans: the lines of each entry by its keys. For a top-level mapping
    these are the lines before its first entry; () has the lines at the end of the file.
    """

    def __init__(self, text: str) -> None:
        self.text = [f"{line}\n" for line in text.splitlines()]
        reader = _yaml()
        reader.Resolver = _Texts
        self.tree: Any = reader.load(text) or CommentedMap()
        self.comments = dict(_comments(self.tree))
        begins = {path: (line, self._first_line_above(line, column)) for path, line, column in _places(self.tree)}
        end = self._first_line_above(len(self.text), 0)
        self.key_lines = {path: line for path, (line, _) in begins.items()}
        starts = [above for _, above in begins.values()]
        starts[:1] = [0] if starts else []
        self.spans = {path: range(*span) for path, span in zip(begins, pairwise([*starts, end]), strict=True)}
        self.spans[()] = range(end, len(self.text))

    def _first_line_above(self, line: int, column: int) -> int:
        """Return the first of the blank lines and comments above a line."""
        while line:
            before = self.text[line - 1].strip()
            indent = len(self.text[line - 1]) - len(self.text[line - 1].lstrip())
            if before and (before != self.comments.get(line - 1) or indent > column):
                break
            line -= 1
        return line

    def lines(self, *path: str) -> list[str]:
        """Return the lines of an entry, nested entries included.

        Without a path, the lines at the end of the file.
        """
        spans = [span for keys, span in self.spans.items() if (keys[: len(path)] == path if path else not keys)]
        return [self.text[line] for span in spans for line in span]

    def head(self, key: str, remark: str | None) -> list[str]:
        """Return the lines of a top-level mapping before its first entry."""
        if not any(path[:1] == (key,) and len(path) > 1 for path in self.spans):
            return [*self.comments_of(key), _key_line((key,), remark)]
        at = self.key_lines[key,]
        lines = {line: self.text[line] for line in self.spans[key,]}
        lines |= {} if at in self.comments else {at: f"{lines[at].rstrip()}{_remark(remark)}\n"}
        return list(lines.values())

    def comments_of(self, *path: str) -> list[str]:
        """Return the comments in an entry, each on a separate line."""
        spans = [span for keys, span in self.spans.items() if keys[: len(path)] == path]
        indent = "  " * (len(path) - 1)
        return [f"{indent}{self.comments[line]}\n" for span in spans for line in span if line in self.comments]

    def at(self, path: Keys) -> Any:
        """Return the node at a path; None if there is none."""
        node = self.tree
        for key in path:
            node = node.get(key) if isinstance(node, CommentedMap) else None
        return node


def _places(tree: CommentedMap, above: Keys = ()) -> Iterator[tuple[Keys, int, int]]:
    """Yield the keys of each entry with its line and column."""
    for key, inner in tree.items():
        path = (*above, key)
        yield path, *tree.lc.key(key)
        if not above and isinstance(inner, CommentedMap) and not inner.fa.flow_style():
            yield from _places(inner, path)


def _comments(node: Any) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each comment in a tree."""
    if isinstance(node, CommentToken):
        for number, text in enumerate(node.value.lstrip().split("\n")):  # its mark is at the first "#"
            if text.strip():
                yield node.start_mark.line + number, text.strip()
    elif isinstance(node, list) and not isinstance(node, CommentedBase):
        for part in node:
            yield from _comments(part)
    elif isinstance(node, CommentedBase):
        attached = node.ca
        parts: Any = node.values() if isinstance(node, CommentedMap) else node
        yield from _comments([attached.comment, *attached.items.values(), attached.end, *parts])


def _entry(path: Keys, value: Any, like: Any = None, remark: str | None = None) -> list[str]:
    """Return the lines of an entry.

    A mapping is on one line if it fits, else it has one line per key. A list has one line per item if it is at the top
    of a file or if its items are mappings.
    """
    lines = _dump_entry(path, _flow(value, like))
    mappings = sum(isinstance(part, dict) for part in value.values()) if isinstance(value, dict) else 0
    if isinstance(value, dict) and value and (len(lines) > 1 or len(lines[0]) > _WIDTH or mappings > _MOST):
        lines = [_key_line(path)]
        for key, part in value.items():
            lines += _entry((*path, key), part, like.get(key) if isinstance(like, CommentedMap) else None)
    elif isinstance(value, list) and value and (len(path) == 1 or any(isinstance(part, dict) for part in value)):
        lines = _dump_entry(path, CommentedSeq([_item(path, *pair) for pair in _pair_items(value, like)]))
    return [f"{lines[0][:-1]}{_remark(remark)}\n", *lines[1:]]


def _key_line(path: Keys, remark: str | None = None) -> str:
    """Return the line of a key whose entries are on separate lines."""
    return f"{_dump_entry(path, CommentedMap(first=None))[0][:-1]}{_remark(remark)}\n"


def _item(path: Keys, value: Any, like: Any) -> Any:
    """Return an item of a list, on one line if it fits."""
    flow = _flow(value, like)
    _, *lines = _dump_entry(path, CommentedSeq([flow]))
    if isinstance(flow, CommentedMap) and (len(lines) > 1 or len(lines[0]) > _WIDTH):
        flow.fa.set_block_style()
    return flow


def _remark(text: str | None) -> str:
    return "" if text is None else f"  # {text}"


def _flow(value: Any, like: Any) -> Any:
    """Return a value in flow style; strings keep the quotes of `like`."""
    if isinstance(value, dict):
        inner = like if isinstance(like, CommentedMap) else {}
        mapping = CommentedMap({key: _flow(part, inner.get(key)) for key, part in value.items()})
        mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        listed = CommentedSeq([_flow(*pair) for pair in _pair_items(value, like)])
        listed.fa.set_flow_style()
        return listed
    quoted = isinstance(value, str) and isinstance(like, Quoted | SingleQuotedScalarString)
    return type(like)(value) if quoted else value


def _pair_items(values: list[Any], like: Any) -> list[tuple[Any, Any]]:
    """Return each item of a list with its counterpart in `like`.

    For mappings, items beyond the end of `like` are paired with its last item.
    """
    written = list(like) if isinstance(like, CommentedSeq) else [like]
    last = written[-1] if written and isinstance(written[-1], CommentedMap) else None
    return list(zip_longest(values, written[: len(values)], fillvalue=last))


def _dump_entry(path: Keys, value: Any) -> list[str]:
    """Return the lines of an entry at its position in a file."""
    for key in reversed(path):
        value = CommentedMap({key: value})
    stream = StringIO()
    _yaml().dump(value, stream)
    return [f"{line.rstrip(' ')}\n" for line in stream.getvalue().splitlines()[len(path) - 1 :]]


class _Emitter(RoundTripEmitter):
    """Prefers double quotes, and breaks lines between the items of a list."""

    def choose_scalar_style(self) -> Any:
        style = super().choose_scalar_style()
        unlike = style == "'" or self.event.value.startswith(("?", ":"))  # these have a special meaning in PyYAML
        return '"' if unlike and self.event.style is None else style

    def expect_flow_sequence_item(self) -> None:
        width = self.best_width
        if isinstance(self.event, ScalarEvent):  # break the line only if it already exceeds the width
            self.best_width -= len(self.event.value) + len('"",]}')
        super().expect_flow_sequence_item()
        self.best_width = width

    def write_plain(self, text: Any, split: Any = True) -> None:
        super().write_plain(text, split and not self.flow_level)

    def write_double_quoted(self, text: Any, split: Any = True) -> None:
        super().write_double_quoted(text, split and not self.flow_level)


class _Representer(RoundTripRepresenter):
    """Writes null in full."""


_Representer.add_representer(type(None), lambda self, _: self.represent_scalar("tag:yaml.org,2002:null", "null"))


class _Texts(VersionedResolver):
    """Resolves every scalar to a string.

    The keys of tables are strings, even if they look like numbers.
    """

    versioned_resolver: dict[str, Any] = {}  # noqa: RUF012  # a property there


def _yaml() -> YAML:
    yaml = YAML()
    yaml.Emitter, yaml.Representer = _Emitter, _Representer
    yaml.width = _WIDTH
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
