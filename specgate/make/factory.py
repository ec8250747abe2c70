"""Constructors, one per operator from its table, and their modules."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, Descriptor, TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

_PYTHON = {"uint": "int", "int": "int", "uint64": "int", "int64": "int", "float": "float", "bool": "bool"}
_PYTHON |= dict.fromkeys(("tensor", "tensor-proto", "sparse-tensor-proto", "type-proto"), "TensorDesc")
_PYTHON |= {"graph": "GraphDesc", "operator": "Descriptor", "scalar": "float"}


def operators(name: str) -> list[str]:
    """Return the operators of a dialect that are Python identifiers."""
    return [operator for operator in dialect(name).operators if operator.isidentifier()]


def annotation(info: FieldInfo) -> str:
    """Return the Python type of a field as text.

    A Literal if the table lists the allowed words.
    """
    base = info.type.removesuffix("[]")
    kind = RECORDS[base].__name__ if base in RECORDS else _PYTHON.get(base, "str")
    if info.enum:
        kind += " | str"
    if info.words:
        kind = f"Literal[{', '.join(map(repr, info.words))}]".replace("'", '"')
    return f"list[{kind}]" if info.type.endswith("[]") else kind


def field_is_required(spec: OperatorSpec, info: FieldInfo) -> bool:
    """Return whether the field is required."""
    return not spec.dialect.may_omit(info)


def constructor(name: str, operator: str) -> Callable[..., Descriptor]:
    """Return the constructor of one operator.

    Raises AttributeError if it has no table.
    """
    if operator.startswith("_") or operator not in dialect(name).tables.operators:
        raise AttributeError(f"{name} has no table for {operator!r}")
    spec = dialect(name).operator(operator)

    def make(**fields: Any) -> Descriptor:
        bound = signature.bind(**fields)
        entries = {key: value for key, value in bound.arguments.items() if value is not None}
        for info in spec.fields.values():
            if info.tensor and info.name in entries and not isinstance(entries[info.name], TensorDesc):
                raise InputError(
                    f"expected a tensor made by specgate.make.tensor, found {entries[info.name]!r:.60}", place=info.name
                )
        # Uses the dialect's dict form, so that a constructor accepts exactly what a reader accepts.
        return read_dict(write_dict(Descriptor(name, operator, entries)), name)

    signature = inspect.Signature(
        [_parameter(spec, info) for info in ordered_fields(spec)], return_annotation="Descriptor"
    )
    make.__name__ = make.__qualname__ = operator
    make.__doc__ = "\n".join(describe_operator(spec))
    make.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect and completion
    return make


def ordered_fields(spec: OperatorSpec) -> list[FieldInfo]:
    """Return the parameters of a constructor.

    If fields differ between versions, those of the newest version.
    """
    if spec.dialect.tables.about.get("rows_are_versions"):
        return list(spec.fields_at(spec.dialect.levels[-1]).values())
    return list(spec.fields.values())


def describe_operator(spec: OperatorSpec) -> list[str]:
    """Return lines that describe the operator and its fields."""
    texts = [f"{info.name}: {info.doc}" for info in ordered_fields(spec) if info.doc]
    return [spec.table.summary, *(["", *texts] if texts else [])]


def _parameter(spec: OperatorSpec, info: FieldInfo) -> inspect.Parameter:
    default = inspect.Parameter.empty if field_is_required(spec, info) else None
    return inspect.Parameter(info.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation(info))


_PARENT: Final = __name__.rpartition(".")[0]


class _Constructors(ModuleType):
    """Creates the constructor of an operator on attribute access."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{_PARENT}.{name}", f"Constructors of descriptors of {name}, one for each operator.")
        self.__spec__ = ModuleSpec(self.__name__, None)
        self.__package__ = _PARENT
        self._dialect = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return constructor(self._dialect, name)

    def __dir__(self) -> list[str]:
        return operators(self._dialect)


@cache
def module_of(name: str) -> ModuleType:
    """Return the module of a dialect and register it for import."""
    return sys.modules.setdefault(f"{_PARENT}.{name}", _Constructors(name))
