"""Real DirectML builds that create operators, without GPU or Windows.

    with DirectMLOracle("6.2") as oracle:
        oracle.accepts(descriptor).word     # "accepted", "rejected", "crashed" or "timeout"
        oracle.run(descriptor, arrays)      # the outputs by name, where values are installed too

Install builds with `install.install_directml` of this package, values with `values_install.install_values`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from specgate.dialects.directml.native.marshal import Image, image
from specgate.dialects.directml.oracle import builds as directml_builds
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import install_command, status, wine_environment
from specgate.dialects.directml.oracle.values import ValuesOracle
from specgate.dialects.directml.oracle.worker import Worker
from specgate.errors import InputError
from specgate.oracles.protocol import Reply
from specgate.workers.piped import ProcessOwner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.directml.oracle.builds import Build, System
    from specgate.oracles.protocol import Values

_OK: Final = 0
#: E_INVALIDARG, and its number in Linux builds up to 3.1. Rejections with these HRESULTs leave the process intact.
_REFUSALS: Final = frozenset({0x80070057, 0x80000003})
#: A rejected descriptor may corrupt the heap silently, so a process answers at most this many questions.
_MAX_QUESTIONS: Final = 300


class Answer(NamedTuple):
    """A build's answer.

    accepted: None without a verdict. hresult: of CreateOperator, None if it did not return.
    """

    accepted: bool | None
    word: Literal["accepted", "rejected", "crashed", "timeout"]
    hresult: int | None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of the stub device; builds reject some types without them.

    double: DoublePrecisionFloatShaderOps (FLOAT64). native16 and typed_uav_load: Native16BitShaderOps and
    TypedUAVLoadAdditionalFormats (one of them for 16-bit types). int64: Int64ShaderOps (64-bit indices at 2.1 and 3.1).
    min_precision: D3D12_SHADER_MIN_PRECISION_SUPPORT. wave_ops: WaveOps. shader_model, feature_level: numbers of
    D3D_SHADER_MODEL and D3D_FEATURE_LEVEL.
    """

    double: bool = True
    native16: bool = True
    int64: bool = True
    typed_uav_load: bool = True
    min_precision: int = 0
    wave_ops: bool = True
    shader_model: int = 0x65
    feature_level: int = 0xC100


