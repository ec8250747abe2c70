"""The benchmark of the DirectML tables measures new processes and all operators."""

from __future__ import annotations

import pytest

from tests.benchmarks import directml_groups
from tests.benchmarks.peers import fresh
from tests.benchmarks.timing import Contender, Group, measure

pytestmark = pytest.mark.slow


def test_only_the_timed_line_counts() -> None:
    group = Group("sleeping", [fresh("short", "time.sleep(0.01)", "time.sleep(0.3)")])
    measure(group, 3)
    (sleeper,) = group.contenders
    assert len(sleeper.seconds) == 3
    assert min(sleeper.seconds) >= 0.01


def test_reported_times_of_a_contender_are_used() -> None:
    contender = Contender("clock", lambda: 42.0, reports=True)
    measure(Group("clocks", [contender]), 2)
    assert contender.seconds == [42.0, 42.0]


def test_every_operator_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directml_groups, "CHANGES", 1)
    group = directml_groups._checking()
    assert "of all 177 operators" in group.title
    accepted = next(c for c in group.contenders if c.name == "specgate.check, accepted")
    assert accepted.call is not None
    assert 0 < float(str(accepted.call())) < 1


@pytest.mark.parametrize("make", [directml_groups._first, directml_groups._loading])
def test_fresh_processes_answer(make) -> None:
    for contender in make().contenders:
        assert contender.call is not None
        assert float(str(contender.call())) > 0
