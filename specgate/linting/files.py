"""Which files are linted, how they are named relative to a root, and how they are read without surprises."""

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

__all__ = [
    "compile_pattern",
    "discover",
    "looks_like_model",
    "path_matches",
    "quoted",
    "read_whole",
    "relative_name",
    "suffixes_of_models",
]

# Of a pattern with more stars in a segment, or more ** segments, pathspec makes an expression that can take minutes.
_STARS_LIMIT = 4
_ANY_DEPTH_LIMIT = 3
_TEXT = (".json", ".yaml", ".yml")
_SKIPPED = ("node_modules",)  # besides every hidden directory, .venv and .git among them
_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
# Junctions are the directory links of Windows; Python names them from 3.12 on.
_is_junction: Callable[[str], bool] = getattr(os.path, "isjunction", lambda _path: False)


def discover(
    paths: Sequence[str],
    *,
    exclude: Callable[[str], bool],
    skipped: list[str] | None = None,
) -> list[str]:
    """Return the files that `paths` (files, directories, glob patterns) stand for, each real file once.

    A file given by its name is always taken. Directories are walked without following linked directories and
    without hidden ones; of what is found there, and of what a pattern ending in ``*`` matches, only files with a
    suffix of models that look like one are taken. `exclude` is asked about every file that was found, never
    about one that was named. The order is that of `paths`, sorted within each.

    skipped: gets the files that were found, have a suffix of models, and are none.

    Raises InputError for a path that is missing, unreadable or special (a FIFO, say), or that gives no file.
    """
    if not paths:
        raise InputError("expected at least one file, directory or pattern, found none")
    texts_by_name: dict[str, str] = {}
    for path in paths:
        for file in _files_of(path, exclude, skipped):
            texts_by_name.setdefault(os.path.realpath(file), file)
    return list(texts_by_name.values())


def suffixes_of_models() -> tuple[str, ...]:
    """Return the suffixes of files that are read as models where a directory is given."""
    return (*model_suffixes(), *_TEXT)


def looks_like_model(file: str) -> bool:
    """Whether a file found in a directory is worth reading as a model, from its suffix and its beginning.

    ``.json``, ``.yaml``, ``.yml``: within the first 64 KiB the keys that some dialect's descriptors have
    (`Reader.keys`), and in all of it what a descriptor has. Others: the dialect's `marker` within the first
    KiB, if it has one.
    """
    if Path(file).suffix.lower() in _TEXT:
        start = _read_start(Path(file), 64 * 1024)
        if not any(all(_key(key).search(start) for key in keys) for one in packages() for keys in one.keys):
            return False
        return holds_descriptors(file)
    owner = model_package(file)
    return owner is None or not owner.marker or owner.marker in _read_start(Path(file), 1024)


@cache
def _key(name: str) -> re.Pattern[bytes]:
    """Return what finds a key of JSON or YAML."""
    return re.compile(rb"(?<![\w-])[\"']?" + name.encode() + rb"[\"']?\s*:")


def relative_name(file: str, root: Path) -> str:
    """Return `file` relative to `root` with forward slashes: ``../x`` outside of it, absolute on another drive."""
    try:
        name = os.path.relpath(file, root)
        if name.startswith(".."):  # perhaps inside after all, only spelt through a link
            real = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
            name = name if real.startswith("..") else real
    except (OSError, ValueError):
        return Path(file).as_posix()
    return name.replace(os.sep, "/")


