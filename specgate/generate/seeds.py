"""Random choices from hypothesis or a seeded generator.

`pick(low, high)` returns an integer between the two, both inclusive. Lower integers count as simpler. Other modules of
this package do not depend on the source.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from specgate.descriptors.core import Descriptor, Symbol, TensorDesc, format_value
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.errors import Error, InputError
from specgate.spec.lint import counterexample
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

T = TypeVar("T")


def pick_option(pick: Callable[[int, int], int], options: Sequence[T]) -> T:
    """Return one of `options`, which are sorted from the simplest."""
    return options[pick(0, len(options) - 1)] if len(options) > 1 else options[0]


def rotate_options(pick: Callable[[int, int], int], options: Sequence[Any]) -> Iterator[Any]:
    """Yield every option once, from a random one on.

    The first option is the choice; the others follow in case it is not usable.
    """
    if options:
        start = pick(0, len(options) - 1)
        yield options[start]
        yield from options[start + 1 :]
        yield from options[:start]


#: Replacement for unknown sizes of an example.
_OPEN_SIZE = 2


def named_level(dialect: str, operator: str, level: str | float) -> str:
    """Return the level of an operator's versions that a text names.

    level: a number or text such as 17, 5.0 or ``DML_FEATURE_LEVEL_5_0``. Unknown text is returned unchanged, so that
    the caller reports it.
    """
    return tables(dialect).operator(operator).dialect.level_named(level) or format_value(level).strip("'")


def find_operator(dialect: str, operator: str, level: str) -> OperatorSpec:
    """Return an operator that exists at `level`.

    Raises InputError or NoTable with the existing names.
    """
    spec = tables(dialect).operator(operator)
    spec.dialect.check_level(level)
    if level not in spec.levels:
        raise InputError(f"{dialect} {operator} does not exist at {level}; it does at {spec.levels}")
    return spec


def examples_at(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    """Yield a table's examples as read at a level; they may be rejected."""
    for example in spec.table.examples.values():
        yield from _read_seed(spec, level, example["descriptor"])


def counterexamples_at(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    """Yield a table's counterexamples as read at a level."""
    for entry in spec.table.counterexamples.values():
        yield from _read_seed(spec, level, counterexample(spec, entry)[0])


def _read_seed(spec: OperatorSpec, level: str, data: Mapping[str, Any]) -> Iterator[Descriptor]:
    try:
        yield reordered_for(read_dict(dict(data), spec.dialect.name), spec, level)
    except Error:  # examples are validated by `specgate spec check`
        return


def make_concrete(descriptor: Descriptor) -> Descriptor:
    """Return a descriptor without a level, with numbers for unknown sizes."""

    def fill_sizes(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            sizes = tuple(_OPEN_SIZE if s is None or isinstance(s, Symbol) else s for s in value.sizes or ())
            return value._replace(sizes=sizes)
        return [fill_sizes(item) for item in value] if isinstance(value, list) else value

    fields = {name: fill_sizes(value) for name, value in descriptor.fields.items()}
    return replace(descriptor, fields=fields, version=None, name=None, extra={}, plain=False)


def rule_numbers(resolved: Resolved) -> list[int]:
    """Return the numbers in rules and cells at a level, with neighbours."""
    numbers = {0, 1, 2, *resolved.numbers.values()}
    for form in (*resolved.rules, *resolved.tensor_rules):
        for tree in (form.require.tree, *([form.when.tree] if form.when is not None else [])):
            numbers.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int)
    nearby_numbers = {number + step for number in numbers for step in (-1, 0, 1)}
    return sorted(number for number in nearby_numbers if 0 <= number < 2**32)
