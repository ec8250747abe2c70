"""Real DirectML builds, asked whether CreateOperator takes a descriptor; no GPU and no Windows needed.

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
from specgate.dialects.directml.oracle import cache
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.install import install_command, status, wine_environment
from specgate.dialects.directml.oracle.values import ValuesOracle
from specgate.dialects.directml.oracle.worker import Worker
from specgate.errors import InputError
from specgate.oracles.protocol import Reply
from specgate.workers.renewing import Renewing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.directml.oracle.builds import Build, System
    from specgate.oracles.protocol import Values

__all__ = ["Answer", "BuildValues", "Builds", "Capabilities", "DirectMLOracle"]

_OK: Final = 0
#: E_INVALIDARG, and how builds up to 3.1 for Linux number it: the answers that leave a process as it was.
_REFUSALS: Final = frozenset({0x80070057, 0x80000003})
#: A refused descriptor may corrupt the heap without a sign, so no process is asked longer than this.
_FRESH_AFTER: Final = 300


class Answer(NamedTuple):
    """A build's answer: accepted is None where there was none; hresult is CreateOperator's, None if it did not end."""

    accepted: bool | None
    word: Literal["accepted", "rejected", "crashed", "timeout"]
    hresult: int | None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the stub device reports; a build refuses some types without them, at every level.

    double: DoublePrecisionFloatShaderOps (FLOAT64). native16 and typed_uav_load: Native16BitShaderOps and
    TypedUAVLoadAdditionalFormats (one of them for 16-bit types). int64: Int64ShaderOps (64-bit indices at 2.1
    and 3.1). min_precision: D3D12_SHADER_MIN_PRECISION_SUPPORT. wave_ops: WaveOps. shader_model, feature_level:
    as D3D_SHADER_MODEL and D3D_FEATURE_LEVEL number them.
    """

    double: bool = True
    native16: bool = True
    int64: bool = True
    typed_uav_load: bool = True
    min_precision: int = 0
    wave_ops: bool = True
    shader_model: int = 0x65
    feature_level: int = 0xC100


