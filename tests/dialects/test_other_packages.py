"""A dialect of another package, found by its entry point, works in every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.paths import DATA, copy_tree

if TYPE_CHECKING:
    from pathlib import Path

FLIP = {"call": "Flip", "in": [["f32", [2, 3]]], "out": [["f32", [2, 3]]], "with": {"axis": 1}}
BROKEN = {**FLIP, "with": {"axis": 2}}
CROP = {
    "call": "Crop",
    "in": [["f32", [2, 5], {"align": 16, "pages": 1}]],
    "out": [["f32", [2, 3]]],
    "with": {"keep": {"first": 1, "last": 3}},
}
ABS = {"call": "Abs", "in": [["i32", [3]]], "out": [["i32", [3]]]}


def run_python(
    *command: str, folder: Path = DATA / "tinynet", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, *command], env=environment, cwd=cwd, capture_output=True, text=True)


def specgate(*argv: str, code: int = 0, **more: Path) -> str:
    done = run_python("-m", "specgate", *argv, **more)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code < 2 else done.stderr


def test_check() -> None:
    assert specgate("check", json.dumps(FLIP)).startswith("accepted   tinynet:v3  Flip")
    rejected = specgate("check", json.dumps(BROKEN), "-t", "tinynet:v2", code=1)
    assert "axis must be a dimension of x: axis is 2 and x has rank 2." in rejected
    assert "fix: set axis to a value from 0 to 1" in rejected
    assert "it exists from v2 on" in specgate("check", json.dumps(FLIP), "-t", "tinynet:v1", code=1)
    unknown = specgate("check", '{"unheard": 1}', code=2)
    assert 'OpenVINO ("type", "data") or TinyNet ("call"); found the keys \'unheard\'' in unknown


@pytest.mark.slow
def test_plugin_tensor_attributes_and_rule_functions() -> None:
    """A type with two attributes and a layout function that only its package knows."""
    crop = {**CROP, "in": [["f32", [2, 50], {"align": 12, "pages": 6}]]}
    rejected = specgate("check", json.dumps(crop), code=1)
    assert "An alignment must be a power of two: align of x is 12." in rejected
    message = "A tensor must have the pages that its elements need: pages of x is 6 and the pages that x needs is 7."
    assert message in " ".join(rejected.split())
    beyond = specgate("check", json.dumps({**CROP, "with": {"keep": {"first": 1, "last": 5}}}), code=1)
    assert "dimension -1 of x is 5, keep.first is 1 and keep.last is 5." in " ".join(beyond.split())
    assert "keep.last to a value from 0 to 4" in beyond
    wrong = specgate("check", json.dumps({**CROP, "with": {"keep": 3}}), code=1)
    assert "two integers, first and last, are expected" in " ".join(wrong.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x.Flags == 0", "unknown attribute 'Flags'; known: sizes, align, pages"),
        ("minimum_size(x) < 9", "unknown function 'minimum_size'"),
        ("keep.Width == 1", "unknown attribute 'Width'; known: first, last"),
    ],
)
def test_rule_functions_of_other_dialects_are_unknown(tmp_path, text, message) -> None:
    copy_tree(DATA / "tinynet" / "tinynet" / "specs" / "tinynet", tmp_path / "tinynet")
    file = tmp_path / "tinynet" / "operators" / "Crop.yaml"
    written = file.read_text(encoding="utf-8").replace("0 <= keep.first <= keep.last < x.sizes[-1]", text)
    file.write_text(written, encoding="utf-8")
    output = specgate("spec", "check", str(tmp_path), code=2)
    assert "Crop.yaml" in output
    assert message in output


def test_constructors_of_a_plugin_dialect() -> None:
    code = """
