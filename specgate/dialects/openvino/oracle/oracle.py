"""Oracle that runs OpenVINO in a subprocess, for verdicts and values.

    with OpenVINOOracle("opset1") as oracle:
        oracle.ask([descriptor])[0]["factory"].word         # "accepted", "rejected" …
        oracle.values(descriptor, arrays)["evaluate"].arrays

Verdicts: `factory` constructs the operation with the opset's factory. The factory has no argument for stated outputs,
so specgate rejects a stated type or shape that differs from the inferred one. `ir` reads an IR with the layer and its
stated outputs, which the reader infers again. Both accept unknown attributes and missing required ones. `cpu`, only
used if requested, accepts what the factory accepts and the CPU plugin then compiles.

Values: `evaluate` is the operation's reference implementation, exact if it has one. `cpu` is the CPU plugin with f32
inference precision. It computes f16 and bf16 in f32 and rounds the result, and it narrows wider types to 32 bits.
Inputs that do not fit are not asked; an integer result that does not fit wraps around. Parts that depend only on
constants are folded before inference. With inputs that violate the operation's rules the plugin may access memory out
of bounds, because it does not check, for example, for a negative depth of OneHot.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from specgate.dialects.openvino.oracle.exchange import version
from specgate.dialects.openvino.oracle.layer import NotExpressibleError, layer_of
from specgate.errors import InputError
from specgate.oracles.protocol import Reply, Values
from specgate.spec.tables import dialect
from specgate.workers.child import Child
from specgate.workers.processes import Closing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.openvino.oracle.exchange import Blob, ComputedOutputs, Question
    from specgate.dialects.openvino.oracle.layer import Layer

_VERDICTS: Final = ("factory", "ir")
_VALUES: Final = ("evaluate", "cpu")
_FAILURES: Final = {
    "crashed": Reply("crashed", "the subprocess crashes on this case alone"),
    "timeout": Reply("timeout", "timeout"),
}
_CHILD: Final = "specgate.dialects.openvino.oracle.child"


class OpenVINOOracle(Closing):
    """The installed OpenVINO at one opset.

    level: ``opset1`` and so on. names: the implementations for verdicts, of factory, ir and cpu. timeout: seconds per
    question. A crash is only reported if the question alone causes it in a fresh subprocess. Not thread-safe. Raises
    InputError for an unknown level, or if OpenVINO is not installed or does not start.
    """

    dialect = "openvino"

    def __init__(self, level: str, texts: Sequence[str] = _VERDICTS, *, timeout: float = 20.0) -> None:
        dialect("openvino").check_level(level)
        if find_spec("openvino") is None:
            raise InputError("OpenVINO is not installed; try: pip install openvino")
        self.level = level
        self.names = tuple(texts)
        self.versions: Mapping[str, str] = dict.fromkeys(self.names, version())
        self.timeout = timeout
        #: The plugin may corrupt memory at run time, so the others use a separate subprocess.
        self._children = {"cpu": self._child()}
        self._children.update(dict.fromkeys((*_VERDICTS, "evaluate"), self._child()))

    def _child(self) -> Child:
        return Child(_CHILD, "make_asker", self.level, timeout=self.timeout)

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return the replies by implementation for each descriptor."""
        questions: list[Question] = []
        places: list[tuple[int, str]] = []
        replies: list[dict[str, Reply]] = [{} for _ in descriptors]
        for index, descriptor in enumerate(descriptors):
            try:
                layer = layer_of(descriptor, self.level)
            except NotExpressibleError as error:
                replies[index] = dict.fromkeys(self.names, Reply("not asked", str(error)))
                continue
            questions += [(column, layer, []) for column in self.names]
            places += [(index, column) for column in self.names]
        process = "cpu" if "cpu" in self.names else "factory"
        for (index, column), answer in zip(places, self._answers(process, questions), strict=True):
            replies[index][column] = answer if isinstance(answer, Reply) else Reply(*answer)
        return replies

    def values(self, descriptor: Descriptor, arrays: Mapping[str, Any]) -> dict[str, Values]:
        """Return the values of `evaluate` and `cpu`.

        Arrays are by input name; constants may be omitted.
        """
        return self.compute_many(descriptor, [arrays])[0]

    def compute_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        """Return the values of `evaluate` and `cpu` for each set of arrays.

        The plugin compiles once. "rejected" means that the operation rejects the descriptor or the arrays. "no kernel"
        means that it accepts the descriptor but the implementation cannot run it.
        """
        tables: list[dict[str, Values]] = [{} for _ in sets]
        try:
            layer = layer_of(descriptor, self.level)
        except NotExpressibleError as error:
            return [dict.fromkeys(_VALUES, _not_asked_values(str(error))) for _ in sets]
        for column in _VALUES:
            blobs_by_number: dict[int, list[Blob]] = {}
            for index, arrays in enumerate(sets):
                blobs = self._blobs(descriptor, arrays, column)
                if isinstance(blobs, str):
                    tables[index][column] = _not_asked_values(blobs)
                else:
                    blobs_by_number[index] = blobs
            computed_outputs = self._compute(column, layer, list(blobs_by_number.values()))
            for index, result in zip(blobs_by_number, computed_outputs, strict=True):
                tables[index][column] = _values(descriptor, result)
        return tables

    @staticmethod
    def _blobs(descriptor: Descriptor, arrays: Mapping[str, Any], column: str) -> list[Blob] | str:
        """Return the inputs to send, or why they cannot be sent."""
        from specgate.dialects.openvino.oracle.values import blobs_of, narrowing_reason

        try:
            blobs = blobs_of(descriptor, arrays)
        except NotExpressibleError as error:
            return str(error)
        return (narrowing_reason(blobs) if column == "cpu" else "") or blobs

    def _compute(self, column: str, layer: Layer, sets: list[list[Blob]]) -> list[ComputedOutputs | Reply]:
        """Ask once for all sets; on failure, ask for each in a fresh subprocess."""
        if not sets:
            return []
        answer = self._exchange(column, [(column, layer, sets)])[0]
        if answer == "timeout" and len(sets) == 1:
            return [_FAILURES[answer]]
        if not isinstance(answer, str):
            return cast("list[ComputedOutputs | Reply]", answer)
        return [self._ask_in_new_process(column, (column, layer, [inputs])) for inputs in sets]

    def _answers(self, column: str, questions: list[Question]) -> list[Any]:
        answers = self._exchange(column, questions)
        return [
            self._ask_in_new_process(column, question) if answer == "crashed" else _FAILURES.get(answer, answer)
            for question, answer in zip(questions, answers, strict=True)
        ]

    def _ask_in_new_process(self, column: str, question: Question) -> Any:
        """Return the answer of a fresh subprocess, or a Reply on failure."""
        self._children[column].close()
        answer = self._exchange(column, [question])[0]
        self._children[column].close()
        if isinstance(answer, str):
            return _FAILURES[answer]
        return answer[0] if question[2] else answer

    def _exchange(self, column: str, questions: list[Question]) -> list[Any]:
        try:
            return self._children[column].ask_many(questions)
        except RuntimeError as error:  # the subprocess catches errors of questions, so OpenVINO itself did not start
            text = str(error).strip().rsplit("\n", 1)[-1]
            raise InputError(f"cannot load OpenVINO: {text[:200]}") from None

    def close(self) -> None:
        """Stop the subprocesses; the next question restarts them."""
        for child in self._children.values():
            child.close()


def _not_asked_values(reason: str) -> Values:
    return Values(None, Reply("not asked", reason))


def _values(descriptor: Descriptor, result: ComputedOutputs | Reply) -> Values:
    from specgate.dialects.openvino.oracle.values import arrays_of

    if isinstance(result, Reply) or result.outputs is None:
        return Values(None, Reply(*result[:2]))
    try:
        return Values(arrays_of(descriptor, result.outputs), Reply(result.word, result.detail))
    except NotExpressibleError as error:
        return _not_asked_values(str(error))
