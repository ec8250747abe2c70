import shutil
import subprocess

import pytest

from specgate.conform import campaign
from specgate.conform.campaign import Plan, run
from specgate.conform.render import FORMATS
from specgate.descriptors.core import TensorDesc
from specgate.oracles.protocol import Reply
from specgate.spec.build import build_dialect
from specgate.spec.tables import dialect
from tests.conform.fakes import Fake, put_in_place, refuses_type
from tests.paths import SPECS
from tools.__main__ import main

pytestmark = pytest.mark.slow


@pytest.fixture
def proposed(monkeypatch, tmp_path, capsys):
    """Return the patch for a campaign against a fake implementation."""

    def make(differs, *, names=("linux",), levels=("4.1",), cases=100):
        put_in_place(monkeypatch, lambda d, level: Fake(d, level, differs, names))
        report = tmp_path / "report.json"
        result = run(Plan("directml", operators=("ONE_HOT",), levels=levels, cases=cases))
        report.write_text(FORMATS["json"](result), encoding="utf-8")
        assert main(["propose", str(report)]) == 0
        return capsys.readouterr().out

    yield make
    campaign.close_oracles()


def _apply_patch(patch, tmp_path):
    shutil.copytree(SPECS, tmp_path / "specs")
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    return tmp_path / "specs"


def test_agreement_proposes_nothing(proposed):
    assert not proposed(lambda *_: None)


def test_a_rule_that_builds_do_not_enforce_is_waived(proposed, tmp_path):
    def waives(_name, descriptor):
        indices, axis = descriptor.fields.get("IndicesTensor"), descriptor.fields.get("Axis")
        sizes = indices.sizes if isinstance(indices, TensorDesc) and indices.sizes else ()
        only = isinstance(axis, int) and axis < len(sizes) and sizes[axis] != 1
        items = {f.id for f in _verdict(descriptor).findings}
        return Reply("accepted") if only and items == {"directml/ONE_HOT/axis-size-one"} else None

    patch = proposed(waives)
    assert '+  - builds: ["4.1"]' in patch
    assert "+    not_enforced: [axis-size-one]" in patch
    specs = _apply_patch(patch, tmp_path)
    assert "not_enforced: [axis-size-one]" in (specs / "directml/operators/ONE_HOT.yaml").read_text()
    build_dialect(specs / "directml")


def _verdict(descriptor):
    from specgate.validate.check import check_at

    return check_at(descriptor, "4.1", "observed")


def test_a_type_that_builds_accept_is_added_to_the_row(proposed, tmp_path):
    def takes(_name, descriptor):
        items = {f.id for f in _verdict(descriptor).findings}
        return Reply("accepted") if items == {"directml/ONE_HOT/IndicesTensor.type"} else None

    patch = proposed(takes, levels=("4.1",))
    resolved = dialect("directml").operator("ONE_HOT").resolve("4.1", "observed")
    assert resolved
    row = ", ".join(resolved.cells["IndicesTensor"].types or ())
    assert f"IndicesTensor: {{types: [{row}, " in patch
    build_dialect(_apply_patch(patch, tmp_path) / "directml")


def test_undocumented_rejections_are_left_to_a_person(proposed, tmp_path):
    patch = proposed(refuses_type("ValuesTensor", "INT16"))
    assert "+  # To be written by hand" in patch
    assert "no such type" in patch
    build_dialect(_apply_patch(patch, tmp_path) / "directml")


def test_a_difference_of_a_single_implementation_names_it(proposed):
    def one(name, descriptor):
        return refuses_type("ValuesTensor", "INT16")(name, descriptor) if name == "linux" else None

    assert "by: linux" in proposed(one, names=("linux", "windows"))
    assert "by:" not in proposed(refuses_type("ValuesTensor", "INT16"), names=("linux", "windows"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a report of specgate conform as JSON"),
        ("[]", "expected a report of specgate conform as JSON"),
        ('{"schema": 9}', "expected schema 1, found 9"),
        ('{"schema": 1, "tallies": [{}]}', "expected a report of specgate conform as JSON: KeyError('operator')"),
    ],
)
def test_invalid_reports_are_rejected(tmp_path, capsys, text, message):
    report = tmp_path / "report.json"
    report.write_text(text, encoding="utf-8")
    assert main(["propose", str(report)]) == 2
    assert capsys.readouterr().err.startswith(f"tools: {report}: {message}")


def test_a_missing_report_is_rejected(tmp_path, capsys):
    assert main(["propose", str(tmp_path / "report.json")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
