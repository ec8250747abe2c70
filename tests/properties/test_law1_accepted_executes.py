"""Accepted descriptors execute, with outputs of the declared type and sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.errors import NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect
from specgate.testing import Case, arrays, descriptors, reproducing
from specgate.validate.check import check_at
from tests.properties.support import MAX_BYTES, carry, executed_cases, list_unclaimed, spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Basis


def with_elements(descriptor: Descriptor, drawn: Mapping[str, Any]) -> Descriptor:
    """Return it with the drawn elements as constants, if rules read any."""
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    read = {path.removesuffix(".value") for form in spec.rule_forms for path in form.require.needs if "." in path}
    fields = dict(descriptor.fields)
    for name in read & drawn.keys():
        if isinstance(fields[name], TensorDesc):
            fields[name] = fields[name]._replace(value=tuple(np.asarray(drawn[name]).ravel().tolist()))
    return replace(descriptor, fields=fields)


@pytest.mark.parametrize("basis", ["documented", "both"])
@pytest.mark.parametrize("case", executed_cases(), ids=str)
@given(data=st.data())
def test_accepted_executes_with_the_declared_outputs(case: Case, basis: Basis, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case, basis=basis))
    with reproducing(descriptor, case.target):
        assert check_at(descriptor, case.level, basis).accepted is True
        if not carry(descriptor):  # no array can hold its elements, so it cannot be executed
            with pytest.raises(NoKernel):
                arrays(descriptor, case.level)
            return
        drawn = data.draw(arrays(descriptor, case.level))
        if check_at(with_elements(descriptor, drawn), case.level, basis).accepted is not True:
            return  # a rule on elements that are known at run time only
        try:
            outputs = execute_at(list_unclaimed(descriptor), drawn, case.level, max_bytes=MAX_BYTES)
        except NoKernel:  # undocumented, or of a type without a kernel; the test fails if nothing else is drawn
            reject()
        spec = spec_of(case)
        sized = spec.table.recipe.get("sized_by_values", []) if spec.table.recipe else []
        assert set(outputs) == {info.name for info in spec.layout(case.level).outputs}
        for name, array in outputs.items():
            declared = descriptor.fields.get(name)
            if isinstance(declared, TensorDesc) and declared.type is not None:
                assert array.dtype == numpy_type(spec.dialect, declared.type)
                assert name in sized or array.shape == declared.sizes
