"""Ghosts: what they hold at a crash and after a recovery, worked out by hand; and that a run is the
same without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.model.ir import VariableKind
from checker.proving import parametric
from checker.session.pipeline import load_check, run_check
from tests.agreement.ghostly import states, system_of, without_ghosts
from tests.instantiate.tables import WAYS, Case, compare, run, words

CUT = """
protocol P(boss: Proc) {
  message A
  message B
  state begun = false
  state x = 0
  state got : set<enum { a, b }> = {}
  ghost state g : 0..3 = 0
  ghost shared state total : 0..9 = 0
  procedure note(k) {
    let more = k > g
    if more { g := k }
  }
  upon condition not begun at boss { begun := true  BODY }
  upon receive A at q { got += a }
  upon receive B at q { got += b }
  CLAIMS
}
check c of P { n = 2  boss = p1  faults crash <= 1 WORLD  allow unused  prove ASKED }
"""


def cut(name: str, body: str, verdicts: str, world: str = "", **claims: str) -> Case:
    """What claims say of a handler of p1 that may be cut."""
    lines = "\n  ".join(f"property {n} : {c}" for n, c in claims.items())
    text = CUT.replace("at q", "").replace("BODY", body).replace("CLAIMS", lines)
    text = text.replace("WORLD", world).replace("ASKED", ", ".join(claims))
    return Case(name, text, verdicts)


A_IS_OUT = "(exists q in Proc: a in q.got)"
B_IS_OUT = "(exists q in Proc: b in q.got)"
SAME = "forall p in Proc: p.g == p.x"
ONE, TWO = (f"(exists p in Proc: p.g >= {k})" for k in (1, 2))
CUTS = [
    # Behind the effect to which it belongs there is no crash.
    cut("with its send", "send A to all  g := 1", "k holds", k=f"always {A_IS_OUT} => {ONE}"),
    # Nor is there one between an assignment and what observes it.
    cut("of an assignment", "x := 1  g := 1  send A to all", "k holds", k=f"always {SAME}"),
    cut("before an assignment", "g := 1  x := 1  send A to all", "k holds", k=f"always {SAME}"),
    cut(
        "with a multicast that is cut", "send A to Proc minus {self}  g := 1  perform 1",
        "k holds", k=f"always {A_IS_OUT} => {ONE}",
    ),
    cut(
        "between two sends", "send A to all  g := 1  send B to all  g := 2",
        "first holds, second holds, both violated",
        first=f"always {A_IS_OUT} => {ONE}", second=f"always {B_IS_OUT} => {TWO}",
        both=f"always {A_IS_OUT} => {TWO} or not crashed(p1)",
    ),
    cut(
        "with an act", "perform 1  g := 1  perform 2  g := 2",
        "first holds, second holds, both violated",
        first=f"always 1 in performed => {ONE}", second=f"always 2 in performed => {TWO}",
        both=f"always 1 in performed => {TWO}",
    ),
    cut(
        "in a procedure", "perform 1  note(1)  perform 2  note(2)",
        "first holds, second holds, both violated",
        first=f"always 1 in performed => {ONE}", second=f"always 2 in performed => {TWO}",
        both=f"always 1 in performed => {TWO}",
    ),
    cut(
        "behind an assignment", "perform 1  x := 1  g := 1  perform 2",
        "with_act holds, old violated", with_act=f"always 1 in performed => {ONE}",
        old="always forall p in Proc: p.g == 1 => p.x == 1",
    ),
    # Before the first effect: the handler has begun.
    cut(
        "before the first effect", "g := 1  perform 1",
        "act holds, ghost violated",
        act=f"always 1 in performed => {ONE}", ghost=f"always {ONE} => 1 in performed",
    ),
    cut(
        "in an atomic block", "perform 2  atomic { g := 1  perform 1 }",
        "act holds, ghost holds, before violated",
        act=f"always 1 in performed => {ONE}", ghost=f"always {ONE} => 1 in performed",
        before=f"always 2 in performed => {ONE}",
    ),
    cut(
        "behind an atomic block", "atomic { perform 1  perform 2 }  g := 1  perform 3",
        "act holds, ghost holds, more violated",
        act=f"always 2 in performed => {ONE}", ghost=f"always {ONE} => 2 in performed",
        more=f"always {ONE} => 3 in performed",
    ),
    cut(
        "an atomic block of ghosts alone", "perform 1  atomic { g := 1 }  perform 2",
        "act holds", act=f"always 1 in performed => {ONE}",
    ),
    cut(
        "in a branch", "perform 1  if x == 0 { if g == 0 { g := 1  total += 1 } }  perform 2",
        "act holds, total holds", act=f"always 1 in performed => {ONE}",
        total=f"always {ONE} => total == 1",
    ),
    cut(
        "in a loop", "for k in (1..3) { perform k  if g < 3 { g += 1 } }",
        "first holds, all holds, never violated", first=f"always 1 in performed => {ONE}",
        all="always #performed == 3 => exists p in Proc: p.g == 3",
        never="always 1 in performed => exists p in Proc: p.g == 3",
    ),
    cut(
        "nobody is sent anything", "perform 1  send A to Proc minus Proc  g := 1  perform 2",
        "act holds", act=f"always 1 in performed => {ONE}",
    ),
    cut(
        "over bounded links", "send A to all  g := 1  send B to all  g := 2",
        "first holds, both violated", "  links lossy, bounded 1",
        first=f"always {A_IS_OUT} => {ONE}", both=f"always {A_IS_OUT} => {TWO}",
    ),
]  # fmt: skip

RECOVERY = """
protocol P {
  stable state done = false
  state x = 0
  ghost state mine = 0
  ghost shared state ours = 0
  upon condition x == 0 and not done {
    x := 1
    if mine < 3 { mine += 1 }
    if ours < 3 { ours += 1 }
  }
  upon condition x == 1 and not done { done := true }
  property once : always forall p in Proc: p.mine <= 1
  property more : always forall p in Proc: p.mine <= 2
  property together : always forall p in Proc: p.mine <= ours
  property less : always ours <= 2
  property kept : always forall p in Proc: p.done => p.mine >= 1
}
check c of P {
  n = 1
  faults crash <= 1, recover
  prove once, more, together, less, kept
}
"""
BYZANTINE = """
protocol P {
  message M
  state told = false
  state seen : set<Proc> = {}
  ghost state sent = 0
  upon condition not told { told := true  send M to all  if sent < 1 { sent := 1 } }
  upon receive M from p { seen += p }
  property liars : always forall p, q in Proc: q in p.seen => q.sent == 1
  property honest : always forall p, q in Proc: correct(q) and q in p.seen => q.sent == 1
}
check c of P { n = 2  faults byzantine <= 1  links authenticated  prove liars, honest }
"""
ROUNDS = """
protocol P {
  message PING
  state rounds : 0..2 = 0
  ghost state heard = false
  ghost shared state turns : 0..3 = 0
  upon timeout when rounds < 2 { rounds += 1  send PING to all }
  upon receive PING { heard := true }
  upon condition true { turns := if turns < 3 then turns + 1 else 0 }
  property time_goes_on: eventually forall p in Proc: p.rounds == 2
  property all_hear: eventually forall p in Proc: p.heard
  property never_turns: always turns < 3
}
check c of P { n = 2  timing synchronous  prove time_goes_on, all_hear, never_turns }
"""
LIVENESS = """
protocol P {
  state x = false
  ghost state turns : 0..2 = 0
  ghost state late = false
  upon condition true { x := not x  turns := if turns < 2 then turns + 1 else turns  late := x }
  property turned : eventually forall p in Proc: p.turns == 2
  property stays : eventually always forall p in Proc: p.late
  property recurs : always eventually exists p in Proc: not p.late
}
check c of P { n = 1  prove turned, stays, recurs }
"""
ERROR = """
protocol P {
  state x = 0
  ghost state log : seq<0..9, max 1> = []
  upon condition x < 2 { x += 1  log := log + x }
  property length : always forall p in Proc: #p.log <= 1
  property other : always forall p in Proc: p.x <= 2
}
check c of P { n = 1  prove length, other }
check unread of P { n = 1  prove other }
"""
CASES = [
    *CUTS,
    Case(
        "recovery", RECOVERY,
        "once violated, more holds, together holds, less holds, kept holds",
    ),
    Case("byzantine", BYZANTINE, "liars violated, honest holds"),
    Case("rounds", ROUNDS, "time_goes_on holds, all_hear holds, never_turns violated"),
    Case("liveness", LIVENESS, "turned holds, stays violated, recurs holds"),
    Case("an error", ERROR.replace("check unread", "// "), "length error, other error"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_ghosts_hold(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_what_nothing_reads_has_no_errors(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(ERROR)
    report = run_check(str(path), "unread", Options(engine=engine))
    assert words(report) == {"other": "holds"} and report.distinct_states == 3


def ghosts_of(path: Path, check: str) -> set[str]:
    made = system_of(load_check(str(path), check, {}), fine=False)
    return {v.name for v in made.variables if v.kind is VariableKind.GHOST}


def test_ghosts_that_are_kept_are_those_that_a_property_depends_on(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text("""
protocol P {
  state x = 0
  ghost state a = 0
  ghost state b = 0
  ghost shared state c = 0
  ghost state d = 0
  upon condition x == 0 {
    x := 1
    a := 1
    if a == 1 { b := 1  d := 1 }
    c := b
  }
  property reads_none : always forall p in Proc: p.x <= 1
  property reads_a : always forall p in Proc: p.a <= 1
  property reads_c : always c <= 1
}
check nothing of P { n = 1  prove reads_none }
check one of P { n = 1  prove reads_a, reads_none }
check three of P { n = 1  prove reads_c }
check all of P { n = 1  prove reads_none  property mine : always forall p in Proc: p.d + c <= 2
                 expect mine holds }
