"""Generation of valid descriptors.

Mutates a table's examples and keeps the results that the check accepts. First, it builds a collection per table and
level, which contains a descriptor for each type, rank, word and optional part of the support rows, if one is found.
Each draw starts from one of these descriptors and takes a few steps.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, product
from random import Random
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor
from specgate.errors import InputError
from specgate.generate.domains import holds_elements
from specgate.generate.features import condition, descriptor_features, required_features, supported_types
from specgate.generate.invent import values_for, with_value
from specgate.generate.moves import (
    Mutator,
    add_dimensions,
    change_depth,
    change_fields,
    linked_tensors,
    replace_tensors,
    resize_dimension,
    retype_tensors,
    retyped_within,
    type_names,
)
from specgate.generate.repair import repair_descriptor, row_of
from specgate.generate.seeds import counterexamples_at, examples_at, make_concrete, pick_option, rule_numbers
from specgate.validate.check import accepts
from specgate.validate.row import explain_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.generate.features import Feature
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis

#: Maximum number of elements of a tensor.
MAX_ELEMENTS: Final = {"input": 256, "output": 4096}
#: Maximum number of steps per draw.
_STEPS: Final = 5
#: The number of random mutations for the collection, and the number of descriptors from which on only those with
#: features of the rows are added.
_EXPLORED: Final = 400
_MAX_DESCRIPTORS: Final = 150
#: The number of descriptors, and of ways per descriptor, that are tried for a missing feature.
_BASES: Final = 3
_MAX_VARIANTS: Final = 8
#: After this number of unreachable types (ranks, words) of a field, the others are skipped.
_MAX_UNREACHABLE: Final = 4
#: Maximum number of changes to shrink a large example.
_MAX_SHRINK_STEPS: Final = 200
#: Sizes below this are small enough.
_SMALL_SIZE: Final = 3
#: Maximum number of repairs, which are slow.
_MAX_REPAIRS: Final = 60


class Walk:
    """Draws descriptors that an operator accepts at one level.

    The basis is documented, observed or both.
    """

    def __init__(self, spec: OperatorSpec, level: str, basis: Basis) -> None:
        self.spec = spec
        self.level = level
        self.basis: Basis = basis
        self.sides: list[Resolved] = list(spec.sides_at(level, basis).values())
        self.numbers = rule_numbers(self.sides[-1])
        self.types = supported_types(self.sides)
        self.descriptors: list[Descriptor] = []
        self._missing = required_features(self.sides)
        self._covered: set[Feature] = set()
        self._refusals: Counter[str] = Counter()
        self._mends = _MAX_REPAIRS
        self._explore(Random(spec.name).randint)  # noqa: S311  # repeatable on purpose
        covering_descriptors = self._select_covering()
        self._starts = self.descriptors + covering_descriptors * (
            len(self.descriptors) // max(len(covering_descriptors), 1)
        )

    def accepts(self, descriptor: Descriptor) -> bool:
        """Return whether a descriptor is small and accepted.

        Its constants must also fit their types.
        """
        small = self.small(descriptor) and accepts(descriptor, self.level, self.basis) is True
        return small and all(holds_elements(self.spec.dialect, tensor) for _, tensor in descriptor.tensors())

    def small(self, descriptor: Descriptor) -> bool:
        """Return whether all sizes are known and no tensor is too large."""
        for place, tensor in descriptor.tensors():
            if not tensor.concrete:
                return False
            info = self.spec.fields.get(place.partition("[")[0])
            kind = "output" if info is not None and info.kind == "output" else "input"
            if tensor.known_elements > MAX_ELEMENTS[kind]:
                return False
        return True

    def draw(self, pick: Callable[[int, int], int]) -> Descriptor:
        """Return a valid descriptor; the simplest choices give the first example."""
        descriptor = pick_option(pick, self._starts)
        mover = self._mover(pick)
        steps = pick(0, _STEPS)
        for step in range(steps):
            # The first step changes the type, because there are many types.
            mutated = mover.mutate_descriptor(descriptor, 1) if step else mover.retype_tensor(descriptor)
            if mutated is not descriptor and self.accepts(mutated):
                descriptor = mutated
        return descriptor

    def require(self) -> None:
        """Raise InputError if no valid descriptor was found.

        The message names the operator and the rules that reject most.
        """
        if self.descriptors:
            return
        blamed = ", ".join(f"{name} ({count} times)" for name, count in self._refusals.most_common(3))
        raise InputError(
            f"no valid descriptor of {self.spec.dialect.name} {self.spec.name} at {self.level} was found from the "
            f"table's examples; most frequent rejection: {blamed or 'no rule: a support row has no choices left'}"
        )

    def _mover(self, pick: Callable[[int, int], int]) -> Mutator:
        return Mutator(self.spec, pick, self.numbers, self.descriptors, self.types)

    def _explore(self, pick: Callable[[int, int], int]) -> None:
        for seed in self._seeds():
            small = self._shrunk(seed, pick)
            descriptor = small if self.accepts(small) else repair_descriptor(small, self.sides, pick, lambda _: True)
            if descriptor is not None and self.accepts(descriptor):
                self._add(descriptor)
            else:
                self._refusals.update(f.rule for side in self.sides for f in explain_at(seed, side))
        if not self.descriptors:
            return
        self._walk_randomly(pick, _EXPLORED // 2)
        failed: Counter[Any] = Counter()
        for feature in sorted(self._missing - self._covered, key=lambda f: (f[0] != "given", repr(f))):
            kind = feature[:2] + feature[3:]
            if feature not in self._covered and not failed["given", kind[1]] and failed[kind] < _MAX_UNREACHABLE:
                failed[kind] += not self._search_feature(feature, pick)
        self._walk_randomly(pick, _EXPLORED // 2)

    def _select_covering(self) -> list[Descriptor]:
        """Return a few descriptors that together have all reachable features.

        Rare features are thereby drawn more often.
        """
        feature_sets = [
            (descriptor, descriptor_features(descriptor, self.sides) & self._missing) for descriptor in self.descriptors
        ]
        left, chosen_descriptors = self._missing & self._covered, []
        while left:
            descriptor, best_features = max(feature_sets, key=lambda candidate: len(candidate[1] & left))
            chosen_descriptors.append(descriptor)
            left -= best_features
        return chosen_descriptors

    def _seeds(self) -> Iterator[Descriptor]:
        yield from map(make_concrete, examples_at(self.spec, self.level))
        if not self.descriptors:
            yield from map(make_concrete, counterexamples_at(self.spec, self.level))
        if not self.descriptors:
            yield self._blank()

    def _blank(self) -> Descriptor:
        """Return a descriptor with all required fields, without an example."""
        descriptor = Descriptor(
            self.spec.dialect.name, self.spec.name, {}, layout=self.level if self.spec.varies else None
        )
        for name, info in self.sides[0].fields.items():
            if not info.optional and info.default is None:
                value = next(values_for(info, descriptor, [row_of(descriptor, side) for side in self.sides]), None)
                descriptor = change_fields(descriptor, self.spec, {name: value})
        return descriptor

    def _shrunk(
        self,
        seed: Descriptor,
        pick: Callable[[int, int], int],
        is_acceptable: Callable[[Descriptor], bool] = lambda _: True,
    ) -> Descriptor:
        """Return a small descriptor derived from an accepted one.

        If none is small enough, returns the last one found.
        """
        mover = self._mover(pick)
        for _ in range(_MAX_SHRINK_STEPS):
            if self.small(seed):
                break
            descriptor = mover.mutate_descriptor(seed, 1 + pick(0, 1))
            if (
                descriptor.known_elements < seed.known_elements
                and is_acceptable(descriptor)
                and accepts(descriptor, self.level, self.basis)
            ):
                seed = descriptor
        halved: Descriptor | None = seed
        while halved is not None and not self.small(halved):
            seed, halved = halved, self._halve_elements(halved, pick, is_acceptable)
        return halved or seed

    def _halve_elements(
        self, descriptor: Descriptor, pick: Callable[[int, int], int], is_acceptable: Callable[[Descriptor], bool]
    ) -> Descriptor | None:
        """Return an accepted descriptor with fewer elements.

        A large size is halved and the result repaired.
        """
        count = descriptor.known_elements
        tensors = [(place, t, axis) for place, t in descriptor.tensors() for axis in range(len(t.sizes or ()))]
        for place, tensor, axis in sorted(tensors, key=lambda candidate: -(candidate[1].sizes or ())[candidate[2]]):  # type: ignore[operator]
            size = (tensor.sizes or ())[axis]
            if self._mends <= 0 or not isinstance(size, int) or size < _SMALL_SIZE:
                return None
            self._mends -= 1
            smaller_descriptor = replace_tensors(descriptor, {place: resize_dimension(tensor, axis, size // 2)})
            new_descriptor = repair_descriptor(
                smaller_descriptor, self.sides, pick, lambda d: is_acceptable(d) and d.known_elements < count
            )
            if new_descriptor is not None:
                return new_descriptor
        return None

    def _add(self, descriptor: Descriptor) -> None:
        """Add a descriptor with a new feature to the collection.

        Features of rows are always added, others until the collection is large.
        """
        new = descriptor_features(descriptor, self.sides) - self._covered
        if new & self._missing or (new and len(self.descriptors) < _MAX_DESCRIPTORS):
            self._covered |= new
            self.descriptors.append(descriptor)

    def _walk_randomly(self, pick: Callable[[int, int], int], steps: int) -> None:
        mover = self._mover(pick)
        for _ in range(steps):
            descriptor = mover.mutate_descriptor(pick_option(pick, self.descriptors), 1 + pick(0, 1))
            if self.accepts(descriptor):
                self._add(descriptor)

    def _search_feature(self, feature: Feature, pick: Callable[[int, int], int]) -> bool:
        """Search for a descriptor with a feature; return whether it was found.

        Applies the change and repairs the result.
        """

        def has(descriptor: Descriptor) -> bool:
            return feature in descriptor_features(descriptor, self.sides)

        descriptors_with_field = [
            descriptor for descriptor in self.descriptors if descriptor.fields.get(feature[1]) is not None
        ]
        bases = descriptors_with_field if descriptors_with_field and feature[0] != "given" else self.descriptors
        if feature[3:]:
            bases = [descriptor for descriptor in bases if condition(descriptor, self.sides) == feature[3]] or bases
        step = max(1, len(bases) // _BASES)
        for base in bases[::step][: _BASES + 1]:
            for number, new_descriptor in enumerate(self._variants_with(base, feature)):
                if number >= _MAX_VARIANTS:
                    break
                if has(new_descriptor) and self._add_variant(new_descriptor, has, pick):
                    return True
        return False

    def _add_variant(
        self, descriptor: Descriptor, is_acceptable: Callable[[Descriptor], bool], pick: Callable[[int, int], int]
    ) -> bool:
        """Add the descriptor or an accepted variant of it.

        Tries the descriptor, then changes of one type or of one attribute that names a type, then a repair. Returns
        whether one was added.
        """
        tensors = [place for place, _ in descriptor.tensors()]
        retypes = (
            retype_tensors(descriptor, [p], kind) for p in tensors for kind in self.types.get(p.partition("[")[0], ())
        )
        types = {tensor.type for _, tensor in descriptor.tensors()}
        names = (
            change_fields(descriptor, self.spec, {n: value})
            for n, value, kind in type_names(self.spec)
            if kind in types
        )
        descriptors = (
            o for o in chain([descriptor], retypes, names) if is_acceptable(o) and accepts(o, self.level, self.basis)
        )
        new_variant = next(descriptors, None)
        if new_variant is not None:
            new_variant = self._shrunk(new_variant, pick, is_acceptable)
        elif self._mends:
            self._mends -= 1
            new_variant = repair_descriptor(descriptor, self.sides, pick, is_acceptable)
        if new_variant is None or not self.accepts(new_variant):
            return False
        self._add(new_variant)
        return True

    def _variants_with(self, base: Descriptor, feature: Feature) -> Iterator[Descriptor]:
        """Yield variants of a descriptor that may have the feature."""
        aspect, name, value = feature[:3]
        info = self.spec.fields[name]
        rows = [row_of(base, side) for side in self.sides]
        if aspect == "given":
            options = values_for(info, base, rows) if value else iter((None,))
            yield from (change_fields(base, self.spec, {name: option}) for option in options)
            return
        base = with_value(base, info, rows)
        if base.fields.get(name) is None:
            return
        if aspect == "word":
            yield change_fields(base, self.spec, {name: [value] if info.type.endswith("[]") else value})
        place = name if info.tensor else f"{name}[0]"
        tensors = dict(base.tensors())
        if place not in tensors:
            return
        if aspect == "type":
            groups = list(linked_tensors(base, place, "type"))
            yield from (way(base, group, value) for way in (retype_tensors, retyped_within) for group in groups)
        elif aspect == "rank":
            steps = value - len(tensors[place].sizes or ())
            yield from (add_dimensions(base, group, steps) for group in linked_tensors(base, place, "rank"))
            single_place = next(linked_tensors(base, place, "rank"))
            for position_from_end, places in product((1, 2, 3), (None, single_place)) if steps else ():
                descriptor = base
                for _ in range(abs(steps)):
                    descriptor = change_depth(
                        descriptor, self.spec, position_from_end, drop_dimension=steps < 0, places=places
                    )
                yield descriptor


_walks: WeakKeyDictionary[OperatorSpec, dict[Any, Walk]] = WeakKeyDictionary()


def valid_descriptors(spec: OperatorSpec, level: str, basis: Basis = "documented", *, proven: bool = True) -> Walk:
    """Return the cached generator of valid descriptors of `spec` at `level`.

    proven: raise InputError if it finds none (see `Walk.require`).
    """
    cached_walk = _walks.setdefault(spec, {})
    if (level, basis) not in cached_walk:
        cached_walk[level, basis] = Walk(spec, level, basis)
    if proven:
        cached_walk[level, basis].require()
    return cached_walk[level, basis]
