"""Names, types, patterns, statements, properties: what is right and what is wrong."""

from __future__ import annotations

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load_text
from checker.language.syntax import typed
from checker.language.typecheck.histories import history_name

BEB = """protocol P(leader: Proc, k: Nat max 9) implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  message PAIR(pair: (Proc, 0..3))
  message STOP
  type Color = enum { red, green }
  type Slot = 0..3
  state color : Color = red
  state other : enum { green, blue } = blue
  state count : 0..9 = 0
  state seen : set<Msg> = {}
  state log : seq<Msg, max 3> = []
  state heap : bag<Slot, max 3> = {||}
  state slots : map<Slot, bool> = false
  state table : map<Proc, map<Slot, set<Proc>>> = {}
  state chosen : option<Proc> = none
  state point : record { x: Slot, ok: bool } = record(x = 0, ok = false)
  shared state clock : 0..9 = 0
  %s
}
"""


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    try:
        load_text(text, "a.bcast")
    except SpecError as error:
        return error.diagnostics
    return ()


def protocol(item: str) -> typed.Protocol:
    return load_text(BEB % item, "a.bcast").protocols[0]


def handler(item: str) -> typed.Handler:
    return protocol(item).roles[0].handlers[-1]


def codes(item: str) -> list[str]:
    return [d.code for d in diagnostics(BEB % item)]


RIGHT = [
    "color := green  other := green",
    "require color == red and red == color and other != blue",
    "require color in {red, green}",
    "color := if count > 3 then red else green",
    "count += 1  count -= k  count := count * 2 div 3 mod n",
    "count := #seen + #log + #heap + #Proc",
    "log += m  log := log ++ [m]  log := tail(log) ++ []",
    "seen := seen union {m} minus {} intersect seen",
    "seen := { x for x in seen when x != m }",
    "log[0] := m  log := log[0..#log - 1] ++ take(log, 1) ++ drop(log, 1)  log[k] := last(log)",
    "require log prefix log + m  count := index(log, m)  log := [x for x in log when x != m]",
    "count := sum(s for s in Slot when s > 1) + sum(heap) + max(s + b for s in Slot, b in heap)",
    "heap += 1  heap -= 1  count := count(heap, 1) + count(log, m)",
    "slots[1] := true  slots := { s -> s == 1 for s in Slot }",
    "slots := { s -> false for s in 0..3 }",
    "table[self][1] += leader",
    "slots := false  slots := k == 1  slots := if k == 1 then true else false",
    "table := {}  table[leader] := {self}  table := table  table := if k == 1 then {} else {self}",
    "chosen := some(self)  require is_some(chosen) and get(chosen) == self and chosen != none",
    "point.x := 2  point := record(ok = true, x = 1)  require point.ok",
    "clock += rank(self)",
    "self.count := self.count + 1",
    "require forall p, q in Proc, s in Slot when s > 1: p == q or s in 0..2",
    "require exists (a, b) in { (p, s) for p in Proc, s in Slot }: a == self and b == 0",
    "require forall b in bool, c in Color: b or c == red",
    "require exists S in subsets(Proc): #S > 1 and self in S",
    "count := min({1, 2}) + max(0..3)",
    "for p in Proc when p != self { send STOP to p }",
    "while some s in Slot when slots[s] { slots[s] := false }",
    "choose c in Color when c != red  color := c",
    "either { skip } or when count > 1 { count := 0 }",
    "let x = (self, 1)  send PAIR(x) to all  send PAIR((self, count)) to {leader}",
    "if count == 0 { skip } else if count == 1 { skip } else { deliver(self, m) }",
    "beb.broadcast(DATA(self, m))  beb.broadcast(STOP)",
    "require head(log) == last(log) or {} == seen or none == chosen or [] == log",
    "require not (seen subset {}) and -1 < count",
]


@pytest.mark.parametrize("body", RIGHT)
def test_right_statements(body: str) -> None:
    assert diagnostics(BEB % f"upon request broadcast(m) {{ {body} }}") == ()


