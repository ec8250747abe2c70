"""Our side of a comparison."""

from __future__ import annotations

from specgate.conform.compare import our_verdict
from specgate.descriptors.read import read_dict
from specgate.spec.tables import dialect


def test_the_cells_of_conditional_rows_count():
    tensor = {"DataType": "FLOAT64", "Sizes": [1]}
    desc = {"Function": "L1", "InputTensor": tensor, "OutputTensor": tensor, "AxisCount": 1, "Axes": [0]}
    reduce = dialect("directml").operator("REDUCE")
    verdicts = our_verdict(read_dict({"type": "REDUCE", "desc": desc}, "directml"), reduce, "3.1", "linux")
    assert verdicts.documented.accepted is False
    assert verdicts.observed.ids == {"directml/REDUCE/InputTensor.type", "directml/REDUCE/OutputTensor.type"}
