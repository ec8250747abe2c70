"""specs/README.md has a row for every key of every kind of table file, and no others."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from specgate.runtimes.onnxruntime import table_files
from specgate.runtimes.onnxruntime.lowering import model
from specgate.spec import file_models
from tests.paths import SPECS

TEXT = (SPECS / "README.md").read_text(encoding="utf-8")
TABLES = re.findall(r"\| key \| meaning \|\n\| --- \| --- \|\n((?:\|.*\n)+)", TEXT)
FILES = [
    file_models.OperatorFile, file_models.ExamplesFile, file_models.FamilyFile, file_models.Cell, file_models.DialectFile,
    file_models.LevelsFile, file_models.TypesFile, file_models.SetsFile, file_models.EnvironmentsFile,
    file_models.TensorFile, file_models.CodesFile, table_files.ReleasesFile, table_files.ProviderFile, table_files.SchemasFile,
    table_files.TypeSetsFile, table_files.LoadingFile, table_files.RunsFile, table_files.InferenceFile, table_files.ObservedFile,
    table_files.GraphsFile, model.GeneralFile, model.LoweringFile,
]  # fmt: skip
#: Described in prose: the keys of another table, and one more.
IN_WORDS = {"ObservedCell", "SupportCase"}


def parts_of(kind: Any) -> set[type[BaseModel]]:
    """Return the models that a type consists of, with nested ones."""
    cls: set[type[BaseModel]] = set()
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        cls = {kind}.union(*(parts_of(field.annotation) for field in kind.model_fields.values()))
    return cls.union(*(parts_of(part) for part in get_args(kind) if not isinstance(part, str)))


PARTS = {part for file in FILES for part in parts_of(file)}


@pytest.mark.parametrize("part", sorted(PARTS, key=repr))
def test_every_key_has_a_row(part: type[BaseModel]) -> None:
    keys = [
        f"`{field.alias or name}`{' (required)' if field.is_required() else ''}"
        for name, field in part.model_fields.items()
    ]
    listed = [[row.split(" | ")[0].removeprefix("| ") for row in table.splitlines()] for table in TABLES]
    assert part.__name__ in IN_WORDS or keys in listed


def test_every_row_has_a_description() -> None:
    rows = [row.split(" | ")[1].removesuffix(" |") for table in TABLES for row in table.splitlines()]
    assert all(len(meaning) > 3 for meaning in rows)
