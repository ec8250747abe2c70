"""Descriptors with one error, for each finding of an operator's checks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from specgate.descriptors.core import RECORDS, Descriptor, Malformed, TensorDesc, whole_numbers
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import Error
from specgate.generate.domains import WILD, base_type
from specgate.generate.invent import fused_operators, with_value
from specgate.generate.moves import (
    MAX_RANK,
    Mutator,
    add_dimensions,
    change_fields,
    linked_tensors,
    replace_tensors,
    resize_dimension,
    retype_tensors,
)
from specgate.generate.repair import row_of
from specgate.generate.seeds import counterexamples_at, make_concrete, pick_option, rotate_options
from specgate.generate.walk import valid_descriptors
from specgate.rules.evaluate import Context, evaluate
from specgate.spec.tables import dialect as tables
from specgate.spec.variables import SAME_TYPE
from specgate.validate.check import accepts
from specgate.validate.conditional_rows import NO_CASE
from specgate.validate.message import rule_id
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import Bounds, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.validate.failures import Failure

STRUCTURE: Final = frozenset({"required", "exists", "wrong-kind", "unknown-attribute"})


class TargetFinding(NamedTuple):
    """One finding to trigger.

    kind: rule, tensor (a rule for every tensor), type, rank, value or operator (a cell of a support row), case (no row
    applies), or a member of `STRUCTURE`. name: of the rule or field. id: of the finding.
    """

    kind: str
    name: str
    id: str


def iterate_aims(spec: OperatorSpec, resolved: Resolved) -> Iterator[TargetFinding]:
    """Yield the findings that the checks at one level can raise.

    Excludes those that only occur together with others.
    """

    def aim_of(kind: str, name: str, rule: str, scope: str = "operator") -> TargetFinding:
        return TargetFinding(kind, name, rule_id(spec.dialect.name, spec.name, rule, scope))

    if resolved.cases and not _is_exhaustive(resolved):
        yield aim_of("case", NO_CASE, NO_CASE)
    for name in dict.fromkeys(form.name for form in resolved.rules if not _requires_equal_types(form, resolved)):
        yield aim_of("rule", name, name)
    for name in dict.fromkeys(form.name for form in resolved.tensor_rules):
        yield aim_of("tensor", name, name, "tensor")
    for name, info in resolved.fields.items():
        cells = [cell for row in resolved.alternatives if (cell := row.cells.get(name)) is not None]
        if any(cell.types is not None and set(spec.dialect.types) - set(cell.types) for cell in cells):
            yield aim_of("type", name, f"{name}.type")
        if any(cell.ranks is not None and _breakable(cell.ranks, resolved) for cell in cells):
            yield aim_of("rank", name, f"{name}.rank")
        if info.words is not None or any(cell.values is not None or cell.range is not None for cell in cells):
            yield aim_of("value", name, f"{name}.value")
        if info.fuses:
            yield aim_of("operator", name, f"{name}.operator")
        if not spec.dialect.may_omit(info):
            yield aim_of("required", name, f"{name}.required")
        if info.kind == "attribute":
            yield aim_of("wrong-kind", name, f"{name}.wrong-kind")
    for name in spec.fields:
        if name not in resolved.fields:
            yield aim_of("exists", name, f"{name}.exists")
    if not spec.table.unchecked_attributes:
        yield aim_of("unknown-attribute", "", "unknown-attribute")


def _requires_equal_types(form: RuleForm, resolved: Resolved) -> bool:
    """Return whether a rule requires equal types of single-type fields.

    Another type is then already rejected by the support row.
    """
    if not form.name.endswith(f".{SAME_TYPE}"):
        return False
    cells = [row.cells[name] for row in resolved.alternatives for name in form.fields if name in row.cells]
    return all(cell.types is not None for cell in cells) and len({kind for c in cells for kind in c.types or ()}) == 1


def _is_exhaustive(resolved: Resolved) -> bool:
    """Return whether the conditions cover every word of one attribute."""
    fields_read = {name for case in resolved.cases for name in case.when.fields}
    info = resolved.fields.get(next(iter(fields_read))) if len(fields_read) == 1 else None
    if info is None or info.words is None:
        return False
    contexts = [Context({info.name: word}, resolved.numbers) for word in info.words]
    return all(any(evaluate(case.when, context) is True for case in resolved.cases) for context in contexts)


def _breakable(ranks: Bounds, resolved: Resolved) -> bool:
    """Return whether some rank breaks the row but no shared rule."""
    hiding = [form for form in resolved.tensor_rules if "ranks" in form.hides and form.when is None]

    def is_hidden(rank: int) -> bool:
        context = Context({"tensor": TensorDesc(None, (1,) * rank)}, resolved.numbers)
        return any(evaluate(form.require, context) is False for form in hiding)

    return any(rank not in ranks and not is_hidden(rank) for rank in range(MAX_RANK + 1))


#: Maximum number of mutations per descriptor and finding.
_MAX_MUTATIONS: Final = 4
_NUMBERS: Final = (0, 1, 2, 3, 4, 5, 7, 8, 16, 100, -1, -2, -9)
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, 1e30)


def iterate_mutations(
    aim: TargetFinding, base: Descriptor, resolved: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    """Yield mutations of a valid descriptor that may cause the finding."""
    row = row_of(base, resolved)
    ways = {
        "type": _types, "rank": _ranks, "value": _values, "operator": _operators, "rule": _rule, "tensor": _tensor,
        "case": _cases,
    }  # fmt: skip
    for number, descriptor in enumerate(ways[aim.kind](aim, base, row if aim.kind != "case" else resolved, pick)):
        if number == _MAX_MUTATIONS:
            return
        yield descriptor


def _tensors_of(name: str, base: Descriptor) -> dict[str, TensorDesc]:
    """Return the tensors of one field by their position."""
    return {place: tensor for place, tensor in base.tensors() if place.partition("[")[0] == name}


def _types(
    aim: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    base = with_value(base, row.fields[aim.name], [row])
    cell = row.cells.get(aim.name)
    places = list(_tensors_of(aim.name, base))
    if cell is None or cell.types is None or not places:
        return
    unsupported_types = [kind for kind in row.spec.dialect.types if kind not in cell.types]
    place = pick_option(pick, places)
    for kind in rotate_options(pick, unsupported_types):
        yield retype_tensors(base, [place], kind)
        yield from (
            retype_tensors(base, group, kind) for group in linked_tensors(base, place, "type") if len(group) > 1
        )


def _ranks(
    aim: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    base = with_value(base, row.fields[aim.name], [row])
    cell = row.cells.get(aim.name)
    tensors = _tensors_of(aim.name, base)
    if cell is None or cell.ranks is None or not tensors:
        return
    place = pick_option(pick, list(tensors))
    own_rank = len(tensors[place].sizes or ())
    unsupported_ranks = [rank for rank in range(MAX_RANK + 1) if rank not in cell.ranks]
    for rank in rotate_options(pick, unsupported_ranks):
        yield from (add_dimensions(base, group, rank - own_rank) for group in linked_tensors(base, place, "rank"))


def _values(
    aim: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    base = with_value(base, row.fields[aim.name], [row])
    info, cell = row.fields[aim.name], row.cells.get(aim.name)
    legal_values = cell.values if cell is not None and cell.values is not None else info.words
    for value in rotate_options(pick, _candidates(info, row.spec.dialect)):
        is_legal = legal_values is None or value in legal_values
        if cell is not None and cell.range is not None and not isinstance(value, str):
            is_legal = is_legal and value in cell.range
        if is_legal:
            continue
        own_value: Any = base.fields.get(aim.name)
        if info.type.endswith("[]"):
            items = list(own_value) if isinstance(own_value, list | tuple) and own_value else [value]
            items[pick(0, len(items) - 1)] = value
            yield change_fields(base, row.spec, {aim.name: items})
        elif hasattr(own_value, "_fields"):
            yield change_fields(
                base, row.spec, {aim.name: own_value._replace(**{pick_option(pick, own_value._fields): value})}
            )
        else:
            yield change_fields(base, row.spec, {aim.name: value})


def _candidates(info: FieldInfo, tables: Dialect) -> list[Any]:
    base = base_type(info)
    if base.startswith("enum:"):  # numbers without a word, which builds can be asked about
        last = max(tables.numbers(base.removeprefix("enum:")).values(), default=0)
        return [last + 1, 2**31, 2**32 - 1, *(info.words or ()), "specgate", ""]
    is_integer_record = base in RECORDS and whole_numbers(RECORDS[base])
    if base == "float" or (base in RECORDS and not is_integer_record):
        return list(_FLOATS)
    if is_integer_record or base in {"uint", "int", "uint64", "int64", "scalar"}:
        numbers = [*_NUMBERS, *WILD]
        return [n for n in numbers if n >= 0 or not (is_integer_record or base in {"uint", "uint64"})]
    return [*(info.words or ()), "specgate", ""]


def _operators(
    aim: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    info = row.fields[aim.name]
    is_list = info.type.endswith("[]")
    supported_operators, unsupported_operators = (
        list(fused_operators(info, row)),
        list(fused_operators(info, row, outside_set=True)),
    )
    damaged = [descriptor for operator in supported_operators for descriptor in _iterate_invalid_fused(operator, row)]
    for value in rotate_options(pick, unsupported_operators[:_MAX_MUTATIONS] + damaged):
        own_value = base.fields.get(aim.name)
        items = [*own_value[:-1], value] if is_list and own_value else [value]
        yield change_fields(base, row.spec, {aim.name: items if is_list else value})


def _iterate_invalid_fused(operator: Descriptor, row: Resolved) -> Iterator[Descriptor]:
    """Yield invalid operators to fuse.

    They have an extra tensor, or lack a required attribute.
    """
    spec = row.spec.dialect.operator(operator.operator)
    name = next((info.name for info in spec.inputs), None)
    if name is not None:
        tensor = TensorDesc(next(iter(spec.dialect.types)), (1, 1, 1, 1))
        yield change_fields(operator, spec, {name: tensor})
    required = next((info.name for info in spec.attributes if not info.optional and info.default is None), None)
    if required is not None and required in operator.fields:
        yield change_fields(operator, spec, {required: None})


def _cases(
    _: TargetFinding, base: Descriptor, resolved: Resolved, pick: Callable[[int, int], int]
) -> Iterator[Descriptor]:
    """Change the fields in the conditions of rows until no row applies."""
    names = sorted({name for case in resolved.cases for name in case.when.fields})
    name = pick_option(pick, names)
    info = resolved.fields.get(name)
    if info is None:
        return
    if info.tensor:
        for place in _tensors_of(name, base):
            for kind in rotate_options(pick, list(resolved.spec.dialect.types)):
                yield from (retype_tensors(base, group, kind) for group in linked_tensors(base, place, "type"))
        return
    candidates = [] if info.type == "bool" else _candidates(info, resolved.spec.dialect)
    for value in rotate_options(pick, [*candidates, True, False]):
        yield change_fields(base, resolved.spec, {name: value})


def _rule(aim: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Change what the rule reads: sizes, numbers, types, presence."""
    forms = [form for form in row.rules if form.name == aim.name]
    if not forms:
        return
    form = pick_option(pick, forms)
    names = [name for name in sorted(form.fields) if name in row.fields]
    mover = Mutator(row.spec, pick, [0, 1, 2, 3], [base])
    for _ in range(_MAX_MUTATIONS):
        name = pick_option(pick, names) if names else ""
        descriptor = with_value(base, row.fields[name], [row]) if pick(0, 1) and names else base
        yield _mutate_field(descriptor, row, name, mover, pick)


