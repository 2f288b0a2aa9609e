"""Checks: settings, faults, links, clients, properties, expectations."""

from __future__ import annotations

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.language.link_kinds import PERFECT
from checker.language.load import load_text
from checker.language.syntax import typed

SPEC = """protocol P(leader: Proc, k: Nat = 2) implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(m: Msg)
  upon request broadcast(m) { beb.broadcast(DATA(m)) }
  upon beb.deliver(p, DATA(m)) { deliver(p, m) }
  property own: always true
}
check c of P { %s }
"""
ROLES = """protocol Q {
  role coordinator(1) { state up = true }
  role participant(n) { state up = true }
  role cook(2) { state up = true }
  property fine: always forall p in Proc: %s
}
check c of Q { n = 2 prove fine }
"""


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    try:
        load_text(text, "a.bcast")
    except SpecError as error:
        return error.diagnostics
    return ()


def check(items: str) -> typed.Check:
    return load_text(SPEC % items, "a.bcast").checks[0]


def test_what_is_not_said_has_defaults() -> None:
    made = check("")
    assert made.settings == () and made.crash is None and made.links == (PERFECT,)
    assert made.capacity is None and made.clients == () and made.prove == ()
    assert made.crash_points == "inside" and not made.allow_unused


def test_settings_faults_and_links() -> None:
    made = check(
        "n = 3 f = n - 2 leader = p2 k = f + 1 faults crash <= f links fifo, lossy, bounded 2 "
        "crash points between_handlers allow unused"
    )
    assert [s.name for s in made.settings] == ["n", "f", "leader", "k"]
    assert isinstance(made.settings[2].value, typed.Named)
    assert isinstance(made.crash, typed.Param)
    assert [k.name for k in made.links] == ["fifo", "lossy", "bounded"] and made.capacity == 2
    assert made.crash_points == "between_handlers" and made.allow_unused


def test_clients_give_one_request_each() -> None:
    made = check("clients { p1 broadcasts a, b  p2 broadcasts a  all broadcasts c }")
    said = [
        (c.process, c.op, c.args[0].name)
        for c in made.clients
        if isinstance(c.args[0], typed.Named)
    ]
    assert said == [
        ("p1", "broadcast", "a"),
        ("p1", "broadcast", "b"),
        ("p2", "broadcast", "a"),
        ("all", "broadcast", "c"),
    ]


def test_properties_are_own_the_interface_s_or_another_s() -> None:
    made = check("prove own, agreement, fifo_order expect uniform_agreement violated")
    assert [p.name for p in made.prove] == ["own", "agreement", "fifo_order", "uniform_agreement"]
    assert made.prove[1].document and made.prove[0].text == "always true"


def test_expectations() -> None:
    made = check("expect own holds expect states 12 expect depth 3 expect trace 4")
    assert [(e.what, e.value) for e in made.expect] == [
        ("own", "holds"),
        ("states", 12),
        ("depth", 3),
        ("trace", 4),
    ]


@pytest.mark.parametrize(
    ("items", "code"),
    [
        ("m = 3", "C002"),
        ("n = true", "N003"),
        ("n = p1", "N003"),
        ("leader = 1", "N003"),
        ("leader = x", "N002"),
        ("leader = p0", "N002"),
        ("n = 3 n = 3", "C009"),
        ("faults crash", "C010"),
        ("faults crash <= 1, crash <= 2", "C009"),
        ("faults crahs <= 1", "C004"),
        ("faults byzantine", "C010"),
        ("faults recover", "C012"),
        ("faults crash <= 1, recover <= 1", "C010"),
        ("faults omission <= true", "N003"),
        ("faults partition <= true", "N003"),
        ("links prefect", "C004"),
        ("links stubborn, lossy", "C003"),
        ("links fair_loss, lossy", "C003"),
        ("links perfect, fair_loss", "C003"),
        ("links stubborn, fifo", "C003"),
        ("links p -> q lossy", "C005"),
        ("links perfect, lossy", "C003"),
        ("links duplicating, perfect", "C003"),
        ("links persistent, fifo", "C003"),
        ("links fifo, fifo", "C009"),
        ("links bounded", "C010"),
        ("links bounded 0", "C010"),
        ("links lossy 3", "C010"),
        ("timing synchronised", "C004"),
        ("timing synchronous noise 2", "C010"),
        ("timing clocks", "C010"),
        ("timing partial timing partial", "C009"),
        ("detector Q", "C004"),
        ("detector P", "C015"),
        ("given bed as oracle", "C016"),
        ("given beb as P", "C016"),
        ("given beb as Nobody", "C001"),
        ("given beb as oracle given beb as oracle", "C009"),
        ("prove at_most_once", "C018"),
        ("prove at_most_once over coffee", "C018"),
        ("prove at_most_once over effects", "C018"),
        ("prove sometimes over effects", "C007"),
        ("crash points nowhere", "C010"),
        ("clients { q1 broadcasts a }", "C005"),
        ("clients { p01 broadcasts a }", "C005"),
        ("clients { p1 sends a }", "C006"),
        ("clients { p1 broadcasts 1 }", "N003"),
        ("clients { p1 broadcasts (a, b) }", "N003"),
        ("prove agreemnt", "C007"),
        ("expect agreemnt violated", "C007"),
        ("expect agreement broken", "C008"),
        ("expect agreement 3", "C008"),
        ("expect states violated", "C008"),
        ("expect own holds expect own violated", "C009"),
        ("allow everything", "C010"),
    ],
)
def test_wrong_parts(items: str, code: str) -> None:
    assert {d.code for d in diagnostics(SPEC % items)} == {code}


def test_all_wrong_parts_are_found() -> None:
    found = diagnostics(SPEC % "m = 3 links nope faults nope prove nope clients { p1 nopes a }")
    assert [d.code for d in found] == ["C002", "C004", "C004", "C007", "C006"]


def test_processes_of_roles() -> None:
    assert diagnostics(ROLES % "coordinator1.up and p2.up and cook1.up") == ()
    assert {d.code for d in diagnostics(ROLES % "c1.up")} == {"N002"}


def test_a_check_of_nothing() -> None:
    (found,) = diagnostics(SPEC.replace("of P {", "of BasicBroadcats {") % "")
    assert (found.code, found.hint) == ("C001", "did you mean `BasicBroadcast`?")


def test_clients_of_a_protocol_without_an_interface() -> None:
    text = (ROLES % "p.up").replace("prove fine", "clients { p1 broadcasts a }")
    assert [d.code for d in diagnostics(text)] == ["N008", "C011"]
