"""Check the examples and counterexamples of the tables."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict
from specgate.errors import Error
from specgate.validate.check import check_at
from specgate.validate.facts import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["changed", "counterexample", "example_problems", "levels_of_example", "unshown_parts"]


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of `data` with new values at dotted paths.

    Paths are spelled ``desc.Axis`` or ``inputs.1.shape``.
    """
    result: dict[str, Any] = copy.deepcopy(dict(data))
    for path, value in changes.items():
        *way, last = path.split(".")
        at: Any = result
        for key in way:
            at = at[int(key)] if isinstance(at, list) else at.setdefault(key, {})
        if isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value
    return result


def levels_of_example(spec: OperatorSpec, example: Mapping[str, Any]) -> list[str]:
    """Return the levels at which an example must be accepted.

    They begin at `since` (or the first row) and end before `until`.
    """
    own = example["descriptor"].get("opset", example["descriptor"].get("version"))
    first = example.get("since") or (str(own) if own is not None else spec.rows[0])
    return [level for level in spec.levels if spec.dialect.holds(level, first, example.get("until"))]


def counterexample(spec: OperatorSpec, entry: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a counterexample's dict and the level to check it at."""
    example = spec.table.examples[entry["of"]]
    level = entry.get("at") or list(spec.levels)[-1]
    return changed(example["descriptor"], entry["set"]), level


def example_problems(spec: OperatorSpec) -> Iterator[str]:
    """Yield one line per failing example or counterexample.

    Examples must be accepted, and counterexamples must fail by their rule alone.
    """
    for name, example in spec.table.examples.items():
        try:
            descriptor = read_dict(example["descriptor"], spec.dialect.name)
            for level in levels_of_example(spec, example):
                verdict = check_at(descriptor, level, "documented")
                if not verdict.accepted:
                    text = ", ".join(f.id for f in verdict.findings or verdict.undecided)
                    yield f"examples.{name} is {verdict.word} at {level}: {text}"
        except (Error, LookupError) as error:
            yield f"examples.{name}: {error}"
    entries = [(n, e, spec.name) for n, e in spec.table.counterexamples.items()]
    tensor = spec.dialect.tables.tensor.counterexamples
    entries += [(n, e, "tensor") for n, e in tensor.items() if e.get("operator") == spec.name]
    for name, entry, owner in entries:
        result = f"{spec.dialect.name}/{owner}/{name}"
        try:
            data, level = counterexample(spec, entry)
            verdict = check_at(read_dict(data, spec.dialect.name), level, "documented")
        except (Error, LookupError, ValueError, TypeError, AttributeError) as error:  # an invalid path
            yield f"counterexamples.{name}: {error}"
            continue
        found_ids = sorted({f.id for f in verdict.findings})
        if found_ids != [result]:
            shown = ", ".join(found_ids) or "nothing"
            yield f"counterexamples.{name}: expected only {result} at {level}, found {shown}"


def unshown_parts(spec: OperatorSpec) -> Iterator[str]:
    """Yield one line per part of the table that the examples do not cover.

    Parts are support rows, and the presence and absence of optional tensors.
    """
    shown = [each for example in spec.table.examples.values() for each in _stretches(spec, example)]
    if not shown:
        return
    rows = {row for level, descriptor in shown for row in _rows(spec, level, descriptor)}
    for index, (when, stated) in enumerate(spec.support):
        names = {spec.row_at(level, stated) for level in spec.levels}
        place = "support." if when is None else f"support.{index}."
        yield from (f"{place}{row} has no example" for row in stated if row in names and (index, row) not in rows)
    for name, info in spec.fields.items():
        if info.kind == "attribute" or not any(form.optional for form in info.forms or (info,)):
            continue
        fields = [(spec.field_at(name, level), descriptor.fields.get(name)) for level, descriptor in shown]
        if all(value is None for _, value in fields):
            yield f"fields.{name}: no example has it"
        if all(value is not None for field, value in fields if field is not None and field.optional):
            yield f"fields.{name}: no example omits it"


def _stretches(spec: OperatorSpec, example: Mapping[str, Any]) -> Iterator[tuple[str, Descriptor]]:
    """Yield an example as read at a level of each row and layout.

    Unreadable examples yield nothing.
    """
    try:
        descriptor = read_dict(example["descriptor"], spec.dialect.name)
        levels = {(spec.row_at(n), *_layout(spec, n)): n for n in levels_of_example(spec, example)}
        yield from ((level, reordered_for(descriptor, spec, level)) for level in levels.values())
    except (Error, LookupError):  # `example_problems` reports the error
        return


def _layout(spec: OperatorSpec, level: str) -> Iterator[int]:
    """Yield the properties in which fields differ between levels."""
    yield from map(id, spec.fields_at(level).values()) if spec.varies else ()


def _rows(spec: OperatorSpec, level: str, descriptor: Descriptor) -> Iterator[tuple[int, str]]:
    """Yield the row that applies to a descriptor, with its case number."""
    resolved = spec.resolve(level)
    context = Facts().context(descriptor, resolved) if resolved is not None and spec.whens else None
    for index, (_, stated) in enumerate(spec.support):
        row = spec.row_at(level, stated)
        if row is not None and (context is None or Facts().holds(spec.whens[index], context) is True):
            yield index, row
