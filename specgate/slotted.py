"""Classes of fields with slots, as `dataclasses` makes them, for what every command loads.

Importing `dataclasses` and the code that it generates for each class took a seventh of a cold check. Here one method
is generated, the ``__init__``; the others are functions of all. What `dataclasses` offers takes these classes all the
same (`replace`, `fields`, `asdict`): it gets their fields when it asks. The ``__init__`` is generated when the first
object is made: a command makes objects of half of its classes.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["field", "replace", "slotted"]

Made = TypeVar("Made")


class _Missing:
    """No default."""

    def __repr__(self) -> str:
        return "…"  # as signatures show it


_MISSING: Final[Any] = _Missing()


class _Field(NamedTuple):
    """What is said of a field besides its name and its type."""

    default: Any = _MISSING
    default_factory: Any = _MISSING
    compare: bool = True
    repr: bool = True


def field(
    *,
    default: Any = _MISSING,
    default_factory: Any = _MISSING,
    compare: bool = True,
    repr: bool = True,  # noqa: A002
) -> Any:
    """Say more of a field, as `dataclasses.field` does."""
    return _Field(default, default_factory, compare, repr)


@dataclass_transform(field_specifiers=(field,))
def slotted(*, frozen: bool = False, also: str = "") -> Callable[[type[Made]], type[Made]]:
    """Make a class one of fields: the names in it that have types, behind the fields of its base.

    frozen: nothing is assigned to after it is made. also: one more slot, ``__weakref__`` or ``__dict__``.
    """

    def made(cls: type[Made]) -> type[Made]:
        own = {name: _said(cls.__dict__.get(name, _MISSING)) for name in cls.__annotations__}
        fields: dict[str, _Field] = {**getattr(cls, "__slotted__", {}), **own}
        content = {key: value for key, value in vars(cls).items() if key not in (*own, "__dict__", "__weakref__")}
        content["__slots__"] = (*own, also) if also else tuple(own)
        content["__slotted__"] = fields
        content["__qualname__"] = cls.__qualname__
        content["__dataclass_fields__"] = _DataclassFields()
        content["__init__"] = _Init(fields, frozen=frozen, after="__post_init__" in content)
        for name, method in _methods(fields, frozen=frozen).items():
            content.setdefault(name, method)
        again: Any = type(cls)  # slots are made with a class
        matching_cls: type[Made] = again(cls.__name__, cls.__bases__, content)
        return matching_cls

    return made


def replace(one: Made, /, **changes: Any) -> Made:
    """Return the same object with other values of some fields."""
    for name in one.__slotted__:  # type: ignore[attr-defined]  # of a slotted class
        if name not in changes:
            changes[name] = getattr(one, name)
    return one.__class__(**changes)


def _said(value: Any) -> _Field:
    return value if value.__class__ is _Field else _Field(value)


class _Init:
    """Stands for the ``__init__`` of a class until it is asked for."""

    def __init__(self, fields: Mapping[str, _Field], *, frozen: bool, after: bool) -> None:
        self.fields = fields
        self.frozen = frozen
        self.after = after

    def __set_name__(self, owner: type[Any], _name: str) -> None:
        self.owner: Any = owner

    def __get__(self, one: object, _owner: type[Any]) -> Any:
        result = self.owner.__init__ = _init(self.owner.__name__, self.fields, frozen=self.frozen, after=self.after)
        return result if one is None else result.__get__(one)


def _init(owner: str, fields: Mapping[str, _Field], *, frozen: bool, after: bool) -> Any:
    """Return the method that sets each field, as if it were written by hand."""
    names: dict[str, Any] = {"MISSING": _MISSING, "set_slot": object.__setattr__}
    parameters, lines = ["self"], []
    for name, message in fields.items():
        result = name
        if message.default_factory is not _MISSING:
            names[f"make_{name}"] = message.default_factory
            result = f"make_{name}() if {name} is MISSING else {name}"
            parameters.append(f"{name}=MISSING")
        elif message.default is not _MISSING:
            names[f"default_{name}"] = message.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"set_slot(self, {name!r}, {result})" if frozen else f"self.{name} = {result}")
    if after:
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, names)  # noqa: S102  # of names in our own code alone
    method = names["__init__"]
    method.__qualname__ = f"{owner}.__init__"
    return method


def _methods(fields: Mapping[str, _Field], *, frozen: bool) -> dict[str, Any]:
    names = tuple(fields)
    compared = [name for name, message in fields.items() if message.compare]
    value = attrgetter(*compared) if compared else lambda _self: ()

    def equal(self: Any, other: object) -> Any:
        return value(self) == value(other) if other.__class__ is self.__class__ else NotImplemented

    entries: dict[str, Any] = {
        "__eq__": equal,
        "__hash__": (lambda self: hash((value(self),))) if frozen else None,
        "__match_args__": names,
        "__replace__": replace,
        "__repr__": _repr(tuple(name for name, message in fields.items() if message.repr)),
        "__getstate__": lambda self: [getattr(self, name) for name in names],
        "__setstate__": _set_all,
    }
    if frozen:
        entries |= {"__setattr__": _refuse, "__delattr__": _refuse}
    return entries


def _set_all(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slotted__, state, strict=True):
        object.__setattr__(self, name, value)


def _repr(names: tuple[str, ...]) -> Any:
    def said(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return said


def _refuse(_self: object, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _DataclassFields:
    """Gives `dataclasses` the fields as it knows them, made when it asks first."""

    def __get__(self, _one: object, owner: Any) -> Any:
        import dataclasses

        fields = []
        for name, outcome in owner.__slotted__.items():
            entries = {key: value for key, value in outcome._asdict().items() if value is not _MISSING}
            fields.append((name, owner.__annotations__.get(name, "typing.Any"), dataclasses.field(**entries)))
        result: Any = dataclasses.make_dataclass(owner.__name__, fields)
        owner.__dataclass_fields__ = result.__dataclass_fields__  # it asks at every `replace`
        return result.__dataclass_fields__
