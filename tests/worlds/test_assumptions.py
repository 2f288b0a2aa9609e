"""``bivalence assumptions``: which assumptions a check needs, each shown by a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker import kept
from checker.cli.main import main
from checker.language.load import load_text
from checker.language.typecheck.world_axes import world_of
from checker.results.verdict import Word
from checker.results.weakest_worlds import WeakestWorlds
from checker.worlds import points
from checker.worlds.asking import Asker
from checker.worlds.assumptions import Assumptions, Question
from checker.worlds.monotone import Answer
from checker.worlds.points import PointOutcome, PointTask
from tests.documents import validator

SPEC = """\
protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when m not in seen {
    seen += m
    deliver(p, m)
  }
}
check c of P { n = 2  WORLD  clients { p1 broadcasts a }  CLAUSE }
"""


def spec(world: str = "", clause: str = "prove validity, no_duplication") -> str:
    return SPEC.replace("WORLD", world).replace("CLAUSE", clause)


def asked(path: Path, text: str, *words: str) -> dict[str, Any]:
    path.write_text(text, "utf-8")
    out = path.with_suffix(".json")
    code = main(["assumptions", str(path), "--jobs", "1", "-q", "--json", str(out), *words])
    document = json.loads(out.read_text("utf-8"))
    validator("assumptions").validate(document)
    (report,) = document["reports"]
    assert code == document["exit_code"] == (0 if report["is_decided"] else 3)
    return report


def of(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in report["properties"] if each["property"] == name)


def test_what_best_effort_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CGR 2011, algorithm 3.1: validity needs links that lose nothing, and the fairness of their
    reception; no_duplication, by the set of what was seen, needs neither."""
    page = tmp_path / "p.html"
    report = asked(tmp_path / "p.bcast", spec(), "--html", str(page))
    validity, once = of(report, "validity"), of(report, "no_duplication")
    shown = {each["settings"]: each for each in validity["needed"] if each["is_shown"]}
    assert {"--set links=fair_loss", "without fairness of receive"} <= shown.keys()
    for each in shown.values():
        assert each["found"] == "violated" and each["trace"]["verdict"] == "violated"
    unneeded = {each["words"] for each in validity["unneeded"]}
    assert "no message arrives twice" in unneeded and "no message is lost" not in unneeded
    assert "no message is lost" in {each["words"] for each in once["unneeded"]}
    assert not any(each["is_shown"] for each in once["needed"])
    assert {each["what"] for each in report["never_asked"]} >= {"other sizes"}
    out = capsys.readouterr().out
    assert "validity needs" in out and max(map(len, out.splitlines())) <= 120
    text = page.read_text("utf-8")
    assert 'id="property-validity"' in text and "needed</a>" in text and "<svg" in text


def test_what_a_violated_property_lacks(tmp_path: Path) -> None:
    """Best-effort broadcast has agreement where nobody crashes, and only there."""
    text = spec("faults crash <= 1", "expect agreement violated").replace("n = 2", "n = 3")
    agreement = of(asked(tmp_path / "p.bcast", text), "agreement")
    assert [each["assumptions"] for each in agreement["needed"]] == [["no process crashes"]]
    assert [each["settings"] for each in agreement["weakest"]] == ["--set crash=none"]


def test_a_red_check_is_refused_with_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(spec("faults crash <= 1", "prove agreement").replace("n = 2", "n = 3"), "utf-8")
    assert main(["assumptions", str(path), "-q"]) == 2
    said = capsys.readouterr()
    assert "E149" in said.err and "VIOLATED" in said.out


def test_axes_are_those_of_the_world() -> None:
    (check,) = load_text(spec("faults crash <= 1  links fifo, fair_loss"), "a.bcast").checks
    world = world_of(check)
    at = {axis.name: axis.levels[axis.at].value for axis in world.axes}
    assert at["crash"] == "1" and at["loss"] == "fair_loss" and at["order"] == "fifo"
    assert world.settings(world.own) == {}
    top = world.settings(world.top)
    assert top["links"] == "lossy+duplicating" and top["byzantine"] == "1"
    names = [axis.name for axis in world.axes]
    weaker = list(world.own)
    weaker[names.index("order")] += 1
    assert world.settings(weaker) == {"links": "fair_loss"}


