"""Values of real DirectML builds on a CPU, without GPU or Windows."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.directml.native.marshal import Image, image, operator_parts
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.cases import Bound, bound_tensors, input_bytes, output_arrays
from specgate.dialects.directml.oracle.values_environment import WineEnvironment, ready_place
from specgate.dialects.directml.oracle.worker import HostProcess
from specgate.errors import InputError
from specgate.oracles.protocol import Reply, Values
from specgate.workers.piped import ProcessOwner, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from specgate.descriptors.core import Descriptor

#: The stages of a question, in the host's numbering.
STAGES: Final = ("done", "CreateOperator", "CompileOperator", "the initializer", "allocating buffers", "the dispatch")
_COMPILE: Final = struct.Struct("<IIIIII")
_COMPILED: Final = struct.Struct("<IIIIQQ")
_DISPATCH: Final = struct.Struct("<II")
_DISPATCH_HEADER: Final = struct.Struct("<II")
_START: Final = 120.0  # seconds; Wine may update its prefix first


class Compiled(NamedTuple):
    """The needs of a compiled operator.

    They are descriptors, and bytes of the temporary and of the persistent resource.
    """

    descriptors: int
    temporary: int
    persistent: int


class FailedQuestion(NamedTuple):
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
    ) -> Compiled | FailedQuestion:
        """Compile an operator, replacing the previous one.

        Raises WorkerLost if the process dies or the timeout expires.
        """
        self.compiled += 1
        answer = self.exchange(compile_question(image, inputs, outputs), _COMPILED.size, timeout)
        stage, code, descriptors, _, temporary, persistent = _COMPILED.unpack(answer)
        if stage >= len(STAGES):
            self.kill()  # a dying process wrote text to the pipe
            raise WorkerLost("crashed")
        return FailedQuestion(STAGES[stage], code) if stage else Compiled(descriptors, temporary, persistent)

    def dispatch(self, data: bytes, fill: int, size: int, timeout: float) -> bytes | FailedQuestion:
        """Return `size` bytes of outputs for the bytes of the inputs.

        fill: the byte that fills the outputs before. Raises WorkerLost if the process dies or the timeout expires.
        """
        if not 0 <= fill <= 255:
            raise InputError(f"expected a byte to fill the outputs with, found {fill}")
        answer = self.exchange(_DISPATCH.pack(2, fill) + data, _DISPATCH_HEADER.size, timeout)
        stage, code = _DISPATCH_HEADER.unpack(answer)
        if stage >= len(STAGES):
            self.kill()
            raise WorkerLost("crashed")
        return FailedQuestion(STAGES[stage], code) if stage else self.exchange(b"", size, timeout)


def compile_question(image: Image, inputs: Sequence[Bound], outputs: Sequence[Bound]) -> bytes:
    """Return the bytes of the question that compiles an operator."""
    pointers = image.pointers
    head = _COMPILE.pack(1, len(image.data), len(pointers), image.root, len(inputs), len(outputs))
    tensors = b"".join(struct.pack("<QQ", bound.size, bound.owned) for bound in (*inputs, *outputs))
    return head + struct.pack(f"<{len(pointers)}I", *pointers) + image.data + tensors


#: The outputs are filled with each of these bytes before a dispatch; the two differ in every bit.
FILL_BYTES: Final = (0xA5, 0x5A)
#: The maximum number of compiled operators per process.
_MAX_COMPILED: Final = 200


class _Question(NamedTuple):
    image: Image
    inputs: list[Bound]
    outputs: list[Bound]
    data: list[tuple[bytes, bytes]]  # per case, one per byte in FILLS


class ValuesOracle(ProcessOwner[ValuesProcess]):
    """One DirectML build that runs operators in a subprocess.

    The process is restarted after a failure. level: a feature level whose build computes values. timeout: seconds for
    compilation and for each dispatch. versions: of the packages that compute, by name. Not thread-safe.
    Raises InputError if the level's values are not installed, with the command that installs them.
    """

    def __init__(self, level: str, *, timeout: float = 120.0) -> None:
        super().__init__()
        self.level = level
        self.timeout = timeout
        self.build = find_builds(level, "windows")[0]
        self._place = ready_place(level)
        self.versions: Mapping[str, str] = {"directml": self.build.title, **_versions(self._place)}
        number = self._ready().level
        if f"{number >> 12}.{number >> 8 & 15}" != self.build.reports:
            self.close()
            raise InputError(f"expected a device of level {self.build.reports}, found 0x{number:04X}")

    def run(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs by name, masked where DirectML wrote nothing.

        descriptor: a Descriptor or a dict in DxDispatch's form. arrays: logical inputs by name, a list for an array of
        tensors; UINT4 and INT4 as uint8 and int8. Outputs have the declared sizes; an array of tensors is a list.
        Raises InputError with the reason if the build computes nothing.
        """
        return self.run_many(descriptor, [arrays])[0]

    def run_many(
        self, descriptor: Descriptor | Mapping[str, Any], cases: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the outputs per set of inputs; the operator is compiled once."""
        tables = []
        for answer in self.compute_many(descriptor, cases):
            if answer.arrays is None:
                raise InputError(f"DirectML {self.level} computed nothing: {answer.reply.word}, {answer.reply.detail}")
            tables.append(dict(answer.arrays))
        return tables

    def values(self, descriptor: Descriptor | Mapping[str, Any], arrays: Mapping[str, Any]) -> Values:
        """Return the outputs, or None with the reason.

        Reasons are `rejected` by CreateOperator, `no kernel` if it does not compile or the device is lost (the detail
        has the HRESULT), `crashed` and `timeout`. Raises InputError for arrays that do not fit the descriptor.
        """
        return self.compute_many(descriptor, [arrays])[0]

    def compute_many(
        self, descriptor: Descriptor | Mapping[str, Any], cases: Sequence[Mapping[str, Any]]
    ) -> list[Values]:
        """Return an answer per set of inputs; the operator is compiled once.

        A failure counts only if it is reproduced in a new process.
        """
        operator, fields = operator_parts(descriptor)
        inputs, outputs = bound_tensors(operator, fields, "input"), bound_tensors(operator, fields, "output")
        data = [(input_bytes(inputs, case, FILL_BYTES[0]), input_bytes(inputs, case, FILL_BYTES[1])) for case in cases]
        question = _Question(image(descriptor), inputs, outputs, data)
        answers: list[Values] = []
        while len(answers) < len(data):
            answers += self._ask_cases(question, len(answers))
        return answers

    def _ask_cases(self, question: _Question, first: int) -> list[Values]:
        """Return answers from case `first` to the last one or first failure."""
        process = self._ready()
        fresh = process.compiled == 0
        answers: list[Values] = []
        try:
            result = process.compile(question.image, question.inputs, question.outputs, self.timeout)
            if isinstance(result, FailedQuestion):
                return self._failure(answers, _reply(result), question, first, fresh=fresh, finished=True)
            for pair in question.data[first:]:
                answer = self._dispatch(process, question, pair)
                if isinstance(answer, FailedQuestion):
                    is_first = fresh and not answers
                    return self._failure(answers, _reply(answer), question, first, fresh=is_first)
                answers.append(answer)
        except WorkerLost as error:
            is_first = fresh and not answers
            return self._failure(answers, Reply(error.word, "its process"), question, first, fresh=is_first)
        return answers

    def _dispatch(
        self, process: ValuesProcess, question: _Question, pair: tuple[bytes, bytes]
    ) -> Values | FailedQuestion:
        size = sum(bound.size for bound in question.outputs)
        blocks = []
        for fill, data in zip(FILL_BYTES, pair, strict=True):
            answer = process.dispatch(data, fill, size, self.timeout)
            if isinstance(answer, FailedQuestion):
                return answer
            blocks.append(answer)
        return Values(output_arrays(question.outputs, blocks[0], blocks[1]), Reply("accepted"))

    def _failure(
        self,
        answers: list[Values],
        reply: Reply,
        question: _Question,
        first: int,
        *,
        fresh: bool,
        finished: bool = False,
    ) -> list[Values]:
        """Add a failure if the process was new, else leave the case for a retry.

        finished: the failure applies to all cases, as it concerns the operator.
        """
        self._retire()
        if not fresh:
            return answers
        return answers + [Values(None, reply)] * (len(question.data) - first if finished else 1)

    def _start(self) -> ValuesProcess:
        return ValuesProcess(self._place, self.level)

    def _must_replace(self, process: ValuesProcess) -> bool:
        return process.compiled >= _MAX_COMPILED


def _reply(failed: FailedQuestion) -> Reply:
    return Reply("rejected" if failed.stage == "CreateOperator" else "no kernel", str(failed))


def _versions(place: WineEnvironment) -> dict[str, str]:
    """Return the versions of the packages that compute, from dpkg's status."""
    path: Path = (place.root or type(place.folder)("/")) / "var/lib/dpkg/status"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    texts_by_name = {"wine64": "wine", "mesa-vulkan-drivers": "mesa"}
    entries = re.findall(r"^Package: (\S+)\n(?:\S.*\n| .*\n)*?Version: (\S+)$", text, re.MULTILINE)
    return {texts_by_name[name]: version for name, version in entries if name in texts_by_name}
