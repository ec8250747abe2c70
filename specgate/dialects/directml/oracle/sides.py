"""The installed builds of one DirectML feature level, as the implementations that campaigns and recordings ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.errors import InputError
from specgate.oracles.protocol import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.directml.oracle.oracle import DirectMLOracle
    from specgate.oracles.protocol import Values

__all__ = ["BuildValues", "Builds"]


class Builds:
    """The builds of a level, Linux's and Windows's apart. Raises InputError where none is installed."""

    dialect = "directml"

    def __init__(self, level: str) -> None:
        from specgate.dialects.directml.oracle.install import status
        from specgate.dialects.directml.oracle.oracle import DirectMLOracle

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
    from specgate.dialects.directml.oracle.builds import find_builds
    from specgate.dialects.directml.oracle.install import install_command

    find_builds(level)  # says which levels have a build, where this one has none
    return f"no DirectML build of {level} is installed: {install_command([level])}"


class BuildValues:
    """The build of a level on the software device, as an implementation like the others."""

    def __init__(self, level: str) -> None:
        from specgate.dialects.directml.oracle.values import ValuesOracle

        self._oracle = ValuesOracle(level)
        self.value_versions = {"values": "; ".join(f"{k} {v}" for k, v in self._oracle.versions.items())}

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        return [{"values": answer} for answer in self._oracle.values_many(descriptor, sets)]

    def close(self) -> None:
        self._oracle.close()
