"""``bivalence mutate --world``: which worse worlds the checks notice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.language.load import load_text
from checker.mutate.world_mutants import worlds_of
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
check c of P { n = 3  WORLD  clients { p1 broadcasts a }  CLAUSE }
"""


def spec(world: str, clause: str = "prove no_duplication") -> str:
    return SPEC.replace("WORLD", world).replace("CLAUSE", clause)


def settings(world: str, clause: str = "prove no_duplication") -> list[dict[str, str]]:
    (check,) = load_text(spec(world, clause), "a.bcast").checks
    return [dict(mutant.settings) for mutant in worlds_of(check)]


def test_each_world_is_one_step_worse() -> None:
    none = settings("")
    assert {"crash": "1"} in none and {"links": "fair_loss"} in none
    assert not any("byzantine" in each or "timing" in each for each in none)
    one = settings("faults crash <= 1  links fifo")
    assert {"crash": "2"} in one and {"recover": "yes"} in one
    assert {"crash": "none", "recover": "no", "byzantine": "1"} in one
    assert {"links": "fifo+fair_loss"} in one and {"links": "perfect"} in one
    assert {"crash": "3"} not in settings("faults crash <= 2")
    assert {"byzantine": "2"} in settings("f = 1  faults byzantine <= f")
    rounds = settings("timing synchronous")
    assert {"timing": "partial"} in rounds and {"timing": "asynchronous"} in rounds
    assert {"timing": "partial"} not in settings("timing partial")
    worst = settings("faults partition, cut, pause  links lossy, duplicating")
    assert worst == [{"crash": "1"}]
    assert settings("", "expect agreement violated") == []
    assert settings("", "expect agreement violated prove no_duplication") != []


def judged(path: Path, *words: str) -> dict[str, Any]:
    out = path.with_suffix(".json")
    assert (
        main(["mutate", str(path), "--world", "--jobs", "1", "-q", "--json", str(out), *words]) == 0
    )
    document = json.loads(out.read_text("utf-8"))
    validator("mutation").validate(document)
    (report,) = document["reports"]
    return report


def test_what_best_effort_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CGR 2011, algorithm 3.1: validity needs links that lose nothing; no_duplication, by the set
    of what was seen, needs nothing of links, and nothing of crashes."""
    path = tmp_path / "p.bcast"
    path.write_text(spec("", "prove validity, no_duplication"), "utf-8")
    report = judged(path)
    fates = {each["what"].partition(" with ")[2]: each for each in report["mutants"]}
    assert fates["`--set links=fair_loss`"]["fate"] == "killed"
    (kill,) = fates["`--set links=fair_loss`"]["kills"]
    assert (kill["check"], kill["property"], kill["verdict"]) == ("c", "validity", "violated")
    assert fates["`--set links=duplicating`"]["fate"] == "survived"
    assert fates["`--set crash=1`"]["fate"] == "survived"
    assert "`--set links=duplicating`" in report["unneeded"] and report["score"] is None
    assert "`--set links=fair_loss`" not in report["unneeded"]
    assert "unneeded" in capsys.readouterr().out
    assert len(judged(path, "--sample", "2")["mutants"]) == 2


def test_a_contradictory_world_is_stillborn(tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(spec("links stubborn", "prove no_duplication"), "utf-8")
    found = {each["what"]: each["fate"] for each in judged(path)["mutants"]}
    assert found["c with `--set links=stubborn+fair_loss`"] == "stillborn"


@pytest.mark.parametrize("words", [("--show", "1"), ("--score-at-least", "50")])
def test_what_is_not_about_worlds(words: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(spec(""), "utf-8")
    assert main(["mutate", str(path), "--world", *words]) == 2
