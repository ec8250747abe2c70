"""Tree ensembles, vectorized over samples and trees.

ai.onnx.ml TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to
from specgate.execution.kernels.linear_models import labels_at, labels_of, place_of_largest, transform_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Comparison of a feature with a node's value, by mode number; leaves do not compare.
MODES: Final = (
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
    "LEAF",
)
_COMPARE: Final = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
MEMBER: Final = MODES.index("BRANCH_MEMBER")
LEAF: Final = MODES.index("LEAF")
#: Samples times trees walked together.
_WALK_BLOCK: Final = 2**17


class Trees(NamedTuple):
    """Nodes of all trees, one array per field.

    true, false: the next node, -1 if missing. missing: whether nan follows `true`. roots: the first node of each tree.
    leaf: the number of each leaf. members: of set membership nodes, their sets, in order.
    """

    modes: NDArray[np.int8]
    features: NDArray[np.int64]
    values: NDArray[Any]
    true: NDArray[np.int64]
    false: NDArray[np.int64]
    missing: NDArray[np.bool_]
    roots: NDArray[np.int64]
    leaf: NDArray[np.int64]
    members: tuple[NDArray[Any], ...] = ()


class Votes(NamedTuple):
    """Outputs of leaves.

    targets: [leaves, votes], `size` for unused; weights: [leaves, votes]; size: number of targets.
    """

    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    size: int

    @classmethod
    def from_lists(
        cls, leaves: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[Any], size: int, count: int
    ) -> Votes:
        """Return the votes of `size` leaves; leaves: the leaf of each entry."""
        order = np.argsort(leaves, kind="stable")
        leaves = leaves[order]
        rank = np.arange(leaves.size) - np.searchsorted(leaves, leaves)
        shape = (size, int(rank.max(initial=0)) + 1)
        memory.check_budget(shape, np.dtype(np.complex128))
        leaf_places, weighed = np.full(shape, count, np.int64), np.zeros(shape)
        leaf_places[leaves, rank], weighed[leaves, rank] = targets[order], weights[order]
        return cls(leaf_places, weighed, count)


def walk_trees(inputs: NDArray[Any], trees: Trees) -> NDArray[np.int64]:
    """Return the leaf reached in each tree [samples, trees], -1 if none.

    inputs: float64 [samples, features]. A sample reaches no leaf where a node is missing, or nodes form a cycle.
    """
    width = max(1, inputs.shape[1])
    flat, count = np.ascontiguousarray(inputs).reshape(-1), trees.roots.size
    current_nodes = np.tile(trees.roots, len(inputs))
    active_samples = np.flatnonzero(trees.modes[current_nodes] != LEAF)
    nodes, begins = current_nodes[active_samples], (active_samples // max(1, count)) * width
    kinds = [kind for kind in np.unique(trees.modes).tolist() if kind != LEAF]
    for _ in memory.within_time_limit(range(trees.modes.size)):
        if not active_samples.size:
            break
        values = flat[begins + trees.features[nodes]]
        takes_true_branch = _compare_nodes(values, nodes, trees, kinds)
        is_missing = np.isnan(values)
        if is_missing.any():
            takes_true_branch = np.where(is_missing, trees.missing[nodes], takes_true_branch)
        nodes = np.where(takes_true_branch, trees.true[nodes], trees.false[nodes])
        ends = (trees.modes[nodes] == LEAF) | (nodes < 0)
        current_nodes[active_samples[ends]] = nodes[ends]
        goes_on = ~ends
        active_samples, nodes, begins = active_samples[goes_on], nodes[goes_on], begins[goes_on]
    current_nodes[active_samples] = -1
    return np.where(current_nodes < 0, -1, trees.leaf[current_nodes]).reshape(len(inputs), count)


def _compare_nodes(
    values: NDArray[Any], nodes: NDArray[np.int64], trees: Trees, kinds: Sequence[int]
) -> NDArray[np.bool_]:
    """Return the comparison result of each node with its value."""
    if len(kinds) == 1 and kinds[0] != MEMBER:
        return np.asarray(_COMPARE[kinds[0]](values, trees.values[nodes]))
    takes_true_branch = np.zeros(values.size, np.bool_)
    modes = trees.modes[nodes]
    for kind in kinds:
        nodes_of_kind = np.flatnonzero(modes == kind)
        if kind == MEMBER:
            takes_true_branch[nodes_of_kind] = _is_member(values[nodes_of_kind], nodes[nodes_of_kind], trees)
        else:
            takes_true_branch[nodes_of_kind] = _COMPARE[kind](values[nodes_of_kind], trees.values[nodes[nodes_of_kind]])
    return takes_true_branch


def _is_member(values: NDArray[Any], nodes: NDArray[np.int64], trees: Trees) -> NDArray[np.bool_]:
    """Return whether each value is in its node's set.

    Pairs of set and value are searched among all such pairs.
    """
    distinct_members = np.unique(np.concatenate(trees.members)) if trees.members else np.zeros(0)
    if not distinct_members.size:
        return np.zeros(values.size, np.bool_)
    numbers = [
        np.searchsorted(distinct_members, member_array) + place * distinct_members.size
        for place, member_array in enumerate(trees.members)
    ]
    members = np.unique(np.concatenate(numbers))
    place = np.minimum(np.searchsorted(distinct_members, values), distinct_members.size - 1)
    member_rows = np.searchsorted(np.flatnonzero(trees.modes == MEMBER), nodes)
    member_keys = member_rows * distinct_members.size + place
    result = members[np.minimum(np.searchsorted(members, member_keys), members.size - 1)] == member_keys
    return np.asarray(result & (distinct_members[place] == values))


class Scores(NamedTuple):
    """Scores per sample and target, which have votes, and which trees a leaf."""

    values: NDArray[np.float64]
    voted: NDArray[np.bool_]
    reached: NDArray[np.bool_]


def scores_of(inputs: NDArray[Any], trees: Trees, votes: Votes, aggregate: str = "SUM") -> Scores:
    """Return the scores of samples.

    aggregate: SUM, AVERAGE over the trees, MIN or MAX; without a vote 0.
    """
    if aggregate not in {"SUM", "AVERAGE", "MIN", "MAX"}:
        raise InputError(f"expected aggregate_function SUM, AVERAGE, MIN or MAX, found {aggregate!r:.40}")
    if inputs.ndim != 2 or inputs.dtype.kind not in "iuf":
        raise InputError(f"trees: expected numbers [samples, features], found {inputs.dtype}{list(inputs.shape)}")
    branches = trees.features[trees.modes != LEAF]
    if branches.size and not (branches.min() >= 0 and branches.max() < inputs.shape[1]):
        raise InputError(f"trees: a node references a feature beyond the {inputs.shape[1]} features")
    shape = (len(inputs), votes.size)
    scores = Scores(memory.empty(shape, np.dtype(np.float64)), np.ones(shape, np.bool_), np.ones(len(inputs), np.bool_))
    rows = max(1, _WALK_BLOCK // max(1, trees.roots.size * votes.targets.shape[1]))
    for first in memory.within_time_limit(range(0, len(inputs), rows)):
        part = slice(first, first + rows)
        leaves = walk_trees(inputs[part].astype(np.float64), trees)
        scores.reached[part] = (leaves >= 0).all(axis=1)
        _gather(np.maximum(leaves, 0), votes, aggregate, scores.values[part], scores.voted[part])
    if aggregate == "AVERAGE":
        np.divide(scores.values, max(1, trees.roots.size), out=scores.values)
    return scores


def _gather(
    leaves: NDArray[np.int64], votes: Votes, aggregate: str, values: NDArray[Any], voted: NDArray[np.bool_]
) -> None:
    """Write the contribution of each sample's leaves per target, and votes."""
    if not votes.targets.size:
        values[...], voted[...] = 0, False
        return
    count = votes.size + 1  # the last one is for entries without a vote
    targets = (votes.targets[leaves] + (np.arange(len(leaves)) * count)[:, None, None]).reshape(-1)
    weights, size = votes.weights[leaves].reshape(-1), len(leaves) * count
    if aggregate in {"SUM", "AVERAGE"}:
        array = np.bincount(targets, weights, size)
    else:
        pick_extreme = np.minimum if aggregate == "MIN" else np.maximum
        array = np.full(size, np.inf if aggregate == "MIN" else -np.inf)
        pick_extreme.at(array, targets, weights)
    numbers = np.bincount(targets, minlength=size).reshape(len(leaves), count)[:, :-1]
    voted[...] = numbers > 0
    values[...] = np.where(voted, array.reshape(len(leaves), count)[:, :-1], 0.0)


