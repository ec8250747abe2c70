"""The rule language rejects everything else quickly, with a caret at the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.dialects.directml.vocabulary import VOCABULARY
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import (
    NUMBER,
    NUMBERS,
    OPERATOR,
    OPERATORS,
    TENSOR,
    TENSOR_ATTRIBUTES,
    TENSORS,
    TRUTH,
    TRUTHS,
    WORD,
    WORDS,
    Rule,
    RuleError,
    Scope,
)
from specgate.rules.parse import MAX_DEPTH, MAX_LENGTH, MAX_NODES, parse

pytestmark = pytest.mark.timeout(240)  # what is hostile must not hang

FIELDS = {
    "A": TENSOR,
    "B": TENSOR,
    "Many": TENSORS,
    "Axis": NUMBER,
    "Mode": WORD,
    "Keep": TRUTH,
    "Flips": TRUTHS,
    "Order": NUMBERS,
    "Names": WORDS,
    "Size": "size-2d",
    "Line": "scale-bias",
    "Fused": OPERATOR,
    "Gates": OPERATORS,
    "Others": TENSORS,
}
SCOPE = Scope(
    FIELDS,
    optional=frozenset({"B"}),
    numbers=frozenset({"limit"}),
    words=frozenset({"FLOAT32", "INT8"}),
    vocabulary=VOCABULARY,
)


def reject(text: str, scope: Scope = SCOPE, expect: str | None = TRUTH) -> RuleError:
    with pytest.raises(RuleError) as caught:
        parse(text, scope, expect=expect)
    assert len(str(caught.value)) < 1500
    assert all(character.isprintable() or character == "\n" for character in str(caught.value))
    return caught.value


def under_caret(error: RuleError) -> str:
    """Return the text of the shown expression from the caret on."""
    _, shown, caret = str(error).split("\n")
    return shown[caret.index("^") :]


OUTSIDE = {
    "lambda": ("Axis < (lambda: 3)()", "(lambda"),
    "lambda as a value": ("(lambda x: x) == 1", "lambda"),
    "walrus": ("(n := Axis) < 3", "n := Axis"),
    "f-string": ("f'{Axis}' == Mode", "f'"),
    "list comprehension": ("[d for d in dims(A)] == Order", "[d for"),
    "set comprehension": ("{d for d in dims(A)} == Order", "{d for"),
    "dict": ("{1: 2} == Order", "{1:"),
    "dict comprehension": ("{d: d for d in dims(A)} == Order", "{d:"),
    "set": ("Axis in {1, 2}", "{1, 2}"),
    "generator on its own": ("(d for d in dims(A)) == Order", "(d for"),
    "await": ("await Axis == 1", "await"),
    "yield": ("(yield Axis) == 1", "yield"),
    "star": ("(*Order, 1) == Order", "*Order"),
    "slice": ("A.sizes[1:2] == Order", "1:2"),
    "ellipsis": ("A.sizes[...] == 1", "..."),
    "none": ("Axis == None", "None"),
    "is": ("Axis is 1000", "Axis is"),
    "bytes": ("b'a' == Mode", "b'a'"),
    "complex": ("Axis == 1j", "1j"),
    "power": ("Axis ** 2 == 4", "Axis **"),
    "division": ("Axis / 2 == 4", "Axis /"),
    "matrix product": ("Axis @ Axis == 4", "Axis @"),
    "shift": ("Axis << 2 == 4", "Axis <<"),
    "bitwise": ("Axis & 2 == 4", "Axis &"),
    "bitwise or": ("(Axis | 2) == 4", "Axis |"),
    "invert": ("~Axis == 4", "~Axis"),
    "unary plus": ("+Axis == 4", "+Axis"),
    "string product": ("'a' * 9 == Mode", "'a'"),
    "string sum": ("'a' + 'b' == Mode", "'a'"),
    "string format": ("'%d' % Axis == Mode", "'%d'"),
    "dunder": ("().__class__ == Mode", "().__class__"),
    "dunder of a field": ("A.__class__ == Mode", "A.__class__"),
    "attribute of an attribute": ("A.sizes.index == 1", "A.sizes.index"),
    "attribute of a call": ("rank(A).real == 1", "rank(A).real"),
    "attribute of a number": ("Axis.real == 1", "Axis.real"),
    "method": ("A.sizes.count(1) == 1", "A.sizes.count"),
    "keyword": ("rank(tensor=A) == 1", "rank("),
    "double star": ("rank(**A) == 1", "rank("),
    "star argument": ("rank(*Order) == 1", "*Order"),
    "import": ("__import__('os') == Mode", "__import__"),
    "eval": ("eval('1') == 1", "eval"),
    "open": ("open('f') == 1", "open"),
    "getattr": ("getattr(A, 'sizes') == Order", "getattr"),
    "async loop": ("all(s async for s in A.sizes)", "(s async"),
    "two loops in one": ("all(s == t for s in A.sizes for t in A.sizes)", "(s == t"),
    "loop over a pair": ("all(s == t for s, t in A.sizes)", "(s == t"),
    "loop over a word": ("all(c == Mode for c in Mode)", "Mode)"),
    "loop variable like a field": ("all(Axis == 1 for Axis in A.sizes)", "(Axis == 1"),
    "all of a list": ("all([Keep, Keep])", "all("),
    "empty list": ("Axis in ()", "()"),
    "mixed list": ("Axis in (1, Mode)", "(1, Mode)"),
    "list of truths": ("Keep in (Keep, Keep)", "(Keep"),
    "not equal in old spelling": ("Axis <> 2", "<> 2"),
    "statement": ("Axis = 2", "= 2"),
    "two expressions": ("Axis == 1; Axis == 2", "; Axis"),
    "unfinished": ("rank(A", "(A"),
    "number too long": (f"Axis < {2**64 + 1}", str(2**64 + 1)),
    "float too large": ("Axis < 1e400", "1e400"),
}


@pytest.mark.parametrize(("text", "place"), OUTSIDE.values(), ids=OUTSIDE.keys())
def test_syntax_outside_the_language_is_rejected(text: str, place: str) -> None:
    assert under_caret(reject(text)).startswith(place)


def test_caret_counts_characters_not_bytes() -> None:
    assert under_caret(reject("Mode == 'größe' and Axs == 1")).startswith("Axs")


def test_caret_stays_at_the_error_in_a_long_rule() -> None:
    text = " and ".join(["Axis < 4"] * 30) + " and Axs < 4 and " + " and ".join(["Axis < 4"] * 15)
    error = reject(text)
    assert under_caret(error).startswith("Axs < 4")
    assert "…" in str(error)


def test_one_line_form_names_the_column() -> None:
    error = reject("rank(A) < Axs")
    assert error.reason.startswith("unknown name 'Axs'")
    assert error.line == f"{error.reason}, at column 11 of: rank(A) < Axs"


@pytest.mark.parametrize(
    "text", ["Axis\x00 == 1", "Axis == '\x1b[31m'", "\ud800 == 1", "Axis\u2028== 'x", "\u202eAxis == 1"]
)
def test_control_characters_stay_out_of_messages(text: str) -> None:
    reject(text)


UNKNOWN = {
    "name": ("Axs < 3", "unknown name 'Axs'; known here: A, Axis, B, Flips, Fused, Gates, Keep"),
    "type": ("type(A) == FLOAT33", "unknown name 'FLOAT33'"),
    "function": ("ranks(A) == 3", "unknown function 'ranks'; known: rank, type, elements"),
    "member": ("A.size == Order", "unknown attribute 'size'; known: sizes, strides, TotalTensorSizeInBytes"),
    "member of present": ("present(A.size)", "unknown attribute 'size'; known: sizes, strides"),
    "present of nothing": ("present(limit)", "expected present(FIELD) or present(FIELD.attribute)"),
    "loop variable outside": ("all(d > 0 for d in A.sizes) and d > 0", "unknown name 'd'"),
    "none": ("true == Keep", "unknown name 'true'"),
}


@pytest.mark.parametrize(("text", "message"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_names(text: str, message: str) -> None:
    assert reject(text).reason.startswith(message)


KINDS = {
    "order of words": ("Mode < 'x'", "cannot compare a word with a word this way"),
    "number and word": ("Axis == Mode", "cannot compare a number with a word this way"),
    "number and sizes": ("Axis == A.sizes", "cannot compare a number with a numbers this way"),
    "word in numbers": ("Mode in A.sizes", "cannot compare a word with a numbers this way"),
    "number in number": ("Axis in Axis", "cannot compare a number with a number this way"),
    "tensors": ("A == B", "cannot compare a tensor with a tensor this way"),
    "arrays of tensors": ("rank(Many) == 1", "expected a tensor, found a tensors"),
    "array of truths": ("Flips and Keep", "expected a truth, found a truths"),
    "not of a number": ("not Axis", "expected a truth, found a number"),
    "and of numbers": ("Axis and Axis", "expected a truth, found a number"),
    "minus of a truth": ("-Keep == 1", "expected a number, found a truth"),
    "sum of a word": ("Axis + Mode == 1", "expected a number, found a word"),
    "branches": ("(Axis if Keep else Mode) == 1", "expected a number, found a word"),
    "condition": ("(Axis if Axis else Axis) == 1", "expected a truth, found a number"),
    "index": ("A.sizes[Mode] == 1", "expected a number, found a word"),
    "index of a number": ("Axis[0] == 1", "expected a sequence, found a number"),
    "rank of a number": ("rank(Axis) == 1", "expected a tensor, found a number"),
    "len of a tensor": ("len(A) == 1", "expected a numbers, found a tensor"),
    "arguments": ("rank(A, B) == 1", "rank takes 1 argument(s), found 2"),
    "no argument": ("rank() == 1", "rank takes 1 argument(s), found 0"),
    "loop of numbers": ("all(d for d in dims(A))", "expected a truth, found a number"),
    "sum of truths": ("sum(d > 1 for d in dims(A)) == 1", "expected a number, found a truth"),
    "filter": ("all(d > 1 for d in dims(A) if d)", "expected a truth, found a number"),
    "a number as a rule": ("rank(A)", "expected a truth, found a number"),
    "one of two tensors": ("rank(A if Keep else B) == 1", "expected a tensor field's own name"),
    "one of two arrays of tensors": ("rank((Many if Keep else Others)[0]) == 1", "expected an array field's own name"),
    "loop over one of two arrays": (
        "all(rank(t) == 1 for t in (Many if Keep else Others))",
        "expected an array field's own name",
    ),
    "names of the dimensions of one of two arrays": (
        "len(labelled(Names, Many if Keep else Others, 'a')) == 1",
        "expected an array field's own name",
    ),
    "length of one of two arrays": ("len(Many if Keep else Others) == 1", "expected an array field's own name"),
    "tensors of arrays": ("Many[0] == Many[1]", "cannot compare a tensor with a tensor this way"),
    "whole arrays of tensors": ("Many == Others", "cannot compare a tensors with a tensors this way"),
    "tensor among tensors": ("A in Many", "cannot compare a tensor with a tensors this way"),
    "value of an array's tensor": ("value(Many[0]) == 1", "expected a field, not an element of an array"),
    "value of a loop's tensor": (
        "all(value(t) == 1 for t in Many)",
        "expected a field, not an element of an array",
    ),
    "sum of tensors": ("sum(Many) == 1", "expected a numbers, found a tensors"),
    "sum of a loop of tensors": ("len(t for t in Many) == 1", "expected a number, found a tensor"),
    "members of an array": ("Many.sizes == Order", "expected a tensor, found a tensors"),
    "presence of a member of an array": ("present(Many.strides)", "expected a tensor, found a tensors"),
    "presence of a loop's tensor": (
        "all(present(t) for t in Many)",
        "expected present(FIELD) or present(FIELD.attribute)",
    ),
    "record": ("Size == Size", "cannot compare a size-2d with a size-2d this way"),
    "record as a number": ("Size < 3", "cannot compare a size-2d with a number this way"),
    "member of another record": ("Size.Scale == 1", "unknown attribute 'Scale'; known: Width, Height"),
    "member of a record's member": ("Line.Scale.Width == 1", "expected a tensor, found a number"),
    "presence of a record's member": (
        "present(Size.Width)",
        "unknown attribute 'Width'; known: sizes, strides, TotalTensorSizeInBytes, GuaranteedBaseOffsetAlignment, Flags",
    ),
    "index of a record": ("Size[0] == 1", "expected a sequence, found a size-2d"),
    "operator": ("Fused == 'RELU'", "cannot compare a operator with a word this way"),
    "operators alike": ("Fused == Fused", "cannot compare a operator with a operator this way"),
    "loop over operators": ("all(present(g) for g in Gates)", "expected a sequence to loop over, found a operators"),
    "length of a record": ("len(Size) == 2", "expected a numbers, found a size-2d"),
}


@pytest.mark.parametrize(("text", "message"), KINDS.values(), ids=KINDS.keys())
def test_kinds(text: str, message: str) -> None:
    assert reject(text).reason == message


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("A", TENSOR),
        ("Many", TENSORS),
        ("Many[0]", TENSOR),
        ("Flips", TRUTHS),
        ("Size", "size-2d"),
        ("Line", "scale-bias"),
        ("Fused", OPERATOR),
        ("Gates", OPERATORS),
    ],
)
def test_defines_reject_other_kinds(field: str, kind: str) -> None:
    assert reject(field, expect=None).reason == f"expected a number, word or truth, found a {kind}"


def test_fields_and_members_read_by_a_rule() -> None:
    rule = parse("rank(A) == rank(B) and B.strides[0] == value(A) and present(Mode) and A.Flags == 0", SCOPE)
    assert rule.fields == {"A", "B", "Mode"}
    assert rule.needs == {"B", "B.strides", "A.value", "A.Flags"}
    assert rule.kind == TRUTH


def test_array_members_read_by_a_rule() -> None:
    """A member of a tensor in an array is not a field whose absence skips the rule."""
    text = "all(t.strides[0] == 1 and present(t.Flags) for t in Many) and Many[0].strides[0] == 1 and Size.Width == 1"
    rule = parse(text, Scope(FIELDS, frozenset({"Size"}), vocabulary=VOCABULARY))
    assert rule.fields == {"Many", "Size"}
    assert rule.needs == {"Size"}


FUSING = Scope(
    FIELDS, vocabulary=VOCABULARY, members={"Fused": {"Axes": NUMBERS, "ScaleBias": "scale-bias", "Alpha": NUMBER}}
)


def test_fused_operator_attributes_read_by_a_rule() -> None:
    """A rule on an attribute applies to fused operators that state it."""
    rule = parse("all(a < rank(A) for a in Fused.Axes) and Fused.ScaleBias.Bias == 0 and Fused.Alpha < 1", FUSING)
    assert rule.fields == {"A", "Fused"}
    assert rule.needs == {"Fused.Axes", "Fused.ScaleBias", "Fused.Alpha"}


MISTAKEN_MEMBERS = {
    "not listed": ("Fused.Beta == 1", "unknown attribute 'Beta'; Fused lists these members: Axes, ScaleBias, Alpha"),
    "no record": ("Fused.Alpha.Scale == 1", "expected a tensor, found a number"),
    "no part of a record": ("Fused.ScaleBias.Width == 1", "unknown attribute 'Width'; known: Scale, Bias"),
    "whole record": ("Fused.ScaleBias == 1", "cannot compare a scale-bias with a number this way"),
    "no operator": ("operator(A) == 'RELU'", "expected a operator, found a tensor"),
    "an array": ("Gates.Alpha == 1", "expected a tensor, found a operators"),
}


@pytest.mark.parametrize(("text", "message"), MISTAKEN_MEMBERS.values(), ids=MISTAKEN_MEMBERS.keys())
def test_mistaken_members(text: str, message: str) -> None:
    assert reject(text, FUSING).reason == message


@pytest.mark.parametrize("array", ["Order", "Names", "Flips", "Many", "Gates"])
def test_every_array_has_a_length(array: str) -> None:
    assert parse(f"len({array}) == 2", SCOPE).fields == {array}


def test_a_rule_reads_the_fields_of_its_defines() -> None:
    define = parse("rank(B) + 1", SCOPE, expect=None)
    scope = Scope(FIELDS, SCOPE.optional, defines={"more": define})
    rule = parse("more == Axis", scope)
    assert rule.fields == {"B", "Axis"}
    assert rule.needs == {"B"}


def test_white_space_and_lines_do_not_matter() -> None:
    assert parse("  Axis\n   <\t3 ", SCOPE).text == "Axis < 3"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_can_be_used(name: str) -> None:
    expected, result, *_ = FUNCTIONS[name]
    facts = {TENSOR: "A", NUMBERS: "A.sizes", NUMBER: "Axis", OPERATOR: "Fused", WORD: "Mode", "field": "B"}
    facts |= {WORDS: "Names", TENSORS: "Many"}
    arguments = ", ".join(facts[kind] for kind in expected)
    compared = {NUMBER: " == 1", WORD: " == FLOAT32", TRUTH: "", NUMBERS: " == (1, 2)", WORDS: " == ('a', 'b')"}
    assert parse(f"{name}({arguments}){compared[result]}", SCOPE).kind == TRUTH


@pytest.mark.parametrize("member", TENSOR_ATTRIBUTES)
def test_every_member_can_be_used(member: str) -> None:
    compared = {NUMBER: "== 1", NUMBERS: "== (1, 2)"}[TENSOR_ATTRIBUTES[member]]
    assert parse(f"A.{member} {compared}", SCOPE).fields == {"A"}


def at_limit(depth: int) -> str:
    return "not " * depth + "Keep"


def test_limit_of_depth() -> None:
    assert parse(at_limit(MAX_DEPTH), SCOPE).depth == MAX_DEPTH
    assert reject(at_limit(MAX_DEPTH + 1)).reason == f"expected at most {MAX_DEPTH} nested parts"


def test_limit_of_length() -> None:
    text = "Mode == '" + "x" * (MAX_LENGTH - 10) + "'"
    assert len(text) == MAX_LENGTH
    assert parse(text, SCOPE).kind == TRUTH
    assert reject(text + " and Keep").reason == f"expected at most {MAX_LENGTH} characters, found {MAX_LENGTH + 9}"


def test_limit_of_parts() -> None:
    few, many = (" and ".join(["Keep"] * count) for count in (190, 210))
    assert parse(few, SCOPE).parts <= MAX_NODES
    assert reject(many).reason == f"expected at most {MAX_NODES} parts, with every define expanded"


@pytest.mark.parametrize("number", [2**64, -(2**64), 0, 1.5])
def test_numbers_up_to_the_limit(number: float) -> None:
    assert parse(f"Axis < {number}", SCOPE).kind == TRUTH


def test_limit_of_loops() -> None:
    loop = "all(s > 0 for s in A.sizes)"
    assert parse(" and ".join([loop] * 4), SCOPE).loops == 4
    assert reject(" and ".join([loop] * 5)).reason == "expected at most 4 plain loops in a rule"


def test_limit_of_nested_loops() -> None:
    inner = "all(s > t for t in A.sizes)"
    assert parse(f"all({inner} and {inner} for s in A.sizes)", SCOPE).loops == 3
    deeper = "all(all(all(s > t for t in A.sizes) for s in A.sizes) for d in dims(A))"
    assert reject(deeper).reason == "expected at most 2 loops inside one another"


def chain(first: str, step: str, count: int) -> Scope:
    """Define d0 as `first` and each next name by `step`, up to the limit."""
    defines: dict[str, Rule] = {}
    for index in range(count):
        text = first if index == 0 else step.replace("_", f"d{index - 1}")
        defines[f"d{index}"] = parse(text, Scope(FIELDS, defines=dict(defines)), expect=None)
    return Scope(FIELDS, defines=defines)


BOMBS = {
    "doubling": ("Axis", "_ + _", "parts"),
    "deepening": ("Axis", "-" * 20 + "_", "nested parts"),
    "loops": ("sum(s for s in A.sizes)", "sum(s for s in A.sizes) + _", "loops"),
    "words": ("Keep", "not (_ and _)", "parts"),
}


@pytest.mark.parametrize(("first", "step", "message"), BOMBS.values(), ids=BOMBS.keys())
def test_defines_of_defines_stay_small(first: str, step: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        chain(first, step, 60)


HOSTILE = {
    "deep parentheses": "(" * 900 + "Axis" + ")" * 900 + " == 1",
    "deep brackets": "[" * 900 + "Axis" + "]" * 900 + " == 1",
    "deep calls": "abs(" * 450 + "Axis" + ")" * 450 + " == 1",
    "deep attributes": "A" + ".sizes" * 300 + " == 1",
    "deep indices": "A.sizes" + "[0]" * 600 + " == 1",
    "deep conditions": "Keep if Keep else " * 100 + "Keep",
    "many minuses": "-" * 1900 + "1 == 1",
    "many nots": "not " * 490 + "Keep",
    "many comparisons": "1" + " < 1" * 480,
    "long number": "9" * 1900 + " == 1",
    "long hexadecimal number": "0x" + "f" * 1900 + " == 1",
    "power tower": "9**9**9**9**9 == 1",
    "long string": "'" + "x" * 1_000_000 + "' == Mode",
    "long spaces": " " * 10_000_000,
    "long name": "x" * 1900 + " == 1",
    "empty": "",
    "comment": "# nothing",
    "backslash": "Axis == \\",
    "nested loops": "all(" * 60 + "Keep" + " for s in A.sizes)" * 60,
    "template": "${jndi:ldap://x} == 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_rules(text: str) -> None:
    reject(text)


@given(st.text(max_size=80))
def test_any_text_is_a_rule_or_a_rule_error(text: str) -> None:
    try:
        parse(text, SCOPE)
    except RuleError as error:
        assert str(error).count("\n") == 2


PARTS = st.sampled_from(
    [
        "A",
        "Axis",
        "Keep",
        "Mode",
        "A.sizes",
        "d",
        "1",
        "-1",
        "'x'",
        "not",
        "and",
        "or",
        "in",
        "if",
        "else",
        "for",
        "(",
        ")",
    ]
    + [
        "[",
        "]",
        "==",
        "<",
        "+",
        "//",
        "rank(A)",
        "all(",
        "any(",
        "sum(",
        "present(",
        ",",
        ".",
        "FLOAT32",
        "limit",
        "dims(A)",
    ]
)


@given(st.lists(PARTS, max_size=14))
def test_any_token_sequence_is_a_rule_or_a_rule_error(parts: list[str]) -> None:
    text = " ".join(parts)
    try:
        rule = parse(text, SCOPE, expect=None)
    except RuleError as error:
        assert error.reason
    else:
        assert rule.kind in {NUMBER, TRUTH, WORD, NUMBERS, WORDS}


GRAPHS = Scope(
    {"body": "graph", "extra": "graph", "Many": "tensors"}, optional=frozenset({"extra"}), words=frozenset({"BOOL"})
)


def test_the_ends_of_graphs_are_arrays_of_tensors():
    rule = parse("all(type(body.outputs[i]) == type(Many[i]) for i in range(len(body.outputs)))", GRAPHS)
    assert rule.fields == {"body", "Many"}
    assert rule.needs == set()
    assert parse("len(extra.inputs) == 0", GRAPHS).needs == {"extra"}
    assert parse("all(rank(t) == 1 for t in body.inputs)", GRAPHS).fields == {"body"}


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "body.nodes == 1": "unknown attribute 'nodes'; a graph has: inputs, outputs",
        "body == extra": "cannot compare a graph with a graph this way",
        "body.inputs == Many": "cannot compare a tensors with a tensors this way",
        "body.inputs.sizes == 1": "expected a tensor, found a tensors",
        "len(body) == 1": "expected a numbers, found a graph",
    }.items(),
)
def test_only_inputs_and_outputs_of_a_graph_are_read(text, message):
    assert reject(text, GRAPHS).reason.startswith(message)


def test_texts_are_split_and_counted():
    scope = Scope({"equation": "word", "Many": "tensors"})
    rule = parse("len(split(split(equation, '->')[0], ',')) == len(Many)", scope)
    assert rule.fields == {"equation", "Many"}
    assert parse("count(equation, '->') <= 1 and letters(equation) > 0", scope).fields == {"equation"}
    assert reject("count(equation) == 1", scope).reason == "count takes 2 argument(s), found 1"
    assert reject("split(equation, 1) == Many", scope).reason == "expected a word, found a number"
