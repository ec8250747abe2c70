"""Slotted classes behave like those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
import weakref
from typing import Any

import pytest

from specgate.descriptors.core import BodyDesc, GraphDesc
from specgate.slotted import field, replace, slotted
from specgate.verdict import Finding, Location, Report


@slotted(frozen=True)
class Frozen:
    """Frozen."""

    name: str
    size: int = 3
    many: tuple[int, ...] = field(default=(), compare=False)
    hidden: str = field(default="x", repr=False)


@slotted()
class Open:
    """Open."""

    name: str
    listed: list[int] = field(default_factory=list)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = max(self.size, 0)


@slotted(extra_slot="__weakref__")
class Kept:
    """Kept."""

    name: str


@slotted(frozen=True, extra_slot="__dict__")
class Noting:
    """Noting."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenBeside:
    """Frozen."""

    name: str
    size: int = 3
    many: tuple[int, ...] = dataclasses.field(default=(), compare=False)
    hidden: str = dataclasses.field(default="x", repr=False)


@dataclasses.dataclass(slots=True)
class OpenBeside:
    """Open."""

    name: str
    listed: list[int] = dataclasses.field(default_factory=list)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = max(self.size, 0)


PAIRS = [(Frozen, FrozenBeside), (Open, OpenBeside)]
GIVEN: dict[type, list[tuple[Any, ...]]] = {
    Frozen: [("a",), ("a", 3), ("a", 4), ("a", 3, (1,)), ("b", 3, (), "y")],
    Open: [("a",), ("a", []), ("a", [1], 2), ("a", [1], -2)],
}


def values(item: Any) -> list[Any]:
    return [getattr(item, name) for name in item.__match_args__]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_init_eq_and_repr_match_a_dataclass(ours: Any, theirs: Any) -> None:
    result = [(ours(*inputs), theirs(*inputs)) for inputs in GIVEN[ours]]
    for item, other in result:
        assert values(item) == values(other)
        assert repr(item).replace(ours.__name__, "") == repr(other).replace(theirs.__name__, "")
        assert item != other
        for repeated, again_other in result:
            assert (item == repeated) is (other == again_other)
            if ours is Frozen:
                assert (hash(item) == hash(repeated)) is (hash(other) == hash(again_other))
    assert ours.__match_args__ == theirs.__match_args__
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    assert ours(name="a", size=5).size == 5
    for wrong in ({}, {"name": "a", "other": 1}):
        for kind in (ours, theirs):
            with pytest.raises(TypeError):
                kind(**wrong)


def test_the_init_of_a_class_is_generated_with_its_first_object() -> None:
    @slotted(frozen=True)
    class Late:
        name: str

    @slotted(frozen=True)
    class Later(Late):
        size: int = 1

    assert not inspect.isfunction(vars(Late)["__init__"])
    assert Later("a") == Later("a", 1)
    assert inspect.isfunction(vars(Later)["__init__"])
    assert not inspect.isfunction(vars(Late)["__init__"])
    assert Late("a").name == "a"
    assert inspect.isfunction(vars(Late)["__init__"])
    assert Late.__init__.__qualname__ == "Late.__init__"


def test_each_object_has_a_separate_list() -> None:
    open_, two = Open("a"), Open("a")
    open_.listed.append(1)
    assert two.listed == []


def test_frozen_objects_reject_assignment() -> None:
    for item in (Frozen("a"), Noting("a")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            item.name = "b"  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            del item.name
    with pytest.raises(AttributeError):
        Open("a").other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        hash(Open("a"))


@pytest.mark.parametrize("item", [Frozen("a", 4, (1,)), Open("b", [1, 2], 3), Kept("c"), Noting("d")])
def test_objects_are_copied_and_pickled(item: Any) -> None:
    for result in (copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item)), replace(item)):
        assert result.__class__ is item.__class__
        assert values(result) == values(item)
    assert replace(item, name="z").name == "z"
    if sys.version_info >= (3, 13):
        assert copy.replace(item, name="z").name == "z"  # type: ignore[attr-defined, unused-ignore]


def test_dataclasses_functions_accept_slotted_classes() -> None:
    frozen = Frozen("a", 4, (1,))
    assert dataclasses.is_dataclass(frozen)
    assert dataclasses.asdict(frozen) == {"name": "a", "size": 4, "many": (1,), "hidden": "x"}
    assert dataclasses.replace(frozen, size=5) == Frozen("a", 5)
    fields_by_name = {f.name: f for f in dataclasses.fields(Open)}
    assert list(fields_by_name) == ["name", "listed", "size"]
    assert fields_by_name["listed"].default_factory is list
    assert fields_by_name["name"].default is dataclasses.MISSING
    assert [f.name for f in dataclasses.fields(Finding)] == list(Finding.__match_args__)
    assert dataclasses.asdict(Location("a.onnx"))["file"] == "a.onnx"
    assert dataclasses.replace(Report(), nodes=3).nodes == 3


def test_a_derived_class_has_the_fields_of_its_base() -> None:
    body = BodyDesc((), (), lambda values: values)
    assert isinstance(body, GraphDesc)
    assert BodyDesc.__match_args__ == ("inputs", "outputs", "call")
    assert body != GraphDesc((), ())
    assert [f.name for f in dataclasses.fields(body)] == ["inputs", "outputs", "call"]


def test_slots_next_to_fields() -> None:
    assert weakref.ref(kept := Kept("a"))() is kept
    noting = Noting("a")
    noting.__dict__["more"] = 1
    assert noting.more == 1  # type: ignore[attr-defined]
    assert not hasattr(Open("a"), "__dict__")


def test_the_fields_for_dataclasses_are_created_once() -> None:
    assert Frozen.__dataclass_fields__ is Frozen.__dataclass_fields__


def test_a_derived_class_has_separate_fields_for_dataclasses() -> None:
    assert [each.name for each in dataclasses.fields(GraphDesc)] == ["inputs", "outputs"]
    assert [each.name for each in dataclasses.fields(BodyDesc)] == ["inputs", "outputs", "call"]
