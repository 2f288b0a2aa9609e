"""One server for the tests of a module, with a cache folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assist.calls import Caller, served


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def call(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        with served(root) as caller:
            yield caller


@pytest.fixture
def folder(root: Path) -> Path:
    """The root, emptied."""
    for each in root.iterdir():
        shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    return root