# ---- what must not go wrong ---------------------------------------------------------------------


def question(path: Path, text: str) -> Question:
    from checker.engines.options import Options
    from checker.proving.dispatch_check import answer_check
    from checker.session.load import load_check, read_spec

    path.write_text(text, "utf-8")
    read, options = read_spec(str(path)), Options(threads=1)
    report = answer_check(read, "c", options)
    return Question(read, "c", load_check(read, "c", {}), options, report)


def searched(of_: Question) -> WeakestWorlds:
    search = Assumptions(of_)
    with Asker(of_.spec, of_.name, 1) as asker:
        search.run(asker)
    return search.report()


def test_each_removal_is_justified_by_its_own_run(tmp_path: Path) -> None:
    """Every world that is claimed was run, and its verdict there is what is claimed: each weakest
    world, each failure, and the worlds one step before a failure."""
    of_ = question(tmp_path / "p.bcast", spec())
    search = Assumptions(of_)
    with Asker(of_.spec, of_.name, 1) as asker:
        search.run(asker)
        for name in ("validity", "no_duplication"):
            found = search.boundary(name)
            assert found.holding and found.complete
            claimed = [*((p, Answer.HOLDS) for p in found.holding), *found.failing.items()]
            for point, answer in claimed:
                fresh = points.run_point(PointTask(1, of_.spec, "c", search.options_at(point)))
                assert fresh.answer(name) is answer, point


def test_a_vacuous_success_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a world makes the property vacuous it is not held there, and shows nothing needed."""
    original = points.run_point

    def vacuous(task: PointTask, listener: Any = None) -> PointOutcome:
        from checker.records import replace

        found = original(task, listener)
        if task.options.settings.get("pause") != "1" or found.report is None:
            return found
        verdicts = tuple(replace(v, word=Word.VACUOUS) for v in found.report.verdicts)
        return replace(found, report=replace(found.report, verdicts=verdicts))

    monkeypatch.setattr("checker.worlds.asking.run_point", vacuous)
    report = searched(question(tmp_path / "p.bcast", spec()))
    for found in report.properties:
        assert all("pause" not in each.settings for each in found.weakest)
        (pause,) = (each for each in found.needed if "pause" in each.axes)
        assert pause.found == "vacuous" and not pause.is_shown
    assert not report.is_decided


@pytest.fixture
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept.use()
    yield
    kept.use(False)


@pytest.mark.usefixtures("keeping")
def test_what_is_kept_is_of_its_own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was run before answers again without a search, and never another world's question."""
    first = searched(question(tmp_path / "p.bcast", spec()))
    shown = {n.settings for p in first.properties for n in p.needed if n.is_shown}
    assert {"--set links=fair_loss", "without fairness of receive"} <= shown
    of_ = question(tmp_path / "p.bcast", spec())
    ran: list[str] = []
    monkeypatch.setattr(
        "checker.proving.dispatch_check.answer_check", lambda *_: ran.append("search") or 1 / 0
    )
    again = searched(of_)
    assert not ran and bare(again) == bare(first)


def bare(report: WeakestWorlds) -> list[object]:
    return [
        (p.property, [n.settings for n in p.needed], p.unneeded, [w.settings for w in p.weakest])
        for p in report.properties
    ]


def test_an_interrupt_leaves_what_is_known(tmp_path: Path) -> None:
    of_ = question(tmp_path / "p.bcast", spec())
    search = Assumptions(of_)

    class Interrupted(Asker):
        def ask(self, wanted: Any) -> Any:
            if self.done >= 3:
                raise KeyboardInterrupt
            return super().ask(wanted)

    with Interrupted(of_.spec, of_.name, 1) as asker, pytest.raises(KeyboardInterrupt):
        search.run(asker)
    report = search.report("interrupted")
    assert report.stopped == "interrupted" and not report.is_decided
    assert all(len(found.weakest) <= report.runs for found in report.properties)
