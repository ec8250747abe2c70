"""What decides a rule, in words: "dimension -1 is 3 in A and 4 in B" instead of the expressions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc, shown
from specgate.rules.evaluate import UNKNOWN, Evaluator, Undefined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.explain import Leaf

__all__ = ["dimension", "resolved", "told", "words"]

MAX_ITEMS: Final = 16
MAX_WORD: Final = 60
#: A longer list of facts is cut: the first ones are what a reader acts on.
MAX_FACTS: Final = 200
_LONGEST_BESIDE: Final = 110
#: What stands for a value that is not there; no value is written like this.
_NONE: Final = ""

#: What a function of a tensor is called; the rest is `_of_tensor`'s.
_MEASURES: Final[Mapping[str, str]] = {
    "minimum_size": "the least size in bytes of {}",
    "extent": "the reach in elements of {}",
    "bits": "the number of bits of an element of {}",
}
_GROUPS: Final[Mapping[str, str]] = {
    "sum": "the sum of", "product": "the product of", "min": "the least of", "max": "the greatest of",
    "len": "the number of",
}  # fmt: skip
_UNKNOWN: Final[Mapping[str, str]] = {
    "rank": "the rank of {} is unknown",
    "type": "the type of {} is unknown",
    "sizes": "the sizes of {} are unknown",
    "elements": "the number of elements of {} is unknown",
    "values": "the values of {} are unknown",
    "holds": "the value of {} is unknown",
}
#: A fact of one field, and of several.
_PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    "is": ("{} is {}", "{} are {}"),
    "rank": ("{} has rank {}", "{} have rank {}"),
    "type": ("{} is {}", "{} are {}"),
    "given": ("{} is {}", "{} are {}"),
    "empty": ("{} is {}", "{} are {}"),
    "sizes": ("{} has the sizes {}", "{} have the sizes {}"),
    "holds": ("{} holds {}", "{} hold {}"),
    "values": ("{} holds {}", "{} hold {}"),
    "elements": ("{} has {} element", "{} have {} element"),
    "count": ("{} has {} value", "{} have {} value"),
    "tensors": ("{} has {} tensor", "{} have {} tensor"),
}
_COUNTED: Final = frozenset({"elements", "count", "tensors"})


def told(value: Any) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, tuple | list | range):
        more = ", …" if len(value) > MAX_ITEMS else ""
        return "[" + ", ".join(told(v) for v in value[:MAX_ITEMS]) + more + "]"
    if value is None or value is UNKNOWN:
        return "unknown"
    if isinstance(value, str):  # a word, or a symbolic size: as it stands, unless it would break the line
        return str(value) if value.isprintable() and 0 < len(value) <= MAX_WORD else shown(value)
    return shown(value)


def words(leaves: Iterable[Leaf], context: Context, names: Mapping[str, str] | None = None) -> str:
    """Return the values that decide a rule, "" where there is nothing to say.

    names: how fields are called where the rule calls them otherwise.
    """
    writer = _Writer(context, names or {})
    parts: list[str] = []
    facts: dict[_Fact, None] = {}
    for leaf in leaves:
        expected = writer.expected(leaf)
        if expected is not None:
            parts.append(expected)
        else:
            facts.update(dict.fromkeys(writer.of_leaf(leaf.node)))
    return _joined(dict.fromkeys([*_sentences(facts), *parts]))


class _Fact(NamedTuple):
    """One value. kind: the words to use; of: the field or expression; at: which dimension, "" for none."""

    kind: str
    of: str
    value: str
    at: str = ""


def resolved(node: ast.expr, context: Context) -> ast.expr:
    """Return what a conditional part, or a name for one, stands for here."""
    while True:
        if isinstance(node, ast.IfExp):
            test = _value(node.test, context)
            if test is not True and test is not False:
                return node
            node = node.body if test else node.orelse
        elif isinstance(node, ast.Name) and node.id in context.defines:
            inner = resolved(context.defines[node.id].tree, context)
            if isinstance(inner, ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Call) and not _simple_call(inner):
                return node
            node = inner
        else:
            return node


def dimension(node: ast.Subscript, context: Context) -> tuple[int | None, int]:
    """Return the rank of the tensor whose size `node` is (None: unknown), and which dimension it is, from 0.

    The dimension is counted from the end, -1 the last, where the rule counts so.
    """
    owner = node.value.value  # type: ignore[attr-defined]  # the caller has seen that it is FIELD.sizes
    index = _value(node.slice, context)
    tensor = _value(owner, context)
    sizes = tensor.sizes if isinstance(tensor, TensorDesc) else None
    if not isinstance(index, int):
        raise Undefined(ast.unparse(node))
    if sizes is not None and _reads_rank(node.slice, ast.unparse(owner), context):
        return len(sizes), index - len(sizes)
    return None if sizes is None else len(sizes), index


def _reads_rank(node: ast.expr, owner: str, context: Context) -> bool:
    """Whether an index is computed from the rank of the tensor that it is an index of."""
    match node:
        case ast.Call(func=ast.Name(id="rank"), args=[argument]):
            return ast.unparse(argument) == owner
        case ast.IfExp():
            chosen = resolved(node, context)
            return chosen is not node and _reads_rank(chosen, owner, context)
        case ast.Name(id=name) if name in context.defines:
            return _reads_rank(context.defines[name].tree, owner, context)
    return any(_reads_rank(part, owner, context) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


def _simple_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and node.func.id in {"rank", "type", "elements", "value", "values", "len"}  # type: ignore[attr-defined]


def _value(node: ast.expr, context: Context) -> Any:
    """The value of a closed part; None, which no part has, where it has none."""
    try:
        return Evaluator(context).value(node, {})
    except (Undefined, StopIteration):
        return None


class _Writer:
    def __init__(self, context: Context, names: Mapping[str, str]) -> None:
        self.context = context
        self.names = names

    def of_leaf(self, node: ast.expr) -> Iterator[_Fact]:
        """Yield what is to say of a leaf: what it compares, and then what that is held against."""
        if not isinstance(node, ast.Compare):
            yield from self.facts(node)
            return
        parts = [node.left, *node.comparators]
        if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
            parts.sort(key=lambda part: not isinstance(resolved(part, self.context), ast.Name | ast.Subscript))
        for part in parts:
            yield from self.facts(part)

    def expected(self, leaf: Leaf) -> str | None:
        """Say of something that is compared with what is computed for it: what it is, and what was computed."""
        node = leaf.node
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if leaf.wanted:
                pass
            case _:
                return None
        one, other = self.composed(left), self.composed(right)
        if one == other:
            return None
        found, computed = (right, left) if one else (left, right)
        value = _value(computed, self.context)
        facts = list(self.facts(found))
        if value is None or value is UNKNOWN or isinstance(value, bool) or len(facts) != 1:
            return None
        said = f"{_joined(_sentences(facts))}, expected {told(value)}"
        because = self.items(computed) or _joined(_sentences(dict.fromkeys(self.facts(computed))))
        return f"{said} ({because})" if because and len(because) <= _LONGEST_BESIDE else said

    def items(self, node: ast.expr) -> str:
        """Return the numbers that a sum or product is made of, "" for another part."""
        match resolved(node, self.context):
            case ast.Call(func=ast.Name(id="sum" | "product" as name), args=[ast.GeneratorExp() as loop]):
                try:
                    items = Evaluator(self.context).collect(loop, {})
                except Undefined:
                    return ""
                if isinstance(items, tuple) and 1 < len(items) <= MAX_ITEMS:
                    return (" + " if name == "sum" else " * ").join(map(told, items))
        return ""

    def composed(self, node: ast.expr) -> bool:
        """Whether a part is computed of several others."""
        node = resolved(node, self.context)
        match node:
            case ast.BinOp() | ast.UnaryOp() | ast.IfExp():
                return any(isinstance(part, ast.Name) for part in ast.walk(node))
            case ast.Tuple() | ast.List():
                return not all(isinstance(part, ast.Constant) for part in node.elts)
            case ast.Call(func=ast.Name(id=name), args=[argument, *_]):
                if name == "len":
                    return isinstance(argument, ast.GeneratorExp)
                return name in _GROUPS or name in {"abs", "int", "count", "letters"}
            case ast.Name(id=name):
                return name in self.context.defines
            case ast.Subscript(value=ast.Tuple() | ast.List()):
                return True
        return False

    def facts(self, node: ast.expr) -> Iterator[_Fact]:
        """Yield the values that a part is made of, but for those that it has not: a dimension behind the last one."""
        yield from (fact for fact in self._facts(node) if fact.value != _NONE)

    def _facts(self, node: ast.expr) -> Iterator[_Fact]:
        match node:
            case ast.IfExp(test=ast.Call(func=ast.Name(id="present")), body=ast.Constant(), orelse=ast.Constant()):
                node = node.test
        node = resolved(node, self.context)
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
                    yield self.fact("is", self.called(node), node)
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

    def fact(self, kind: str, of: str, node: ast.expr, at: str = "") -> _Fact:
        value = _value(node, self.context)
        return _Fact(kind, of, _NONE if value is None else told(value), at)

    def called(self, node: ast.expr) -> str:
        """Return the name of a field, of a part of one, or of what stands for one."""
        node = resolved(node, self.context)
        match node:
            case ast.Name(id=name):
                return self.names.get(name, name)
            case ast.Subscript():
                index = _value(node.slice, self.context)
                return f"{self.called(node.value)}[{told(index)}]"
            case ast.Attribute():
                return f"{self.called(node.value)}.{node.attr}"
            case ast.Call(func=ast.Name(id="values"), args=[argument]):
                return self.called(argument)
        return ast.unparse(node)

    def of_attribute(self, node: ast.Attribute) -> _Fact:
        owner = self.called(node.value)
        if isinstance(_value(node.value, self.context), TensorDesc):
            if node.attr == "sizes":
                return self.fact("sizes", owner, node)
            return self.fact("is", f"{node.attr} of {owner}", node)
        return self.fact("is", f"{owner}.{node.attr}", node)

    def of_element(self, node: ast.Subscript) -> _Fact:
        match resolved(node.value, self.context):
            case ast.Attribute(attr="sizes", value=owner):
                written = ast.Subscript(ast.Attribute(owner, "sizes", ast.Load()), node.slice, ast.Load())
                try:
                    _, at = dimension(written, self.context)
                except Undefined:
                    return self.fact("is", ast.unparse(node), node)
                return self.fact("size", self.called(owner), node, str(at))
            case ast.Attribute(attr="strides", value=owner):
                index = _value(node.slice, self.context)
                return self.fact("is", f"stride {told(index)} of {self.called(owner)}", node)
        return self.fact("is", self.called(node), node)

    def of_call(self, node: ast.Call) -> Iterator[_Fact]:
        name: str = node.func.id  # type: ignore[attr-defined]  # parse() has checked it
        argument = node.args[0]
        if name in {"abs", "int", "power_of_two"}:
            yield from self.facts(argument)
        elif name == "operator":
            yield self.fact("is", self.called(argument), node)
        elif name == "present":
            given = _value(node, self.context) is True
            yield _Fact("given", self.called(argument), "given" if given else "not given")
        elif name == "overlapping":
            shared = _value(node, self.context)
            yield _Fact("overlap", self.called(argument), told(shared))
        elif name in {"count", "letters", "split"}:
            yield from (fact for text in node.args for fact in self.facts(text))
        elif name in _GROUPS and isinstance(argument, ast.Tuple | ast.List):
            yield from self.facts(argument)
        elif name in _GROUPS:
            yield self.of_group(name, node, argument)
        else:
            yield self.of_tensor(name, node, argument)

    def of_tensor(self, name: str, node: ast.Call, argument: ast.expr) -> _Fact:
        tensor = self.called(argument)
        if name in {"rank", "type", "elements", "values"}:
            return self.fact(name, tensor, node)
        if name == "value":
            return self.fact("holds", tensor, node)
        if name in _MEASURES:
            return self.fact("is", _MEASURES[name].format(tensor), node)
        if name == "dims":
            return self.fact("rank", tensor, ast.Call(ast.Name("rank", ast.Load()), node.args, []))
        return self.fact("is", ast.unparse(node), node)

    def of_group(self, name: str, node: ast.Call, argument: ast.expr) -> _Fact:
        """Say of a function of several numbers what it comes to."""
        if isinstance(argument, ast.GeneratorExp):
            over = argument.generators[0].iter
            return self.fact("is", f"{_GROUPS[name]} {self.numbers(argument.elt, over)}", node)
        if name == "len":
            items = _value(argument, self.context)
            if items in ((), []):
                return _Fact("empty", self.called(argument), "empty")
            tensors = isinstance(items, tuple | list) and any(isinstance(item, TensorDesc) for item in items)
            return self.fact("tensors" if tensors else "count", self.called(argument), node)
        return self.fact("is", f"{_GROUPS[name]} {self.numbers(argument, argument)}", node)

    def numbers(self, node: ast.expr, over: ast.expr) -> str:
        """Return what several numbers are called."""
        match resolved(over, self.context):
            case ast.Attribute(attr="sizes", value=owner):
                return f"the sizes of {self.called(owner)}"
            case ast.Call(func=ast.Name(id="values"), args=[owner]):
                return f"the values of {self.called(owner)}"
            case ast.Name() if isinstance(node, ast.Subscript) and ".sizes" in ast.unparse(node):
                return f"these sizes of {self.called(over)}"
            case ast.Name():
                return self.called(over)
        return ast.unparse(node)


def _sentences(facts: Iterable[_Fact]) -> list[str]:
    """Return facts in words; those of one kind that say the same of several, or of several at one place, in one."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for fact in facts:
        groups.setdefault((fact.kind, fact.at, fact.value), []).append(fact.of)
    said: list[str] = []
    done: set[tuple[str, str]] = set()
    for (kind, at, value), owners in groups.items():
        if kind == "size":
            if (kind, at) not in done:
                done.add((kind, at))
                same = {v: names for (k, a, v), names in groups.items() if (k, a) == (kind, at)}
                said.append(_sizes_at(at, same))
        else:
            said.append(_sentence(kind, value, owners))
    return said


