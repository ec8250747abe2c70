"""The deciding values of a rule as sentences."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc, format_value
from specgate.rules.evaluate import Evaluator
from specgate.rules.explain import dimension, resolve_node, value_of
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import LAYOUT_FUNCTIONS, NUMBERS, UNKNOWN, Undefined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.rules.explain import Leaf
    from specgate.rules.language import Context

MAX_ITEMS: Final = 16
MAX_WORD: Final = 60
#: Longer lists of facts are cut.
MAX_FACTS: Final = 200
#: The placeholder of a missing value; real values are never spelled like this.
NO_VALUE: Final = ""
_UNKNOWN: Final[Mapping[str, str]] = {
    "rank": "the rank of {} is unknown",
    "type": "the type of {} is unknown",
    "sizes": "the sizes of {} are unknown",
    "elements": "the number of elements of {} is unknown",
    "values": "the values of {} are unknown",
    "holds": "the value of {} is unknown",
}
#: Templates for facts of one field and of several fields.
_PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("is", "type", "given", "empty"), ("{} is {}", "{} are {}")),
    **dict.fromkeys(("holds", "values"), ("{} holds {}", "{} hold {}")),
    "rank": ("{} has rank {}", "{} have rank {}"),
    "sizes": ("{} has the sizes {}", "{} have the sizes {}"),
    "elements": ("{} has {} element", "{} have {} element"),
    "count": ("{} has {} value", "{} have {} value"),
    "tensors": ("{} has {} tensor", "{} have {} tensor"),
}
_COUNT_NOUNS: Final = frozenset({"elements", "count", "tensors"})


class Fact(NamedTuple):
    """One value.

    kind: selects the words. of: the field or expression. at: the dimension, "" for none.
    """

    kind: str
    of: str
    value: str
    at: str = ""


def spell_value(value: Any) -> str:
    """Return a value as messages show it."""
    if isinstance(value, tuple | list | range):
        ending = ", …" if len(value) > MAX_ITEMS else ""
        return "[" + ", ".join(spell_value(v) for v in value[:MAX_ITEMS]) + ending + "]"
    if value is None or value is UNKNOWN:
        return "unknown"
    if isinstance(value, str):  # words and symbolic sizes are not quoted unless they contain line breaks
        return str(value) if value.isprintable() and 0 < len(value) <= MAX_WORD else format_value(value)
    return format_value(value)


def sentences(facts: Iterable[Fact]) -> list[str]:
    """Return facts as sentences.

    Facts of one kind are merged where they share the value or the field.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact.kind, fact.at, fact.value), []).append(fact.of)
    texts: list[str] = []
    written_facts: set[tuple[str, str]] = set()
    for (kind, place, value), owners in groups.items():
        if kind == "size":
            if (kind, place) not in written_facts:
                written_facts.add((kind, place))
                names_by_value = {v: names for (k, a, v), names in groups.items() if (k, a) == (kind, place)}
                texts.append(_sizes_at(place, names_by_value))
        else:
            texts.append(_sentence(kind, value, owners))
    return texts


def _sizes_at(place: str, by_value: Mapping[str, list[str]]) -> str:
    if len(by_value) == 1:
        (value, owners), *_ = by_value.items()
        return f"dimension {place} of {_join_parts(owners)} is {value}"
    return f"dimension {place} is " + _join_parts(
        [f"{value} in {_join_parts(owners)}" for value, owners in by_value.items()]
    )


def _sentence(kind: str, value: str, owners: list[str]) -> str:
    names, is_plural = _join_parts(owners), len(owners) > 1
    if value == "unknown" and kind in _UNKNOWN:
        return _UNKNOWN[kind].format(names)
    if kind == "said":
        return value.format(names)
    pattern = _PATTERNS[kind][is_plural]
    return pattern.format(names, value) + ("s" if kind in _COUNT_NOUNS and value != "1" else "")


