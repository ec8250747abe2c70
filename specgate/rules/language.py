"""Data structures of the rule language: kinds, functions, rules, contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import UNKNOWN, register_record
from specgate.slotted import field, slotted

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

__all__ = [
    "ATTRIBUTES", "GRAPH_ENDS", "LAYOUT_FUNCTIONS", "PLAIN", "TENSOR_ATTRIBUTES", "TENSOR_TYPES", "UNKNOWN",
    "Attribute", "Context", "Function", "Kind", "LayoutFunction", "Rule", "RuleError", "Scope", "Undefined",
    "Vocabulary", "define_functions", "member", "number", "register", "register_types", "size_or_unknown",
]  # fmt: skip

MAX_SHOWN: Final = 160

#: Static kinds of expressions: the kinds in a rule are known without a descriptor.
Kind = str
NUMBER, TRUTH, WORD, TENSOR = "number", "truth", "word", "tensor"
NUMBERS, TRUTHS, WORDS, TENSORS = "numbers", "truths", "words", "tensors"
OPERATOR, OPERATORS = "operator", "operators"
GRAPH = "graph"
ANY_TENSOR_OR_FIELD: Final = "field"

#: The attributes of every tensor, with their kinds.
TENSOR_ATTRIBUTES: Final[Mapping[str, Kind]] = {"sizes": NUMBERS}


class Attribute(NamedTuple):
    """A tensor attribute: its kind, and its member of `TensorDesc`.

    Where it is absent (no Strides given), a rule that reads it does not apply.
    """

    kind: Kind
    slot: str


class LayoutFunction(NamedTuple):
    """A function of a tensor's bits per element, sizes and strides.

    Strides are None when packed. compute: may raise ValueError without a result; without `needs_bits` it
    receives 0 for bits. columns: the form over columns where `compute` needs more than arithmetic and comparisons.
    phrases: texts for messages; for a number its description ("the reach in elements of {}"), for a truth value the
    descriptions of tensors for which it is true and false. cpp: as in `Function`.
    """

    kind: Kind
    compute: Callable[[int, Any, Any], Any]
    phrases: tuple[str, ...]
    needs_bits: bool = False
    columns: Callable[[Any, Any, Any], Any] | None = None
    cpp: tuple[str, int, int] | None = None


class Vocabulary(NamedTuple):
    """A dialect's additions: tensor attributes, layout functions and records.

    records: the class (a NamedTuple of numbers) of each attribute type in tables; its name is its kind in rules.
    """

    attributes: Mapping[str, Attribute] = {}
    functions: Mapping[str, LayoutFunction] = {}
    records: Mapping[str, type[Any]] = {}


PLAIN: Final = Vocabulary()
#: Attributes and functions of all registered dialects; a name has the same meaning in each dialect that defines it.
ATTRIBUTES: Final[dict[str, Attribute]] = {}
LAYOUT_FUNCTIONS: Final[dict[str, LayoutFunction]] = {}
#: Element types of all registered dialects by tensor type: FLOAT by ``tensor(float)``.
TENSOR_TYPES: Final[dict[str, str]] = {}


def register(vocabulary: Vocabulary) -> None:
    """Register a dialect's additions.

    Raises ValueError for a name that already has another meaning.
    """
    for name, attribute in vocabulary.attributes.items():
        if ATTRIBUTES.setdefault(name, attribute) != attribute:
            raise ValueError(f"the attribute {name} of tensors is already registered with another definition")
    for name, function in vocabulary.functions.items():
        if name in FUNCTIONS or LAYOUT_FUNCTIONS.setdefault(name, function) is not function:
            raise ValueError(f"the function {name} is already registered with another definition")
    for name, record in vocabulary.records.items():
        register_record(name, record)


def register_types(types: Mapping[str, str]) -> None:
    """Register a dialect's element types by the names of their tensors.

    Raises ValueError for a name that is already another type.
    """
    for tensor, name in types.items():
        if TENSOR_TYPES.setdefault(tensor, name) != name:
            raise ValueError(f"{tensor} is registered as {TENSOR_TYPES[tensor]}, not {name}")


#: The members of a graph, in order.
GRAPH_ENDS: Final[Mapping[str, Kind]] = {"inputs": TENSORS, "outputs": TENSORS}


def _not_callable(*_: Any) -> Any:
    raise NotImplementedError  # `present` and `operator` are implemented by the engines


class Function(NamedTuple):
    """A function of the rule language, with its form in every engine.

    `"power_of_two": Function((NUMBER,), TRUTH, power_of_two, cpp=("power_of_two({})", 0, 1))` is a complete entry of
    `functions`.

    arguments, result: kinds. compute: its value of known arguments (of a tensor and the context for a function of a
    tensor, which may return UNKNOWN). Every engine calls it; over columns, rows for which it needs more than arithmetic
    and comparisons of its arguments are checked one by one. cpp: its text in C++ with a placeholder for the argument,
    and the bounds of a number; None where the C++ header lacks the function or it needs more than a template. words:
    the description of the result in messages, followed by the argument or with a placeholder for it; "" where messages
    only name the values of the arguments.
    """

    arguments: tuple[Kind, ...]
    result: Kind
    compute: Callable[..., Any] = _not_callable
    cpp: tuple[str, int, int] | None = None
    words: str = ""

    @property
    def of_tensor(self) -> bool:
        """True if it is a function of one tensor."""
        return self.arguments == (TENSOR,)

    @property
    def of_texts(self) -> bool:
        """True if its arguments are texts, such as the equation of Einsum."""
        return self.arguments[0] in {WORD, WORDS}


#: The functions by name; import them from `functions`, which defines them.
FUNCTIONS: Final[dict[str, Function]] = {}


def define_functions(entries: Mapping[str, Function]) -> None:
    """Register functions; raise ValueError for a name in use by a dialect."""
    for name in LAYOUT_FUNCTIONS.keys() & entries.keys():
        raise ValueError(f"the function {name} is already registered with another definition")
    FUNCTIONS.update(entries)


class RuleError(ValueError):
    """An invalid rule; the message shows the expression with a caret.

    reason: the message alone. line: all of it on one line.
    """

    def __init__(self, text: str, message: str, column: int = 0) -> None:
        start = max(0, column - MAX_SHOWN // 2) if column >= MAX_SHOWN else 0
        cut = text[start : start + MAX_SHOWN]
        excerpt = "…" * (start > 0) + cut + "…" * (start + MAX_SHOWN < len(text))
        excerpt = "".join(c if c.isprintable() else "?" for c in excerpt)
        caret = " " * (column - start + (start > 0)) + "^"
        super().__init__(f"{message}\n    {excerpt}\n    {caret}")
        self.reason = message
        self.line = f"{message}, at column {column + 1} of: {excerpt}"


@slotted(frozen=True)
class Scope:
    """The names that an operator's rules may use.

    fields: field name -> kind. optional: fields that a descriptor may omit. numbers: limits by name (their values
    depend on the level). words: type names and enum values. defines: name -> parsed sub-expression. members: for a
    field with a fused operator, the attributes that rules may read, with kinds. stretch: returns the scope of a rule
    for a range of levels, where the kind of a field changes. vocabulary: the dialect's additions to the language.
    """

    fields: Mapping[str, Kind]
    optional: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    defines: Mapping[str, Rule] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    stretch: Callable[[str | None, str | None], Scope] | None = None
    vocabulary: Vocabulary = PLAIN

    def scope_between(self, since: str | None, until_level: str | None) -> Scope:
        """Return the scope of rules from `since` on (None: always) before `until_level`."""
        return self if self.stretch is None else self.stretch(since, until_level)

    def of_elements(self) -> Scope:
        """Return the scope of expressions over elements.

        A tensor's name is an element; `ours` and `theirs` are results.
        """
        fields = {name: NUMBER if kind == TENSOR else kind for name, kind in self.fields.items()}
        names = {**fields, "ours": NUMBER, "theirs": NUMBER}
        return Scope(names, self.optional, self.numbers, self.words, vocabulary=self.vocabulary)

    @property
    def tensor_attributes(self) -> Mapping[str, Kind]:
        """The attributes of a tensor, with their kinds."""
        return {**TENSOR_ATTRIBUTES, **{name: attribute.kind for name, attribute in self.vocabulary.attributes.items()}}

    def function(self, name: str) -> tuple[tuple[Kind, ...], Kind] | None:
        """Return the argument kinds and the result kind of a function, else None."""
        own_function = self.vocabulary.functions.get(name)
        if own_function is not None:
            return (TENSOR,), own_function.kind
        function = FUNCTIONS.get(name)
        return None if function is None else (function.arguments, function.result)


@slotted(frozen=True)
class Rule:
    """A parsed expression.

    needs: the paths (FIELD, FIELD.strides, FIELD.value …) whose absence makes the rule inapplicable, without those only
    inside ``present()``. fields: every field it reads. parts, depth, loops: its size with every define expanded, which
    bounds the growth of nested defines.
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
    """Raised where a rule cannot be evaluated, such as an index out of range.

    Another rule has failed in this case.
    """


class Context:
    """The values that a rule reads: fields, limits, and bits per type.

    fields: name -> TensorDesc, attribute value, or None where the descriptor omits it or does not know it; they must
    not change. defined: the values of evaluated defines, and the iterations of their loops.
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
        """Return whether the descriptor omits `path` (FIELD or FIELD.attribute)."""
        name, _, attribute = path.partition(".")
        value = self.fields.get(name)
        if value is None or value is UNKNOWN or not attribute:
            return value is None
        return member(value, attribute) is None


def member(owner: Any, name: str) -> Any:
    """Return a member of a tensor, record or fused operator, None if absent."""
    result = getattr(owner, "fields", None)  # a Descriptor, which cannot be imported here
    if result is not None:
        return result.get(name)
    attribute = ATTRIBUTES.get(name)
    return getattr(owner, name if attribute is None else attribute.slot)


def size_or_unknown(value: Any) -> Any:
    """Return a size, UNKNOWN for None.

    A symbolic size stays a symbol, equal only to itself.
    """
    return UNKNOWN if value is None else value


def number(value: Any) -> bool:
    return not isinstance(value, str) and value is not UNKNOWN
