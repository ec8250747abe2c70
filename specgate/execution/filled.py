"""Descriptors completed with types and shapes of the executed arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.execution.containers import type_of
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor

__all__ = ["filled"]

#: Larger constants stay unknown: rules read the elements of axes, sizes and scales only.
_MOST_ELEMENTS: Final = 4096


def filled(descriptor: Descriptor, arrays: Mapping[str, Any], outputs: Mapping[str, Any]) -> Descriptor:
    """Return a descriptor with all types, sizes and small inputs' elements."""
    fields = dict(descriptor.fields)
    tables = dialect(descriptor.dialect)

    def known(value: Any, *, valued: bool) -> TensorDesc:
        if not isinstance(value, np.ndarray):
            return TensorDesc(type_of(value, tables), None)
        elements = tuple(np.ma.getdata(value).ravel().tolist()) if valued and value.size <= _MOST_ELEMENTS else None
        return TensorDesc(type_of(value, tables), value.shape, value=elements)

    for values, valued in ((arrays, True), (outputs, False)):
        for name, value in values.items():
            several = isinstance(value, list) and isinstance(fields.get(name), list)
            fields[name] = [known(each, valued=valued) for each in value] if several else known(value, valued=valued)
    return replace(descriptor, fields=fields)
