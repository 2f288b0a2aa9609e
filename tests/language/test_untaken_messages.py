"""A message that is sent and that nobody takes is a warning; one that is taken or counted is
not."""

from __future__ import annotations

import pytest

from checker.language.load import load_text

PLAIN = """
protocol P {{
  message ASK(k: 0..1)
  message ANSWER
  state asked = false
  state got = false
  upon condition not asked {{ asked := true  send ASK(0) to all }}
  upon receive ASK(k) from p {{ send ANSWER to p }}
  {0}
}}
check c of P {{ n = 2 {1} }}
"""
ROLES = """
protocol P {{
  message ASK
  message ANSWER
  role client(1) {{
    state asked = false
    upon condition not asked {{ asked := true  send ASK to {0} }}
    upon receive ANSWER {{ skip }}
  }}
  role server(1) {{ upon receive {1} from p {{ send ANSWER to p }} }}
}}
check c of P {{ }}
"""
LAYERED = """
protocol P implements ReliableBroadcast {{
  uses beb : BestEffortBroadcast
  message DATA(m: Msg)
  message ACK(m: Msg)
  upon request broadcast(m) {{ beb.broadcast(DATA(m)) }}
  upon beb.deliver(p, {0}) {{ {1} }}
}}
check c of P {{ n = 2 clients {{ p1 broadcasts a }} prove validity }}
"""


def warned(text: str) -> list[tuple[str, int]]:
    (check,) = load_text(text, "p.bcast").checks
    assert all(w.severity == "warning" for w in check.warnings)
    return [(w.message, w.span.line if w.span else 0) for w in check.warnings if w.code == "C023"]


@pytest.mark.parametrize(
    ("handler", "clause", "taken"),
    [
        ("", "", False),
        ("upon receive ANSWER { got := true }", "", True),
        ("upon condition #received(ANSWER) > 0 and not got { got := true }", "", True),
        ("", "property few : always forall p in Proc: #p.received(ANSWER) < 3  prove few", True),
        ("property few : always forall p in Proc: #p.received(ANSWER) < 3", "prove few", True),
        ("upon condition #received(ASK(0)) > 0 and not got { got := true }", "", False),
    ],
)
def test_of_processes_without_roles(handler: str, clause: str, taken: bool) -> None:
    found = warned(PLAIN.format(handler, clause))
    assert found == ([] if taken else [("`ANSWER` is sent, but no handler receives it", 8)])


@pytest.mark.parametrize(
    ("to", "message", "wanted"),
    [
        ("all server", "ASK", []),
        ("all", "ASK", []),
        ("all client", "ASK", ["`ASK` is sent, but no handler of `client` receives it"]),
        ("all", "ANSWER", ["`ASK` is sent, but no handler receives it"]),
    ],
)
def test_of_what_goes_to_a_role(to: str, message: str, wanted: list[str]) -> None:
    assert [said for said, _ in warned(ROLES.format(to, message))] == wanted


@pytest.mark.parametrize(
    ("pattern", "body", "wanted"),
    [
        ("DATA(m)", "deliver(p, m)", []),
        ("DATA(m)", "beb.broadcast(ACK(m))  deliver(p, m)", ["ACK"]),
        ("_", "beb.broadcast(ACK(self_made))", []),
        ("ACK(m)", "deliver(p, m)", ["DATA"]),
    ],
)
def test_of_what_a_layer_brings(pattern: str, body: str, wanted: list[str]) -> None:
    body = body.replace("beb.broadcast(ACK(self_made))", "skip")
    found = [said for said, _ in warned(LAYERED.format(pattern, body))]
    assert found == [f"`{name}` is sent, but no handler receives it" for name in wanted]


@pytest.mark.parametrize(
    ("handler", "wanted"),
    [("upon cell.read_return(v) { skip }", []), ("", ["ENTRY"])],
    ids=["read back", "never read"],
)
def test_of_what_a_layer_keeps(handler: str, wanted: list[str]) -> None:
    text = f"""
protocol Writer {{
  uses cell : Register
  message ENTRY
  upon init {{ cell.write(ENTRY) }}
  {handler}
}}
check c of Writer {{ n = 2  given cell as oracle }}
"""
    found = [said for said, _ in warned(text)]
    assert found == [f"`{name}` is sent, but no handler receives it" for name in wanted]
