"""Oracle with the onnx checker, strict shape inference and ONNX Runtime."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc, format_value
from specgate.descriptors.positional import holds_attribute, reordered_for
from specgate.errors import InputError, NoTable
from specgate.oracles.protocol import Reply, Values
from specgate.spec.tables import dialect
from specgate.workers.child import Child
from specgate.workers.processes import Closing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from specgate.descriptors.core import Descriptor, Malformed
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo, Layout

# AttributeProto.AttributeType by field type in the tables, and by message name (onnx/onnx.proto of onnx 1.23.2).
_FLOAT, _INT, _STRING, _FLOATS, _INTS, _STRINGS = 1, 2, 3, 6, 7, 8
_KINDS: Final = {
    "float": _FLOAT, "int": _INT, "string": _STRING, "float[]": _FLOATS, "int[]": _INTS, "string[]": _STRINGS,
}  # fmt: skip
_MESSAGES: Final = {"TensorProto": 4, "GraphProto": 5, "SparseTensorProto": 11, "TypeProto": 13}
_MAX_FILLED: Final = 4096
_INT64: Final = range(-(2**63), 2**63)


class Tensor(NamedTuple):
    """A value of the model.

    number: TensorProto.DataType, 0 if unknown. sizes: int, name or None each; None if the rank is unknown. value: the
    flat elements of a constant. stated: False for an output that the descriptor omits.
    """

    name: str
    number: int
    sizes: tuple[int | str | None, ...] | None
    value: tuple[Any, ...] | None = None
    stated: bool = True


class Attribute(NamedTuple):
    """An attribute; kind: AttributeProto.AttributeType, 0 to derive it.

    The value of a message is its bytes, or a Tensor.
    """

    name: str
    value: Any
    kind: int


class Question(NamedTuple):
    """A node and the imports of its model.

    An omitted input or output is None. domain: the operator's domain, "" for ai.onnx. version: the imported version of
    that domain, in addition to the opset of ai.onnx.
    """

    op_type: str
    opset: int
    ir_version: int
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]
    attributes: tuple[Attribute, ...]
    domain: str = ""
    version: int = 0


class _NotExpressible(Exception):
    """No NodeProto can express this descriptor."""


def make_question(descriptor: Descriptor, level: str, newest: int | None = None) -> Question | str:
    """Return the one-node model of a descriptor, or why none exists.

    The opset is the descriptor's, else `level`. newest: the ai.onnx opset for an operator of another domain; None for
    the newest that any runtime implements.
    """
    if descriptor.dialect != "onnx":
        return f"a descriptor of {descriptor.dialect}"
    domain, _, op_type = descriptor.operator.rpartition(".")
    tables = dialect("onnx")
    opset = descriptor.version or level
    if domain and domain not in tables.domains:
        return f"the opset of the domain {format_value(domain)} is not known"
    try:
        spec = tables.operator(descriptor.operator)
        spec.dialect.check_level(opset)
        main = opset if not domain else _opset_of_runtimes(tables) if newest is None else str(newest)
        descriptor = reordered_for(descriptor, spec, opset)
        layout = spec.layout(opset)
        return Question(
            op_type,
            int(main),
            tables.tables.levels[main]["ir_version"],
            _with_extras(
                _place_tensors(descriptor, layout.inputs, opset, optional=True), layout.inputs, descriptor, "inputs"
            ),
            _with_extras(
                _place_tensors(descriptor, layout.outputs, opset, optional=False), layout.outputs, descriptor, "outputs"
            ),
            tuple(_attributes(descriptor, layout)),
            domain,
            int(opset),
        )
    except (InputError, NoTable, _NotExpressible) as error:
        return str(error)


def _opset_of_runtimes(tables: Dialect) -> str:
    """Return the newest opset of any runtime release.

    Custom operators of a runtime work with each of its opsets.
    """
    levels = [entry["level"] for entry in tables.tables.environments if entry["kind"] == "runtime"]
    return max(levels, key=tables.position.__getitem__)


def _place_tensors(
    descriptor: Descriptor, infos: Sequence[FieldInfo], opset: str, *, optional: bool
) -> tuple[Tensor | None, ...]:
    """Return tensors by position.

    Unless all are `optional`, unstated required ones get a name.
    """
    tensors: list[Tensor | None] = []
    for info in infos:
        value = descriptor.fields.get(info.name)
        if isinstance(value, TensorDesc):
            tensors.append(_tensor(info.name, value))
        elif isinstance(value, list | tuple) and value:
            tensors += [_tensor(f"{info.name}_{i}", item) for i, item in enumerate(value)]
        elif not dialect("onnx").operator(descriptor.operator).dialect.holds(opset, info.since, info.until):
            continue  # not an input or output of this version
        elif optional or info.optional:
            tensors.append(None)
        elif info.type == "tensor[]":
            raise _NotExpressible(f"{info.name}: their number is unknown")
        else:
            tensors.append(Tensor(info.name, 0, None, stated=False))
    while tensors and tensors[-1] is None:
        tensors.pop()
    return tuple(tensors)


def _tensor(name: str, tensor: TensorDesc | None) -> Tensor | None:
    if tensor is None:
        return None
    types = dialect("onnx").types
    if tensor.type is not None and tensor.type not in types:
        raise _NotExpressible(f"{name}: {format_value(tensor.type)} is not a TensorProto.DataType")
    number = 0 if tensor.type is None else dialect("onnx").type_numbers[tensor.type]
    sizes = None if tensor.sizes is None else tuple(str(s) if isinstance(s, str) else s for s in tensor.sizes)
    if any(isinstance(size, int) and size not in _INT64 for size in sizes or ()):
        raise _NotExpressible(f"{name}: a dim_value has 64 bits")
    return Tensor(name, number, sizes, tensor.value)


def _with_extras(
    tensors: tuple[Tensor | None, ...], infos: Sequence[FieldInfo], descriptor: Descriptor, kind: str
) -> tuple[Tensor | None, ...]:
    """Add one surplus value if the reader found too many."""
    if not any(oddity.code == f"too-many-{kind}" for oddity in descriptor.oddities):
        return tensors
    template = next((tensor for tensor in tensors if tensor is not None), Tensor("", 0, None))
    blanks = (None,) * (len(infos) - len(tensors))
    return (*tensors, *blanks, template._replace(name=f"extra_{kind}", value=None, stated=kind == "inputs"))


def _attributes(descriptor: Descriptor, layout: Layout) -> Iterator[Attribute]:
    infos_by_name = {info.name: info for info in layout.attributes.values()}
    for name, info in infos_by_name.items():
        value = descriptor.fields.get(name)
        if isinstance(value, TensorDesc) and info.type == "tensor-proto":
            tensor = _tensor(info.vendor_name, value)
            yield Attribute(info.vendor_name, _fill_tensor(tensor) if tensor else None, _MESSAGES["TensorProto"])
        elif value is not None:
            yield Attribute(info.vendor_name, value, _KINDS.get(info.type, 0))
    for oddity in descriptor.oddities:
        if holds_attribute(oddity, infos_by_name):
            attribute = infos_by_name.get(oddity.where)
            place = replace(oddity, where=attribute.vendor_name) if attribute else oddity
            yield _malformed_attribute(place, _KINDS.get(attribute.type, 0) if attribute else 0)
        elif not oddity.code.startswith("too-many-"):
            raise _NotExpressible(oddity.message)


def _fill_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor with elements, zeros if unknown, for an attribute."""
    sizes = [size for size in tensor.sizes or () if isinstance(size, int)]
    element_count = prod(sizes) if prod(sizes) <= _MAX_FILLED else 0
    return tensor if tensor.value is not None else tensor._replace(value=(0,) * element_count)


