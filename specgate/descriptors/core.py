"""Descriptor and TensorDesc: one concrete use of an operator, the same shape for every dialect."""

from __future__ import annotations

import sys
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.slotted import field, slotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Self

__all__ = [
    "RECORDS",
    "UNKNOWN",
    "UNSTATED",
    "Descriptor",
    "FileList",
    "GraphDesc",
    "Malformed",
    "Numbered",
    "Symbol",
    "TensorDesc",
    "integer_limits",
    "is_record",
    "register_record",
    "shown",
    "tensor",
    "whole_numbers",
]  # fmt: skip


def shown(value: Any, limit: int = 60, depth: int = 3) -> str:
    """Return any value for a message: one line of at most `limit` characters, whatever it is made of.

    Control characters are escaped; numbers too long to print, nesting and cycles are cut off before they are printed.
    """
    if is_record(value):
        value = value._asdict()
    if isinstance(value, str | bytes):
        text = repr(value[: limit + 1])
    elif isinstance(value, int) and abs(value) >= 10**40:
        text = f"an integer of {value.bit_length()} bits"
    elif isinstance(value, Numbered):
        text = f"{value!r} ({value.word})"
    elif value is None or isinstance(value, int | float | complex):
        text = repr(value)
    elif isinstance(value, Descriptor):
        entries = {name: part for name, part in islice(value.fields.items(), limit) if part is not None}
        name = value.operator if str(value.operator).isidentifier() else shown(value.operator, limit)
        text = f"{name} {shown(entries, limit, depth - 1)}" if entries and depth > 0 else name
    elif isinstance(value, list | tuple | dict) and depth <= 0:
        text = "…"
    elif isinstance(value, list | tuple):
        items = ", ".join(shown(item, limit, depth - 1) for item in value[:limit])
        text = f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    elif isinstance(value, dict):
        pairs = islice(value.items(), limit)
        text = "{" + ", ".join(f"{shown(k, limit, 0)}: {shown(v, limit, depth - 1)}" for k, v in pairs) + "}"
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
    """A symbolic size such as ``N``: equal to itself, undecided against everything else."""

    __slots__ = ()


class Numbered(int):
    """The number of a word, as an attribute holds it that numbers the words of an enum; `word` is that word.

    In a descriptor it is one that was given by its word; among the values that a rule is judged on, any that has one.
    """

    word: str

    def __new__(cls, number: int, word: str) -> Self:
        result = super().__new__(cls, number)
        result.word = word
        return result

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]  # int's own has the number alone
        return int(self), self.word


class FileList(list[Any]):
    """A long list of numbers or texts, with the bytes that a file has for it.

    kind: the type of an element, as tables call it. data: the same bytes are the same elements; others may be, too.
    Its elements may not be read yet: see `UnreadList`.
    """

    __slots__ = ("_elements", "_length", "data", "kind")

    data: bytes
    kind: str

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


#: The types of attributes that hold several numbers by name, as tables call them: each dialect registers its own.
RECORDS: Final[dict[str, type[Any]]] = {}


def register_record(name: str, record: type[Any]) -> None:
    """Make `record`, a NamedTuple of numbers, the class of attributes whose type tables call `name`."""
    if RECORDS.setdefault(name, record) is not record:
        raise ValueError(f"the type {name} is registered with another class")


def is_record(value: object) -> bool:
    """Return whether a value holds several numbers by name."""
    return value.__class__ in RECORDS.values()


def whole_numbers(record: type[Any]) -> bool:
    """Return whether what a record holds are whole numbers."""
    kinds = record.__annotations__.values()  # text, where annotations are not evaluated, or a reference to it
    return all(getattr(kind, "__forward_arg__", kind) in {int, "int"} for kind in kinds)


