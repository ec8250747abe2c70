"""Rules on the contents of a text: the equation of Einsum."""

from __future__ import annotations

import pytest

import specgate


@pytest.mark.parametrize(
    ("equation", "ranks", "output", "wrong"),
    [
        ("ij,jk->ik", (2, 2), 2, None),
        (" i j , j k -> i k ", (2, 2), 2, None),
        ("...ij,...jk->...ik", (4, 4), 4, None),
        ("...ij,...jk->...ik", (4, 3), 4, "ellipses-alike"),
        ("ii", (2,), None, None),
        ("ij,jk->ik", (2, 2), 3, "output-rank"),
        ("ij->ij", (2, 2), None, "term-count"),
        ("ij,jk", (2, 3), None, "term-lengths"),
        ("...ijk", (2,), None, "ellipses-fit"),
        ("i->j->k", (1,), None, "one-arrow"),
    ],
)
def test_the_equation_must_match_its_inputs(equation, ranks, output, wrong):
    tensors = [{"elem_type": "FLOAT", "shape": [2] * rank} for rank in ranks]
    outputs = [] if output is None else [{"elem_type": "FLOAT", "shape": [2] * output}]
    node = {"op_type": "Einsum", "inputs": tensors, "outputs": outputs, "attributes": {"equation": equation}}
    result = [finding.id.rpartition("/")[2] for finding in specgate.check(node, target="onnx:17").findings]
    assert result == ([] if wrong is None else [wrong])


def test_an_unknown_rank_is_undecided():
    node = {
        "op_type": "Einsum",
        "inputs": [{"elem_type": "FLOAT", "shape": None}],
        "outputs": [],
        "attributes": {"equation": "ij"},
    }
    assert specgate.check(node, target="onnx:17").accepted is None
