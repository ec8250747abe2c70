from dataclasses import replace

import pytest

from specgate.conform import campaign
from specgate.conform.campaign import Plan, run
from specgate.descriptors.read import read_dict
from specgate.errors import Error, InputError
from specgate.oracles.protocol import Reply
from specgate.validate.check import check_at
from tests.conform.fakes import Fake, backend, put_in_place, refuses_type


@pytest.fixture
def asked(monkeypatch):
    """Replace the installed implementations by a fake; return the replacing function."""
    opened = []

    def choose(make):
        def opening(dialect, level):
            opened.append(make(dialect, level))
            return opened[-1]

        put_in_place(monkeypatch, opening)
        return opened

    yield choose
    campaign.close_oracles()


def test_implementation_equal_to_the_tables_has_no_differences(asked):
    opened = asked(Fake)
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("2.1", "6.4"), cases=150))
    assert [t.level for t in result.tallies] == ["2.1", "6.4"]
    assert all(145 <= t.cases <= 150 and t.observed == t.cases for t in result.tallies)
    assert result.unexplained == 0
    assert {d.kind for d in result.differences} <= {"recorded", "bug"}
    assert any(d.kind == "recorded" and d.level == "2.1" for d in result.differences)
    assert all(oracle.closed for oracle in opened)


@pytest.mark.slow
def test_each_operator_is_checked_at_the_first_level_of_each_row(asked):
    asked(Fake)
    plan = Plan("directml", operators=("ONE_HOT",), cases=20, versions=True)
    assert [t.level for t in run(plan).tallies] == ["2.0", "2.1", "3.0", "4.1"]
    assert plan.command.endswith("--versions --cases 20 --seed 0")


def test_difference_class_keeps_its_smallest_descriptor(asked):
    asked(lambda name, level: Fake(name, level, refuses_type("ValuesTensor", "INT16")))
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("3.0",), cases=300))
    unexplained = [d for d in result.differences if d.kind == "unexplained"]
    assert [(d.findings, d.theirs, d.detail) for d in unexplained] == [((), "rejected", "no such type")]
    small = read_dict(dict(unexplained[0].descriptor), "directml")
    assert check_at(small, "3.0", "observed").accepted
    assert small.fields["ValuesTensor"].type == "INT16"
    assert small.fields["ValuesTensor"].strides is None
    assert [len(small.fields[n].sizes) for n in ("IndicesTensor", "ValuesTensor", "OutputTensor")] == [1, 1, 1]
    assert unexplained[0].count == result.unexplained == result.tallies[0].cases - result.tallies[0].observed
    assert "--target directml:3.0" in unexplained[0].command


def test_known_differences_need_no_shrinking(asked, monkeypatch):
    asked(lambda name, level: Fake(name, level, refuses_type("ValuesTensor", "INT16")))
    shrunk: list[str] = []

    def record_call(*item):
        shrunk.append(item[3].kind)
        return item[4]

    monkeypatch.setattr(campaign, "shrink_example", record_call)
    plan = Plan("directml", operators=("ONE_HOT",), levels=("2.1",), cases=150)
    kinds = [d.kind for d in run(plan).differences if d.kind != "not looked at"]
    assert sorted(shrunk) == sorted(kinds)
    assert {"recorded", "unexplained"} <= set(kinds)
    shrunk.clear()
    run(replace(plan, shrink_known=False))
    assert set(shrunk) == {"unexplained"}


def test_levels_that_share_a_class_are_reported_together(asked):
    asked(lambda name, level: Fake(name, level, refuses_type("ValuesTensor", "INT16")))
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("3.0", "4.1"), cases=120))
    assert [d.level for d in result.differences if d.kind == "unexplained"] == ["3.0, 4.1"]


def test_crash_counts_as_a_rejection_and_is_named(asked):
    def crashes(_name, descriptor):
        return Reply("crashed") if descriptor.fields.get("Axis") == 1 else None

    asked(lambda name, level: Fake(name, level, crashes))
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("4.1",), cases=120))
    assert result.tallies[0].words["crashed"] > 0
    assert {d.theirs for d in result.differences if d.kind == "unexplained"} == {"crashed"}


def test_unchecked_descriptors_are_not_cases(asked):
    asked(lambda name, level: Fake(name, level, lambda *_: Reply("not asked", "no such level")))
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("4.1",), cases=50))
    assert (result.tallies[0].cases, result.tallies[0].words) == (0, {"not asked": 50})


@pytest.mark.slow
def test_campaign_is_reproducible_for_a_seed(asked):
    asked(lambda name, level: Fake(name, level, refuses_type("IndicesTensor", "UINT32")))
    first, second = (
        run(Plan("directml", operators=("ONE_HOT",), levels=("2.1",), cases=100, seed=7)).as_dict() for _ in range(2)
    )
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    other = run(Plan("directml", operators=("ONE_HOT",), levels=("2.1",), cases=100, seed=8)).as_dict()
    assert other["tallies"] != first["tallies"]


def test_time_runs_out_between_batches(asked):
    asked(Fake)
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("4.1",), cases=1000, seconds=0.0))
    assert result.capped
    assert result.cases == 250


def test_every_rule_has_an_accepting_a_rejecting_and_an_oracle_case(asked):
    asked(lambda name, level: Fake(name, level, basis="documented"))
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("4.1",), cases=600))
    counts = {r.finding: (r.accepting, r.rejecting, r.oracle) for r in result.rules}
    assert counts["directml/ONE_HOT/axis-range"][0] > 0
    empty = {name: numbers for name, numbers in counts.items() if 0 in numbers[1:]}
    assert not empty


def test_progress_ends_at_the_total(asked):
    asked(Fake)
    items = []
    run(Plan("directml", operators=("ONE_HOT",), levels=("3.0", "4.1"), cases=30), lambda *state: items.append(state))
    assert items == [(30, 60, "ONE_HOT 3.0"), (60, 60, "ONE_HOT 4.1")]


def test_missing_oracles_are_reported_as_skipped(asked):
    def break_all(_dialect, level):
        raise InputError(f"no build of {level}")

    asked(break_all)
    result = run(Plan("directml", operators=("ONE_HOT",), levels=("4.1",), cases=10))
    assert result.skipped == ("directml:4.1 ONE_HOT: no build of 4.1",)
    assert result.cases == 0


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan("directml", operators=("ONE_HOT",), levels=("9.9",)), "9.9"),
        (Plan("directml", operators=("ONE_HOTT",)), "ONE_HOT"),
        (Plan("nothing"), "nothing"),
    ],
)
def test_unknown_names_are_rejected_at_once(plan, message):
    with pytest.raises(Error, match=message):
        run(plan)


def test_dialect_without_an_oracle_names_the_install_command(monkeypatch):
    none: tuple[list[str], list[str]] = ([], ["directml:6.2: not installed; specgate oracle"])
    monkeypatch.setattr(campaign, "package", lambda _: backend(askable=lambda _: none))
    with pytest.raises(InputError, match="specgate oracle"):
        run(Plan("directml"))


def test_incomplete_level_checks_only_new_operators(asked):
    asked(Fake)
    items = []
    plan = Plan("openvino", operators=("Abs", "ErfInv"), levels=("opset16", "opset17"), cases=5)
    run(plan, lambda *state: items.append(state[2]))
    assert items == ["Abs opset16", "ErfInv opset17"]
