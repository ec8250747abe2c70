"""Files that a model references, restricted to the model's folder.

Symbolic links must not lead outside the folder.
"""

from __future__ import annotations

import os
import stat

from specgate.descriptors.core import shown

__all__ = ["LEAVES_FOLDER", "size_in_folder", "unusable_location"]

LEAVES_FOLDER = "leaves the model's folder through a link"


def unusable_location(location: str) -> str | None:
    """Return why a location in a model is invalid, None if it is valid.

    It does not access the file system.
    """
    if not location:
        return "missing"
    parts = location.replace("\\", "/").split("/")
    if "\0" in location:
        return f"{shown(location)}, which is not a valid file name"
    drive = parts[0][1:2] == ":" and (len(parts[0]) == 2 or os.name == "nt")
    if not parts[0] or drive:
        return f"{shown(location)}, an absolute path"
    depth = 0
    for part in parts:
        depth += 0 if part in {"", "."} else -1 if part == ".." else 1
        if depth < 0:
            return f"{shown(location)}, outside the model's folder"
    return None


def size_in_folder(folder: str, location: str) -> int | str:
    """Return a referenced file's size in bytes, or the reason it is unusable.

    folder: that of the model.
    """
    path = os.path.join(folder, location)  # noqa: PTH118
    try:
        home, real = os.path.realpath(folder), os.path.realpath(path)
        if os.path.commonpath([home, real]) != home:
            return LEAVES_FOLDER
        status = os.stat(real)  # noqa: PTH116
    except FileNotFoundError:
        return "does not exist"
    except (OSError, ValueError) as error:
        return f"cannot be used: {getattr(error, 'strerror', None) or error}"
    return status.st_size if stat.S_ISREG(status.st_mode) else "is not a regular file"
