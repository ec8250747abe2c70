"""Registrations of providers per release: counts, and rows read by hand."""

from __future__ import annotations

import pytest

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.registrations import Registration, known_releases, registrations, release_named

#: Rows of the vendor's docs/OperatorKernels.md at a release, if it agrees with the wheel.
DOCUMENTED = {"1.17": 381, "1.18": 401, "1.20": 414, "1.21": 423, "1.22": 423, "1.23": 423, "1.24": 423}


def one(provider: str, release: str, operator: str, version: int, domain: str = "") -> Registration:
    (registration,) = (
        each for each in registrations(provider, release).of(domain, operator) if each.version == version
    )
    return registration


@pytest.mark.parametrize(("release", "count"), DOCUMENTED.items())
def test_directml_has_the_documented_number_of_rows(release: str, count: int) -> None:
    assert sum(1 for _ in registrations("DirectML", release)) == count


def test_an_open_registration_applies_to_its_version_only() -> None:
    resize = one("DirectML", "1.24.4", "Resize", 13)
    assert [since for since in range(10, 20) if resize.holds(since)] == [13]
    assert resize.types == {"T1": {"FLOAT", "FLOAT16", "INT8", "UINT8"}, "T2": {"FLOAT", "FLOAT16"}}
    assert resize.constant_inputs == resize.cpu_inputs == (1, 2, 3)
    assert resize.query is not None


def test_types_change_with_the_release() -> None:
    assert one("DirectML", "1.16", "Resize", 13).types["T1"] == {"FLOAT", "FLOAT16"}
    assert one("DirectML", "1.17", "Resize", 13).types["T1"] == {"FLOAT", "FLOAT16", "INT8", "UINT8"}


def test_inputs_and_outputs_in_cpu_memory() -> None:
    assert one("DirectML", "1.24", "Shape", 15).cpu_outputs == (0,)
    assert not one("DirectML", "1.24", "Shape", 15).graph
    insert = one("DirectML", "1.24", "SequenceInsert", 11)
    assert (insert.cpu_inputs, insert.constant_inputs) == ((2,), ())
    assert insert.types["S"] >= {"seq(FLOAT)", "seq(BFLOAT16)"}
    assert "seq(STRING)" not in insert.types["S"]


def test_unknown_providers_and_releases_are_rejected() -> None:
    with pytest.raises(InputError, match=r"unknown provider 'Metal'; known: DirectML, CPU"):
        registrations("Metal", "1.24")
    with pytest.raises(
        InputError, match=r"unknown release '1\.24\.9' of ONNX Runtime; did you mean 1\.24\.1 or 1\.24\.2 or"
    ):
        registrations("DirectML", "1.24.9")
    with pytest.raises(InputError, match=r"the kernels of CPU in 1\.15 are unknown; known releases: 1\.16\.\."):
        registrations("CPU", "1.15")


def test_releases_of_a_package() -> None:
    newest = release_named("onnxruntime-directml", "latest")
    assert (newest.target, newest.minor, newest.carries) == (
        "onnxruntime-directml:1.24.4", "1.24", ("directml", "1.15.4"),
    )  # fmt: skip
    assert newest.providers == newest.registered == ("DirectML", "CPU")
    assert release_named("onnxruntime-directml", "1.16").release == "1.16.3"
    assert release_named("onnxruntime", "1.31.1").carries is None
    assert release_named("onnxruntime-directml", "1.13.1").registered == ("DirectML",)
    with pytest.raises(InputError, match=r"unknown release '1\.24\.9' of onnxruntime-directml; did you mean 1\.24\.\d"):
        release_named("onnxruntime-directml", "1.24.9")
    with pytest.raises(InputError, match="unknown package 'torch'; known: onnxruntime, onnxruntime-directml"):
        release_named("torch", "2.0")


def test_every_bundled_directml_has_a_level() -> None:
    from specgate.spec.tables import dialect

    every = {release.carries for release in known_releases() if release.package.endswith("directml")}
    assert None not in every
    named = {str(entry["via"]) for entry in dialect("directml").environments}
    assert {version for _, version in filter(None, every)} <= named


def test_opsets_are_those_of_the_models_dialect() -> None:
    from specgate.spec.tables import dialect

    entries_by_name = {str(entry["name"]): entry for entry in dialect("onnx").environments}
    for release in known_releases():
        entry = entries_by_name[f"onnxruntime-{release.minor}"]
        assert (str(release.opsets["ai.onnx"]), release.ir_version) == (entry["level"], entry.get("ir_version"))
