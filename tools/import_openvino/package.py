"""Facts about the operations of the installed openvino package.

Facts map a type, as spelled in an IR, to its changes by opset: `Version` at the first opset of each version, None at an
opset that removes the type. The package's headers list the types of each opset (``openvino/opsets/opset1_tbl.hpp``). An
empty operation from the opset's factory tells the IR name of the version, its attributes and their defaults.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Facts", "Version", "changes", "make_answerer", "opset_tables", "package_facts", "package_version"]

_ENTRY: Final = re.compile(r"^_OPENVINO_OP_REG\((\w+),\s*ov::op::(\w+)\)", re.MULTILINE)
#: Types whose spelling in an IR differs from the headers.
_SPELT: Final = {"Constant": "Const", "PRelu": "PReLU", "Relu": "ReLU", "Softmax": "SoftMax"}
_CHILD: Final = "tools.import_openvino.package"


class Version(NamedTuple):
    """One version of a type.

    opset: as in the layers of an IR, None if unknown. attributes: with defaults, None if the package does not expose
    them.
    """

    opset: str | None
    attributes: dict[str, Any] | None


Facts = dict[str, dict[str, Version | None]]


def package_version() -> str:
    """Return the version of the installed package."""
    try:
        return version("openvino")
    except PackageNotFoundError:  # built from source
        return "unknown"


def package_facts() -> Facts:
    """Return the facts of every type.

    Raises InputError if the package or its headers are missing.
    """
    spec = find_spec("openvino")
    if spec is None or spec.origin is None:
        raise InputError("OpenVINO is not installed; try: pip install 'specgate-ml[oracles]'")
    tables = opset_tables(Path(spec.origin).parent / "include" / "openvino" / "opsets")
    levels = dialect("openvino").tables.levels
    changed = changes(tables, {level for level, info in levels.items() if info.get("unfinished")})
    facts: Facts = {}
    with Child(_CHILD, "make_answerer", timeout=20.0) as child:
        for name, at in changed.items():
            stated = {level: None if space is None else _ask_version(child, level, name) for level, space in at.items()}
            facts[_SPELT.get(name, name)] = stated
    return facts


def opset_tables(folder: Path) -> dict[str, dict[str, str]]:
    """Return for each opset its types and the C++ names of their versions.

    folder: contains the headers.
    """
    tables = {}
    for path in sorted(folder.glob("opset*_tbl.hpp"), key=lambda path: int(re.sub(r"\D", "", path.stem))):
        entries = _ENTRY.findall(path.read_text(encoding="utf-8"))
        tables[path.stem.removesuffix("_tbl")] = dict(entries)
    if not any(tables.values()):
        raise InputError("expected the tables of the opsets among the headers of the package", file=str(folder))
    return tables


def changes(tables: Mapping[str, Mapping[str, str]], unfinished: set[str]) -> dict[str, dict[str, str | None]]:
    """Return for each type the opsets at which its version changes.

    The value is the version, or None if the opset lacks the type. unfinished: opsets that do not have all types yet.
    """
    changed: dict[str, dict[str, str | None]] = {}
    for name in dict.fromkeys(name for types in tables.values() for name in types):
        now: str | None = None
        for level, types in tables.items():
            new = types.get(name)
            if new != now and (new is not None or level not in unfinished):
                changed.setdefault(name, {})[level] = now = new
    return changed


def _ask_version(child: Child, level: str, name: str) -> Version:
    answer = child.ask((level, name))
    return Version(None, None) if isinstance(answer, str) else Version(*answer)


def make_answerer(_: object) -> Callable[[tuple[str, str]], Any]:
    """Return a function that answers questions of an opset and a type.

    Runs in a subprocess, because some types crash it.
    """
    sys.modules["openvino_telemetry"] = cast("Any", None)  # the import of openvino would send telemetry
    import openvino._pyopenvino as native

    def answer(question: tuple[str, str]) -> tuple[str, dict[str, Any] | None] | str:
        level, name = question
        try:
            node = native.NodeFactory(level).create(name)
            opset = str(node.get_type_info().version_id)
        except Exception as error:  # noqa: BLE001  # the factory does not support every operation
            return str(error)
        try:
            return opset, {key: _to_plain_data(value) for key, value in node.get_attributes().items()}
        except Exception:  # noqa: BLE001  # an attribute of a kind that is not exposed
            return opset, None

    return answer


def _to_plain_data(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    return [_to_plain_data(item) for item in value] if isinstance(value, list | tuple) else str(value)
