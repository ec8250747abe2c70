"""What the rule language is made of: kinds, members, functions, parsed rules, and what they are judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import UNKNOWN, register_record
from specgate.slotted import field, slotted

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

__all__ = [
    "ATTRIBUTES", "GRAPH_ENDS", "LAYOUT_FUNCTIONS", "PLAIN", "TENSOR_ATTRIBUTES", "TENSOR_TYPES",
    "UNKNOWN", "Attribute", "Context", "Function", "Kind", "LayoutFunction", "Rule", "RuleError", "Scope", "Undefined",
    "Vocabulary", "define_functions", "known", "member", "number", "register", "register_types",
]  # fmt: skip

MAX_SHOWN: Final = 160

#: Static kinds of expressions: a rule's kinds are known before any descriptor is seen.
Kind = str
NUMBER, TRUTH, WORD, TENSOR = "number", "truth", "word", "tensor"
NUMBERS, TRUTHS, WORDS, TENSORS = "numbers", "truths", "words", "tensors"
OPERATOR, OPERATORS = "operator", "operators"
GRAPH = "graph"
ANY_TENSOR_OR_FIELD: Final = "field"

#: What every tensor has behind a dot, and its kind.
TENSOR_ATTRIBUTES: Final[Mapping[str, Kind]] = {"sizes": NUMBERS}


class Attribute(NamedTuple):
    """What a tensor may have behind a dot: its kind, and the member of `TensorDesc` that holds it.

    Where it is absent (no Strides given), a rule that reads it does not apply.
    """

    kind: Kind
    slot: str


class LayoutFunction(NamedTuple):
    """A function of a tensor's layout: of the bits of an element, the sizes and the strides (None when packed).

    compute may raise ValueError where there is no result; without `needs_bits` it is given 0 for them.
    columns: the same of the rows of many descriptors, given the rows first (see `columns`); where there is none, what
    calls the function is asked row by row.
    phrases: how messages call the result, a number ("the reach in elements of {}"); or what they say of tensors for
    which it is true, and for which it is false. cpp: as in `Function`.
    """

    kind: Kind
    compute: Callable[[int, Any, Any], Any]
    phrases: tuple[str, ...]
    needs_bits: bool = False
    columns: Callable[[Any, Any, Any, Any], Any] | None = None
    cpp: tuple[str, int, int] | None = None


class Vocabulary(NamedTuple):
    """What a dialect adds to the language: a tensor's attributes, functions of its layout, and records.

    records: the class (a NamedTuple of numbers) of each attribute type that tables have; its name is its kind in rules.
    """

    attributes: Mapping[str, Attribute] = {}
    functions: Mapping[str, LayoutFunction] = {}
    records: Mapping[str, type[Any]] = {}


PLAIN: Final = Vocabulary()
#: The attributes and functions of all dialects that are in use: what a name means is the same in each that has it.
ATTRIBUTES: Final[dict[str, Attribute]] = {}
LAYOUT_FUNCTIONS: Final[dict[str, LayoutFunction]] = {}
#: The element types of all dialects that are in use by the name of a tensor of them: FLOAT by ``tensor(float)``.
TENSOR_TYPES: Final[dict[str, str]] = {}


def register(vocabulary: Vocabulary) -> None:
    """Make the engines know what a dialect adds; raise ValueError for a name that means something else already."""
    for name, attribute in vocabulary.attributes.items():
        if ATTRIBUTES.setdefault(name, attribute) != attribute:
            raise ValueError(f"the attribute {name} of tensors is registered otherwise")
    for name, function in vocabulary.functions.items():
        if name in FUNCTIONS or LAYOUT_FUNCTIONS.setdefault(name, function) is not function:
            raise ValueError(f"the function {name} is registered otherwise")
    for name, record in vocabulary.records.items():
        register_record(name, record)


def register_types(types: Mapping[str, str]) -> None:
    """Add a dialect's element types by the names of their tensors; raise ValueError where a name is another type."""
    for tensor, name in types.items():
        if TENSOR_TYPES.setdefault(tensor, name) != name:
            raise ValueError(f"{tensor} is registered as {TENSOR_TYPES[tensor]}, not {name}")


#: What a graph has, in order.
GRAPH_ENDS: Final[Mapping[str, Kind]] = {"inputs": TENSORS, "outputs": TENSORS}


def _built_in(*_: Any) -> Any:
    raise NotImplementedError  # `present` and `operator`, which engines write out


