"""What the rule language is made of: kinds, members, functions, parsed rules, and what they are judged on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNKNOWN

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

__all__ = [
    "FUNCTIONS",
    "GRAPH_ENDS",
    "RECORDS",
    "SLOTS",
    "TENSOR_ATTRIBUTES",
    "UNKNOWN",
    "Context",
    "Kind",
    "Rule",
    "RuleError",
    "Scope",
    "Undefined",
    "known",
    "member",
    "number",
]

MAX_SHOWN: Final = 160

#: Static kinds of expressions: a rule's kinds are known before any descriptor is seen.
Kind = str
NUMBER, TRUTH, WORD, TENSOR = "number", "truth", "word", "tensor"
NUMBERS, TRUTHS, WORDS, TENSORS = "numbers", "truths", "words", "tensors"
OPERATOR, OPERATORS, SIZE_2D, SCALE_BIAS = "operator", "operators", "size-2d", "scale-bias"
GRAPH = "graph"
ANY_TENSOR_OR_FIELD: Final = "field"

#: What may stand behind a dot, and its kind. Absent ones (no Strides given) make a rule not apply.
TENSOR_ATTRIBUTES: Final[Mapping[str, Kind]] = {
    "sizes": NUMBERS,
    "strides": NUMBERS,
    "TotalTensorSizeInBytes": NUMBER,
    "GuaranteedBaseOffsetAlignment": NUMBER,
    "Flags": NUMBER,
}

#: Records: what may stand behind the dot of one; it is always there.
RECORDS: Final[Mapping[Kind, tuple[str, ...]]] = {SIZE_2D: ("Width", "Height"), SCALE_BIAS: ("Scale", "Bias")}

#: What a graph has, in order.
GRAPH_ENDS: Final[Mapping[str, Kind]] = {"inputs": TENSORS, "outputs": TENSORS}

#: Functions: name -> (kinds of the arguments, kind of the result).
FUNCTIONS: Final[Mapping[str, tuple[tuple[Kind, ...], Kind]]] = {
    "rank": ((TENSOR,), NUMBER),
    "type": ((TENSOR,), WORD),
    "elements": ((TENSOR,), NUMBER),
    "dims": ((TENSOR,), NUMBERS),
    "bits": ((TENSOR,), NUMBER),
    "value": ((TENSOR,), NUMBER),
    "values": ((TENSOR,), NUMBERS),
    "operator": ((OPERATOR,), WORD),
    "extent": ((TENSOR,), NUMBER),
    "minimum_size": ((TENSOR,), NUMBER),
    "overlapping": ((TENSOR,), TRUTH),
    "present": ((ANY_TENSOR_OR_FIELD,), TRUTH),
    "len": ((NUMBERS,), NUMBER),
    "sum": ((NUMBERS,), NUMBER),
    "product": ((NUMBERS,), NUMBER),
    "min": ((NUMBERS,), NUMBER),
    "max": ((NUMBERS,), NUMBER),
    "range": ((NUMBER,), NUMBERS),
    "abs": ((NUMBER,), NUMBER),
    "int": ((NUMBER,), NUMBER),
    "power_of_two": ((NUMBER,), TRUTH),
    "split": ((WORD, WORD), WORDS),
    "count": ((WORD, WORD), NUMBER),
    "letters": ((WORD,), NUMBER),
}


class RuleError(ValueError):
    """A rule that is not of the language; the message shows the expression with a caret under the place.

    reason: the message alone. line: all of it on one line.
    """

    def __init__(self, text: str, message: str, column: int = 0) -> None:
        start = max(0, column - MAX_SHOWN // 2) if column >= MAX_SHOWN else 0
        cut = text[start : start + MAX_SHOWN]
        shown = "…" * (start > 0) + cut + "…" * (start + MAX_SHOWN < len(text))
        shown = "".join(c if c.isprintable() else "?" for c in shown)
        caret = " " * (column - start + (start > 0)) + "^"
        super().__init__(f"{message}\n    {shown}\n    {caret}")
        self.reason = message
        self.line = f"{message}, at column {column + 1} of: {shown}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The names an operator's rules may use: fields, named numbers and words, and shared sub-expressions.

    fields: field name -> kind. optional: fields that a descriptor may leave out. numbers: limits by name (their
    values depend on the level). words: type names and enum values. defines: name -> parsed sub-expression. members:
    of a field that holds an operator, the attributes of that operator that rules may read, with their kinds.
    stretch: gives the names that a rule may use which holds from one level on and before another, where fields change
    their kind.
    """

    fields: Mapping[str, Kind]
    optional: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    defines: Mapping[str, Rule] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    stretch: Callable[[str | None, str | None], Scope] | None = None

    def between(self, since: str | None, until: str | None) -> Scope:
        """Return the names for a rule that holds from `since` on (None: always) and before `until`."""
        return self if self.stretch is None else self.stretch(since, until)

    def of_elements(self) -> Scope:
        """The names for single elements: a tensor's name is one of its elements, `ours` and `theirs` are results."""
        fields = {name: NUMBER if kind == TENSOR else kind for name, kind in self.fields.items()}
        return Scope({**fields, "ours": NUMBER, "theirs": NUMBER}, self.optional, self.numbers, self.words)


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed expression.

    needs: the paths (FIELD, FIELD.strides, FIELD.value …) whose absence makes the rule not apply; those mentioned only
    inside ``present()`` are not among them. fields: every field it reads. parts, depth, loops: its size with every
    define written out, so that defines of defines cannot make it grow without bound.
    """

    text: str
    tree: ast.expr
    kind: Kind
    needs: frozenset[str]
    fields: frozenset[str]
    parts: int = 1
    depth: int = 1
    loops: int = 0


#: Members of a tensor that have other names in rules.
SLOTS: Final = {
    "TotalTensorSizeInBytes": "size_in_bytes",
    "GuaranteedBaseOffsetAlignment": "alignment",
    "Flags": "flags",
}


class Undefined(Exception):
    """A rule that cannot be evaluated on this descriptor (an index out of range, say): another rule failed first."""


class Context:
    """What a rule may read: the descriptor's fields, named numbers, and the bits of each type.

    fields: name -> TensorDesc, attribute value, or None where the descriptor leaves it out or does not know it.
    """

    __slots__ = ("bits", "defines", "fields", "numbers")

    def __init__(
        self,
        fields: Mapping[str, Any],
        numbers: Mapping[str, int] | None = None,
        bits: Mapping[str, int | None] | None = None,
        defines: Mapping[str, Rule] | None = None,
    ) -> None:
        self.fields = fields
        self.numbers = numbers or {}
        self.bits = bits or {}
        self.defines = defines or {}

    def absent(self, path: str) -> bool:
        """Return whether `path` (FIELD or FIELD.attribute) is left out of the descriptor."""
        name, _, attribute = path.partition(".")
        value = self.fields.get(name)
        if value is None or not attribute:
            return value is None
        return member(value, attribute) is None


def member(owner: Any, name: str) -> Any:
    """Return what stands behind a dot: of a tensor, a record, or an operator that a field holds (None: left out)."""
    held = getattr(owner, "fields", None)  # of a descriptor, which cannot be imported here
    if held is not None:
        return held.get(name)
    return getattr(owner, SLOTS.get(name, name))


def known(value: Any) -> Any:
    """A size as the logic sees it: None is unknown; a symbol stays itself, equal only to itself."""
    return UNKNOWN if value is None else value


def number(value: Any) -> bool:
    return not isinstance(value, str) and value is not UNKNOWN
