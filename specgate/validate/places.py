"""Parts of a descriptor that a fix may set, from a rule's expressions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.rules.evaluate import Evaluator, Undefined
from specgate.rules.resolving import dimension, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.rules.evaluate import Context

__all__ = ["Place", "changed", "place_of", "value_of"]


class Place(NamedTuple):
    """A part of a descriptor.

    kind: of an attribute ``set``, ``element``, ``member`` or ``length``; of a tensor ``size``, ``sizes``, ``rank``,
    ``type``, ``elements``, ``strides``, ``value`` or ``entry`` (of its constant); of both ``given`` or ``absent``.
    item: which tensor of an array. at: which dimension or element, from 0, or the name of a member. label: the
    dimension in messages.
    """

    kind: str
    field: str
    item: int | None = None
    at: int | str | None = None
    label: str = ""

    @property
    def owner(self) -> str:
        """The field's name in messages."""
        return self.field if self.item is None else f"{self.field}[{self.item}]"


def value_of(node: ast.expr, context: Context) -> Any:
    """Return the value of a closed expression, None without a value."""
    try:
        return Evaluator(context).value(node, {})
    except Undefined:
        return None


def place_of(node: ast.expr, context: Context) -> Place | None:
    """Return the part that an expression reads, None for a computed value."""
    node = resolved(node, context)
    match node:
        case ast.Name(id=name) if name in context.fields:
            return None if isinstance(context.fields[name], TensorDesc | list | tuple) else Place("set", name)
        case ast.Attribute(value=owner, attr="sizes"):
            return _tensor_place("sizes", owner, context)
        case ast.Attribute(value=ast.Name(id=name), attr=member) if hasattr(context.fields.get(name), "_asdict"):
            result = context.fields[name]
            return None if isinstance(result, TensorDesc) else Place("member", name, at=member)
        case ast.Subscript():
            return _element_place(node, context)
        case ast.Call(func=ast.Name(id=function), args=[argument]):
            return _call_place(function, argument, context)
    return None


def _element_place(node: ast.Subscript, context: Context) -> Place | None:
    index = value_of(node.slice, context)
    if not isinstance(index, int) or index < 0:
        return None
    match resolved(node.value, context):
        case ast.Attribute(attr="sizes", value=owner):
            place = _tensor_place("size", owner, context)
            if place is None:
                return None
            written = ast.Subscript(ast.Attribute(owner, "sizes", ast.Load()), node.slice, ast.Load())
            try:
                _, number = dimension(written, context)
            except Undefined:
                return None
            return place._replace(at=index, label=str(number))
        case ast.Call(func=ast.Name(id="values"), args=[owner]):
            place = _tensor_place("entry", owner, context)
            return None if place is None else place._replace(at=index)
        case ast.Name(id=name) if isinstance(context.fields.get(name), list | tuple):
            result = context.fields[name]
            tensors = isinstance(result, TensorDesc) or any(isinstance(part, TensorDesc) for part in result)
            return None if tensors else Place("element", name, at=index)
    return None


def _call_place(function: str, argument: ast.expr, context: Context) -> Place | None:
    if function == "int":
        return place_of(argument, context)
    if function in {"rank", "type", "elements", "value"}:
        return _tensor_place(function, argument, context)
    if function == "len":
        match resolved(argument, context):
            case ast.Name(id=name) if isinstance(context.fields.get(name), list | tuple):
                result = context.fields[name]
                tensors = isinstance(result, TensorDesc) or any(isinstance(part, TensorDesc) for part in result)
                return None if tensors or not result else Place("length", name)
    return None


def _tensor_place(kind: str, owner: ast.expr, context: Context) -> Place | None:
    match resolved(owner, context):
        case ast.Name(id=name) if isinstance(context.fields.get(name), TensorDesc):
            return Place(kind, name)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            item = value_of(index, context)
            result = context.fields.get(name)
            if isinstance(result, list | tuple) and isinstance(item, int) and 0 <= item < len(result):
                return Place(kind, name, item)
    return None


def changed(place: Place, value: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with a part set.

    Sizes that a change of rank or length adds are 1.
    """
    result: Any = fields.get(place.field)
    if place.kind in {"set", "given", "absent"}:
        outcome = None if place.kind == "absent" else value
    elif place.kind == "member":
        outcome = result._replace(**{str(place.at): value})
    elif place.kind == "element":
        outcome = _set(result, place.at, value)
    elif place.kind == "length":
        outcome = _resized(result, value)
    elif place.item is None:
        outcome = _tensor(place, value, result)
    else:
        outcome = _set(result, place.item, _tensor(place, value, result[place.item]))
    return {**fields, place.field: outcome}


def _set(items: Any, at: Any, value: Any) -> Any:
    return type(items)(value if index == at else item for index, item in enumerate(items))


def _resized(items: Any, length: int) -> Any:
    return type(items)((*items, *(items[-1:] * max(length - len(items), 0)))[:length])


def _tensor(place: Place, value: Any, tensor: TensorDesc) -> TensorDesc:
    sizes = tensor.sizes or ()
    match place.kind:
        case "type":
            return tensor._replace(type=value)
        case "value":
            return tensor._replace(value=(value,))
        case "entry":
            return tensor._replace(value=_set(tensor.value, place.at, value))
        case "size":
            sizes = _set(sizes, place.at, value)
        case "sizes":
            sizes = tuple(value)
        case "rank":
            padded = (*(1 for _ in range(value - len(sizes))), *sizes)
            sizes = padded[len(padded) - value :]
        case "elements":
            sizes = _of_elements(value, len(sizes))
    return tensor._replace(sizes=sizes, strides=None)


def _of_elements(number: int, rank: int) -> tuple[int, ...]:
    return (*(1 for _ in range(rank - 1)), number) if rank else () if number == 1 else (number,)
