"""What specgate has to know of a dialect beside its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from specgate.descriptors.core import Descriptor
    from specgate.linting.nodes import Graph
    from specgate.linting.settings import LintSettings
    from specgate.oracles.protocol import Oracle, ValuesSide
    from specgate.spec.forms import FieldInfo

__all__ = ["DialectPackage"]


class DialectPackage:
    """One dialect. A package of your own derives from this class and names it in the entry points `specgate.dialects`.

    name: as in targets (``onnx:17``). shape: how a reader of a message recognises its descriptors, with its title.
    specs: the folder with its ``levels.yaml`` and ``operators``, None for a dialect whose tables specgate ships.
    suffixes: of model files that `graph` reads, in lower case, with their dots.

    Everything is imported when it is first needed: a package is found by each command, and used by few.
    """

    name: ClassVar[str]
    shape: ClassVar[str]
    specs: ClassVar[Path | None] = None
    suffixes: ClassVar[tuple[str, ...]] = ()

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a dict is a descriptor in the words of this dialect."""
        raise NotImplementedError

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        """Return the Descriptor of a dict; raise InputError, naming `place`, or NoTable."""
        raise NotImplementedError

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return a descriptor as a dict that `read` takes."""
        raise NotImplementedError

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        """Return an attribute's value as the field's type; raise ValueError that says what is expected.

        Of a dialect whose descriptors have inputs by position (see `specgate.descriptors.positional`).
        """
        raise NotImplementedError

    def graph(self, path: str, settings: LintSettings) -> Graph:
        """Return the nodes of a model file that has one of `suffixes`; raise InputError."""
        raise InputError(f"{self.name} has no model files", file=path)

    def oracle(self, level: str) -> Oracle:
        """Return the implementations to ask at a level, to be closed after use; raise InputError without any."""
        raise InputError(f"{self.name} has no oracle: no implementation of it can be asked")

    def values(self, level: str) -> ValuesSide | None:
        """Return what computes values at a level, None where nothing does or it is not installed."""
        return None

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return which of `levels` can be asked here, and for each of the others a line that says why not."""
        return [], [f"{self.name}:{level}: {self.name} has no oracle" for level in levels]
