"""Random rules on random descriptors: compiled, evaluating, explaining engines agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.descriptors.core import Descriptor, TensorDesc, tensor
from specgate.dialects.directml.vocabulary import VOCABULARY, ScaleBias, Size2D
from specgate.rules.compile import compile_resolved
from specgate.rules.evaluate import UNKNOWN, Context, Undefined, evaluate
from specgate.rules.explain import decisive_parts, explain
from specgate.rules.words import words
from specgate.spec import tables
from specgate.spec.dialect_spec import Dialect
from specgate.spec.operator_spec import OperatorSpec
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from specgate.spec.forms import Resolved

FIELDS: dict[str, Any] = {
    "A": {"kind": "input"},
    "B": {"kind": "input"},
    "C": {"kind": "input", "optional": True},
    "Axis": {"kind": "attribute", "type": "uint"},
    "Back": {"kind": "attribute", "type": "int"},
    "Order": {"kind": "attribute", "type": "int[]"},
    "Count": {"kind": "attribute", "type": "uint", "optional": True, "default": 2},
    "Many": {"kind": "input", "type": "tensor[]"},
    "Size": {"kind": "attribute", "type": "size-2d"},
    "Line": {"kind": "attribute", "type": "scale-bias", "optional": True},
    "Low": {"kind": "attribute", "type": "scalar"},
    "Fused": {
        "kind": "attribute",
        "type": "operator",
        "optional": True,
        "members": {"Alpha": "float", "Axes": "uint[]", "ScaleBias": "scale-bias"},
    },
}
FUSIBLE: dict[str, dict[str, Any]] = {
    "RELU": {},
    "ELU": {"Alpha": {"kind": "attribute", "type": "float"}},
    "SOFTMAX1": {"Axes": {"kind": "attribute", "type": "uint[]"}},
    "CLIP": {"ScaleBias": {"kind": "attribute", "type": "scale-bias", "optional": True}},
}
DEFINE = {"new_axis": "Back if Back >= 0 else Back + rank(A)", "first": "A.sizes[0]"}


def operator(rule: str) -> OperatorSpec:
    raw = {
        "dialect": {"dialect": "scratch", "level": "level", "unstated_outputs": False},
        "levels": {"levels": {"1": {"limits": {"max_dimensions": 3}}}},
        "types": tables.dialect("directml").tables.entries["types"],
        "operators": {
            name: {"operator": name, "fields": fields, "support": {"1": {}}} for name, fields in FUSIBLE.items()
        },
    }
    spec = {
        "operator": "X",
        "fields": FIELDS,
        "support": {"1": {}},
        "define": DEFINE,
        "rules": {"r": [{"require": rule}]},
    }
    table = Dialect("scratch", raw)
    table.vocabulary = VOCABULARY
    return OperatorSpec(table, spec)


FUSED = [
    Descriptor("scratch", "RELU", {}),
    Descriptor("scratch", "ELU", {"Alpha": 2.0}),
    Descriptor("scratch", "SOFTMAX1", {"Axes": [1, 2]}),
    Descriptor("scratch", "SOFTMAX1", {"Axes": []}),
    Descriptor("scratch", "CLIP", {"ScaleBias": ScaleBias(1.0, 0.0)}),
    Descriptor("scratch", "CLIP", {}),
]
TENSOR = st.sampled_from(["A", "B", "C"])
ELEMENT = st.sampled_from(["Many[0]", "Many[1]", "Many[Axis]", "Many[Back]", "Many[rank(A) - 1]"])
MEMBERS = [
    "rank({})",
    "elements({})",
    "extent({})",
    "minimum_size({})",
    "bits({})",
    "{}.sizes[0]",
    "{}.strides[0]",
    "{}.Flags",
]
MEMBER = st.sampled_from(MEMBERS)
LEAVES = st.one_of(
    st.integers(-2, 4).map(str),
    st.sampled_from(["Axis", "Back", "Count", "new_axis", "first", "max_dimensions"]),
    st.sampled_from(["len(Many)", "Size.Width", "Size.Height", "Line.Scale", "Low"]),
    st.sampled_from(["Fused.Alpha", "Fused.ScaleBias.Bias", "len(Fused.Axes)", "Fused.Axes[0]"]),
    TENSOR.map("rank({})".format),
    TENSOR.map("elements({})".format),
    TENSOR.map("value({})".format),
    TENSOR.map("extent({})".format),
)


TESTS = st.sampled_from(
    ["", " if rank(t) > 1", " if present(t.strides)", " if type(t) != INT8", " if present(t.Flags)"]
)


@st.composite
def numbers(draw: st.DrawFn, depth: int = 2, variables: tuple[str, ...] = ()) -> str:
    kind = draw(st.integers(0, 6)) if depth else 0
    if kind == 1:
        operation = draw(st.sampled_from(["+", "-", "*", "//", "%"]))
        return f"({draw(numbers(depth - 1, variables))} {operation} {draw(numbers(depth - 1, variables))})"
    if kind == 2:
        return f"{draw(sequences(depth - 1, variables))}[{draw(numbers(depth - 1, variables))}]"
    if kind == 3:
        function = draw(st.sampled_from(["sum", "product", "min", "max", "len"]))
        return f"{function}({draw(sequences(depth - 1, variables))})"
    if kind == 4:
        test = draw(truths(depth - 1, variables))
        return f"({draw(numbers(depth - 1, variables))} if {test} else {draw(numbers(depth - 1, variables))})"
    if kind == 5 and draw(st.booleans()):
        function = draw(st.sampled_from(["sum", "max", "min"]))
        return f"{function}({draw(MEMBER).format('t')} for t in Many{draw(TESTS)})"
    if kind == 6:
        return draw(MEMBER).format(draw(ELEMENT))
    if kind == 5:
        function = draw(st.sampled_from(["sum", "len", "max"]))
        return f"{function}({draw(loops(numbers, depth - 1, variables))})"
    return draw(st.sampled_from(variables) | LEAVES if variables else LEAVES)


@st.composite
def sequences(draw: st.DrawFn, depth: int = 2, variables: tuple[str, ...] = ()) -> str:
    if depth and draw(st.booleans()):
        items = draw(st.lists(numbers(depth - 1, variables), min_size=2, max_size=3))
        return f"({', '.join(items)})"
    name = draw(TENSOR)
    return draw(
        st.sampled_from(
            [
                f"{name}.sizes",
                f"{name}.strides",
                f"dims({name})",
                f"values({name})",
                "Order",
                "range(Axis)",
                "Fused.Axes",
            ]
        )
    )


@st.composite
def loops(draw: st.DrawFn, body: Any, depth: int, variables: tuple[str, ...]) -> str:
    name = draw(st.sampled_from(["d", "e", "first"]))
    inner = (*variables, name)
    test = f" if {draw(truths(depth, inner))}" if draw(st.booleans()) else ""
    return f"{draw(body(depth, inner))} for {name} in {draw(sequences(0, variables))}{test}"


@st.composite
def truths(draw: st.DrawFn, depth: int = 3, variables: tuple[str, ...] = ()) -> str:
    kind = draw(st.integers(0, 7)) if depth else 0
    if kind == 7:
        loop = f"{draw(MEMBER).format('t')} {draw(st.sampled_from(['==', '<']))} {draw(numbers(0))} for t in Many{draw(TESTS)}"
        return f"{draw(st.sampled_from(['all', 'any']))}({loop})"
    if kind == 1:
        return f"(not {draw(truths(depth - 1, variables))})"
    if kind == 2:
        word = draw(st.sampled_from(["and", "or"]))
        return f"({draw(truths(depth - 1, variables))} {word} {draw(truths(depth - 1, variables))})"
    if kind == 3:
        return f"{draw(st.sampled_from(['all', 'any']))}({draw(loops(truths, depth - 1, variables))})"
    if kind == 4:
        return draw(
            st.sampled_from(
                [
                    "present(C)",
                    "present(C.strides)",
                    "present(A.strides)",
                    "overlapping(B)",
                    "present(Count)",
                    "present(Line)",
                    "present(Fused)",
                    "operator(Fused) == 'RELU'",
                    "present(Many[Axis].strides)",
                    "overlapping(Many[0])",
                    "type(Many[1]) == type(A)",
                    "Many[0].sizes == A.sizes",
                    "all(type(t) == type(A) for t in Many)",
                    "any(overlapping(t) for t in Many if present(t.strides))",
                    "all(all(t.sizes[d] == A.sizes[d] for d in dims(t) if d != Axis) for t in Many)",
                    "any(any(rank(t) == rank(u) for u in Many if u.sizes != t.sizes) for t in Many)",
                ]
            )
        )
    if kind == 5:
        compared = draw(st.sampled_from(["==", "!="]))
        return f"{draw(sequences(depth - 1, variables))} {compared} {draw(sequences(depth - 1, variables))}"
    if kind == 6:
        member = draw(st.sampled_from(["in", "not in"]))
        return f"{draw(numbers(depth - 1, variables))} {member} {draw(sequences(depth - 1, variables))}"
    below = max(depth - 1, 0)
    parts = [draw(numbers(below, variables)) for _ in range(draw(st.integers(2, 3)))]
    words = [draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="])) for _ in parts[1:]]
    return " ".join([parts[0], *(f"{word} {part}" for word, part in zip(words, parts[1:], strict=True))])


@st.composite
def tensors(draw: st.DrawFn) -> TensorDesc:
    sizes = draw(st.lists(st.integers(0, 3), max_size=3))
    strides = draw(st.none() | st.lists(st.integers(0, 4), min_size=len(sizes), max_size=len(sizes)))
    value = draw(st.none() | st.lists(st.integers(-1, 3), max_size=2))
    kind = draw(st.sampled_from(["FLOAT32", "INT8", "UINT4"]))
    return tensor(kind, sizes, strides=strides, value=value, flags=draw(st.sampled_from([None, 0, 1])))


@st.composite
def descriptors(draw: st.DrawFn) -> dict[str, Any]:
    values: dict[str, Any] = {"A": draw(tensors()), "B": draw(tensors())}
    if draw(st.booleans()):
        values["C"] = draw(tensors())
    values["Axis"] = draw(st.integers(0, 4))
    values["Back"] = draw(st.integers(-4, 4))
    values["Order"] = draw(st.lists(st.integers(-2, 3), max_size=3))
    if draw(st.booleans()):
        values["Count"] = draw(st.integers(0, 4))
    values["Many"] = draw(st.lists(tensors(), max_size=3))
    values["Size"] = Size2D(draw(st.integers(0, 4)), draw(st.integers(0, 4)))
    values["Low"] = draw(st.integers(-2, 3) | st.sampled_from([0.5, float("inf"), float("nan")]))
    if draw(st.booleans()):
        values["Fused"] = draw(st.sampled_from(FUSED))
    if draw(st.booleans()):
        values["Line"] = ScaleBias(draw(st.sampled_from([0.0, 1.0, 2.5])), 1.0)
    return values


def make(rule: str) -> Resolved | None:
    """Return the operator with the rule; None if it exceeds the language's limits."""
    resolved = operator(rule).resolve("1")
    assert resolved is not None
    try:
        resolved.rules[0].require.tree  # noqa: B018  # rules of tables are parsed on first use
    except ValueError:
        return None
    return resolved