def _mutate_field(
    base: Descriptor, row: Resolved, name: str, mover: Mutator, pick: Callable[[int, int], int]
) -> Descriptor:
    """Return the descriptor with one field mutated."""
    tensors = _tensors_of(name, base)
    if not tensors:
        return mover.change_value(base, name) if base.fields.get(name) is not None else base
    place = pick_option(pick, list(tensors))
    tensor = tensors[place]
    sizes = tensor.sizes or ()
    choice = pick(0, 5)
    if choice <= 2 and sizes:
        axis = pick(0, len(sizes) - 1)
        size = pick_option(pick, [1, 2, 3, 5, 0, sizes[axis] + 1, *WILD])  # type: ignore[operator]
        return replace_tensors(base, {place: resize_dimension(tensor, axis, size)})
    if choice == 3:
        cell = row.cells.get(name)
        kinds = cell.types if cell is not None and cell.types is not None else tuple(row.spec.dialect.types)
        return retype_tensors(base, [place], pick_option(pick, kinds))
    if choice == 4:
        return add_dimensions(base, [place], pick_option(pick, [1, -1]))
    if tensor.value:
        return mover.change_value(base, place)
    return change_fields(base, row.spec, {name: None})


def _tensor(_: TargetFinding, base: Descriptor, row: Resolved, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Change the layout or sizes of a tensor to an invalid value."""
    mover = Mutator(row.spec, pick, [0, 1, 2, 3, *WILD], [base])
    tensors = dict(base.tensors())
    for _turn in range(_MAX_MUTATIONS):
        place = pick_option(pick, list(tensors))
        tensor = tensors[place]
        sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        choice = pick(0, 4)
        if choice == 0 and sizes:
            axis = pick(0, len(sizes) - 1)
            yield replace_tensors(base, {place: resize_dimension(tensor, axis, pick_option(pick, WILD))})
        elif choice == 1:
            strides = pick_option(
                pick, [(), (1,), (1,) * (len(sizes) + 1), (0,) * len(sizes), (2**32 - 1,) * len(sizes)]
            )
            yield replace_tensors(base, {place: tensor._replace(strides=strides)})
        elif choice == 2:
            yield add_dimensions(base, [place], pick_option(pick, [-len(sizes), MAX_RANK - len(sizes)]))
        else:
            yield replace_tensors(base, {place: mover.laid_out(mover.laid_out(tensor))})


#: A value that no attribute can hold, not even one that holds a tensor or a graph.
_INVALID_VALUE: Final = {"specgate": 0}
#: The number of random mutations while some finding has no descriptor, and of attempts per finding before them.
_EXPLORED: Final = 300
_MAX_ATTEMPTS: Final = 60
#: The number of these for a finding that only has descriptors with further findings, of cells and of rules.
_EXTRA_ATTEMPTS: Final = (6, 15)
_STRUCTURAL: Final = 4
#: Maximum number of descriptors stored per finding.
_MAX_STORED: Final = 8
#: Maximum number of steps per draw.
_STEPS: Final = 3
_CELLS: Final = frozenset({"type", "rank", "value", "operator"})
_ASPECTS: Final = {"tensor": "rule", "case": "rule", "operator": "value"}


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A descriptor with one error.

    breaks: the id of the finding, such as ``directml/ONE_HOT/axis-range`` or ``directml/ONE_HOT/IndicesTensor.type``.
    how: a description of the finding. findings: all ids. There are others than `breaks` only where fields must agree,
    so that an unsupported type is unsupported in each of them, or where a rule repeats the support row of the field.
    """

    descriptor: Descriptor
    breaks: str
    how: str
    findings: frozenset[str] = field(default_factory=frozenset)


class BrokenDescriptors:
    """Draws near-valid descriptors of one operator at one level."""

    def __init__(self, spec: OperatorSpec, resolved: Resolved) -> None:
        self.spec = spec
        self.resolved = resolved
        self.aims = {aim.id: aim for aim in iterate_aims(spec, resolved)}
        self.valid = valid_descriptors(spec, resolved.level, proven=False)
        #: For each finding and grade (see `_grade`), the descriptors that have it.
        self._by_rule: dict[str, dict[int, list[NearMiss]]] = {}
        if self.valid.descriptors:
            self._explore(Random(f"{spec.name} broken").randint)  # noqa: S311  # repeatable on purpose

    def reachable(self, finding_id: str) -> bool:
        """Return whether a descriptor with only this finding was found."""
        return bool(self._by_rule.get(finding_id))

    @property
    def ids(self) -> list[str]:
        """The ids of the findings that can be triggered."""
        return [finding_id for finding_id in self.aims if self.reachable(finding_id)]

    def draw(self, finding_id: str, pick: Callable[[int, int], int]) -> NearMiss | None:
        """Return a descriptor with the finding `finding_id`; None if unknown."""
        if not self.reachable(finding_id):
            return None
        aim = self.aims[finding_id]
        best_grade = min(self._by_rule[finding_id])
        miss = pick_option(pick, self._by_rule[finding_id][best_grade])
        if aim.kind in STRUCTURE:
            fresh = self._structure(aim, self.valid.draw(pick), pick)
            return (None if fresh is None else self._near_miss(aim, fresh, best_grade)) or miss
        if aim.kind in _CELLS and pick(0, 1):
            base = self.valid.draw(pick)
            attempt = next(iterate_mutations(aim, base, self.resolved, pick), None)
            return (None if attempt is None else self._near_miss(aim, attempt, best_grade)) or miss
        mover = self._mover(pick)
        for _ in range(pick(0, _STEPS)):
            mutated = mover.mutate_descriptor(miss.descriptor, 1)
            if mutated is not miss.descriptor and self.valid.small(mutated) >= self.valid.small(miss.descriptor):
                miss = self._near_miss(aim, mutated, best_grade) or miss
        return miss

    def _mover(self, pick: Callable[[int, int], int]) -> Mutator:
        return Mutator(self.spec, pick, self.valid.numbers, self.valid.descriptors, self.valid.types)

    def _explore(self, pick: Callable[[int, int], int]) -> None:
        for descriptor in counterexamples_at(self.spec, self.resolved.level):
            self._store_descriptor(make_concrete(descriptor))
        for aim in self.aims.values():
            for attempt in range(_STRUCTURAL if aim.kind in STRUCTURE else _MAX_ATTEMPTS):
                grades = self._by_rule.get(aim.id, ())
                if 0 in grades or (grades and attempt >= _EXTRA_ATTEMPTS[aim.kind not in _CELLS]):
                    break
                base = pick_option(pick, self.valid.descriptors)
                if aim.kind in STRUCTURE:
                    damaged = self._structure(aim, base, pick)
                    self._keep(aim, [] if damaged is None else [damaged])
                else:
                    self._keep(aim, iterate_mutations(aim, base, self.resolved, pick))
        self._explore_at_random(pick)

    def _explore_at_random(self, pick: Callable[[int, int], int]) -> None:
        """Mutate valid descriptors randomly to cover missing findings.

        Stops when every finding has a descriptor and every rule has one with no other finding.
        """
        wild = Mutator(self.spec, pick, self.valid.numbers, self.valid.descriptors)
        remaining_aims = [aim for aim in self.aims.values() if aim.kind not in STRUCTURE]
        for _ in range(_EXPLORED):
            if all(map(self._is_shown, remaining_aims)):
                return
            self._store_descriptor(wild.mutate_descriptor(pick_option(pick, self.valid.descriptors), 1))

    def _is_shown(self, aim: TargetFinding) -> bool:
        grades = self._by_rule.get(aim.id, {})
        return bool(grades) if aim.kind in _CELLS else 0 in grades

    def _store_descriptor(self, descriptor: Descriptor) -> None:
        """Store a descriptor under its finding if it has exactly one."""
        if accepts(descriptor, self.resolved.level, "documented") is not False:
            return
        failures = explain_at(descriptor, self.resolved)
        ids = {self._id(failure) for failure in failures}
        if len(ids) == 1 and not any(failure.unknown for failure in failures):
            (only_id,) = ids
            if only_id in self.aims:
                self._add(self.aims[only_id], descriptor, failures, 0)

    def _keep(self, aim: TargetFinding, attempts: Iterable[Descriptor]) -> None:
        for descriptor in attempts:
            failures, miss_grade = self._failures_and_grade(aim, descriptor)
            if miss_grade is not None:
                self._add(aim, descriptor, failures, miss_grade)
                if miss_grade == 0:
                    return

    def _add(self, aim: TargetFinding, descriptor: Descriptor, failures: list[Failure], miss_grade: int) -> None:
        kept_misses = self._by_rule.setdefault(aim.id, {}).setdefault(miss_grade, [])
        if len(kept_misses) < _MAX_STORED:
            kept_misses.append(self._make_near_miss(aim, descriptor, failures))

    def _near_miss(self, aim: TargetFinding, descriptor: Descriptor, miss_grade: int) -> NearMiss | None:
        """Return the descriptor with its findings.

        None if the expected finding is missing, or if the grade is above `miss_grade`.
        """
        failures, number = self._failures_and_grade(aim, descriptor)
        return self._make_near_miss(aim, descriptor, failures) if number is not None and number <= miss_grade else None

    def _failures_and_grade(self, aim: TargetFinding, descriptor: Descriptor) -> tuple[list[Failure], int | None]:
        """Return the failures and their grade.

        The grade is None if the expected finding is missing.
        """
        if aim.kind not in STRUCTURE and accepts(descriptor, self.resolved.level, "documented") is not False:
            return [], None
        failures = explain_at(descriptor, self.resolved)
        return failures, self._grade_of(aim, failures)

    def _make_near_miss(self, aim: TargetFinding, descriptor: Descriptor, failures: list[Failure]) -> NearMiss:
        certain_failures = [failure for failure in failures if not failure.unknown]
        messages = "; ".join(dict.fromkeys(failure.message for failure in certain_failures))
        return NearMiss(descriptor, aim.id, messages, frozenset(self._id(failure) for failure in certain_failures))

    def _grade_of(self, aim: TargetFinding, failures: list[Failure]) -> int | None:
        """Return a grade for the additional failures.

        0: none. 1: the same aspect of other fields. 2: also rules about it. None: other failures, or the expected
        finding is missing.
        """
        certain_failures = [failure for failure in failures if not failure.unknown]
        other_failures = [failure for failure in certain_failures if self._id(failure) != aim.id]
        if len(other_failures) == len(certain_failures):
            return None
        if aim.kind in STRUCTURE:
            return 0 if all(failure.aspect == "structure" for failure in other_failures) else None
        if len(failures) > len(certain_failures):
            return None
        if not other_failures:
            return 0
        aspect = _ASPECTS.get(aim.kind, aim.kind)
        if aim.kind in {"rule", "case"}:
            return None
        if all(failure.aspect == aspect for failure in other_failures):
            return 1
        related_rules = {form.name for form in self.resolved.rules if aim.name in form.fields}
        related_rules |= {
            form.name for case in self.resolved.cases for form in case.resolved.rules if aim.name in form.fields
        }
        return (
            2 if all(failure.aspect == aspect or failure.rule in related_rules for failure in other_failures) else None
        )

    def _id(self, failure: Failure) -> str:
        return rule_id(self.spec.dialect.name, self.spec.name, failure.rule, failure.scope)

    def _structure(self, aim: TargetFinding, valid: Descriptor, pick: Callable[[int, int], int]) -> Descriptor | None:
        """Remove a part of a valid descriptor, or add an unknown part."""
        if aim.kind == "exists":
            info = self.spec.fields[aim.name]
            value: Any = pick_option(pick, info.words) if info.words else info.default
            return None if value is None else replace(valid, fields={**valid.fields, aim.name: value}, plain=False)
        if aim.kind == "unknown-attribute":
            return _add_oddity(valid, Malformed("unknown-attribute", f"unknown_{pick(0, 9)}", "", pick(0, 9)))
        rest = {name: value for name, value in valid.fields.items() if name != aim.name}
        reduced = replace(valid, fields=rest, plain=False)
        return (
            reduced
            if aim.kind == "required"
            else _add_oddity(reduced, Malformed("wrong-kind", aim.name, "", _INVALID_VALUE))
        )


def _add_oddity(descriptor: Descriptor, oddity: Malformed) -> Descriptor | None:
    """Return a descriptor with an oddity that the dialect's reader reports.

    None if the dialect cannot express it.
    """
    try:
        new_descriptor = read_dict(write_dict(replace(descriptor, oddities=(oddity,), plain=False)), descriptor.dialect)
    except Error:
        return None
    if descriptor.layout is not None:
        new_descriptor = reordered_for(
            new_descriptor, tables(new_descriptor.dialect).operator(new_descriptor.operator), descriptor.layout
        )
    return new_descriptor if new_descriptor.oddities else None


_broken: WeakKeyDictionary[OperatorSpec, dict[str, BrokenDescriptors]] = WeakKeyDictionary()


def broken_descriptors(spec: OperatorSpec, level: str) -> BrokenDescriptors:
    """Return the cached generator of near-valid descriptors of `spec`."""
    cached_descriptors = _broken.setdefault(spec, {})
    if level not in cached_descriptors:
        resolved = spec.resolve(level)
        if resolved is None:
            raise ValueError(f"{spec.name} does not exist at {level}")
        cached_descriptors[level] = BrokenDescriptors(spec, resolved)
    return cached_descriptors[level]
