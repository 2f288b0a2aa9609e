"""The folder of a run: what was written comes back, what is half there counts for nothing."""

from __future__ import annotations

import errno
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.engines.native.checkpoint import run_folder
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.search.findings import Findings

WORDS = 3
ROW = 8 * WORDS


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(str(tmp_path / "run"), WORDS)


def some(count: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(ROW * count)


def whole(folder: RunFolder, part: Part) -> bytes:
    return b"".join(folder.read(part))


def put(folder: RunFolder, level: int, count: int = 5) -> Part:
    return folder.write(level, 0, 1, [memoryview(some(count, level))])


@pytest.mark.parametrize("sizes", [[], [0], [7], [1] * 300, [1000, 1, 2, 999, 0, 3], [5000]])
def test_rows_come_back_in_blocks_of_whole_rows(
    folder: RunFolder, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "BATCH_BYTES", 1000)
    blocks = [some(count, seed) for seed, count in enumerate(sizes)]
    part = folder.write(2, 3, 8, [memoryview(block) for block in blocks])
    assert (part.level, part.shard, part.shards, part.rows) == (2, 3, 8, sum(sizes))
    assert whole(folder, part) == b"".join(blocks)
    assert all(0 < len(block) <= 1000 and len(block) % ROW == 0 for block in folder.read(part))


def test_blocks_of_words_and_bytes_are_the_same(folder: RunFolder) -> None:
    data = memoryview(bytearray(some(4)))
    words = folder.write(0, 0, 1, [data.cast("Q")])
    assert whole(folder, words) == bytes(data)


def test_nobody_has_to_know_the_folder_but_by_its_place(folder: RunFolder) -> None:
    part = put(folder, 0)
    folder.commit(Findings(depth=0), [part])
    there = pickle.loads(pickle.dumps(folder))
    assert there.parts() == {0: [part]}
    assert whole(there, part) == some(5, 0)


def test_everything_that_was_found_comes_back(folder: RunFolder) -> None:
    found = Findings(
        depth=1,
        violating={"safe": (1, (2**64 - 1, (1, 2, 2**63)))},
        premises={"safe", "live"},
        faulty=(1, (5, (0, 0, 1))),
        maybe_cyclic=True,
        transitions=10**12,
        ends=3,
        marks=1 << 50_000 | 1,
    )
    folder.commit(found, [put(folder, 0), put(folder, 1)])
    assert folder.latest() == found


def test_commits_follow_one_another(folder: RunFolder) -> None:
    assert folder.latest() is None and folder.parts() == {}
    parts = [put(folder, level) for level in range(6)]
    for depth, new in ((0, parts[:1]), (3, parts[1:4]), (5, parts[4:])):
        folder.commit(Findings(depth=depth), new)
        assert folder.latest() == Findings(depth=depth)
    assert folder.parts() == {part.level: [part] for part in parts}


def spoil(path: Path, how: str) -> None:
    if how == "gone":
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("how", ["gone", "cut"])
@pytest.mark.parametrize("what", ["part", "marker"])
def test_a_spoilt_commit_does_not_count_and_those_before_do(
    folder: RunFolder, what: str, how: str
) -> None:
    parts = [put(folder, level, 100) for level in range(3)]
    for depth in range(3):
        folder.commit(Findings(depth=depth), [parts[depth]])
    name = parts[1].name if what == "part" else "levels/00001/_SUCCESS"
    spoil(Path(folder.place.path(name)), how)
    again = RunFolder(folder.location, WORDS)
    assert again.latest() == Findings(depth=0)
    again.clean()
    assert [level for level in again.parts()] == [0]
    again.commit(Findings(depth=2), [put(again, 1), put(again, 2)])
    assert again.latest() == Findings(depth=2)


def test_what_no_commit_names_is_nothing_and_can_be_cleaned(folder: RunFolder) -> None:
    kept, twice = put(folder, 0), put(folder, 0)
    folder.commit(Findings(depth=0), [kept])
    put(folder, 1)
    folder.say("progress", {"states": 1})
    assert folder.parts() == {0: [kept]}
    folder.clean()
    assert set(folder.place.files()) == {kept.name, "levels/00000/_SUCCESS", "said/progress.json"}
    assert kept.name != twice.name


@pytest.mark.parametrize("seed", range(30))
def test_whoever_commits_beside_whom_every_level_is_there_once(
    seed: int, folder: RunFolder
) -> None:
    """What is left of an earlier attempt, and the one that goes on from its last commit; each
    knows of its own commits only, and all find the same states in a level."""
    draw = random.Random(seed)
    folder.commit(Findings(depth=0), [put(folder, 0)])
    writers, depths = [], []
    for _ in range(40):
        if not writers or (len(writers) < 3 and draw.random() < 0.1):
            writers.append(pickle.loads(pickle.dumps(folder)))
            found = writers[-1].latest()
            assert found is not None
            depths.append(found.depth)
        who = draw.randrange(len(writers))
        target = depths[who] + draw.randint(1, 3)
        parts = [put(writers[who], level) for level in range(depths[who] + 1, target + 1)]
        if draw.random() < 0.8:
            writers[who].commit(Findings(depth=target), parts)
            depths[who] = target
        latest = RunFolder(folder.location, WORDS).latest()
        assert latest is not None and latest.depth == max(depths)
        there = folder.parts()
        assert sorted(there) == list(range(latest.depth + 1))
        assert all([part.rows for part in parts] == [5] for parts in there.values())


def test_who_has_claimed_the_folder_last_commits_alone(folder: RunFolder) -> None:
    folder.claim()
    folder.commit(Findings(depth=0), [put(folder, 0)])
    left = pickle.loads(pickle.dumps(folder))
    left.commit(Findings(depth=1), [put(left, 1)])
    again = RunFolder(folder.location, WORDS)
    again.claim()
    assert again.latest() == Findings(depth=1)
    for old in (left, folder):
        with pytest.raises(OSError, match="another run resumed") as caught:
            old.commit(Findings(depth=2), [put(old, 2)])
        assert caught.value.filename == folder.location
    again.clean()
    again.commit(Findings(depth=2), [put(again, 2)])
    assert RunFolder(folder.location, WORDS).latest() == Findings(depth=2)


def test_a_writer_that_fails_leaves_nothing(folder: RunFolder) -> None:
    def blocks() -> Iterator[memoryview]:
        yield memoryview(some(3))
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        folder.write(0, 0, 1, blocks())
    assert folder.place.files() == {}


def test_messages_are_heard_and_never_an_error(folder: RunFolder) -> None:
    assert folder.read_message("stop") is None
    folder.say("stop", {"why": "first"})
    folder.say("stop", {"why": "wanted"})
    assert folder.read_message("stop") == {"why": "wanted"}
    Path(folder.place.path("said/stop.json")).write_text("{")
    assert folder.read_message("stop") is None
    RunFolder("/proc/none/here", WORDS).say("stop", {})
    assert RunFolder("/proc/none/here", WORDS).read_message("stop") is None


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory") as caught:
        put(RunFolder(str(tmp_path / "file" / "run"), WORDS), 0)
    assert str(tmp_path / "file") in str(caught.value.filename)
    with pytest.raises(OSError, match="Unrecognized filesystem") as caught:
        put(RunFolder("nowhere://at/all", WORDS), 0)
    assert caught.value.filename == "nowhere://at/all"


def test_a_disk_without_room_leaves_the_commits_before(folder: RunFolder) -> None:
    folder.commit(Findings(depth=0), [put(folder, 0)])
    program = (
        "import resource, sys\n"
        "from checker.engines.native.checkpoint.run_folder import RunFolder\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        f"folder = RunFolder({folder.location!r}, {WORDS})\n"
        "try:\n"
        f"    folder.write(1, 0, 1, [memoryview(bytes({ROW} * 100_000))])\n"
        "except OSError as error:\n"
        "    sys.exit(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == errno.EFBIG, done.stderr
    assert folder.latest() == Findings(depth=0)
    assert not [name for name in folder.place.files() if name.startswith("levels/00001")]


def test_rows_of_another_width_are_refused(folder: RunFolder) -> None:
    part = put(folder, 0)
    with pytest.raises(OSError, match="has changed since it was written"):
        whole(RunFolder(folder.location, WORDS + 1), part)


class TestElsewhere:
    """The same through a filesystem that is not this machine's."""

    @pytest.fixture(params=["hdfs", "s3"])
    def folder(self, request: pytest.FixtureRequest, tmp_path: Path) -> RunFolder:
        from pyarrow import fs

        class Elsewhere(fs.SubTreeFileSystem):
            type_name = request.param

        for name in ("levels/00000", "levels/00001", "levels/00002", "said"):
            (tmp_path / "far" / "runs" / "one" / name).mkdir(parents=True)
        away = RunFolder("far://away", WORDS)
        away.place._remote = (Elsewhere(str(tmp_path / "far"), fs.LocalFileSystem()), "runs/one")
        return away

    def test_a_run_is_kept(self, folder: RunFolder) -> None:
        assert folder.latest() is None
        parts = [put(folder, level) for level in range(2)]
        folder.commit(Findings(depth=0), parts[:1])
        folder.commit(Findings(depth=1), parts[1:])
        put(folder, 2)
        folder.clean()
        assert folder.latest() == Findings(depth=1)
        assert [whole(folder, part) for part in parts] == [some(5, 0), some(5, 1)]
        assert len(folder.place.files()) == 4
        folder.say("stop", {"n": 1})
        folder.say("stop", {"n": 2})
        assert folder.read_message("stop") == {"n": 2}
        folder.place.delete_folder()
        assert folder.latest() is None


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path), 1)
    part = folder.write(0, 0, 1, [memoryview(bytes(range(64)))])
    path = tmp_path / part.name
    data = bytearray(path.read_bytes())
    data[data.index(bytes(range(8, 24))) + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(OSError, match="has changed since it was written"):
        list(folder.read(part))
