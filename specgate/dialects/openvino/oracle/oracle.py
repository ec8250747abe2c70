"""OpenVINO, asked in a process of its own whether it takes a layer, and what it computes.

    with OpenVINOOracle("opset1") as oracle:
        oracle.ask([descriptor])[0]["factory"].word         # "accepted", "rejected" …
        oracle.values(descriptor, arrays)["evaluate"].arrays

Verdicts: `factory` constructs the operation with the opset's factory, which has no place for a stated output: another
type or shape than the node infers is a rejection of ours. `ir` reads an IR that holds the layer and states its
outputs; the reader infers them again, whatever is stated. Both take unknown attributes, and required ones left out.
`cpu`, which is asked only where it is named, takes what the factory takes and the CPU plugin then compiles.

Values: `evaluate` is the operation's own reference, exact where it has one; `cpu` is the CPU plugin with f32 as its
inference precision: f16 and bf16 are computed in f32 and rounded to their type at the end, wider types are narrowed
to 32 bits. Inputs that do not fit are not asked; an integer result that does not fit wraps around. What depends on
constants only is folded before it runs. With inputs that break the operation's own rules it may read or write beyond
its buffers: a negative depth of OneHot is no error to it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Self, cast

from specgate.dialects.openvino.oracle.exchange import arrays_of, blobs_of, narrowed, version
from specgate.dialects.openvino.oracle.layer import NotExpressibleError, layer_of
from specgate.errors import InputError
from specgate.oracles.protocol import Reply, Values
from specgate.spec.tables import dialect
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.openvino.oracle.exchange import Blob, Computed, Question
    from specgate.dialects.openvino.oracle.layer import Layer

__all__ = ["OpenVINOOracle"]

_VERDICTS: Final = ("factory", "ir")
_VALUES: Final = ("evaluate", "cpu")
_FAILURES: Final = {
    "crashed": Reply("crashed", "the process died of this question alone"),
    "timeout": Reply("timeout", "there was no answer in time"),
}
_CHILD: Final = "specgate.dialects.openvino.oracle.child"


class OpenVINOOracle:
    """The installed OpenVINO at one opset.

    level: ``opset1`` and so on. asked: who is asked for verdicts, of factory, ir and cpu. timeout: seconds for each
    question. A crash counts if the question brings it about in a process that was asked nothing else. Not for several
    threads at once.
    Raises InputError for an unknown level, or where OpenVINO is not installed or does not start.
    """

    dialect = "openvino"

    def __init__(self, level: str, texts: Sequence[str] = _VERDICTS, *, timeout: float = 20.0) -> None:
        dialect("openvino").check_level(level)
        if find_spec("openvino") is None:
            raise InputError("OpenVINO is not installed; try: pip install openvino")
        self.level = level
        self.asked = tuple(texts)
        self.versions: Mapping[str, str] = dict.fromkeys(self.asked, version())
        self.timeout = timeout
        #: The plugin works on raw memory at run time, so the others have a process that it cannot harm.
        self._children = {"cpu": self._child()}
        self._children.update(dict.fromkeys((*_VERDICTS, "evaluate"), self._child()))

    def _child(self) -> Child:
        return Child(_CHILD, "make", self.level, timeout=self.timeout)

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return, for each descriptor, the reply of `factory` and of `ir`, or of those that are asked instead."""
        questions: list[Question] = []
        places: list[tuple[int, str]] = []
        replies: list[dict[str, Reply]] = [{} for _ in descriptors]
        for at, descriptor in enumerate(descriptors):
            try:
                layer = layer_of(descriptor, self.level)
            except NotExpressibleError as error:
                replies[at] = dict.fromkeys(self.asked, Reply("not asked", str(error)))
                continue
            questions += [(column, layer, []) for column in self.asked]
            places += [(at, column) for column in self.asked]
        process = "cpu" if "cpu" in self.asked else "factory"
        for (at, column), answer in zip(places, self._answers(process, questions), strict=True):
            replies[at][column] = answer if isinstance(answer, Reply) else Reply(*answer)
        return replies

    def values(self, descriptor: Descriptor, arrays: Mapping[str, Any]) -> dict[str, Values]:
        """Return what `evaluate` and `cpu` compute; arrays by input name, constants may be left out."""
        return self.values_many(descriptor, [arrays])[0]

    def values_many(self, descriptor: Descriptor, sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Values]]:
        """Return what `evaluate` and `cpu` compute for each set of arrays; the plugin compiles once.

        "rejected" where the operation refuses the descriptor or these arrays, "no kernel" where it takes the
        descriptor and the implementation cannot run it.
        """
        tables: list[dict[str, Values]] = [{} for _ in sets]
        try:
            layer = layer_of(descriptor, self.level)
        except NotExpressibleError as error:
            return [dict.fromkeys(_VALUES, _unasked(str(error))) for _ in sets]
        for column in _VALUES:
            blobs_by_number: dict[int, list[Blob]] = {}
            for at, arrays in enumerate(sets):
                blobs = self._blobs(descriptor, arrays, column)
                if isinstance(blobs, str):
                    tables[at][column] = _unasked(blobs)
                else:
                    blobs_by_number[at] = blobs
            computed = self._compute(column, layer, list(blobs_by_number.values()))
            for at, result in zip(blobs_by_number, computed, strict=True):
                tables[at][column] = _values(descriptor, result)
        return tables

    @staticmethod
    def _blobs(descriptor: Descriptor, arrays: Mapping[str, Any], column: str) -> list[Blob] | str:
        """Return the inputs to send, or why there are none."""
        try:
            blobs = blobs_of(descriptor, arrays)
        except NotExpressibleError as error:
            return str(error)
        return (narrowed(blobs) if column == "cpu" else "") or blobs

    def _compute(self, column: str, layer: Layer, sets: list[list[Blob]]) -> list[Computed | Reply]:
        """Ask once for all sets; if that fails, for each of them in a fresh process."""
        if not sets:
            return []
        answer = self._exchange(column, [(column, layer, sets)])[0]
        if answer == "timeout" and len(sets) == 1:
            return [_FAILURES[answer]]
        if not isinstance(answer, str):
            return cast("list[Computed | Reply]", answer)
        return [self._alone(column, (column, layer, [one])) for one in sets]

    def _answers(self, column: str, questions: list[Question]) -> list[Any]:
        answers = self._exchange(column, questions)
        return [
            self._alone(column, question) if answer == "crashed" else _FAILURES.get(answer, answer)
            for question, answer in zip(questions, answers, strict=True)
        ]

    def _alone(self, column: str, question: Question) -> Any:
        """Return the answer of a process that is asked nothing else; a Reply where there is none."""
        self._children[column].close()
        answer = self._exchange(column, [question])[0]
        self._children[column].close()
        if isinstance(answer, str):
            return _FAILURES[answer]
        return answer[0] if question[2] else answer

    def _exchange(self, column: str, questions: list[Question]) -> list[Any]:
        try:
            return self._children[column].ask_many(questions)
        except RuntimeError as error:  # the process catches what questions bring about: OpenVINO itself does not start
            text = str(error).strip().rsplit("\n", 1)[-1]
            raise InputError(f"OpenVINO cannot be asked: {text[:200]}") from None

    def close(self) -> None:
        """End the processes; asking again starts them again."""
        for child in self._children.values():
            child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unasked(reason: str) -> Values:
    return Values(None, Reply("not asked", reason))


def _values(descriptor: Descriptor, result: Computed | Reply) -> Values:
    if isinstance(result, Reply) or result.outputs is None:
        return Values(None, Reply(*result[:2]))
    try:
        return Values(arrays_of(descriptor, result.outputs), Reply(result.word, result.detail))
    except NotExpressibleError as error:
        return _unasked(str(error))
