"""Freezing what the tool shows writes the same bytes each time (``python -m tests.picture``)."""

from __future__ import annotations

from pathlib import Path

from tests.picture.running import frozen
from tests.picture.subjects import Subject
from tests.selection import some

SUBJECTS = (
    Subject("library", "links/alternating_bit.bcast::reordering"),
    *(Subject("world", f"{number:05}") for number in range(121, 121 + some(3))),
)


def files_in(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_two_trees_are_the_same(tmp_path: Path) -> None:
    trees = []
    for name in ("one", "two"):
        assert len(list(frozen([*SUBJECTS], tmp_path / name, jobs=2))) == len(SUBJECTS)
        trees.append(files_in(tmp_path / name))
    one, two = trees
    assert one == two
    pages = [name for name in one if name.endswith("page.html")]
    assert any(name.startswith("library") for name in pages)
    assert any(name.startswith("world") for name in one)
    assert not [name for name, text in one.items() if str(tmp_path).encode() in text]