WRONG = [
    ("colour := green", "N002"),
    ("color := blue", "N003"),
    ("color := 1", "N003"),
    ("color := other", "N003"),
    ("require green == green", "N008"),
    ("count := true", "N003"),
    ("count := self", "N003"),
    ("count += m", "N003"),
    ("seen += {m}", "N003"),
    ("seen := m", "N003"),
    ("seen -= 1", "N003"),
    ("log -= m", "N007"),
    ("color += 1", "N007"),
    ("log[0] := self", "N003"),
    ("log[0..1] := log", "N009"),
    ("slots := { s -> true for s in 0..2 }", "N024"),
    ("slots := { s -> true for s in {1} }", "N024"),
    ("slots := { t -> true for s in Slot }", "N024"),
    ("slots[self] := true", "N003"),
    ("chosen := self", "N003"),
    ("require chosen == self", "N003"),
    ("require get(self) == self", "N003"),
    ("require self < leader", "N007"),
    ("require self + 1 == 2", "N007"),
    ("require m == 1", "N003"),
    ("require p1 == self", "N002"),
    ("require {} == {}", "N005"),
    ("require none == none", "N005"),
    ("require count", "N003"),
    ("require forall seen in Proc: true", "N004"),
    ("require forall p in 3: true", "N003"),
    ("require forall p: true", "N024"),
    ("let count = 1", "N004"),
    ("let m = 1", "N004"),
    ("m := 1", "N009"),
    ("k := 1", "N009"),
    ("leader := self", "N009"),
    ("deliver(m)", "N006"),
    ("deliver(m, self)", "N003"),
    ("delivr(self, m)", "N017"),
    ("STOP()", "N017"),
    ("broadcast(m)", "N017"),
    ("beb.broadcast(m)", "N020"),
    ("beb.deliver(STOP)", "N017"),
    ("bob.broadcast(STOP)", "N013"),
    ("send m to all", "N020"),
    ("send STOP to 1", "N003"),
    ("send STOP to chosen", "N003"),
    ("send DATA to all", "N006"),
    ("send DATA(m) to all", "N006"),
    ("send DATA(self, self) to all", "N003"),
    ("send HALT to all", "N002"),
    ("require leader.count == 1", "N010"),
    ("point.y := 1", "N002"),
    ("require point.z", "N002"),
    ("require seen.size == 1", "N007"),
    ("require seen[0] == m", "N007"),
    ("require correct(self)", "N018"),
    ("require m in delivered(self)", "N018"),
    ("require always true", "N018"),
    ("require flip()", "N026"),
    ("for p in Proc when flip() { skip }", "N026"),
    ("let s = { flip() for p in Proc }", "N026"),
    ("let c = flip(1)", "N006"),
    ("perform m  perform true", "N003"),
    ("perform {}", "N005"),
    ("if true { yield }", "N028"),
    ("atomic { yield }", "N028"),
    ("if true { await }", "N028"),
    ("atomic { await true }", "N028"),
    ("await 1", "N003"),
    ("start timer", "N027"),
    ("cancel timer", "N027"),
    ("beb[1].broadcast(STOP)", "N029"),
    ("count := frob(1)", "N002"),
    ("count := min(1)", "N003"),
    ("count := rank(self, self)", "N006"),
    ("require received(NOPE) == {}", "N012"),
    ("require #received(DATA(self)) > 1", "N006"),
    ("require #received(DATA(x, m)) > 1", "N002"),
    ("require #leader.received(STOP) > 1", "N010"),
    ("require #beb.broadcast(STOP) > 1", "N017"),
]


@pytest.mark.parametrize(("body", "code"), WRONG)
def test_wrong_statements(body: str, code: str) -> None:
    assert codes(f"upon request broadcast(m) {{ {body} }}") == [code]