class DirectMLOracle(ProcessOwner[Worker]):
    """One DirectML build in a subprocess, restarted after possible damage.

    level: a feature level with a build. build: "linux" or "windows"; by default, the installed one that runs without
    Wine. device: the capabilities of the stub device. timeout: seconds per question.
    confirmed_level: the level that the device reports (one build reports a lower level than its operators have). Not
    thread-safe.
    Raises InputError if the build does not exist or is not installed, with the command that installs it.
    """

    def __init__(
        self,
        level: str,
        *,
        build: System | None = None,
        device: Capabilities | None = None,
        timeout: float = 10.0,
    ) -> None:
        super().__init__()
        self.build = _require_build(level, build)
        self.level = level
        self.device = device or Capabilities()
        self.timeout = timeout
        self._command, self._environment = _command(self.build, self.device)
        self._values: ValuesOracle | None = None
        self.confirmed_level = _format_level(self._ready().level)
        if self.confirmed_level != self.build.reports:
            self.close()
            raise InputError(f"expected a device of level {self.build.reports}, found {self.confirmed_level}")

    def accepts(self, descriptor: Descriptor | Mapping[str, Any] | Image) -> Answer:
        """Return the answer to one descriptor; for many, use `accepts_many`."""
        return self.accepts_many([descriptor])[0]

    def accepts_many(
        self, descriptors: Sequence[Descriptor | Mapping[str, Any] | Image], *, confirm: bool = False
    ) -> list[Answer]:
        """Return the build's answer to each descriptor, dict or image.

        A crash, a timeout and an unusual HRESULT count only if the descriptor reproduces them in a new process.
        confirm: repeat all questions in reverse order; a differing answer is decided in a new process.
        Raises InputError, before the first question, for a descriptor that does not fit DirectML's structures.
        """
        images = [d if isinstance(d, Image) else image(d) for d in descriptors]
        answers = self._ask(images)
        if confirm:
            self._retire()
            reversed_answers = self._ask(images[::-1])[::-1]
            answers = [
                a if a == b else self._ask_in_new_process(i)
                for i, a, b in zip(images, answers, reversed_answers, strict=True)
            ]
        return answers

    def seconds(self, descriptor: Descriptor | Mapping[str, Any]) -> float:
        """Return the CPU seconds of creating and releasing this operator.

        It is the average of 20,000 runs. Raises InputError if the build does not accept the descriptor.
        """
        if not self.accepts(descriptor).accepted:
            raise InputError(f"{self.build.title} does not create the operator, so it cannot be timed")
        return self._ready().seconds(image(descriptor), self.timeout)

    def run(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Run it with this level's Windows build; see `ValuesOracle.run`."""
        return self._values_oracle().run(descriptor, arrays)

    def run_many(
        self, descriptor: Descriptor | Mapping[str, Any], cases: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Run it with many inputs; see `ValuesOracle.run_many`."""
        return self._values_oracle().run_many(descriptor, cases)

    def values(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> Values:
        """Run it, or return the reason; see `ValuesOracle.values`."""
        return self._values_oracle().values(descriptor, arrays)

    def _values_oracle(self) -> ValuesOracle:
        self._require_open()
        if self._values is None:
            self._values = ValuesOracle(self.level)
        return self._values

    def _ask(self, images: Sequence[Image]) -> list[Answer]:
        answers: list[Answer] = []
        while len(answers) < len(images):
            worker = self._ready()
            first = len(answers)
            outcome = worker.ask(images[first : first + _MAX_QUESTIONS - worker.question_count], self.timeout)
            first_failure = next(
                (i for i, code in enumerate(outcome.codes) if not _is_usual_code(code)), len(outcome.codes)
            )
            answers += map(_answer, outcome.codes[:first_failure])
            if first_failure < len(outcome.codes) or outcome.end:
                self._retire()
                answers.append(self._ask_in_new_process(images[first + first_failure]))
        return answers

    def _ask_in_new_process(self, question: Image) -> Answer:
        """Ask one question in a new process."""
        self._retire()
        outcome = self._ready().ask([question], self.timeout)
        self._retire()
        return Answer(None, outcome.end, None) if outcome.end else _answer(outcome.codes[0])

    def _start(self) -> Worker:
        return Worker(self._command, self._environment)

    def _must_replace(self, process: Worker) -> bool:
        return process.question_count >= _MAX_QUESTIONS

    def close(self) -> None:
        """End the processes; the oracle cannot be used afterwards."""
        super().close()
        if self._values is not None:
            self._values.close()


def _is_usual_code(code: int) -> bool:
    return code == _OK or code in _REFUSALS


def _answer(code: int) -> Answer:
    return Answer(True, "accepted", code) if code == _OK else Answer(False, "rejected", code)


def _format_level(number: int) -> str:
    """Return a DML_FEATURE_LEVEL as text: 0x6200 is 6.2."""
    return f"{number >> 12}.{number >> 8 & 15}"


def _require_build(level: str, system: System | None) -> Build:
    """Return the installed build; raise InputError with missing requirements."""
    builds = find_builds(level, system)
    for build in builds:
        if not directml_builds.missing(build):
            return build
    missing_text = "; ".join(directml_builds.missing(builds[0]))
    raise InputError(
        f"DirectML {builds[0].title} is not installed: {missing_text}; try {install_command([level], system)}"
    )


def _command(build: Build, device: Capabilities) -> tuple[list[str], dict[str, str]]:
    """Return the host's command line and environment for a build."""
    switches = [f"{f.name}={int(getattr(device, f.name))}" for f in fields(device)]
    host, library = directml_builds.host_directory(build.system), directml_builds.library(build)
    if build.system == "linux":
        paths = os.pathsep.join(map(str, (library.parent, directml_builds.d3d12_directory(), host)))
        return [str(host / "host"), str(library), *switches], {"LD_LIBRARY_PATH": paths}
    if directml_builds.ON_WINDOWS:
        return [str(host / "host.exe"), str(library), *switches], dict(os.environ)
    as_windows = "Z:" + str(library).replace("/", "\\")
    return [directml_builds.wine().path or "", str(host / "host.exe"), as_windows, *switches], wine_environment()


class Builds:
    """The Linux and Windows builds of a level.

    Raises InputError if none is installed.
    """

    dialect = "directml"

    def __init__(self, level: str) -> None:
        self.level = level
        entries = [e for e in status() if e.build.level == level and e.installed]
        if not entries:
            raise InputError(_missing_build_text(level))
        self.versions: Mapping[str, str] = {
            e.build.system: f"{e.build.wheel.package} {e.build.wheel.version}" for e in entries
        }
        self._builds: dict[str, DirectMLOracle] = {
            e.build.system: DirectMLOracle(level, build=e.build.system) for e in entries
        }

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Ask every build twice, in both orders.

        A rejected descriptor may affect the answers after it.
        """
        from specgate.dialects.directml.native.marshal import Image, image

        items: list[Image | InputError] = []
        for descriptor in descriptors:
            try:
                items.append(image(descriptor, exact=True))
            except InputError as error:
                items.append(error)
        sayable = [item for item in items if isinstance(item, Image)]
        answers = {name: iter(build.accepts_many(sayable, confirm=True)) for name, build in self._builds.items()}
        replies = []
        for item in items:
            if isinstance(item, Image):
                replies.append({name: _reply(next(answer)) for name, answer in answers.items()})
            else:
                replies.append(dict.fromkeys(answers, Reply("not asked", str(item))))
        return replies

    def close(self) -> None:
        """End the builds' processes."""
        for build in self._builds.values():
            build.close()


def _reply(answer: Any) -> Reply:
    return Reply(answer.word, "" if answer.hresult in {0, None} else f"HRESULT 0x{answer.hresult:08X}")


def _missing_build_text(level: str) -> str:
    from specgate.dialects.directml.oracle.builds import find_builds
    from specgate.dialects.directml.oracle.install import install_command

    find_builds(level)  # raises with the supported levels if there is none
    return f"no DirectML build of {level} is installed: {install_command([level])}"


class BuildValues:
    """The build of a level on the software device as an implementation."""

    def __init__(self, level: str) -> None:
        self._oracle = ValuesOracle(level)
        self.value_versions = {"values": "; ".join(f"{k} {v}" for k, v in self._oracle.versions.items())}

    def compute_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        return [{"values": answer} for answer in self._oracle.compute_many(descriptor, sets)]

    def close(self) -> None:
        self._oracle.close()
