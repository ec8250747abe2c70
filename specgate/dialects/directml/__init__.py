"""DirectML: DML_OPERATOR_DESC as DxDispatch's model files have it, and the public builds as oracles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.shipped import Shipped
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.oracles.protocol import Oracle, ValuesSide

__all__ = ["DirectML"]


class DirectML(Shipped):
    """See `DialectPackage`."""

    name = "directml"
    shape = 'DirectML ("type", "desc")'

    def oracle(self, level: str) -> Oracle:
        from specgate.dialects.directml.oracle.sides import Builds

        return Builds(level)

    def values(self, level: str) -> ValuesSide | None:
        from specgate.dialects.directml.oracle.sides import BuildValues

        try:
            return BuildValues(level)
        except InputError:
            return None

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        from specgate.dialects.directml.oracle.builds import levels as built
        from specgate.dialects.directml.oracle.install import install_command, status

        ready = {entry.build.level for entry in status() if entry.installed}
        skipped = []
        for level in levels:
            if level not in built():
                skipped.append(f"directml:{level}: no public build has this level")
            elif level not in ready:
                skipped.append(f"directml:{level}: not installed; {install_command([level])}")
        return [level for level in levels if level in ready], skipped