class Function(NamedTuple):
    """A function of the rule language, with its form in every engine: one entry of `functions`.

    `"power_of_two": Function((NUMBER,), TRUTH, power_of_two, cpp=("power_of_two({})", 0, 1))` is all of that one.

    arguments, result: kinds. compute: its value of known arguments (of a tensor and the context for one of a tensor,
    which may be UNKNOWN); the evaluator and the compiler call it, and columns do where all rows have the same
    arguments. A form over arrays may stand in `columns.FORMS`. cpp: its text in C++ with a place for the argument, and
    the bounds of a number; None where the header has no such function, or more to decide. words: what messages call
    the result, followed by what it is of or with a place for it; "" where they name the values of the arguments alone.
    """

    arguments: tuple[Kind, ...]
    result: Kind
    compute: Callable[..., Any] = _built_in
    cpp: tuple[str, int, int] | None = None
    words: str = ""

    @property
    def of_tensor(self) -> bool:
        """Whether it is a function of one tensor."""
        return self.arguments == (TENSOR,)

    @property
    def of_texts(self) -> bool:
        """Whether it is about what a text spells, such as the equation of Einsum."""
        return self.arguments[0] in {WORD, WORDS}


#: The functions by name: import them from `functions`, which defines them.
FUNCTIONS: Final[dict[str, Function]] = {}


def define_functions(entries: Mapping[str, Function]) -> None:
    """Add functions of the language; raise ValueError for a name that a dialect has registered."""
    for name in LAYOUT_FUNCTIONS.keys() & entries.keys():
        raise ValueError(f"the function {name} is registered otherwise")
    FUNCTIONS.update(entries)


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


@slotted(frozen=True)
class Scope:
    """The names an operator's rules may use: fields, named numbers and words, and shared sub-expressions.

    fields: field name -> kind. optional: fields that a descriptor may leave out. numbers: limits by name (their
    values depend on the level). words: type names and enum values. defines: name -> parsed sub-expression. members:
    of a field that holds an operator, the attributes of that operator that rules may read, with their kinds.
    stretch: gives the names that a rule may use which holds from one level on and before another, where fields change
    their kind. vocabulary: what the dialect adds to the language.
    """

    fields: Mapping[str, Kind]
    optional: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    defines: Mapping[str, Rule] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    stretch: Callable[[str | None, str | None], Scope] | None = None
    vocabulary: Vocabulary = PLAIN

    def between(self, since: str | None, until: str | None) -> Scope:
        """Return the names for a rule that holds from `since` on (None: always) and before `until`."""
        return self if self.stretch is None else self.stretch(since, until)

    def of_elements(self) -> Scope:
        """The names for single elements: a tensor's name is one of its elements, `ours` and `theirs` are results."""
        fields = {name: NUMBER if kind == TENSOR else kind for name, kind in self.fields.items()}
        names = {**fields, "ours": NUMBER, "theirs": NUMBER}
        return Scope(names, self.optional, self.numbers, self.words, vocabulary=self.vocabulary)

    @property
    def tensor_attributes(self) -> Mapping[str, Kind]:
        """What may stand behind the dot of a tensor, and its kind."""
        return {**TENSOR_ATTRIBUTES, **{name: each.kind for name, each in self.vocabulary.attributes.items()}}

    def function(self, name: str) -> tuple[tuple[Kind, ...], Kind] | None:
        """Return the kinds of a function's arguments and of its result, None where there is none of this name."""
        own = self.vocabulary.functions.get(name)
        if own is not None:
            return (TENSOR,), own.kind
        function = FUNCTIONS.get(name)
        return None if function is None else (function.arguments, function.result)


@slotted(frozen=True)
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


class Undefined(Exception):
    """A rule that cannot be evaluated on this descriptor (an index out of range, say): another rule failed first."""


class Context:
    """What a rule may read: the descriptor's fields, named numbers, and the bits of each type.

    fields: name -> TensorDesc, attribute value, or None where the descriptor leaves it out or does not know it. They
    stay as they are. defined: of the defines evaluated so far, the value, and how many turns its loops took.
    """

    __slots__ = ("bits", "defined", "defines", "fields", "numbers")

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
        self.defined: dict[str, tuple[Any, int]] = {}

    def absent(self, path: str) -> bool:
        """Return whether `path` (FIELD or FIELD.attribute) is left out of the descriptor."""
        name, _, attribute = path.partition(".")
        value = self.fields.get(name)
        if value is None or value is UNKNOWN or not attribute:
            return value is None
        return member(value, attribute) is None


def member(owner: Any, name: str) -> Any:
    """Return what stands behind a dot: of a tensor, a record, or an operator that a field holds (None: left out)."""
    result = getattr(owner, "fields", None)  # of a descriptor, which cannot be imported here
    if result is not None:
        return result.get(name)
    attribute = ATTRIBUTES.get(name)
    return getattr(owner, name if attribute is None else attribute.slot)


def known(value: Any) -> Any:
    """A size as the logic sees it: None is unknown; a symbol stays itself, equal only to itself."""
    return UNKNOWN if value is None else value


def number(value: Any) -> bool:
    return not isinstance(value, str) and value is not UNKNOWN
