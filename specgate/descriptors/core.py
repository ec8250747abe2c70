"""Descriptor and TensorDesc: one use of an operator, for all dialects."""

from __future__ import annotations

import sys
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Self


def format_value(value: Any, limit: int = 60, depth: int = 3) -> str:
    """Return any value as one line of at most `limit` characters.

    Control characters are escaped. Large numbers, deep nesting and cycles are cut before they are formatted.
    """
    if is_record(value):
        value = value._asdict()
    if isinstance(value, str | bytes):
        head = value[: limit + 1]
        text = repr(head)
        if isinstance(head, bytes) and head.isascii() and (decoded := head.decode()).isprintable():
            text = repr(decoded)  # attributes of ONNX are stored as bytes
    elif isinstance(value, int) and abs(value) >= 10**40:
        text = f"an integer of {value.bit_length()} bits"
    elif isinstance(value, NumberedWord):
        text = f"{value!r} ({value.word})"
    elif value is None or isinstance(value, int | float | complex):
        text = repr(value)
    elif isinstance(value, Descriptor):
        entries = {name: part for name, part in islice(value.fields.items(), limit) if part is not None}
        name = value.operator if str(value.operator).isidentifier() else format_value(value.operator, limit)
        text = f"{name} {format_value(entries, limit, depth - 1)}" if entries and depth > 0 else name
    elif isinstance(value, list | tuple | dict) and depth <= 0:
        text = "…"
    elif isinstance(value, list | tuple):
        items = ", ".join(format_value(item, limit, depth - 1) for item in value[:limit])
        text = f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    elif isinstance(value, dict):
        pairs = islice(value.items(), limit)
        text = (
            "{" + ", ".join(f"{format_value(k, limit, 0)}: {format_value(v, limit, depth - 1)}" for k, v in pairs) + "}"
        )
    else:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


class _Unknown:
    """The third truth value, and the value of an unknown size or attribute."""

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN: Final = _Unknown()


class Symbol(str):
    """A symbolic size such as ``N``: equal to itself, otherwise undecided."""

    __slots__ = ()


class NumberedWord(int):
    """An enum number in an attribute; `word` is its word.

    In a descriptor it marks a number that was given by its word. In the context of rules, every number with a word is
    one.
    """

    word: str

    def __new__(cls, number: int, word: str) -> Self:
        result = super().__new__(cls, number)
        result.word = word
        return result

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]  # int's repr is the number alone
        return int(self), self.word


class FileList(list[Any]):
    """A long list of numbers or texts, with its bytes from the file.

    kind: the type of an element, as tables spell it. data: equal bytes mean equal elements; different bytes may, too.
    The elements may be unread: see `UnreadList`.
    """

    __slots__ = ("_elements", "_length", "data", "kind")

    data: bytes
    kind: str

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


#: Attribute types with several named numbers, as tables spell them; dialects register them.
RECORDS: Final[dict[str, type[Any]]] = {}


def register_record(name: str, record: type[Any]) -> None:
    """Register the attribute type `name`, a NamedTuple of numbers."""
    if RECORDS.setdefault(name, record) is not record:
        raise ValueError(f"the type {name} is registered with another class")


def is_record(value: object) -> bool:
    """Return whether a value is a registered record."""
    return value.__class__ in RECORDS.values()


def placed_items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a field's value, or the elements of an array, with places."""
    if isinstance(value, list | tuple) and not isinstance(value, TensorDesc) and not is_record(value):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    else:
        yield name, value


def whole_numbers(record: type[Any]) -> bool:
    """Return whether a record's members are integers."""
    kinds = record.__annotations__.values()  # annotations may be strings or forward references
    return all(getattr(kind, "__forward_arg__", kind) in {int, "int"} for kind in kinds)


class TensorDesc(NamedTuple):
    """One tensor of a descriptor; create it with `tensor`.

    type: the dialect's spelling (``FLOAT32``, ``INT64``, ``i64``), None if unknown; ONNX values that are not tensors
    have a type as schemas spell it (``seq(tensor(float))``), and no sizes. sizes: per dimension an int, a Symbol or
    None (unknown); None instead of the list means an unknown rank. strides: in elements, None when packed.
    size_in_bytes, alignment, flags: those of the buffer, None where not given (in DirectML TotalTensorSizeInBytes,
    GuaranteedBaseOffsetAlignment and Flags); a dialect registers the names that rules use for them. value: the elements
    of a constant, flat, or None.
    """

    type: str | None
    sizes: tuple[int | Symbol | None, ...] | None
    strides: tuple[int, ...] | None = None
    size_in_bytes: int | None = None
    alignment: int | None = None
    flags: int | None = None
    value: tuple[Any, ...] | None = None

    @property
    def concrete(self) -> bool:
        """True when the type, the rank and every size are known numbers."""
        return self.type is not None and self.sizes is not None and all(isinstance(s, int) for s in self.sizes)

    @property
    def known_elements(self) -> int:
        """The product of the known sizes."""
        return prod(size for size in self.sizes or () if isinstance(size, int))


