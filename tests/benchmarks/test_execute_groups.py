"""The benchmark of kernels continues if a peer cannot execute a node."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from tests.benchmarks import execute_cases, execute_groups, groups
from tests.benchmarks.timing import Contender, Group, measure


@pytest.mark.slow
def test_each_node_is_timed_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(case for case in execute_cases.CASES if case.operator in {"Add", "NonMaxSuppression", "GatherElements"})
    assert len(few) == 3
    monkeypatch.setattr(execute_groups, "CASES", few)
    result = list(execute_groups.execute_groups())
    for group in result:
        group.least_seconds = 0.0
        measure(group, 1)
        group.remarks()
    assert [group.title for group in result] == [*(case.operator for case in few), "3 nodes"]
    assert all(group.contenders[0].typical for group in result[:-1])


def test_the_group_execute_has_the_nodes() -> None:
    titles = groups.GROUPS["execute"]()
    assert "one-hot" in next(iter(titles)).title
    assert next(iter(titles)).title == execute_cases.CASES[0].operator


def test_a_peer_that_fails_at_its_node_is_missing() -> None:
    def fails() -> object:
        raise ValueError("no such thing")

    contender = execute_groups._able(Contender("peer", fails), [])
    assert contender.call is None
    assert "ValueError" in contender.missing
    works = Contender("peer", lambda: None)
    assert execute_groups._able(works, []) is works


def test_slow_peer_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    current = iter([1.0, 4.0])
    monkeypatch.setattr(execute_groups, "perf_counter", lambda: next(current))
    calls: list[int] = []
    messages: list[tuple[str, str]] = []
    contender = execute_groups._able(Contender("peer", lambda: calls.append(1)), messages)
    measure(Group("", [contender]), 5)
    assert (calls, contender.seconds, contender.typical) == ([1], [3.0], 3.0)
    assert messages == [("peer", "called once, as it takes more than 1 s")]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signal ends a call on this system")
def test_peer_is_stopped_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute_groups, "GIVEN_UP", 1)
    result = execute_groups._able(Contender("peer", lambda: [None for _ in iter(int, 1)]), [])
    assert (result.call, result.seconds, result.missing) == (None, [], "given up after 1 s")


@pytest.mark.parametrize(("operator", "views"), [("Transpose", True), ("Abs", False)])
def test_reference_views_are_copied(operator: str, views: bool) -> None:
    pytest.importorskip("onnx")
    case = next(case for case in execute_cases.CASES if case.operator == operator)
    arrays = execute_cases.arrays_of(case)
    message: list[tuple[str, str]] = []
    run: Any = execute_groups._reference(execute_groups._model(case, arrays), arrays, message)
    (result,) = run()
    assert not np.may_share_memory(result, arrays["x0"])
    assert result.flags.c_contiguous
    assert bool(message) == views


def test_slow_contender_runs_fewer_rounds() -> None:
    current = iter(np.arange(0, 1000, 2.0))
    group = Group("", [Contender("slow", lambda: None, own=True)], 0.0, clock=lambda: next(current), most_seconds=5.0)
    measure(group, 9)
    assert len(group.contenders[0].seconds) == 3
