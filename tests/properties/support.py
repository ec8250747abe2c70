"""Helpers of several laws."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.errors import NoKernel
from specgate.execution.types import numpy_type
from specgate.generate.cases import cases_of
from specgate.spec.folders import spec_folders
from specgate.spec.tables import dialect
from specgate.testing import Case, operators

if TYPE_CHECKING:
    from specgate.spec.forms import Resolved, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec

#: Memory limit of an execution in these tests, in bytes.
MAX_BYTES = 2**26


#: The default run uses these operators: each covers a part of the format (fused operators, conditional rows,
#: arrays of tensors, scalars, formulas of sizes, type variables, attributes that become inputs, domains, graphs).
#: HYPOTHESIS_PROFILE=nightly takes all.
CHOSEN: Final = {
    "directml": ("ONE_HOT", "ELEMENT_WISE_ADD1", "REDUCE", "JOIN", "CAST", "PADDING1"),
    "onnx": ("OneHot", "Concat", "Reshape", "If", "ai.onnx.ml.Binarizer"),
    "openvino": ("OneHot", "Add", "Concat", "Reshape", "If"),
}
#: These run at every level that differs; the others at the first and the last.
THOROUGH: Final = ("ONE_HOT", "OneHot")


#: Spec folders next to the shipped tables: then only their operators run, and all of them.
OWN: Final = tuple(map(str, spec_folders()))
ALL: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly" or bool(OWN)


def shown_operators() -> list[tuple[str, str]]:
    """Return (dialect, operator) of every table with examples.

    Tables that only state a package's facts have none.
    """
    return [(name, operator) for name, operator in operators() if dialect(name).operator(operator).table.examples]


def chosen_operators() -> list[tuple[str, str]]:
    """Return (dialect, operator) of those that the properties run over."""
    if OWN:
        return [key for key in shown_operators() if str(dialect(key[0]).tables.files.get(key[1])).startswith(OWN)]
    if ALL:
        return shown_operators()
    return [(name, operator) for name, operator in shown_operators() if operator in CHOSEN.get(name, (operator,))]


@cache
def chosen_cases() -> list[Case]:
    """Return those of `cases` that the properties run over."""
    result = {key: cases_of(*key) for key in chosen_operators()}
    if ALL:
        return [case for levels in result.values() for case in levels]
    return [
        case
        for (name, operator), levels in result.items()
        for case in (levels if name not in CHOSEN or operator in THOROUGH else dict.fromkeys([levels[0], levels[-1]]))
    ]


def steady(spec: OperatorSpec) -> bool:
    """Return whether every field is the same at all levels."""
    first = next(iter(spec.levels))
    return not any(info.forms or info.until or info.since not in {None, first} for info in spec.fields.values())


def executed_cases() -> list[Case]:
    """Return those of `chosen_cases` whose operator has a kernel for their level."""
    return [case for case in chosen_cases() if spec_of(case).has_kernel(case.level)]


def spec_of(case: Case) -> OperatorSpec:
    return dialect(case.dialect).operator(case.operator)


def resolved_of(case: Case, side: SingleBasis = "documented") -> Resolved:
    resolved = spec_of(case).resolve(case.level, side)
    assert resolved is not None
    return resolved


def list_unclaimed(descriptor: Descriptor) -> Descriptor:
    """Return it without output sizes that depend on input elements, but with ranks."""
    recipe = dialect(descriptor.dialect).operator(descriptor.operator).table.recipe
    names = recipe.get("sized_by_values", []) if recipe is not None else []
    tensors = {name: descriptor.fields.get(name) for name in names}
    open_sizes = {
        name: tensor._replace(sizes=(None,) * len(tensor.sizes))
        for name, tensor in tensors.items()
        if isinstance(tensor, TensorDesc) and tensor.sizes is not None
    }
    return replace(descriptor, fields={**descriptor.fields, **open_sizes}, plain=False) if open_sizes else descriptor


def fuses_without_kernel(descriptor: Descriptor) -> bool:
    """Return whether a fused operator cannot be executed."""
    values = [value for many in descriptor.fields.values() for value in (many if isinstance(many, list) else [many])]
    fused = [value.operator for value in values if isinstance(value, Descriptor)]
    return any(not dialect(descriptor.dialect).operator(name).table.recipe for name in fused)


def carry(descriptor: Descriptor) -> bool:
    """Return whether numpy (with ml_dtypes) has a type for every tensor's elements."""
    try:
        for tensor in descriptor.fields.values():
            if isinstance(tensor, TensorDesc) and tensor.type is not None:
                numpy_type(dialect(descriptor.dialect), tensor.type)
    except NoKernel:
        return False
    return True
