"""Unknown and symbolic sizes leave rules undecided, and the size to pin is named."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specgate
from specgate.spec.tables import dialect


def test_a_symbolic_size_is_named(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, "N", 1]
    verdict = specgate.check(one_hot, "directml:4.1")
    assert (verdict.accepted, verdict.word, verdict.findings) == (None, "undecided", ())
    (finding,) = [f for f in verdict.undecided if f.id == "directml/ONE_HOT/same-sizes"]
    assert finding.message.endswith(": dimension 2 is N in IndicesTensor and 3 in OutputTensor.")
    assert finding.values == {"IndicesTensor.sizes[d]": "N", "OutputTensor.sizes[d]": 3}
    assert (finding.severity, finding.first_level, finding.levels, finding.fix) == ("note", None, (), None)


def test_the_same_symbol_on_both_sides_decides(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"][2] = one_hot["desc"]["OutputTensor"]["Sizes"][2] = "N"
    verdict = specgate.check(one_hot, "directml:4.1")
    assert "directml/ONE_HOT/same-sizes" not in {f.id for f in verdict.undecided}
    left = {"sizes-not-zero", "element-count", "total-size-limit"}
    assert {f.id.partition("/tensor/")[2] for f in verdict.undecided} == left


def test_two_symbols_may_be_equal(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"][2] = "N"
    one_hot["desc"]["OutputTensor"]["Sizes"][2] = "M"
    (finding,) = [f for f in specgate.check(one_hot, "directml:4.1").undecided if f.id.endswith("same-sizes")]
    assert finding.message.endswith(": dimension 2 is N in IndicesTensor and M in OutputTensor.")


def test_an_unknown_size(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, 3, None]
    (finding,) = [f for f in specgate.check(one_hot, "directml:4.1").undecided if f.id.endswith("axis-size-one")]
    assert finding.message == "The size of IndicesTensor along Axis must be 1: dimension 3 of IndicesTensor is unknown."
    assert finding.values == {"IndicesTensor.sizes[Axis]": None}


def test_certain_failures_are_rejected(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 2, "N", 1]
    verdict = specgate.check(one_hot, "directml:4.1")
    assert verdict.accepted is False
    assert [f.id for f in verdict.findings] == ["directml/ONE_HOT/same-sizes"]
    assert verdict.undecided


def test_an_unused_size_does_not_affect_the_verdict(onnx_one_hot) -> None:
    """ONNX has no rule on the sizes of indices if the output is inferred."""
    onnx_one_hot.update({"outputs": []})
    onnx_one_hot["inputs"][0]["shape"] = ["batch", None]
    assert specgate.check(onnx_one_hot, "onnx:17").accepted is True


def test_an_unknown_rank(onnx_one_hot) -> None:
    onnx_one_hot["outputs"] = []
    onnx_one_hot["inputs"][0]["shape"] = None
    verdict = specgate.check(onnx_one_hot, "onnx:17")
    open_rules = [(f.id, f.where) for f in verdict.undecided]
    assert open_rules == [("onnx/OneHot/axis-range", "axis"), ("onnx/OneHot/indices-rank", "indices")]
    assert "the rank of indices is unknown" in verdict.undecided[0].message


def test_an_unknown_type(onnx_one_hot) -> None:
    del onnx_one_hot["inputs"][0]["elem_type"]
    verdict = specgate.check(onnx_one_hot, "onnx:17")
    assert [(f.id, f.where) for f in verdict.undecided] == [("onnx/OneHot/indices.type", "indices")]
    assert verdict.undecided[0].message.startswith(
        "indices has an unknown type, so support is undecided (supported: UINT8, UINT16, "
    )


def test_an_undecided_condition(scratch) -> None:
    scratch(
        when="""\
operator: WHEN
summary: Has a rule that applies sometimes.
source: [{page: own}]
fields: {InputTensor: {kind: input}, Count: {kind: attribute, type: uint}}
support: {"1.0": {}}
rules:
  pair: {require: Count == 2, when: "InputTensor.sizes[0] == 1"}
  index: {require: "InputTensor.sizes[Count] == 1", when: "InputTensor.sizes[0] == 1"}
"""
    )
    desc = {"InputTensor": {"DataType": "INT8", "Sizes": ["N", 1, 1]}, "Count": 2}
    ids = {f.id for f in specgate.check({"type": "WHEN", "desc": desc}, "directml:4.1").undecided}
    assert "directml/WHEN/pair" not in ids  # it holds, whether it applies or not
    desc["Count"] = 3
    verdict = specgate.check({"type": "WHEN", "desc": desc}, "directml:4.1")
    assert verdict.accepted is None
    texts_by_name = {f.id: f.message for f in verdict.undecided}
    assert texts_by_name["directml/WHEN/pair"] == (
        "Count == 2 (undecided: unknown values leave open whether this rule applies): dimension 0 of InputTensor is N."
    )
    assert texts_by_name["directml/WHEN/index"].startswith(
        "InputTensor.sizes[Count] == 1 (undecided: unknown values leave open whether this rule applies): "
    )


def test_undecided_lowest_levels(one_hot) -> None:
    one_hot["desc"]["IndicesTensor"]["Sizes"] = [1, 1, "N", 1]
    lowest = specgate.minimum(one_hot)
    assert not lowest
    assert lowest.level is None
    assert str(lowest.undecided) == "2.0..6.4"
    assert lowest.blockers["2.0"] == ()
    assert [f.id for f in lowest.blockers["1.0"]] == ["directml/ONE_HOT/level"]


EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    (name, entry["descriptor"])
    for name in ("directml", "onnx", "openvino")
    for operator in dialect(name).operators
    for entry in dialect(name).operator(operator).table.examples.values()
]


@pytest.mark.slow
@given(st.data())
@settings(max_examples=80, deadline=None)
def test_hiding_sizes_never_flips_a_verdict(data: st.DataObject) -> None:
    """An answer for fewer facts holds for more, or is undecided.

    Equal sizes may share a name.
    """
    name, original = data.draw(st.sampled_from(EXAMPLES))
    key = "Sizes" if name == "directml" else "shape"

    def tensors(descriptor: dict[str, Any]) -> list[dict[str, Any]]:
        result = descriptor["desc"].values() if name == "directml" else descriptor["inputs"] + descriptor["outputs"]
        flat = [part for value in result for part in (value if isinstance(value, list) else [value])]
        return [part for part in flat if isinstance(part, dict) and key in part]

    facts = copy.deepcopy(original)
    for tensor in tensors(facts):
        tensor[key] = [data.draw(st.sampled_from([size, size, size, 1, 2])) for size in tensor[key]]
    hidden = copy.deepcopy(facts)
    for tensor in tensors(hidden):
        tensor[key] = [data.draw(st.sampled_from([size, size, None, f"s{size}"])) for size in tensor[key]]
        if name != "directml" and data.draw(st.integers(0, 4)) == 0:
            tensor[key] = None
    target = f"{name}:{data.draw(st.sampled_from(list(dialect(name).levels)))}"
    before = specgate.check(facts, target).accepted
    assert before is not None
    assert specgate.check(hidden, target).accepted in {before, None}


@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_undecided_on_every_basis(one_hot, basis: Any) -> None:
    one_hot["desc"]["OutputTensor"]["Sizes"] = [1, 1, "N", 4]
    verdict = specgate.check(one_hot, "directml:4.1", basis)
    assert verdict.accepted is None
    assert len({f.id + f.where for f in verdict.undecided}) == len(verdict.undecided)
