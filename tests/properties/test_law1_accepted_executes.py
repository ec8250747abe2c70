"""Accepted means that it executes, and that the outputs have the declared type and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.errors import NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.testing import Case, arrays, descriptors, reproducing
from specgate.validate.check import check_at
from tests.properties.support import MAX_BYTES, carried, executed_cases, spec_of

if TYPE_CHECKING:
    from specgate.verdict import Basis


@pytest.mark.parametrize("basis", ["documented", "both"])
@pytest.mark.parametrize("case", executed_cases(), ids=str)
@given(data=st.data())
def test_accepted_executes_with_the_declared_outputs(case: Case, basis: Basis, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case, basis=basis))
    with reproducing(descriptor, case.target):
        assert check_at(descriptor, case.level, basis).accepted is True
        if not carried(descriptor):  # no array can hold its elements, so nothing can be executed
            with pytest.raises(NoKernel):
                arrays(descriptor, case.level)
            return
        outputs = execute_at(descriptor, data.draw(arrays(descriptor, case.level)), case.level, max_bytes=MAX_BYTES)
        spec = spec_of(case)
        assert set(outputs) == {info.name for info in spec.layout(case.level).outputs}
        for name, array in outputs.items():
            declared = descriptor.fields.get(name)
            if isinstance(declared, TensorDesc) and declared.type is not None:
                assert array.dtype == numpy_type(spec.dialect, declared.type)
                assert array.shape == declared.sizes
