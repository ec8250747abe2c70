"""What a table says of one field: what it is, what a row's cell allows, and how descriptors name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import RECORDS, UNKNOWN, UNSTATED, TensorDesc, is_record
from specgate.rules.language import GRAPH, NUMBER, OPERATOR, TENSOR, TRUTH, WORD
from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

__all__ = ["Bounds", "Cell", "CellCheck", "FieldInfo", "Layout", "is_type", "kind_of"]

_KINDS: Final = {
    "uint": NUMBER, "int": NUMBER, "uint64": NUMBER, "int64": NUMBER, "float": NUMBER, "bool": TRUTH, "string": WORD,
    "tensor": TENSOR, "scalar": NUMBER, "operator": OPERATOR,
    "tensor-proto": TENSOR, "sparse-tensor-proto": TENSOR, "type-proto": TENSOR, "graph": GRAPH,
}  # fmt: skip


@slotted(frozen=True)
class Bounds:
    """Ranks or numbers that a cell allows: from `low` to `high` (None: no bound), or exactly those in `only`."""

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
        """Read the compiled form: [low, high], {"only": [...]} or None."""
        if raw is None:
            return None
        if isinstance(raw, dict):
            only = tuple(raw["only"])
            return cls(only[0], only[-1], only)
        return cls(raw[0], raw[1])


@slotted(frozen=True)
class Cell:
    """What a support row allows for one field; None means that the row does not limit it.

    operators: full names of those that a field may hold, fused into its own. variable: the row's name for `types`.
    """

    types: tuple[str, ...] | None = None
    ranks: Bounds | None = None
    values: tuple[Any, ...] | None = None
    range: Bounds | None = None
    operators: tuple[str, ...] | None = None
    variable: str | None = None

    @classmethod
    def make(cls, raw: Mapping[str, Any], every_type: Iterable[str]) -> Cell:
        """Read the compiled form; `every_type` is what the word ``any`` stands for."""
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
    """One field: kind is input, output or attribute; optional ones may be left out and then have their default.

    type_from: the enum field that says which type a ``scalar`` has. members: of the operator that a field holds, the
    attributes that rules read, with their types. vendor_name: what the vendor calls it, `name` if empty.
    page_names: what only the vendor's page calls it.
    min_count: how many elements an array of tensors must have; heterogeneous: they may differ in type. counts: the
    arrays whose length an attribute states. enum: the enum whose numbers the attribute holds. became: the input that
    holds the attribute's value from `until` on, where the names differ. forms: what the field is
    over its stretches of levels, where it changes; the rest is then what it is in the newest one.
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
        """Read the compiled form: of one field, or of what it is over several stretches of levels."""
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
        """Whether it holds an operator, or an array of them."""
        return self.type in {"operator", "operator[]"}

    @property
    def rule_kind(self) -> str:
        """The kind that expressions see."""
        return kind_of(self.type)

    @property
    def member_kinds(self) -> dict[str, str]:
        """The kinds of `members`, by their names."""
        return {name: kind_of(type_) for name, type_ in self.members.items()}


def is_type(type_: str, records: Container[str]) -> bool:
    """Return whether there is such a type of fields; `records`: the types that the dialect registers."""
    base = type_.removesuffix("[]")
    return base in _KINDS or base.startswith("enum:") or base in records


def kind_of(type_: str) -> str:
    """Return the kind of a field's or a member's type in rules."""
    base = type_.removesuffix("[]")
    kind = base if base in RECORDS else _KINDS.get(base, WORD)  # an enum's values are words
    return f"{kind}s" if type_.endswith("[]") else kind


@slotted(frozen=True)
class Layout:
    """How descriptors of one level are read: tensors by position, attributes by the vendor's names for them.

    attributes: those of the level, and behind them those that only other levels have. page_names: the attributes that
    only the vendor's page calls so.
    """

    inputs: tuple[FieldInfo, ...]
    outputs: tuple[FieldInfo, ...]
    attributes: Mapping[str, FieldInfo]
    page_names: Mapping[str, FieldInfo] = field(default_factory=dict)

    @classmethod
    def make(cls, infos_by_name: Mapping[str, FieldInfo], every: Mapping[str, FieldInfo]) -> Layout:
        """Put fields at a level in order; `every` field is there to name attributes of other levels."""
        attributes = {f.vendor_name: f for f in infos_by_name.values() if f.kind == "attribute"}
        others = {f.vendor_name: f for f in every.values() if f.kind == "attribute" and f.vendor_name not in attributes}
        inputs = tuple(f for f in infos_by_name.values() if f.kind == "input")
        outputs = tuple(f for f in infos_by_name.values() if f.kind == "output")
        return cls(
            inputs, outputs, attributes | others, {name: f for f in infos_by_name.values() for name in f.page_names}
        )


class CellCheck:
    """What a row says of a field's value: whether it takes it, as far as it is known."""

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
            answers = [self.tensor(one) if one.__class__ is TensorDesc else self.value(one) for one in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        return self.value(value)

    def tensor(self, tensor: TensorDesc) -> Any:
        if tensor is UNSTATED:
            return True
        open_ = False
        if self.types is not None and tensor.type not in self.types:
            if tensor.type is not None:
                return False
            open_ = True
        if self.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in self.ranks):
            if tensor.sizes is not None:
                return False
            open_ = True
        return UNKNOWN if open_ else True

    def value(self, value: Any) -> Any:
        if is_record(value):
            answers = [self.value(number) for number in value]
            return False if False in answers else UNKNOWN if UNKNOWN in answers else True
        if value is UNKNOWN:
            return UNKNOWN if self.values or self.range is not None else True
        if self.values is not None and value not in self.values:
            return False
        return self.range is None or value in self.range
