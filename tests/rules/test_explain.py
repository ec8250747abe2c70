"""A failed rule explains itself with the rule's own terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import Descriptor, tensor
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D
from specgate.rules.evaluate import UNKNOWN, Context, evaluate
from specgate.rules.explain import decisive_parts, explain
from specgate.rules.words import words

if TYPE_CHECKING:
    from specgate.rules.language import Rule

FIELDS: dict[str, Any] = {
    "IndicesTensor": {"kind": "input"},
    "OutputTensor": {"kind": "output"},
    "Unknown": {"kind": "input"},
    "Axis": {"kind": "attribute", "type": "uint"},
    "Mode": {"kind": "attribute", "type": "string"},
    "Order": {"kind": "attribute", "type": "uint[]"},
    "Parts": {"kind": "input", "type": "tensor[]"},
    "Size": {"kind": "attribute", "type": "size-2d"},
    "Fused": {"kind": "attribute", "type": "operator", "members": {"Axes": "uint[]", "ScaleBias": "scale-bias"}},
}
VALUES: dict[str, Any] = {
    "IndicesTensor": tensor("INT32", [2, 3, 4, 1], strides=[12, 4, 1, 0], flags=2),
    "OutputTensor": tensor("FLOAT32", [2, 5, 4, 9], strides=[0, 0, 0, 0]),
    "Unknown": tensor(None, ["N", None, 4, "batch size"]),
    "Axis": 4,
    "Mode": "linear",
    "Order": [1, 0],
    "Parts": [tensor("INT32", [2, 3]), tensor("INT8", [2, None]), tensor("INT32", [2, 5], strides=[9, 1])],
    "Size": Size2D(3, 2),
    "Fused": Descriptor("scratch", "SOFTMAX1", {"Axes": [1, 5], "ScaleBias": ScaleBias(2.0, 0.5)}),
}
MESSAGES = {
    "tensors of an array": (
        "all(type(t) == type(IndicesTensor) for t in Parts)",
        "Parts[1] is INT8 and IndicesTensor is INT32",
    ),
    "member of a tensor of an array": ("all(not present(t.strides) for t in Parts)", "Parts[2].strides is given"),
    "dimensions of tensors of an array": (
        "all(all(t.sizes[d] < 5 for d in range(2) if rank(t) == 2) for t in Parts if rank(t) == 2)",
        "dimension 1 of Parts[2] is 5",
    ),
    "a variable of the same name inside": (
        "all(any(t > 9 for t in t.sizes) for t in Parts if rank(t) == 2)",
        "dimension 0 of Parts[0] is 2",
    ),
    "one tensor of an array": ("type(Parts[0]) == INT8", "Parts[0] is INT32"),
    "sum over an array": (
        "sum(t.sizes[0] for t in Parts) == OutputTensor.sizes[1]",
        "dimension 1 of OutputTensor is 5, expected 6 (2 + 2 + 2)",
    ),
    "record": ("Size.Width < Size.Height", "Size.Width is 3 and Size.Height is 2"),
    "axis range": ("Axis < rank(IndicesTensor)", "Axis is 4 and IndicesTensor has rank 4"),
    "chain": (
        "1 <= Axis < rank(IndicesTensor) <= max_dimensions",
        "Axis is 4, max_dimensions is 8 and IndicesTensor has rank 4",
    ),
    "negative number": ("Axis == -1", "Axis is 4"),
    "type": ("type(IndicesTensor) == INT64", "IndicesTensor is INT32"),
    "two types": ("type(IndicesTensor) == type(OutputTensor)", "IndicesTensor is INT32 and OutputTensor is FLOAT32"),
    "list of types": ("type(IndicesTensor) in (INT64, UINT64)", "IndicesTensor is INT32"),
    "word": ("Mode == 'cubic'", "Mode is linear"),
    "sizes": ("IndicesTensor.sizes == (1, 2)", "IndicesTensor has the sizes [2, 3, 4, 1]"),
    "array": ("Order == (0, 1)", "Order is [1, 0]"),
    "index": ("IndicesTensor.sizes[Axis - 1] == 2", "dimension 3 of IndicesTensor is 1"),
    "loop": (
        "all(IndicesTensor.sizes[d] == OutputTensor.sizes[d] for d in dims(OutputTensor) if d != 3)",
        "dimension 1 is 3 in IndicesTensor and 5 in OutputTensor",
    ),
    "loop over values": ("all(s < 4 for s in IndicesTensor.sizes)", "dimension 2 of IndicesTensor is 4"),
    "loops in loops": (
        "all(all(IndicesTensor.sizes[d] != OutputTensor.sizes[e] for d in range(2)) for e in range(3))",
        "dimension 0 of IndicesTensor and OutputTensor is 2",
    ),
    "no turn of any": ("any(s == 7 for s in Order)", "Order[0] is 1"),
    "no turns at all": ("any(s == 7 for s in Order if s > 7)", ""),
    "turn that must not be": ("not any(s == 4 for s in IndicesTensor.sizes)", "dimension 2 of IndicesTensor is 4"),
    "first part of and": ("Axis == 2 and Mode == 'linear'", "Axis is 4"),
    "second part of and": ("Axis == 4 and Mode == 'cubic'", "Mode is linear"),
    "both parts of and": ("Axis == 2 and Mode == 'cubic'", "Axis is 4 and Mode is linear"),
    "or": ("Axis == 2 or Mode == 'cubic'", "Axis is 4 and Mode is linear"),
    "or of ands": ("Axis == 2 or Axis == 4 and Mode == 'cubic'", "Axis is 4 and Mode is linear"),
    "not": ("not Axis == 4", "Axis is 4"),
    "not of and": ("not (Axis == 4 and Mode == 'linear')", "Axis is 4 and Mode is linear"),
    "not of or": ("not (Axis == 2 or Mode == 'linear')", "Mode is linear"),
    "part that is not asked": ("rank(IndicesTensor) == 5 and IndicesTensor.sizes[4] == 1", "IndicesTensor has rank 4"),
    "chain that is not finished": ("5 < Axis < IndicesTensor.sizes[9]", "Axis is 4"),
    "function": ("not overlapping(OutputTensor)", "the strides of OutputTensor let elements overlap"),
    "power of two": ("power_of_two(Axis - 1)", "Axis is 4"),
    "member": ("IndicesTensor.Flags in (0, 1)", "Flags of IndicesTensor is 2"),
    "branch": ("Axis == 1 if Mode == 'linear' else Axis == 4", "Axis is 4"),
    "define": ("new_axis == 1", "new_axis is 3"),
    "condition by name": ("fits", "Axis is 4 and IndicesTensor has rank 4"),
    "fused operator": ("operator(Fused) != 'SOFTMAX1'", "Fused is SOFTMAX1"),
    "attribute of a fused operator": ("all(a < 4 for a in Fused.Axes)", "Fused.Axes[1] is 5"),
    "record of a fused operator": (
        "Fused.ScaleBias.Scale == 1 and Fused.ScaleBias.Bias == 0",
        "Fused.ScaleBias.Scale is 2.0 and Fused.ScaleBias.Bias is 0.5",
    ),
    "arithmetic": ("Axis + 1 == 2 * Axis", "Axis is 4"),
}


@pytest.fixture
def explained(make_spec):
    def explained(text: str, values: dict[str, Any] | None = None) -> tuple[Any, str, dict[str, Any]]:
        define = {"new_axis": "Axis - 1", "fits": "Axis < rank(IndicesTensor)"}
        spec = make_spec(FIELDS, {"case": text}, limits={"max_dimensions": 8}, define=define)
        rule: Rule = spec.rule_forms[0].require
        context = Context({**VALUES, **(values or {})}, {"max_dimensions": 8}, spec.dialect.bits, spec.scope.defines)
        return evaluate(rule, context), words(decisive_parts(rule, context), context), explain(rule, context)

    return explained


@pytest.mark.parametrize(("text", "message"), MESSAGES.values(), ids=MESSAGES.keys())
def test_message(explained, text: str, message: str) -> None:
    answer, result, _ = explained(text)
    assert answer is False
    assert result == message


OPEN = {
    "symbol": ("Unknown.sizes[0] == 3", "dimension 0 of Unknown is N"),
    "symbol of two words": ("Unknown.sizes[3] == 3", "dimension 3 of Unknown is batch size"),
    "unknown size": ("Unknown.sizes[1] == 3", "dimension 1 of Unknown is unknown"),
    "unknown type": ("type(Unknown) == INT64", "the type of Unknown is unknown"),
    "loop": (
        "all(Unknown.sizes[d] == OutputTensor.sizes[d] for d in dims(OutputTensor))",
        "dimension 0 is N in Unknown and 2 in OutputTensor",
    ),
    "what is known is left out": ("Axis == 4 and Unknown.sizes[0] == 3", "dimension 0 of Unknown is N"),
    "filter": (
        "all(s == 9 for s in OutputTensor.sizes if Unknown.sizes[1] == 2)",
        "dimension 0 of OutputTensor is 2 and dimension 1 of Unknown is unknown",
    ),
    "test": ("Axis == 4 if Unknown.sizes[0] == 1 else Axis == 5", "dimension 0 of Unknown is N"),
    "sizes": ("Unknown.sizes == (1, 2, 4, 5)", "Unknown has the sizes [N, unknown, 4, batch size]"),
}


@pytest.mark.parametrize(("text", "message"), OPEN.values(), ids=OPEN.keys())
def test_undecided_answers_name_the_unknown_value(explained, text: str, message: str) -> None:
    answer, result, _ = explained(text)
    assert answer is UNKNOWN
    assert result == message


def test_loop_over_an_unknown_rank(explained) -> None:
    answer, message, _ = explained("all(s > 0 for s in Unknown.sizes)", {"Unknown": tensor("INT8", None)})
    assert answer is UNKNOWN
    assert message == "the sizes of Unknown are unknown"


def test_values_by_expression(explained) -> None:
    assert explained("Axis < rank(IndicesTensor)")[2] == {"Axis": 4, "rank(IndicesTensor)": 4}


HOSTILE = {
    "control characters": (tensor("INT8", ["\x1b[31mN\n"]), r"'\x1b[31mN\n'"),
    "long name": (tensor("INT8", ["N" * 10_000]), "'" + "N" * 58 + "…"),
    "empty name": (tensor("INT8", [""]), "''"),
    "lone surrogate": (tensor("INT8", ["\ud800"]), r"'\ud800'"),
}


@pytest.mark.parametrize(("hostile", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_names_from_files_are_escaped_and_shortened(explained, hostile, shown: str) -> None:
    assert explained("Unknown.sizes[0] == 3", {"Unknown": hostile})[1] == f"dimension 0 of Unknown is {shown}"


def test_word_from_a_file_is_escaped_and_shortened(explained) -> None:
    message = explained("Mode == 'cubic'", {"Mode": "x\n" * 5000})[1]
    assert len(message) < 120
    assert "\n" not in message


def test_numbers_too_long_to_print(explained) -> None:
    """256 sizes of 19 digits make a product that Python refuses to print."""
    huge = tensor("INT8", [2**63 - 1] * 256)
    answer, message, _ = explained("product(Unknown.sizes) < 8", {"Unknown": huge})
    assert answer is False
    assert message == "the product of the sizes of Unknown is an integer of 16128 bits"


def test_long_sizes_are_cut(explained) -> None:
    message = explained("Unknown.sizes == (1, 2)", {"Unknown": tensor("INT8", [2**62] * 256)})[1]
    assert message.endswith("4611686018427387904, …]")
    assert len(message) < 500


def test_long_loops_end(explained) -> None:
    answer, message, values = explained("all(d < 9999 for d in range(Axis))", {"Axis": 10_000})
    assert answer is False
    assert (message, values) == ("", {"d": 9999})
