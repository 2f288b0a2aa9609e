"""The site: ``sphinx-build -n -W docs build/site``, or ``python -m sphinx`` (the extra `docs`).

The pages are those of this folder. Below ``reference/`` and ``library/`` stands what is written
elsewhere (diagnostics, the library's own pages) or follows from the code (commands, formats of
documents); that is written first.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parent
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Bivalence"
author = PACKAGE["authors"][0]["name"]
release = version = PACKAGE["version"]

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
exclude_patterns = ["build", "*.py"]
html_theme = "furo"
pygments_dark_style = "a11y-high-contrast-dark"
html_title = f"Bivalence {version}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
suppress_warnings = ["misc.highlighting_failure"]

GENERATED = (HERE / "reference", HERE / "library")
"""Folders that are written here, and not kept."""


def copy_diagnostics() -> None:
    """Writes a page for each diagnostic, and one that lists them by code."""
    folder = GENERATED[0] / "diagnostics"
    folder.mkdir(parents=True)
    pages = sorted((ROOT / "checker" / "diagnostics" / "pages").glob("*.md"))
    for page in pages:
        shutil.copyfile(page, folder / page.name)
    names = "\n".join(page.stem for page in pages)
    text = f"# Diagnostics\n\nBy their codes.\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")


def copy_library() -> None:
    """Writes the pages that stand beside the specs; links to specs become names of files."""
    folder = GENERATED[1]
    folder.mkdir(parents=True)
    pages = sorted((ROOT / "specs").rglob("README.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"\[([^\]]+)\]\((?!http)[^)#]+\)", r"\1", text)
        (folder / f"{page.parent.name}.md").write_text(text, encoding="utf-8")
    names = "\n".join(page.parent.name for page in pages)
    text = f"# The library\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Writes what is written elsewhere, or follows from the code, before the pages are read."""
    sys.path.insert(0, str(ROOT))
    from scripts.reference_pages import write_commands, write_formats

    for folder in GENERATED:
        shutil.rmtree(folder, ignore_errors=True)
    copy_diagnostics()
    copy_library()
    write_commands(GENERATED[0] / "commands")
    write_formats(GENERATED[0] / "formats")
