"""Counterfactuals of messages against their definition: a handler that drops the message."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from checker.explain.counterfactual_queries import ExplainingBudget, Inquiry, Reply
from checker.explain.counterfactuals import counterfactuals_of
from checker.instantiate.assemble import instantiate
from checker.instantiate.faults import budgeted
from checker.instantiate.faults.fault_marks import Fault, faults_of
from checker.properties.formula import ask
from checker.results.trace import Counterfactual
from checker.results.verdict import Word
from checker.session.pipeline import Options, load_check, run_check
from checker.session.trace_header import settings_of
from tests.explain.random_protocols import Drawn, draw
from tests.explain.violations import Violation, violation

WHAT = re.compile(r"(M\d) from (p\d) to (p\d)")


def _messages(drawn: Drawn, file: Path) -> tuple[Violation, list[Counterfactual]]:
    """The shortest violation, and the counterfactuals of its messages."""
    found = violation(file, "c", "q")
    asked = counterfactuals_of(found.system, found.prop, found.run, ExplainingBudget(60))
    return found, [one for one in asked if one.kind == "message"]


def _faults(found: Violation) -> Counter[Fault]:
    events = [moment.events for moment in found.run.moments]
    if found.run.closing is not None:
        events.append(found.run.closing.events)
    return Counter(fault for faults in faults_of(found.system, events) for fault in faults)


def _with_the_same_faults(file: Path, found: Violation) -> Reply:
    """Whether what stands in ``file`` is violated, with no faults but those of ``found``."""
    _, grown = settings_of(found.trace.header)
    loaded = load_check(str(file), "c", {})
    system = instantiate(loaded, {}, ask, capacities=grown).system
    faults = _faults(found)
    budgets = [budgeted.no_other_fault(system, tuple(faults), "others")]
    limits = {"others": 0}
    for number, (fault, most) in enumerate(faults.items()):
        budgets.append(budgeted.one_fault(system, fault, most, str(number)))
        limits[str(number)] = most
    (prop,) = system.properties
    return Inquiry.about(system, prop, tuple(budgets), ExplainingBudget(60)).ask(limits)


@pytest.mark.slow
def test_by_the_book(tmp_path: Path) -> None:
    file, other = tmp_path / "with.bcast", tmp_path / "without.bcast"
    outcomes: Counter[str] = Counter()
    for seed in range(60):
        drawn = draw(seed)
        drawn.write(file)
        (verdict,) = run_check(str(file), "c", Options(reduce="none")).verdicts
        if verdict.word is not Word.VIOLATED:
            continue
        found, messages = _messages(drawn, file)
        if found.run.closing is not None and _faults(found):
            continue  # how often is left to other tests
        for one in messages:
            match = WHAT.fullmatch(one.what)
            assert match is not None
            drawn.write(other, (match[1], match[2], match[3]))
            reply = _with_the_same_faults(other, found)
            if not reply.settled:
                continue  # a capacity is too small for it
            expected = {"violated", "unknown"} if reply.path is not None else {"holds"}
            assert one.outcome in expected, (seed, drawn.parts, one)
            outcomes[one.outcome] += 1
    assert min(outcomes[o] for o in ("holds", "violated", "unknown")) > 3


SEQUENCER = """protocol Sequencer(sequencer: Proc) implements TotalOrderBroadcast {
  message PUT(m: Msg)
  message ORDERED(number: Nat, origin: Proc, m: Msg)
  state numbered : Nat = 0
  state next : Nat = 1
  state waiting : set<(Nat, Proc, Msg)> = {}
  upon request broadcast(m) { send PUT(m) to sequencer }
  upon receive PUT(m) from p at sequencer {
    numbered += 1
    send ORDERED(numbered, p, m) to all
  }
  upon receive ORDERED(number, s, m) {
    waiting += (number, s, m)
    while some (i, t, k) in waiting when i == next {
      waiting -= (i, t, k)
      next += 1
      deliver(t, k)
    }
  }
}
check c of Sequencer {
  n = 3
  links fair_loss
  clients { p2 broadcasts a  p3 broadcasts b }
  prove validity
}
"""


def test_only_the_loss_is_essential(tmp_path: Path) -> None:
    file = tmp_path / "sequencer.bcast"
    file.write_text(SEQUENCER)
    (verdict,) = run_check(str(file), "c", Options(explain=60)).verdicts
    assert verdict.trace is not None and verdict.trace.explanation is not None
    explained = verdict.trace.explanation
    assert {one.kind for one in explained.ablations if one.outcome == "holds"} == {"fault"}
    assert {one.kind for one in explained.ablations} == {"fault", "message"}