""")
    kept = {check: ghosts_of(path, check) for check in ("nothing", "one", "three", "all")}
    assert kept == {"nothing": set(), "one": {"a"}, "three": {"a", "b", "c"}, "all": set("abcd")}


LAYERS = """
interface Lower { request put(m: Msg) indication out(p: Proc, m: Msg) }
protocol L implements Lower {
  message COPY(m: Msg)
  state done : set<Msg> = {}
  GHOSTghost state puts : 0..9 = 0
  upon request put(m) { GHOSTputs += 1  send COPY(m) to all }
  upon receive COPY(m) from p { GHOSTputs += 1  out(p, m) }
}
protocol P implements ReliableBroadcast {
  uses low : Lower
  message DATA(m: Msg)
  GHOSTghost state asked : set<Msg> = {}
  upon request broadcast(m) { GHOSTasked += m
    low.put(DATA(m)) GHOSTasked += m
  }
  upon low.out(p, DATA(m)) { deliver(p, m) GHOSTasked += m
  }
  GHOSTproperty known : always forall p, q in Proc, m in Msg: (q, m) in delivered(p) => m in p.asked
}
check c of P { n = 2  faults crash <= 1 MORE  clients { p1 broadcasts a }  prove ASKED no_creation }
"""


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("more", ["", ", recover", "  links fifo", "  given low as oracle"])
def test_in_layers_ghosts_change_nothing(tmp_path: Path, more: str, fine: bool) -> None:
    """Also behind the request to an oracle, which could speak if something followed."""
    path, found = tmp_path / "spec.bcast", []
    for word, asked in (("", "known,"), ("//", "")):
        lines = LAYERS.replace("MORE", more).replace("ASKED", asked).splitlines()
        text = "\n".join(line.replace("GHOST", word and "\n//", 1) for line in lines)
        path.write_text(text.replace("GHOST", "") if not word else _commented(lines))
        found.append(system_of(load_check(str(path), "c", {}), fine))
    heard_only = not fine and "recover" not in more
    with_them, without = (
        {without_ghosts(system, heard_only=heard_only)(s) for s in states(system, 9000)}
        for system in found
    )
    assert with_them == without
    assert {v.name for v in found[0].variables if v.kind is VariableKind.GHOST} == {"asked"}


def _commented(lines: list[str]) -> str:
    """The spec without what ``GHOST`` stands before, up to the end of a statement or line."""
    found = []
    for line in lines:
        head, _, tail = line.partition("GHOST")
        rest = tail.split("  ", 1)[1] if head.strip() and "  " in tail else ""
        found.append(head + rest)
    return "\n".join(found)


# ---- proofs -----------------------------------------------------------------------------------

PROOFS = """
protocol P requires n > 0 {
  message M
  state told = false
  ghost state sent = false
  upon condition not told { told := true  send M to all  sent := true }
  upon receive M { skip }
  property small : always forall p in Proc: p.sent => p.told
  property plain : always forall p in Proc: p.told or not p.told
}
check three of P { n = 2  prove small }
check every of P { for all n  prove small }
check others of P { for all n  prove plain  allow unused }
"""


def test_by_formulas(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(PROOFS)
    report = run_check(str(path), "three", Options(engine="symbolic"))
    assert set(words(report).values()) <= {"proved", "bounded"}
    assert words(run_check(str(path), "three", Options())) == {"small": "holds"}


def test_for_every_n_ghosts_are_outside_of_the_fragment(tmp_path: Path) -> None:
    path = tmp_path / "spec.bcast"
    path.write_text(PROOFS)
    with pytest.raises(SpecError) as caught:
        parametric.prove_every(str(path), "every", Options(), tight=False)
    assert caught.value.diagnostics[0].code == "T001"
    assert "`sent`" in caught.value.diagnostics[0].message
    report = parametric.prove_every(str(path), "others", Options(), tight=False)
    assert words(report) == {"plain": "proved"}


def test_a_trace_says_which_variable_is_a_ghost(tmp_path: Path) -> None:
    report = run(tmp_path, RECOVERY)
    (once,) = (v for v in report.verdicts if v.property == "once")
    assert once.trace is not None
    assert dict(once.trace.variables)["mine"] == "ghost"
    told = {c.title for step in once.trace.steps for c in step.changes if c.kind == "ghost"}
    assert told == {"ghost mine", "ghost ours"}


@pytest.mark.parametrize("fine", [False, True])
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_bound_may_read_a_ghost_that_no_property_reads(
    tmp_path: Path, engine: str, fine: bool
) -> None:
    found = {}
    for bound in ("", "bound p.g <= 3", "bound p.x <= 3"):
        text = f"""
protocol P {{
  state x : 0..9 = 0
  ghost state g : 0..9 = 0
  upon condition x < 9 {{ x += 1  g := x }}
  property small : always forall p in Proc: p.x < 9
}}
check c of P {{ n = 1  {bound}  prove small }}
"""
        report = run(tmp_path, text, engine, fine)
        found[bound] = words(report)["small"], report.distinct_states
    assert found["bound p.g <= 3"] == found["bound p.x <= 3"] != found[""]
