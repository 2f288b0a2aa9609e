"""Requests that are chosen when a run starts: the union of those that are written out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.properties.formula import ask
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from checker.words.events import sentence

AGREE = """
interface Agree {
  request propose(v: 0..2)
  request exchange(v: 0..2, w: 0..2)
  request ask()
  indication decide(v: 0..2)
  property validity "Only what was proposed is decided." :
    always forall p in Proc, v in 0..2:
      v in decided(p) => exists q in Proc, w in 0..2: v in proposed(q) or (v, w) in exchanged(q)
  property agreement "No two decide differently." :
    always forall p, q in Proc, v, w in 0..2: v in decided(p) and w in decided(q) => v == w
  property comes "Who proposes decides." :
    forall p in Proc, v in 0..2:
      correct(p) and v in proposed(p) ~> exists w in 0..2: w in decided(p)
  property alike "All propose the same." :
    always forall p, q in Proc, v, w in 0..2: v in proposed(p) and w in proposed(q) => v == w
}
protocol First implements Agree {
  message V(v: 0..2)
  state done = false
  upon request propose(v) { send V(v) to all }
  upon request exchange(v, w) { send V(v) to all }
  upon request ask() { skip }
  upon receive V(v) when not done { done := true  decide(v) }
}
check c of First {
  n = 2
  FAULTS
  clients { CLIENTS }
  prove validity, agreement, comes, alike
  allow unused
  MORE
}
"""
NAMES = ("validity", "agreement", "comes", "alike")


def report(
    folder: Path, clients: str, faults: str = "", more: str = "", **options: object
) -> Report:
    path = folder / "agree.bcast"
    text = AGREE.replace("CLIENTS", clients).replace("FAULTS", faults).replace("MORE", more)
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), "c", Options(**options))  # type: ignore[arg-type]


def words(found: Report) -> tuple[Word, ...]:
    return tuple(verdict.word for verdict in found.verdicts)


CHOICES = [
    ("each proposes any of {0, 1}", "p1 proposes {} p2 proposes {}", [(0, 1), (0, 1)]),
    ("p1 proposes any of 0..2", "p1 proposes {}", [(0, 1, 2)]),
    (
        "p1 proposes any of {1, 2}, any of {0, 1}  p2 proposes 1",
        "p1 proposes {}, {}  p2 proposes 1",
        [(1, 2), (0, 1)],
    ),
    (
        "all proposes any of {x + 1 for x in 0..1}  p1 exchanges (0, 1)",
        "p1 proposes {}, {}  p1 exchanges (0, 1)",
        [],
    ),
    (
        "p1 exchanges any of {(0, 1), (2, 1)}  p1 proposes any of {2}",
        "p1 exchanges {}  p1 proposes 2",
        [((0, 1), (2, 1))],
    ),
]


@pytest.mark.parametrize("faults", ["", "faults crash <= 1", "faults crash <= 1, recover"])
@pytest.mark.parametrize(("chosen", "written", "values"), [c for c in CHOICES if c[2]])
def test_it_is_the_union_of_what_is_written_out(
    chosen: str, written: str, values: list[tuple[object, ...]], faults: str, tmp_path: Path
) -> None:
    """The states are those of all, since each knows what was chosen; and so are violations."""
    one = report(tmp_path, chosen, faults, engine="native", reduce="none", threads=1)
    parts = [
        report(tmp_path, written.format(*each), faults, engine="native", reduce="none", threads=1)
        for each in product(*values)
    ]
    assert one.distinct_states == sum(part.distinct_states for part in parts)
    assert one.transitions == sum(part.transitions for part in parts)
    assert one.depth == max(part.depth for part in parts)
    for position, name in enumerate(NAMES):
        violated = any(words(part)[position] is Word.VIOLATED for part in parts)
        assert (words(one)[position] is Word.VIOLATED) == violated, name


@pytest.mark.parametrize(("chosen", "_", "__"), CHOICES)
def test_the_engines_agree(chosen: str, _: str, __: object, tmp_path: Path) -> None:
    plain = report(tmp_path, chosen, engine="reference")
    for options in ({"reduce": "none"}, {"audit": True}, {"fine_steps": True}):
        found = report(tmp_path, chosen, engine="native", threads=1, **options)
        assert words(found) == words(plain)
    found = report(tmp_path, chosen, engine="native", reduce="none", threads=1)
    assert found.distinct_states == plain.distinct_states


def test_who_chooses_from_the_same_is_interchangeable(tmp_path: Path) -> None:
    same = report(tmp_path, "each proposes any of {0, 1}", engine="native", audit=True)
    other = report(tmp_path, "p1 proposes any of {0, 1} p2 proposes any of {0, 2}", audit=True)
    assert "symmetry" in same.reduced.used and "symmetry" not in other.reduced.used
    assert same.audit is not None and same.audit.complete


def test_a_trace_begins_with_what_was_chosen(tmp_path: Path) -> None:
    found = report(tmp_path, "each proposes any of {0, 1}", engine="reference")
    trace = found.verdicts[1].trace
    assert trace is not None
    said = [sentence(event) for event in trace.steps[0].events]
    assert said == ["p1 starts with input = 0", "p2 starts with input = 1"]


SCENARIO = """
  scenario different {
    the run starts with input = {p1: 0, p2: 1}
    p1 proposes 0
    p2 proposes 1
    then alike violated
  }
"""


def test_a_scenario_says_what_was_chosen(tmp_path: Path) -> None:
    (scenario,) = report(tmp_path, "each proposes any of {0, 1}", more=SCENARIO).scenarios
    assert scenario.met, scenario.reason
    wrong = SCENARIO.replace("p1 proposes 0", "p1 proposes 1")
    (scenario,) = report(tmp_path, "each proposes any of {0, 1}", more=wrong).scenarios
    assert not scenario.met


def refused(clients: str) -> list[str]:
    text = AGREE.replace("CLIENTS", clients).replace("FAULTS", "").replace("MORE", "")

    def made() -> None:
        (check,) = load_text(text, "agree.bcast").checks
        instantiate(check, {}, ask)

    with pytest.raises(SpecError) as raised:
        made()
    return [f"{d.code} {d.message}" for d in raised.value.diagnostics]


def test_what_can_not_be_chosen_from() -> None:
    assert refused("p1 asks any of {0}") == ["N006 `ask` takes 0 arguments"]
    assert refused("p1 asks any of 0..1")[0].startswith("C033")
    assert refused("p1 proposes any of {x for x in 0..2 when x > 2}") == ["C204 this set is empty"]
    assert refused("p1 proposes any of 1..3") == ["C204 3 is outside 0..2"]
    assert refused("p1 proposes any of {0, 5}") == ["C204 5 is outside 0..2"]
    assert refused("p1 proposes any of {true}")[0].startswith("N003")
