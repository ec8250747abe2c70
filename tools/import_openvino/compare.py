"""Comparison of versions, attributes and defaults with the package.

Intended differences are not reported: attributes in a table's unknowns or in the evidence of an observed entry.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec
    from tools.import_openvino.package import Facts, Version

__all__ = ["differences", "pairs"]

_WORD: Final = re.compile(r"[\w.-]*\w")
#: The package stores floats in single precision.
_PRECISION: Final = 1e-6


def pairs(facts: Facts) -> int:
    """Return the number of versions of all types.

    A version that is used again counts once.
    """
    named = {(name, v.opset or level) for name, at in facts.items() for level, v in at.items() if v is not None}
    return len(named)


def differences(table: Dialect, facts: Facts) -> Iterator[str]:
    """Yield a line for each type without a table, and per difference."""
    for name, at in facts.items():
        if name not in table.operators:
            listed = ", ".join(level for level, version in at.items() if version is not None)
            yield f"{name}: no table; its versions begin at {listed}"
            continue
        spec = table.operator(name)
        if not spec.inputs and not spec.outputs:
            yield f"{name}: its table is only begun, without inputs and outputs"
        yield from (f"{name} {text}" for text in _rows(spec, at))
        words = _note_words(spec)
        for level, version in at.items():
            if version is not None and version.attributes is not None and level in spec.levels:
                attributes = {f.vendor_name: f for f in spec.fields_at(level).values() if f.kind == "attribute"}
                yield from (f"{name} {level}: {text}" for text in _attributes(attributes, version.attributes, words))
    yield from (f"{name}: the package does not have it" for name in table.operators if name not in facts)


def _rows(spec: OperatorSpec, at: Mapping[str, Version | None]) -> Iterator[str]:
    """Yield differences between rows and the opset ranges of versions."""
    levels = [level for level in spec.rows if level not in spec.table.deprecated]
    last = list(at)[-1]
    for level, version in at.items():
        if version is not None and level not in levels:
            yield f"{level}: no row, and a version begins there"
        elif version is None and level == last and spec.table.removed != level:
            yield f"{level}: the package has it no longer, expected it as removed"
        elif version is None and level != last and level not in spec.table.deprecated:
            yield f"{level}: the package lacks it there, expected a row that is deprecated"
    for level in spec.rows:
        if level not in at:
            yield f"{level}: a row, and no version begins there"
    if spec.table.removed and at.get(spec.table.removed, "") is not None:
        yield f"{spec.table.removed}: it is removed in the table, and not in the package"


def _note_words(spec: OperatorSpec) -> set[str]:
    """Return the words of the notes on unknowns and on builds."""
    texts = [*spec.table.unknowns, *(entry.get("evidence", "") for entry in spec.table.observed)]
    return {word for text in texts for word in _WORD.findall(text)}


def _attributes(fields: Mapping[str, FieldInfo], stated: Mapping[str, Any], words: set[str]) -> Iterator[str]:
    for name in stated:
        if name not in fields and name not in words:
            yield f"attribute {name}: only in the package"
    for name, info in fields.items():
        if name in words or info.type == "graph":  # the package does not expose bodies
            continue
        if name not in stated:
            yield f"attribute {name}: only in the table"
        elif info.default is not None and not _is_same_default(info.default, stated[name]):
            yield f"attribute {name}: default {info.default} in the table, {stated[name]} in the package"


def _is_same_default(ours: Any, theirs: Any) -> bool:
    """Return whether two defaults are equal.

    Words are compared case-insensitively, floats in single precision.
    """
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(_is_same_default, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours.lower() == theirs.lower()
    if isinstance(ours, bool) or isinstance(theirs, bool) or isinstance(ours, str) or isinstance(theirs, str):
        return bool(ours == theirs)
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return abs(ours - theirs) <= _PRECISION * max(1.0, abs(ours))
    return bool(ours == theirs)
