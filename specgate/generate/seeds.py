"""Where choices come from: hypothesis, or a seeded generator of random numbers. Nothing else here knows which.

`pick(low, high)` returns an integer between the two, both included; lower ones count as simpler.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from specgate.descriptors.core import Descriptor, Symbol, TensorDesc, shown
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.errors import Error, InputError
from specgate.spec.examples import counterexample
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

__all__ = [
    "concrete", "counterexamples_at", "examples_at", "find_operator", "named_level", "one_of", "rotated",
    "rule_numbers",
]  # fmt: skip

T = TypeVar("T")


def one_of(pick: Callable[[int, int], int], options: Sequence[T]) -> T:
    """Return one of `options`, the simplest of them first."""
    return options[pick(0, len(options) - 1)] if len(options) > 1 else options[0]


def rotated(pick: Callable[[int, int], int], options: Sequence[Any]) -> Iterator[Any]:
    """Yield every option once, from a chosen one on: a first choice, and then the others in case it is of no use."""
    if options:
        start = pick(0, len(options) - 1)
        yield options[start]
        yield from options[start + 1 :]
        yield from options[:start]


#: What stands for sizes that an example leaves open.
_OPEN_SIZE = 2


def named_level(dialect: str, operator: str, level: str | float) -> str:
    """Return the level that a text or a number names (17, 5.0, ``DML_FEATURE_LEVEL_5_0``) for an operator's versions.

    What names none comes back as text, so that who looks for it says so.
    """
    return tables(dialect).operator(operator).dialect.level_named(level) or shown(level).strip("'")


def find_operator(dialect: str, operator: str, level: str) -> OperatorSpec:
    """Return an operator that exists at `level`; raise InputError or NoTable that says what does."""
    spec = tables(dialect).operator(operator)
    spec.dialect.check_level(level)
    if level not in spec.levels:
        raise InputError(f"{dialect} {operator} does not exist at {level}; it does at {spec.levels}")
    return spec


def examples_at(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    """Yield a table's examples, as they are read at a level; whether they are accepted there is not asked."""
    for example in spec.table.examples.values():
        yield from _read(spec, level, example["descriptor"])


def counterexamples_at(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    """Yield a table's counterexamples, as they are read at a level."""
    for entry in spec.table.counterexamples.values():
        yield from _read(spec, level, counterexample(spec, entry)[0])


def _read(spec: OperatorSpec, level: str, data: Mapping[str, Any]) -> Iterator[Descriptor]:
    try:
        yield reordered_for(read_dict(dict(data), spec.dialect.name), spec, level)
    except Error:  # what an example must be, `specgate spec check` says
        return


def concrete(descriptor: Descriptor) -> Descriptor:
    """Return a descriptor for no version of its own, with numbers for all sizes that it leaves open."""

    def known(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            sizes = tuple(_OPEN_SIZE if s is None or isinstance(s, Symbol) else s for s in value.sizes or ())
            return value._replace(sizes=sizes)
        return [known(item) for item in value] if isinstance(value, list) else value

    fields = {name: known(value) for name, value in descriptor.fields.items()}
    return replace(descriptor, fields=fields, version=None, name=None, extra={}, plain=False)


def rule_numbers(resolved: Resolved) -> list[int]:
    """Return the numbers that rules and cells at a level compare with, and their neighbours."""
    numbers = {0, 1, 2, *resolved.numbers.values()}
    for form in (*resolved.rules, *resolved.tensor_rules):
        for tree in (form.require.tree, *([form.when.tree] if form.when is not None else [])):
            numbers.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int)
    near = {number + step for number in numbers for step in (-1, 0, 1)}
    return sorted(number for number in near if 0 <= number < 2**32)
