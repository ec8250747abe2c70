"""Import of one release into the files of a provider.

Also compares the files with a package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.files import write_text
from specgate.report import plural
from specgate.runtimes.onnxruntime.release_ranges import bounds
from specgate.runtimes.onnxruntime.table_files import ProviderFile, ReleasesFile, TypeSetsFile
from specgate.spec.build import SpecErrors, load_file
from specgate.spec.short_forms import named_sets
from specgate.spec.yamlio import load_yaml
from tools.import_onnxruntime import kernels, library
from tools.import_onnxruntime.rows import Axis, by_release, format_rows, is_handwritten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from tools.import_onnxruntime.stated import Key

    Say = Callable[[str], object]

__all__ = ["compare_runtime", "import_runtime"]

#: Handwritten keys of a row; the others come from packages.
_BY_HAND: Final = ("cpu_inputs", "cpu_outputs", "note")
_QUERY: Final = "query"


def import_runtime(folder: Path, say: Say, wheel: Path | None = None) -> None:
    """Write the registrations of a package into the tables.

    Handwritten parts are kept. folder: of the runtime, such as ``specs/onnxruntime``. wheel: a wheel for Windows, whose
    library is read; None for the CPU kernels of the installed package. Raises InputError if the package cannot be read
    or its release is not in ``releases.yaml``.
    """
    from tools.rewrite import rewrite_file

    job = _Job(folder, wheel)
    changed = 0
    for domain in job.domains():
        path = job.folder / job.place / f"{domain}.yaml"
        text = path.read_text(encoding="utf-8") if path.is_file() else _file_header(job, domain)
        old = load_yaml(text, str(path))[0]
        operators = job.updated(domain, old["operators"] or {})
        content = {**old, "sources": job.sources(old["sources"]), "operators": operators}
        new_text = rewrite_file(text, {**old, "operators": old["operators"] or {}}, content)
        if new_text != text:
            write_text(path, new_text)
            changed += 1
    say(f"{job.told}, {plural(changed, 'file')} written")


def compare_runtime(folder: Path, say: Say, wheel: Path | None = None) -> bool:
    """Print differences between tables and package.

    Returns whether there are any. Arguments and errors are those of `import_runtime`.
    """
    job = _Job(folder, wheel)
    different = 0
    for domain in job.domains():
        path = job.folder / job.place / f"{domain}.yaml"
        old = _load_rows(path, ProviderFile)["operators"] if path.is_file() else {}
        for line in job.differences(domain, old):
            say(line)
            different += 1
    say(f"{job.told}, {plural(different, 'difference')}")
    return different > 0


def _file_header(job: _Job, domain: str) -> str:
    return f"provider: {job.provider}\ndomain: {domain}\nsources:\noperators:\n"


def _load_rows(path: Path, kind: type[BaseModel]) -> dict[str, Any]:
    content, _, problems = load_file(path, kind)
    if problems:
        raise SpecErrors(problems)
    return content


class _Job:
    """One release of one provider, and its registrations in a package."""

    def __init__(self, folder: Path, wheel: Path | None) -> None:
        self.folder = folder
        about = _load_rows(self.folder / "releases.yaml", ReleasesFile)
        self.provider = kernels.PROVIDER if wheel is None else library.PROVIDER
        info = about["providers"][self.provider]
        self.place = info["folder"]
        self.release, self.stated = (
            kernels.read_installed(info["title"]) if wheel is None else library.registered_in(wheel)
        )
        self.source = _source(self.provider, self.release, about)
        order = list(about["releases"])
        sets = named_sets(_load_rows(self.folder / "sets.yaml", TypeSetsFile))[0]["types"]
        self.axis = Axis(order, bounds(info["releases"], order), sets)
        minor = self.release.rpartition(".")[0]
        first, last = self.axis.whole
        if minor not in order[first : last + 1]:
            raise InputError(f"{self.release} is not a release of {self.provider}; add it to releases.yaml first")
        self.at = order.index(minor)

    @property
    def told(self) -> str:
        """A summary of what was read."""
        count = sum(len(rows) for rows in self.stated.values())
        return f"{self.provider} {self.release}: {plural(count, 'kernel')}"

    def domains(self) -> list[str]:
        """Return the domains in the package or in the files."""
        files = {path.stem for path in (self.folder / self.place).glob("*.yaml")}
        return sorted({domain for domain, _ in self.stated} | files)

    def sources(self, old: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        entries = list(old or [])
        return entries if self.source in entries else [*entries, self.source]

    def updated(self, domain: str, old: Mapping[str, Any]) -> dict[str, Any]:
        """Return the operators of a file with the release's rows replaced."""
        operators = {}
        names = {operator for name, operator in self.stated if name == domain}
        for operator in sorted({*old, *names}):
            releases = by_release(old.get(operator, {}), self.axis)
            before = dict(releases.get(self.at, {}))
            stated = self.stated.get((domain, operator), {})
            kept_rows = {key: row for key, row in before.items() if is_handwritten(row)}
            kept_rows |= {
                key: self._keep_handwritten(row, _nearest(releases, key, self.at)) for key, row in stated.items()
            }
            if kept_rows == before:
                operators[operator] = old[operator]
                continue
            releases[self.at] = kept_rows
            rows = format_rows(releases, self.axis)
            if rows:
                operators[operator] = rows
        return operators

    def _keep_handwritten(self, row: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of the package with the handwritten keys of `old`.

        The package only tells whether there is a query.
        """
        kept = {name: old[name] for name in _BY_HAND if name in old}
        plain = {name: value for name, value in row.items() if name != _QUERY}
        if row.get(_QUERY, False) and _QUERY in old:
            kept[_QUERY] = old[_QUERY]
        return {**plain, **kept}

    def differences(self, domain: str, old: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each row that differs or is missing on one side."""
        names = {operator for name, operator in self.stated if name == domain}
        for operator in sorted({*old, *names}):
            here = by_release(old.get(operator, {}), self.axis).get(self.at, {})
            here = {key: row for key, row in here.items() if not is_handwritten(row)}
            stated: Mapping[Key, Mapping[str, Any]] = self.stated.get((domain, operator), {})
            for key in sorted({*here, *stated}, key=lambda key: (key[0], key[1] or 0)):
                place = f"{self.place}/{domain}.yaml: {operator} {key[0]}{'' if key[1] is None else f'..{key[1]}'}"
                if key not in stated:
                    yield f"{place}: not in {self.release}"
                elif key not in here:
                    yield f"{place}: missing"
                else:
                    yield from (f"{place}: {text}" for text in _row_differences(here[key], stated[key]))


def _row_differences(row: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[str]:
    for name in ("types", "constant_inputs", "graph", "graph_inputs"):
        if row.get(name) != stated.get(name):
            yield f"{name}: expected {stated.get(name)}, found {row.get(name)}"
    if stated.get(_QUERY) is not None and stated[_QUERY] != (_QUERY in row):
        yield f"{_QUERY}: {'missing' if stated[_QUERY] else 'not expected'}"


def _nearest(releases: Mapping[int, Mapping[Key, Mapping[str, Any]]], key: Key, at: int) -> Mapping[str, Any]:
    """Return the row of the nearest release that has these versions.

    Of two equally near releases, the later one.
    """
    candidates = [other for other, rows in releases.items() if key in rows]
    return releases[min(candidates, key=lambda other: (abs(other - at), -other))][key] if candidates else {}


def _source(provider: str, release: str, about: Mapping[str, Any]) -> dict[str, Any]:
    packages = [name for name, info in about["packages"].items() if info["providers"][0] == provider]
    how = "get_all_opkernel_def" if provider == kernels.PROVIDER else "the table of registrations in its library"
    return {"package": packages[0], "version": release, "name": how}