from specgate import make
from specgate.make import tinynet
x = make.tensor("f32", [2, 3])
made = tinynet.Flip(x=x, y=x, axis=1)
assert make.tinynet is tinynet and "Flip" in dir(tinynet)
print(made.dialect, made.operator, made.fields["axis"])
"""
    done = run_python("-c", code)
    assert (done.stdout, done.stderr) == ("tinynet Flip 1\n", "")


def test_a_finding_has_the_line_of_its_field(tmp_path) -> None:
    text = json.dumps(BROKEN, indent=1)
    (tmp_path / "flip.json").write_text(text, encoding="utf-8")
    message = specgate("lint", "flip.json", "-t", "tinynet:v2", "--format", "sarif", cwd=tmp_path, code=1)
    place = json.loads(message)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert '"axis"' in text.splitlines()[place["region"]["startLine"] - 1]


def test_unsupported_commands_for_plugin_models(tmp_path) -> None:
    (tmp_path / "model.tiny").write_text(json.dumps([ABS]), encoding="utf-8")
    texts_by_texts = {
        ("run", "model.tiny"): "models of tinynet can be linted, but not executed",
        ("minimum", "model.tiny"): "the lowest level of a whole tinynet model is not supported",
    }
    for command, expected in texts_by_texts.items():
        assert expected in specgate(*command, cwd=tmp_path, code=2)


def test_run(tmp_path) -> None:
    (tmp_path / "abs.json").write_text(json.dumps(ABS), encoding="utf-8")
    np.save(tmp_path / "x.npy", np.array([-1, 2, -3], np.int32))
    assert "[1 2 3]" in specgate("run", "abs.json", "-i", "x=x.npy", cwd=tmp_path)
    (tmp_path / "flip.json").write_text(json.dumps(FLIP), encoding="utf-8")
    assert "is not implemented" in specgate("run", "flip.json", "-i", "x=x.npy", cwd=tmp_path, code=2)


def test_lint(tmp_path) -> None:
    (tmp_path / "model.tiny").write_text(json.dumps([ABS, BROKEN, {"call": "Nope"}]), encoding="utf-8")
    text = specgate("lint", ".", "-t", "tinynet:v2", cwd=tmp_path, code=1)
    assert "tinynet/Flip/axis-range" in text
    assert "1 finding in 2 nodes" in text
    assert "operators without a table: Nope (1)" in text
    sarif = json.loads(specgate("lint", "model.tiny", "-t", "tinynet:v2", "--format", "sarif", cwd=tmp_path, code=1))
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["tinynet/Flip/axis-range"]
    assert "it was not checked" in specgate("lint", "model.tiny", "-t", "onnx:17", cwd=tmp_path, code=1)


@pytest.mark.slow
def test_the_commands_that_show_tables() -> None:
    assert specgate("support", "tinynet/Flip", "-t", "tinynet:v2").startswith("tinynet Flip: ")
    assert "x, y: types +i32" in specgate("diff", "tinynet:v1", "tinynet:v2")
    assert "removed operators (1)\n  Scale" in specgate("diff", "tinynet:v2", "tinynet:v3")
    assert "lowest level version v2" in specgate("minimum", json.dumps(ABS))
    assert "rejected at v3 with with.axis = 2" in specgate("rule", "tinynet/Flip/axis-range")
    assert "tinynet:v3" in specgate("targets", "tinynet")
    assert "tinynet:v1 " in specgate("targets")
    assert (
        specgate("spec", "check", str(DATA / "tinynet" / "tinynet" / "specs")) == "1 dialect, 4 operators, 0 problems\n"
    )


def test_conform_reports_a_missing_oracle() -> None:
    assert "tinynet:v1: tinynet has no oracle" in specgate("conform", "tinynet", code=2)


@pytest.mark.slow
def test_strategies_draw_from_plugin_tables() -> None:
    script = """
from random import Random
import specgate
from specgate.spec.tables import dialect
from specgate.testing import cases
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.walk import valid_descriptors
pick, found = Random(1).randint, set()
for case in cases(["tinynet"]):
    spec = dialect("tinynet").operator(case.operator)
    valid, broken = valid_descriptors(spec, case.level), broken_descriptors(spec, case.level)
    assert all(specgate.check(valid.draw(pick), case.target).accepted for _ in range(20))
    for aim in broken.ids:
        found |= {f.id for f in specgate.check(broken.draw(aim, pick).descriptor, case.target).findings}
print(*sorted(found))
"""
    done = run_python("-c", script)
    assert done.returncode == 0, done.stderr
    expected = {"Flip/axis-range", "Abs/same-type", "Scale/same-sizes", "Crop/span-range", "tensor/alignment"}
    assert {f"tinynet/{rule}" for rule in expected} <= set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise RuntimeError('no luck')", "cannot be loaded: RuntimeError('no luck')"),
        ("class Dialect: pass", "expected 'bad:Dialect' to be a Reader with the name 'bad'"),
    ],
)
def test_a_package_that_is_broken_is_named(tmp_path, code, message) -> None:
    (tmp_path / "bad-1.0.dist-info").mkdir()
    (tmp_path / "bad-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (tmp_path / "bad-1.0.dist-info" / "entry_points.txt").write_text("[specgate.dialects]\nbad = bad:Dialect\n")
    (tmp_path / "bad.py").write_text(code + "\n")
    assert message in specgate("targets", "bad", folder=tmp_path, code=2)


@pytest.mark.slow
def test_tables_of_a_folder_without_a_package_are_shown(tmp_path) -> None:
    """Without the package its descriptors are not read."""
    source = DATA / "tinynet" / "tinynet" / "specs" / "tinynet"
    copy_tree(source, tmp_path / "toy")
    for file in ("tensor.yaml", "operators/Crop.yaml"):  # which need words of the package
        (tmp_path / "toy" / file).unlink()
    for file in (tmp_path / "toy").glob("*.yaml"):
        file.write_text(file.read_text(encoding="utf-8").replace("dialect: tinynet", "dialect: toy"), encoding="utf-8")
    folder = DATA  # on which there is no package
    shown = specgate("--specs", str(tmp_path), "support", "Flip", "--target", "toy:v2", folder=folder)
    assert "* v2..v3 <- this target" in shown
    missing = specgate("--specs", str(tmp_path), "support", "Nope", "--target", "toy:v2", folder=folder, code=2)
    assert "toy has no table for 'Nope'" in missing
