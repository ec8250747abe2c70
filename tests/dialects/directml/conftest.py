from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def changed(one_hot: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Change fields of an accepted ONE_HOT: ``changed(OutputTensor_Flags=1, Axis=2)``; None takes one away."""

    def change(**changes: Any) -> dict[str, Any]:
        made = copy.deepcopy(one_hot)
        for name, value in changes.items():
            field, _, part = name.partition("_")
            owner, key = (made["desc"][field], part) if part else (made["desc"], field)
            if value is None:
                del owner[key]
            else:
                owner[key] = value
        return made

    return change
