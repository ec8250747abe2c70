"""The CPU kernels that the installed package of the runtime registers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.runtimes.onnxruntime.registrations import RUNTIME
from specgate.runtimes.onnxruntime.table_references import MAIN_DOMAIN, type_word
from tools.import_onnxruntime.stated import Stated

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PROVIDER", "read_installed"]

#: The provider whose registrations are read.
PROVIDER: Final = "CPU"
_STATES: Final = f"{RUNTIME}.capi.{RUNTIME}_pybind11_state"
#: The package's value for a kernel without a last version.
_OPEN: Final = 2**31 - 1


def read_installed(title: str) -> tuple[str, Stated]:
    """Return the release of the installed package and its kernels.

    title: the package's name of the provider. Raises InputError if the package is missing or does not expose its
    kernels.
    """
    try:
        release = str(import_module(RUNTIME).__version__)
        states = import_module(_STATES)
    except ImportError:
        raise InputError(f"{RUNTIME} is needed to import its kernels; install specgate-ml[oracles]") from None
    ask = getattr(states, "get_all_opkernel_def", None)
    if ask is None:
        raise InputError(f"{RUNTIME} {release} does not state its kernels; releases from 1.16 on do")
    return release, Stated(_kernels(ask(), title))


def _kernels(definitions: Any, title: str) -> Iterator[tuple[str, str, int, int | None, dict[str, Any]]]:
    """Yield the kernels.

    A range of one version is equivalent to an open-ended one for that version, and is converted to it.
    """
    for kernel in definitions:
        if kernel.provider != title:
            continue
        first, last = kernel.version_range
        types = {name: [type_word(kind) for kind in kinds] for name, kinds in kernel.type_constraints.items()}
        until = None if last in {_OPEN, first} else int(last)
        yield kernel.domain or MAIN_DOMAIN, kernel.op_name, int(first), until, {"types": types}
