"""The subprocess that compiles an operator and dispatches it many times."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.directml.oracle.worker import HostProcess
from specgate.errors import InputError
from specgate.workers.piped import WorkerLost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.dialects.directml.native.marshal import Image
    from specgate.dialects.directml.oracle.layout import Bound
    from specgate.dialects.directml.oracle.place import WineEnvironment

__all__ = ["STAGES", "Compiled", "Failed", "ValuesProcess"]

#: The stages of a question, in the host's numbering.
STAGES: Final = ("done", "CreateOperator", "CompileOperator", "the initializer", "allocating buffers", "the dispatch")
_COMPILE: Final = struct.Struct("<IIIIII")
_COMPILED: Final = struct.Struct("<IIIIQQ")
_DISPATCH: Final = struct.Struct("<II")
_DISPATCHED: Final = struct.Struct("<II")
_START: Final = 120.0  # seconds; Wine may update its prefix first


class Compiled(NamedTuple):
    """The needs of a compiled operator.

    They are descriptors, and bytes of the temporary and of the persistent resource.
    """

    descriptors: int
    temporary: int
    persistent: int


class Failed(NamedTuple):
    """A question that failed: one of STAGES, and the HRESULT."""

    stage: str
    hresult: int

    def __str__(self) -> str:
        return f"{self.stage}: 0x{self.hresult:08X}"


class ValuesProcess(HostProcess):
    """A host with a device that runs operators.

    compiled: the number of operators it was given.
    """

    def __init__(self, place: WineEnvironment, level: str) -> None:
        self.compiled = 0
        super().__init__(place.values_command(level), place.environment(), b"SGDV", start_timeout=_START, group=True)

    def compile(
        self, image: Image, inputs: Sequence[Bound], outputs: Sequence[Bound], timeout: float
    ) -> Compiled | Failed:
        """Compile an operator, replacing the previous one.

        Raises WorkerLost if the process dies or the timeout expires.
        """
        self.compiled += 1
        answer = self.exchange(compile_question(image, inputs, outputs), _COMPILED.size, timeout)
        stage, code, descriptors, _, temporary, persistent = _COMPILED.unpack(answer)
        if stage >= len(STAGES):
            self.kill()  # a dying process wrote text to the pipe
            raise WorkerLost("crashed")
        return Failed(STAGES[stage], code) if stage else Compiled(descriptors, temporary, persistent)

    def dispatch(self, data: bytes, fill: int, size: int, timeout: float) -> bytes | Failed:
        """Return `size` bytes of outputs for the bytes of the inputs.

        fill: the byte that fills the outputs before. Raises WorkerLost if the process dies or the timeout expires.
        """
        if not 0 <= fill <= 255:
            raise InputError(f"expected a byte to fill the outputs with, found {fill}")
        answer = self.exchange(_DISPATCH.pack(2, fill) + data, _DISPATCHED.size, timeout)
        stage, code = _DISPATCHED.unpack(answer)
        if stage >= len(STAGES):
            self.kill()
            raise WorkerLost("crashed")
        return Failed(STAGES[stage], code) if stage else self.exchange(b"", size, timeout)


def compile_question(image: Image, inputs: Sequence[Bound], outputs: Sequence[Bound]) -> bytes:
    """Return the bytes of the question that compiles an operator."""
    pointers = image.pointers
    head = _COMPILE.pack(1, len(image.data), len(pointers), image.root, len(inputs), len(outputs))
    tensors = b"".join(struct.pack("<QQ", each.size, each.owned) for each in (*inputs, *outputs))
    return head + struct.pack(f"<{len(pointers)}I", *pointers) + image.data + tensors
