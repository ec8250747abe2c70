"""The benchmark command lists its groups and rejects unknown ones."""

from __future__ import annotations

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.groups import GROUPS


def test_help_lists_the_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert ", ".join(GROUPS) in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "expected one of check, execute, cold, directml, cpp, lint, place, found 'nope'"),
        (["cold", "--repeat", "0"], "expected --repeat 1 or more, found 0"),
    ],
)
def test_wrong_arguments_end_with_2(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert message in capsys.readouterr().err
