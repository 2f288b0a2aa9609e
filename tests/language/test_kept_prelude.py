"""The typed library that is kept is the one that is typed."""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from checker.language import kept_prelude, library
from checker.session.result_cache import _text


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "bivalence" / "typed"


def fresh() -> library.Prelude:
    return library.prelude.__wrapped__()


def text(prelude: library.Prelude) -> list[str]:
    """What is typed; sets are in one order."""
    return _text((prelude.bases, prelude.interfaces, prelude.protocols), {})


def test_it_is_the_same(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fresh()
    (kept,) = cache.iterdir()
    assert kept.suffix == ".pickle"
    monkeypatch.setattr(library, "_typed_prelude", None)  # it is not typed again
    assert text(fresh()) == text(made)


def test_a_damaged_one_is_made_again(cache: Path) -> None:
    made = fresh()
    (kept,) = cache.iterdir()
    data = kept.read_bytes()
    kept.write_bytes(data[:-9] + b"\0" + data[-8:])
    assert text(fresh()) == text(made)
    assert kept.read_bytes() == data


def test_its_classes_are_in_the_sources_that_it_depends_on(cache: Path) -> None:
    class Reader(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            modules.add(module)
            return super().find_class(module, name)

    modules: set[str] = set()
    Reader(io.BytesIO(pickle.dumps(fresh()))).load()
    own = {Path(str(sys.modules[m].__file__)) for m in modules if m.startswith("checker")}
    assert own
    assert own <= {*kept_prelude.sources()}


def test_another_library_is_another_one(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.bcast"
    file.write_text("interface Other { indication delivers m }\n")
    assert kept_prelude.kept([file], lambda: 1) == 1
    assert kept_prelude.kept([file], lambda: 2) == 1
    file.write_text("interface Others { indication delivers m }\n")
    assert kept_prelude.kept([file], lambda: 2) == 2
