"""Support queries of the provider: an accepted node, and one that differs."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import Context, evaluate
from specgate.runtimes.onnxruntime.registrations import Registration, registrations

FLOAT = TensorDesc("FLOAT", (2, 3))
HALF = TensorDesc("FLOAT16", (2, 3))
BN = {"training_mode": 0, **dict.fromkeys(("X", "scale", "B", "input_mean", "input_var"), FLOAT)}
RESIZE = {"mode": "linear", "exclude_outside": 0, "extrapolation_value": 0.0}
ATTENTION = {
    "past": None, "past_sequence_length": None, "present": None, "unidirectional": 0, "do_rotary": None,
    "past_present_share_buffer": 0,
}  # fmt: skip
QATTENTION = {"unidirectional": 0, "mask_index": FLOAT, "do_rotary": 0, "past_present_share_buffer": None}
EINSUM = {"equation": "ij,jk->ik"}
NORM = {"Y": FLOAT, "Mean": None, "InvStdDev": None, "B": None}
MS = "com.microsoft"
CASES: list[tuple[str, str, int, dict[str, Any], dict[str, Any]]] = [
    ("", "MaxPool", 12, {"storage_order": 0}, {"storage_order": 1}),
    ("", "LSTM", 14, {"layout": 0}, {"layout": 1}),
    ("", "Resize", 19, RESIZE, {"mode": "cubic"}),
    ("", "Resize", 11, RESIZE, {"exclude_outside": 1}),
    ("", "Resize", 13, RESIZE, {"extrapolation_value": 1.0}),
    ("", "Pad", 2, {"pads_attribute": [0, 1, 0, 1]}, {"pads_attribute": [0, -1, 0, 1]}),
    ("", "ScatterND", 16, {"reduction": "none"}, {"reduction": "add"}),
    ("", "Einsum", 12, EINSUM, {"equation": "...ij,jk->...ik"}),
    ("", "Einsum", 12, EINSUM, {"equation": "ij,jk,kl->il"}),
    ("", "LayerNormalization", 17, NORM, {"Mean": FLOAT}),
    ("", "LayerNormalization", 1, NORM, {"InvStdDev": FLOAT}),
    ("", "BatchNormalization", 15, BN, {"training_mode": 1}),
    ("", "BatchNormalization", 15, BN, {"input_var": HALF}),
    (MS, "SkipLayerNormalization", 1, {"mean": None, "inv_std_var": None}, {"inv_std_var": FLOAT}),
    (MS, "QLinearSigmoid", 1, {"Y_zero_point": FLOAT}, {"Y_zero_point": None}),
    (MS, "MatMulNBits", 1, {"bits": 8, "K": 64, "block_size": 32}, {"bits": 2}),
    (MS, "MatMulNBits", 1, {"bits": 4, "K": 64, "block_size": 32}, {"K": 65}),
    (MS, "Attention", 1, ATTENTION, {"past": FLOAT}),
    (MS, "Attention", 1, ATTENTION, {"present": FLOAT}),
    (MS, "Attention", 1, ATTENTION, {"do_rotary": 1}),
    (MS, "Attention", 1, ATTENTION, {"past_present_share_buffer": 1}),
    (MS, "QAttention", 1, QATTENTION, {"unidirectional": 1}),
    (MS, "QAttention", 1, QATTENTION, {"do_rotary": 1}),
]


def find_registration(release: str, domain: str, operator: str, version: int) -> Registration:
    return next(r for r in registrations("DirectML", release).of(domain, operator) if r.version == version)


def answer(registration: Registration, fields: dict[str, Any]) -> bool:
    assert registration.query is not None
    return bool(evaluate(registration.query, Context(fields)))


@pytest.mark.parametrize(("domain", "operator", "version", "accepted", "change"), CASES)
def test_a_query(domain: str, operator: str, version: int, accepted: dict[str, Any], change: dict[str, Any]) -> None:
    registration = find_registration("1.24", domain, operator, version)
    assert answer(registration, accepted)
    assert not answer(registration, {**accepted, **change})


def test_an_omitted_mask_allows_unidirectional_attention() -> None:
    attention = find_registration("1.24", MS, "QAttention", 1)
    assert answer(attention, {**QATTENTION, "unidirectional": 1, "mask_index": None})


def test_queries_change_with_the_release() -> None:
    shared = {**ATTENTION, "past_present_share_buffer": 1}
    assert answer(find_registration("1.16", MS, "Attention", 1), shared)
    assert not answer(find_registration("1.17", MS, "Attention", 1), shared)
    assert not answer(find_registration("1.13", "", "LayerNormalization", 17), NORM)
    assert answer(find_registration("1.13", "", "LayerNormalization", 17), {**NORM, "B": FLOAT})


def test_every_query_has_a_test() -> None:
    """Every query has a test; operators of a family share theirs."""
    families = {"RNN": "LSTM", "GRU": "LSTM", "ScatterElements": "ScatterND", "Slice": None,
                "SimplifiedLayerNormalization": None, "SkipSimplifiedLayerNormalization": "SkipLayerNormalization"}  # fmt: skip
    names = {each.operator for each in registrations("DirectML", "1.24") if each.query is not None}
    assert {operator for _, operator, *_ in CASES} == names - families.keys()
