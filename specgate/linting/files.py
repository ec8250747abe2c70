"""Selection, naming and safe reading of the files to lint."""

from __future__ import annotations

import os
import re
import stat
import warnings
from fnmatch import fnmatch
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.descriptors.files import holds_descriptors
from specgate.dialects import model_package, model_suffixes, packages
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pathspec import GitIgnoreSpec

# From patterns with more stars in a segment, or more ** segments, pathspec builds regular expressions that can take
# minutes.
_STARS_LIMIT = 4
_ANY_DEPTH_LIMIT = 3
_TEXT = (".json", ".yaml", ".yml")
_SKIPPED = ("node_modules",)  # in addition to hidden directories such as .venv and .git
_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
# Junctions are the directory links of Windows; Python detects them since 3.12.
_is_junction: Callable[[str], bool] = getattr(os.path, "isjunction", lambda _path: False)


def discover(
    paths: Sequence[str],
    *,
    exclude: Callable[[str], bool],
    skipped: list[str] | None = None,
) -> list[str]:
    """Return the files that `paths` stand for, each file once.

    paths: files, directories and glob patterns. An explicitly named file is always included. The search in directories
    ignores linked and hidden directories. Files from directories, and matches of patterns ending in ``*``, are included
    only if their suffix and content are those of a model. `exclude` applies to all files except explicitly named ones.
    The order is that of `paths`, sorted within each.

    skipped: receives the files with a suffix of models whose content is not a model.

    Raises InputError for a path that is missing, unreadable or special (such as a FIFO), or that yields no file.
    """
    if not paths:
        raise InputError("expected at least one file, directory or pattern, found none")
    texts_by_name: dict[str, str] = {}
    for path in paths:
        for file in _files_of(path, exclude, skipped):
            texts_by_name.setdefault(os.path.realpath(file), file)
    return list(texts_by_name.values())


def suffixes_of_models() -> tuple[str, ...]:
    """Return the suffixes of model files to read from directories."""
    return (*model_suffixes(), *_TEXT)


def looks_like_model(file: str) -> bool:
    """Return whether a file in a directory looks like a model.

    ``.json``, ``.yaml`` and ``.yml`` must contain the keys of some dialect's descriptors (`Reader.keys`) within the
    first 64 KiB, and a descriptor in the whole file. Other files must contain the dialect's `marker`, if it has one,
    within the first KiB.
    """
    if Path(file).suffix.lower() in _TEXT:
        start = _read_start(Path(file), 64 * 1024)
        if not any(all(_key(key).search(start) for key in keys) for package in packages() for keys in package.keys):
            return False
        return holds_descriptors(file)
    owner = model_package(file)
    return owner is None or not owner.marker or owner.marker in _read_start(Path(file), 1024)


@cache
def _key(name: str) -> re.Pattern[bytes]:
    """Return a pattern that matches a key in JSON or YAML."""
    return re.compile(rb"(?<![\w-])[\"']?" + name.encode() + rb"[\"']?\s*:")


def relative_name(file: str, root: Path) -> str:
    """Return `file` relative to `root` with forward slashes.

    The result is ``../x`` for files outside of `root`, and absolute on another drive.
    """
    try:
        name = os.path.relpath(file, root)
        if name.startswith(".."):  # may be inside, if the path goes through a link
            real = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
            name = name if real.startswith("..") else real
    except (OSError, ValueError):
        return Path(file).as_posix()
    return name.replace(os.sep, "/")


