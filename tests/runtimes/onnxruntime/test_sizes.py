"""Computed lists of sizes that count as constants, by the table and by hand."""

from __future__ import annotations

import pytest

from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.size_lists import METHODS, Value
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


def convert(operator, *inputs, opset=17, facts=NEW, **attributes):
    attributes_by_name = {name: OnnxAttribute(name, "INT", value) for name, value in attributes.items()}
    node = OnnxNode("", operator, "", "", list(inputs), ["y"], attributes_by_name)
    return facts.value(node, opset, KNOWN, sizes, CONSTANTS.get)


def of_list(*elements):
    return Value("list", elements)


def number(item):
    return Value("number", (item,))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (convert("Shape", "full"), of_list(2, 3, 4)),
        (convert("Shape", "x"), None),  # one of its elements is not known
        (convert("Shape", "x", start=2), of_list(4)),
        (convert("Shape", "x", start=-1, end=9), of_list(4)),
        (convert("Shape", "full", start=1, end=-1), of_list(3)),
        (convert("Shape", "nothing"), None),
        (convert("Gather", "list", "one"), number(3)),
        (convert("Gather", "list", "last"), number(4)),
        (convert("Gather", "list", "two"), None),
        (convert("Gather", "list", "far"), None),
        (convert("Gather", "list", "list"), None),
        (convert("Unsqueeze", "number", "one"), of_list(7)),
        (convert("Squeeze", "number", "one"), None),
        (convert("Squeeze", "list", "one"), of_list(2, 3, 4)),
        (convert("Concat", "list", "long", axis=0), of_list(2, 3, 4, 1, 2)),
        (convert("Concat", "list", "one", axis=0), None),  # an initializer is not a computed list
        (convert("Concat", "list", "number", axis=0), None),
        (convert("Concat", "list", "long", axis=0, opset=11), None),
        (convert("Cast", "list"), of_list(2, 3, 4)),
        (convert("Add", "list", "other"), of_list(7, 9, 11)),
        (convert("Add", "list", "other", opset=13), None),
        (convert("Add", "list", "long"), None),
        (convert("Add", "list", "number"), None),
        (convert("Add", "number", "minus", opset=7), number(5)),
        (convert("Sub", "number", "minus"), number(9)),
        (convert("Mul", "number", "minus"), number(-14)),
        (convert("Div", "number", "minus"), number(-3)),
        (convert("Div", "number", "none"), None),
        (convert("Div", "list", "other"), None),
        (convert("Identity", "list"), None),
        (convert("Shape", "full", facts=OLD), None),
    ],
)
def test_values_are_computed_as_the_table_states(result, expected):
    assert result == expected


def test_an_operator_of_another_domain_has_no_value():
    node = OnnxNode("", "Shape", "com.microsoft", "", ["full"], ["y"])
    assert NEW.value(node, 17, KNOWN, sizes, CONSTANTS.get) is None


def test_lists_and_numbers_stay_small():
    many = [list(range(200)), list(range(200))]
    assert len(METHODS["joined"](many, slice(None)) or ()) == 400
    long = {"a": Value("list", tuple(range(200))), "huge": Value("number", (2**62,))}
    for operator, name in (("Concat", "a"), ("Mul", "huge")):
        node = OnnxNode("", operator, "", "", [name, name], ["y"])
        assert NEW.value(node, 17, long, sizes, CONSTANTS.get) is None


def test_a_single_element_is_repeated():
    assert METHODS["sum"]([[1, 2, 3], [10]], slice(None)) == (11, 12, 13)
    assert METHODS["sum"]([[1, 2, 3], [1, 2]], slice(None)) is None


def test_unknown_ranks_depend_on_release_and_opset():
    assert NEW.unranked_operators(14) == OLD.unranked_operators(14) == {"GreaterOrEqual", "LessOrEqual"}
    assert NEW.unranked_operators(17) == frozenset()
    assert OLD.unranked_operators(17) == {"GreaterOrEqual", "LessOrEqual"}
    assert OLD.unranked_operators(11) == frozenset()


def test_a_release_that_does_not_exist_is_named():
    with pytest.raises(InputError, match=r"unknown release '9\.9' of ONNX Runtime"):
        inference_of("9.9")
