from __future__ import annotations

import json
from enum import Enum
from typing import Any

import numpy as np
import pytest

from specgate.report import RenderOptions, render
from specgate.spec.version import versions
from specgate.verdict import Finding, Report


def load(report: Report) -> dict[str, Any]:
    document = json.loads(render(report, "json", options=RenderOptions()))
    assert isinstance(document, dict)
    return document


#: A changed fingerprint would bring back every dismissed alert.
PRINTS = [
    "d3a5f4cc6b9ce7ff6c981f73dfc39785",
    "cfe216506534dc7588e54fbb6a47daf4",
    "c753f77a4ff5af54582ef9ed00fa503e",
    "8ce541c9238ac60e7ec7b60a456f0434",
]


def port(field: str, name: str, kind: str | None, sizes: list[Any] | None, *nodes: dict[str, str]) -> dict[str, Any]:
    return {"field": field, "name": name, "type": kind, "sizes": sizes, "nodes": list(nodes), "more": 0}


def test_the_whole_document(sample: Report) -> None:
    place = {"file": "models/a.onnx", "line": None, "node": "graph/node[3] 'OneHot_3'", "operator": "OneHot"}
    nothing: dict[str, Any] = {
        "where": "",
        "rule": None,
        "values": {},
        "first_level": None,
        "levels": [],
        "fix": None,
        "basis": "documented",
    }
    assert load(sample) == {
        "schema": "specgate-report/1",
        "tables": {name: versions([name])[name] for name in ("directml", "onnx")},
        "targets": ["directml:4.1", "onnx:17"],
        "files": ["models/a.onnx", "models/b.json"],
        "unusable": [],
        "nodes": 41,
        "counts": {
            "findings": 3,
            "errors": 1,
            "warnings": 1,
            "notes": 1,
            "undecided": 1,
            "no_table": 3,
            "ignored": 1,
            "hidden": 0,
            "files": 2,
        },
        "findings": [
            nothing
            | {
                "fingerprint": PRINTS[0],
                "id": "onnx/ir-version",
                "severity": "note",
                "message": "the IR version is 11",
                "target": "onnx:17",
                "location": {"file": "models/a.onnx", "line": None, "node": None, "operator": None},
            },
            nothing
            | {
                "fingerprint": PRINTS[1],
                "id": "onnx/OneHot/axis-range",
                "severity": "error",
                "message": "axis < rank(indices) + 1, but axis is 4 and rank(indices) is 3",
                "where": "axis",
                "rule": "axis < rank(indices) + 1",
                "values": {"axis": 4, "rank(indices)": 3},
                "fix": "set axis to a value from -4 to 3",
                "target": "onnx:17",
                "location": place,
            },
            {
                "fingerprint": PRINTS[2],
                "id": "directml/ROUND/ranks",
                "severity": "warning",
                "message": "OutputTensor takes ranks 4, but rank(OutputTensor) is 5",
                "where": "OutputTensor",
                "rule": None,
                "values": {"rank(OutputTensor)": 5},
                "first_level": "3.0",
                "levels": ["3.0", "3.1"],
                "fix": None,
                "basis": "observed",
                "target": "directml:4.1",
                "location": {"file": "models/b.json", "line": 12, "node": "dispatchables/round", "operator": "ROUND"},
            },
        ],
        "undecided": [
            {
                "location": {"file": "models/a.onnx", "line": None, "node": "graph/node[5]", "operator": "Reshape"},
                "target": "onnx:17",
                "reason": "same-sizes: pin 'N' of data",
            }
        ],
        "no_table": [
            {
                "location": {"file": "models/a.onnx", "line": None, "node": f"graph/node[{at}]", "operator": operator},
                "target": "onnx:17",
                "reason": "no table",
            }
            for at, operator in [(7, "aten::x"), (8, "foo"), (9, "foo")]
        ],
        "ignored": [
            nothing
            | {
                "fingerprint": PRINTS[3],
                "ignored": "the exporter is fixed in its next release",
                "id": "onnx/Cast/to",
                "severity": "error",
                "message": "to is {1}",
                "target": "onnx:17",
                "location": place,
            }
        ],
        "context": [
            {
                "file": "models/a.onnx",
                "node": "graph/node[3] 'OneHot_3'",
                "inputs": [
                    port(
                        "indices", "ids", "INT64", ["batch", 3, None], {"node": "graph/node[2]", "operator": "Gather"}
                    ),
                    port("depth", "depth", "INT64", []),
                    port("values", "v", None, None),
                ],
                "outputs": [
                    port("output", "hot", "FLOAT", None, {"node": "graph/node[5]", "operator": "Reshape"}) | {"more": 1}
                ],
            }
        ],
    }


class Mode(Enum):
    NEAREST = 1


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


CYCLE: list[Any] = []
CYCLE.append(CYCLE)

DEEP: list[Any] = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (2**64 + 1, 2**64 + 1),
        (-(10**400), -(10**400)),
        (1.5, 1.5),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-float("inf"), "-inf"),
        (np.float64("inf"), "inf"),
        (b"\x00a", r"b'\x00a'"),
        ("INT64", "INT64"),
        ("\ud800", r"\ud800"),
        ((1, (2, 3)), [1, [2, 3]]),
        (range(3), [0, 1, 2]),
        ({"b", "a"}, ["a", "b"]),
        ({1: 2, "x": {"y": None}}, {"1": 2, "x": {"y": None}}),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan]], np.float32), [[1.0, "nan"]]),
        (np.zeros(20_000), repr(np.zeros(20_000))),
        (Mode.NEAREST, "<Mode.NEAREST: 1>"),
        (1 + 2j, "(1+2j)"),
        (Unprintable(), "<Unprintable>"),
    ],
)
def test_values_are_safe(value: Any, shown: Any) -> None:
    report = Report(findings=[Finding("x/y", "error", "m", values={"v": value})])
    assert load(report)["findings"][0]["values"] == {"v": shown}


def test_an_integer_too_long_for_decimal_digits_is_hexadecimal() -> None:
    report = Report(findings=[Finding("x/y", "error", "m", values={"v": 1 << 20000})])
    assert load(report)["findings"][0]["values"] == {"v": "0x1" + "0" * 5000}


def test_values_are_bounded() -> None:
    for value in (CYCLE, DEEP):
        shown = load(Report(findings=[Finding("x/y", "error", "m", values={"v": value})]))["findings"][0]["values"]["v"]
        depth = 0
        while isinstance(shown, list):
            (shown,) = shown
            depth += 1
        assert (shown, depth) == ("...", 9)
    twice: list[Any] = [0]
    for _ in range(60):
        twice = [twice, twice]
    text = render(Report(findings=[Finding("x/y", "error", "m", values={"v": twice})]), "json", options=RenderOptions())
    assert len(text) < 1_000_000
    many = dict.fromkeys(map(str, range(50_000)))
    document = load(Report(findings=[Finding("x/y", "error", "m", values={"v": many})]))
    assert len(document["findings"][0]["values"]["v"]) < 10_000
    text = render(
        Report(findings=[Finding("x/y", "error", "m", values={"v": range(10**12)})]), "json", options=RenderOptions()
    )
    assert len(text) < 1_000_000


def test_text_is_kept_exactly_yet_shown_in_ascii() -> None:
    message = "日本 \x1b[2J\x7f \u202e ##[error]x\n::error::y"
    text = render(Report(findings=[Finding("x/y", "error", message)]), "json", options=RenderOptions())
    assert json.loads(text)["findings"][0]["message"] == message
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert "##" not in text