class TensorDesc(NamedTuple):
    """One tensor of a descriptor; build it with `tensor`.

    type: the dialect's own word (``FLOAT32``, ``INT64``, ``i64``), None if unknown; what is no tensor in ONNX has its
    type as schemas spell it (``seq(tensor(float))``), and no sizes.
    sizes: per dimension an int, a Symbol or None (unknown); the whole is None where the rank is unknown.
    strides: in elements, None when packed. size_in_bytes, alignment, flags: of its buffer, None where not given (in
    DirectML TotalTensorSizeInBytes, GuaranteedBaseOffsetAlignment and Flags); a dialect registers the names that rules
    have for them. value: the elements of a constant, flat, or None.
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
        """How many elements it has as far as its sizes are known numbers."""
        return prod(size for size in self.sizes or () if isinstance(size, int))


#: An output that a node gives without any type: it counts, and nothing that is said of types can be wrong of it. It is
#: known by identity, since a tensor of an unknown type and rank (`TensorDesc(None, None)`) is undecided instead.
UNSTATED: Final = TensorDesc(None, None)


def tensor(
    type: str | None,  # noqa: A002  # the field's own word
    sizes: Iterable[int | str | None] | None,
    *,
    strides: Sequence[int] | None = None,
    size_in_bytes: int | None = None,
    alignment: int | None = None,
    flags: int | None = None,
    value: Iterable[Any] | None = None,
) -> TensorDesc:
    """Return a TensorDesc; a string among `sizes` is a symbolic size, None an unknown one."""
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
    """Return the least and the greatest integer of so many bits."""
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


@slotted(frozen=True)
class GraphDesc:
    """A graph that an attribute holds (the body of a loop): its inputs and outputs, in order."""

    inputs: tuple[TensorDesc, ...]
    outputs: tuple[TensorDesc, ...]


@slotted(frozen=True)
class BodyDesc(GraphDesc):
    """A graph within a model that is executed: `call` computes it, from the values of its inputs to its outputs'."""

    call: Callable[[Sequence[Any]], Sequence[Any]]


@slotted(frozen=True)
class Malformed:
    """Something a reader could represent but the operator does not define: an unknown attribute, a wrong kind.

    code: ``unknown-attribute``, ``wrong-kind``, ``unknown-word``, ``too-many-inputs`` and so on; where: the field;
    message: one clause; value: as found; stated: the field type that the file says the value is of, where it says so.
    read_as: the value that builds read instead, which the field holds then; None where they reject it.
    """

    code: str
    where: str
    message: str
    value: Any = None
    stated: str | None = None
    read_as: Any = None


@slotted(also="__weakref__")
class Descriptor:
    """One concrete use of an operator. Treat as immutable: checks are compiled against what it held when it was made.

    dialect, operator: as in the tables (``directml``, ``ONE_HOT``). fields: by the table's field names; what the
    descriptor leaves out is absent, an attribute that is given but not known is UNKNOWN; an operator inside an operator
    (a fused activation) is a Descriptor of its own, of the same dialect and without tensors. version: the level it was
    written for (an OpenVINO layer's ``opset1``, a model's opset import), None to be judged as written for the target.
    layout: the level by whose order inputs and outputs were read, None where they stand alike at all. plain: True when
    nothing is unknown or odd, so that the compiled checker may answer.
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
        self.plain = not self.oddities and all(_plain(value) for value in self.fields.values())

    def tensors(self) -> Iterator[tuple[str, TensorDesc]]:
        """Yield every tensor with its place: the field, ``FIELD[1]`` in an array of tensors."""
        for name, value in self.fields.items():
            if value.__class__ is TensorDesc:
                yield name, value
            elif isinstance(value, list | tuple) and not isinstance(value, FileList):
                yield from ((f"{name}[{i}]", item) for i, item in enumerate(value) if isinstance(item, TensorDesc))

    @property
    def known_elements(self) -> int:
        """How many elements all tensors have together as far as their sizes are known numbers."""
        return sum(tensor.known_elements for _, tensor in self.tensors())


def _plain(value: Any) -> bool:
    if isinstance(value, TensorDesc):
        return value.concrete
    if isinstance(value, Descriptor):
        return value.plain
    if isinstance(value, list | tuple):
        return isinstance(value, FileList) or all(_plain(item) for item in value)
    if isinstance(value, GraphDesc):
        return _plain(value.inputs) and _plain(value.outputs)
    return value is not None and value is not UNKNOWN
