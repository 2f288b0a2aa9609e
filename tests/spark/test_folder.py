"""A folder that can't be written any more, or that somebody else writes to as well, while tasks
of the barrier exchange explore: nothing is lost that was committed, and nothing comes out wrong."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.engines.native import engine as native
from checker.engines.native.checkpoint.lock import FolderLock
from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.image import build
from checker.engines.native.search.findings import Findings
from checker.engines.spark import local_prefix
from checker.resources import specs
from checker.results.answer import Limits
from tests.native.models import two_phase
from tests.spark import relay
from tests.spark.gang import answer, begun, job_of, outcome
from tests.spark.test_barrier import compare

SYSTEM = two_phase(4)


class Full(RunFolder):
    """A folder on a disk that fills up: there is room for so many parts and commits."""

    parts_left = commits_left = 1000

    def write(self, level: int, shard: int, shards: int, blocks: Iterable[memoryview]) -> Part:
        self.parts_left -= 1
        self._require(self.parts_left, f"levels/{level:05d}")
        return super().write(level, shard, shards, blocks)

    def commit(self, found: Findings, parts: Sequence[Part]) -> None:
        self.commits_left -= 1
        self._require(self.commits_left, f"levels/{found.depth:05d}/_SUCCESS")
        super().commit(found, parts)

    def _require(self, left: int, name: str) -> None:
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device", self.place.path(name))


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("what", ["parts_left", "commits_left"])
@pytest.mark.parametrize("room", [0, 1, 5])
def test_a_full_disk_ends_the_run_and_it_can_be_gone_on_with(
    room: int, what: str, shards: int, tmp_path: Path
) -> None:
    image = build(SYSTEM)
    begun(tmp_path, SYSTEM, image)
    folder = Full(str(tmp_path), image.shape.words)
    setattr(folder, what, room)
    seen = outcome(job_of(SYSTEM, image, folder, shards, Limits()))
    assert seen.broken is not None
    assert seen.broken.startswith(f"{tmp_path}/levels/")
    assert seen.broken.endswith(": No space left on device")
    kept = RunFolder(str(tmp_path), image.shape.words).latest()
    assert kept is not None
    assert kept.depth < 13
    compare(answer(SYSTEM, tmp_path, 2, Limits()), native.explore(SYSTEM, Limits(), threads=1))


def test_no_room_for_the_last_commit_of_a_run_that_was_stopped(tmp_path: Path) -> None:
    image = build(SYSTEM)
    begun(tmp_path, SYSTEM, image)
    folder = Full(str(tmp_path), image.shape.words)
    folder.commits_left = 0
    limits = Limits(max_depth=5)
    seen = outcome(job_of(SYSTEM, image, folder, 2, limits, commit_every=1000.0))
    assert seen.stopped == limits.no_deeper
    assert seen.broken is not None and "No space left" in seen.broken
    compare(answer(SYSTEM, tmp_path, 2, Limits()), native.explore(SYSTEM, Limits(), threads=1))


class Shared(RunFolder):
    """A folder to which something commits ``late``, as soon as somebody has looked at it."""

    late: tuple[Findings, list[Part]] | None = None
    one_at_a_time = threading.Lock()

    def latest(self) -> Findings | None:
        with self.one_at_a_time:
            found = super().latest()
            if self.late is not None:
                late, self.late = self.late, None
                RunFolder(self.location, self.words).commit(*late)
            return found


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_what_is_left_of_an_earlier_attempt_commits_meanwhile(shards: int, tmp_path: Path) -> None:
    image = build(SYSTEM)
    before = begun(tmp_path / "before", SYSTEM, image)
    outcome(job_of(SYSTEM, image, before, 2, Limits(max_depth=2)))
    found = before.latest()
    assert found is not None and found.depth == 2
    begun(tmp_path / "run", SYSTEM, image)
    folder = Shared(str(tmp_path / "run"), image.shape.words)
    parts = [part for depth in (1, 2) for part in before.parts()[depth]]
    folder.late = found, [folder.write(p.level, p.shard, p.shards, before.read(p)) for p in parts]
    seen = outcome(job_of(SYSTEM, image, folder, shards, Limits()))
    expected = native.explore(SYSTEM, Limits(), threads=1)
    assert folder.late is None
    assert (seen.states, seen.found.transitions) == (expected.distinct_states, expected.transitions)
    again = RunFolder(folder.location, folder.words)
    assert again.latest() is not None
    assert sum(part.rows for parts in again.parts().values() for part in parts) == seen.states


def test_two_runs_in_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is refused before Spark is started."""
    spec = str(specs() / "oracles" / "two_phase.bcast") + "::three"
    where = ["--engine", "spark", "--master", "local[1]"]
    folder = str(tmp_path / "run")
    assert main(["check", spec, "--max-depth", "2", "--checkpoint", folder, "-q"]) == 3
    capsys.readouterr()
    first = FolderLock(Storage(folder))
    assert main(["check", spec, *where, "--resume", folder]) == 2
    first.leave()
    said = capsys.readouterr().err
    assert "E015" in said
    assert f"another run is using {folder}" in said


def test_a_connection_that_is_gone_is_no_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = build(SYSTEM)
    folder = begun(tmp_path, SYSTEM, image)

    def lost(level: int) -> None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    monkeypatch.setattr(local_prefix, "LIGHT", 0)
    job = job_of(SYSTEM, image, folder, 2, Limits())
    with pytest.raises(ConnectionRefusedError):
        relay.outcome(job, lost)