@pytest.mark.slow
@given(truths(), descriptors())
@settings(max_examples=150, deadline=None)
def test_compiled_and_explaining_path_agree(rule: str, values: dict[str, Any]) -> None:
    resolved = make(rule)
    if resolved is not None:
        descriptor = Descriptor("scratch", "X", values)
        assert descriptor.plain
        assert compile_resolved(resolved)(values) is (explain_at(descriptor, resolved) == [])


def judged(resolved: Resolved, values: dict[str, Any]) -> Any:
    """Evaluate the rule: None if it does not apply, Undefined without a value."""
    form = resolved.rules[0]
    fields = {name: values.get(name, info.default) for name, info in resolved.fields.items()}
    context = Context(fields, resolved.numbers, resolved.spec.dialect.bits, resolved.spec.scope.defines)
    if any(context.absent(path) for path in form.require.needs):
        return None
    try:
        answer = evaluate(form.require, context)
    except Undefined:
        return Undefined
    assert answer in {True, False, UNKNOWN}
    if answer is not True:
        assert all(isinstance(text, str) for text in explain(form.require, context))
        message = words(decisive_parts(form.require, context), context)
        assert message.isprintable()
        assert len(message) < 1000
    return answer


def mask_values(value: Any, hidden: list[bool]) -> Any:
    """Return a tensor, or an array of them, with some sizes made unknown."""
    if isinstance(value, list) and value and isinstance(value[0], TensorDesc):
        return [mask_values(item, hidden[index:]) for index, item in enumerate(value)]
    if not isinstance(value, TensorDesc) or value.sizes is None:
        return value
    return value._replace(sizes=tuple(None if hide else size for size, hide in zip(value.sizes, hidden, strict=False)))


@pytest.mark.slow
@given(truths(), descriptors(), st.lists(st.booleans(), min_size=9, max_size=9), st.booleans())
@settings(max_examples=150, deadline=None)
def test_an_unknown_size_never_flips_an_answer(
    rule: str, values: dict[str, Any], hidden: list[bool], rank_too: bool
) -> None:
    resolved = make(rule)
    if resolved is None:
        return
    facts = judged(resolved, values)
    less = {
        n: mask_values(v, hidden["ABC".find(n) * 3 :] if n in "ABC" else hidden if n == "Many" else [])
        for n, v in values.items()
    }
    if rank_too:
        less["B"] = less["B"]._replace(sizes=None)
    result = judged(resolved, less)
    if facts is not Undefined:  # then another rule, which must have failed first, is undecided now
        assert result in {facts, UNKNOWN}