def path_matches(pattern: str, name: str) -> bool:
    """Return whether a gitignore-style `pattern` matches `name`.

    name: a path relative to the root with forward slashes.
    """
    return compile_pattern(pattern).match_file(name)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> GitIgnoreSpec:
    """Return a compiled gitignore-style pattern.

    Raises InputError for a pattern that is malformed, cannot match or has too many wildcards.
    """
    from pathspec import GitIgnoreSpec

    segments = pattern.split("/")
    if any(segment != "**" and segment.count("*") > _STARS_LIMIT for segment in segments):
        raise InputError(f"expected at most {_STARS_LIMIT} * between two slashes, found {quote_text(pattern)}")
    if segments.count("**") > _ANY_DEPTH_LIMIT:
        raise InputError(f"expected at most {_ANY_DEPTH_LIMIT} ** segments, found {quote_text(pattern)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # re warns about nested brackets
            spec = GitIgnoreSpec.from_lines([pattern.removeprefix("./")])
    except (ValueError, OverflowError, RecursionError, re.error) as error:
        raise InputError(f"expected a gitignore-style pattern, found {quote_text(pattern)}") from error
    if not all(part.include for part in spec.patterns):
        raise InputError(f"expected a pattern that can match a file, found {quote_text(pattern)}")
    return spec


def read_content(path: Path, limit: int, *, name: str) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    InputError uses `name` for the file.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error
    if not stat.S_ISREG(mode):
        raise InputError(f"expected a regular file, found {_kind(mode)}", file=name)
    data = _read_start(path, limit + 1, name=name)
    if len(data) > limit:
        raise InputError(f"expected at most {limit} bytes, found more", file=name)
    return data


def quote_text(text: str) -> str:
    """Return foreign text for a message: quoted, shortened, on one line."""
    return repr(text) if len(text) <= 80 else repr(text[:60] + "…" + text[-19:])


def _files_of(path: str, exclude: Callable[[str], bool], skipped: list[str] | None) -> list[str]:
    if not path:
        raise InputError("expected a file, a directory or a pattern, found an empty path")
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        if not _is_pattern(path):
            raise _unreadable(path, error) from error
        pairs = _matching_files(path)
    else:
        if stat.S_ISREG(mode):
            return [path]
        if not stat.S_ISDIR(mode):
            raise InputError(f"expected a file or a directory, found {_kind(mode)}", file=path)
        pairs = _walk(Path(path), None)
    files: list[str] = []
    excluded = 0
    suffixes = suffixes_of_models()
    for file, is_explicit in pairs:
        if not is_explicit and Path(file).suffix.lower() not in suffixes:
            continue
        if exclude(file):
            excluded += 1
        elif is_explicit or looks_like_model(file):
            files.append(file)
        elif skipped is not None:
            skipped.append(file)
    if not files:
        hint = f" ({excluded} excluded by the configuration)" if excluded else ""
        raise InputError(f"expected at least one model file, found none{hint}", file=path)
    return sorted(files)


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[")


def _matching_files(path: str) -> Iterator[tuple[str, bool]]:
    """Yield the files that match a glob pattern.

    The bool tells whether the pattern names their suffix, like ``*.pb`` and unlike ``**``.
    """
    segments = path.replace(os.sep, "/").split("/")
    fixed = next(i for i, segment in enumerate(segments) if _is_pattern(segment))
    top = Path("/".join([*segments[:fixed], ""]))  # the slash preserves the roots "/" and "C:/"
    pattern = tuple(segment for segment in segments[fixed:] if segment)
    for file, direct in _walk(top, pattern):
        yield file, direct and not pattern[-1].endswith("*")


def _walk(top: Path, pattern: tuple[str, ...] | None) -> Iterator[tuple[str, bool]]:
    """Yield the regular files below `top` that match `pattern`, or all.

    A directory that matches is searched completely, as if the shell had expanded the pattern. The bool tells whether
    the pattern matched the file itself.
    """
    start = None if pattern is None else _close_positions({0}, pattern)
    pending: list[tuple[Path, frozenset[int] | None]] = [(top, start)]
    while pending:
        directory, positions = pending.pop()
        for name, is_directory in _entries(directory):
            reached_positions = None
            if pattern is not None and positions is not None:
                reached_positions = _step(positions, name, pattern)
            covers_folder = reached_positions is None or len(pattern or ()) in reached_positions
            if not is_directory:
                if covers_folder:
                    yield str(directory / name), reached_positions is not None
            elif reached_positions or (reached_positions is None and not _is_skipped(name)):
                pending.append((directory / name, None if covers_folder else reached_positions))


def _entries(directory: Path) -> list[tuple[str, bool]]:
    """Return regular files (False) and real subdirectories (True)."""
    pairs = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not _is_junction(entry.path):
                        pairs.append((entry.name, True))
                elif Path(entry.path).is_file():  # False for a link to itself, where entry.is_file() raises
                    pairs.append((entry.name, False))
    except (OSError, ValueError) as error:
        raise _unreadable(str(directory), error) from error
    return pairs


def _step(positions: frozenset[int], name: str, pattern: tuple[str, ...]) -> frozenset[int]:
    """Advance a pattern by one path segment.

    All positions reached so far advance together, without backtracking.
    """
    reached_positions = set()
    for position in positions:
        segment = pattern[position] if position < len(pattern) else ""
        if segment == "**":
            if not _is_skipped(name):
                reached_positions.add(position)
        elif segment == name or (segment and not _is_skipped(name) and fnmatch(name, segment)):
            reached_positions.add(position + 1)
    return _close_positions(reached_positions, pattern)


def _close_positions(positions: set[int], pattern: tuple[str, ...]) -> frozenset[int]:
    """Add the positions after each ``**``, which may match no segment."""
    closed = set(positions)
    for position, segment in enumerate(pattern):
        if segment == "**" and position in closed:
            closed.add(position + 1)
    return frozenset(closed)


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED


def _read_start(path: Path, size: int, *, name: str | None = None) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise _unreadable(name or str(path), error) from error


def _unreadable(name: str, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"cannot be read: {reason}", file=name)


def _kind(mode: int) -> str:
    return "a directory" if stat.S_ISDIR(mode) else _KINDS.get(stat.S_IFMT(mode), "a special file")
