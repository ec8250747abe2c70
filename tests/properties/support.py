"""What several of the laws need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.descriptors.core import TensorDesc
from specgate.errors import NoKernel
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved, Side
    from specgate.spec.tables import OperatorSpec
    from specgate.testing import Case

#: What an execution in these tests may allocate, in bytes.
MAX_BYTES = 2**26


def spec_of(case: Case) -> OperatorSpec:
    return dialect(case.dialect).operator(case.operator)


def resolved_of(case: Case, side: Side = "documented") -> Resolved:
    found = spec_of(case).resolve(case.level, side)
    assert found is not None
    return found


def carried(descriptor: Descriptor) -> bool:
    """Return whether numpy (with ml_dtypes) has a type for the elements of every tensor."""
    try:
        for tensor in descriptor.fields.values():
            if isinstance(tensor, TensorDesc) and tensor.type is not None:
                numpy_type(dialect(descriptor.dialect), tensor.type)
    except NoKernel:
        return False
    return True