def test_every_wrong_statement_is_found_and_nothing_follows_from_it() -> None:
    body = "let x = nope  require x == 1 and x in seen  count := nope + nape  color := blue"
    found = diagnostics(BEB % f"upon request broadcast(m) {{ {body} }}")
    assert [d.code for d in found] == ["N002", "N002", "N002", "N003"]
    assert ["nope" in d.message or "nape" in d.message for d in found[:3]] == [True] * 3


def test_suggestions() -> None:
    (found,) = diagnostics(BEB % "upon request broadcast(m) { colr := red }")
    assert found.hint == "did you mean `color`?"
    (found,) = diagnostics(BEB % "upon request brodcast(m) { skip }")
    assert found.hint == "did you mean `broadcast`?"
    (found,) = diagnostics(BEB % "upon request broadcast(m) { beb.broadcast(m) }")
    assert "wrap" in found.hint


# ---- handlers and patterns --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ("upon request broadcast(m, x) { skip }", "N006"),
        ("upon request deliver(p, m) { skip }", "N017"),
        ("upon receive NOPE { skip }", "N012"),
        ("upon receive DATA { skip }", "N006"),
        ("upon receive DATA(count, m) { skip }", "N004"),
        ("upon receive DATA(1, m) { skip }", "N003"),
        ("upon receive PAIR((a, b, c)) { skip }", "N006"),
        ("upon receive DATA((a, b), m) { skip }", "N003"),
        ("upon receive STOP from Proc { skip }", "N004"),
        ("upon beb.deliver(p, NOPE(x)) { skip }", "N012"),
        ("upon beb.broadcast(x) { skip }", "N017"),
        ("upon bob.deliver(p, x) { skip }", "N013"),
        ("upon init at 3 { skip }", "N003"),
        ("upon init when 3 { skip }", "N003"),
        ("upon condition count { skip }", "N003"),
        ("upon condition #received(DATA((_, x), m)) > 1 { skip }", "N003"),
        ("upon condition #received(PAIR((_, x))) > 1 { skip }", "N001"),
        ("upon timeout late { skip }", "N027"),
        ("upon init { yield }", "N028"),
        ("stable state count = 0", "N004"),
        ("uses c[bool] : BestEffortBroadcast", "N029"),
        ("uses c[1..3] : BestEffortBroadcast", "N029"),
        ("uses c[Nat] : BestEffortBroadcast upon c.deliver(p, STOP) { skip }", "N029"),
        ("upon beb[1].deliver(p, STOP) { skip }", "N029"),
        ("uses c : Nothing", "N013"),
        ("state v", "N005"),
        ("state v = {}", "N005"),
        ("state v = -1", "N005"),
        ("state v : Nope = 1", "N011"),
        ("state count = 1", "N004"),
        ("state n = 1", "N004"),
        ("state v : map<seq<bool>, bool> = false", "N007"),
        ("state v : 0..count = 0", "N023"),
        ("state v = count", "N023"),
        ("message STOP", "N004"),
        ("message M(a: Msg, a: Msg)", "N004"),
        ("type Color = bool", "N004"),
        ("type T = enum { a, a }", "N004"),
        ("init choose nope in Proc", "N002"),
        ("init choose color in Proc", "N003"),
        ("init choose count in {count}", "N023"),
        ("role r(1) { }", "N025"),
    ],
)
def test_wrong_declarations(item: str, code: str) -> None:
    assert set(codes(item)) == {code}


def test_patterns_bind_compare_and_take_apart() -> None:
    made = handler("upon beb.deliver(_, DATA(leader, m)) when m in seen { deliver(leader, m) }")
    assert isinstance(made.event, typed.OnIndication)
    first, second = made.event.patterns
    assert isinstance(first, typed.Ignore)
    assert isinstance(second, typed.Match)
    compared, bound = second.fields
    assert isinstance(compared, typed.Equals) and isinstance(compared.value, typed.Param)
    assert bound == typed.Bind(typed.Msg(), "m")
    assert made.label == "upon beb.deliver(_, DATA(leader, m))"


def test_a_name_twice_is_compared_the_second_time() -> None:
    made = handler("upon receive DATA(p, _) from p { skip }")
    assert isinstance(made.event, typed.OnReceive)
    assert isinstance(made.event.patterns[0], typed.Bind)
    assert isinstance(made.event.sender, typed.Equals)


