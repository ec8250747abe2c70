"""Examples and counterexamples of the tables: read, changed in one place, judged."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from specgate.descriptors.read import read_dict
from specgate.errors import Error
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["changed", "counterexample", "example_problems", "levels_of_example"]


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy of `data` with dotted paths (``desc.Axis``, ``inputs.1.shape``) set to new values."""
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
    """Return the levels at which an example must be accepted: from `since` (or the first row) on, before `until`."""
    own = example["descriptor"].get("opset", example["descriptor"].get("version"))
    first = example.get("since") or (str(own) if own is not None else spec.rows[0])
    return [level for level in spec.levels if spec.dialect.holds(level, first, example.get("until"))]


def counterexample(spec: OperatorSpec, entry: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a counterexample's dict and the level to judge it at."""
    example = spec.table.examples[entry["of"]]
    level = entry.get("at") or list(spec.levels)[-1]
    return changed(example["descriptor"], entry["set"]), level


def example_problems(spec: OperatorSpec) -> Iterator[str]:
    """Yield one line per example that is not accepted where it must be, or counterexample that fails otherwise."""
    for name, example in spec.table.examples.items():
        try:
            descriptor = read_dict(example["descriptor"], spec.dialect.name)
            for level in levels_of_example(spec, example):
                verdict = check_at(descriptor, level, "documented")
                if not verdict.accepted:
                    found = ", ".join(f.id for f in verdict.findings or verdict.undecided)
                    yield f"examples.{name} is {verdict.word} at {level}: {found}"
        except (Error, LookupError) as error:
            yield f"examples.{name}: {error}"
    entries = [(n, e, spec.name) for n, e in spec.table.counterexamples.items()]
    tensor = spec.dialect.tables.tensor.counterexamples
    entries += [(n, e, "tensor") for n, e in tensor.items() if e.get("operator") == spec.name]
    for name, entry, owner in entries:
        wanted = f"{spec.dialect.name}/{owner}/{name}"
        try:
            data, level = counterexample(spec, entry)
            verdict = check_at(read_dict(data, spec.dialect.name), level, "documented")
        except (Error, LookupError, ValueError, TypeError, AttributeError) as error:  # a path that leads nowhere
            yield f"counterexamples.{name}: {error}"
            continue
        found_ids = sorted({f.id for f in verdict.findings})
        if found_ids != [wanted]:
            shown = ", ".join(found_ids) or "nothing"
            yield f"counterexamples.{name}: expected {wanted} alone at {level}, found {shown}"
