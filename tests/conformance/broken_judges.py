"""Implementations that check broken models: onnx, ONNX Runtime, specgate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import specgate
from specgate.oracles.protocol import Reply
from specgate.spec.tables import dialect
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable

OTHERS: Final = ("checker", "inference", "onnxruntime")
Word = tuple[str, str]


class Ours(NamedTuple):
    """word: rejected, undecided or accepted; ids: of findings of severity error."""

    word: str
    ids: tuple[str, ...]


def own_target(imports: dict[str, int]) -> str | None:
    """Return the lowest target that supports a model's imports, or None."""
    table = dialect("onnx")
    numbers_by_name = {domain: version for domain, version in imports.items() if domain in {"", *table.domains}}
    for level in table.levels:
        if all(int(table.domain_level(domain, level) or 0) >= version for domain, version in numbers_by_name.items()):
            return f"onnx:{level}"
    return None


def ours(model: Any) -> Ours:
    """Lint a model for the opset that it imports."""
    target = own_target({"" if i.domain == "ai.onnx" else i.domain: i.version for i in model.opset_import})
    assert target is not None
    report = specgate.lint(model, [target])
    ids = tuple(finding.id for finding in report.findings if finding.severity == "error")
    return Ours("rejected" if ids else "undecided" if report.undecided else "accepted", ids)


class Others:
    """The other implementations, in a subprocess that may crash."""

    def __init__(self) -> None:
        self._child = Child("tests.conformance.broken_judges", "answerer", timeout=10.0)
        self._intact: dict[bytes, dict[str, Reply]] = {}
        self.versions: dict[str, str] = self._child.ask(("versions", b""))

    def ask(self, model: Any) -> dict[str, Reply]:
        """Return each implementation's reply."""
        data = model.SerializeToString()
        answer = self._child.ask((OTHERS, data))
        if isinstance(answer, dict):
            return {name: Reply(*word) for name, word in answer.items()}
        alone = {name: self._child.ask(((name,), data)) for name in OTHERS}
        return {name: Reply(*word[name]) if isinstance(word, dict) else Reply(word) for name, word in alone.items()}

    def intact(self, model: Any) -> dict[str, Reply]:
        """Return the replies to an unchanged model; cached."""
        key = model.SerializeToString()
        if key not in self._intact:
            self._intact[key] = self.ask(model)
        return self._intact[key]

    def close(self) -> None:
        self._child.close()


def answerer(_argument: None) -> Callable[[Any], Any]:
    """Return a function for the subprocess that answers (names, serialized model)."""
    from specgate.dialects.onnx.oracle.child import answerer as onnx_answerer

    versions = onnx_answerer(None)

    def answer(task: tuple[Any, bytes]) -> Any:
        if task[0] == "versions":
            return versions(("versions",))
        return {name: _read_output(name, task[1]) for name in task[0]}

    return answer


def _read_output(name: str, data: bytes) -> Word:
    import onnx

    from specgate.dialects.onnx.oracle.child import _refusal, _runtime_gate, _session

    model = onnx.ModelProto.FromString(data)
    try:
        if name == "checker":
            for info in [info for info in model.graph.output if _shapeless(info)]:
                model.graph.output.remove(info)
            onnx.checker.check_model(model)
        elif name == "inference":
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        else:
            opset = next((item.version for item in model.opset_import if item.domain in {"", "ai.onnx"}), None)
            refused = _runtime_gate(opset, model.ir_version) if opset else ""
            if refused:
                return "not asked", refused
            _session(model)
    except Exception as error:
        return _refusal(error)
    return "accepted", ""


def _shapeless(info: Any) -> bool:
    return info.type.WhichOneof("value") == "tensor_type" and not info.type.tensor_type.HasField("shape")
