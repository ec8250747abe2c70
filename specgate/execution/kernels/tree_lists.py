"""Ensembles of trees whose nodes name each other by tree and number: scores of classes, and regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.scores import labels_at, labels_of, place_of_largest, transformed
from specgate.execution.kernels.trees import LEAF, MODES, Trees, Votes, results_of, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["classify_by_trees", "regress_by_trees"]


def _integers(values: Sequence[int] | None) -> NDArray[np.int64]:
    return np.asarray([] if values is None else values, np.int64)


def _numbers(values: Sequence[float] | NDArray[Any] | None, wide: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return the numbers of a list, which are float32, or of the tensor given in its stead."""
    if wide is not None:
        return wide.reshape(-1).astype(np.float64)
    return np.asarray([] if values is None else values, np.float32).astype(np.float64)


class _Nodes:
    """The numbers of the nodes that trees have, by the names they give them."""

    def __init__(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> None:
        self._trees, self._nodes = np.unique(trees), np.unique(nodes)
        keys = self._keys(trees, nodes)
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def _keys(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number for each pair of tree and node, -1 where either is not known."""
        if not self._trees.size:
            return np.full(trees.size, -1)
        tree = np.minimum(np.searchsorted(self._trees, trees), self._trees.size - 1)
        node = np.minimum(np.searchsorted(self._nodes, nodes), self._nodes.size - 1)
        known = (self._trees[tree] == trees) & (self._nodes[node] == nodes)
        return np.where(known, tree * self._nodes.size + node, -1)

    def places(self, trees: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of each node, -1 of one that there is not; of two of one name the first."""
        sought = self._keys(trees, nodes)
        if not self._sorted.size:
            return sought
        at = np.minimum(np.searchsorted(self._sorted, sought), self._sorted.size - 1)
        return np.where((sought >= 0) & (self._sorted[at] == sought), self._order[at], -1)


def _trees(
    tree_ids: Sequence[int] | None,
    node_ids: Sequence[int] | None,
    features: Sequence[int] | None,
    modes: Sequence[str] | None,
    values: NDArray[np.float64],
    true_ids: Sequence[int] | None,
    false_ids: Sequence[int] | None,
    missing: Sequence[int] | None,
) -> tuple[Trees, _Nodes]:
    """Return the nodes, and how to find one. A tree begins with the first of its nodes that no other one leads to."""
    trees, nodes = _integers(tree_ids), _integers(node_ids)
    kinds = np.array([MODES.index(mode) if mode in MODES else -1 for mode in memory.in_time(modes or ())], np.int8)
    if (kinds < 0).any():
        raise InputError(f"trees: expected modes among {', '.join(MODES)}")
    lacking = _integers(missing) if missing else np.zeros(trees.size, np.int64)
    lists = (nodes, _integers(features), kinds, values, _integers(true_ids), _integers(false_ids), lacking)
    if any(each.size != trees.size for each in lists):
        raise InputError(f"trees: expected lists with an entry for each of {trees.size} nodes")
    known = _Nodes(trees, nodes)
    branch = kinds != LEAF
    true, false = (np.where(branch, known.places(trees, _integers(ids)), -1) for ids in (true_ids, false_ids))
    led = np.zeros(trees.size + 1, np.bool_)
    led[true], led[false], led[-1] = True, True, False
    order = np.argsort(led[:-1], kind="stable")  # those that none leads to, before the others of their tree
    _, first = np.unique(trees[order], return_index=True)
    made = Trees(
        kinds, lists[1], values, true, false, lacking.astype(np.bool_), np.sort(order[first]), np.arange(trees.size)
    )
    return made, known


def _votes(
    known: _Nodes,
    size: int,
    tree_ids: Sequence[int] | None,
    node_ids: Sequence[int] | None,
    targets: Sequence[int] | None,
    weights: NDArray[np.float64],
    count: int,
) -> tuple[Votes, bool]:
    """Return what the leaves give, and whether each vote is of a node that there is."""
    trees, nodes, ids = _integers(tree_ids), _integers(node_ids), _integers(targets)
    if any(each.size != trees.size for each in (nodes, ids, weights)):
        raise InputError(f"trees: expected lists with an entry for each of {trees.size} votes")
    if ids.size and not (ids.min() >= 0 and ids.max() < count):
        raise InputError(f"trees: expected votes for {count} targets")
    places = known.places(trees, nodes)
    there = places >= 0
    return Votes.of_lists(places[there], ids[there], weights[there], size, count), bool(there.all())


def _added(scores: NDArray[Any], base: NDArray[np.float64]) -> NDArray[Any]:
    if base.size not in {0, scores.shape[1]}:
        raise InputError(f"trees: expected {scores.shape[1]} base values, found {base.size}")
    return scores + base if base.size else scores


def regress_by_trees(
    inputs: NDArray[Any],
    *,
    targets: int | None = None,
    aggregate: str = "SUM",
    post_transform: str = "NONE",
    base: Sequence[float] | None = None,
    wide_base: NDArray[Any] | None = None,
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
    vote_targets: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    wide_weights: NDArray[Any] | None = None,
) -> NDArray[np.float32]:
    """Return float32 [samples, targets]; samples that come to no leaf, or whose leaf is none, are masked.

    Every list of nodes has an entry for each node, every one of votes an entry for each vote of a leaf; those that
    begin with wide stand for the others. base: added for each target.
    """
    if targets is None or not targets >= 1:
        raise InputError("trees: the number of targets must be known")
    numbers = _numbers(values, wide_values)
    trees, known = _trees(tree_ids, node_ids, features, modes, numbers, true_ids, false_ids, missing)
    held = _numbers(weights, wide_weights)
    votes, found = _votes(known, trees.modes.size, vote_trees, vote_nodes, vote_targets, held, targets)
    scores = scores_of(inputs, trees, votes, aggregate)
    results = _added(scores.values, _numbers(base, wide_base))
    return results_of(results, scores.reached & found, post_transform, np.dtype(np.float32))


def classify_by_trees(
    inputs: NDArray[Any],
    *,
    integer_labels: Sequence[int] | None = None,
    text_labels: Sequence[str] | None = None,
    post_transform: str = "NONE",
    base: Sequence[float] | None = None,
    wide_base: NDArray[Any] | None = None,
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
    vote_classes: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    wide_weights: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return the label of each sample and float32 scores [samples, classes], with lists as `regress_by_trees` has them.

    The label is of the largest score among classes that a leaf votes for, or among all where base values are added. All
    votes for one of two classes are of a binary model: see `_binary`.
    """
    labels = labels_of("classify_by_trees", integer_labels, text_labels)
    if not labels.size:
        raise InputError("trees: expected the label of a class")
    numbers = _numbers(values, wide_values)
    trees, known = _trees(tree_ids, node_ids, features, modes, numbers, true_ids, false_ids, missing)
    held, added = _numbers(weights, wide_weights), _numbers(base, wide_base)
    votes, found = _votes(known, trees.modes.size, vote_trees, vote_nodes, vote_classes, held, labels.size)
    scores = scores_of(inputs, trees, votes)
    defined, voted = scores.reached & found, np.unique(_integers(vote_classes)).tolist()
    if labels.size == 2 and ((voted == [0] and added.size < 2) or (len(voted) == 1 and not added.size)):
        score = scores.values[:, voted[0]] + added.sum()
        places, both = _binary(score, post_transform, positive=bool((held >= 0).all()), first=voted == [0])
    else:
        single = _added(scores.values, added).astype(np.float32)
        open_to = scores.voted if labels.size > 2 and not added.size else True
        places = place_of_largest(np.where(open_to, single, -np.inf))
        both = transformed(single.astype(np.float64), post_transform)
    chosen = labels_at(labels, places)
    if not defined.all():
        chosen = np.ma.MaskedArray(chosen, mask=~defined)
    return chosen, results_of(both, defined, "NONE", np.dtype(np.float32))


def _binary(
    score: NDArray[Any], post_transform: str, *, positive: bool, first: bool
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return which of two classes each score says, and the scores of both.

    positive: no weight is negative. Then the second class is found where the score is above 0.5, else where it is above
    0. first: the votes are for the first class, and are the score of the second. The first has what is missing to 1,
    or the negative score if not positive; LOGISTIC and PROBIT alone transform them.
    """
    score = score.astype(np.float32).astype(np.float64)
    places = (score > (0.5 if positive else 0.0)).astype(np.intp)
    if not first:
        return places, transformed(np.stack([np.zeros_like(score), score], axis=1), post_transform)
    both = np.stack([1 - score if positive and post_transform != "LOGISTIC" else -score, score], axis=1)
    return places, transformed(both, post_transform) if post_transform in {"LOGISTIC", "PROBIT"} else both
