"""Errors in a runtime's files are reported together, with file and line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from specgate.cli import main
from specgate.errors import InputError
from specgate.runtimes.onnxruntime import registrations
from specgate.runtimes.onnxruntime.build import build_runtime
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.spec import store
from specgate.spec.build import SpecErrors
from tests.paths import SPECS, copy_tree

if TYPE_CHECKING:
    from pathlib import Path

RELEASES = """\
runtime: scratch
title: Scratch
sources: {here: {measured: by hand}}
providers:
  CPU: {folder: cpu, title: CPUProvider, releases: "1.1..1.2"}
packages:
  scratch: {providers: [CPU]}
releases:
  "1.1": {packages: {scratch: [1.1.0]}, opsets: {ai.onnx: 17}, ir_version: 8}
  "1.2": {packages: {scratch: [1.2.0]}, opsets: {ai.onnx: 18}, ir_version: 8}
"""
SETS = "types: {some: [FLOAT, INT64]}\n"
CPU = """\
provider: CPU
domain: ai.onnx
sources: [{measured: by hand}]
operators:
  Abs: {"13": {types: {T: $some}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    onnx_model = tmp_path / "scratch"
    (onnx_model / "cpu").mkdir(parents=True)
    (onnx_model / "releases.yaml").write_text(RELEASES, encoding="utf-8")
    (onnx_model / "sets.yaml").write_text(SETS, encoding="utf-8")
    (onnx_model / "cpu" / "ai.onnx.yaml").write_text(CPU, encoding="utf-8")
    return onnx_model


def problems(folder: Path) -> list[str]:
    with pytest.raises(SpecErrors) as caught:
        build_runtime(folder)
    return [problem.removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_a_folder_becomes_tables(folder) -> None:
    tables = build_runtime(folder)
    assert tables["types"] == [["FLOAT", "INT64"]]
    row = {"version": 13, "until": None, "types": {"T": 0}, "first": 0, "last": 1}
    assert tables["registrations"] == {"CPU": {"ai.onnx": {"Abs": [row]}}}
    assert json.loads(json.dumps(tables)) == {**tables, "known": {"CPU": [0, 1]}}


BROKEN: dict[str, tuple[str, str, str]] = {
    "type": ("{T: $some}", "{T: [FLOAT, REAL]}", "Abs.13.types.T: unknown type 'REAL'"),
    "set": ("{T: $some}", "{T: $other}", "Abs.13.types.T: unknown set '$other' of types; known here: $some"),
    "no set": ("{T: $some}", "{T: FLOAT}", "Abs.13.types.T: expected a list or a set such as $NAME"),
    "constraint": ("{T: $some}", "{V: $some}", "Abs.13.types.V: not a type constraint of Abs 13; known: T, X, Y"),
    "release": ("{T: $some}}", '{T: $some}, releases: "1.3.."}',
                "Abs.13.releases: unknown release '1.3'; known here: 1.1, 1.2"),
    "order": ("{T: $some}}", '{T: $some}, releases: "1.2..1.1"}',
              "Abs.13.releases: expected the earlier release first, found '1.2..1.1'"),
    "overlap": ('{"13": {types: {T: $some}}}', '{"13": [{types: {T: $some}, releases: "..1.2"}, {releases: "1.2"}]}',
                "Abs.13.1.releases: an earlier row applies to 1.2, too"),
    "query": ("{T: $some}}", "{T: $some}, query: alpha == 0}",
              "Abs.13.query: unknown name 'alpha'; known here: X, Y"),
    "no truth": ("{T: $some}}", "{T: $some}, query: rank(X)}", "Abs.13.query: expected a truth, found a number"),
    "two fields": ("{T: $some}}", "{T: $some}, query: 'default(rank(X), 1) == 1'}",
                   "Abs.13.query: expected default(rank(X), …) to read one optional field, found none"),
    "no table": ("Abs:", "Absolute:", "Absolute.13.query: Absolute 13 has no table, so its names cannot be checked"),
    "one kernel": ("{T: $some}", "[{T: $some}]", "Abs.13: a list of types is for two kernels or more"),
    "versions": ('"13"', '"13.."', "Abs.13.."),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_mistakes_in_a_row(folder, before: str, after: str, message: str) -> None:
    path = folder / "cpu" / "ai.onnx.yaml"
    text = CPU.replace(before, after)
    if "no table" in message:
        text = text.replace("$some}}", "$some}, query: 'True'}")
    path.write_text(text, encoding="utf-8")
    assert [problem for problem in problems(folder) if problem.startswith(f"cpu/ai.onnx.yaml:5: operators.{message}")]


def test_a_note_excuses_a_strange_constraint(folder) -> None:
    path = folder / "cpu" / "ai.onnx.yaml"
    path.write_text(CPU.replace("{T: $some}}", "{V: $some}, note: a mistake of the provider}"), encoding="utf-8")
    assert build_runtime(folder)["registrations"]["CPU"]["ai.onnx"]["Abs"][0]["types"] == {"V": 0}


def test_mistakes_in_other_files(folder) -> None:
    text = RELEASES.replace("providers: [CPU]", "providers: [GPU]").replace("scratch: [1.2.0]", "other: [1.3.0]")
    text = text.replace('"1.1..1.2"', '"1.1..1.4"')
    (folder / "releases.yaml").write_text(text, encoding="utf-8")
    assert [problem.partition(": ")[2] for problem in problems(folder)] == [
        "providers.CPU.releases: unknown release '1.4'; known here: 1.1, 1.2",
        "packages.scratch.providers: unknown 'GPU'",
        "releases.1.2.packages: unknown package 'other'",
        "releases.1.2.packages: 1.3.0 is not a release of 1.2",
    ]
    (folder / "releases.yaml").write_text(RELEASES, encoding="utf-8")
    (folder / "cpu" / "ai.onnx.yaml").rename(folder / "cpu" / "other.yaml")
    (folder / "extra.yaml").write_text("a: 1\n", encoding="utf-8")
    assert problems(folder) == [
        "cpu/other.yaml:2: domain: expected the file to be called ai.onnx.yaml",
        "extra.yaml: not a runtime file; expected releases.yaml, sets.yaml, schemas/DOMAIN.yaml, cpu/DOMAIN.yaml",
    ]


def test_tables_are_rebuilt_when_a_file_changed(folder, monkeypatch) -> None:
    (folder.parent / "pyproject.toml").touch()
    specs = folder.parent / "specs"
    specs.mkdir()
    folder.rename(specs / "scratch")
    monkeypatch.setattr(store, "CHECKOUT", specs)
    monkeypatch.setattr(store, "_BUILT_IN_FOLDER", folder.parent / "compiled")
    built: list[Any] = []

    def build(place: Path) -> dict[str, Any]:
        built.append(place)
        return build_runtime(place)

    first = store.compiled_folder("scratch", build)
    assert store.compiled_folder("scratch", build)["types"] == first["types"]
    assert len(built) == 1
    (specs / "scratch" / "sets.yaml").write_text("types: {some: [FLOAT]}\n", encoding="utf-8")
    assert store.compiled_folder("scratch", build)["types"] == [["FLOAT"]]
    assert len(built) == 2
    with pytest.raises(InputError, match="no tables of 'nothing' are installed"):
        store.compiled_folder("nothing", build)


def test_spec_check_builds_the_tables(tmp_path, capsys) -> None:
    copy_tree(SPECS / "onnxruntime", tmp_path / "onnxruntime")
    assert main(["spec", "check", str(tmp_path)]) == 0
    rows = sum(
        len(rows)
        for domains in registrations.runtime_tables()["registrations"].values()
        for operators in domains.values()
        for rows in operators.values()
    )
    lowered = len(lowering_tables()["operators"])
    assert capsys.readouterr().out == (
        f"0 dialects, 0 operators, onnxruntime with {rows} registrations, "
        f"onnxruntime with {lowered} lowered operators, 0 problems\n"
    )
    path = tmp_path / "onnxruntime" / "sets.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("[FLOAT, FLOAT16]", "[FLOAT, HALF]"), encoding="utf-8")
    assert main(["spec", "check", str(tmp_path)]) == 2
    assert "sets.yaml:9: types.float16-32: unknown type 'HALF'" in capsys.readouterr().err


OBSERVED = """\
observed:
  known:
    aspects: [session]
    releases: "1.2.."
    says: what is so, in a sentence
    evidence: a build, once
"""
GRAPHS = 'kinds: {a: {type: INT64}}\npieces: [{node: "y = Abs(x)", takes: {x: a}, gives: a}]\n'


def test_observations_and_graphs_are_in_the_tables(folder) -> None:
    (folder / "observed.yaml").write_text(OBSERVED, encoding="utf-8")
    (folder / "graphs.yaml").write_text(GRAPHS, encoding="utf-8")
    tables = build_runtime(folder)
    (entry,) = tables["observed"]
    assert (entry["name"], entry["first"], entry["last"]) == ("known", 1, 1)
    assert tables["graphs"]["pieces"][0]["takes"] == {"x": "a"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "observed.yaml", OBSERVED.replace("1.2..", "1.7.."), "observed.yaml:4: observed.known.releases: unknown release '1.7'"),
        ("observed.yaml", OBSERVED.replace("session", "speed"), "observed.yaml:3: observed.known.aspects.0"),
        ("graphs.yaml", GRAPHS.replace("gives: a", "gives: b"), "y = Abs(x): unknown kind 'b'"),
    ],
)  # fmt: skip
def test_mistakes_in_observations_and_graphs(folder, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    (problem,) = problems(folder)
    assert message in problem


def test_inference_entries_name_existing_operators_and_methods(folder) -> None:
    entry = "{operators: {Sape: '1..', Shape: '1..'}, of: sizes, by: magic, gives: list, releases: 1.7..}"
    text = f"sources: [{{measured: by hand}}]\nvalues:\n  - {entry}\nunsized:\n  - {{operators: {{Abs: '1..6'}}}}\n"
    (folder / "inference.yaml").write_text(text, encoding="utf-8")
    texts = problems(folder)
    assert [line.partition(": ")[2] for line in texts] == [
        "values.0.operators.Sape: unknown operator 'Sape'",
        "values.0.by: unknown way 'magic'; known: sizes, same, joined, picked, sum, difference, product, quotient",
        "values.0.releases: unknown release '1.7'; known here: 1.1, 1.2",
    ]
    (folder / "inference.yaml").write_text(
        text.replace("Sape: '1..', ", "").replace("magic", "same").replace("1.7", "1.2")
    )
    onnx_model = build_runtime(folder)["inference"]
    assert onnx_model["values"][0]["operators"] == {"Shape": (1, None)}
    assert (onnx_model["values"][0]["first"], onnx_model["unsized"][0]["operators"]) == (1, {"Abs": (1, 6)})


def test_duplication_entries_name_existing_releases(folder) -> None:
    more = 'duplicating:\n  - {releases: "1.2..", operators: {ai.onnx: [Abs]}, setting: off}\n'
    (folder / "releases.yaml").write_text(RELEASES + more, encoding="utf-8")
    entries = {"releases": "1.2..", "operators": {"ai.onnx": ["Abs"]}, "attributes": True, "inlined": True}
    entries["setting"] = "off"
    assert build_runtime(folder)["duplicating"] == [{**entries, "first": 1, "last": 1}]
    (folder / "releases.yaml").write_text(RELEASES + more.replace("1.2..", "1.9"), encoding="utf-8")
    assert problems(folder) == ["releases.yaml:12: duplicating.0.releases: unknown release '1.9'; known here: 1.1, 1.2"]


def test_functions_use_existing_operators_and_values(folder) -> None:
    (folder / "functions.yaml").write_text(
        """\
sources: [{measured: sessions}]
functions:
  com.microsoft.QuickGelu:
    opset: 13
    inputs: [X]
    outputs: [Y, Z]
    nodes:
      - {node: "A = Muls(X, X)"}
      - {node: "Y = Mul(A, alpha)"}
""",
        encoding="utf-8",
    )
    texts = problems(folder)
    assert [problem.partition(": ")[2] for problem in texts] == [
        "functions.com.microsoft.QuickGelu.nodes.0: unknown operator 'Muls'",
        "functions.com.microsoft.QuickGelu.nodes.1: no node produces 'alpha'",
        "functions.com.microsoft.QuickGelu: no node produces the output 'Z'",
    ]
