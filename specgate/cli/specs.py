"""``specgate spec``: check spec files and print the schemas that give editors completion."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.cli.common import as_json
from specgate.errors import InputError
from specgate.spec.store import DIALECTS
from specgate.spec.tables import Dialect, dialect

if TYPE_CHECKING:
    import argparse

    from pydantic import BaseModel

__all__ = ["check", "schema"]

_SHIPPED: Final = {
    "report": ("specgate.report", "report.schema.json"),
    "baseline": ("specgate.linting", "baseline.schema.json"),
}


def check(arguments: argparse.Namespace) -> int:
    """Check a folder of specs, or the tables in use; 1 when a data linter complains, 2 when a file is unusable."""
    from specgate.spec.build import build_dialect
    from specgate.spec.lint import lint_tables

    if arguments.folder:
        root = Path(arguments.folder)
        folders = [p.parent for p in sorted(root.glob("*/levels.yaml"))]
        if not folders:
            raise InputError("expected a folder laid out as specs/ (DIALECT/levels.yaml)", file=arguments.folder)
        tables = [Dialect(folder.name, build_dialect(folder)) for folder in folders]
    else:
        tables = [dialect(name) for name in DIALECTS]
    problems = [problem for table in tables for problem in lint_tables(table)]
    for problem in problems:
        sys.stdout.write(problem + "\n")
    operators = sum(len(table.operators) for table in tables)
    sys.stdout.write(f"{len(tables)} dialects, {operators} operators, {len(problems)} problems\n")
    return 1 if problems else 0


def schema(arguments: argparse.Namespace) -> int:
    """Print the JSON Schema of one kind of spec file, of reports or of baselines."""
    if arguments.kind in _SHIPPED:
        package, name = _SHIPPED[arguments.kind]
        sys.stdout.write(files(package).joinpath(name).read_text(encoding="utf-8"))
        return 0
    from specgate.spec import dialect_model, model

    kinds: dict[str, type[BaseModel]] = {
        "operator": model.OperatorFile,
        "family": model.FamilyFile,
        "dialect": dialect_model.DialectFile,
        "levels": dialect_model.LevelsFile,
        "types": dialect_model.TypesFile,
        "environments": dialect_model.EnvironmentsFile,
        "tensor": dialect_model.TensorFile,
        "codes": dialect_model.CodesFile,
    }
    made = kinds[arguments.kind].model_json_schema()
    sys.stdout.write(as_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **made}))
    return 0
