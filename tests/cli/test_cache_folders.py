"""What is kept between two runs is run as code, so only what this user alone can write is read."""

from __future__ import annotations

import json
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from checker import resources
from checker.cli.main import main
from checker.language.parser import cache as parse_cache
from checker.language.parser import parse as parsing

posix = pytest.mark.skipif(os.name != "posix", reason="the owner of a file is known on Unix only")
as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give")
Out = pytest.CaptureFixture[str]
SPEC = "specs/oracles/ping_pong.bcast"
STRANGER = 65_534


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tool's folder in an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parsing.parser.cache_clear()
    resources.take_refused_folders()
    return tmp_path / "cache" / "bivalence"


def warnings(capsys: Out) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if "warning" in line]


def checked(path: str = SPEC) -> int:
    """The exit code, without what this process has in its memory."""
    from checker.language.library import prelude

    prelude.cache_clear()
    parsing.parser.cache_clear()
    return main(["check", path])


@posix
def test_folders_are_made_for_the_user_alone(home: Path, capsys: Out) -> None:
    before = os.umask(0)
    try:
        assert checked() == 0
    finally:
        os.umask(before)
    made = [home, *(path for path in home.iterdir() if path.is_dir())]
    assert {path.name for path in made} == {"bivalence", "kernels", "parsed"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert warnings(capsys) == []


@posix
@pytest.mark.parametrize(
    ("name", "mode"), [("", 0o1777), ("", 0o707), ("parsed", 0o770), ("kernels", 0o720)]
)
def test_a_folder_that_others_may_write_is_not_used(
    home: Path, name: str, mode: int, capsys: Out
) -> None:
    folder = home / name
    folder.mkdir(parents=True)
    home.chmod(0o700)
    folder.chmod(mode)
    assert checked() == 0
    (said,) = warnings(capsys)
    assert said.startswith(f"warning[E017]: {folder} is not used: ")
    assert "others may write" in said
    assert list(folder.iterdir()) == []
    assert checked() == 0
    assert len(warnings(capsys)) == 1


@as_root
@pytest.mark.parametrize("name", ["", "parsed", "kernels"])
def test_a_folder_of_somebody_else_is_not_used(home: Path, name: str, capsys: Out) -> None:
    folder = home / name
    folder.mkdir(parents=True)
    home.chmod(0o700)
    os.chown(folder, STRANGER, STRANGER)
    assert checked() == 0
    (said,) = warnings(capsys)
    assert said.startswith(f"warning[E017]: {folder} is not used: ")
    assert "another user" in said
    assert list(folder.iterdir()) == []


@as_root
def test_a_link_that_somebody_else_has_made_is_not_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    home.parent.mkdir()
    home.symlink_to(tmp_path / "mine")
    assert resources.cache_folder() == home
    os.chown(home, STRANGER, STRANGER, follow_symlinks=False)
    assert resources.cache_folder() is None


def another_users(path: Path) -> None:
    os.chown(path, STRANGER, -1)


def open_to_others(path: Path) -> None:
    path.chmod(0o666)


def a_link(path: Path) -> None:
    path.rename(path.with_name("there"))
    path.symlink_to("there")


def renamed(path: Path) -> None:
    """Whole, but of another name: what it holds is something else."""
    resources.store_cached(path.with_name("other"), b"other", 10)
    path.with_name("other").replace(path)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(another_users, marks=as_root),
        pytest.param(open_to_others, marks=posix),
        pytest.param(a_link, marks=posix),
        renamed,
        cut,
        flipped,
        Path.unlink,
    ],
)
def test_a_file_counts_only_as_it_was_kept(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    resources.store_cached(path, b"code", 10)
    assert resources.load_cached(path) == b"code"
    change(path)
    assert resources.load_cached(path) is None


DONE: list[str] = []


def note(what: str) -> None:
    DONE.append(what)


class Mischief:
    """Runs when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return note, ("run",)


def test_nothing_that_is_kept_is_run_when_it_is_read(home: Path) -> None:
    assert checked() == 0
    for path in [p for p in home.rglob("*") if p.is_file() and p.suffix != ".o"]:
        resources.store_cached(path, pickle.dumps(Mischief()), 1_000)
    assert checked() == 0
    assert DONE == []


def test_what_was_parsed_comes_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted(resources.specs().rglob("*.bcast"))
    parsed = [parsing.parse(file.read_text(), str(file)) for file in files]
    for _ in range(2):
        assert [parse_cache.parse(file.read_text(), str(file)) for file in files] == parsed
        monkeypatch.setattr(parsing, "parse", None)
    parsing.parser.cache_clear()
    parsing.parser.__wrapped__()


@pytest.mark.parametrize(
    "tree",
    [None, 1, [], ["Spec"], ["Spec", "a", 1, 2], ["Name", "a", None], ["no", 1], [["Spec"], 1]],
)
def test_what_is_no_tree_is_parsed_again(home: Path, tree: object) -> None:
    expected = parse_cache.parse("protocol P { }", "a")
    (path,) = (home / "parsed").iterdir()
    resources.store_cached(path, json.dumps(tree).encode(), 10)
    assert parse_cache.parse("protocol P { }", "a") == expected
    resources.store_cached(path, b"[" * 100_000, 10)
    assert parse_cache.parse("protocol P { }", "a") == expected


def test_the_doctor_sees_it(home: Path, capsys: Out) -> None:
    home.mkdir(parents=True)
    home.chmod(0o777)
    main(["doctor"])
    (line,) = [x for x in capsys.readouterr().out.splitlines() if " cache: " in x]
    assert "others may write" in line
