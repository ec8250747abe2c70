"""A subprocess: answers, crashes, timeouts, exceptions, and restarts."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import specgate
from specgate.workers.child import Child

SLOW = 0.3  # seconds

#: The question contains its effect.
SCRATCH = """
    import os, sys, time

    def maker(argument):
        if argument == "broken":
            raise ValueError("no maker")
        asked = []
        def answer(question):
            asked.append(question)
            if question == "die":
                os._exit(7)
            if question == "exit":
                sys.exit(0)
            if question == "signal":
                os.abort()
            if question == "hang":
                time.sleep(60)
            if question == "raise":
                raise KeyError("nothing here")
            if question == "unpicklable":
                return lambda: 0
            if question == "talk":
                print("on stdout", flush=True)
                os.write(1, b"and straight to it")
            return argument, question, len(asked)
        return answer
"""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Start children that use the scratch module, and end them afterwards."""
    (tmp_path / "scratch_child.py").write_text(textwrap.dedent(SCRATCH), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = []

    def make(argument=None, **options):
        result.append(Child("scratch_child", "maker", argument, **options))
        return result[-1]

    yield make
    for child in result:
        child.close()


def test_a_single_process_answers_in_order(scratch):
    child = scratch("a")
    assert child.ask_many(["x", {"y": [1]}]) == [("a", "x", 1), ("a", {"y": [1]}, 2)]
    assert child.ask("z") == ("a", "z", 3)


@pytest.mark.parametrize("options", ["die", "exit", "signal"])
def test_a_crash_is_the_answer_and_the_next_question_has_a_new_process(scratch, options):
    assert scratch().ask_many(["x", options, "y", "z"]) == [(None, "x", 1), "crashed", (None, "y", 1), (None, "z", 2)]


def test_a_slow_answer_is_a_timeout(scratch):
    child = scratch(timeout=SLOW, start_timeout=60.0)
    child.ask("x")
    begin = time.monotonic()
    assert child.ask_many(["hang", "y"]) == ["timeout", (None, "y", 1)]
    assert time.monotonic() - begin < 30


def test_the_first_question_has_time_to_import(scratch):
    child = scratch(timeout=0.0, start_timeout=SLOW)
    assert child.ask("hang") == "timeout"


def test_an_exception_reaches_the_caller_and_the_process_continues(scratch):
    child = scratch()
    child.ask("x")
    with pytest.raises(RuntimeError, match="nothing here"):
        child.ask("raise")
    assert child.ask("y") == (None, "y", 3)


def test_an_answer_that_cannot_be_pickled_is_an_exception(scratch):
    child = scratch()
    with pytest.raises(RuntimeError, match="pickle"):
        child.ask("unpicklable")
    assert child.ask("y") == (None, "y", 2)


def test_an_unpicklable_question_does_not_affect_the_process(scratch):
    child = scratch()
    child.ask("x")
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        child.ask(lambda: 0)
    assert child.ask("y") == (None, "y", 2)


def test_a_question_that_fails_to_unpickle_raises(scratch, monkeypatch):
    child = scratch()
    child.ask("x")
    message = b"cno_such_module\nnothing\n."
    monkeypatch.setattr("specgate.workers.child.pickle.dumps", lambda _: message)
    with pytest.raises(RuntimeError, match="no_such_module"):
        child.ask("y")


def test_a_failing_factory_is_reported(scratch):
    with pytest.raises(RuntimeError, match="no maker"):
        scratch("broken").ask("x")


def test_printed_text_does_not_mix_with_answers(scratch):
    assert scratch().ask_many(["talk", "x"]) == [(None, "talk", 1), (None, "x", 2)]


def test_an_interrupted_question_does_not_answer_the_next(scratch, monkeypatch):
    child = scratch()
    child.ask("x")

    def interrupt(_stream):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("specgate.workers.child._read_message", interrupt)
        with pytest.raises(KeyboardInterrupt):
            child.ask("y")
    assert child.ask("z") == (None, "z", 1)


def test_closing_stops_the_process_and_asking_restarts_it(scratch):
    child = scratch()
    child.ask("x")
    process = child._process.process
    with child:
        pass
    assert process.poll() is not None
    child.close()
    assert child.ask("y") == (None, "y", 1)


def test_the_child_finds_specgate_from_any_folder(tmp_path):
    """The parent's path is not in its environment."""
    source = str(Path(specgate.__file__).parents[1])
    code = f"""
        import sys
        sys.path.insert(0, {source!r})
        from specgate.workers.child import Child
        with Child("specgate.levels", "LevelSet") as child:
            try:
                child.ask(0)
            except RuntimeError as error:
                print("asked")
    """
    command = [sys.executable, "-S", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.stdout == "asked\n", done.stderr
