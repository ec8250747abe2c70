"""The benchmark of columns: its rows are accepted ones, and differ within their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.bench import many_groups

if TYPE_CHECKING:
    import pytest


def test_every_contender_reports_one_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_groups, "CHANGES", 60)
    monkeypatch.setattr(many_groups, "ROWS", 500)
    groups = list(many_groups.many_groups())
    assert [group.title.split()[5] for group in groups] == ["ONE_HOT,", "GEMM,", "CONVOLUTION,"]
    for contender in groups[0].contenders:
        assert contender.call is not None
        assert 0 < float(str(contender.call())) < 1


def test_rows_are_alike_and_not_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_groups, "CHANGES", 200)
    rows = many_groups.alike_of("ONE_HOT")
    assert len({str(made.fields) for made in rows}) > 5
    assert len({tuple(made.fields) for made in rows}) == 1
