"""Oracle with the onnx checker, strict shape inference and ONNX Runtime.

    with ONNXOracle("17") as oracle:
        oracle.ask([descriptor])[0]["onnxruntime"].word     # "accepted", "rejected", "no kernel" …

Each implementation's verdict is reported separately. They run in a subprocess, which is restarted after a crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.oracle.question import make_question
from specgate.errors import InputError
from specgate.oracles.protocol import Reply, Values
from specgate.spec.tables import dialect
from specgate.workers.child import Child
from specgate.workers.processes import Closing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.oracle.question import Question

__all__ = ["ONNXOracle"]

#: Package that determines the version, by implementation.
_VERDICTS: Final = {"checker": "onnx", "inference": "onnx", "onnxruntime": "onnxruntime"}
_VALUES: Final = {"onnxruntime": "onnxruntime", "reference": "onnx"}
_INSTALL: Final = "pip install 'specgate-ml[oracles]'"


class ONNXOracle(Closing):
    """The installed onnx and onnxruntime packages at one opset.

    checker: ``onnx.checker.check_model``, which checks the node only, not types or sizes. inference: strict
    ``onnx.shape_inference`` with data propagation. onnxruntime: a CPU session without graph optimizations; a session
    that fails because of a missing kernel has accepted the model as valid.
    A descriptor written for an opset is checked at that opset. If a model, or that implementation, cannot express the
    question, the verdict is ``not asked`` with the reason, for example an opset that it does not define or an input of
    unknown type. For operators of a runtime's custom domain only values are compared, not verdicts, because their
    kernels check most arguments at run time. ONNX Runtime is also run at opsets that it implements but does not
    officially support. level: an opset. timeout: seconds per descriptor. versions: of the implementations in `ask`;
    value_versions: of those in `values`. Without onnxruntime its column is absent.
    Raises InputError for an unknown opset, or if onnx is not installed.
    """

    dialect = "onnx"

    def __init__(self, level: str, *, timeout: float = 10.0) -> None:
        dialect("onnx").check_level(level)
        self.level = level
        self._child = Child("specgate.dialects.onnx.oracle.child", "answerer", timeout=timeout)
        result = self._child.ask(("versions",))
        if not isinstance(result, dict) or "onnx" not in result:
            self._child.close()
            how = "cannot be imported" if isinstance(result, dict) else f"{result} when it was imported"
            raise InputError(f"onnx {how}: {_INSTALL}")
        self.versions: Mapping[str, str] = {n: result[package] for n, package in _VERDICTS.items() if package in result}
        self.value_versions: Mapping[str, str] = {n: result[p] for n, p in _VALUES.items() if p in result}

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return every implementation's reply by name for each descriptor.

        An invalid descriptor raises nothing.
        """
        return [self._one(make_question(descriptor, self.level)) for descriptor in descriptors]

    def _one(self, question: Question | str) -> dict[str, Reply]:
        names = tuple(self.versions)
        if not isinstance(question, str) and question.domain:
            question = f"what a session checks of operators of {question.domain} is not compared; only their values are"
        if isinstance(question, str):
            return dict.fromkeys(names, Reply("not asked", question))
        answer = self._child.ask(("verdicts", names, question))
        if isinstance(answer, dict):
            return {name: Reply(*word) for name, word in answer.items()}
        replies = {}  # one implementation crashed the subprocess, so ask each separately
        for name in names:
            alone = self._child.ask(("verdicts", (name,), question))
            replies[name] = Reply(*alone[name]) if isinstance(alone, dict) else Reply(alone)
        return replies

    def values(
        self, descriptor: Descriptor, arrays: Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]
    ) -> dict[str, Values]:
        """Return what each implementation computes; see `values_many`."""
        return self.values_many(descriptor, [arrays])[0]

    def values_many(
        self,
        descriptor: Descriptor,
        arrays: Sequence[Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]],
    ) -> list[dict[str, Values]]:
        """Return what each implementation computes for each set of arrays.

        One session runs all sets. Arrays are by the operator's input names, with a list for a variadic input. Constants
        of the descriptor may be omitted. Outputs are by the operator's output names (``outputs_0``, ``outputs_1`` … for
        a variadic output); strings are objects. ``rejected`` means an error while loading or running.
        """
        names = tuple(self.value_versions)
        question = make_question(descriptor, self.level)
        if isinstance(question, str):
            return [dict.fromkeys(names, Values(None, Reply("not asked", question))) for _ in arrays]
        feeds = [_feed(entries) for entries in arrays]
        answer = self._child.ask(("values", names, question, feeds))
        if not isinstance(answer, dict):
            answer = {name: self._values_alone(name, question, feeds) for name in names}
        return [
            {name: Values(answer[name][i][0], Reply(*answer[name][i][1])) for name in names} for i in range(len(feeds))
        ]

    def _values_alone(self, name: str, question: Question, feeds: Sequence[dict[str, Any]]) -> list[Any]:
        answers: list[Any] = []
        for feed in feeds:
            alone = self._child.ask(("values", (name,), question, [feed]))
            answers += alone[name] if isinstance(alone, dict) else [(None, (alone, ""))]
            if alone == "timeout":  # other elements would time out as well
                return answers + [(None, (alone, ""))] * (len(feeds) - len(answers))
        return answers

    def close(self) -> None:
        """Stop the subprocess; the next question restarts it."""
        self._child.close()


def _feed(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays by the names of the model's inputs."""
    feed: dict[str, Any] = {}
    for name, result in arrays.items():
        if isinstance(result, list | tuple):
            feed.update((f"{name}_{i}", array) for i, array in enumerate(result))
        else:
            feed[name] = result
    return feed
