"""The implementations that a campaign asks, by dialect: those that are installed here."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.errors import InputError
from specgate.oracles.protocol import Reply
from specgate.spec.tables import dialect as tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.oracles.directml import DirectMLOracle
    from specgate.oracles.protocol import Oracle, Values

__all__ = ["askable_levels", "open_oracle", "open_values"]


class ValuesSide(Protocol):
    """What computes values, by the name of each implementation."""

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]], /) -> list[dict[str, Values]]:
        """Return, for each set of arrays, every implementation's outputs."""

    def close(self) -> None:
        """End its processes."""


class DirectMLSide:
    """The installed builds of one feature level, Linux's and Windows's apart."""

    dialect = "directml"

    def __init__(self, level: str) -> None:
        from specgate.oracles.directml import DirectMLOracle
        from specgate.oracles.install import status

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
        from specgate.oracles.marshal import Image, image

        made: list[Image | InputError] = []
        for descriptor in descriptors:
            try:
                made.append(image(descriptor, exact=True))
            except InputError as error:
                made.append(error)
        sayable = [item for item in made if isinstance(item, Image)]
        answers = {name: iter(build.accepts_many(sayable, confirm=True)) for name, build in self._builds.items()}
        replies = []
        for item in made:
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
    from specgate.oracles.builds import find_builds
    from specgate.oracles.install import install_command

    find_builds(level)  # says which levels have a build, where this one has none
    return f"no DirectML build of {level} is installed: {install_command([level])}"


def _onnx(level: str) -> Oracle:
    from specgate.oracles.onnx_oracle import ONNXOracle

    return ONNXOracle(level)


def _openvino(level: str) -> Oracle:
    from specgate.oracles.openvino_oracle import OpenVINOOracle

    return OpenVINOOracle(level)


_OPEN: Final[Mapping[str, Callable[[str], Oracle]]] = {
    "directml": DirectMLSide,
    "onnx": _onnx,
    "openvino": _openvino,
}
_PACKAGES: Final = {"onnx": ("onnx", "onnxruntime"), "openvino": ("openvino",)}


def open_oracle(dialect: str, level: str) -> Oracle:
    """Return the implementations of a dialect at a level; close it after use. Raises InputError where there is none."""
    if dialect not in _OPEN:
        raise InputError(f"no implementation of {dialect!r:.40} can be asked; expected {', '.join(_OPEN)}")
    missing = [name for name in _PACKAGES.get(dialect, ()) if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"{' and '.join(missing)} cannot be imported: pip install 'specgate-ml[oracles]'")
    return _OPEN[dialect](level)


class _DirectMLValues:
    """The build of a level on the software device, as an implementation like the others."""

    def __init__(self, level: str) -> None:
        from specgate.oracles.values import ValuesOracle

        self._oracle = ValuesOracle(level)
        self.value_versions = {"values": "; ".join(f"{k} {v}" for k, v in self._oracle.versions.items())}

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        return [{"values": answer} for answer in self._oracle.values_many(descriptor, sets)]

    def close(self) -> None:
        self._oracle.close()


def open_values(dialect: str, level: str) -> ValuesSide | None:
    """Return what computes values of a dialect at a level, None where nothing does or it is not installed."""
    if dialect != "directml":
        return open_oracle(dialect, level)  # type: ignore[return-value]  # both protocols in one class
    try:
        return _DirectMLValues(level)
    except InputError:
        return None


def askable_levels(dialect: str, levels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which of `levels` can be asked here, and for each of the others one line that says why not."""
    if dialect != "directml":
        known = tables(dialect).raw["levels"]["levels"]
        unfinished = [level for level in levels if known[level].get("unfinished")]
        skipped = [f"{dialect}:{level}: no release has it complete" for level in unfinished]
        return [level for level in levels if level not in unfinished], skipped
    from specgate.oracles.builds import levels as built
    from specgate.oracles.install import install_command, status

    ready = {entry.build.level for entry in status() if entry.installed}
    skipped = []
    for level in levels:
        if level not in built():
            skipped.append(f"directml:{level}: no public build has this level")
        elif level not in ready:
            skipped.append(f"directml:{level}: not installed; {install_command([level])}")
    return [level for level in levels if level in ready], skipped
