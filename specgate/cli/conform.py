"""``specgate conform``: hold the tables against real implementations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from specgate.cli.common import emit
from specgate.cli.conform_runtime import FOR_RUNTIMES, conform_runtime
from specgate.cli.progress import progress
from specgate.errors import InputError
from specgate.files import refuse_unwritable

if TYPE_CHECKING:
    import argparse

__all__ = ["conform"]


def conform(arguments: argparse.Namespace) -> int:
    """Run a campaign and print its report; 1 where a disagreement is unexplained."""
    from specgate.placement.oracle.listed import is_runtime

    if arguments.seconds is not None and not arguments.seconds > 0:  # nan neither
        raise InputError(f"expected --seconds above 0, found {arguments.seconds}")
    if is_runtime(arguments.dialect):
        return conform_runtime(arguments, progress)
    given = next((f"--{name}" for name in FOR_RUNTIMES if getattr(arguments, name) is not None), None)
    if given:
        raise InputError(f"{given} is for a runtime, not for {arguments.dialect}")
    arguments.cases = 500 if arguments.cases is None else arguments.cases
    try:
        from specgate.conform.campaign import Plan, run
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} cannot be imported: pip install 'specgate-ml[oracles]'") from None
    from specgate.conform.render import FORMATS

    refuse_unwritable(path for path in (arguments.output,) if path and path != "-")
    if arguments.cases < 1 or arguments.jobs < 0:
        raise InputError("expected --cases of at least 1 and --jobs of at least 0")
    dialect, alone = _whom(arguments.dialect)
    plan = Plan(
        dialect=dialect,
        operators=tuple(arguments.operator or ()),
        levels=_levels(arguments, dialect),
        cases=arguments.cases,
        seed=arguments.seed,
        seconds=arguments.seconds,
        jobs=arguments.jobs or os.cpu_count() or 1,
        values=arguments.values,
        alone=alone,
        versions=arguments.versions,
    )
    with progress() as told:
        result = run(plan, told)
    emit(FORMATS[arguments.format](result), arguments.output)
    return 1 if result.unexplained else 0


def _whom(name: str) -> tuple[str, str | None]:
    """Return the dialect, and the only implementation to ask where the name is what its targets begin with."""
    from specgate.dialects import dialect_names
    from specgate.spec.tables import dialect

    for known in dialect_names():
        for implementation, entry in dialect(known).implementations_with_targets.items():
            if entry["target"] == name:
                return known, implementation
    return name, None


def _levels(arguments: argparse.Namespace, dialect: str) -> tuple[str, ...]:
    """Return the levels asked for, however a target may spell them; empty for all."""
    from specgate.targets import parse_target

    words = [word for group in arguments.level or () for word in group.split(",") if word]
    return tuple(parse_target(f"{dialect}:{word}").level for word in words)