def results_of(
    scores: NDArray[Any], has_leaf: NDArray[np.bool_], post_transform: str, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return transformed scores in a type, masked for samples without a leaf."""
    result = memory.empty(scores.shape, dtype)
    result[...] = round_to(transform_scores(scores, post_transform), dtype)
    if has_leaf.all():
        return result
    return np.ma.MaskedArray(result, mask=np.broadcast_to(~has_leaf[:, None], result.shape))


def tree_ensemble(
    inputs: NDArray[Any],
    *,
    roots: Sequence[int],
    features: Sequence[int],
    modes: NDArray[Any],
    splits: NDArray[Any],
    true_nodes: Sequence[int],
    true_leaves: Sequence[int],
    false_nodes: Sequence[int],
    false_leaves: Sequence[int],
    leaf_targets: Sequence[int],
    leaf_weights: NDArray[Any],
    targets: int | None = None,
    aggregate: str = "SUM",
    post_transform: str = "NONE",
    members: NDArray[Any] | None = None,
    missing: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return [samples, targets] in the inputs' type, as in TreeEnsemble 5.

    true_nodes: the next node, or the leaf where true_leaves is 1; false_nodes likewise. members: the sets of membership
    nodes, concatenated and separated by nan.
    """
    nodes, leaves = len(features), len(leaf_targets)
    if targets is None:
        raise InputError("trees: the number of targets must be known")
    _require_lists(nodes, modes, splits, true_nodes, true_leaves, false_nodes, false_leaves, missing or [0] * nodes)
    _require_places("a target", leaf_targets, targets)
    _require_places("a root", roots, nodes)
    if leaf_weights.size != leaves or targets < 1:
        raise InputError(f"trees: expected {leaves} leaf weights and at least one target")
    for noun, flags in ((true_nodes, true_leaves), (false_nodes, false_leaves)):
        _require_places("a flag", flags, 2)
        _require_places("a leaf", [n for n, flag in zip(noun, flags, strict=True) if flag], leaves)
        _require_places("a node", [n for n, flag in zip(noun, flags, strict=True) if not flag], nodes)
    kinds = modes.reshape(-1).astype(np.int64)
    _require_places("a mode", kinds, LEAF)
    children = [
        np.asarray(n, np.int64) + nodes * np.asarray(f, np.int64)
        for n, f in ((true_nodes, true_leaves), (false_nodes, false_leaves))
    ]
    rest = np.zeros(leaves, np.int64)
    trees = Trees(
        np.concatenate([kinds, rest + LEAF]).astype(np.int8),
        np.concatenate([np.asarray(features, np.int64), rest]),
        np.concatenate([splits.reshape(-1).astype(np.float64), rest]),
        np.concatenate([children[0], rest]),
        np.concatenate([children[1], rest]),
        np.concatenate([np.asarray(missing or [0] * nodes, np.int64), rest]).astype(np.bool_),
        np.asarray(roots, np.int64),
        np.concatenate([np.zeros(nodes, np.int64), np.arange(leaves)]),
        _sets(members, int((kinds == MEMBER).sum())),
    )
    votes = Votes(np.asarray(leaf_targets, np.int64)[:, None], leaf_weights.reshape(-1, 1).astype(np.float64), targets)
    scores = scores_of(inputs, trees, votes, aggregate)
    return results_of(scores.values, scores.reached, post_transform, inputs.dtype)


def _require_lists(nodes: int, *lists: Any) -> None:
    if any((node_list.size if isinstance(node_list, np.ndarray) else len(node_list)) != nodes for node_list in lists):
        raise InputError(f"trees: expected lists of {nodes} entries, one per node")


def _require_places(noun: str, places: Any, size: int) -> None:
    numbers = np.asarray(places, np.int64)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < size):
        raise InputError(f"trees: expected {noun} from 0 to {size - 1}")


