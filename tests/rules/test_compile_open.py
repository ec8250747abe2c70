"""The compiled three-valued checks say what the explaining path says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, Symbol, TensorDesc
from specgate.descriptors.read import read_dict
from specgate.spec.tables import dialect
from specgate.validate.explain import explain_at
from specgate.validate.openly import open_check
from tests.rules.test_engines import descriptors, made, masked, truths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.forms import Resolved


def explained(descriptor: Descriptor, resolved: Resolved) -> Any:
    failures = explain_at(descriptor, resolved, bare=True)
    return False if any(not failure.unknown for failure in failures) else UNKNOWN if failures else True


@given(truths(), descriptors(), st.lists(st.booleans(), min_size=9, max_size=9), st.booleans())
@settings(max_examples=300, deadline=None)
def test_random_rules(rule: str, values: dict[str, Any], hidden: list[bool], rank_too: bool) -> None:
    resolved = made(rule)
    if resolved is None:
        return
    less = {n: masked(v, hidden["ABC".find(n) * 3 :] if n in "ABC" else hidden) for n, v in values.items()}
    if rank_too:
        less["B"] = less["B"]._replace(sizes=None)
        less["Back"] = UNKNOWN
    found = open_check(resolved)(less)
    if "Fused" in values:
        assert found is None
    elif found is not None:
        assert found is explained(Descriptor("scratch", "X", less), resolved)


def less_known(made: Descriptor) -> Iterator[Descriptor]:
    """Yield a descriptor, and it with one thing less known, and with all sizes unknown or symbols."""
    yield made
    spec, every = dialect(made.dialect).operator(made.operator), {}
    outputs = {name for name, info in spec.fields.items() if info.kind == "output" and spec.dialect.infers_outputs}
    for field, value in made.fields.items():
        if isinstance(value, TensorDesc) and value.sizes is not None:
            count = len(value.sizes)
            sizes = [None, (None,) * count, (Symbol("N"), *value.sizes[1:]) if count else ()]
            others: list[Any] = [value._replace(sizes=one, strides=None) for one in sizes]
            others += [value._replace(type=None), value._replace(value=None)]
            every[field] = value._replace(sizes=(Symbol("N"),) * count, strides=None)
        elif isinstance(value, list) and value and isinstance(value[0], TensorDesc):
            others = [[one._replace(sizes=None, strides=None) for one in value]]
        else:
            others = [UNKNOWN, None]
        if field in outputs:
            others.append(UNSTATED)
        yield from (replace(made, fields={**made.fields, field: one}, plain=False) for one in others)
    yield replace(made, fields={**made.fields, **every}, plain=False)


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_every_table(name: str) -> None:
    """Every example, less and less of it known, at the first and the last level, on both sides."""
    table = dialect(name)
    counts = {True: 0, False: 0, UNKNOWN: 0, None: 0}
    for operator in table.operators:
        spec = table.operator(operator)
        levels = list(spec.levels)
        said = [spec.resolve(levels[0], "documented"), spec.resolve(levels[-1], "observed")]
        checks = [(one, open_check(one)) for one in said if one is not None and not one.cases]
        for example in list(spec.table.examples.values())[:2]:
            for descriptor in less_known(read_dict(example["descriptor"], name)):
                if descriptor.oddities:
                    continue
                for resolved, check in checks:
                    found = check(descriptor.fields)
                    counts[found] += 1
                    if found is not None:
                        assert found is explained(descriptor, resolved), (operator, resolved.level, descriptor)
    assert min(counts[True], counts[False], counts[UNKNOWN]) > 100
    assert counts[None] < sum(counts.values()) / 10, counts  # left to the explaining path
