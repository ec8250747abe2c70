"""Test parametrization, and commands that reproduce failures."""

from __future__ import annotations

import json
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from specgate.descriptors.read import write_dict
from specgate.dialects import dialect_names
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.targets import Target


class Case(NamedTuple):
    """One test case: a dialect, an operator and a level."""

    dialect: str
    operator: str
    level: str

    @property
    def target(self) -> str:
        """The target as text, such as ``directml:4.1``."""
        return f"{self.dialect}:{self.level}"

    def __str__(self) -> str:
        return f"{self.dialect}-{self.operator}-{self.level}"


def operators(dialects: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """Return (dialect, operator) of every table, in order."""
    names = dialect_names() if dialects is None else dialects
    return [(name, operator) for name in names for operator in tables(name).operators]


def targets(dialect: str) -> list[str]:
    """Return every target of a dialect, oldest first.

    The form is ``directml:1.0``.
    """
    return [f"{dialect}:{level}" for level in tables(dialect).levels]


def cases(dialects: Iterable[str] | None = None) -> list[Case]:
    """Return the cases of every operator.

    An operator has a case for its newest level and for every level at which it differs from the level before.
    """
    return [case for name, operator in operators(dialects) for case in cases_of(name, operator)]


def cases_of(dialect: str, operator: str) -> list[Case]:
    """Return the cases of one operator.

    There is one for its newest level and for every level at which it differs from the level before.
    """
    spec = tables(dialect).operator(operator)
    matching_cases, before, levels = [], None, list(spec.levels)
    for level in levels:
        resolved, built = spec.resolve(level), spec.resolve(level, "observed")
        state = (resolved and resolved.key, built and built.key, spec.behaviour(level))
        if state != before or level == levels[-1]:
            matching_cases.append(Case(dialect, operator, level))
        before = state
    return matching_cases


def reproduce(descriptor: Descriptor, target: str | Target) -> str:
    """Return the command that checks `descriptor` for `target`."""
    document_text = json.dumps(write_dict(descriptor), separators=(", ", ": "), default=str)
    return f"specgate check {shlex.quote(document_text)} --target {target}"


@contextmanager
def reproducing(descriptor: Descriptor, target: str | Target) -> Iterator[None]:
    """Add the command of `reproduce` as a note to exceptions of the block."""
    try:
        yield
    except Exception as error:
        error.add_note(reproduce(descriptor, target))
        raise
