"""ONNX's checker, its strict shape inference and ONNX Runtime, asked whether they take a descriptor: a matrix, no vote.

    with ONNXOracle("17") as oracle:
        oracle.ask([descriptor])[0]["onnxruntime"].word     # "accepted", "rejected", "no kernel" …

They run in a process of their own, which is started afresh when one of them takes it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from specgate.dialects.onnx.oracle.question import make_question
from specgate.errors import InputError
from specgate.oracles.protocol import Reply, Values
from specgate.spec.tables import dialect
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.oracle.question import Question

__all__ = ["ONNXOracle"]

#: Implementation -> the package whose version it has.
_VERDICTS: Final = {"checker": "onnx", "inference": "onnx", "onnxruntime": "onnxruntime"}
_VALUES: Final = {"onnxruntime": "onnxruntime", "reference": "onnx"}
_INSTALL: Final = "pip install 'specgate-ml[oracles]'"


class ONNXOracle:
    """The installed onnx and onnxruntime packages at one opset.

    checker: ``onnx.checker.check_model``, which looks at the node alone, at no types or sizes. inference: strict
    ``onnx.shape_inference`` with data propagation. onnxruntime: a session on the CPU without optimisations; one that
    ends at a missing kernel has taken the model as valid. A descriptor that was written for an opset is asked at that
    one. What cannot be said in a model, or not to that implementation, is ``not asked``, with the reason: an opset that
    it does not have, an input of unknown type. Of operators of a runtime's own domain only values are asked, not
    verdicts: its kernels check most of it when they run. ONNX Runtime is asked at opsets that it has and does not yet
    support.

    level: an opset. timeout: seconds for each descriptor. versions: of what `ask` asks; value_versions: of what
    `values` asks; without onnxruntime its column is absent.
    Raises InputError for an unknown opset, and where onnx is not installed.
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
        """Return, for each descriptor, every implementation's reply by its name; raises nothing for a bad one."""
        return [self._one(make_question(descriptor, self.level)) for descriptor in descriptors]

    def _one(self, question: Question | str) -> dict[str, Reply]:
        names = tuple(self.versions)
        if not isinstance(question, str) and question.domain:
            question = f"what a session checks of operators of {question.domain} is not compared, only their values"
        if isinstance(question, str):
            return dict.fromkeys(names, Reply("not asked", question))
        answer = self._child.ask(("verdicts", names, question))
        if isinstance(answer, dict):
            return {name: Reply(*word) for name, word in answer.items()}
        replies = {}  # one of them took the process down: the others still have an answer
        for name in names:
            alone = self._child.ask(("verdicts", (name,), question))
            replies[name] = Reply(*alone[name]) if isinstance(alone, dict) else Reply(alone)
        return replies

    def values(
        self, descriptor: Descriptor, arrays: Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]
    ) -> dict[str, Values]:
        """Return what each implementation computes: see `values_many`."""
        return self.values_many(descriptor, [arrays])[0]

    def values_many(
        self,
        descriptor: Descriptor,
        arrays: Sequence[Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]],
    ) -> list[dict[str, Values]]:
        """Return, for each set of arrays, what each implementation computes by its name; one session runs them all.

        arrays: by the operator's input names, a list of them for a field of many tensors. Constants of the descriptor
        may be left out. Outputs are by the operator's output names (``outputs_0``, ``outputs_1`` … for a field of many
        tensors); strings are objects. A reply of ``rejected`` is an error while loading or running.
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
            if alone == "timeout":  # what is late once is late with other elements too
                return answers + [(None, (alone, ""))] * (len(feeds) - len(answers))
        return answers

    def close(self) -> None:
        """End the process; asking again starts another."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _feed(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays by the names of a model's inputs."""
    feed: dict[str, Any] = {}
    for name, result in arrays.items():
        if isinstance(result, list | tuple):
            feed.update((f"{name}_{i}", array) for i, array in enumerate(result))
        else:
            feed[name] = result
    return feed