def _malformed_attribute(oddity: Malformed, expected: int) -> Attribute:
    """Return a malformed attribute with the type of its value.

    Null and objects have no attribute type, so a value of another wrong type replaces them.
    """
    value = oddity.value
    if value is None or isinstance(value, dict):
        return Attribute(oddity.where, 0, _INT) if expected == _STRING else Attribute(oddity.where, "{}", _STRING)
    message = _MESSAGES.get(type(value).__name__)
    if message is not None:
        return Attribute(oddity.where, value.SerializeToString(), message)
    if isinstance(value, bool) and not expected:
        value = int(value)
    kind = _list_kind(value) if isinstance(value, list | tuple) else _scalar_kind(value)
    if kind in {0, expected}:
        raise _NotExpressible(f"cannot store {format_value(value)} unchanged in an AttributeProto")
    return Attribute(oddity.where, value, kind)


def _scalar_kind(value: Any) -> int:
    if isinstance(value, bool):
        return 0
    if isinstance(value, int):
        return _INT if value in _INT64 else 0
    return _FLOAT if isinstance(value, float) else _STRING if isinstance(value, str | bytes) else 0


def _list_kind(value: list[Any] | tuple[Any, ...]) -> int:
    kinds = {_scalar_kind(item) for item in value}
    if kinds <= {_INT}:
        return _INTS
    return _FLOATS if kinds <= {_INT, _FLOAT} else _STRINGS if kinds == {_STRING} else 0


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
            problem = "cannot be imported" if isinstance(result, dict) else f"{result} when it was imported"
            raise InputError(f"onnx {problem}: {_INSTALL}")
        self.versions: Mapping[str, str] = {n: result[package] for n, package in _VERDICTS.items() if package in result}
        self.value_versions: Mapping[str, str] = {n: result[p] for n, p in _VALUES.items() if p in result}

    def ask(self, descriptors: Sequence[Descriptor]) -> list[dict[str, Reply]]:
        """Return every implementation's reply by name for each descriptor.

        An invalid descriptor raises nothing.
        """
        return [self._ask_question(make_question(descriptor, self.level)) for descriptor in descriptors]

    def _ask_question(self, question: Question | str) -> dict[str, Reply]:
        names = tuple(self.versions)
        if not isinstance(question, str) and question.domain:
            question = f"session checks are not compared for operators of {question.domain}, only values"
        if isinstance(question, str):
            return dict.fromkeys(names, Reply("not asked", question))
        answer = self._child.ask(("verdicts", names, question))
        if isinstance(answer, dict):
            return {name: Reply(*word) for name, word in answer.items()}
        replies = {}  # one implementation crashed the subprocess, so ask each separately
        for name in names:
            reply = self._child.ask(("verdicts", (name,), question))
            replies[name] = Reply(*reply[name]) if isinstance(reply, dict) else Reply(reply)
        return replies

    def values(
        self, descriptor: Descriptor, arrays: Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]
    ) -> dict[str, Values]:
        """Return each implementation's values; see `compute_many`."""
        return self.compute_many(descriptor, [arrays])[0]

    def compute_many(
        self,
        descriptor: Descriptor,
        arrays: Sequence[Mapping[str, np.ndarray[Any, Any] | Sequence[np.ndarray[Any, Any]]]],
    ) -> list[dict[str, Values]]:
        """Return each implementation's values for each set of arrays.

        One session runs all sets. Arrays are by the operator's input names, with a list for a variadic input. Constants
        of the descriptor may be omitted. Outputs are by the operator's output names (``outputs_0``, ``outputs_1`` … for
        a variadic output); strings are objects. ``rejected`` means an error while loading or running.
        """
        names = tuple(self.value_versions)
        question = make_question(descriptor, self.level)
        if isinstance(question, str):
            return [dict.fromkeys(names, Values(None, Reply("not asked", question))) for _ in arrays]
        feeds = [_make_feed(entries) for entries in arrays]
        answer = self._child.ask(("values", names, question, feeds))
        if not isinstance(answer, dict):
            answer = {name: self._values_alone(name, question, feeds) for name in names}
        return [
            {name: Values(answer[name][i][0], Reply(*answer[name][i][1])) for name in names} for i in range(len(feeds))
        ]

    def _values_alone(self, name: str, question: Question, feeds: Sequence[dict[str, Any]]) -> list[Any]:
        answers: list[Any] = []
        for feed in feeds:
            reply = self._child.ask(("values", (name,), question, [feed]))
            answers += reply[name] if isinstance(reply, dict) else [(None, (reply, ""))]
            if reply == "timeout":  # other elements would time out as well
                return answers + [(None, (reply, ""))] * (len(feeds) - len(answers))
        return answers

    def close(self) -> None:
        """Stop the subprocess; the next question restarts it."""
        self._child.close()


def _make_feed(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays by the names of the model's inputs."""
    feed: dict[str, Any] = {}
    for name, result in arrays.items():
        if isinstance(result, list | tuple):
            feed.update((f"{name}_{i}", array) for i, array in enumerate(result))
        else:
            feed[name] = result
    return feed
