"""``specgate conform``: compare the tables with real implementations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.cli.common import emit
from specgate.cli.options import progress
from specgate.dialects import dialect_names
from specgate.errors import InputError
from specgate.files import refuse_unwritable
from specgate.runtimes.onnxruntime.oracle.installable import is_runtime, newest
from specgate.spec.tables import dialect
from specgate.targets import parse_target

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from contextlib import AbstractContextManager


def conform(arguments: argparse.Namespace) -> int:
    """Run a campaign and print its report; 1 on unexplained differences."""
    if arguments.seconds is not None and not arguments.seconds > 0:  # also rejects nan
        raise InputError(f"expected --seconds above 0, found {arguments.seconds}")
    if is_runtime(arguments.dialect):
        return conform_runtime(arguments, progress)
    text = next((f"--{name}" for name in FOR_RUNTIMES if getattr(arguments, name) is not None), None)
    if text:
        raise InputError(f"{text} applies to runtimes only, not to {arguments.dialect}")
    arguments.cases = 500 if arguments.cases is None else arguments.cases
    try:
        from specgate.conform.campaign import Plan, run
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'specgate-ml[oracles]'") from None
    from specgate.conform.render import FORMATS

    refuse_unwritable(path for path in (arguments.output,) if path and path != "-")
    if arguments.cases < 1 or arguments.jobs < 0:
        raise InputError("expected --cases of at least 1 and --jobs of at least 0")
    dialect, level = _split_implementation(arguments.dialect)
    plan = Plan(
        dialect=dialect,
        operators=tuple(arguments.operator or ()),
        levels=_levels(arguments, dialect),
        cases=arguments.cases,
        seed=arguments.seed,
        seconds=arguments.seconds,
        jobs=arguments.jobs or os.cpu_count() or 1,
        values=arguments.values,
        alone=level,
        versions=arguments.versions,
    )
    with progress() as function:
        result = run(plan, function)
    emit(FORMATS[arguments.format](result), arguments.output)
    return 1 if result.unexplained else 0


def _split_implementation(name: str) -> tuple[str, str | None]:
    """Return the dialect, and the implementation that a name selects.

    The implementation is None unless the name is the prefix of its targets.
    """
    for dialect_name in dialect_names():
        for implementation, entry in dialect(dialect_name).implementations_with_targets.items():
            if entry["target"] == name:
                return dialect_name, implementation
    return name, None


def _levels(arguments: argparse.Namespace, dialect: str) -> tuple[str, ...]:
    """Return the requested levels in canonical spelling; empty for all."""
    words = [word for group in arguments.level or () for word in group.split(",") if word]
    return tuple(parse_target(f"{dialect}:{word}").level for word in words)


#: The options for runtimes only, and the options that runtimes do not support.
FOR_RUNTIMES: Final = ("release", "graphs", "models", "case", "keep")
_DIALECT_OPTIONS: Final = ("versions", "values", "jobs")
_CASES, _GRAPHS = 20, 100


def conform_runtime(
    arguments: argparse.Namespace, progressing: Callable[[], AbstractContextManager[Callable[[int, int, str], object]]]
) -> int:
    """Run a campaign with a runtime and print its report.

    Returns 1 on unexplained differences.
    """
    try:
        from specgate.runtimes.onnxruntime.conform.render import FORMATS
        from specgate.runtimes.onnxruntime.conform.run import Plan, run
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'specgate-ml[oracles]'") from None
    _check(arguments, tuple(FORMATS))
    graphs = arguments.graphs if arguments.graphs is not None else 0 if arguments.operator else _GRAPHS
    plan = Plan(
        package=arguments.dialect,
        releases=_words(arguments.release) or (newest(arguments.dialect),),
        operators=tuple(arguments.operator or ()),
        levels=tuple(word for text in arguments.level or () for word in _words(text)),
        cases=_CASES if arguments.cases is None else arguments.cases,
        graphs=graphs,
        models=Path(arguments.models) if arguments.models else None,
        seed=arguments.seed,
        seconds=arguments.seconds,
        case=arguments.case,
        keep=Path(arguments.keep) if arguments.keep else None,
    )
    with progressing() as progress:
        result = run(plan, progress)
    if plan.case is not None and not result.models:
        raise InputError(f"no case {plan.case!r:.80} is drawn; repeat the options that the report shows")
    emit(FORMATS[arguments.format](result), arguments.output)
    return 1 if result.unexplained else 0


def _check(arguments: argparse.Namespace, formats: tuple[str, ...]) -> None:
    refuse_unwritable(path for path in (arguments.output,) if path and path != "-")
    for name in _DIALECT_OPTIONS:
        if getattr(arguments, name):
            raise InputError(f"--{name} does not apply to runtimes such as {arguments.dialect}")
    if arguments.format not in formats:
        raise InputError(f"expected --format {', '.join(formats)} for a runtime, found {arguments.format}")
    if min(arguments.cases or 0, arguments.graphs or 0) < 0:
        raise InputError("expected --cases and --graphs of at least 0")
    if arguments.keep and not arguments.case:
        raise InputError("--keep writes a single model and requires --case")


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())
