"""Common base classes of the built-in dialects."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, ClassVar

from specgate.dialects.protocols import Backend, Exporter, Positional
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.oracles.protocol import Oracle, ValuesBackend
    from specgate.spec.fields import FieldInfo

__all__ = ["Packaged", "Shipped"]


class Shipped(Exporter):
    """A dialect with the module `reader` in its package."""

    @property
    def _reader(self) -> Any:
        return importlib.import_module(f"specgate.dialects.{self.name}.reader")

    def recognises(self, data: Mapping[str, Any]) -> bool:
        recognised: bool = self._reader.is_descriptor(data)
        return recognised

    def read(self, data: Mapping[str, Any], place: str = "") -> Descriptor:
        descriptor: Descriptor = self._reader.read(data, place)
        return descriptor

    def write(self, descriptor: Descriptor) -> dict[str, Any]:
        written: dict[str, Any] = self._reader.write(descriptor)
        return written

    def descriptor_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = importlib.import_module(f"specgate.dialects.{self.name}.schema").schema()
        return schema


class Packaged(Shipped, Positional, Backend):
    """A dialect with one oracle for verdicts and values.

    implementations: the Python packages that must be installed.
    """

    implementations: ClassVar[tuple[str, ...]]

    def attribute_value(self, info: FieldInfo, raw: Any) -> Any:
        return self._reader.attribute_value(info, raw)

    def opened(self, level: str) -> Oracle:
        """Return the oracle; all packages are installed."""
        raise NotImplementedError

    def oracle(self, level: str) -> Oracle:
        missing = [name for name in self.implementations if importlib.util.find_spec(name) is None]
        if missing:
            raise InputError(f"{' and '.join(missing)} cannot be imported: pip install 'specgate-ml[oracles]'")
        return self.opened(level)

    def values(self, level: str) -> ValuesBackend:
        return self.oracle(level)  # type: ignore[return-value]  # one class implements both protocols

    def askable(self, levels: Sequence[str]) -> tuple[list[str], list[str]]:
        return list(levels), []
