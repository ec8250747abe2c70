"""Run an ONNX model whose operators have kernels: node by node, in numpy, by the names that the model gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects.onnx.file.model import read_model
from specgate.dialects.onnx.run.apart import INSTALL, installed, run_apart
from specgate.dialects.onnx.run.nodes import Run, is_constant, label_of
from specgate.errors import InputError, NoKernel, NoTable
from specgate.execution import memory
from specgate.execution.containers import plain
from specgate.execution.models import at_node, in_file
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.dialects.onnx.file.structure import OnnxModel
    from specgate.targets import Target

__all__ = ["run_model"]


def run_model(
    path: str,
    arrays: Mapping[str, Any],
    target: Target | None = None,
    *,
    budget: memory.Budget | None = None,
    on_fallback: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Return the outputs of the ONNX model at `path` by their names, each node executed at the opset it is imported at.

    arrays: by the names of the graph's inputs, of their declared types and sizes (one symbol is one size throughout);
    an input with an initializer may be left out. target: a runtime up to this opset; a model that imports a newer one
    is refused. budget: of the values that are alive, the kernels' work and the time. Operators without a kernel,
    subgraphs and the model's functions are computed by the onnx package's reference evaluator, in a process of its own;
    `on_fallback` gets a line that says which. Raises InputError; NoTable and NoKernel name the node for which neither
    has a kernel.
    """
    budget = memory.budget_of() if budget is None else budget
    model = read_model(path)
    _hold_target(model, target, path)
    run = Run(model, path, budget)
    lack = _first_lack(run, path)
    with in_file(path):
        run.take_inputs(arrays, weights=lack is None)
    if lack is None:
        lack = _walked(run, path)
        if lack is not None:  # of types that only the nodes before it determine
            run = Run(model, path, budget)
            run.take_inputs(arrays, weights=False)
    with in_file(path):
        if lack is not None:
            on_fallback(_fallen_back(run, lack))
        return {info.name: run.output(info) for info in model.graph.outputs}


def _hold_target(model: OnnxModel, target: Target | None, path: str) -> None:
    """Refuse a model that the target does not run: of another dialect, or with an import above it."""
    if target is None:
        return
    tables = dialect("onnx")
    if target.dialect != tables.name:
        raise InputError(f"a model of {tables.name} cannot be executed for {target}", file=path)
    for imports in (model.opset_imports, *(function.opset_imports for function in model.functions)):
        for domain, version in imports.items():
            known = tables.domain_level(domain, target.level) if domain in ("", *tables.domains) else None
            if known is None and domain in tables.domains:
                raise InputError(f"imports {domain} {version}, which is not part of {target.described}", file=path)
            if known is not None and version > int(known):
                name = f"{domain} {version}" if domain else f"opset {version}"
                raise InputError(f"imports {name}, above {target.described}, which goes up to {known}", file=path)


def _walked(run: Run, path: str) -> NoKernel | None:
    """Execute all nodes; return what the first one that cannot be lacks."""
    with in_file(path):
        run.drop_dead(-1, list(run.values))
    for index, node in enumerate(run.graph.nodes):
        try:
            with at_node(label_of(node, index), path):
                run.node(index, node)
        except NoKernel as error:
            if is_constant(node):
                raise
            return error
    return None


def _first_lack(run: Run, path: str) -> NoKernel | NoTable | None:
    """Return what the first node that has no kernel lacks."""
    for index, node in enumerate(run.graph.nodes):
        try:
            with at_node(label_of(node, index), path):
                run.refuse_early(node)
        except (NoKernel, NoTable) as error:
            return error
    return NoKernel("sparse initializers are not executed") if run.graph.sparse_initializers else None


def _fallen_back(run: Run, lack: NoKernel | NoTable) -> str:
    """Let onnx.reference run the model, which uses our kernels where there are some; return who computed what."""
    if not installed():
        raise NoKernel(f"{lack}; {INSTALL}")
    given = {name: plain(value) for name, value in run.values.items()}
    run.values, line = run_apart(run.path, given, run.budget, str(lack))
    return line