class DirectMLOracle(Renewing[Worker]):
    """One DirectML build, asked in a process of its own that is started afresh whenever it may have been harmed.

    level: a feature level that has a build. build: "linux" or "windows"; left out, of those that are installed the one
    that needs no Wine. device: what the stub device can do. timeout: seconds for each question.
    confirmed_level: the level that the device reports (one build reports a lower one than it has operators of).
    Not for several threads at once.
    Raises InputError where there is no such build or it is not installed, with the command that gets it.
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
        self.build = _installed(level, build)
        self.level = level
        self.device = device or Capabilities()
        self.timeout = timeout
        self._command, self._environment = _command(self.build, self.device)
        self._values: ValuesOracle | None = None
        self.confirmed_level = _spoken(self._ready().level)
        if self.confirmed_level != self.build.reports:
            self.close()
            raise InputError(f"expected a device of level {self.build.reports}, found {self.confirmed_level}")

    def accepts(self, descriptor: Descriptor | Mapping[str, Any] | Image) -> Answer:
        """Return what the build answers to one descriptor; `accepts_many` saves a round trip for each of many."""
        return self.accepts_many([descriptor])[0]

    def accepts_many(
        self, descriptors: Sequence[Descriptor | Mapping[str, Any] | Image], *, confirm: bool = False
    ) -> list[Answer]:
        """Return the build's answer to each descriptor: read, as a dict in DxDispatch's words, or as an image.

        A crash, a late answer and an unusual HRESULT count only if the descriptor brings them about in a process that
        was asked nothing else. confirm: ask everything again in the reverse order; where that differs, the answer of
        such a process counts too.
        Raises InputError, before anything is asked, for a descriptor that DirectML's structures cannot hold.
        """
        images = [d if isinstance(d, Image) else image(d) for d in descriptors]
        answers = self._ask(images)
        if confirm:
            self._retire()
            again = self._ask(images[::-1])[::-1]
            answers = [a if a == b else self._alone(i) for i, a, b in zip(images, answers, again, strict=True)]
        return answers

    def seconds(self, descriptor: Descriptor | Mapping[str, Any]) -> float:
        """Return how many seconds of the processor the build takes to create this operator and to release it.

        The average of 20,000 times. Raises InputError where the build does not accept the descriptor.
        """
        if not self.accepts(descriptor).accepted:
            raise InputError(f"{self.build.title} does not create it, so there is nothing to time")
        return self._ready().seconds(image(descriptor), self.timeout)

    def run(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Execute it with the Windows build of this level; see `ValuesOracle.run` in `values`."""
        return self._executing().run(descriptor, arrays)

    def run_many(
        self, descriptor: Descriptor | Mapping[str, Any], cases: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Execute it with many inputs, compiled once; see `ValuesOracle.run_many` in `values`."""
        return self._executing().run_many(descriptor, cases)

    def values(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> Values:
        """Execute it, or say why not; see `ValuesOracle.values` in `values`."""
        return self._executing().values(descriptor, arrays)

    def _executing(self) -> ValuesOracle:
        self._hold_open()
        if self._values is None:
            self._values = ValuesOracle(self.level)
        return self._values

    def _ask(self, images: Sequence[Image]) -> list[Answer]:
        answers: list[Answer] = []
        while len(answers) < len(images):
            worker = self._ready()
            first = len(answers)
            outcome = worker.ask(images[first : first + _FRESH_AFTER - worker.asked], self.timeout)
            usual = next((i for i, code in enumerate(outcome.codes) if not _usual(code)), len(outcome.codes))
            answers += map(_answer, outcome.codes[:usual])
            if usual < len(outcome.codes) or outcome.end:
                self._retire()
                answers.append(self._alone(images[first + usual]))
        return answers

    def _alone(self, question: Image) -> Answer:
        """Ask a process that has been asked nothing, and nothing after."""
        self._retire()
        outcome = self._ready().ask([question], self.timeout)
        self._retire()
        return Answer(None, outcome.end, None) if outcome.end else _answer(outcome.codes[0])

    def _start(self) -> Worker:
        return Worker(self._command, self._environment)

    def _worn(self, process: Worker) -> bool:
        return process.asked >= _FRESH_AFTER

    def close(self) -> None:
        """End the processes; the oracle cannot be asked any more."""
        super().close()
        if self._values is not None:
            self._values.close()


def _usual(code: int) -> bool:
    return code == _OK or code in _REFUSALS


def _answer(code: int) -> Answer:
    return Answer(True, "accepted", code) if code == _OK else Answer(False, "rejected", code)


def _spoken(number: int) -> str:
    """Return a DML_FEATURE_LEVEL as it is spoken: 0x6200 is 6.2."""
    return f"{number >> 12}.{number >> 8 & 15}"


def _installed(level: str, system: System | None) -> Build:
    """Return the build to ask; raise InputError with what is missing and how to get it."""
    builds = find_builds(level, system)
    for build in builds:
        if not cache.missing(build):
            return build
    absent = "; ".join(cache.missing(builds[0]))
    raise InputError(f"DirectML {builds[0].title} is not installed: {absent}; try {install_command([level], system)}")


def _command(build: Build, device: Capabilities) -> tuple[list[str], dict[str, str]]:
    """Return the command line and environment of the host for a build."""
    switches = [f"{f.name}={int(getattr(device, f.name))}" for f in fields(device)]
    host, library = cache.host_directory(build.system), cache.library(build)
    if build.system == "linux":
        paths = os.pathsep.join(map(str, (library.parent, cache.d3d12_directory(), host)))
        return [str(host / "host"), str(library), *switches], {"LD_LIBRARY_PATH": paths}
    if cache.ON_WINDOWS:
        return [str(host / "host.exe"), str(library), *switches], dict(os.environ)
    as_windows = "Z:" + str(library).replace("/", "\\")
    return [cache.wine().path or "", str(host / "host.exe"), as_windows, *switches], wine_environment()


class Builds:
    """The builds of a level, Linux's and Windows's apart. Raises InputError where none is installed."""

    dialect = "directml"

    def __init__(self, level: str) -> None:
        self.level = level
        entries = [e for e in status() if e.build.level == level and e.installed]
        if not entries:
            raise InputError(_absent(level))
        self.versions: Mapping[str, str] = {
            e.build.system: f"{e.build.wheel.package} {e.build.wheel.version}" for e in entries
        }
        self._builds: dict[str, DirectMLOracle] = {
            e.build.system: DirectMLOracle(level, build=e.build.system) for e in entries
        }

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Ask every build twice, in both orders: a refused descriptor may harm the answers after it."""
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


def _absent(level: str) -> str:
    from specgate.dialects.directml.oracle.builds import find_builds
    from specgate.dialects.directml.oracle.install import install_command

    find_builds(level)  # says which levels have a build, where this one has none
    return f"no DirectML build of {level} is installed: {install_command([level])}"


class BuildValues:
    """The build of a level on the software device, as an implementation like the others."""

    def __init__(self, level: str) -> None:
        self._oracle = ValuesOracle(level)
        self.value_versions = {"values": "; ".join(f"{k} {v}" for k, v in self._oracle.versions.items())}

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        return [{"values": answer} for answer in self._oracle.values_many(descriptor, sets)]

    def close(self) -> None:
        self._oracle.close()
