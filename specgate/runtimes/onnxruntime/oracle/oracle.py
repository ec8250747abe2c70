"""Oracle of ONNX Runtime's placement, and its answers about models."""

from __future__ import annotations

import re
import struct
import time
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from specgate.descriptors.core import format_value
from specgate.dialects.directml.native.marshal import Image
from specgate.dialects.directml.native.unmarshal import describe_image, pointer_layout
from specgate.dialects.directml.oracle.builds import find_builds
from specgate.dialects.directml.oracle.oracle import Capabilities
from specgate.dialects.directml.oracle.worker import HostProcess
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.oracle.install import NEWEST, PACKAGE, find_runtime, installed_host
from specgate.runtimes.onnxruntime.oracle.marked import MARKER, MARKER_SIZE, add_markers
from specgate.workers.piped import ProcessOwner, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.runtimes.onnxruntime.oracle.install import InstalledHost
    from specgate.workers.piped import End

#: Prefix of the answer if a requested run is not possible.
NOT_RUN: Final = "not run"
#: The runtime's names of its providers, and specgate's.
_PROVIDERS: Final = {"CPUExecutionProvider": "CPU", "DmlExecutionProvider": "DirectML"}
_GROUP: Final = re.compile(r"\s*(?:All nodes|Node\(s\)) placed on \[(\w*)\]\. Number of nodes: (\d+)\s*")
_NODE: Final = re.compile(r"\s*([^\s(]+) \((.*)\)\s*", re.DOTALL)
#: Source location of an error, which depends on the build and the process but not on the model.
_SOURCE: Final = re.compile(
    r"\S*[\\/]\S+\.(?:cc|cpp|h)[:(]\d+\)?\s?"
    r"|\S*\.dll![0-9A-F]+: (?:\(caller: [0-9A-F]+\) )?(?:Exception\(\d+\) )?(?:tid\([0-9a-f]+\) )?"
)


class Placed(NamedTuple):
    """A node of the runtime's graph, which includes its own insertions.

    The runtime inlines functions and inserts casts and copies. provider: ``CPU`` or ``DirectML``.
    """

    name: str
    op_type: str
    provider: str


class CreatedOperator(NamedTuple):
    """A created DirectML operator.

    It has the descriptor in DxDispatch's format, and CreateOperator's HRESULT.
    hresult: None if the process ended during the call. kernel: equal for operators of one kernel or of one graph of
    kernels. deferred: created during the run, not with the session.
    """

    descriptor: Mapping[str, Any]
    hresult: int | None
    kernel: int
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome for a model.

    word: how the creation of the session ended. error: the runtime's text if it ``fails``; code: the OrtErrorCode (9 is
    NOT_IMPLEMENTED, a node without a kernel), else 0. nodes: placed nodes as far as the runtime came, grouped by
    provider, in graph order. operators: in order of creation. run: how a requested run ended: ``ran``, ``crashed``,
    ``timeout``, ``not run`` with the reason, or the text of its error. seconds: total duration.
    """

    word: Literal["created", "fails", "crashed", "timeout"]
    error: str = ""
    code: int = 0
    nodes: tuple[Placed, ...] = ()
    operators: tuple[CreatedOperator, ...] = ()
    run: str = ""
    seconds: float = 0.0

    @property
    def session(self) -> str:
        """Session outcome: ``created``, ``crashed``, ``timeout`` or error text."""
        return self.error if self.word == "fails" else self.word

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "session": self.word,
            "error": self.error,
            "code": self.code,
            "nodes": [node._asdict() for node in self.nodes],
            "operators": [
                operator._asdict() | {"hresult": None if operator.hresult is None else f"0x{operator.hresult:08X}"}
                for operator in self.operators
            ],
            "run": self.run,
            "seconds": round(self.seconds, 4),
        }


def error_text(text: str) -> str:
    """Return an error's text on one line, without source locations."""
    return " ".join(_SOURCE.sub("", text).split())


