"""Runs that are kept: who may go on with which, and what is left of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.cluster import Cluster
from checker.engines.native import engine as native
from checker.engines.native.checkpoint import lock
from checker.engines.native.checkpoint.checkpoint import Checkpoint
from checker.engines.native.checkpoint.journal import Journal
from checker.engines.native.checkpoint.lock import FolderLock, FolderLocked
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.native.checkpoint.run_identity import Identity
from checker.engines.native.checkpoint.sealed import unseal
from checker.engines.native.checkpoint.storage import Storage
from checker.engines.native.codegen.image import build
from checker.engines.native.search import search
from checker.engines.native.search.store import Store
from checker.engines.spark import driver
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.choose import SideQuestions, choose
from checker.reductions.reduction_plan import ReductionPlan
from checker.results.answer import Answer, Limits
from checker.session import run_engine
from checker.session.pipeline import Options, run_check
from tests.native.models import two_phase

IDENTITY = Identity(
    "1.0", "a.bcast", "a", {"a.bcast": "12", "b.bcast": "34"}, {"n": "3"}, False, False
)


def refused(location: object, identity: Identity = IDENTITY, *, resume: bool = False) -> Diagnostic:
    with pytest.raises(SpecError) as caught:
        (Checkpoint.resume if resume else Checkpoint.begin)(str(location), identity)
    (found,) = caught.value.diagnostics
    return found


def kept(folder: Path, *, keep: bool = False) -> Checkpoint:
    """A run with a commit."""
    run = Checkpoint.begin(str(folder), IDENTITY, keep=keep)
    system = two_phase(2)
    run.open(system, build(system))
    return run


def test_a_run_that_is_over_leaves_nothing(tmp_path: Path) -> None:
    run = kept(tmp_path / "new")
    run.unfinished = False
    run.leave()
    assert not run.staying
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    run = kept(tmp_path)
    run.unfinished = False
    run.leave()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_never_begun_leaves_nothing(tmp_path: Path) -> None:
    run = Checkpoint.begin(str(tmp_path / "new"), IDENTITY)
    run.leave()
    assert not run.staying
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keep", [False, True])
def test_an_unfinished_run_stays_and_is_gone_on_with(tmp_path: Path, keep: bool) -> None:
    run = kept(tmp_path / "run", keep=keep)
    run.unfinished = not keep
    run.leave()
    assert run.staying
    assert refused(tmp_path / "run").code == "E010"
    again = Checkpoint.resume(str(tmp_path / "run"), IDENTITY)
    again.unfinished = False
    again.leave()
    assert list(tmp_path.iterdir()) == []


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    run = kept(tmp_path / "run")
    for resume in (False, True):
        found = refused(tmp_path / "run", resume=resume)
        assert found.code == "E015"
        assert f"process {os.getpid()} on " in found.message
    run.leave()
    Checkpoint.resume(str(tmp_path / "run"), IDENTITY).leave()


def test_a_process_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from checker.engines.native.checkpoint.lock import FolderLock\n"
        "from checker.engines.native.checkpoint.storage import Storage\n"
        f"claim = FolderLock(Storage({str(tmp_path)!r}))\n"
        "print('there', flush=True)\n"
        "sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(FolderLocked, match=f"process {other.pid} on"):
            FolderLock(Storage(str(tmp_path)))
        other.kill()
        other.wait()
    FolderLock(Storage(str(tmp_path))).leave()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_other_things_is_refused(tmp_path: Path, resume: bool) -> None:
    (tmp_path / "thesis.tex").write_text("")
    found = refused(tmp_path, resume=resume)
    assert found.code == ("E012" if resume else "E011")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (replace(IDENTITY, version="1.1"), "the version of the tool, from 1.0 to 1.1"),
        (replace(IDENTITY, check="b"), "the check, from a to b"),
        (
            replace(IDENTITY, sources={"a.bcast": "12", "b.bcast": "35"}),
            "have changed: the text of b.bcast",
        ),
        (replace(IDENTITY, sources={"a.bcast": "12"}), "the text of b.bcast"),
        (replace(IDENTITY, settings={"n": "4"}), "n, from 3 to 4"),
        (replace(IDENTITY, settings={}), "n, from 3 to no setting"),
        (replace(IDENTITY, fine_steps=True), "--fine-steps, given only now"),
        (replace(IDENTITY, coverage=True), "--coverage, given only now"),
        (replace(IDENTITY, asked=("low",)), "the properties checked, from nothing to low"),
    ],
)
def test_what_has_changed_is_named(tmp_path: Path, now: Identity, says: str) -> None:
    kept(tmp_path / "run").leave()
    found = refused(tmp_path / "run", now, resume=True)
    assert (found.code, says in found.message) == ("E013", True), found.message
    moved = replace(IDENTITY, file="elsewhere/a.bcast")
    Checkpoint.resume(str(tmp_path / "run"), moved).leave()


def test_another_kernel_for_the_same_text_is_another_tool(tmp_path: Path) -> None:
    kept(tmp_path / "run").leave()
    run = Checkpoint.resume(str(tmp_path / "run"), IDENTITY)
    system = two_phase(3)
    with pytest.raises(SpecError, match="the tool itself"):
        run.open(system, build(system))
    run.leave()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1}'])
def test_a_run_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    kept(tmp_path / "run").leave()
    (tmp_path / "run" / "run.json").write_text(text)
    found = refused(tmp_path / "run", resume=True)
    assert found.code == "E012"
    assert "format" in found.message


class TestLease:
    """Where there are no locks."""

    @pytest.fixture(autouse=True)
    def _no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(FolderLock, "_lock", FolderLock._lease)

    def test_one_at_a_time(self, tmp_path: Path) -> None:
        place = Storage(str(tmp_path))
        first = FolderLock(place)
        with pytest.raises(FolderLocked, match=f"process {os.getpid()}"):
            FolderLock(place)
        first.leave()
        FolderLock(place).leave()

    def test_it_is_renewed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lock, "RENEW", 0.01)
        place = Storage(str(tmp_path))
        claim = FolderLock(place)
        before = place.read("lease.json")
        for _ in range(1000):
            if place.read("lease.json") != before:
                break
            time.sleep(0.01)
        assert place.read("lease.json") != before
        claim.leave()

    def test_it_ends_by_itself(self, tmp_path: Path) -> None:
        old = {"pid": 1, "host": "h", "token": "t", "at": time.time() - 61}
        (tmp_path / "lease.json").write_text(json.dumps(old))
        FolderLock(Storage(str(tmp_path))).leave()
        (tmp_path / "lease.json").write_text(json.dumps({**old, "at": time.time() - 30}))
        with pytest.raises(FolderLocked, match="process 1 on h"):
            FolderLock(Storage(str(tmp_path)))


GROWING = """
protocol Growing {
  state waiting : seq<0..1> = []
  state goal : 0..40 = 0
  upon condition goal < 40 {
    goal := goal + 1
    waiting := waiting + 1
  }
  property small : always forall p in Proc: p.goal <= 40
}
check growing of Growing { n = 1 prove small }
"""


class TestPipeline:
    """Whole checks."""

    SPEC = "specs/oracles/two_phase.bcast"

    def options(self, **more: object) -> Options:
        """Runs long enough to be cut: everything is explored."""
        return Options(settings={"n": "6"}, threads=2, reduce="none", **more)  # type: ignore[arg-type]

    def test_a_check_is_stopped_and_gone_on_with(self, tmp_path: Path) -> None:
        folder = str(tmp_path / "run")
        whole = run_check(self.SPEC, "three", self.options())
        cut = self.options(checkpoint=folder, limits=Limits(max_states=20_000))
        first = run_check(self.SPEC, "three", cut)
        assert (first.exit_code, first.kept, first.distinct_states) == (3, folder, 20_000)
        last = run_check(self.SPEC, "three", self.options(resume=folder))
        same = ("verdicts", "distinct_states", "depth", "transitions", "exhaustive", "stopped")
        assert last.distinct_states == 50_816
        assert [getattr(last, x) for x in same] == [getattr(whole, x) for x in same]
        assert last.kept is None
        assert list(tmp_path.iterdir()) == []

    def test_a_run_that_goes_on_as_it_was_begun_is_planned_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, bounds = str(tmp_path / "run"), list[bool]()

        def counted(system: TransitionSystem, mode: str, question: SideQuestions) -> ReductionPlan:
            bounds.append(question.bounded)
            return choose(system, mode, question)

        monkeypatch.setattr(run_engine, "choose", counted)
        cut = self.options(checkpoint=folder, limits=Limits(max_states=20_000))
        run_check(self.SPEC, "three", cut)
        assert run_check(self.SPEC, "three", self.options(resume=folder)).exhaustive
        assert bounds == [False, False]

    def test_capacities_that_were_found_are_remembered(self, tmp_path: Path) -> None:
        spec = tmp_path / "growing.bcast"
        spec.write_text(GROWING)
        whole = run_check(str(spec), None, Options())
        run = str(tmp_path / "run")
        for depth in (2, 9, 17, 40):
            limits = Limits(max_depth=depth)
            how = {"checkpoint": run} if depth == 2 else {"resume": run}
            cut = run_check(str(spec), None, Options(limits=limits, keep=True, **how))
            assert cut.depth == depth
        said = unseal((tmp_path / "run" / "run.json").read_bytes())
        assert said is not None and said["capacities"]
        last = run_check(str(spec), None, Options(resume=run))
        assert (last.distinct_states, last.verdicts) == (whole.distinct_states, whole.verdicts)

    def test_without_a_name_only_what_was_interrupted_stays(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        run = Checkpoint.scratch(IDENTITY)
        assert Path(run.location).parent == tmp_path
        assert run.temporary
        run.leave()
        assert list(tmp_path.iterdir()) == []

    def test_elsewhere_goes_on_from_where_it_ended_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A cluster is played by the native engine in the folder that it is given."""
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        begun: list[int] = []

        def explore(
            system: TransitionSystem,
            limits: Limits,
            cluster: Cluster,
            folder: RunFolder,
            *_: object,
            **__: object,
        ) -> Answer:
            begun.append(folder.committed_depth)
            answer = native.explore(system, limits, journal=lambda image: Journal(folder))
            return replace(answer, engine="spark")

        monkeypatch.setattr(driver, "explore", explore)
        there = Cluster("local[2]")
        whole = run_check(self.SPEC, "three", self.options())
        for options, engine in (
            (self.options(engine="spark", cluster=there), "spark"),
            (self.options(engine="auto", cluster=there, graduate_at=2_000), "spark"),
            (self.options(engine="auto", cluster=there), "native"),
        ):
            report = run_check(self.SPEC, "three", options)
            assert report.engine == engine
            assert report.verdicts == whole.verdicts
            assert (report.distinct_states, report.kept) == (50_816, None)
        first, second = begun
        assert first == 0 < second
        assert list(tmp_path.iterdir()) == []

    def test_what_goes_elsewhere_takes_no_memory_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        made: list[weakref.ref[Store]] = []

        def store(*given: Any, **named: Any) -> Store:
            found = Store(*given, **named)
            made.append(weakref.ref(found))
            return found

        def explore(*_: object, **__: object) -> Answer:
            raise SpecError((Diagnostic("E029", f"{[ref() for ref in made]}"),))

        monkeypatch.setattr(search, "Store", store)
        monkeypatch.setattr(driver, "explore", explore)
        options = self.options(engine="auto", cluster=Cluster("local[2]"), graduate_at=2_000)
        with pytest.raises(SpecError) as caught:
            run_check(self.SPEC, "three", options)
        assert caught.value.diagnostics[0].message == "[None]"

    def test_what_was_interrupted_stays_although_nobody_has_named_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

        def explore(
            system: TransitionSystem,
            _: object,
            __: object,
            folder: RunFolder,
            *___: object,
            **____: object,
        ) -> Answer:
            native.explore(
                system, Limits(max_depth=3), journal=lambda _: Journal(folder, every=0.0)
            )
            raise KeyboardInterrupt

        monkeypatch.setattr(driver, "explore", explore)
        options = self.options(engine="spark", cluster=Cluster("local[2]"))
        report = run_check(self.SPEC, "three", options)
        (folder,) = tmp_path.iterdir()
        assert (report.was_interrupted, report.kept) == (True, str(folder))
        last = run_check(self.SPEC, "three", self.options(resume=str(folder)))
        assert (last.distinct_states, list(tmp_path.iterdir())) == (50_816, [])

    def test_a_run_that_was_refused_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

        def explore(*_: object, **__: object) -> Answer:
            raise SpecError((Diagnostic("E025", "too few slots"),))

        monkeypatch.setattr(driver, "explore", explore)
        with pytest.raises(SpecError) as caught:
            run_check(self.SPEC, "three", self.options(engine="spark", cluster=Cluster("local[2]")))
        assert not hasattr(caught.value, "__notes__")
        assert list(tmp_path.iterdir()) == []
