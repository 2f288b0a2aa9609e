"""A run folder in which something is damaged: what was found in the end is exact, or a diagnostic
says what is wrong."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.native.checkpoint import journal, storage
from checker.records import replace
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check
from tests.selection import first_by_default

CHECKS = {
    "holds": ("specs/oracles/two_phase.bcast", "three", {"n": "2"}, 4),
    "violated": ("specs/links/alternating_bit.bcast", "reordering", {}, 5),
}
SAME = ("distinct_states", "depth", "transitions", "exhaustive", "stopped")


@pytest.fixture(scope="module", autouse=True)
def _no_loss_of_power() -> Iterator[None]:
    """Nothing waits for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "_flush", lambda path: None)
        yield


def run(what: str, **more: object) -> Report:
    path, check, settings, _ = CHECKS[what]
    options = Options(settings=settings, threads=1, reduce="none", keep=True, checkpoint_every=0)
    return run_check(path, check, replace(options, **more))  # type: ignore[arg-type]


def told(report: Report) -> list[object]:
    return [getattr(report, name) for name in SAME] + [report.verdicts]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    folder = tmp_path_factory.mktemp("whole")
    return {what: told(run(what, checkpoint=str(folder / what))) for what in CHECKS}


@pytest.fixture(scope="module", params=first_by_default(CHECKS, 1))
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was cut short, with a commit for each of its levels."""
    folder = tmp_path_factory.mktemp("kept") / str(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "SHARE", 0)
        depth = CHECKS[request.param][3]
        cut = run(request.param, checkpoint=str(folder), limits=Limits(max_depth=depth))
    assert (cut.depth, cut.exhaustive) == (depth, False)
    assert len(list(folder.glob("levels/*/_SUCCESS"))) > depth
    return folder


def flipped(at: float) -> Callable[[Path], None]:
    """One bit of the file, at this part of it."""

    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        bit = int(at * 8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)

    return change


def cut_to(share: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(share * path.stat().st_size))


def last_gone(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def changes(seed: str) -> Iterator[tuple[str, Callable[[Path], None]]]:
    yield "gone", Path.unlink
    yield "empty", cut_to(0.0)
    yield "half", cut_to(0.5)
    yield "shorter", last_gone
    yield "zeroed", zeroed
    draw = random.Random(seed)
    for _ in range(2):
        at = draw.random()
        yield f"flipped at {at}", flipped(at)


def resumed(kept: Path, to: Path, name: str, change: Callable[[Path], None]) -> Report:
    shutil.copytree(kept, to)
    change(to / name)
    return run(kept.name, resume=str(to))


def test_what_is_damaged_is_explored_again_and_named(
    kept: Path, tmp_path: Path, expected: dict[str, list[object]]
) -> None:
    files = [path.relative_to(kept) for path in kept.rglob("*") if path.is_file()]
    levels = sorted(str(name) for name in files if name.parts[0] == "levels")
    assert len(levels) >= 10
    for name in levels:
        for how, change in changes(name):
            report = resumed(kept, tmp_path / "run", name, change)
            assert told(report) == expected[kept.name], (name, how)
            named = [note for note in report.notes if name in note]
            shutil.rmtree(tmp_path / "run")
            last = name == f"levels/{len(list(kept.glob('levels/*'))) - 1:05d}/_SUCCESS"
            if not how.startswith("flipped") and not (last and how == "gone"):
                assert len(named) == 1, (name, how, report.notes)


def test_other_files_are_refused_or_do_not_matter(
    kept: Path, tmp_path: Path, expected: dict[str, list[object]]
) -> None:
    files = [path.relative_to(kept) for path in kept.rglob("*") if path.is_file()]
    others = sorted(str(name) for name in files if name.parts[0] != "levels")
    assert "run.json" in others
    for name in others:
        for how, change in changes(name):
            try:
                report = resumed(kept, tmp_path / "run", name, change)
            except SpecError as error:
                assert name == "run.json"
                assert [d.code for d in error.diagnostics] == ["E012"], (how, error)
                before = sorted(kept.glob("levels/*/*"))
                assert len(sorted((tmp_path / "run").glob("levels/*/*"))) == len(before)
            else:
                assert name != "run.json"
                assert told(report) == expected[kept.name], (name, how)
            shutil.rmtree(tmp_path / "run")


def test_all_levels_damaged_is_to_begin_again(
    kept: Path, tmp_path: Path, expected: dict[str, list[object]]
) -> None:
    shutil.copytree(kept, tmp_path / "run")
    for path in (tmp_path / "run").glob("levels/*/*.arrow"):
        zeroed(path)
    report = run(kept.name, resume=str(tmp_path / "run"))
    assert told(report) == expected[kept.name]
    (note,) = [note for note in report.notes if "damaged" in note]
    assert "from the start" in note


def test_what_is_whole_is_not_called_damaged(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "run")
    assert not [n for n in run(kept.name, resume=str(tmp_path / "run")).notes if "damaged" in n]
