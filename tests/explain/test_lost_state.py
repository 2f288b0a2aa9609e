"""What a crash takes is told: the volatile state of the process, and its messages in transit."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from checker.formats.json_format import trace_from_text, trace_to_text
from checker.model.fault_actions import fault_kind
from checker.model.ir import ActionKind
from checker.render.diagram.mermaid import mermaid_of
from checker.render.diagram.svg import svg_of_trace
from checker.render.terminal.text import trace_view
from checker.results.events import Forgotten, Lost, Recovered
from checker.results.trace import Trace
from checker.session.pipeline import Options, open_check, run_check

FORGETS = """
protocol Forgets {
  stable state log : 0..2 = 0
  state seen : set<1..1> = {}
  state mark : 3..9 = 5
  state rest : 1..2 = 2
  upon condition 1 not in seen and log < 2 as applies {
    seen += 1
    mark := 7
    log += 1
  }
  upon recover { UPON }
  property once : always forall p in Proc: p.log < 2
  property true_of_seen : always forall p in Proc: SEEN
}
check main of Forgets {
  n = 1
  faults crash <= 1, recover
  allow unused
  prove true_of_seen
  expect once violated
}
"""

SENDS = """
protocol Sends {
  message M
  role sender(1) {
    stable state sent = false
    upon condition not sent as sends { sent := true  send M to receiver }
  }
  role receiver(1) {
    stable state got = false
    upon receive M { got := true }
  }
  property reached :
    forall s in sender, r in receiver: correct(s) and correct(r) and s.sent ~> r.got
}
check main of Sends {
  links LINKS
  faults crash <= 1 of WHO, recover
  expect reached violated
}
"""


def violated(
    folder: Path, text: str, name: str, seconds: float = 0, *, fine: bool = False
) -> Trace:
    path = folder / "p.bcast"
    path.write_text(text)
    report = run_check(str(path), "main", Options(explain=seconds, fine_steps=fine))
    (trace,) = (v.trace for v in report.verdicts if v.property == name)
    assert trace is not None
    return trace


def shown(trace: Trace, *, steps: bool = False) -> str:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(trace_view(trace, steps))
    return console.export_text()


def recovery(trace: Trace) -> Recovered:
    (found,) = (e for s in trace.steps for e in s.events if isinstance(e, Recovered))
    return found


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("seen", ["true", "#p.seen < 2"])
def test_what_is_lost_is_told(seen: str, fine: bool, tmp_path: Path) -> None:
    """Also what the handler assigned in which the process crashed, and what a property reads."""
    text = FORGETS.replace("SEEN", seen).replace("UPON", "")
    trace = violated(tmp_path, text, "once", fine=fine)
    lost = {each.variable: (each.had, each.has) for each in recovery(trace).lost}
    assert lost == {"seen": ("{1}", "{}"), "mark": ("7", "5")}
    said = shown(trace, steps=True)
    assert said.count("seen: {1} -> {}") == said.count("mark: 7 -> 5") == 1
    assert said.count("│ seen = {}") <= said.count("seen = {}") == 1
    assert "p1 comes back up, and has lost seen = {1} and mark = 7" in said
    assert "rest" not in said and "mark: 3 -> 5" not in said
    assert "comes back up, seen = #123;#125;, mark = 5" in mermaid_of(trace)
    picture = svg_of_trace(trace)
    assert ">seen = {}<" in picture and ">mark = 5<" in picture
    assert trace_from_text(trace_to_text(trace)) == trace


def test_the_sentence_names_what_is_lost(tmp_path: Path) -> None:
    text = FORGETS.replace("SEEN", "true").replace("UPON", "")
    trace = violated(tmp_path, text, "once", 30)
    assert trace.explanation is not None
    said = " ".join(trace.explanation.sentences)
    assert "came back later without seen = {1} and mark = 7." in said


def test_what_is_read_back_is_not_lost(tmp_path: Path) -> None:
    text = FORGETS.replace("SEEN", "true").replace("UPON", "mark := 7")
    lost = recovery(violated(tmp_path, text, "once")).lost
    assert lost == (Forgotten("seen", "{1}", "{}"),)


def test_a_message_lost_with_its_sender_is_no_fault_of_the_network(tmp_path: Path) -> None:
    text = SENDS.replace("LINKS", "perfect").replace("WHO", "sender")
    trace = violated(tmp_path, text, "reached", 30)
    (lost,) = (e for s in trace.steps for e in s.events if isinstance(e, Lost))
    assert lost.down == lost.process
    assert trace.explanation is not None and trace.explanation.after is not None
    assert trace.explanation.after.faults == 1
    said = shown(trace)
    assert "was in transit when" in said and "and is lost with it" in said
    assert "network lost" not in said and "loss of" not in said
    assert "What each process" not in said  # no process can indicate anything
    assert "s1 and r1 are up from some time on" in said and "are correct" not in said


def test_a_message_lost_with_its_receiver_is_no_fault_of_the_network(tmp_path: Path) -> None:
    text = SENDS.replace("LINKS", "perfect").replace("WHO", "receiver")
    text = text.replace("recover\n", "recover\n  crash points between_handlers\n")
    trace = violated(tmp_path, text, "reached", 30)
    (lost,) = (e for s in trace.steps for e in s.events if isinstance(e, Lost))
    assert lost.down == lost.receiver
    assert f"is lost while {lost.receiver} is down" in shown(trace)


@pytest.mark.parametrize(("links", "losses"), [("perfect", 0), ("fair_loss", 1)])
def test_walks_count_what_links_lose(links: str, losses: int, tmp_path: Path) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(SENDS.replace("LINKS", links).replace("WHO", "sender"))
    system = open_check(str(path), "main", Options()).system
    kinds = [fault_kind(action) for action in system.actions]
    assert kinds.count("lose") == losses
    assert any(action.kind is ActionKind.LOSE for action in system.actions)


def test_a_message_that_the_link_loses_is_a_fault(tmp_path: Path) -> None:
    text = SENDS.replace("LINKS", "fair_loss").replace("WHO", "sender")
    text = text.replace("faults crash <= 1 of sender, recover", "")
    trace = violated(tmp_path, text, "reached", 30)
    assert trace.explanation is not None and trace.explanation.after is not None
    assert trace.explanation.after.faults == 1
    assert "The network lost M from" in shown(trace)
