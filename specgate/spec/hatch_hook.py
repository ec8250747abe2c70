"""Hatchling build hook: compile ``specs/`` into the wheel, so that a check reads no YAML.

One file for each dialect, and two for the runtime beside them: what it registers, and what it lowers nodes to.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileSpecs(BuildHookInterface[Any]):
    """Adds ``specgate/_specs/DIALECT.jsonl`` to a wheel; an editable install reads the checkout's YAML instead."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from specgate.dialects import SHIPPED
        from specgate.placement.build import build_runtime
        from specgate.placement.lowering.build import build_lowering
        from specgate.placement.registrations import RUNTIME
        from specgate.spec.build import build_dialect
        from specgate.spec.store import built, written_tables

        folder = Path(tempfile.mkdtemp(prefix="specgate-specs-"))
        builders = dict.fromkeys(SHIPPED, build_dialect)
        builders |= {RUNTIME: build_runtime, f"{RUNTIME}/lowering": build_lowering}
        for path, build in builders.items():
            name = path.replace("/", "-")
            compiled = folder / f"{name}.jsonl"
            compiled.write_text(written_tables(None, built(build, Path(self.root) / "specs" / path)), encoding="utf-8")
            build_data["force_include"][str(compiled)] = f"specgate/_specs/{name}.jsonl"
