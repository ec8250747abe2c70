"""What a file of specs/onnxruntime/lowering may say: pydantic models. Imported only to (re)build the tables."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from specgate.runtimes.onnxruntime.table_files import ReleaseRange  # noqa: TC001 (pydantic reads it)
from specgate.spec.file_models import FieldSpec, Source  # noqa: TC001 (pydantic reads them)

__all__ = ["GeneralFile", "LoweringFile"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Dimensions(_File):
    """How many dimensions the provider gives a tensor at least, and how many it may have."""

    least: int
    most: int


class Check(_File):
    """A check on a node: under `refuses`, one of the provider's kernel, which fails before DirectML is asked."""

    when: str
    because: str
    since: str | None = None
    until: str | None = None
    releases: ReleaseRange | None = Field(default=None, description="of the runtime that make it; none: all")
    stated_output: int | None = Field(default=None, ge=0, description="made only where sizes of this output are stated")


class Shared(_File):
    """What several files use: definitions, lists and checks, with words of their operators for ``$NAME``."""

    define: dict[str, str] = {}
    lists: dict[str, Any] = {}
    refuses: dict[str, Check | list[Check]] = {}


class GeneralFile(_File):
    """`general.yaml`: what holds for all operators."""

    summary: str
    source: list[Source]
    unknowns: list[str] = []
    dimensions: Dimensions
    types: dict[str, str] = Field(description="DirectML's word for each element type of ONNX")
    shared: dict[str, Shared] = Field(default={}, description="by the names under which files use it")


class Row(_File):
    """What nodes become: of versions from `since` on and before `until`, where `when` holds; the first that does."""

    since: str | None = None
    until: str | None = None
    releases: ReleaseRange | None = Field(default=None, description="of the runtime that do so; none: all")
    when: str | None = None
    to: list[dict[str, Any]] = Field(default=[], description="DirectML operators in the order of their creation")
    function: str | None = Field(default=None, description="a lowering function, where rows cannot say it")
    deferred: str | None = Field(default=None, description="why its kernel is always made at the first run")
    note: str | None = None


class LoweringFile(_File):
    """A file about one operator or several like ones.

    operators: by name, bare or with the domain in front, and the words that stand for ``$NAME`` in the rest.
    fields: of operators that have no table among ONNX's. use: what of `general.yaml` it shares. lists: lists of numbers
    by name, each as a field of numbers is written; later ones may read earlier ones. outputs: the sizes that the kernel
    works out itself, for outputs without sizes in the model. inferred: those that the runtime's inference gives the
    outputs of an operator of its own, and its kernel works out, too, where `outputs` does not say otherwise; none are
    known where one is below 0. An entry with `releases` has its `sizes` beside them.
    """

    summary: str
    source: list[Source]
    unknowns: list[str] = []
    operators: dict[str, dict[str, str]]
    fields: dict[str, FieldSpec] = {}
    sizes_open: bool = Field(default=False, description="only those sizes must be known that its entries read")
    use: list[str] = []
    define: dict[str, str] = {}
    lists: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    inferred: dict[str, Any] = {}
    refuses: dict[str, Check | list[Check]] = {}
    warns: dict[str, Check | list[Check]] = Field(
        default={}, description="checks of nodes whose kernel is created and computes other values than ONNX defines"
    )
    rows: list[Row]
