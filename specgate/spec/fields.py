"""Fields of an operator: definition, limits of cells, and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, UNKNOWN, UNSTATED, TensorDesc, is_record
from specgate.rules.language import GRAPH, NUMBER, OPERATOR, TENSOR, TRUTH, WORD
from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

_KINDS: Final = {
    "uint": NUMBER, "int": NUMBER, "uint64": NUMBER, "int64": NUMBER, "float": NUMBER, "bool": TRUTH, "string": WORD,
    "tensor": TENSOR, "scalar": NUMBER, "operator": OPERATOR,
    "tensor-proto": TENSOR, "sparse-tensor-proto": TENSOR, "type-proto": TENSOR, "graph": GRAPH,
}  # fmt: skip


@slotted(frozen=True)
class Bounds:
    """Allowed ranks or numbers: `low` to `high` (None: unbounded), or `only`."""

    low: int
    high: int | None = None
    only: tuple[int, ...] | None = None

    def __contains__(self, number: int) -> bool:
        if self.only is not None:
            return number in self.only
        return self.low <= number and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        if self.only is not None:
            return ", ".join(str(n) for n in self.only)
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"

    @classmethod
    def make(cls, raw: Any) -> Bounds | None:
        """Return bounds from `[low, high]`, `{"only": [...]}` or None."""
        if raw is None:
            return None
        if isinstance(raw, dict):
            only_values = tuple(raw["only"])
            return cls(only_values[0], only_values[-1], only_values)
        return cls(raw[0], raw[1])


@slotted(frozen=True)
class Cell:
    """The limits of a support row for one field; None means unlimited.

    operators: full names of the operators that may be fused. variable: the type set that `types` refers to.
    """

    types: tuple[str, ...] | None = None
    ranks: Bounds | None = None
    values: tuple[Any, ...] | None = None
    range: Bounds | None = None
    operators: tuple[str, ...] | None = None
    variable: str | None = None

    @classmethod
    def make(cls, raw: Mapping[str, Any], every_type: Iterable[str]) -> Cell:
        """Return a cell from the compiled form; `every_type` replaces ``any``."""
        types = raw.get("types")
        return cls(
            types=tuple(every_type) if types == "any" else tuple(types) if types else None,
            ranks=Bounds.make(raw.get("ranks")),
            values=tuple(raw["values"]) if "values" in raw else None,
            range=Bounds.make(raw.get("range")),
            operators=tuple(raw["operators"]) if "operators" in raw else None,
            variable=raw.get("variable"),
        )


@slotted(frozen=True)
class FieldInfo:
    """One field: an input, output or attribute.

    Optional fields may be omitted and then have their default. type_from: the enum field that gives the type of a
    ``scalar``. members: the attributes, with types, that rules read from a fused operator. vendor_name: the vendor's
    name, `name` if empty. page_names: names that only the vendor's page uses. min_count: the minimum length of an array
    of tensors; heterogeneous: its types may differ. counts: the arrays whose length an attribute states. enum: the enum
    whose numbers the attribute holds. became: the input that holds the attribute's value from `until` on, where the
    names differ. forms: the definitions per range of levels, where the field changes; the other members then describe
    the newest one.
    """

    name: str
    kind: str
    type: str = "tensor"
    optional: bool = False
    default: Any = None
    words: tuple[str, ...] | None = None
    since: str | None = None
    until: str | None = None
    doc: str | None = None
    type_from: str | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    vendor_name: str = ""
    page_names: tuple[str, ...] = ()
    min_count: int | None = None
    heterogeneous: bool = False
    counts: tuple[str, ...] = ()
    enum: str | None = None
    became: str | None = None
    forms: tuple[FieldInfo, ...] = ()

    @classmethod
    def make(cls, name: str, raw: Mapping[str, Any] | list[Mapping[str, Any]]) -> FieldInfo:
        """Return a field from the compiled form, with one or several definitions."""
        if isinstance(raw, list):
            forms = tuple(cls.make(name, form) for form in raw)
            return replace(forms[-1], since=forms[0].since, forms=forms)
        lists: dict[str, Any] = {key: tuple(raw.get(key) or ()) for key in ("counts", "page_names")}
        lists |= {"words": tuple(raw["words"]) if raw.get("words") else None}
        return cls(name, **{**raw, **lists})

    def __post_init__(self) -> None:
        if not self.vendor_name:
            object.__setattr__(self, "vendor_name", self.name)

    @property
    def tensor(self) -> bool:
        return self.type == "tensor"

    @property
    def fuses(self) -> bool:
        """True if the field holds a fused operator, or an array of them."""
        return self.type in {"operator", "operator[]"}

    @property
    def rule_kind(self) -> str:
        """The field's kind in expressions."""
        return kind_of(self.type)

    @property
    def member_kinds(self) -> dict[str, str]:
        """The kinds of `members` by name."""
        return {name: kind_of(type_) for name, type_ in self.members.items()}


