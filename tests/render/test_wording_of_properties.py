"""A picture says what has happened, whatever the English text of the property is."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.render.diagram.picture import picture_of
from checker.results.causality import CopyOutcome, causality
from checker.results.trace import Lack, Trace
from checker.session.pipeline import Options, run_check

SELFISH = """
protocol Selfish(silent: Proc) implements Consensus {
  upon request propose(v) when self != silent { decide(v) }
  upon request propose(v) when self == silent { skip }
}
check c of Selfish {
  silent = p3
  n = 3
  clients { p1 proposes 0  p2 proposes 1  p3 proposes 0 }
  prove termination
}
"""

RELAY = """
interface Told {
  request broadcast(m: Msg)
  indication deliver(p: Proc, m: Msg)
  property everybody "TEXT" :
    forall p, q, s in Proc, m in Msg:
      correct(p) and correct(q) and (s, m) in delivered(p) ~> (s, m) in delivered(q)
}
protocol Plain implements Told {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  upon request broadcast(m) { beb.broadcast(DATA(self, m)) }
  upon beb.deliver(p, DATA(s, m)) { deliver(s, m) }
}
check c of Plain { n = 3  faults crash <= 1  clients { p1 broadcasts a }  prove everybody }
"""

DEAF = """
interface Own {
  request broadcast(m: Msg)
  indication deliver(p: Proc, m: Msg)
  property own "TEXT" :
    forall p in Proc, m in Msg: correct(p) and m in broadcast(p) ~> (p, m) in delivered(p)
}
protocol Deaf implements Own {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  state done = false
  upon request broadcast(m) { beb.broadcast(DATA(self, m)) }
  upon beb.deliver(p, DATA(s, m)) when not done and s != self { done := true  deliver(s, m) }
}
check c of Deaf { n = 3  clients { p1 broadcasts a  p2 broadcasts b }  prove own }
"""

TRUSTING = """
protocol Trusting implements ReliableBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
  property honest :
    always forall p in Proc, (s, m) in delivered(p): correct(p) and correct(s) => m in broadcast(s)
}
check c of Trusting { n = 3  faults byzantine <= 1  clients { p1 broadcasts a }  prove honest }
"""

LEADING = """
protocol Leading {
  state phase : enum { follower, leader } = follower
  state term : 0..1 = 0
  define leads(p: Proc): bool = p.phase == leader
  upon condition phase == follower { phase := leader  term := 1 }
  property one "The term of a leader says nothing." :
    always forall p, q in Proc: leads(p) and leads(q) => p == q
}
check c of Leading { n = 2  prove one }
"""

LAZY = """
protocol Lazy {
  state ready = false
  upon condition ready { ready := false  perform 1 }
  property arrives : forall p in Proc, k in (1..1): correct(p) ~> k in performed
}
check c of Lazy { n = 1  prove arrives }
"""


def violated(folder: Path, spec: str) -> Trace:
    path = folder / "spec.bcast"
    path.write_text(spec)
    (trace,) = (v.trace for v in run_check(str(path), "c", Options(explain=0.0)).verdicts)
    assert trace is not None
    return trace


def ends(trace: Trace) -> list[tuple[str, str]]:
    """The processes at the ends of whose lanes something is said to be missing, with what."""
    return [(each.lane, each.text) for each in picture_of(trace, "steps").violations]


def test_who_has_decided_lacks_nothing(tmp_path: Path) -> None:
    trace = violated(tmp_path, SELFISH)
    assert {lane for lane, _ in ends(trace)} == {"p3"}
    assert trace.lacking == (Lack("p3", "decide"),)


def test_each_process_lacks_what_it_broadcast_itself(tmp_path: Path) -> None:
    trace = violated(tmp_path, DEAF)
    assert {(lack.process, lack.indication) for lack in trace.lacking} == {
        ("p1", "deliver(p1, a)"),
        ("p2", "deliver(p2, b)"),
    }


def test_a_safety_property_demands_nothing(tmp_path: Path) -> None:
    assert violated(tmp_path, TRUSTING).lacking == ()


def test_state_is_that_which_the_formula_reads(tmp_path: Path) -> None:
    """It reads ``phase`` through a definition; ``term`` is only a word of its text."""
    trace = violated(tmp_path, LEADING)
    assert trace.reads == ("phase",)


def test_an_act_that_never_happens_is_of_no_process(tmp_path: Path) -> None:
    trace = violated(tmp_path, LAZY)
    assert trace.lacking == (Lack("", "performed", "1"),)
    assert ends(trace) == [("p1", "act 1 is never performed")]


TWO_TEXTS = {
    "each and every": (
        RELAY,
        "If a correct process delivers a message, every correct process does.",
        "If a correct process delivers a message, each correct node does.",
    ),
    "both": (
        DEAF,
        "Who broadcasts a message delivers it: both happen.",
        "Who broadcasts a message delivers it.",
    ),
}


@pytest.mark.parametrize("name", TWO_TEXTS)
def test_the_text_of_a_property_changes_nothing(tmp_path: Path, name: str) -> None:
    spec, one, other = TWO_TEXTS[name]
    first, second = (violated(tmp_path, spec.replace("TEXT", text)) for text in (one, other))
    assert first.steps == second.steps
    assert ends(first) == ends(second)


def test_who_forges_in_whose_name_is_data(tmp_path: Path) -> None:
    trace = violated(tmp_path, TRUSTING)
    claimed = [a.claimed for a in causality(trace).arrows if a.how is CopyOutcome.FORGED]
    assert claimed == ["p2"]