def _sets(members: NDArray[Any] | None, count: int) -> tuple[NDArray[Any], ...]:
    """Return the sets of `count` nodes, separated by nan."""
    if not count:
        return ()
    flat = np.zeros(0) if members is None else members.reshape(-1).astype(np.float64)
    ends = np.flatnonzero(np.isnan(flat))
    if members is None or ends.size not in {count - 1, count}:  # one may follow the last set, too
        raise InputError(f"trees: expected {count} sets, found {0 if members is None else ends.size + 1}")
    return tuple(part[~np.isnan(part)] for part in np.split(flat, ends)[:count])


def _integers(values: Sequence[int] | None) -> NDArray[np.int64]:
    return np.asarray([] if values is None else values, np.int64)


def _numbers(values: Sequence[float] | NDArray[Any] | None, wide_tensor: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return a list of float32, or the tensor given instead."""
    if wide_tensor is not None:
        return wide_tensor.reshape(-1).astype(np.float64)
    return np.asarray([] if values is None else values, np.float32).astype(np.float64)


class _Nodes:
    """Node numbers by tree id and node id."""

    def __init__(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        self._trees, self._nodes = np.unique(trees), np.unique(nodes)
        keys = self._keys(trees, nodes)
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def _keys(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number per pair of tree and node id, -1 if unknown."""
        if not self._trees.size:
            return np.full(trees.size, -1)
        tree = np.minimum(np.searchsorted(self._trees, trees), self._trees.size - 1)
        node = np.minimum(np.searchsorted(self._nodes, nodes), self._nodes.size - 1)
        is_known = (self._trees[tree] == trees) & (self._nodes[node] == nodes)
        return np.where(is_known, tree * self._nodes.size + node, -1)

    def places(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of each node, -1 if missing; the first of duplicates."""
        node_keys = self._keys(trees, nodes)
        if not self._sorted.size:
            return node_keys
        key_places = np.minimum(np.searchsorted(self._sorted, node_keys), self._sorted.size - 1)
        return np.where((node_keys >= 0) & (self._sorted[key_places] == node_keys), self._order[key_places], -1)


def _trees(
    tree_ids: Sequence[int] | None,
    node_ids: Sequence[int] | None,
    features: Sequence[int] | None,
    modes: Sequence[str] | None,
    values: NDArray[np.float64],
    true_ids: Sequence[int] | None,
    false_ids: Sequence[int] | None,
    missing_tracks: Sequence[int] | None,
) -> tuple[Trees, _Nodes]:
    """Return the nodes, and their lookup.

    A tree starts with its first node that no other node leads to.
    """
    trees, nodes = _integers(tree_ids), _integers(node_ids)
    kinds = np.array(
        [MODES.index(mode) if mode in MODES else -1 for mode in memory.within_time_limit(modes or ())], np.int8
    )
    if (kinds < 0).any():
        raise InputError(f"trees: expected node modes in {', '.join(MODES)}")
    missing_flags = _integers(missing_tracks) if missing_tracks else np.zeros(trees.size, np.int64)
    lists = (nodes, _integers(features), kinds, values, _integers(true_ids), _integers(false_ids), missing_flags)
    if any(node_list.size != trees.size for node_list in lists):
        raise InputError(f"trees: expected lists of {trees.size} entries, one per node")
    node_table = _Nodes(trees, nodes)
    branch = kinds != LEAF
    true, false = (np.where(branch, node_table.places(trees, _integers(ids)), -1) for ids in (true_ids, false_ids))
    led = np.zeros(trees.size + 1, np.bool_)
    led[true], led[false], led[-1] = True, True, False
    order = np.argsort(led[:-1], kind="stable")  # nodes without a parent come before the others of their tree
    _, first = np.unique(trees[order], return_index=True)
    new_trees = Trees(
        kinds,
        lists[1],
        values,
        true,
        false,
        missing_flags.astype(np.bool_),
        np.sort(order[first]),
        np.arange(trees.size),
    )
    return new_trees, node_table


def _votes(
    node_table: _Nodes,
    size: int,
    tree_ids: Sequence[int] | None,
    node_ids: Sequence[int] | None,
    targets: Sequence[int] | None,
    weights: NDArray[np.float64],
    count: int,
) -> tuple[Votes, bool]:
    """Return the leaves' votes, and whether each vote's node exists."""
    trees, nodes, ids = _integers(tree_ids), _integers(node_ids), _integers(targets)
    if any(vote_list.size != trees.size for vote_list in (nodes, ids, weights)):
        raise InputError(f"trees: expected lists of {trees.size} entries, one per leaf weight")
    if ids.size and not (ids.min() >= 0 and ids.max() < count):
        raise InputError(f"trees: expected leaf weights for {count} targets")
    places = node_table.places(trees, nodes)
    valid = places >= 0
    return Votes.from_lists(places[valid], ids[valid], weights[valid], size, count), bool(valid.all())


def _ensemble(
    count: int,
    targets: Sequence[int] | None,
    *,
    tree_ids: Sequence[int] | None = None,
    node_ids: Sequence[int] | None = None,
    features: Sequence[int] | None = None,
    modes: Sequence[str] | None = None,
    values: Sequence[float] | None = None,
    wide_values: NDArray[Any] | None = None,
    true_ids: Sequence[int] | None = None,
    false_ids: Sequence[int] | None = None,
    missing: Sequence[int] | None = None,
    vote_trees: Sequence[int] | None = None,
    vote_nodes: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    wide_weights: NDArray[Any] | None = None,
) -> tuple[Trees, Votes, bool]:
    """Return the trees, the votes of their leaves, and whether each vote's node exists."""
    numbers = _numbers(values, wide_values)
    trees, node_table = _trees(tree_ids, node_ids, features, modes, numbers, true_ids, false_ids, missing)
    array = _numbers(weights, wide_weights)
    return trees, *_votes(node_table, trees.modes.size, vote_trees, vote_nodes, targets, array, count)


def _add_base(scores: NDArray[Any], base: NDArray[np.float64]) -> NDArray[Any]:
    if base.size not in {0, scores.shape[1]}:
        raise InputError(f"trees: expected {scores.shape[1]} base values, found {base.size}")
    return scores + base if base.size else scores


def tree_ensemble_regressor(
    inputs: NDArray[Any],
    *,
    targets: int | None = None,
    aggregate: str = "SUM",
    post_transform: str = "NONE",
    base: Sequence[float] | None = None,
    wide_base: NDArray[Any] | None = None,
    vote_targets: Sequence[int] | None = None,
    **lists: Any,
) -> NDArray[np.float32]:
    """Return float32 [samples, targets] of a tree ensemble regressor.

    Masked for samples that reach no leaf, or a node that is not a leaf. lists: see `_ensemble`; node lists have one
    entry per node, vote lists one per vote of a leaf; those named wide_* replace the others. base: added per target.
    """
    if targets is None or not targets >= 1:
        raise InputError("trees: the number of targets must be known")
    trees, votes, result = _ensemble(targets, vote_targets, **lists)
    scores = scores_of(inputs, trees, votes, aggregate)
    results = _add_base(scores.values, _numbers(base, wide_base))
    return results_of(results, scores.reached & result, post_transform, np.dtype(np.float32))


def tree_ensemble_classifier(
    inputs: NDArray[Any],
    *,
    integer_labels: Sequence[int] | None = None,
    text_labels: Sequence[str] | None = None,
    post_transform: str = "NONE",
    base: Sequence[float] | None = None,
    wide_base: NDArray[Any] | None = None,
    vote_classes: Sequence[int] | None = None,
    **lists: Any,
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return labels and float32 scores [samples, classes] of a classifier.

    Lists are as in `tree_ensemble_regressor`. The label is that of the highest score among classes with votes, or among
    all where base values are added. If all votes are for one of two classes the model is binary: see `_binary`.
    """
    labels = labels_of("tree_ensemble_classifier", integer_labels, text_labels)
    if not labels.size:
        raise InputError("trees: expected at least one class label")
    trees, votes, result = _ensemble(labels.size, vote_classes, **lists)
    array, base_scores = _numbers(lists.get("weights"), lists.get("wide_weights")), _numbers(base, wide_base)
    scores = scores_of(inputs, trees, votes)
    defined, voted = scores.reached & result, np.unique(_integers(vote_classes)).tolist()
    if labels.size == 2 and ((voted == [0] and base_scores.size < 2) or (len(voted) == 1 and not base_scores.size)):
        score = scores.values[:, voted[0]] + base_scores.sum()
        places, class_scores = _binary(score, post_transform, positive=bool((array >= 0).all()), first=voted == [0])
    else:
        single = _add_base(scores.values, base_scores).astype(np.float32)
        open_to = scores.voted if labels.size > 2 and not base_scores.size else True
        places = place_of_largest(np.where(open_to, single, -np.inf))
        class_scores = transform_scores(single.astype(np.float64), post_transform)
    chosen_labels = labels_at(labels, places)
    if not defined.all():
        chosen_labels = np.ma.MaskedArray(chosen_labels, mask=~defined)
    return chosen_labels, results_of(class_scores, defined, "NONE", np.dtype(np.float32))


def _binary(
    score: NDArray[Any], post_transform: str, *, positive: bool, first: bool
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return which of two classes each score selects, and both scores.

    positive: no weight is negative; then the second class wins above 0.5, else above 0. first: the votes are for the
    first class, and are the score of the second. The first has 1 - score, or the negative score if not positive; only
    LOGISTIC and PROBIT transform them.
    """
    score = score.astype(np.float32).astype(np.float64)
    places = (score > (0.5 if positive else 0.0)).astype(np.intp)
    if not first:
        return places, transform_scores(np.stack([np.zeros_like(score), score], axis=1), post_transform)
    class_scores = np.stack([1 - score if positive and post_transform != "LOGISTIC" else -score, score], axis=1)
    return places, transform_scores(class_scores, post_transform) if post_transform in {
        "LOGISTIC",
        "PROBIT",
    } else class_scores