def path_matches(pattern: str, name: str) -> bool:
    """Whether a gitignore-style `pattern` matches `name`, a path relative to the root with forward slashes."""
    return compile_pattern(pattern).match_file(name)


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> GitIgnoreSpec:
    """Return a gitignore-style pattern ready for matching.

    Raises InputError for one that is malformed, can match nothing, or has too many wildcards.
    """
    from pathspec import GitIgnoreSpec

    segments = pattern.split("/")
    if any(segment != "**" and segment.count("*") > _STARS_LIMIT for segment in segments):
        raise InputError(f"expected at most {_STARS_LIMIT} * between two slashes, found {quoted(pattern)}")
    if segments.count("**") > _ANY_DEPTH_LIMIT:
        raise InputError(f"expected at most {_ANY_DEPTH_LIMIT} ** segments, found {quoted(pattern)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # re warns of brackets in brackets
            spec = GitIgnoreSpec.from_lines([pattern.removeprefix("./")])
    except (ValueError, OverflowError, RecursionError, re.error) as error:
        raise InputError(f"expected a gitignore-style pattern, found {quoted(pattern)}") from error
    if not all(part.include for part in spec.patterns):
        raise InputError(f"expected a pattern that can match a file, found {quoted(pattern)}")
    return spec


def read_whole(path: Path, limit: int, *, name: str) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes; InputError names it `name`."""
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


def quoted(text: str) -> str:
    """Return foreign text as a message may have it: on one line, quoted and shortened."""
    return repr(text) if len(text) <= 80 else repr(text[:60] + "…" + text[-19:])


def _files_of(path: str, exclude: Callable[[str], bool], skipped: list[str] | None) -> list[str]:
    if not path:
        raise InputError("expected a file, a directory or a pattern, found an empty path")
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError) as error:
        if not _is_pattern(path):
            raise _unreadable(path, error) from error
        pairs = _matched(path)
    else:
        if stat.S_ISREG(mode):
            return [path]
        if not stat.S_ISDIR(mode):
            raise InputError(f"expected a file or a directory, found {_kind(mode)}", file=path)
        pairs = _walk(Path(path), None)
    files: list[str] = []
    excluded = 0
    suffixes = suffixes_of_models()
    for file, named in pairs:
        if not named and Path(file).suffix.lower() not in suffixes:
            continue
        if exclude(file):
            excluded += 1
        elif named or looks_like_model(file):
            files.append(file)
        elif skipped is not None:
            skipped.append(file)
    if not files:
        hint = f" ({excluded} excluded by the configuration)" if excluded else ""
        raise InputError(f"expected at least one model file, found none{hint}", file=path)
    return sorted(files)


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[")


def _matched(path: str) -> Iterator[tuple[str, bool]]:
    """Expand a glob pattern: files, and whether it names their suffix, as ``*.pb`` does and ``**`` does not."""
    segments = path.replace(os.sep, "/").split("/")
    fixed = next(i for i, segment in enumerate(segments) if _is_pattern(segment))
    top = Path("/".join([*segments[:fixed], ""]))  # the slash keeps "/" and "C:/" roots
    pattern = tuple(segment for segment in segments[fixed:] if segment)
    for file, direct in _walk(top, pattern):
        yield file, direct and not pattern[-1].endswith("*")


def _walk(top: Path, pattern: tuple[str, ...] | None) -> Iterator[tuple[str, bool]]:
    """Yield the regular files below `top`, all of them or those that `pattern` matches.

    A directory that the pattern matches is walked whole, as if the shell had expanded it. Beside each file stands
    whether the pattern matched the file itself.
    """
    start = None if pattern is None else _closed({0}, pattern)
    pending: list[tuple[Path, frozenset[int] | None]] = [(top, start)]
    while pending:
        directory, positions = pending.pop()
        for name, is_directory in _entries(directory):
            reached = None
            if pattern is not None and positions is not None:
                reached = _step(positions, name, pattern)
            whole = reached is None or len(pattern or ()) in reached
            if not is_directory:
                if whole:
                    yield str(directory / name), reached is not None
            elif reached or (reached is None and not _is_skipped(name)):
                pending.append((directory / name, None if whole else reached))


def _entries(directory: Path) -> list[tuple[str, bool]]:
    """List the regular files (False) and the real subdirectories (True) of a directory."""
    pairs = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not _is_junction(entry.path):
                        pairs.append((entry.name, True))
                elif Path(entry.path).is_file():  # unlike entry.is_file(), False for a link to itself
                    pairs.append((entry.name, False))
    except (OSError, ValueError) as error:
        raise _unreadable(str(directory), error) from error
    return pairs


def _step(positions: frozenset[int], name: str, pattern: tuple[str, ...]) -> frozenset[int]:
    """Advance a pattern by one path segment; every position reached so far is tried at once, so nothing backtracks."""
    reached = set()
    for position in positions:
        segment = pattern[position] if position < len(pattern) else ""
        if segment == "**":
            if not _is_skipped(name):
                reached.add(position)
        elif segment == name or (segment and not _is_skipped(name) and fnmatch(name, segment)):
            reached.add(position + 1)
    return _closed(reached, pattern)


def _closed(positions: set[int], pattern: tuple[str, ...]) -> frozenset[int]:
    """Add the positions behind every ``**``, which may stand for no segment at all."""
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
