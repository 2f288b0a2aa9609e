"""What is said where somebody writes as elsewhere: one diagnostic, with what to write here."""

from __future__ import annotations

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load_text

SPEC = """
protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  state count = 0
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when m not in seen { seen += m  deliver(p, m) }
  property counted : eventually forall p in Proc: p.count > 0
}
check c of P { n = 3  clients { p1 broadcasts a }  prove agreement }
"""


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        ("from p when m", "from p if m", "a guard is written `when e`"),
        ("seen += m", "count++", "write `count += 1`"),
        ("seen += m", "seen.add(m)", "`seen` is a state variable: members are added by `seen +="),
        ("seen += m", "DATA(m) to all", "a message is sent by `send M(x) to all`"),
        ("n = 3  clients", "n = 3, clients", "the parts of a check need no commas"),
        ("prove agreement", "check agreement", "properties follow `prove`: `prove agreement`"),
        ("forall p in Proc: p", "all p: p", "write `forall p in Proc: …`"),
        ("request broadcast(m)", "request broadcast(m: Msg)", "write names without types"),
    ],
)
def test_a_habit_of_other_languages(right: str, wrong: str, hint: str) -> None:
    assert load_text(SPEC, "p.bcast").checks
    assert right in SPEC
    with pytest.raises(SpecError) as caught:
        load_text(SPEC.replace(right, wrong, 1), "p.bcast")
    first = caught.value.diagnostics[0]
    assert hint in first.hint
    assert "_" not in first.expected
    assert len(caught.value.diagnostics) == 1
