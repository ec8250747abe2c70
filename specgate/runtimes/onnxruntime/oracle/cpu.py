"""Oracle of ONNX Runtime's CPU provider, for any release of the wheel.

with CpuPlacementOracle("1.20.1") as oracle:
    oracle.ask([model])[0].session
"""

from __future__ import annotations

import importlib.metadata
import sys
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.dialects.directml.oracle import builds
from specgate.dialects.directml.oracle.install import run_program, temporary_folder
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle.cpu_child import CpuQuestion
from specgate.runtimes.onnxruntime.oracle.oracle import Answer, Placed, error_text, optimisation_number
from specgate.workers.child import Child
from specgate.workers.processes import Closing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Feed = Mapping[str, NDArray[Any]]

CPU_PACKAGE: Final = "onnxruntime"
#: Wheels built for numpy 1 do not load with numpy 2.
_OLDER_NUMPY: Final = "numpy<2"
_CHECK: Final = "import sys; sys.path.insert(0, sys.argv[1]); import onnxruntime"


class CpuPlacementOracle(Closing):
    """One release of the package onnxruntime, in a restartable subprocess.

    A crash restarts the subprocess.
    release: a release that `install_cpu` fetched, None for this environment's. optimisation: a key of
    `oracle.OPTIMISATIONS`. run: also run each created session with inputs of the declared types; the answer is ``ran``
    if one of several sets of inputs succeeds. timeout: seconds per model. versions: the tested versions by name.
    Raises InputError, with the install command, if the release is missing.
    """

    def __init__(
        self, release: str | None = None, *, optimisation: str = "off", run: bool = False, timeout: float = 60.0
    ) -> None:
        own_release = _own_release()
        text = release or own_release
        if text is None:
            raise InputError(f"the package {CPU_PACKAGE} is not installed: pip install {CPU_PACKAGE}")
        folder = None if text == own_release else _folder(text)
        if folder is not None and not folder.is_dir():
            raise InputError(f"{CPU_PACKAGE} {text} is not installed; try {cpu_command(text)}")
        argument = (None if folder is None else str(folder), optimisation_number(optimisation))
        self._child = Child("specgate.runtimes.onnxruntime.oracle.cpu_child", "answerer", argument, timeout=timeout)
        self.run = run
        self.versions: Mapping[str, str] = {CPU_PACKAGE: text}

    def ask(self, models: Sequence[bytes], feeds: Sequence[Sequence[Feed]] | None = None) -> list[Answer]:
        """Return the outcome of each serialized model.

        A crash or a timeout counts only if it happens twice. feeds: arrays by input name that a run of each model tries
        first.
        """
        return [self._ask_model(model, feeds[index] if feeds else ()) for index, model in enumerate(models)]

    def _ask_model(self, model: bytes, feeds: Sequence[Feed]) -> Answer:
        question = CpuQuestion(model, self.run, tuple(feeds))
        result = self._child.ask(question)
        run = ""
        if isinstance(result, str) and not (self.run and result == "timeout"):
            result = self._child.ask(question)  # the new subprocess answers only this question
        if isinstance(result, str) and self.run:
            run, result = result, self._child.ask(question._replace(run=False))
        if result == "crashed":
            return Answer("crashed")
        if result == "timeout":
            return Answer("timeout")
        code, text, nodes, seconds, ended_text = result
        placed_nodes = tuple(Placed(name, kind, "CPU") for name, kind in nodes)
        word: Literal["fails", "created"] = "fails" if code else "created"
        return Answer(word, error_text(text), code, placed_nodes, run=run or error_text(ended_text), seconds=seconds)

    def close(self) -> None:
        """Stop the subprocess; the next question starts another."""
        self._child.close()


def _own_release() -> str | None:
    """Return the release of this environment, None if missing."""
    try:
        return importlib.metadata.version(CPU_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None


def _parent() -> Path:
    return builds.directory().parent / CPU_PACKAGE / f"cp{sys.version_info.major}{sys.version_info.minor}"


def _folder(release: str) -> Path:
    if not release.replace(".", "").isalnum():
        raise InputError(f"expected a release such as 1.20.1, found {release!r:.40}")
    return _parent() / release


def cpu_releases() -> list[str]:
    """Return the available releases, of this environment or fetched.

    Fetched releases must fit this Python.
    """
    own_release = _own_release()
    fetched = sorted(path.name for path in _parent().iterdir()) if _parent().is_dir() else []
    return [
        *([own_release] if own_release else []),
        *(name for name in fetched if name != own_release and not name.startswith(".")),
    ]


def cpu_command(release: str) -> str:
    """Return the command that installs a release."""
    return f"specgate oracle install {CPU_PACKAGE} --release {release}"


def install_cpu(release: str, *, progress: Callable[[str], object] = print) -> None:
    """Fetch a release's wheel for this Python into the cache, if missing.

    Raises InputError if no such wheel exists.
    """
    if release in cpu_releases():
        progress(f"{CPU_PACKAGE} {release}: already installed")
        return
    folder = _folder(release)
    progress(f"fetching {CPU_PACKAGE} {release}")
    with temporary_folder(folder) as path:
        _pip(f"{CPU_PACKAGE}=={release}", path)
        try:
            run_program([sys.executable, "-c", _CHECK, str(path)], f"importing {CPU_PACKAGE} {release}")
        except InputError:
            _pip(_OLDER_NUMPY, path)
            run_program([sys.executable, "-c", _CHECK, str(path)], f"importing {CPU_PACKAGE} {release}")
    progress(f"{CPU_PACKAGE} {release}: installed")


def _pip(text: str, folder: Path) -> None:
    command = (sys.executable, "-m", "pip", "install", text, "--no-deps", "--only-binary=:all:")
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
    run_program([*command, "--target", str(folder), *quiet], f"fetching {text}")