#: An output without a stated type. It counts as present, and rules about types never fail on it. It is compared by
#: identity, since another tensor of an unknown type and rank (`TensorDesc(None, None)`) is undecided instead.
UNSTATED: Final = TensorDesc(None, None)


def tensor(
    type: str | None,  # noqa: A002  # the field is called type
    sizes: Iterable[int | str | None] | None,
    *,
    strides: Sequence[int] | None = None,
    size_in_bytes: int | None = None,
    alignment: int | None = None,
    flags: int | None = None,
    value: Iterable[Any] | None = None,
) -> TensorDesc:
    """Return a TensorDesc with symbolic sizes for strings.

    A size of None is unknown.
    """
    shape = None if sizes is None else tuple(Symbol(s) if isinstance(s, str) else s for s in sizes)
    new_tensor = TensorDesc(
        type,
        shape,
        None if strides is None else tuple(strides),
        size_in_bytes,
        alignment,
        flags,
        None if value is None else tuple(value),
    )
    if "numpy" not in sys.modules:
        return new_tensor
    from specgate.descriptors.python_values import without_arrays

    return without_arrays({"": new_tensor})[""]  # type: ignore[no-any-return]


def integer_limits(bits: int, *, signed: bool) -> tuple[int, int]:
    """Return the smallest and the largest integer of a width."""
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


@slotted(frozen=True)
class GraphDesc:
    """A graph in an attribute, such as a loop body, with ordered ports."""

    inputs: tuple[TensorDesc, ...]
    outputs: tuple[TensorDesc, ...]


@slotted(frozen=True)
class BodyDesc(GraphDesc):
    """A subgraph that is executed: `call` maps input values to output values."""

    call: Callable[[Sequence[Any]], Sequence[Any]]


@slotted(frozen=True)
class Malformed:
    """Input that a reader parsed but the operator does not define.

    Examples are an unknown attribute and a value of the wrong kind. code: ``unknown-attribute``, ``wrong-kind``,
    ``unknown-word``, ``too-many-inputs`` and so on. where: the field. message: one clause. value: as read. stated: the
    field type that the file declares for the value, if any. read_as: the value that builds read instead, which the
    field then holds; None where they reject it.
    """

    code: str
    where: str
    message: str
    value: Any = None
    stated: str | None = None
    read_as: Any = None


@slotted(extra_slot="__weakref__")
class Descriptor:
    """One concrete use of an operator.

    Treat it as immutable, because verdicts are cached. dialect, operator: as in the tables (``directml``, ``ONE_HOT``).
    fields: by the table's field names; omitted fields are absent, and a given attribute with an unknown value is
    UNKNOWN; a fused operator (such as an activation) is another Descriptor, of the same dialect and without tensors.
    version: the level it was written for (an OpenVINO layer's ``opset1``, a model's opset import), None to be checked
    as written for the target. layout: the level whose order of inputs and outputs the reader used, None where all
    levels have the same order. plain: True when nothing is unknown or odd, so that the compiled checker may answer.
    """

    dialect: str
    operator: str
    fields: Mapping[str, Any]
    version: str | None = None
    oddities: tuple[Malformed, ...] = ()
    name: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    plain: bool = False
    layout: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.plain:
            return
        if "numpy" in sys.modules:
            from specgate.descriptors.python_values import without_arrays

            self.fields = without_arrays(self.fields)
        self.plain = not self.oddities and all(_is_known_value(value) for value in self.fields.values())

    def tensors(self) -> Iterator[tuple[str, TensorDesc]]:
        """Yield every tensor with its place: ``FIELD`` or ``FIELD[1]``."""
        for name, value in self.fields.items():
            if value.__class__ is TensorDesc:
                yield name, value
            elif isinstance(value, list | tuple) and not isinstance(value, FileList):
                yield from ((f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, TensorDesc))

    @property
    def known_elements(self) -> int:
        """Return the total known elements of all tensors."""
        return sum(tensor.known_elements for _, tensor in self.tensors())


def _is_known_value(value: Any) -> bool:
    if isinstance(value, TensorDesc):
        return value.concrete
    if isinstance(value, Descriptor):
        return value.plain
    if isinstance(value, list | tuple):
        return isinstance(value, FileList) or all(_is_known_value(item) for item in value)
    if isinstance(value, GraphDesc):
        return _is_known_value(value.inputs) and _is_known_value(value.outputs)
    return value is not None and value is not UNKNOWN
