"""Processes of the oracle: restarts, confirmed crashes, order. Fake hosts."""

from __future__ import annotations

import pytest

from specgate.dialects.directml.native.marshal import Image, image
from specgate.dialects.directml.oracle import oracle as directml
from specgate.dialects.directml.oracle.oracle import Answer
from specgate.dialects.directml.oracle.worker import Worker
from specgate.dialects.directml.reader import read
from specgate.errors import InputError
from tests.dialects.directml.oracle.test_worker import SLOW, question

E_INVALIDARG, OUT_OF_MEMORY = 0x80070057, 0x8007000E
ACCEPTED, REJECTED = Answer(True, "accepted", 0), Answer(False, "rejected", E_INVALIDARG)


@pytest.fixture
def starts(monkeypatch):
    """Count the processes."""
    count = []

    def start(*arguments, **options):
        count.append(1)
        return Worker(*arguments, **options)

    monkeypatch.setattr(directml, "Worker", start)
    return count


def test_single_query(fake_oracle, one_hot):
    with fake_oracle({95: E_INVALIDARG}) as oracle:  # the first number of an image is the operator's
        assert oracle.confirmed_level == "6.2"
        assert oracle.accepts(one_hot) == REJECTED
        assert oracle.accepts(read(one_hot)) == REJECTED
        assert oracle.accepts(image(one_hot)) == REJECTED
        assert oracle.accepts({"type": "ACTIVATION_RELU", "desc": {}}) == ACCEPTED


def test_rejections_do_not_restart_the_process(fake_oracle, starts):
    with fake_oracle({1: E_INVALIDARG, 2: 0x80000003}) as oracle:
        words = [a.word for a in oracle.accepts_many([question(n) for n in (0, 1, 2, 0)])]
    assert words == ["accepted", "rejected", "rejected", "accepted"]
    assert len(starts) == 1


def test_process_is_restarted_after_many_queries(fake_oracle, starts):
    with fake_oracle({1: E_INVALIDARG}) as oracle:
        answers = oracle.accepts_many([question(n % 2) for n in range(1000)])
    assert answers == [ACCEPTED, REJECTED] * 500
    assert len(starts) == 4


def test_crash_is_a_verdict_and_other_queries_continue(fake_oracle):
    with fake_oracle({1: E_INVALIDARG, 2: "die"}) as oracle:
        answers = oracle.accepts_many([question(n) for n in (0, 2, 1, 2, 2, 0)])
    crashed = Answer(None, "crashed", None)
    assert answers == [ACCEPTED, crashed, REJECTED, crashed, crashed, ACCEPTED]


def test_delayed_crash_is_not_blamed_on_the_next_query(fake_oracle):
    with fake_oracle({1: E_INVALIDARG, 3: "die later"}) as oracle:
        assert oracle.accepts_many([question(n) for n in (1, 3, 1)]) == [REJECTED, ACCEPTED, REJECTED]


def test_unusual_reply_is_retried_in_isolation(fake_oracle, starts):
    with fake_oracle({1: OUT_OF_MEMORY}) as oracle:
        answers = oracle.accepts_many([question(n) for n in (0, 1, 0, 0)])
    assert answers == [ACCEPTED, Answer(False, "rejected", OUT_OF_MEMORY), ACCEPTED, ACCEPTED]
    assert len(starts) == 3


def test_timeout_is_a_verdict(fake_oracle):
    with fake_oracle({2: "hang"}, timeout=SLOW) as oracle:
        assert [a.word for a in oracle.accepts_many([question(n) for n in (0, 2, 0)])] == [
            "accepted",
            "timeout",
            "accepted",
        ]


def test_confirming_finds_answers_that_depend_on_the_order(fake_oracle, monkeypatch):
    with fake_oracle({}) as oracle:
        real = oracle._ask
        monkeypatch.setattr(
            oracle, "_ask", lambda images: [REJECTED, *real(images)[1:]]
        )  # the first is always rejected
        assert oracle.accepts_many([question(n) for n in range(3)], confirm=True) == [ACCEPTED] * 3
        assert oracle.accepts_many([question(n) for n in range(3)])[0] == REJECTED


def test_invalid_descriptor_prevents_the_whole_batch(fake_oracle, changed, one_hot):
    with fake_oracle({}) as oracle:
        before = oracle._process.question_count
        with pytest.raises(InputError, match="Axis"):
            oracle.accepts_many([one_hot, changed(Axis=None)])
        assert oracle._process.question_count == before


def test_empty_batch_has_no_replies(fake_oracle):
    with fake_oracle({}) as oracle:
        assert oracle.accepts_many([]) == []


def test_closed_oracle_rejects_queries(fake_oracle):
    oracle = fake_oracle({})
    oracle.close()
    with pytest.raises(InputError, match="closed"):
        oracle.accepts(Image(bytes(16), (), 0))


def test_a_device_of_another_level_is_rejected(fake_host, fake_oracle, tmp_path, monkeypatch):
    monkeypatch.setattr(directml, "_format_level", lambda _: "5.0")
    with pytest.raises(InputError, match=r"expected a device of level 6\.2, found 5\.0"):
        fake_oracle({})


def test_levels_without_a_build(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECGATE_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"no build of DirectML at feature level '4\.0'; there are 2\.1, 3\.0"):
        directml.DirectMLOracle("4.0")
    with pytest.raises(InputError, match=r"no windows build .* '3\.0'; there are 2\.1, 3\.1"):
        directml.DirectMLOracle("3.0", build="windows")
    with pytest.raises(InputError, match=r"not installed.*specgate oracle install directml --levels 6\.4"):
        directml.DirectMLOracle("6.4")
