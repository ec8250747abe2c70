"""The sizes of a model's values as a runtime infers them: what it places and makes kernels by.

It differs from what lint goes by: there a part of a list of sizes is enough where an operator asks for its elements,
and what the file states is compared, not believed.
"""

from __future__ import annotations

from collections import ChainMap
from itertools import chain
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.infer.inference import inferred
from specgate.dialects.onnx.infer.process import Failed
from specgate.dialects.onnx.infer.strip import question
from specgate.dialects.onnx.lint.graph import reread
from specgate.runtimes.onnxruntime.reinference import Renewal
from specgate.runtimes.onnxruntime.value_facts import Teller, known_sizes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxTensor, OnnxType
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.verdict import Finding

    Types = Mapping[int, Mapping[str, OnnxType]]
    Told = dict[str, OnnxType | OnnxTensor]

__all__ = ["as_inferred", "completed"]

#: Each is right for more of the model than the one before. What lint knows to begin with is right but for a little.
_MOST_ROUNDS: Final = 12


def as_inferred(source: Source, release: str, findings: list[Finding] | None = None) -> Source:
    """Return a model that was read with the sizes of its values that a release of the runtime knows.

    It is the same where nothing was inferred, where that comes to an end too late, and where nothing can differ; but
    its nodes are read, if they were not: what is wrong with them is then added to `findings`.
    """
    types = _types(source, release)
    known = types is None or (source.types is not None and _alike(types, source.types))
    if source.settings.placing:
        return reread(source, None if known else types, findings=findings)
    return source if known else reread(source, types)


def _types(source: Source, release: str) -> Types | None:
    """Return the types of values as a release knows them; None where they are those that the model was read with."""
    if not source.types:
        return None
    try:
        if source.settings.placing:
            types, settled = _renewed(source, source.types, release)
            if settled:
                return types
            return _renewed(source, inferred(question(source.model), values=True), release, doubting=True)[0]
        return _renewed(source, source.types, release, doubting=True)[0]
    except Failed:
        return None


def _renewed(source: Source, known: Types, release: str, *, doubting: bool = False) -> tuple[Types | None, bool]:
    """Return types as a release knows them, None where they are `known`; and whether that came to an end.

    doubting: among `known` is what follows from values that lint knows and the runtime may not. Raises Failed.
    """
    teller = Teller(source.model, known, release, source.scopes[id(source.model.graph)])
    if not teller.may_differ():
        return None, True
    entries, renewal = teller.told(known, doubting=doubting), _renewal(source.model, known, teller)
    numbers = renewal.reading(chain(teller.lists, entries) if doubting else entries) | renewal.making(teller.better)
    settled = _settled(teller, renewal, entries, numbers, renewal.making(teller.doubtful) if doubting else ())
    return renewal.types, settled


def _renewal(model: OnnxModel, types: Types, teller: Teller) -> Renewal:
    """Return the types of a model's values, for what else is said of them."""
    renewal = Renewal(model, types, teller.stated)
    renewal.main.update(teller.named)
    return renewal


def completed(before: Source, model: OnnxModel, types: Types, release: str) -> Source | None:
    """Return what was made of a model that was read, with the sizes that a release knows; None without an answer.

    types: what is known of its values to begin with, which is most of them.
    """
    tensors_by_name = {
        node.outputs[0]: tensor for node in model.graph.nodes if (tensor := before.known.held(node)) is not None
    }
    scope = ChainMap(tensors_by_name, dict(before.scopes[id(before.model.graph)]))
    teller = Teller(model, types, release, scope)
    entries, renewal = teller.told(types), _renewal(model, types, teller)
    old = set(map(id, before.model.graph.nodes))
    new = {index for index, node in enumerate(model.graph.nodes) if id(node) not in old}
    known = (name for index in new for name in model.graph.nodes[index].outputs if name in entries)
    try:
        _settled(teller, renewal, entries, new | renewal.reading(known) | renewal.making(teller.better))
    except Failed:
        return None
    return reread(before, renewal.types, model)


def _settled(teller: Teller, renewal: Renewal, entries: Told, numbers: set[int], doubted: Collection[int] = ()) -> bool:
    """Infer types until they say no more of the values that stand for what computes them; return whether that comes.

    entries: known types to begin with. asked, doubted: the nodes whose types are to be inferred first. Raises
    Failed without an answer.
    """
    renewal.renew(entries, numbers, doubted)
    for _ in range(_MOST_ROUNDS - 1):
        before, entries = entries, teller.told(renewal.types)
        if entries == before:
            return True
        changed = {name for name in chain(before, entries) if before.get(name) != entries.get(name)}
        renewal.renew(entries, renewal.making(changed) | renewal.reading(changed))
    return False


def _alike(one: Types, two: Types) -> bool:
    """Whether two inferences know the same sizes."""
    return one.keys() == two.keys() and all(
        types.keys() == two[key].keys()
        and all(known_sizes(kind) == known_sizes(two[key][name]) for name, kind in types.items())
        for key, types in one.items()
    )