def _join_parts(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def join_sentences(parts: Iterable[str]) -> str:
    """Return the parts joined with commas and "and".

    Parts beyond 200 characters are replaced by their number.
    """
    all_parts = list(parts)
    rest: list[str] = []
    for part in all_parts:
        if rest and sum(map(len, rest)) + len(part) > MAX_FACTS:
            break
        rest.append(part)
    if len(rest) < len(all_parts):
        rest.append(f"{len(all_parts) - len(rest)} more")
    if not rest:
        return ""
    return "; ".join(rest) if any(", expected" in part for part in rest) else _join_parts(rest)


_MAX_JOINED_LENGTH: Final = 110


def words(leaves: Iterable[Leaf], context: Context, names: Mapping[str, str] | None = None) -> str:
    """Return the values that decide a rule as text, "" without any.

    names: display names of fields where they differ from the rule's.
    """
    writer = _Writer(context, names or {})
    parts: list[str] = []
    facts: dict[Fact, None] = {}
    for leaf in leaves:
        expected = writer.describe_expected(leaf)
        if expected is not None:
            parts.append(expected)
        else:
            facts.update(dict.fromkeys(writer.of_leaf(leaf.node)))
    return join_sentences(dict.fromkeys([*sentences(facts), *parts]))


class _Writer:
    def __init__(self, context: Context, names: Mapping[str, str]) -> None:
        self.context = context
        self.names = names

    def of_leaf(self, node: ast.expr) -> Iterator[Fact]:
        """Yield the facts of a leaf; names come first where it compares order."""
        if not isinstance(node, ast.Compare):
            yield from self.facts(node)
            return
        parts = [node.left, *node.comparators]
        if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
            parts.sort(key=lambda part: not isinstance(resolve_node(part, self.context), ast.Name | ast.Subscript))
        for part in parts:
            yield from self.facts(part)

    def describe_expected(self, leaf: Leaf) -> str | None:
        """Return the actual and the required value of a computed comparison."""
        node = leaf.node
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if leaf.expected:
                pass
            case _:
                return None
        left_composed, right_composed = self.is_composed(left), self.is_composed(right)
        if left_composed == right_composed:
            return None
        tree, computed_tree = (right, left) if left_composed else (left, right)
        value = value_of(computed_tree, self.context)
        facts = list(self.facts(tree))
        if value is None or value is UNKNOWN or isinstance(value, bool) or len(facts) != 1:
            return None
        text = f"{join_sentences(sentences(facts))}, expected {spell_value(value)}"
        reason = self.items(computed_tree) or join_sentences(sentences(dict.fromkeys(self.facts(computed_tree))))
        return f"{text} ({reason})" if reason and len(reason) <= _MAX_JOINED_LENGTH else text

    def items(self, node: ast.expr) -> str:
        """Return the terms of a sum or product as text, "" for another part."""
        match resolve_node(node, self.context):
            case ast.Call(func=ast.Name(id="sum" | "product" as name), args=[ast.GeneratorExp() as loop]):
                try:
                    items = Evaluator(self.context).collect(loop, {})
                except Undefined:
                    return ""
                if isinstance(items, tuple) and 1 < len(items) <= MAX_ITEMS:
                    return (" + " if name == "sum" else " * ").join(map(spell_value, items))
        return ""

    def is_composed(self, node: ast.expr) -> bool:
        """Return whether a part is computed from several others."""
        node = resolve_node(node, self.context)
        match node:
            case ast.BinOp() | ast.UnaryOp() | ast.IfExp():
                return any(isinstance(part, ast.Name) for part in ast.walk(node))
            case ast.Tuple() | ast.List():
                return not all(isinstance(part, ast.Constant) for part in node.elts)
            case ast.Call(func=ast.Name(id=name), args=[argument, *_]):
                if name == "len":
                    return isinstance(argument, ast.GeneratorExp)
                return _groups(name) or name in {"abs", "int", "count", "letters"}
            case ast.Name(id=name):
                return name in self.context.defines
            case ast.Subscript(value=ast.Tuple() | ast.List()):
                return True
        return False

    def facts(self, node: ast.expr) -> Iterator[Fact]:
        """Yield the values that a part is computed from.

        Missing values, such as dimensions beyond the rank, are left out.
        """
        yield from (fact for fact in self._facts(node) if fact.value != NO_VALUE)

    def _facts(self, node: ast.expr) -> Iterator[Fact]:
        match node:
            case ast.IfExp(test=ast.Call(func=ast.Name(id="present")), body=ast.Constant(), orelse=ast.Constant()):
                node = node.test
        node = resolve_node(node, self.context)
        match node:
            case ast.Constant():
                return
            case ast.BinOp():
                yield from self.facts(node.left)
                yield from self.facts(node.right)
            case ast.UnaryOp():
                yield from self.facts(node.operand)
            case ast.Tuple() | ast.List():
                for part in node.elts:
                    yield from self.facts(part)
            case ast.Name(id=name):
                if name in self.context.fields or name in self.context.defines or name in self.context.numbers:
                    yield self.fact("is", self.display_name(node), node)
            case ast.Attribute():
                yield self.of_attribute(node)
            case ast.Subscript(value=ast.Tuple() | ast.List()):
                yield from self.facts(node.slice)
            case ast.Subscript():
                yield self.of_element(node)
            case ast.Call():
                yield from self.of_call(node)
            case _:
                yield self.fact("is", ast.unparse(node), node)

    def fact(self, kind: str, kind_name: str, node: ast.expr, place: str = "") -> Fact:
        value = value_of(node, self.context)
        return Fact(kind, kind_name, NO_VALUE if value is None else spell_value(value), place)

    def display_name(self, node: ast.expr) -> str:
        """Return the display name of a field, a part of one, or a define."""
        node = resolve_node(node, self.context)
        match node:
            case ast.Name(id=name):
                return self.names.get(name, name)
            case ast.Subscript():
                index = value_of(node.slice, self.context)
                return f"{self.display_name(node.value)}[{spell_value(index)}]"
            case ast.Attribute():
                return f"{self.display_name(node.value)}.{node.attr}"
            case ast.Call(func=ast.Name(id="values"), args=[argument]):
                return self.display_name(argument)
        return ast.unparse(node)

    def of_attribute(self, node: ast.Attribute) -> Fact:
        owner = self.display_name(node.value)
        if isinstance(value_of(node.value, self.context), TensorDesc):
            if node.attr == "sizes":
                return self.fact("sizes", owner, node)
            return self.fact("is", f"{node.attr} of {owner}", node)
        return self.fact("is", f"{owner}.{node.attr}", node)

    def of_element(self, node: ast.Subscript) -> Fact:
        match resolve_node(node.value, self.context):
            case ast.Attribute(attr="sizes", value=owner):
                element_node = ast.Subscript(ast.Attribute(owner, "sizes", ast.Load()), node.slice, ast.Load())
                try:
                    _, dimension_text = dimension(element_node, self.context)
                except Undefined:
                    return self.fact("is", ast.unparse(node), node)
                return self.fact("size", self.display_name(owner), node, str(dimension_text))
            case ast.Attribute(attr="strides", value=owner):
                index = value_of(node.slice, self.context)
                return self.fact("is", f"stride {spell_value(index)} of {self.display_name(owner)}", node)
            case ast.Call(func=ast.Name(id="labelled" | "covered")) as call:
                return self.fact("is", f"a size {self.dimension_label(call)}", node)
        return self.fact("is", self.display_name(node), node)

    def of_call(self, node: ast.Call) -> Iterator[Fact]:
        name: str = node.func.id  # type: ignore[attr-defined]  # checked by parse()
        argument = node.args[0]
        function = FUNCTIONS.get(name)
        if name == "operator":
            yield self.fact("is", self.display_name(argument), node)
        elif name == "present":
            result = value_of(node, self.context) is True
            yield Fact("given", self.display_name(argument), "given" if result else "missing")
        elif name in {"labelled", "covered"}:
            yield self.fact("is", f"the sizes {self.dimension_label(node)}", node)
        elif function is None or function.of_tensor:
            yield self.of_tensor(name, node, argument)
        elif not function.words and name != "range":
            yield from (fact for part in node.args for fact in self.facts(part))
        elif _groups(name) and isinstance(argument, ast.Tuple | ast.List):
            yield from self.facts(argument)
        elif _groups(name):
            yield self.of_group(name, node, argument)
        else:
            text = f"{function.words} {self.display_name(argument)}" if function.words else ast.unparse(node)
            yield self.fact("is", text, node)

    def of_tensor(self, name: str, node: ast.Call, argument: ast.expr) -> Fact:
        tensor = self.display_name(argument)
        if name in {"rank", "type", "elements", "values"}:
            return self.fact(name, tensor, node)
        if name == "value":
            return self.fact("holds", tensor, node)
        if name in FUNCTIONS and FUNCTIONS[name].words:
            return self.fact("is", FUNCTIONS[name].words.format(tensor), node)
        if name in LAYOUT_FUNCTIONS:
            phrase, *otherwise = LAYOUT_FUNCTIONS[name].phrases
            if not otherwise:
                return self.fact("is", phrase.format(tensor), node)
            return Fact("said", tensor, phrase if value_of(node, self.context) is True else otherwise[0])
        if name == "dims":
            return self.fact("rank", tensor, ast.Call(ast.Name("rank", ast.Load()), node.args, []))
        return self.fact("is", ast.unparse(node), node)

    def dimension_label(self, node: ast.Call) -> str:
        """Return how a term labels dimensions: by a letter, or by an ellipsis."""
        if isinstance(node.func, ast.Name) and node.func.id == "covered":
            return "covered by an ellipsis"
        return f"called {spell_value(value_of(node.args[-1], self.context))}"

    def of_group(self, name: str, node: ast.Call, argument: ast.expr) -> Fact:
        """Return the value of a function of several numbers as a fact."""
        if isinstance(argument, ast.GeneratorExp):
            iterable = argument.generators[0].iter
            return self.fact("is", f"{FUNCTIONS[name].words} {self.numbers(argument.elt, iterable)}", node)
        if name == "len":
            items = value_of(argument, self.context)
            if items in ((), []):
                return Fact("empty", self.display_name(argument), "empty")
            tensors = isinstance(items, tuple | list) and any(isinstance(item, TensorDesc) for item in items)
            return self.fact("tensors" if tensors else "count", self.display_name(argument), node)
        return self.fact("is", f"{FUNCTIONS[name].words} {self.numbers(argument, argument)}", node)

    def numbers(self, node: ast.expr, iterable: ast.expr) -> str:
        """Return the description of several numbers."""
        match resolve_node(iterable, self.context):
            case ast.Attribute(attr="sizes", value=owner):
                return f"the sizes of {self.display_name(owner)}"
            case ast.Call(func=ast.Name(id="values"), args=[owner]):
                return f"the values of {self.display_name(owner)}"
            case ast.Call(func=ast.Name(id="labelled" | "covered")) as call:
                return f"the sizes {self.dimension_label(call)}"
            case ast.Name() if isinstance(node, ast.Subscript) and ".sizes" in ast.unparse(node):
                return f"these sizes of {self.display_name(iterable)}"
            case ast.Name():
                return self.display_name(iterable)
        return ast.unparse(node)


def _groups(name: str) -> bool:
    """Return whether a function reduces several numbers to one."""
    return name in FUNCTIONS and FUNCTIONS[name].arguments == (NUMBERS,)
