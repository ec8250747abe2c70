"""Shared model execution helpers: error locations, arrays by input name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from specgate.errors import InputError, NoKernel, NoTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from specgate.spec.fields import FieldInfo

__all__ = ["arrays_by_name", "at_node", "at_place", "in_file"]


def arrays_by_name(infos: Sequence[FieldInfo], arrays: Sequence[NDArray[Any] | None]) -> dict[str, Any]:
    """Return a node's arrays by the operator's input names.

    The last input may be a list of all remaining arrays.
    """
    entries: dict[str, Any] = {i.name: a for i, a in zip(infos, arrays, strict=False) if a is not None}
    if infos and infos[-1].type == "tensor[]":
        entries[infos[-1].name] = [array for array in arrays[len(infos) - 1 :] if array is not None]
    return entries


@contextmanager
def at_node(label: str, path: str) -> Iterator[None]:
    """Add a node of the file at `path` to errors raised here."""
    try:
        yield
    except InputError as error:
        place = label if error.place is None else f"{label}: {error.place}"
        raise InputError(error.message, file=error.file or path, place=place) from None
    except (NoTable, NoKernel) as error:
        raise type(error)(f"{label}: {error}") from None


@contextmanager
def at_place(place: str) -> Iterator[None]:
    """Add the place of an input, output or body to errors raised here."""
    try:
        yield
    except (NoTable, NoKernel) as error:
        raise type(error)(f"{place}: {error}") from None
    except InputError as error:
        raise InputError(
            error.message, file=error.file, place=f"{place}: {error.place}" if error.place else place
        ) from None


@contextmanager
def in_file(path: str) -> Iterator[None]:
    """Add the file to errors raised here without one."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, file=error.file or path, place=error.place) from None
