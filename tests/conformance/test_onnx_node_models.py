"""onnx's backend test models have no findings at the opsets they import."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model
from specgate.spec.tables import dialect

pytestmark = pytest.mark.oracle

#: Contradictions between the models of a release and the newest one, with the reason.
KNOWN = {"onnx/GroupNormalization/level": "version 18 was withdrawn after releases up to 1.17 had tests of it"}
#: Nodes of a branch that never runs and that no runtime could compute: the branch for images splits the five sizes
#: of a volume into 4 parts, and inference gives the last a size of -1. ONNX Runtime rejects such a Split when it runs.
NEVER_RUN = {
    (f"test_affine_grid_3d{options}_expanded", "onnx/Split/count-fits"): "a branch for 2D"
    for options in ("", "_align_corners")
}
#: Wheels since 1.23 lack the models of single operators; a folder of an older release can be used.
LACKING = "THE ONNX BACKEND TESTS ARE NOT LINTED: no model of them is in onnx or in the cache's releases of it"


def models() -> list[Path]:
    """Return the models of the installed package, and single-operator models in the cache."""
    from specgate.dialects.directml.oracle.builds import directory

    spec = importlib.util.find_spec("onnx")
    places = [Path(spec.origin).parent] if spec and spec.origin else []
    cached = sorted(
        directory().parent.glob("onnx/*/onnx"), key=lambda path: [int(n) for n in path.parent.name.split(".")]
    )
    folders = [place / "backend" / "test" / "data" for place in (*places, *reversed(cached))]
    single = next((sorted(folder.glob("node/*/model.onnx")) for folder in folders if (folder / "node").is_dir()), [])
    return single + [
        path for folder in folders[:1] for path in sorted(folder.glob("*/*/model.onnx")) if path not in single
    ]


def own_target(imports: dict[str, int]) -> str:
    """Return the lowest target that supports a model's imports."""
    table = dialect("onnx")
    numbers_by_name = {domain: version for domain, version in imports.items() if domain in {"", *table.domains}}
    for level in table.levels:
        if all(int(table.domain_level(domain, level) or 0) >= version for domain, version in numbers_by_name.items()):
            return f"onnx:{level}"
    raise AssertionError(f"no opset has all of {imports}")


@pytest.mark.slow
def test_onnx_node_models_have_no_false_positives():
    result = models()
    if not result:
        pytest.skip(LACKING)
    wrong, nodes, lacking = [], 0, set()
    for path in result:
        report = specgate.lint(str(path), [own_target(read_model(str(path)).opset_imports)])
        nodes += report.nodes
        lacking |= {ref.location.operator for ref in report.no_table}
        errors = [finding for finding in report.findings if finding.severity != "note"]
        errors = [f for f in errors if f.id not in KNOWN and (path.parent.name, f.id) not in NEVER_RUN]
        wrong += [f"{path.parent.name}: {f.id}: {f.message}" for f in errors]
    assert wrong == []
    assert not lacking
    assert nodes > len(result)
