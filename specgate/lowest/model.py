"""The lowest versions that accept a model, and the deciding nodes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from specgate.dialects import capability, owner_of_object, package_of
from specgate.dialects.protocols import LowestLevel, Reader
from specgate.linting.input_source import TEXT, InputSource

if TYPE_CHECKING:
    from specgate.linting.settings import LintSettings
    from specgate.lowest.result import ModelMinimum
    from specgate.verdict import Basis

__all__ = ["model_minimum"]


def model_minimum(model: object, settings: LintSettings | None = None, basis: Basis = "both") -> ModelMinimum:
    """Return the lowest versions of a model.

    Every node is checked at every level, as if written for it. model: a path, an object of a vendor's library, or
    another source (`InputSource`). Raises InputError for an unusable file.
    """
    owner: Reader | str
    if isinstance(model, str | os.PathLike):
        owner = package_of(os.fspath(model))
    elif isinstance(model, InputSource) and model.kind != TEXT:
        owner = model.kind
    else:
        owner = owner_of_object(model) or package_of("")
    return capability(owner, LowestLevel).minimum(model, settings, basis)
