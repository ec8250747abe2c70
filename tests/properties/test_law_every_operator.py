"""The law for every operator with a kernel, over random descriptors.

A few examples per operator in the default run: the table's own with changes. With HYPOTHESIS_PROFILE=nightly hundreds,
and the results of a search over the table. A failure shows the smallest descriptor as a `specgate check` line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.execution import engine
from specgate.execution.kernels import find_kernel
from specgate.generate.moves import Mutator
from specgate.generate.seeds import examples_at, make_concrete
from specgate.testing import descriptors, near_valid, reproducing
from tests.properties.campaign import execute_all, executed_cases_of, executed_operators
from tests.properties.law import ask, with_arrays
from tests.properties.support import ALL, spec_of

if TYPE_CHECKING:
    from random import Random

    from specgate.descriptors.core import Descriptor
    from specgate.testing import Case

EXAMPLES: Final = 300 if ALL else 5
SIZES: Final = (0, 1, 2, 3, 4, 5, 8, 9, 2**31, 2**32 - 1)
FEW: Final = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


def changed_example(case: Case, random: Random) -> Descriptor:
    """Return an example of the table at a level, with up to four changes."""
    spec = spec_of(case)
    shown = [make_concrete(descriptor) for descriptor in examples_at(spec, case.level)]
    assume(shown)
    mover = Mutator(spec, random.randint, list(SIZES), shown)
    return mover.mutate_descriptor(random.choice(shown), random.randint(0, 4))


def draw_descriptor(case: Case, data: st.DataObject, random: Random) -> Descriptor:
    """Return an example with changes; in long runs also results of a search."""
    kind = data.draw(st.integers(0, 2)) if ALL else 0
    if kind == 1:
        return data.draw(descriptors(*case))
    return data.draw(near_valid(*case)).descriptor if kind else changed_example(case, random)


def check_law(cases: list[Case], data: st.DataObject) -> None:
    """Check one drawn descriptor at a drawn level against the law."""
    case = data.draw(st.sampled_from(cases))
    random = data.draw(st.randoms(use_true_random=False))
    descriptor = draw_descriptor(case, data, random)
    for questions, arrays in with_arrays(spec_of(case), case.level, [descriptor], random):
        with reproducing(questions, case.target):
            answer = ask(spec_of(case), questions, arrays, case.level)
            note(f"{answer.kind}: {answer.why}")
            assert not answer.violation, answer


@pytest.mark.parametrize(("name", "operator"), executed_operators())
@FEW
@given(data=st.data())
def test_verdict_and_executor_agree(name: str, operator: str, data: st.DataObject) -> None:
    check_law(executed_cases_of(name, operator), data)


@pytest.mark.slow
def test_a_rejecting_kernel_is_detected_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = find_kernel("absolute")

    def refuses(x, **arguments):
        if x.ndim == 4:
            raise InputError("never")
        return absolute(x, **arguments)

    monkeypatch.setattr(engine, "find_kernel", lambda _: refuses)
    searching = settings(FEW, max_examples=60, derandomize=True)(
        given(data=st.data())(lambda data: check_law(execute_all(["directml/ELEMENT_WISE_ABS"]), data))
    )
    with pytest.raises(AssertionError) as failed:
        searching()
    assert "specgate check '{" in "\n".join(failed.value.__notes__)
