from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def changed(one_hot: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Change fields of a valid ONE_HOT: ``changed(OutputTensor_Flags=1, Axis=2)``.

    None removes a field.
    """

    def change(**changes: Any) -> dict[str, Any]:
        result = copy.deepcopy(one_hot)
        for name, value in changes.items():
            field, _, part = name.partition("_")
            owner, key = (result["desc"][field], part) if part else (result["desc"], field)
            if value is None:
                del owner[key]
            else:
                owner[key] = value
        return result

    return change
