"""Lightweight replacement of `dataclasses` with slots.

Used for classes that every command loads, because importing `dataclasses` and generating its methods took a seventh of
a cold check. Only ``__init__`` is generated, when the first instance is created; the other methods are shared.
`replace`, `fields` and `asdict` of `dataclasses` work with these classes.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AnyClass = TypeVar("AnyClass")


class _Missing:
    """Marker for a field without a default."""

    def __repr__(self) -> str:
        return "…"  # as shown in signatures


_MISSING: Final[Any] = _Missing()


class _Field(NamedTuple):
    """Options of a field besides its name and type."""

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
    """Return the options of a field, like `dataclasses.field`."""
    return _Field(default, default_factory, compare, repr)


@dataclass_transform(field_specifiers=(field,))
def slotted(*, frozen: bool = False, extra_slot: str = "") -> Callable[[type[AnyClass]], type[AnyClass]]:
    """Return a class decorator that turns annotations into fields.

    The fields of a base class come first. frozen: instances are immutable. extra_slot: one more slot, ``__weakref__``
    or ``__dict__``.
    """

    def decorate(cls: type[AnyClass]) -> type[AnyClass]:
        fields_by_name = {name: field_of(cls.__dict__.get(name, _MISSING)) for name in cls.__annotations__}
        fields: dict[str, _Field] = {**getattr(cls, "__slotted__", {}), **fields_by_name}
        content = {
            key: value for key, value in vars(cls).items() if key not in (*fields_by_name, "__dict__", "__weakref__")
        }
        content["__slots__"] = (*fields_by_name, extra_slot) if extra_slot else tuple(fields_by_name)
        content["__slotted__"] = fields
        content["__qualname__"] = cls.__qualname__
        content["__dataclass_fields__"] = _DataclassFields()
        content["__init__"] = _Init(fields, frozen=frozen, after="__post_init__" in content)
        for name, method in _methods(fields, frozen=frozen).items():
            content.setdefault(name, method)
        new_class: Any = type(cls)  # slots must exist when a class is created
        matching_cls: type[AnyClass] = new_class(cls.__name__, cls.__bases__, content)
        return matching_cls

    return decorate


def replace(instance: AnyClass, /, **changes: Any) -> AnyClass:
    """Return a copy of an object with other values of some fields."""
    for name in instance.__slotted__:  # type: ignore[attr-defined]  # of a slotted class
        if name not in changes:
            changes[name] = getattr(instance, name)
    return instance.__class__(**changes)


def field_of(value: Any) -> _Field:
    return value if value.__class__ is _Field else _Field(value)


class _Init:
    """Placeholder for the ``__init__`` of a class until it is first used."""

    def __init__(self, fields: Mapping[str, _Field], *, frozen: bool, after: bool) -> None:
        self.fields = fields
        self.frozen = frozen
        self.after = after

    def __set_name__(self, owner: type[Any], _name: str) -> None:
        self.owner: Any = owner

    def __get__(self, instance: object, _owner: type[Any]) -> Any:
        result = self.owner.__init__ = _init(self.owner.__name__, self.fields, frozen=self.frozen, after=self.after)
        return result if instance is None else result.__get__(instance)


def _init(owner: str, fields: Mapping[str, _Field], *, frozen: bool, after: bool) -> Any:
    """Return an ``__init__`` that sets each field, compiled from source."""
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
    exec(text, names)  # noqa: S102  # built only from names in our own code
    method = names["__init__"]
    method.__qualname__ = f"{owner}.__init__"
    return method


def _methods(fields: Mapping[str, _Field], *, frozen: bool) -> dict[str, Any]:
    names = tuple(fields)
    compared_names = [name for name, message in fields.items() if message.compare]
    value = attrgetter(*compared_names) if compared_names else lambda _self: ()

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
        entries |= {"__setattr__": _raise_frozen_error, "__delattr__": _raise_frozen_error}
    return entries


def _set_all(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slotted__, state, strict=True):
        object.__setattr__(self, name, value)


def _repr(names: tuple[str, ...]) -> Any:
    def represent(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in names])})"

    return represent


def _raise_frozen_error(_self: object, name: str, *_value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _DataclassFields:
    """The fields in the form that `dataclasses` expects, created on demand."""

    def __get__(self, _instance: object, owner: Any) -> Any:
        import dataclasses

        fields = []
        for name, outcome in owner.__slotted__.items():
            entries = {key: value for key, value in outcome._asdict().items() if value is not _MISSING}
            fields.append((name, owner.__annotations__.get(name, "typing.Any"), dataclasses.field(**entries)))
        result: Any = dataclasses.make_dataclass(owner.__name__, fields)
        owner.__dataclass_fields__ = result.__dataclass_fields__  # `dataclasses` reads them at every `replace`
        return result.__dataclass_fields__
