"""Repair of descriptors, and constants that rules read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.generate.domains import element_kind
from specgate.generate.invent import values_for
from specgate.generate.moves import (
    MAX_RANK,
    add_dimensions,
    change_fields,
    linked_tensors,
    replace_tensors,
    retype_tensors,
)
from specgate.generate.seeds import find_operator, rotate_options
from specgate.validate.facts import Facts
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specgate.spec.forms import Resolved
    from specgate.validate.failures import Failure

#: The first elements to try: all equal, or ascending.
_START_COUNT: Final = 4


def consistent_constants(
    descriptor: Descriptor, level: str, pick: Callable[[int, int], int]
) -> Mapping[str, tuple[Any, ...]]:
    """Return elements for the inputs whose elements rules read.

    These are the descriptor's own elements, or elements consistent with the rest. If none are found, the result breaks
    only rules that are not structural, or else consists of small numbers. String inputs are omitted.
    """
    own_level = descriptor.version or level
    spec = find_operator(descriptor.dialect, descriptor.operator, own_level)
    tensors = {n: t for n, t in descriptor.fields.items() if isinstance(t, TensorDesc) and n in spec.fields}
    items_by_name = {n: t.value for n, t in tensors.items() if t.value is not None}
    resolved = spec.resolve(own_level)
    if resolved is None:
        return items_by_name
    fields_read = _read_fields(resolved)
    inputs = {info.name for info in spec.inputs}
    open_ones = {
        name: tensor
        for name, tensor in tensors.items()
        if name in fields_read & inputs and tensor.value is None and tensor.concrete
        if element_kind(spec.dialect, tensor.type)[0] != "O"
    }
    if not open_ones:
        return items_by_name
    solved = _solve_fields(descriptor, open_ones, resolved, pick)
    return {
        **items_by_name,
        **(solved or {name: (pick(0, 9),) * tensor.known_elements for name, tensor in open_ones.items()}),
    }


def _solve_fields(
    descriptor: Descriptor,
    open_ones: Mapping[str, TensorDesc],
    resolved: Resolved,
    pick: Callable[[int, int], int],
) -> dict[str, tuple[Any, ...]] | None:
    fixed_fields = {name: value for name, value in descriptor.fields.items() if name not in open_ones}

    def keep(descriptor: Descriptor) -> bool:
        """Return whether only elements differ."""
        if any(descriptor.fields.get(name) != value for name, value in fixed_fields.items()):
            return False
        open_values = (descriptor.fields.get(name) for name in open_ones)
        return all(
            isinstance(tensor, TensorDesc) and tensor.value is not None and tensor._replace(value=None) == bare_tensor
            for tensor, bare_tensor in zip(open_values, open_ones.values(), strict=True)
        )

    def structural(failure: Failure) -> bool:
        return failure.structural

    for predicate in (lambda _: True, structural):
        for _ in range(_START_COUNT):
            first, step = pick(0, 3), pick(0, 1)
            values = {n: tuple(first + step * index for index in range(t.known_elements)) for n, t in open_ones.items()}
            start_descriptor = replace_tensors(
                descriptor, {n: t._replace(value=values[n]) for n, t in open_ones.items()}
            )
            repaired = repair_descriptor(start_descriptor, [resolved], pick, keep, predicate)
            if repaired is not None:
                return {name: repaired.fields[name].value for name in open_ones}
    return None


def _read_fields(resolved: Resolved) -> set[str]:
    """Return the fields whose elements some rule or condition reads."""
    forms = [form for row in resolved.alternatives for form in row.rules]
    rules = [rule for form in forms for rule in (form.require, form.when) if rule is not None]
    rules += [case.when for case in resolved.cases]
    return {path.removesuffix(".value") for rule in rules for path in rule.needs if path.endswith(".value")}


_ROUNDS: Final = 10
#: Maximum number of changes to try per failure.
_OPTIONS: Final = 12
_CHOICES: Final = 3
#: Maximum number of elements of a generated constant.
_MAX_CONSTANT: Final = 64
_ELEMENTS: Final = (1, 0, 2, 3, -1)
#: Sizes and other numbers must be below this limit, which also fits the vendor's structures.
_LARGEST: Final = 2**32


def repair_descriptor(
    descriptor: Descriptor,
    sides: Sequence[Resolved],
    pick: Callable[[int, int], int],
    is_acceptable: Callable[[Descriptor], bool],
    predicate: Callable[[Failure], bool] = lambda _: True,
) -> Descriptor | None:
    """Return a repaired descriptor without failures; None if not found.

    is_acceptable: a predicate that the result must satisfy. predicate: the failures that count.
    """
    visited: set[str] = set()
    for _ in range(_ROUNDS):
        failing_sides = ((side, [f for f in explain_at(descriptor, side) if predicate(f)]) for side in sides)
        side, failures = next(((side, failures) for side, failures in failing_sides if failures), (None, []))
        if side is None:
            return descriptor
        for new_descriptor in _propose_changes(descriptor, failures, side, sides, pick):
            key = repr(new_descriptor.fields)
            if key not in visited and is_acceptable(new_descriptor):
                visited.add(key)
                descriptor = new_descriptor
                break
        else:
            return None
    return None


def row_of(descriptor: Descriptor, side: Resolved) -> Resolved:
    """Return the side with the support row that applies to a descriptor.

    The side itself if it has at most one row.
    """
    if not side.cases:
        return side
    facts = Facts()
    context = facts.context(descriptor, side)
    return next((case.resolved for case in side.cases if facts.holds(case.when, context) is True), side)


def _propose_changes(
    descriptor: Descriptor,
    failures: Sequence[Failure],
    side: Resolved,
    sides: Sequence[Resolved],
    pick: Callable[[int, int], int],
) -> Iterator[Descriptor]:
    rows = [row_of(descriptor, resolved) for resolved in sides]
    for failure in failures:
        yield from islice(_changes(descriptor, failure, row_of(descriptor, side), rows, pick), _OPTIONS)


def _changes(
    descriptor: Descriptor,
    failure: Failure,
    side: Resolved,
    rows: Sequence[Resolved],
    pick: Callable[[int, int], int],
) -> Iterator[Descriptor]:
    """Yield the descriptor after each change that may fix a failure."""
    spec, name = side.spec, failure.where.partition("[")[0].partition(".")[0]
    info = side.fields.get(name)
    tensors = dict(descriptor.tensors())
    if failure.remedy is not None:
        remedy = failure.remedy
        for repair in remedy.repairs():
            for choice in range(min(len(repair[-1].values_to_test), _CHOICES)):
                new_descriptor = remedy.apply_repair(repair, choice)
                if _has_sane_sizes(new_descriptor):
                    yield _add_required(new_descriptor, rows)
    elif failure.unknown:
        yield from _constants(descriptor, failure, side)
    elif failure.aspect == "type" and failure.where in tensors:
        for kind in rotate_options(pick, failure.allowed):
            for group in linked_tensors(descriptor, failure.where, "type"):
                yield retype_tensors(descriptor, group, kind)
    elif failure.aspect == "rank" and failure.where in tensors:
        bounds, own_rank = side.cells[name].ranks, len(tensors[failure.where].sizes or ())
        numbers = [rank for rank in range(MAX_RANK + 1) if bounds is not None and rank in bounds]
        for rank in sorted(numbers, key=lambda rank: abs(rank - own_rank)):
            for group in linked_tensors(descriptor, failure.where, "rank"):
                yield add_dimensions(descriptor, group, rank - own_rank)
    elif failure.aspect == "structure" and info is None:
        yield change_fields(descriptor, spec, {name: None})
    elif info is not None and info.kind == "attribute":
        if failure.aspect == "value" and (info.optional or info.default is not None):
            yield change_fields(descriptor, spec, {name: None})
        yield from (change_fields(descriptor, spec, {name: value}) for value in values_for(info, descriptor, rows))
    elif info is not None:
        yield from (change_fields(descriptor, spec, {name: value}) for value in values_for(info, descriptor, rows))


def _has_sane_sizes(descriptor: Descriptor) -> bool:
    sizes = (size for _, tensor in descriptor.tensors() for size in tensor.sizes or ())
    return all(not isinstance(size, int) or 0 <= size < _LARGEST for size in sizes)


def _add_required(descriptor: Descriptor, rows: Sequence[Resolved]) -> Descriptor:
    """Return the descriptor with values for missing required parts."""
    spec, entries = rows[0].spec, {}
    for name, value in descriptor.fields.items():
        if isinstance(value, TensorDesc) and value.type is None and value.sizes is None:
            rest = change_fields(descriptor, spec, {name: None})
            entries[name] = next(values_for(spec.fields[name], rest, rows), None)
    return change_fields(descriptor, spec, entries) if entries else descriptor


def _constants(descriptor: Descriptor, failure: Failure, side: Resolved) -> Iterator[Descriptor]:
    """Yield the descriptor with elements for tensors that a rule reads."""
    paths_read = {path for form in side.rules if form.name == failure.rule for path in form.require.needs}
    paths_read |= {path for form in side.rules if form.name == failure.rule and form.when for path in form.when.needs}
    tensors = {place: t for place, t in descriptor.tensors() if f"{place.partition('[')[0]}.value" in paths_read}
    unknown = {place: t for place, t in tensors.items() if t.value is None and t.concrete}
    for element in _ELEMENTS if unknown else ():
        entries: dict[str, Any] = {}
        for place, tensor in unknown.items():
            if tensor.known_elements <= _MAX_CONSTANT:
                entries[place] = tensor._replace(value=(element,) * tensor.known_elements)
        if entries:
            yield replace_tensors(descriptor, entries)
