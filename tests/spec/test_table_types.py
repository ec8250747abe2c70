"""Code reads tables only by types that match the spec files' models."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NotRequired, get_origin, get_type_hints, is_typeddict

import pytest

from specgate.spec import file_models, written
from specgate.spec.tables import dialect
from specgate.spec.written import DialectTables, OperatorTable
from tests.paths import ROOT

if TYPE_CHECKING:
    from pydantic import BaseModel

MODELS: Final[dict[str, type[BaseModel]]] = {
    "SourceEntry": file_models.Source,
    "Example": file_models.Example,
    "Counterexample": file_models.Counterexample,
    "ValuesEntry": file_models.OtherValues,
    "ObservedEntry": file_models.Observed,
    "Recipe": file_models.Execute,
    "ReplacedByEntry": file_models.ReplacedBy,
    "ImplementationEntry": file_models.ImplementationInfo,
    "DialectEntry": file_models.DialectFile,
    "TypeEntry": file_models.TypeInfo,
    "EnvironmentEntry": file_models.Environment,
    "UnstatedEntry": file_models.Unstated,
}
#: Facts that a family may define for its operators exist once tables are built.
FROM_FAMILIES: Final = {"Recipe": {"kernel", "arrays", "outputs"}}
#: Keys of an operator whose properties have another name.
RENAMED: Final = {"operator": "name", "source": "sources", "support": "cases", "define": "defines", "execute": "recipe"}


def test_every_type_has_a_model() -> None:
    entries = {name for name, entry in vars(written).items() if is_typeddict(entry)}
    assert {*MODELS, "LevelEntry"} == entries


@pytest.mark.parametrize("name", MODELS)
def test_keys_are_those_of_the_model(name: str) -> None:
    entry, fields = getattr(written, name), MODELS[name].model_fields
    hints = get_type_hints(entry, include_extras=True)
    assert set(hints) == set(fields)
    required = {key for key, info in fields.items() if info.is_required()} | FROM_FAMILIES.get(name, set())
    stated = {key for key, hint in hints.items() if get_origin(hint) is not NotRequired}
    assert stated == required or not entry.__total__


def test_a_level_may_have_more_keys_than_its_model() -> None:
    assert set(file_models.LevelInfo.model_fields) < set(written.LevelEntry.__annotations__)


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_every_key_of_an_operator_has_a_property(name: str) -> None:
    keys = {key for entries in dialect(name).tables.operators.values() for key in entries}
    assert {key for key in keys if not hasattr(OperatorTable, RENAMED.get(key, key))} == set()
    assert {key for key in dialect(name).tables.entries if not hasattr(DialectTables, key)} <= {
        "format",
        "dialect",
        "numbers",
    }


def reads(tree: ast.AST) -> set[str]:
    return {
        f"{node.lineno}: .{node.attr}" for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _bare(node)
    }


def _bare(node: ast.Attribute) -> bool:
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return node.attr == "entries" and name in {"table", "tables", "tensor", "written"}


@pytest.mark.parametrize(
    ("code", "count"), [("spec.table.entries['x']", 1), ("tables.entries", 1), ("cache.entries", 0)]
)
def test_code_that_reads_entries_is_detected(code: str, count: int) -> None:
    assert len(reads(ast.parse(code))) == count


@pytest.mark.slow
def test_only_file_checks_read_entries_by_key() -> None:
    """The export also reads entries: it exports them completely, as written."""
    result: dict[str, Any] = {}
    for path in sorted((ROOT / "specgate").rglob("*.py")):
        at = path.relative_to(ROOT / "specgate").as_posix()
        if not at.startswith(("spec/", "export/")) and (lines := reads(ast.parse(path.read_text(encoding="utf-8")))):
            result[at] = lines
    assert result == {}
