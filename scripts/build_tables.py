"""Writes the tables of the parser when hatchling builds or installs the tool, and packs
its documents."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildTables(BuildHookInterface):  # type: ignore[misc]
    """The hook of ``pyproject.toml``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Writes ``grammar/tables-KEY.marshal``, which is packed like all of that folder; removes
        those of other grammars."""
        root = Path(self.root)
        tables = runpy.run_path(str(root / "checker/language/parser/tables.py"))
        grammar = (root / "grammar/bivalence.lark").read_text(encoding="utf-8")
        for old in (root / "grammar").glob("tables-*.marshal"):
            old.unlink()
        path = root / "grammar" / f"tables-{tables['key'](grammar)}.marshal"
        path.write_bytes(tables["dump"](tables["compute"](grammar)))
        if self.target_name == "wheel" and version == "standard":
            for page in sorted((root / "docs").glob("*.md")):
                build_data["force_include"][str(page)] = f"checker/_data/docs/{page.name}"
