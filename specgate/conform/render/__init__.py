"""Renderers of a campaign, one module per format.

Each is a pure function from `Result` to text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.conform.render.html import render as _html
from specgate.conform.render.markdown import render as _markdown
from specgate.conform.render.shared import render as _json
from specgate.conform.render.text import render as _text

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.conform.result import Result

#: The renderer of each format; its text ends with a newline.
FORMATS: Final[dict[str, Callable[[Result], str]]] = {
    "text": _text,
    "json": _json,
    "html": _html,
    "markdown": _markdown,
}
