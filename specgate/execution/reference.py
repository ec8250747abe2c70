"""Run an ONNX model of which some operators have no kernel: the onnx package's reference evaluator computes those.

It walks the graph then, subgraphs and the model's functions too, and is handed our kernels for the others.
"""

from __future__ import annotations

import importlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError, NoKernel
from specgate.models.onnx_structure import OnnxGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.models.onnx_structure import OnnxModel, OnnxNode

    #: (operator, domain, inputs, attributes, how many outputs) -> the outputs.
    Compute = Callable[[str, str, Sequence[Any], Mapping[str, Any], int], list[NDArray[Any]]]

__all__ = ["implemented", "operators_of", "run_by_reference"]


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


def run_by_reference(
    path: str, arrays: Mapping[str, Any], ours: Sequence[tuple[str, str]], compute: Compute
) -> tuple[dict[str, Any], str]:
    """Return the outputs of the model at `path` by name, and the name and version of what computed them.

    ours: (domain, operator) of what `compute` is asked for; a node that it raises NoKernel for, because of its types,
    is computed by the package too. Raises NoKernel where onnx cannot be imported or has no
    such operator, InputError for what it cannot compute.
    """
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
        from onnx.reference.op_run import OpRun
    except ModuleNotFoundError:
        raise NoKernel("the onnx package would compute it: pip install 'specgate-ml[onnx]'") from None
    evaluating = f"onnx.reference {onnx.__version__}"
    own = [_operator(OpRun, domain, name, compute) for domain, name in ours]
    try:
        evaluator = ReferenceEvaluator(onnx.load(path), new_ops=own)
        return dict(zip(evaluator.output_names, evaluator.run(None, dict(arrays)), strict=True)), evaluating
    except (InputError, NoKernel):
        raise
    except NotImplementedError as error:
        raise NoKernel(f"{evaluating} cannot compute it either: {_line(error)}") from None
    except Exception as error:  # noqa: BLE001  # numpy's errors, KeyErrors, assertions: whatever its operators meet
        raise InputError(f"{evaluating} failed: {type(error).__name__}: {_line(error)}", file=path) from None


def implemented(domain: str, name: str, version: int) -> bool:
    """Return whether the package computes an operator at a version of its domain."""
    if domain not in _MODULES:
        return False
    try:
        importlib.import_module(_MODULES[domain]).load_op(domain, name, version)
    except Exception as error:  # noqa: BLE001  # of what it does not have it says so in several ways
        return type(error).__name__ == "RuntimeContextError"  # it has it, and needs the types of a node
    return True


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text[:200])


def _operator(base: type[Any], domain: str, name: str, compute: Compute) -> type[Any]:
    """Return the class that the evaluator makes an operator's nodes from."""
    from onnx.reference.ops import load_op

    from specgate.descriptors.protos import node_attributes

    def run(self: Any, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
        linked = {a.name: attributes[a.name] for a in self.onnx_node.attribute if a.ref_attr_name}
        stated = {**node_attributes(self.onnx_node), **linked}
        try:
            return tuple(compute(name, domain, inputs, stated, len(self.onnx_node.output)))
        except NoKernel:
            if linked:
                raise
            theirs = load_op(domain, name, self.run_params["opsets"][domain])
            found: tuple[Any, ...] = theirs(self.onnx_node, self.run_params).run(*inputs)
            return found

    return type(name, (base,), {"op_domain": domain, "_run": run})
