"""Observations of some releases apply to targets that name one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.cli import main
from specgate.conform.compare import accepting_sides, verdicts_of
from specgate.descriptors.read import read_dict
from specgate.dialects.openvino.minimum import ir_minimum
from specgate.spec.tables import dialect
from specgate.targets import parse_target

if TYPE_CHECKING:
    from pathlib import Path


def attention(*mask: int) -> dict[str, Any]:
    shapes = ([2, 8, 3, 4], [2, 8, 5, 4], [2, 8, 5, 6], list(mask))
    return {
        "type": "ScaledDotProductAttention",
        "version": "opset13",
        "inputs": [{"element_type": "f32", "shape": shape} for shape in shapes],
        "outputs": [],
        "data": {"causal": False},
    }


@pytest.mark.parametrize(
    ("release", "accepted"), [("2023.3", False), ("2024.2", False), ("2024.3", True), ("2026.4", True)]
)
def test_a_release_rejects_layers_that_later_releases_accept(release: str, accepted: bool) -> None:
    verdict = specgate.check(attention(2, 1, 1, 5), target=f"openvino:{release}")
    assert verdict.accepted is accepted
    refused = [] if accepted else ["openvino/ScaledDotProductAttention/mask-not-stretched"]
    assert [each.id for each in verdict.findings] == refused
    assert specgate.check(attention(2, 1, 3, 5), target=f"openvino:{release}").accepted is True


def test_a_level_and_the_documentation_do_not_depend_on_releases() -> None:
    assert specgate.check(attention(2, 1, 1, 5), target="openvino:opset14").accepted is True
    assert specgate.check(attention(2, 1, 1, 5), target="openvino:2024.0", basis="documented").accepted is True


def test_a_target_names_the_observations_of_its_release() -> None:
    assert parse_target("openvino:opset14").by is None
    assert parse_target("openvino:2026.4.1").by is None
    assert parse_target("openvino:2024.3").by == "until-2025.0+until-2025.3+until-2026.2+until-2026.3"
    assert parse_target("openvino-cpu:2026.4").by == "cpu"
    assert parse_target("openvino-cpu:2026.4").family == "openvino-cpu"


def test_the_version_of_a_package_names_its_release() -> None:
    table = dialect("openvino")

    def name(version: str) -> str | None:
        entry = table.release_of(version)
        return None if entry is None else str(entry["name"])

    assert name("2024.0.0-14509-34caeefd078-releases/2024/0") == "2024.0"
    assert name("2025.4.1") == "2025.4.1"
    assert name("2025.4.0") == "2025.4"
    assert name("2025.40.0") is None
    assert name("unknown") is None


@pytest.mark.parametrize(("version", "accepted"), [("2024.0.0", False), ("2024.3.0", True), ("", True)])
def test_a_campaign_compares_a_package_with_its_release(version: str, accepted: bool) -> None:
    spec = dialect("openvino").operator("ScaledDotProductAttention")
    descriptor = read_dict(
        {**attention(2, 1, 1, 5), "outputs": [{"element_type": "f32", "shape": [2, 8, 3, 6]}]}, "openvino"
    )
    assert verdicts_of(descriptor, spec, "opset14", "factory", version).observed.accepted is accepted
    assert accepting_sides(descriptor, spec, "opset14", "factory", version) == (True, accepted)


def test_an_output_type_is_checked_although_the_reader_infers_it() -> None:
    spec = dialect("openvino").operator("Abs")
    abs_ = {
        "type": "Abs",
        "version": "opset1",
        "inputs": [{"element_type": "f32", "shape": [2]}],
        "outputs": [{"element_type": "u3", "shape": [2]}],
    }
    descriptor = read_dict(abs_, "openvino")
    assert verdicts_of(descriptor, spec, "opset14", "ir", "2024.0.0").observed.accepted is False
    assert verdicts_of(descriptor, spec, "opset14", "ir", "2024.1.0").observed.accepted is True


POOL = """<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,1,4,4" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>1</dim><dim>4</dim><dim>4</dim></port></output></layer>
<layer id="1" name="pool" type="AvgPool" version="opset14">
<data kernel="2,2" strides="1,1" pads_begin="0,0" pads_end="0,0" exclude-pad="true" rounding_type="ceil_torch"/>
<input><port id="0"/></input>
<output><port id="1" precision="FP32"><dim>1</dim><dim>1</dim><dim>3</dim><dim>3</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


def test_minimum_names_the_first_release_that_accepts_the_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pool.xml"
    path.write_text(POOL)
    minimum = ir_minimum(str(path), "observed").release
    assert minimum is not None
    assert minimum.first is not None
    assert minimum.first.name == "2024.1"
    assert [(release.name, release.refuses) for release in minimum.before if release.alone] == [("2024.0", False)]
    assert main(["minimum", "-v", str(path)]) == 0
    assert "2024.0 rejects nodes that later releases accept" in capsys.readouterr().out


def test_releases_of_observations_are_releases() -> None:
    table = dialect("openvino")
    names = {str(entry["name"]) for entry in table.environments}
    dict_values = table.tables.about["implementations"].values()
    groups = [set(entry["releases"]) for entry in dict_values if not entry.get("target") and entry.get("releases")]
    assert groups
    assert all(releases <= names for releases in groups)
