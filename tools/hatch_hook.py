"""Hatchling build hook: files that are generated from ``specs/``.

The wheel gets compiled tables, so that a check reads no YAML. There is one file per dialect and two for the runtime,
with its registrations and its lowering. Wheels and editable installs get the type stubs of ``specgate.make``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileSpecs(BuildHookInterface[Any]):
    """Adds ``specgate/_specs/*.jsonl`` and ``specgate/make/*.pyi`` to a wheel.

    For an editable install, which reads YAML, writes the stubs into the checkout.
    """

    PLUGIN_NAME = "custom"
    _folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sys.path.insert(0, self.root)
        if version == "editable":
            from tools.stubs import write_stubs

            write_stubs(Path(self.root, "specgate", "make"))
            return
        self._folder = Path(tempfile.mkdtemp(prefix="specgate-build-"))
        for number, (path, text) in enumerate(self._files().items()):
            file = self._folder / str(number)
            # Written as bytes: line ends of Windows would change the offsets by which the lines of tables are found.
            file.write_bytes(text.encode())
            build_data["force_include"][str(file)] = path

    def _files(self) -> dict[str, str]:
        """Return the text of each file by its path in the wheel."""
        from specgate.dialects import BUILT_IN
        from specgate.runtimes.onnxruntime.build import build_runtime
        from specgate.runtimes.onnxruntime.lowering.build import build_lowering
        from specgate.runtimes.onnxruntime.registrations import RUNTIME
        from specgate.spec.build import build_dialect
        from specgate.spec.dialect_spec import Dialect
        from specgate.spec.store import build_with_digest, written_tables
        from specgate.spec.tables import in_use
        from tools.stubs import package_stub, stub_text

        files = {"specgate/make/__init__.pyi": package_stub()}
        builders = dict.fromkeys(BUILT_IN, build_dialect)
        builders |= {RUNTIME: build_runtime, f"{RUNTIME}/lowering": build_lowering}
        for path, build in builders.items():
            tables = build_with_digest(build, Path(self.root) / "specs" / path)
            files[f"specgate/_specs/{path.replace('/', '-')}.jsonl"] = written_tables(None, tables)
            if path in BUILT_IN:
                with in_use(Dialect(path, tables)):
                    files[f"specgate/make/{path}.pyi"] = stub_text(path)
        return files

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if self._folder is not None:
            shutil.rmtree(self._folder)
