"""``specgate spec``: check spec files and print schemas for editors."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.cli.common import as_json
from specgate.dialects import capability, dialect_names
from specgate.dialects.protocols import Exporter
from specgate.errors import InputError
from specgate.linting.config_model import ConfigFile
from specgate.loading import lazy
from specgate.report import plural
from specgate.runtimes.onnxruntime.registrations import RUNTIME
from specgate.spec import file_models
from specgate.spec.dialect_spec import Dialect
from specgate.spec.folders import source_folders
from specgate.spec.store import compiled_tables
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    import argparse

    from pydantic import BaseModel

    from specgate.runtimes.onnxruntime import build as onnxruntime_build
    from specgate.runtimes.onnxruntime.lowering import build as lowering_build
    from specgate.spec import build, lint
else:
    onnxruntime_build = lazy("specgate.runtimes.onnxruntime.build")
    lowering_build = lazy("specgate.runtimes.onnxruntime.lowering.build")
    build = lazy("specgate.spec.build")
    lint = lazy("specgate.spec.lint")

_BUILT_IN_NAMES: Final = {
    "report": ("specgate.report", "report.schema.json"),
    "baseline": ("specgate.linting", "baseline.schema.json"),
    "export": ("specgate.export", "tables.schema.json"),
}


def check(arguments: argparse.Namespace) -> int:
    """Check a folder of specs, or the installed tables.

    Returns 1 if a data linter reports problems, 2 if a file is unusable.
    """
    roots = [Path(arguments.folder)] if arguments.folder else source_folders()[:1]
    runtimes = _runtimes(roots)
    lowered = _count_lowered(roots)
    tables: list[tuple[Dialect, list[str] | None]] = [(dialect(name), None) for name in dialect_names()]
    if arguments.folder:
        root = Path(arguments.folder)
        dialect_folders = [path.parent for path in sorted(root.glob("*/levels.yaml"))]
        tables = [
            (Dialect(folder.name, {**build.build_dialect(folder), "folder": str(folder)}), None)
            for folder in dialect_folders
        ]
        tables += [_with_own(name, root) for name in dialect_names() if _adds(root / name)]
        if not tables and not runtimes and not lowered:
            raise InputError(
                "expected a folder laid out as specs/: DIALECT/operators/NAME.yaml for operators of your own, with "
                f"DIALECT one of {', '.join(dialect_names())}, or another dialect with DIALECT/levels.yaml",
                file=arguments.folder,
            )
    problems = [problem for table, names in tables for problem in lint.lint_tables(table, names)]
    for problem in problems:
        sys.stdout.write(problem + "\n")
    operators = sum(len(table.operators if names is None else names) for table, names in tables)
    totals = [plural(len(tables), "dialect"), plural(operators, "operator")]
    totals += [f"{RUNTIME} with {plural(rows, 'registration')}" for rows in runtimes]
    totals += [f"{RUNTIME} with {plural(count, 'lowered operator')}" for count in lowered]
    totals.append(plural(len(problems), "problem"))
    sys.stdout.write(", ".join(totals) + "\n")
    return 1 if problems else 0


def _runtimes(roots: list[Path]) -> list[int]:
    """Return the number of rows of each runtime in these folders.

    Checks the runtime's files against the dialects.
    """
    matching_tables = [
        onnxruntime_build.build_runtime(path.parent)
        for root in roots
        for path in sorted(root.glob(f"{RUNTIME}/releases.yaml"))
    ]
    rows = [tables["registrations"].values() for tables in matching_tables]
    return [
        sum(
            len(entries)
            for domains in counts_by_domain
            for registrations in domains.values()
            for entries in registrations.values()
        )
        for counts_by_domain in rows
    ]


def _count_lowered(roots: list[Path]) -> list[int]:
    """Return the number of lowered operators of each runtime's folder.

    Checks the files that map a runtime's nodes to descriptors.
    """
    folders = [path.parent for root in roots for path in sorted(root.glob(f"{RUNTIME}/lowering/general.yaml"))]
    return [len(lowering_build.build_lowering(folder)["operators"]) for folder in folders]


def _adds(folder: Path) -> bool:
    """Return whether a folder adds operators to an existing dialect.

    Such a folder does not define levels.
    """
    return not (folder / "levels.yaml").is_file() and any((folder / "operators").glob("**/*.yaml"))


def _with_own(name: str, root: Path) -> tuple[Dialect, list[str]]:
    """Return a dialect with the additions of `root`, and their names."""
    table = Dialect(name, compiled_tables(name, (root,)))
    added_path = str(root / name)
    return table, [
        operator for operator in table.operators if str(table.tables.files.get(operator)).startswith(added_path)
    ]


def schema(arguments: argparse.Namespace) -> int:
    """Print a JSON Schema.

    Kinds are spec files, configuration, reports, baselines, exports and descriptors.
    """
    if arguments.dialect is not None and arguments.kind != "descriptor":
        raise InputError(
            f"--dialect applies only to `schema descriptor`: the schema of {arguments.kind} is the same for all "
            "dialects"
        )
    if arguments.kind in _BUILT_IN_NAMES:
        package, name = _BUILT_IN_NAMES[arguments.kind]
        sys.stdout.write(files(package).joinpath(name).read_text(encoding="utf-8"))
        return 0
    if arguments.kind == "descriptor":
        if arguments.dialect is None:
            raise InputError(f"expected --dialect, one of {', '.join(dialect_names())}")
        sys.stdout.write(as_json(capability(arguments.dialect, Exporter).descriptor_schema()))
        return 0
    kinds: dict[str, type[BaseModel]] = {
        "operator": file_models.OperatorFile,
        "family": file_models.FamilyFile,
        "examples": file_models.ExamplesFile,
        "dialect": file_models.DialectFile,
        "levels": file_models.LevelsFile,
        "types": file_models.TypesFile,
        "sets": file_models.SetsFile,
        "environments": file_models.EnvironmentsFile,
        "tensor": file_models.TensorFile,
        "codes": file_models.CodesFile,
        "config": ConfigFile,
    }
    entries = kinds[arguments.kind].model_json_schema()
    sys.stdout.write(as_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **entries}))
    return 0
