"""Run an ONNX model whose operators do not all have a kernel: the onnx package's reference evaluator computes those.

It walks the graph then, subgraphs and the model's functions too, and is handed our kernels for the others.
"""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.text import plain_name
from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.onnx.file.structure import OnnxGraph
from specgate.dialects.onnx.reader import operator_name
from specgate.dialects.onnx.run.nodes import Run, label_of
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution.memory import limit
from specgate.rules.evaluate import Context, Undefined, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode
    from specgate.execution.memory import Budget
    from specgate.rules.language import Rule
    from specgate.spec.forms import Overlay
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["known_to_differ", "operators_of", "run_with_reference"]

_BY: Final = "reference"  # as the tables call it
#: Where the package keeps its operators, by their domain.
_MODULES: Final = {
    "": "onnx.reference.ops",
    "ai.onnx.ml": "onnx.reference.ops.aionnxml",
    "ai.onnx.preview": "onnx.reference.ops.aionnx_preview",
    "ai.onnx.preview.training": "onnx.reference.ops.aionnx_preview_training",
}


def operators_of(model: OnnxModel) -> Counter[tuple[str, str]]:
    """Count the nodes of a model by (domain, operator), those of subgraphs and functions too."""
    waiting = [*model.graph.nodes, *(node for function in model.functions for node in function.nodes)]
    found: Counter[tuple[str, str]] = Counter()
    while waiting:
        node = waiting.pop()
        found[node.domain, node.op_type] += 1
        waiting += _inner(node)
    return found


def _inner(node: OnnxNode) -> Iterator[OnnxNode]:
    for attribute in node.attributes.values():
        held = attribute.value if isinstance(attribute.value, list) else [attribute.value]
        yield from (inner for graph in held if isinstance(graph, OnnxGraph) for inner in graph.nodes)


def run_with_reference(path: str, values: Mapping[str, Any], budget: Budget, lack: str) -> tuple[dict[str, Any], str]:
    """Return the outputs of the model at `path` by name, and a line that says what was computed by what.

    values: of the inputs. lack: the missing kernel for which the package is asked, for messages. A node whose operator
    has a kernel is computed by that; where it refuses the node's types, and where there is none, the package
    computes it, unless it is known to compute something else. Raises NoKernel where onnx cannot be imported, has no
    such operator or is known to be wrong there; InputError for what cannot be computed; MemoryError.
    """
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
    except ModuleNotFoundError:
        raise NoKernel(f"{lack}; the onnx package cannot be imported") from None
    evaluating = f"onnx.reference {onnx.__version__}"
    run = Run(read_model(path), path, budget)
    _refuse_unknown(run, lack)
    nodes = operators_of(run.model)
    handed: Counter[tuple[str, str]] = Counter()
    handed.update(key for key in nodes if key in run.functions)
    remarks: dict[tuple[str, str], set[str]] = defaultdict(set)
    own = [_operator(run, *key, handed, remarks) for key in nodes if key not in run.functions]
    try:
        with limit(budget):
            evaluator = ReferenceEvaluator(onnx.load(path), new_ops=[each for each in own if each is not None])
            found = dict(zip(evaluator.output_names, evaluator.run(None, dict(values)), strict=True))
    except NoKernel as error:
        raise NoKernel(f"{lack}; {error}") from None
    except (InputError, MemoryError):
        raise
    except NotImplementedError as error:
        raise NoKernel(f"{lack}; {evaluating} cannot compute it either: {_line(error)}") from None
    except Exception as error:  # noqa: BLE001  # numpy's errors, KeyErrors, assertions: whatever its operators meet
        for cause in _causes(error):  # it wraps what its operators raise
            if isinstance(cause, NoKernel):
                raise NoKernel(f"{lack}; {cause}") from None
            if isinstance(cause, InputError | MemoryError):
                raise cause from None
        raise InputError(f"{evaluating} failed: {type(error).__name__}: {_line(error)}") from None
    parts = []
    for domain, name in sorted(handed, key=lambda key: f"{key[0]}.{key[1]}".removeprefix(".")):
        more = "".join(f"; {what}" for what in sorted(remarks[domain, name]))
        parts.append(f"{plain_name(f'{domain}.{name}'.removeprefix('.'))} ({nodes[domain, name]}{more})")
    line = f"{evaluating} computed " + ", ".join(parts)
    return {name: _objects(value) for name, value in found.items()}, line


