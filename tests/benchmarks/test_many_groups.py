"""The benchmark of columns: rows are accepted and differ within columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks import many_groups

if TYPE_CHECKING:
    import pytest


def test_every_contender_reports_one_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_groups, "CHANGES", 60)
    monkeypatch.setattr(many_groups, "ROWS", 500)
    titles = []
    for group in many_groups.many_groups():
        titles.append(group.title.split()[5])
        *own, build = group.contenders
        assert len(own) == 2
        for contender in [*own, build] if build.call else own:  # the build can be queried while the group exists
            assert contender.call is not None
            assert 0 < float(str(contender.call())) < 1
        assert build.call or "not installed" in build.missing
    assert titles == ["ONE_HOT,", "GEMM,", "CONVOLUTION,"]


def test_rows_differ_only_in_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_groups, "CHANGES", 200)
    rows = many_groups.alike_of("ONE_HOT")
    assert len({str(descriptor.fields) for descriptor in rows}) > 5
    assert len({tuple(descriptor.fields) for descriptor in rows}) == 1