def placed_nodes(lines: Iterable[str]) -> tuple[Placed, ...]:
    """Return the placed nodes from the runtime's log lines.

    If all nodes are on one provider, the log omits the nodes.
    """
    provider = ""
    nodes = []
    for line in lines:
        group = _GROUP.fullmatch(line)
        node = _NODE.fullmatch(line)
        if group:
            provider = _PROVIDERS.get(group[1], group[1])
        elif node and provider:
            nodes.append(Placed(node[2], node[1], provider))
    return tuple(nodes)


_LAYOUT, _CREATE = 1, 2
_OPERATOR, _CREATED, _PLACE, _COMPILED, _END, _RUN_MARK = range(1, 7)
_HEAD: Final = struct.Struct("<II")
_QUESTION: Final = struct.Struct("<IIIII")
_NUMBER: Final = struct.Struct("<I")
_START: Final = 120.0  # seconds; Wine may have to update its folder first


@dataclass(slots=True)
class Outcome:
    """The outcome of one model in the host.

    It includes the operators given to CreateOperator with its HRESULT, and the lines of the log. kernels: per
    compilation the number of operators, and the number of nodes of its graph (0 without a graph). before_run: number of
    operators created before the session ran, None if it did not run. code: the runtime's error number, 0 for success;
    text: its text. end: why the process was lost, if it was.
    """

    operators: list[tuple[Image, int | None]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    kernels: list[tuple[int, int]] = field(default_factory=list)
    before_run: int | None = None
    code: int = 0
    text: str = ""
    end: End | None = None


class PlacementProcess(HostProcess):
    """A running host process.

    question_count: number of models that it received.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.question_count = 0
        super().__init__(command, environment, b"SGDP", start_timeout=_START, group=True)
        self._layout = _NUMBER.pack(_LAYOUT) + pointer_layout()

    def ask(
        self, model: bytes, optimisation: int, timeout: float, *, fused: bool = False, run: bool = False
    ) -> Outcome:
        """Return the outcome of a serialized model; kill a late process."""
        layout = b"" if self.question_count else self._layout
        self.question_count += 1
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
        """Read one record; return whether more follow.

        Raises EOFError for invalid data.
        """
        kind, size = _HEAD.unpack(self.read(_HEAD.size))
        if not _OPERATOR <= kind <= _RUN_MARK or size > 2**28:
            self.kill()  # a crashing process wrote text to the pipe
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
        elif kind == _RUN_MARK:
            outcome.before_run = len(outcome.operators)
        else:
            outcome.code = _NUMBER.unpack_from(data)[0]
            outcome.text = data[_NUMBER.size :].decode("utf-8", "replace")
        return bool(kind != _END)


def _image(data: bytes) -> Image:
    root, count = _HEAD.unpack_from(data)
    start = _HEAD.size + 4 * count
    return Image(data[start:], struct.unpack_from(f"<{count}I", data, _HEAD.size), root)


#: The runtime's graph optimization levels with their numbers.
OPTIMISATIONS: Final = {"off": 0, "basic": 1, "extended": 2, "all": 99}
#: HRESULTs that leave a process usable: success and E_INVALIDARG.
_USUAL_CODES: Final = frozenset({0, 0x80070057})
#: Error codes of a removed device in texts; every later question fails, too.
_DEVICE_REMOVED_CODES: Final = ("887A0005", "887A0006", "887A0007", "887A0020", "8007000E")
#: Number of models after which a process is replaced.
_MAX_QUESTIONS: Final = 400


class PlacementOracle(ProcessOwner[PlacementProcess]):
    """One release of ONNX Runtime, in a restartable subprocess.

    The subprocess is replaced whenever its state may be damaged.
    level: feature level of the DirectML to use, None for the release's own. device: capabilities that its device
    reports. optimisation: a key of OPTIMISATIONS; only ``off`` keeps the model's own nodes. fused: whether neighboring
    nodes on DirectML become one graph, which is the session's default; a graph hides its nodes. run: also run a created
    session, with ones for inputs of known sizes, so that deferred kernels are created. Results are not computed, so
    values that the CPU reads from DirectML are meaningless. timeout: seconds per model. versions: the tested versions
    by name. Not thread-safe.
    Raises InputError, with the install command, if it is not installed.
    """

    def __init__(
        self,
        release: str = NEWEST,
        *,
        level: str | None = None,
        device: Capabilities | None = None,
        optimisation: str = "off",
        fused: bool = False,
        run: bool = False,
        timeout: float = 120.0,
    ) -> None:
        super().__init__()
        self.runtime = find_runtime(release)
        self.level = level or self.runtime.level
        self.device = device or Capabilities()
        self.timeout = timeout
        self.fused, self.run = fused, run
        self._optimisation = optimisation_number(optimisation)
        self._build = installed_host(release, level)
        self.versions: Mapping[str, str] = {PACKAGE: release, "directml": self.level}
        number, reports = self._ready().level, find_builds(self.level, "windows")[0].reports
        if f"{number >> 12}.{number >> 8 & 15}" != reports:
            self.close()
            raise InputError(f"expected a device of level {reports}, found 0x{number:04X}")

    def ask(self, models: Sequence[bytes]) -> list[Answer]:
        """Return the outcome of each serialized model.

        A crash, a timeout or a lost device counts only if it happens in a fresh process.
        """
        return [self._ask_model(add_markers(model)) for model in models]

    def _ask_model(self, model: bytes) -> Answer:
        process = self._ready()
        fresh = process.question_count == 0
        start_time = time.perf_counter()
        outcome = process.ask(model, self._optimisation, self.timeout, fused=self.fused, run=self.run)
        number = time.perf_counter() - start_time
        harmed = outcome.end is not None or any(sign in outcome.text for sign in _DEVICE_REMOVED_CODES)
        if harmed or any(code not in _USUAL_CODES for _, code in outcome.operators):
            self._retire()
        if harmed and not fresh:
            return self._ask_model(model)
        return _answer(outcome, number)

    def _start(self) -> PlacementProcess:
        return PlacementProcess(_command(self._build, self.device), self._build.place.environment())

    def _must_replace(self, process: PlacementProcess) -> bool:
        return process.question_count >= _MAX_QUESTIONS


def optimisation_number(word: str) -> int:
    """Return the number of an optimization level; raise InputError."""
    if word not in OPTIMISATIONS:
        raise InputError(f"expected one of {', '.join(OPTIMISATIONS)}, found {format_value(word)}")
    return OPTIMISATIONS[word]


def _command(ready_host: InstalledHost, device: Capabilities) -> list[str]:
    place = ready_host.place
    libraries = ["Z:" + place.map_path(path).replace("/", "\\") for path in (ready_host.directml, ready_host.runtime)]
    switches = [f"{f.name}={int(getattr(device, f.name))}" for f in fields(device)]
    return place.command(place.wine, place.map_path(ready_host.host), *libraries, *switches)


def _answer(outcome: Outcome, seconds: float) -> Answer:
    before_run = len(outcome.operators) if outcome.before_run is None else outcome.before_run
    image_counts = (
        (describe_image(image), code, sum(before <= i for before, _ in outcome.kernels), i >= before_run)
        for i, (image, code) in enumerate(outcome.operators)
    )
    runtime_images = [image_count for image_count in image_counts if not _is_marker(image_count[0])]
    order = {kernel: i for i, kernel in enumerate(dict.fromkeys(runtime_image[2] for runtime_image in runtime_images))}
    nodes = tuple(node for node in placed_nodes(outcome.places) if not node.name.startswith(MARKER))
    created = tuple(
        CreatedOperator(*runtime_image[:2], order[runtime_image[2]], runtime_image[3])
        for runtime_image in runtime_images
    )
    text = error_text(outcome.text)
    if outcome.before_run is not None:
        return Answer("created", "", 0, nodes, created, outcome.end or text or "ran", seconds)
    return Answer(
        outcome.end or ("fails" if outcome.code else "created"), text, outcome.code, nodes, created, "", seconds
    )


def _is_marker(descriptor: Mapping[str, Any]) -> bool:
    tensor = descriptor["desc"].get("InputTensor")
    return isinstance(tensor, dict) and MARKER_SIZE in tensor["Sizes"]