def test_tuples_in_patterns() -> None:
    made = handler("upon receive PAIR((p, 2)) { count := 2  send STOP to p }")
    assert isinstance(made.event, typed.OnReceive)
    (parts,) = made.event.patterns
    assert isinstance(parts, typed.Parts)
    assert isinstance(parts.items[0], typed.Bind) and isinstance(parts.items[1], typed.Equals)


def test_conditions_bind_the_free_names_of_received() -> None:
    made = handler(
        "upon condition m not in seen and #received(DATA(leader, m)) > f when count > 1 "
        "{ seen += m }"
    )
    assert isinstance(made.event, typed.OnCondition)
    assert made.event.free == (("m", typed.Msg()),)


def test_names_in_scope_are_no_free_names() -> None:
    made = handler("upon condition exists p in Proc: #received(DATA(p, _)) > 1 { skip }")
    assert isinstance(made.event, typed.OnCondition)
    assert made.event.free == ()


# ---- what is built ----------------------------------------------------------------------------


def test_types_are_told_by_initial_values() -> None:
    made = protocol("state a = false  state b = 3  state c = self  state d = red")
    types = {s.name: s.type for s in made.roles[0].states}
    assert types["a"] == typed.Bool()
    nat = types["b"]
    assert isinstance(nat, typed.Int) and nat.hi is None and isinstance(nat.lo, typed.Literal)
    assert types["c"] == typed.Proc()
    assert types["d"] == typed.Enum("Color", ("red", "green"))


def test_one_value_fills_a_map() -> None:
    (table,) = [s for s in protocol("").roles[0].states if s.name == "table"]
    assert isinstance(table.initial, typed.Fill)
    assert isinstance(table.initial.value, typed.Fill)
    assert isinstance(table.initial.value.value, typed.Display)


def test_sums_are_spelled_out() -> None:
    made = handler("upon request broadcast(m) { table[self][1] += leader }")
    (stmt,) = made.body
    assert isinstance(stmt, typed.Assign)
    assert isinstance(stmt.target, typed.Entry)
    assert isinstance(stmt.value, typed.Operation)
    assert (stmt.value.op, stmt.value.args[0]) == ("+", stmt.target)


def test_enums_of_an_interface_are_known() -> None:
    text = """
interface Votes { type Vote = enum { yes, no }  request cast(v: Vote) indication done(v: Vote) }
protocol P implements Votes {
  state last : Vote = no
  state open = yes
  upon request cast(v) when yes == v { last := v  done(no) }
}
check c of P { n = 2  clients { p1 casts yes, no  all casts no } }
"""
    assert diagnostics(text) == ()


def test_a_layer_of_a_request_called_send() -> None:
    text = """
interface Link { request send(q: Proc, m: Msg) indication deliver(p: Proc, m: Msg) }
protocol Direct implements Link {
  message DATA(m: Msg)
  upon request send(q, m) { send DATA(m) to q }
  upon receive DATA(m) from p { deliver(p, m) }
}
protocol P implements Link {
  uses pl : Link
  message DATA(m: Msg)
  upon request send(q, m) { pl.send(q, DATA(m)) }
  upon pl.deliver(p, DATA(m)) { deliver(p, m) }
}
check c of P { n = 2  clients { p1 sends (p2, a), (p1, b) } }
"""
    (check,) = load_text(text, "a").checks
    assert [[type(a).__name__ for a in c.args] for c in check.clients] == [["Named", "Named"]] * 2


