"""``bivalence simulate``: found, or unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.documents import only_report

EAGER = "specs/broadcast/eager_reliable.bcast::crash_one"
TWIN = "specs/broadcast/eager_reliable_without_relay.bcast::crash_one"
Out = pytest.CaptureFixture[str]


def plain(text: str) -> str:
    """``text`` without line ends."""
    return " ".join(text.split())


def test_nothing_found_is_unknown(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--walks", "20", "--seed", "7", "--only", "agreement"]) == 3
    out = plain(capsys.readouterr().out)
    assert "1 unknown: no violation found in 20 walks" in out
    assert "20 walks of up to 200 steps, seed 7" in out
    assert "which says nothing about other runs" in out
    assert "a walk that can continue violates nothing" in out
    assert "HOLDS" not in out
    assert "Coverage: 4 of 4 handlers" in out


def test_a_violation_is_shown_and_written(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    arguments = ["simulate", EAGER, "--seed", "3", "--trace-out", str(file), "--only"]
    assert main([*arguments, "uniform_agreement"]) == 0, "it is expected"
    out = capsys.readouterr().out
    assert "uniform_agreement: VIOLATED" in out
    assert "the same seed finds it again" in out
    assert "What matters" in out
    assert json.loads(file.read_text())["verdict"] == "violated"
    assert main(["replay", str(file)]) == 1


def test_what_is_found_is_not_expected(capsys: Out, tmp_path: Path) -> None:
    text = Path(TWIN.partition("::")[0]).read_text(encoding="utf-8")
    file = tmp_path / "twin.bcast"
    text = text.replace('import "', f'import "{Path(TWIN).parent.absolute()}/')
    file.write_text(text.replace("expect agreement violated", "prove agreement", 1))
    assert "prove agreement" in file.read_text()
    assert main(["simulate", f"{file}::crash_one", "--seed", "1", "--no-explain"]) == 1
    out = capsys.readouterr().out
    assert "agreement: VIOLATED" in out
    assert "What matters" not in out


def test_the_report_is_a_document(capsys: Out) -> None:
    words = ["simulate", EAGER, "--seed", "3", "--walks", "30", "--json", "-"]
    assert main([*words, "--only", "validity"]) == 3
    document = only_report(capsys.readouterr().out)
    walks = document["walks"]
    assert (walks["seed"], walks["walks"], walks["most"]) == (3, 30, 200)
    assert {entry["action"] for entry in walks["taken"]} >= {"receive", "crash"}
    assert sum(entry["times"] for entry in walks["taken"]) == walks["steps"]
    assert document["exhaustive"] is False
    assert document["verdicts"][0]["verdict"] == "unknown"


def test_engines_walk_the_same_ways(capsys: Out) -> None:
    words = ["simulate", EAGER, "--seed", "3", "--walks", "30", "--json", "-", "--engine"]
    told = []
    for engine in ("native", "reference"):
        main([*words, engine, "--only", "validity"])
        told.append(only_report(capsys.readouterr().out)["walks"])
    assert told[0] == told[1]


def test_a_seed_is_drawn_and_told(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--runs", "1", "--steps", "2", "--only", "agreement"]) == 3
    assert ", seed " in capsys.readouterr().out


def test_no_trace_where_nothing_is_found(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    arguments = ["--runs", "2", "--only", "agreement", "--trace-out", str(file), "-q"]
    assert main(["simulate", EAGER, *arguments]) == 3
    assert "no trace was written" in capsys.readouterr().err
    assert not file.exists()


def test_a_property_that_is_not_asked(capsys: Out) -> None:
    assert main(["simulate", EAGER, "--only", "peace"]) == 2
    assert "E045" in capsys.readouterr().err


def test_ends_are_not_counted_where_only_safety_is_looked_at(capsys: Out) -> None:
    arguments = ["simulate", EAGER, "--runs", "5", "--seed", "7", "--only"]
    assert main([*arguments, "no_duplication"]) == 3
    assert "might have stayed" not in capsys.readouterr().out
    assert main([*arguments, "validity"]) == 3
    assert "might have stayed" in capsys.readouterr().out


SCENARIO = """of {spec}
scenario dies {{
  p1 broadcasts a
  p1 receives COPY(DATA(p1, a)) from p1
}}
"""


def test_walks_begin_behind_a_scenario(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "dies.scenario"
    file.write_text(SCENARIO.format(spec=Path(EAGER).absolute()))
    words = ["simulate", EAGER, "--seed", "3", "--only", "uniform_agreement", "--no-explain"]
    assert main([*words, "--after", str(file)]) == 0
    assert "after dies" in plain(capsys.readouterr().out)
    assert main([*words, "--after", "nothing"]) == 2
    assert "has no scenario nothing" in capsys.readouterr().err


def test_a_scenario_that_is_not_possible(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "dies.scenario"
    text = SCENARIO.format(spec=Path(EAGER).absolute()).replace("broadcasts a", "broadcasts z")
    file.write_text(text)
    assert main(["simulate", EAGER, "--after", str(file)]) == 2
    said = capsys.readouterr().err
    assert "E048" in said
    assert "dies.scenario:3" in said


@pytest.mark.parametrize(
    "words",
    [["--engine", "reference", "--master", "local[1]"], ["--conf", "spark.a=b"]],
)
def test_options_that_contradict_one_another(words: list[str], capsys: Out) -> None:
    assert main(["simulate", EAGER, *words]) == 2
    assert "--master" in capsys.readouterr().err


def test_a_walk_for_which_there_is_no_memory(capsys: Out) -> None:
    words = ["--steps", "1000000", "--memory", "1M", "--engine", "native"]
    assert main(["simulate", EAGER, *words]) == 2
    said = capsys.readouterr().err
    assert "E007" in said and "1,000,000 steps takes" in said


def test_a_search_that_ends_at_a_limit_names_it(capsys: Out) -> None:
    assert main(["check", EAGER, "--only", "no_creation", "--max-states", "5", "-q"]) == 3
    out = plain(capsys.readouterr().out)
    assert f"`bivalence simulate {EAGER}` explores deeper, without a guarantee" in out


@pytest.mark.parametrize("command", ["check", "simulate"])
def test_a_trace_of_one_property_alone_is_replayed(
    command: str, capsys: Out, tmp_path: Path
) -> None:
    """The system has only the histories that this property reads."""
    file = tmp_path / "trace.json"
    words = [command, EAGER, "--only", "uniform_agreement", "--trace-out", str(file), "-q"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["replay", str(file)]) == 1
    assert "uniform_agreement" in capsys.readouterr().out


def test_what_the_scenario_violates_is_found_at_once(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "counts.bcast"
    file.write_text(
        """
protocol Counts {
  state x : 0..5 = 0
  upon condition x < 5 as counts { x += 1 }
  property small : always forall p in Proc: p.x != 1
}
check one of Counts {
  n = 1
  prove small
  scenario twice {
    p1: counts
    p1: counts
  }
}
"""
    )
    assert main(["simulate", str(file), "--after", "twice", "--no-explain"]) == 1
    out = plain(capsys.readouterr().out)
    assert "small: VIOLATED" in out
    assert "no violation" not in out
    assert "0 walks" in out


def test_no_property_is_asked(capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "counts.bcast"
    file.write_text(
        "protocol Counts {\n  state x : 0..5 = 0\n  upon condition x < 5 { x += 1 }\n}\n"
        "check one of Counts { n = 1 }\n"
    )
    assert main(["simulate", str(file), "--walks", "7"]) == 3
    assert "no property was checked; no error in 7 walks" in plain(capsys.readouterr().out)
