from __future__ import annotations

import copy
import gc
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from specgate.dialects.directml.vocabulary import VOCABULARY
from specgate.spec import tables
from specgate.spec.dialect_spec import Dialect
from specgate.spec.forms import rule_forms
from specgate.spec.tables import load_extra_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from specgate.spec.dialect_spec import Dialect as DialectTables
    from specgate.spec.operator_spec import OperatorSpec

# Tests do not assert durations, because the machine may be busy. Settings of a test are added to this.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


def pytest_collection_finish() -> None:
    """Exclude collected tests from garbage collection, and collect rarely.

    Twenty thousand tests and the tables are a million objects; scanning them repeatedly takes an eighth of the time.
    Explicit `gc.collect` in a test still works.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def make_spec() -> Callable[..., OperatorSpec]:
    """Build an operator from compiled tables in memory.

    Levels 1.0, 2.0 and 3.0, with DirectML's types, without files.
    """

    def make(
        fields: dict[str, Any],
        rules: dict[str, Any] | None = None,
        *,
        support: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
        tensor_rules: dict[str, Any] | None = None,
        infers_outputs: bool = False,
        **more: Any,
    ) -> OperatorSpec:
        levels = {level: {"limits": dict(limits or {})} for level in ("1.0", "2.0", "3.0")}
        raw: dict[str, Any] = {
            "dialect": {"dialect": "scratch", "level": "feature level", "unstated_outputs": infers_outputs},
            "levels": {"levels": levels},
            "types": tables.dialect("directml").tables.entries["types"],
            "tensor": {"rules": tensor_rules or {}},
            "operators": {},
        }
        forms = {name: rule_forms(entry) for name, entry in (rules or {}).items()}
        operator = {"operator": "SCRATCH", "fields": fields, "support": support or {"1.0": {}}, "rules": forms, **more}
        raw["operators"]["SCRATCH"] = operator
        table = Dialect("scratch", raw)
        table.vocabulary = VOCABULARY
        return table.operator("SCRATCH")

    return make


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Callable[..., DialectTables]]:
    """Load scratch operator files next to the shipped ones, and unload them."""

    def load(dialect: str = "directml", **files: str) -> DialectTables:
        folder = tmp_path / dialect / "operators"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            operator = re.search(r"^operator: (?:.*\.)?(\w+)$", text, re.MULTILINE)
            (folder / f"{operator[1] if operator else name}.yaml").write_text(text, encoding="utf-8")
        load_extra_specs(tmp_path)
        return tables.dialect(dialect)

    yield load
    load_extra_specs()


@pytest.fixture
def one_hot() -> dict[str, Any]:
    """Return a DirectML descriptor that is accepted from 2.0 on."""
    return copy.deepcopy(tables.dialect("directml").operator("ONE_HOT").table.examples["example-1"]["descriptor"])


@pytest.fixture
def onnx_one_hot() -> dict[str, Any]:
    """Return an ONNX node that is accepted from 9 on."""
    return copy.deepcopy(tables.dialect("onnx").operator("OneHot").table.examples["example-own-off-on"]["descriptor"])


@pytest.fixture
def openvino_one_hot() -> dict[str, Any]:
    """Return an OpenVINO layer of opset1."""
    spec = tables.dialect("openvino").operator("OneHot")
    return copy.deepcopy(spec.table.examples["one-hot-1-example-1"]["descriptor"])