def _sizes_at(at: str, by_value: Mapping[str, list[str]]) -> str:
    if len(by_value) == 1:
        (value, owners), *_ = by_value.items()
        return f"dimension {at} of {_listed(owners)} is {value}"
    return f"dimension {at} is " + _listed([f"{value} in {_listed(owners)}" for value, owners in by_value.items()])


def _sentence(kind: str, value: str, owners: list[str]) -> str:
    names, several = _listed(owners), len(owners) > 1
    if value == "unknown" and kind in _UNKNOWN:
        return _UNKNOWN[kind].format(names)
    if kind == "overlap":
        return f"the strides of {names} let elements overlap" if value == "True" else f"no elements of {names} overlap"
    pattern = _PATTERNS[kind][several]
    return pattern.format(names, value) + ("s" if kind in _COUNTED and value != "1" else "")


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _joined(parts: Iterable[str]) -> str:
    """Join with commas and "and"; what makes the text longer than 200 characters is counted."""
    every = list(parts)
    kept: list[str] = []
    for part in every:
        if kept and sum(map(len, kept)) + len(part) > MAX_FACTS:
            break
        kept.append(part)
    if len(kept) < len(every):
        kept.append(f"{len(every) - len(kept)} more")
    if not kept:
        return ""
    return "; ".join(kept) if any(", expected" in part for part in kept) else _listed(kept)