def is_type(type_: str, records: Container[str]) -> bool:
    """Return whether a field type exists; `records`: the registered types."""
    base = type_.removesuffix("[]")
    return base in _KINDS or base.startswith("enum:") or base in records


def kind_of(type_: str) -> str:
    """Return the kind of a field's or member's type in rules."""
    base = type_.removesuffix("[]")
    kind = base if base in RECORDS else _KINDS.get(base, WORD)  # the values of an enum are words
    return f"{kind}s" if type_.endswith("[]") else kind


@slotted(frozen=True)
class Layout:
    """The order of tensors and the names of attributes at one level.

    attributes: those of the level, then those that only other levels define. page_names: attributes under names that
    only the vendor's page uses.
    """

    inputs: tuple[FieldInfo, ...]
    outputs: tuple[FieldInfo, ...]
    attributes: Mapping[str, FieldInfo]
    page_names: Mapping[str, FieldInfo] = field(default_factory=dict)

    @classmethod
    def make(cls, infos_by_name: Mapping[str, FieldInfo], all_infos: Mapping[str, FieldInfo]) -> Layout:
        """Return the layout of a level.

        all_infos: all fields, which name the attributes of other levels.
        """
        attributes = {f.vendor_name: f for f in infos_by_name.values() if f.kind == "attribute"}
        attributes_by_vendor = {
            f.vendor_name: f for f in all_infos.values() if f.kind == "attribute" and f.vendor_name not in attributes
        }
        inputs = tuple(f for f in infos_by_name.values() if f.kind == "input")
        outputs = tuple(f for f in infos_by_name.values() if f.kind == "output")
        return cls(
            inputs,
            outputs,
            attributes | attributes_by_vendor,
            {name: f for f in infos_by_name.values() for name in f.page_names},
        )


class CellCheck:
    """Type of checks of a field's value by a row; the answer may be unknown."""

    def __init__(self, info: FieldInfo, cell: Cell | None) -> None:
        self.types = None if cell is None or cell.types is None else frozenset(cell.types)
        self.ranks = None if cell is None else cell.ranks
        values = cell.values if cell is not None and cell.values is not None else info.words
        self.values = None if values is None else frozenset(values)
        self.range = None if cell is None else cell.range

    def __call__(self, value: Any) -> Any:
        if value.__class__ is TensorDesc:
            return self.tensor(value)
        if value is None:
            return True
        if isinstance(value, list) or value.__class__ is tuple:
            answers = [self.tensor(item) if item.__class__ is TensorDesc else self.value(item) for item in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        return self.value(value)

    def tensor(self, tensor: TensorDesc) -> Any:
        if tensor is UNSTATED:
            return True
        is_open = False
        if self.types is not None and tensor.type not in self.types:
            if tensor.type is not None:
                return False
            is_open = True
        if self.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in self.ranks):
            if tensor.sizes is not None:
                return False
            is_open = True
        return UNKNOWN if is_open else True

    def value(self, value: Any) -> Any:
        if is_record(value):
            answers = [self.value(number) for number in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        if value is UNKNOWN:
            return UNKNOWN if self.values or self.range is not None else True
        if self.values is not None and value not in self.values:
            return False
        return self.range is None or value in self.range
