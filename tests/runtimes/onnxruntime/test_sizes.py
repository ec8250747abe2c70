"""Which computed lists of sizes count as constants, by the table and by hand."""

from __future__ import annotations

import pytest

from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.size_lists import WAYS, Value
from specgate.runtimes.onnxruntime.value_facts import inference_of

NEW, OLD = inference_of("1.24.4"), inference_of("1.23.2")
SIZES: dict[str, tuple[int | str | None, ...]] = {"x": (2, "n", 4), "full": (2, 3, 4)}
CONSTANTS = {"one": (1,), "last": (-1,), "two": (1, 2), "far": (7,)}
KNOWN = {
    "list": Value("list", (2, 3, 4)), "other": Value("list", (5, 6, 7)), "long": Value("list", (1, 2)),
    "number": Value("number", (7,)), "minus": Value("number", (-2,)), "none": Value("number", (0,)),
}  # fmt: skip


def sizes(name: str) -> tuple[int | str | None, ...] | None:
    return SIZES.get(name)


def given(operator, *inputs, opset=17, facts=NEW, **attributes):
    held = {name: OnnxAttribute(name, "INT", value) for name, value in attributes.items()}
    node = OnnxNode("", operator, "", "", list(inputs), ["y"], held)
    return facts.value(node, opset, KNOWN, sizes, CONSTANTS.get)


def of_list(*elements):
    return Value("list", elements)


def number(one):
    return Value("number", (one,))


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (given("Shape", "full"), of_list(2, 3, 4)),
        (given("Shape", "x"), None),  # one of its elements is not known
        (given("Shape", "x", start=2), of_list(4)),
        (given("Shape", "x", start=-1, end=9), of_list(4)),
        (given("Shape", "full", start=1, end=-1), of_list(3)),
        (given("Shape", "nothing"), None),
        (given("Gather", "list", "one"), number(3)),
        (given("Gather", "list", "last"), number(4)),
        (given("Gather", "list", "two"), None),
        (given("Gather", "list", "far"), None),
        (given("Gather", "list", "list"), None),
        (given("Unsqueeze", "number", "one"), of_list(7)),
        (given("Squeeze", "number", "one"), None),
        (given("Squeeze", "list", "one"), of_list(2, 3, 4)),
        (given("Concat", "list", "long", axis=0), of_list(2, 3, 4, 1, 2)),
        (given("Concat", "list", "one", axis=0), None),  # a constant of the file is no computed list
        (given("Concat", "list", "number", axis=0), None),
        (given("Concat", "list", "long", axis=0, opset=11), None),
        (given("Cast", "list"), of_list(2, 3, 4)),
        (given("Add", "list", "other"), of_list(7, 9, 11)),
        (given("Add", "list", "other", opset=13), None),
        (given("Add", "list", "long"), None),
        (given("Add", "list", "number"), None),
        (given("Add", "number", "minus", opset=7), number(5)),
        (given("Sub", "number", "minus"), number(9)),
        (given("Mul", "number", "minus"), number(-14)),
        (given("Div", "number", "minus"), number(-3)),
        (given("Div", "number", "none"), None),
        (given("Div", "list", "other"), None),
        (given("Identity", "list"), None),
        (given("Shape", "full", facts=OLD), None),
    ],
)
def test_a_value_follows_where_the_table_says_so(found, wanted):
    assert found == wanted


def test_an_operator_of_another_domain_gives_nothing():
    node = OnnxNode("", "Shape", "com.microsoft", "", ["full"], ["y"])
    assert NEW.value(node, 17, KNOWN, sizes, CONSTANTS.get) is None


def test_lists_and_numbers_stay_small():
    many = [list(range(200)), list(range(200))]
    assert len(WAYS["joined"](many, slice(None)) or ()) == 400
    long = {"a": Value("list", tuple(range(200))), "huge": Value("number", (2**62,))}
    for operator, name in (("Concat", "a"), ("Mul", "huge")):
        node = OnnxNode("", operator, "", "", [name, name], ["y"])
        assert NEW.value(node, 17, long, sizes, CONSTANTS.get) is None


def test_one_element_is_repeated():
    assert WAYS["sum"]([[1, 2, 3], [10]], slice(None)) == (11, 12, 13)
    assert WAYS["sum"]([[1, 2, 3], [1, 2]], slice(None)) is None


def test_ranks_that_stay_unknown_go_by_release_and_opset():
    assert NEW.unsized_at(14) == OLD.unsized_at(14) == {"GreaterOrEqual", "LessOrEqual"}
    assert NEW.unsized_at(17) == frozenset()
    assert OLD.unsized_at(17) == {"GreaterOrEqual", "LessOrEqual"}
    assert OLD.unsized_at(11) == frozenset()


def test_a_release_that_does_not_exist_is_named():
    with pytest.raises(InputError, match=r"unknown release '9\.9' of ONNX Runtime"):
        inference_of("9.9")
