"""Edits of single fields give the bytes that the onnx package writes."""

from __future__ import annotations

import io

import pytest

from specgate.dialects.onnx.file.edit import EditedView, plan_cuts
from specgate.verdict import Edit
from tests.linting.models import graph, helper, info, model, onnx, relu


def edited(data: bytes, *edits: Edit) -> bytes:
    file = io.BytesIO(data)
    spliced = EditedView(file, len(data), plan_cuts(file, len(data), edits))
    whole = spliced.read()
    assert len(whole) == spliced.size
    return whole


def nest(filling: int):
    """Return a model whose branch has value infos.

    The lengths of all enclosing messages depend on `filling`.
    """
    body = graph([relu("x", "out")], (), ("out",), name="n" * filling, value_info=[info("a"), info("b"), info("c")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    return model(graph([relu("x", "z"), node], ("x", info("c", (), onnx.TensorProto.BOOL))))


BRANCH = (("graph", 0), ("node", 1), ("attribute", 1), ("g", 0))


@pytest.mark.parametrize("filling", [*range(60, 130, 3), 16200, 16280, 16290, 16300, 16310, 16350])
def test_lengths_shrink_in_every_parent(filling):
    onnx_model = nest(filling)
    result = edited(
        onnx_model.SerializeToString(deterministic=True),
        Edit((*BRANCH, ("value_info", 0)), expected="a"),
        Edit((*BRANCH, ("value_info", 2)), expected="c"),
        Edit((("opset_import", 0), ("version", 0)), 13),
        Edit((("ir_version", 0),), 7),
    )
    del onnx_model.graph.node[1].attribute[1].g.value_info[2]
    del onnx_model.graph.node[1].attribute[1].g.value_info[0]
    onnx_model.opset_import[0].version, onnx_model.ir_version = 13, 7
    assert result == onnx_model.SerializeToString(deterministic=True)


def test_numbers_may_use_more_or_fewer_bytes():
    onnx_model = nest(1)
    for number in (1, 127, 128, 1 << 20, 3):
        data = edited(onnx_model.SerializeToString(), Edit((("opset_import", 0), ("version", 0)), number))
        onnx_model.opset_import[0].version = number
        assert data == onnx_model.SerializeToString()


def test_conflicting_edits_prefer_removal_and_the_lowest_number():
    version = (("opset_import", 0), ("version", 0))
    onnx_model = nest(1)
    data = edited(onnx_model.SerializeToString(), *(Edit(version, number) for number in (15, 12, 14)))
    onnx_model.opset_import[0].version = 12
    assert data == onnx_model.SerializeToString()
    whole = Edit(version[:1], expected="")
    for several in ((Edit(version, 12), whole), (whole, Edit(version, 12)), (whole, whole)):
        data = edited(nest(1).SerializeToString(), *several)
        assert not onnx.load_from_string(data).opset_import


def test_edited_view_supports_reads_at_any_offset():
    data = nest(40).SerializeToString()
    file = io.BytesIO(data)
    onnx_model = plan_cuts(file, len(data), [Edit((*BRANCH, ("value_info", 1)), expected="b")])
    whole = EditedView(file, len(data), onnx_model).read()
    spliced = EditedView(file, len(data), onnx_model)
    for at in range(0, len(whole), 7):
        spliced.seek(at)
        got = b""
        while len(got) < 30 and (part := spliced.read(30 - len(got))):
            got += part
        assert got == whole[at : at + 30]
        assert spliced.tell() == at + len(got)
    assert spliced.seek(-3, 2) == len(whole) - 3
    assert spliced.read() == whole[-3:]


def test_additions_are_not_compared_pairwise(monkeypatch):
    """Comparing each addition with all earlier ones took a minute for 6,000 of them."""
    compared = []
    equal = Edit.__eq__

    def count_call(edit, other):
        compared.append(edit)
        return equal(edit, other)

    monkeypatch.setattr(Edit, "__eq__", count_call)
    additions = [Edit((("graph", 0),), added=bytes(f"\x0a\x03n{number:02}", "ascii")) for number in range(50)]
    data = nest(1).SerializeToString()
    assert len(edited(data, *additions, *additions)) >= len(data) + 50 * 5
    assert len(compared) <= 100
