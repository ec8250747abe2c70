"""Read YAML with JSON scalars, known lines, and no aliases or tags.

Duplicate keys are errors.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from specgate.descriptors.core import format_value
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The path of a value: keys and indices.
Keys = tuple[str | int, ...]
#: 1-based lines by path.
Lines = dict[Keys, int]

#: The end of the message about a duplicate key.
DUPLICATE_KEY: Final = "is duplicated"
MAX_DEPTH: Final = 64
MAX_EVENTS: Final = 500_000
MAX_DIGITS: Final = 400

_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_DECIMAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")
_WORDS: Final = {"null": None, "~": None, "": None, "true": True, "false": False}


def format_problem(name: str, lines: Lines, path: Keys, message: str) -> str:
    """Return ``FILE:LINE: key.key: message`` for the value at `path`.

    A value without a line uses the line of its container.
    """
    prefix = path
    while prefix and prefix not in lines:
        prefix = prefix[:-1]
    words = (str(part) if str(part).isprintable() and len(str(part)) <= 80 else format_value(part) for part in path)
    return ": ".join(filter(None, (f"{name}:{lines.get(prefix, 1)}", ".".join(words), message)))


def load_yaml(text: str, name: str) -> tuple[Any, Lines]:
    """Return the document in `text` and the line of each of its values.

    Plain scalars are null, true, false, integers, decimals or else strings: ``on``, ``1:30`` and ``0x10`` stay strings.
    Raises InputError with file and line.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(name)
    try:
        for count, event in enumerate(_events(text, loader)):
            if count > MAX_EVENTS:
                raise InputError(f"expected at most {MAX_EVENTS} YAML nodes", file=name)
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        description = f"not valid YAML: {error.problem or error.context}"
        if "nesting" in str(error.problem):  # libyaml 0.2.6 counts them as well
            description = f"expected at most {MAX_DEPTH} levels of nesting"
        raise InputError(description, file=name, place=f"line {line}") from None
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        raise InputError(f"not valid YAML: {str(error).splitlines()[0]}", file=name) from None
    if builder.documents != 1:
        raise InputError(f"expected one YAML document, found {builder.documents}", file=name)
    return builder.result, builder.lines


def _events(text: str, loader: Any) -> Iterator[yaml.Event]:
    return iter(yaml.parse(text, Loader=loader))


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


class _Builder:
    """Builds the value from parser events with an explicit stack.

    Deeply nested documents therefore cannot exhaust Python's stack.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: Lines = {}
        self.result: Any = None
        self.documents = 0
        self.stack: list[dict[str, Any] | list[Any]] = []
        self.path: list[str | int] = []
        self.key: list[str | None] = []

    def fail(self, message: str, event: yaml.Event) -> InputError:
        return InputError(message, file=self.name, place=f"line {_line(event)}")

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self.fail("anchors and aliases are not allowed; write the value out", event)
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.stack.pop()
            self.key.pop()
            if self.path:
                self.path.pop()

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if event.tag:
            raise self.fail(f"tags are not allowed, found {event.tag!r:.60}", event)
        if len(self.stack) >= MAX_DEPTH:
            raise self.fail(f"expected at most {MAX_DEPTH} levels of nesting", event)
        if self.stack and isinstance(self.stack[-1], dict) and self.key[-1] is None:
            raise self.fail("expected a plain key, found a list or mapping", event)
        new: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        depth = len(self.stack)
        self._add(new, event)
        if depth:
            self.path.append(self._last)
        self.stack.append(new)
        self.key.append(None)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag:
            raise self.fail(f"tags are not allowed, found {event.tag!r:.60}", event)
        if self.stack and isinstance(self.stack[-1], dict) and self.key[-1] is None:
            self.key[-1] = event.value
            if event.value in self.stack[-1]:
                raise self.fail(f"the key {event.value!r:.80} {DUPLICATE_KEY}", event)
            return
        self._add(self._resolve(event), event)

    def _resolve(self, event: yaml.ScalarEvent) -> Any:
        value: str = event.value
        if event.style not in {None, ""}:  # quoted or a block scalar: always a string
            return value
        if value in _WORDS:
            return _WORDS[value]
        if _INTEGER.match(value):
            if len(value) > MAX_DIGITS:
                raise self.fail(f"expected a number of at most {MAX_DIGITS} digits", event)
            return int(value)
        return float(value) if _DECIMAL.match(value) else value

    def _add(self, value: Any, event: yaml.Event) -> None:
        line = _line(event)
        if not self.stack:
            self.result = value
            self.lines[()] = line
            return
        top = self.stack[-1]
        if isinstance(top, dict):
            key = self.key[-1]
            assert key is not None  # _scalar and _open store keys first  # noqa: S101
            top[key] = value
            self.key[-1] = None
            self._last: str | int = key
        else:
            self._last = len(top)
            top.append(value)
        self.lines[(*self.path, self._last)] = line
