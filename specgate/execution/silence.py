"""No warnings of numpy: overflow, division by zero and nan are results like others."""

from __future__ import annotations

from contextlib import nullcontext
from contextvars import ContextVar, Token
from typing import Any, Final

import numpy as np

__all__ = ["quiet", "silent"]

_silent: ContextVar[bool] = ContextVar("_silent", default=False)
_NOTHING: Final = nullcontext()


class silent:  # noqa: N801  # a context like a function's, which takes less time
    """Within it numpy does not warn, and `quiet` has nothing to do."""

    __slots__ = ("_errors", "_token")

    def __enter__(self) -> None:
        self._token: Token[bool] = _silent.set(True)
        self._errors = np.errstate(all="ignore")
        self._errors.__enter__()

    def __exit__(self, *_: object) -> None:
        self._errors.__exit__(None, None, None)
        _silent.reset(self._token)


def quiet() -> Any:
    """Return a context in which numpy does not warn: a kernel's own, which `silent` around it makes needless."""
    return _NOTHING if _silent.get() else np.errstate(all="ignore")
