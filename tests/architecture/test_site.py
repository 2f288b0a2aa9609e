"""The site has every page of the documentation, and is built without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^([\w/-]+)$", index, re.MULTILINE))
    folders = (".", "language", "tutorial", "limits")
    pages = [page for folder in folders for page in (DOCS / folder).glob("*.md")]
    written = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}
    assert written - named == {"index"}


@pytest.mark.slow
def test_it_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", str(DOCS)]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "tutorial" / "first_ten_minutes.html").read_text(encoding="utf-8")
    assert '<span class="k' in page, "specs are coloured"
    assert (tmp_path / "searchindex.js").is_file(), "the search works without a server"