def _refuse_unknown(run: Run, lack: str) -> None:
    """Name the first node that neither we nor the package compute, unless that is the one of `lack`."""
    for index, node in enumerate(run.graph.nodes):
        key = (node.domain, node.op_type)
        known = key in run.functions or run.has_kernel(*key) or _implemented(*key, run.imports.get(node.domain, 1))
        if known or lack.startswith(f"{label_of(node, index)}:"):
            continue
        name = operator_name(node.op_type, node.domain)
        raise NoKernel(f"{label_of(node, index)}: {name} has no kernel yet, and onnx.reference has none either")


def _implemented(domain: str, name: str, version: int) -> bool:
    try:
        _loader(domain)(domain, name, version)
    except Exception as error:  # noqa: BLE001  # of what it does not have it says so in several ways
        # It has it, and needs the types of a node or what evaluates a function's body.
        return type(error).__name__ in {"RuntimeContextError", "AssertionError"}
    return True


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text[:200])


def _operator(
    run: Run, domain: str, name: str, handed: Counter[tuple[str, str]], remarks: dict[tuple[str, str], set[str]]
) -> type[Any] | None:
    """Return the class that the evaluator makes an operator's nodes from; None for its own class, unwatched.

    handed: gets each operator that the package computes a node of; remarks: what is known of its values.
    """
    from onnx.reference.op_run import OpRun

    from specgate.dialects.onnx.protos import node_attributes

    ours = run.has_kernel(domain, name)
    doubted = _doubted(run, domain, name)
    if not ours:
        handed[domain, name] += 1
    if not ours and not doubted:
        return None

    def compute(self: Any, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
        linked = {a.name: attributes[a.name] for a in self.onnx_node.attribute if a.ref_attr_name}
        stated = {**node_attributes(self.onnx_node), **linked}
        version, outputs = self.run_params["opsets"][domain], ("?",) * len(self.onnx_node.output)
        given = [np.asarray(each) if isinstance(each, np.generic) else each for each in inputs]
        lack = None
        if ours:
            try:
                return tuple(run.compute(name, domain, version, given, stated, outputs))
            except NoKernel as error:
                lack = error
        if doubted:
            remarks[domain, name] |= _doubts(run, name, run.described(name, domain, version, given, stated, outputs))
        if linked:
            raise lack or NoKernel(f"{name} has no kernel for attributes of a function")
        handed[domain, name] += 1
        theirs = _loader(domain)(domain, name, version)
        found: tuple[Any, ...] = theirs(self.onnx_node, self.run_params).run(*inputs)
        return found

    return type(name, (OpRun,), {"op_domain": domain, "_run": compute})


def _doubted(run: Run, domain: str, name: str) -> bool:
    """Return whether onnx.reference is known to compute other values of an operator in some case."""
    try:
        return bool(known_to_differ(run.tables.operator(operator_name(name, domain))))
    except NoTable:
        return False


def known_to_differ(spec: OperatorSpec) -> list[Overlay]:
    """Return what is recorded of values that onnx.reference computes otherwise, whole outputs of them."""
    return [o for o in spec.overlays if o.by == _BY and any(said.elements is None for said in o.values)]


def _doubts(run: Run, name: str, descriptor: Descriptor) -> set[str]:
    """Return what onnx.reference is known to compute otherwise of a node; raise NoKernel where that is wrong."""
    found: set[str] = set()
    spec = run.tables.operator(descriptor.operator)
    level = str(descriptor.version)
    if level not in spec.dialect.position:
        return found
    infos = {field: spec.field_at(field, level) or info for field, info in spec.fields.items()}
    fields = {field: descriptor.fields.get(field, info.default) for field, info in infos.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    for overlay in known_to_differ(spec):
        for said in overlay.values if overlay.holds(level, _BY) else ():
            if said.elements is not None or (said.when is not None and not _may_hold(said.when, context)):
                continue
            if overlay.bug:
                raise NoKernel(f"{name} has no kernel for this, and onnx.reference is wrong here: {said.what}")
            found.add(said.what)
    return found


def _may_hold(rule: Rule, context: Context) -> bool:
    try:
        return not any(map(context.absent, rule.needs)) and evaluate(rule, context) is not False
    except Undefined:
        return False


def _loader(domain: str) -> Callable[..., Any]:
    """Return what loads the package's own class of an operator; raise KeyError for a domain that it does not have."""
    load: Callable[..., Any] = importlib.import_module(_MODULES[domain]).load_op
    return load


def _objects(value: Any) -> Any:
    """Return strings as objects, as elsewhere here; the reference evaluator gives them a fixed length."""
    return value.astype(object) if isinstance(value, np.ndarray) and value.dtype.kind in "US" else value
