"""What running models of several formats shares: where an error was, and a node's arrays by the names of its inputs."""

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
    """Return a node's arrays by the operator's input names; the last input may be a list of all that are left."""
    entries: dict[str, Any] = {i.name: a for i, a in zip(infos, arrays, strict=False) if a is not None}
    if infos and infos[-1].type == "tensor[]":
        entries[infos[-1].name] = [array for array in arrays[len(infos) - 1 :] if array is not None]
    return entries


@contextmanager
def at_node(label: str, path: str) -> Iterator[None]:
    """Name a node of the file at `path` in what is raised here."""
    try:
        yield
    except InputError as error:
        place = label if error.place is None else f"{label}: {error.place}"
        raise InputError(error.message, file=error.file or path, place=place) from None
    except (NoTable, NoKernel) as error:
        raise type(error)(f"{label}: {error}") from None


@contextmanager
def at_place(place: str) -> Iterator[None]:
    """Name the place of an input, an output or a body in what is raised here."""
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
    """Name the file in what is raised here without one."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, file=error.file or path, place=error.place) from None
