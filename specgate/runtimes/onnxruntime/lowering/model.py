"""Pydantic models of the files in specs/onnxruntime/lowering.

Imported only to build the tables.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from specgate.runtimes.onnxruntime.table_files import ReleaseRange  # noqa: TC001 (pydantic reads it)
from specgate.spec.file_models import FieldSpec, Source  # noqa: TC001 (pydantic reads them)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Dimensions(_File):
    """The minimum and maximum number of dimensions of a tensor."""

    least: int
    most: int


class Check(_File):
    """A check on a node.

    Under `refuses` it belongs to a provider kernel, which fails before it calls DirectML.
    """

    when: str
    because: str
    since: str | None = None
    until: str | None = None
    releases: ReleaseRange | None = Field(
        default=None, description="releases of the runtime that create it (default: all)"
    )
    stated_output: int | None = Field(
        default=None, ge=0, description="created only if the sizes of this output are declared"
    )


class Shared(_File):
    """Definitions, lists and checks that several files share.

    They refer to words of the operators as ``$NAME``.
    """

    define: dict[str, str] = {}
    lists: dict[str, Any] = {}
    refuses: dict[str, Check | list[Check]] = {}


class GeneralFile(_File):
    """`general.yaml`, which applies to all operators."""

    summary: str
    source: list[Source]
    unknowns: list[str] = []
    dimensions: Dimensions
    types: dict[str, str] = Field(description="DirectML's word for each element type of ONNX")
    shared: dict[str, Shared] = Field(default={}, description="by the names that files use")


class Row(_File):
    """The lowering of versions from `since` to before `until`.

    It applies if `when` holds; the first matching row counts.
    """

    since: str | None = None
    until: str | None = None
    releases: ReleaseRange | None = Field(default=None, description="releases of the runtime that do so (default: all)")
    when: str | None = None
    to: list[dict[str, Any]] = Field(default=[], description="DirectML operators in the order of their creation")
    function: str | None = Field(default=None, description="a lowering function, for what rows cannot express")
    deferred: str | None = Field(default=None, description="why its kernel is always compiled at the first run")
    note: str | None = None


class LoweringFile(_File):
    """A file about one operator or several similar ones.

    operators: by name, bare or with the domain in front, the words that replace ``$NAME`` in the rest. fields: of
    operators without an ONNX table. use: the shared parts of `general.yaml` that it uses. lists: named lists of
    numbers, in the form of a numeric field; later lists may read earlier ones. outputs: sizes that the kernel computes
    for outputs whose sizes the model does not state.
    inferred: sizes that the runtime infers for outputs of contrib operators. The kernel computes the same sizes unless
    `outputs` overrides them; they are unknown if one is below 0. An entry with `releases` has its `sizes` in a separate
    key.
    """

    summary: str
    source: list[Source]
    unknowns: list[str] = []
    operators: dict[str, dict[str, str]]
    fields: dict[str, FieldSpec] = {}
    sizes_open: bool = Field(default=False, description="only the sizes that its entries read must be known")
    use: list[str] = []
    define: dict[str, str] = {}
    lists: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    inferred: dict[str, Any] = {}
    refuses: dict[str, Check | list[Check]] = {}
    warns: dict[str, Check | list[Check]] = Field(
        default={}, description="checks of nodes whose kernel computes different values than ONNX defines"
    )
    rows: list[Row]
