"""The process in which ONNX Runtime is asked: models in, records of what happened to each out."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.native.marshal import Image
from specgate.dialects.directml.native.unmarshal import pointer_layout
from specgate.dialects.directml.oracle.process import HostProcess
from specgate.workers.piped import WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.workers.piped import End

__all__ = ["Outcome", "PlacementProcess"]

_LAYOUT, _CREATE = 1, 2
_OPERATOR, _CREATED, _PLACE, _COMPILED, _END, _RUNNING = range(1, 7)
_HEAD: Final = struct.Struct("<II")
_QUESTION: Final = struct.Struct("<IIIII")
_NUMBER: Final = struct.Struct("<I")
_START: Final = 120.0  # seconds; Wine may have to update its folder first


@dataclass(slots=True)
class Outcome:
    """What became of one model: operators as they were given to CreateOperator with its HRESULT, lines of the log.

    kernels: for each compilation how many operators there were, and how many nodes its graph has, 0 without one.
    before_run: how many operators were created before the session ran, None if it did not. code: 0, or the number of
    the runtime's error; text: its text. end: why the process was lost, if it was.
    """

    operators: list[tuple[Image, int | None]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    kernels: list[tuple[int, int]] = field(default_factory=list)
    before_run: int | None = None
    code: int = 0
    text: str = ""
    end: End | None = None


class PlacementProcess(HostProcess):
    """A running host. asked: how many models it was given."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.asked = 0
        super().__init__(command, environment, b"SGDP", start_timeout=_START, group=True)
        self._layout = _NUMBER.pack(_LAYOUT) + pointer_layout()

    def ask(
        self, model: bytes, optimisation: int, timeout: float, *, fused: bool = False, run: bool = False
    ) -> Outcome:
        """Return what becomes of a serialised model; a process that is late is killed."""
        layout = b"" if self.asked else self._layout
        self.asked += 1
        outcome = Outcome()
        try:
            with self.within(timeout):
                self.send(layout + _QUESTION.pack(_CREATE, optimisation, fused, run, len(model)) + model)
                while self._record(outcome):
                    pass
        except WorkerLost as lost:
            outcome.end = lost.word
        return outcome

    def _record(self, outcome: Outcome) -> bool:
        """Take one record; return whether more are to come. EOFError where the process talks nonsense."""
        kind, size = _HEAD.unpack(self.read(_HEAD.size))
        if not _OPERATOR <= kind <= _RUNNING or size > 2**28:
            self.kill()  # a dying process wrote text into the pipe
            raise EOFError
        data = self.read(size)
        if kind == _OPERATOR:
            outcome.operators.append((_image(data), None))
        elif kind == _CREATED:
            outcome.operators[-1] = (outcome.operators[-1][0], _NUMBER.unpack(data)[0])
        elif kind == _PLACE:
            outcome.places.append(data.decode("utf-8", "replace"))
        elif kind == _COMPILED:
            outcome.kernels.append((len(outcome.operators), _NUMBER.unpack(data)[0]))
        elif kind == _RUNNING:
            outcome.before_run = len(outcome.operators)
        else:
            outcome.code = _NUMBER.unpack_from(data)[0]
            outcome.text = data[_NUMBER.size :].decode("utf-8", "replace")
        return bool(kind != _END)


def _image(data: bytes) -> Image:
    root, count = _HEAD.unpack_from(data)
    start = _HEAD.size + 4 * count
    return Image(data[start:], struct.unpack_from(f"<{count}I", data, _HEAD.size), root)
