"""A rule that does not hold says why, in the rule's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import Descriptor, ScaleBias, Size2D, tensor
from specgate.rules.evaluate import UNKNOWN, Context, evaluate
from specgate.rules.explain import explain

if TYPE_CHECKING:
    from specgate.rules.parse import Rule

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
        "all(type(t) == type(IndicesTensor) for t in Parts), but type(Parts[1]) is INT8 and type(IndicesTensor) is INT32",
    ),
    "member of a tensor of an array": (
        "all(not present(t.strides) for t in Parts)",
        "but present(Parts[2].strides) is True",
    ),
    "dimensions of tensors of an array": (
        "all(all(t.sizes[d] < 5 for d in range(2) if rank(t) == 2) for t in Parts if rank(t) == 2)",
        "but for d = 1: Parts[2].sizes[d] is 5",
    ),
    "a variable of the same name inside": (
        "all(any(t > 9 for t in t.sizes) for t in Parts if rank(t) == 2)",
        "but t is 2",
    ),
    "one tensor of an array": ("type(Parts[0]) == INT8", "but type(Parts[0]) is INT32"),
    "sum over an array": (
        "sum(t.sizes[0] for t in Parts) == OutputTensor.sizes[1]",
        "but sum((t.sizes[0] for t in Parts)) is 6 and OutputTensor.sizes[1] is 5",
    ),
    "record": ("Size.Width < Size.Height", "but Size.Width is 3 and Size.Height is 2"),
    "axis range": (
        "Axis < rank(IndicesTensor)",
        "Axis < rank(IndicesTensor), but Axis is 4 and rank(IndicesTensor) is 4",
    ),
    "chain": (
        "1 <= Axis < rank(IndicesTensor) <= max_dimensions",
        "but Axis is 4 and rank(IndicesTensor) is 4 and max_dimensions is 8",
    ),
    "negative number": ("Axis == -1", "Axis == -1, but Axis is 4"),
    "type": ("type(IndicesTensor) == INT64", "but type(IndicesTensor) is INT32"),
    "two types": (
        "type(IndicesTensor) == type(OutputTensor)",
        "but type(IndicesTensor) is INT32 and type(OutputTensor) is FLOAT32",
    ),
    "list of types": ("type(IndicesTensor) in (INT64, UINT64)", "but type(IndicesTensor) is INT32"),
    "word": ("Mode == 'cubic'", "but Mode is linear"),
    "sizes": ("IndicesTensor.sizes == (1, 2)", "but IndicesTensor.sizes is [2, 3, 4, 1]"),
    "array": ("Order == (0, 1)", "but Order is [1, 0]"),
    "index": ("IndicesTensor.sizes[Axis - 1] == 2", "but IndicesTensor.sizes[Axis - 1] is 1"),
    "loop": (
        "all(IndicesTensor.sizes[d] == OutputTensor.sizes[d] for d in dims(OutputTensor) if d != 3)",
        "but for d = 1: IndicesTensor.sizes[d] is 3 and OutputTensor.sizes[d] is 5",
    ),
    "loop over values": ("all(s < 4 for s in IndicesTensor.sizes)", "but s is 4"),
    "loops in loops": (
        "all(all(IndicesTensor.sizes[d] != OutputTensor.sizes[e] for d in range(2)) for e in range(3))",
        "but for e = 0: for d = 0: IndicesTensor.sizes[d] is 2 and OutputTensor.sizes[e] is 2",
    ),
    "no turn of any": ("any(s == 7 for s in Order)", "but s is 1"),
    "no turns at all": ("any(s == 7 for s in Order if s > 7)", "any(s == 7 for s in Order if s > 7)"),
    "turn that must not be": ("not any(s == 4 for s in IndicesTensor.sizes)", "but s is 4"),
    "first part of and": ("Axis == 2 and Mode == 'linear'", "but Axis is 4"),
    "second part of and": ("Axis == 4 and Mode == 'cubic'", "but Mode is linear"),
    "both parts of and": ("Axis == 2 and Mode == 'cubic'", "but Axis is 4 and Mode is linear"),
    "or": ("Axis == 2 or Mode == 'cubic'", "but Axis is 4 and Mode is linear"),
    "or of ands": ("Axis == 2 or Axis == 4 and Mode == 'cubic'", "but Axis is 4 and Mode is linear"),
    "not": ("not Axis == 4", "but Axis is 4"),
    "not of and": ("not (Axis == 4 and Mode == 'linear')", "but Axis is 4 and Mode is linear"),
    "not of or": ("not (Axis == 2 or Mode == 'linear')", "but Mode is linear"),
    "part that is not asked": (
        "rank(IndicesTensor) == 5 and IndicesTensor.sizes[4] == 1",
        "but rank(IndicesTensor) is 4",
    ),
    "chain that is not finished": (
        "5 < Axis < IndicesTensor.sizes[9]",
        "5 < Axis < IndicesTensor.sizes[9], but Axis is 4",
    ),
    "function": ("not overlapping(OutputTensor)", "but overlapping(OutputTensor) is True"),
    "power of two": ("power_of_two(Axis - 1)", "but power_of_two(Axis - 1) is False"),
    "member": ("IndicesTensor.Flags in (0, 1)", "but IndicesTensor.Flags is 2"),
    "branch": ("Axis == 1 if Mode == 'linear' else Axis == 4", "but Axis is 4"),
    "define": ("new_axis == 1", "new_axis == 1, but new_axis is 3"),
    "condition by name": ("fits", "fits, but Axis is 4 and rank(IndicesTensor) is 4"),
    "fused operator": ("operator(Fused) != 'SOFTMAX1'", "but operator(Fused) is SOFTMAX1"),
    "attribute of a fused operator": ("all(a < 4 for a in Fused.Axes)", "but a is 5"),
    "record of a fused operator": (
        "Fused.ScaleBias.Scale == 1 and Fused.ScaleBias.Bias == 0",
        "but Fused.ScaleBias.Scale is 2.0 and Fused.ScaleBias.Bias is 0.5",
    ),
    "arithmetic": ("Axis + 1 == 2 * Axis", "but Axis + 1 is 5 and 2 * Axis is 8"),
}


@pytest.fixture
def explained(make_spec):
    def explained(text: str, values: dict[str, Any] | None = None) -> tuple[Any, str, dict[str, Any]]:
        define = {"new_axis": "Axis - 1", "fits": "Axis < rank(IndicesTensor)"}
        spec = make_spec(FIELDS, {"case": text}, limits={"max_dimensions": 8}, define=define)
        rule: Rule = spec.rule_forms[0].require
        context = Context({**VALUES, **(values or {})}, {"max_dimensions": 8}, spec.dialect.bits, spec.scope.defines)
        return evaluate(rule, context), *explain(rule, context)

    return explained


@pytest.mark.parametrize(("text", "message"), MESSAGES.values(), ids=MESSAGES.keys())
def test_message(explained, text: str, message: str) -> None:
    answer, found, _ = explained(text)
    assert answer is False
    assert found == (message if message.startswith(text) else f"{text}, {message}")


OPEN = {
    "symbol": ("Unknown.sizes[0] == 3", "but Unknown.sizes[0] is N"),
    "symbol of two words": ("Unknown.sizes[3] == 3", "but Unknown.sizes[3] is batch size"),
    "unknown size": ("Unknown.sizes[1] == 3", "but Unknown.sizes[1] is unknown"),
    "unknown type": ("type(Unknown) == INT64", "but type(Unknown) is unknown"),
    "loop": (
        "all(Unknown.sizes[d] == OutputTensor.sizes[d] for d in dims(OutputTensor))",
        "but for d = 0: Unknown.sizes[d] is N and OutputTensor.sizes[d] is 2",
    ),
    "what is known is left out": ("Axis == 4 and Unknown.sizes[0] == 3", "but Unknown.sizes[0] is N"),
    "filter": (
        "all(s == 9 for s in OutputTensor.sizes if Unknown.sizes[1] == 2)",
        "but s is 2 and Unknown.sizes[1] is unknown",
    ),
    "test": ("Axis == 4 if Unknown.sizes[0] == 1 else Axis == 5", "but Unknown.sizes[0] is N"),
    "sizes": ("Unknown.sizes == (1, 2, 4, 5)", "but Unknown.sizes is [N, unknown, 4, batch size]"),
}


@pytest.mark.parametrize(("text", "message"), OPEN.values(), ids=OPEN.keys())
def test_what_leaves_it_open(explained, text: str, message: str) -> None:
    answer, found, _ = explained(text)
    assert answer is UNKNOWN
    assert found == f"{text}, {message}"


def test_loop_over_an_unknown_rank(explained) -> None:
    answer, message, _ = explained("all(s > 0 for s in Unknown.sizes)", {"Unknown": tensor("INT8", None)})
    assert answer is UNKNOWN
    assert message == "all(s > 0 for s in Unknown.sizes), but Unknown.sizes is unknown"


def test_values_by_expression(explained) -> None:
    assert explained("Axis < rank(IndicesTensor)")[2] == {"Axis": 4, "rank(IndicesTensor)": 4}


HOSTILE = {
    "control characters": (tensor("INT8", ["\x1b[31mN\n"]), r"'\x1b[31mN\n'"),
    "long name": (tensor("INT8", ["N" * 10_000]), "'" + "N" * 58 + "…"),
    "empty name": (tensor("INT8", [""]), "''"),
    "lone surrogate": (tensor("INT8", ["\ud800"]), r"'\ud800'"),
}


@pytest.mark.parametrize(("hostile", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_names_from_files_are_tamed(explained, hostile, shown: str) -> None:
    assert (
        explained("Unknown.sizes[0] == 3", {"Unknown": hostile})[1]
        == f"Unknown.sizes[0] == 3, but Unknown.sizes[0] is {shown}"
    )


def test_word_from_a_file_is_tamed(explained) -> None:
    message = explained("Mode == 'cubic'", {"Mode": "x\n" * 5000})[1]
    assert len(message) < 120
    assert "\n" not in message


def test_numbers_too_long_to_print(explained) -> None:
    """256 sizes of 19 digits make a product that Python itself refuses to print."""
    huge = tensor("INT8", [2**63 - 1] * 256)
    answer, message, _ = explained("product(Unknown.sizes) < 8", {"Unknown": huge})
    assert answer is False
    assert message == "product(Unknown.sizes) < 8, but product(Unknown.sizes) is an integer of 16128 bits"


def test_long_sizes_are_cut(explained) -> None:
    message = explained("Unknown.sizes == (1, 2)", {"Unknown": tensor("INT8", [2**62] * 256)})[1]
    assert message.endswith("4611686018427387904, …]")
    assert len(message) < 500


def test_long_loops_end(explained) -> None:
    answer, message, _ = explained("all(d < 9999 for d in range(Axis))", {"Axis": 10_000})
    assert answer is False
    assert message == "all(d < 9999 for d in range(Axis)), but d is 9999"
