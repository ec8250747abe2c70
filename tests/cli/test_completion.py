"""Shell completion: the printed script, and its proposals in a shell."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

import specgate
from specgate.cli import main
from specgate.cli.parser import make_parser

_ASK = """
compopt() { :; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=()
_shtab_specgate
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(capsys, shell="bash"):
    pytest.importorskip("shtab", reason="NO COMPLETION IS TESTED: pip install shtab (it is in the test extra)")
    with pytest.raises(SystemExit) as left:
        main(["--print-completion", shell])
    assert left.value.code in {0, None}
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


@pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["li"], {"lint"}),
        (["lint", "--fi"], {"--fix"}),
        (["lint", "--format", ""], {"text", "json", "sarif", "junit", "github", "html"}),
        (["lint", "mod"], {"model.onnx", "models"}),
        (["lint", "--target", "onnx:17", "mod"], {"model.onnx", "models"}),
        (["place", "--descriptors", "mod"], {"models"}),
        (["spec", ""], {"check", "schema"}),
        (["oracle", "install", "--s"], {"--system"}),
    ],
)
def test_bash_completions(tmp_path, capsys, words, proposed):
    (tmp_path / "specgate.bash").write_text(script(capsys), encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "model.onnx").touch()
    questions = ["bash", "--norc", "-c", _ASK, "bash", str(tmp_path / "specgate.bash"), "specgate", *words]
    done = subprocess.run(questions, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert set(done.stdout.split()) == proposed, done.stderr


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_every_command(capsys, shell):
    message = script(capsys, shell)
    choices = [action.choices for action in make_parser()._actions if action.dest == "==SUPPRESS==" and action.choices]
    assert choices
    assert all(name in message for name in choices[0])


def test_unknown_shell_is_rejected(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--print-completion", "dos"])
    assert left.value.code == 2
    assert "bash" in capsys.readouterr().err


def test_missing_completion_package_is_reported(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 2
    assert capsys.readouterr().err == "specgate: --print-completion requires shtab: pip install shtab\n"


def test_version_is_printed_to_standard_output(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    caught = capsys.readouterr()
    assert caught.out.startswith(f"specgate {specgate.__version__}\n")
    assert caught.err == ""
