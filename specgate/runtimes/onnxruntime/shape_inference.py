"""Value shapes as a runtime infers them, for placement and kernels.

They differ from lint's. Lint uses partially known lists of sizes when an operator needs their elements. It compares the
shapes that the file states with inferred ones, and the runtime uses them as facts.
"""

from __future__ import annotations

from collections import ChainMap
from itertools import chain
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.infer.inference import infer_question, question
from specgate.dialects.onnx.infer.process import InferenceFailure
from specgate.dialects.onnx.lint.graph import walk_again
from specgate.runtimes.onnxruntime.reinference import Renewal
from specgate.runtimes.onnxruntime.value_facts import ValueFacts, known_sizes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxTensor, OnnxType
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.verdict import Finding

    Types = Mapping[int, Mapping[str, OnnxType]]
    KnownTypes = dict[str, OnnxType | OnnxTensor]

#: Maximum number of rounds. Each round corrects more types, and lint's initial types are mostly right.
_MAX_ROUNDS: Final = 12


def as_inferred(source: Source, release: str, findings: list[Finding] | None = None) -> Source:
    """Return a model with the value shapes that a release knows.

    The same model is returned if nothing was inferred, if inference did not converge, or if no shape can differ. Nodes
    that were not read before are read, and their findings are added to `findings`.
    """
    types = _types(source, release)
    is_same = types is None or (source.types is not None and _has_same_sizes(types, source.types))
    if source.settings.placing:
        return walk_again(source, None if is_same else types, findings=findings)
    return source if is_same else walk_again(source, types)


def computed_descriptors(source: Source) -> dict[int, Descriptor]:
    """Return by a node's id its descriptor with the sizes of a run, if the file states others of a value.

    The runtime loads such a model by what both have in common, and computes with the sizes that follow.
    """
    graph = source.model.graph
    types = (source.types or {}).get(id(graph), {})
    infos, type_of = (*graph.value_infos, *graph.outputs), types.get
    # Most values share their types, so pairs of a stated and an inferred type are few.
    pairs = {(id(info.type), id(kind := type_of(info.name))): (info.type, kind) for info in infos}
    differing = {key for key, pair in pairs.items() if source.constants.settle_type(*pair)[1]}
    if not differing:
        return {}
    read = {name for node in graph.nodes for name in node.inputs}
    if not any((id(info.type), id(type_of(info.name))) in differing for info in infos if info.name in read):
        return {}
    units = walk_again(source, source.types).units
    return {id(node): unit.descriptor for node in graph.nodes if (unit := units.get(id(node))) and unit.descriptor}


def _types(source: Source, release: str) -> Types | None:
    """Return types as a release knows them, None if they are unchanged."""
    if not source.types:
        return None
    try:
        if source.settings.placing:
            types, settled_numbers = _reinfer_types(source, source.types, release)
            if settled_numbers:
                return types
            return _reinfer_types(source, infer_question(question(source.model), values=True), release, doubting=True)[
                0
            ]
        return _reinfer_types(source, source.types, release, doubting=True)[0]
    except InferenceFailure:
        return None


def _reinfer_types(
    source: Source, types_by_name: Types, release: str, *, doubting: bool = False
) -> tuple[Types | None, bool]:
    """Return types as a release knows them, and whether they converged.

    The types are None if they equal `known`. doubting: `known` may depend on values that lint knows and the runtime may
    not. Raises Failed.
    """
    teller = ValueFacts(source.model, types_by_name, release, source.scopes[id(source.model.graph)])
    if not teller.may_differ():
        return None, True
    entries, renewal = (
        teller.known_types(types_by_name, doubting=doubting),
        _renewal(source.model, types_by_name, teller),
    )
    numbers = renewal.reading(chain(teller.lists, entries) if doubting else entries) | renewal.maker_indices(
        teller.better
    )
    settled_numbers = _infer_until_stable(
        teller, renewal, entries, numbers, renewal.maker_indices(teller.doubtful) if doubting else ()
    )
    return renewal.types, settled_numbers


def _renewal(model: OnnxModel, types: Types, teller: ValueFacts) -> Renewal:
    """Return the updatable types of a model, with stated facts included."""
    renewal = Renewal(model, types, teller.stated)
    renewal.main.update(teller.named)
    return renewal


def complete_model(before: Source, model: OnnxModel, types: Types, release: str) -> Source | None:
    """Return a derived model with the shapes that a release knows.

    It is None for a failed inference. types: known types of most values.
    """
    tensors_by_name = {
        node.outputs[0]: tensor
        for node in model.graph.nodes
        if (tensor := before.constants.constant_of(node)) is not None
    }
    scope = ChainMap(tensors_by_name, dict(before.scopes[id(before.model.graph)]))
    teller = ValueFacts(model, types, release, scope)
    entries, renewal = teller.known_types(types), _renewal(model, types, teller)
    old = set(map(id, before.model.graph.nodes))
    new = {index for index, node in enumerate(model.graph.nodes) if id(node) not in old}
    names = (name for index in new for name in model.graph.nodes[index].outputs if name in entries)
    try:
        _infer_until_stable(
            teller, renewal, entries, new | renewal.reading(names) | renewal.maker_indices(teller.better)
        )
    except InferenceFailure:
        return None
    return walk_again(before, renewal.types, model)


def _infer_until_stable(
    teller: ValueFacts, renewal: Renewal, entries: KnownTypes, numbers: set[int], doubted: Collection[int] = ()
) -> bool:
    """Infer types until the known values do not change.

    Return whether that happens. entries: values known at the start. numbers: nodes to infer first. doubted: nodes whose
    types certainly change. Raises Failed without an answer.
    """
    renewal.renew(entries, numbers, doubted)
    for _ in range(_MAX_ROUNDS - 1):
        before, entries = entries, teller.known_types(renewal.types)
        if entries == before:
            return True
        changed_names = {name for name in chain(before, entries) if before.get(name) != entries.get(name)}
        renewal.renew(entries, renewal.maker_indices(changed_names) | renewal.reading(changed_names))
    return False


def _has_same_sizes(first: Types, second: Types) -> bool:
    """Return whether two inferences know the same sizes."""
    return first.keys() == second.keys() and all(
        types.keys() == second[key].keys()
        and all(
            kind is (other := second[key][name]) or known_sizes(kind) == known_sizes(other)
            for name, kind in types.items()
        )
        for key, types in first.items()
    )