# ---- properties -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula",
    [
        "always forall p, q in Proc: p.color == q.color or p1.count == 0",
        "forall p in Proc, m in Msg: correct(p) and m in broadcast(p) ~> (p, m) in delivered(p)",
        "always forall p in Proc, x in delivered(p), y in delivered(p): before(p, x, y) or x == y",
        "always forall p in Proc, (s, m) in delivered(p): not repeated(p, (s, m))",
        "always forall p, s in Proc, (t, m) in delivered(p): causes((s, m), (t, m)) or crashed(p)",
        "always forall p in Proc: #delivered(p) <= #broadcast(p) + count(broadcast(p), m1)",
        "always forall p in Proc, m in broadcast(p): broadcast_before(p, m, m) or clock == 1",
        "forall p in Proc: eventually p.count == k and #p.received(STOP) > 1",
        "eventually exists p in Proc: p == leader and p.point.ok",
        "always eventually clock == 1",
        "not (always clock == 1)",
        "exists p in Proc: always p.slots[1]",
        "(always clock == 1) and (always clock == 2)",
        "forall p in Proc: correct(p) => eventually always p.count == 1",
        "always forall p in Proc, m in Msg: m in broadcast(p) => eventually m in p.seen",
        "always (clock == 1 => (eventually clock == 2) or not eventually clock == 3)",
        "(always eventually clock == 1) => forall m in Msg: m in broadcast(p1) ~> m in p1.seen",
        "always forall p in Proc: faulty(p) or not crashed(p)",
    ],
)
def test_right_properties(formula: str) -> None:
    allowed = ["N002"] if "m1" in formula else []
    assert codes(f"property p: {formula}") == allowed


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("forall p in Proc: p.color == red", "N019"),
        ("forall p in Proc, m in broadcast(p): eventually m in p.seen", "N019"),
        ("forall p in Proc when p.count == 1: always p.slots[1]", "N019"),
        ("clock == 1 and always clock == 1", "N019"),
        ("always forall m in broadcast(p1): eventually m in p1.seen", "N019"),
        ("always (eventually clock == 1) == true", "N019"),
        ("if clock == 1 then always true else always false", "N019"),
        ("always self in performed", "N022"),
        ("always forall p in Proc: p in suspected(p)", "N002"),
        ("always color == red", "N010"),
        ("always self.color == red", "N021"),
        ("always #received(STOP) > 1", "N021"),
        ("always forall p in Proc: p.colour == red", "N002"),
        ("always forall p in Proc: p.clock == 1", "N002"),
        ("always forall p in Proc: decided(p) == []", "N002"),
        ("always forall p in Proc: delivered(p, p) == []", "N006"),
        ("always forall p in Proc: p in delivered(p)", "N003"),
        ("always clock", "N003"),
    ],
)
def test_wrong_properties(formula: str, code: str) -> None:
    assert set(codes(f"property p: {formula}")) == {code}


def test_which_role_a_process_has() -> None:
    text = """protocol P {
  role server(1) { state up = true  state mode = 1 }
  role client(n) { state up = false }
  property a: always forall c in client, s in server: c.up == s.up and c1.up and s1.up
  property b: always forall p in Proc: p.mode == 1
  property c: always forall p in Proc: p.up
  property d: always forall c in client: c.mode == 1
}
"""
    found = [(d.code, d.span.line) for d in diagnostics(text) if d.span]
    assert found == [("N008", 6), ("N002", 7)]


def test_the_name_of_a_role_is_a_type() -> None:
    text = """protocol P {
  type Vote = record { of: server, said: bool }
  message ASK(whom: server)
  role server(1) { state leader : option<server> = none  state votes : set<Vote> = {} }
  role client(n) {
    state asked : map<server, bool> = false
    upon receive ASK(whom) { asked[whom] := true  choose s in server  send ASK(s) to s }
  }
  define leads(s: server): bool = s.leader == some(s)
  property a: always forall s in server: leads(s) or s.leader == none
}
"""
    assert not diagnostics(text)
    wrong = [d.hint for d in diagnostics(text.replace("option<server>", "option<sever>"))]
    assert "did you mean `server`?" in wrong


def test_what_happened_is_known_by_the_participle() -> None:
    names = {op: history_name(op) for op in ("deliver", "propose", "try", "submit", "finished")}
    assert list(names.values()) == ["delivered", "proposed", "tried", "submitted", "finished"]
