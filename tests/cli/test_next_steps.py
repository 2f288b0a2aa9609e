"""What a report says of an unknown verdict: the option, the bound or the command that helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.records import replace
from checker.results.answer import INTERRUPTED, Limits
from checker.session.next_steps import with_next_steps
from checker.session.pipeline import Options, run_check

GROWS = """
protocol Counter {
  state seen : Nat = 0
  upon condition true { seen += 1 }
  property small : always forall p in Proc: p.seen >= 0
}
check grows of Counter { n = 2  prove small }
"""
BOTH = """
protocol Talk {
  message PING(k: 0..9)
  state seen : 0..9 = 0
  upon init { send PING(1) to all }
  upon receive PING(k) from p { seen := k  if k < 9 { send PING(k + 1) to p } }
  property small : always forall p in Proc: p.seen < 10
  property live : eventually forall p in Proc: p.seen > 5
}
check both of Talk { n = 3  prove small, live }
"""
PAXOS = "consensus/paxos::anything_goes"
RING = "chance/herman_ring::nine"
EAGER = "broadcast/eager_reliable::crash_one"


def steps_of(tmp_path: Path, *words: str) -> list[str]:
    """Runs a command whose only report leaves something unknown; returns its next steps."""
    out = tmp_path / "report.json"
    assert main([*words, "--json", str(out), "-q"]) == 3
    (report,) = json.loads(out.read_text())["reports"]
    verdicts = report.get("verdicts", [report])  # that of a log is one
    assert any(verdict["verdict"] == "unknown" for verdict in verdicts)
    return [*report.get("smaller", []), *report["next_steps"]]


@pytest.mark.every
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("check", PAXOS, "--max-states", "500"), "`--max-states "),
        (("check", PAXOS, "--max-depth", "4"), "without `--max-depth`"),
        (("check", PAXOS, "--timeout", "0.001"), "`--timeout "),
        (("check", PAXOS, "--max-states", "500", "--reduce", "none"), "`--reduce auto`"),
        (("check", RING, "--max-states", "50"), "`--max-states 200`"),
        (("check", RING, "--timeout", "0.001"), "`--timeout "),
        (("prove", EAGER, "--budget", "0.001"), "`bivalence check "),
        (("simulate", EAGER, "--walks", "1"), "`bivalence check "),
    ],
)
def test_an_unknown_verdict_comes_with_a_next_step(
    words: tuple[str, ...], wanted: str, tmp_path: Path
) -> None:
    assert any(wanted in said for said in steps_of(tmp_path, *words))


def test_a_budget_that_the_forecast_names_suffices(tmp_path: Path) -> None:
    said = steps_of(tmp_path, "check", PAXOS, "--max-states", "500")
    (states,) = [int(each.split("`")[1].split()[1]) for each in said if "--max-states" in each]
    assert main(["check", PAXOS, "--max-states", str(states), "-q"]) == 0


def test_what_grows_without_bound_gets_a_bound_and_no_larger_budget(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(GROWS)
    said = steps_of(tmp_path, "check", str(path), "--timeout", "60", "--memory", "2G")
    assert said[0] == "`bound p.seen <= k` limits `seen`"
    assert not any("--timeout" in each or "--memory" in each for each in said)


def test_a_reduction_that_liveness_forbids_is_admitted_for_safety_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(BOTH)
    limit = ("--max-states", "200")
    said = steps_of(tmp_path, "check", str(path), *limit)
    (only,) = [each for each in said if "--only" in each]
    assert only.startswith("`--only small` asks safety alone")
    assert "dominance" in only
    again = steps_of(tmp_path, "check", str(path), "--only", "small", "--max-states", "5")
    assert not any("--only" in each for each in again)


def test_a_question_about_chance_is_never_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A check that has one, and that time ended at once, checks something."""
    assert main(["check", RING, "--timeout", "0.001"]) == 3
    said = capsys.readouterr().out
    assert "no property was checked" not in said
    assert "explores deeper" not in said, "walks compute no probability"


@pytest.mark.parametrize("checkpoint", [None, "somewhere"])
def test_an_interrupted_run_is_kept_only_once(checkpoint: str | None) -> None:
    """With a checkpoint it is kept already; and what a user stops needs no more memory."""
    limits = Limits(memory=1 << 40, max_states=50)
    options = Options(checkpoint=checkpoint, limits=limits)
    path = "specs/consensus/paxos.bcast"
    report = replace(run_check(path, "anything_goes", Options(limits=limits)), next_steps=())
    steps = with_next_steps(replace(report, stopped=INTERRUPTED), options).next_steps
    assert any("`--checkpoint DIR`" in step for step in steps) is (checkpoint is None)
    assert not any("--memory" in step for step in steps)


def test_one_cause_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", PAXOS, "--max-states", "500"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("no violation up to depth") == 1
    assert "consensus_integrity UNKNOWN holds as consensus_validity" in said
    assert said.count("holds, but found unknown") == 1
    assert "reduced" not in said, "nobody can act on it"


def test_a_log_that_a_budget_leaves_open(tmp_path: Path) -> None:
    log = tmp_path / "p1"
    rows = ({"kind": "request", "name": "broadcast", "arguments": ["a"]}, {"kind": "end"})
    lines = [{"process": "p1", "pos": n, **row} for n, row in enumerate(rows, 1)]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = steps_of(tmp_path, "conform", EAGER, str(log), "--max-states", "1")
    assert ended[0] == "`--max-states 4`"
    assert ended[1].startswith("logging ") and "receive" in ended[1]
    assert "`--windows`" in ended[2]
    scored = steps_of(tmp_path, "conform", EAGER, str(log), "--max-states", "1", "--windows")
    assert scored and not any("--windows" in step for step in scored)


def test_a_cell_of_a_sweep_that_is_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sweep.json"
    words = ["sweep", EAGER, "--grid", "n=3,crash=0..1", "--max-states", "10"]
    assert main([*words, "--json", str(out)]) == 3
    decided, cut = json.loads(out.read_text())["cells"]
    assert decided["next_steps"] is None
    steps = cut["next_steps"].split("; ")
    assert "`--max-states 40`" in steps
    assert steps[-1].endswith("::crash_one --set n=3 --set crash=1` runs this cell alone")
    assert "next     `--max-states 40`" in capsys.readouterr().out
