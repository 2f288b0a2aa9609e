"""Acts, coins, timers, families of layers, and the three questions about once."""

from __future__ import annotations

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load_text
from checker.language.syntax import typed

SPEC = """interface Work { request submit(m: Msg) indication deliver(m: Msg) }
protocol P implements Work {
  uses cons[Nat] : MessageConsensus
  message V(m: Msg)
  state round = 0
  state on = false
  %s
}
"""


def protocol(items: str) -> typed.Protocol:
    return load_text(SPEC % items, "a.bcast").protocols[0]


def body(statements: str) -> typed.Block:
    return protocol(f"upon request submit(m) {{ {statements} }}").roles[0].handlers[0].body


def asked(name: str, items: str) -> typed.PropertyDef:
    text = SPEC % items + f"check c of P {{ prove {name} given cons as oracle }}"
    return load_text(text, "a.bcast").checks[0].prove[0]


def codes(items: str, name: str = "") -> list[str]:
    try:
        asked(name, items) if name else protocol(items)
    except SpecError as error:
        return [d.code for d in error.diagnostics]
    return []


# ---- statements -------------------------------------------------------------------------------


def test_acts() -> None:
    once, twice = body("perform (self, m)  perform idempotent (self, m)")
    assert isinstance(once, typed.Perform) and not once.idempotent
    assert isinstance(twice, typed.Perform) and twice.idempotent
    assert protocol("upon init { perform self }").acts == typed.Proc()
    assert protocol("upon init { skip }").acts is None


def test_acts_of_a_layer_below_are_seen() -> None:
    text = """interface Low { request go(m: Msg) indication gone(m: Msg) }
protocol Doer implements Low { upon request go(m) { perform m  gone(m) } }
protocol Top { uses low : Low  message M
  upon init { low.go(M) }
  property p: always M in performed and not repeated(effects, M)
}
"""
    assert load_text(text, "a.bcast").protocols[1].acts == typed.Message()


def test_atomic_and_yield() -> None:
    first, second, third = body("atomic { round := 1  deliver(m) }  yield  deliver(m)")
    assert isinstance(first, typed.Atomic) and len(first.body) == 2
    assert isinstance(second, typed.Yield) and isinstance(third, typed.Call)


@pytest.mark.parametrize(
    ("text", "waits_for_something"),
    [
        ("await\n  round := 1", False),
        ("await  // it waits\n  round := 1", False),
        ("await  round := 1", False),
        ("await  let k = 1", False),
        ("await  await on", False),
        ("await on  round := 1", True),
        ("await (on or round == 1)\n  round := 1", True),
        ("await not on and round == 1  skip", True),
    ],
)
def test_what_follows_await_on_its_line(text: str, waits_for_something: bool) -> None:
    """A condition, if it can be one; another statement otherwise."""
    first, *_ = body(text)
    assert isinstance(first, typed.Await)
    assert (first.condition is not None) == waits_for_something


def test_a_variable_may_be_called_await() -> None:
    inside = "await := await + 1  await += 1  let await' = 1  await  await := await'"
    found = protocol(f"state await = 0  upon request submit(m) {{ {inside} }}")
    *_, waits, _ = found.roles[0].handlers[0].body
    assert isinstance(waits, typed.Await) and waits.condition is None


def test_coins_become_choices() -> None:
    coin, assign, drawn, chosen, asks, asked_, branch = body(
        "on := flip()  let c = flip()  choose d in bool  if flip() or not flip() { skip }"
    )
    assert isinstance(coin, typed.Choose) and isinstance(assign, typed.Assign)
    assert isinstance(coin.pattern, typed.Bind)
    assert assign.value == typed.Local(typed.Bool(), coin.pattern.name, coin.span)
    assert isinstance(drawn, typed.Choose) and drawn.pattern == typed.Bind(typed.Bool(), "c")
    assert isinstance(chosen, typed.Choose) and chosen.domain.type == drawn.domain.type
    assert isinstance(asks, typed.Choose) and isinstance(asked_, typed.Choose)
    assert isinstance(branch, typed.If) and len({coin.pattern, asks.pattern, asked_.pattern}) == 3


def test_timers() -> None:
    made = protocol(
        "upon init { start t after round + 1  start t  cancel t } "
        "upon timeout t { skip } upon timeout when on { skip }"
    ).roles[0]
    long, short, stop = made.handlers[0].body
    assert isinstance(long, typed.Timer) and long.duration is not None
    assert isinstance(short, typed.Timer) and short.duration is None
    assert isinstance(stop, typed.Timer) and stop.kind == "cancel"
    assert [h.event for h in made.handlers[1:]] == [typed.OnTimeout(t, None) for t in ("t", None)]
    assert made.handlers[2].label == "upon timeout" and made.handlers[2].when is not None


def test_families_of_layers() -> None:
    made = protocol(
        "upon request submit(m) { cons[round + 1].propose(V(m)) } "
        "upon cons[k].decide(V(m)) when k > 0 { deliver(m) } "
        "upon cons[1 + 1].decide(V(_)) { skip }"
    )
    assert isinstance(made.layers[0].index, typed.Int)
    call = made.roles[0].handlers[0].body[0]
    assert isinstance(call, typed.Call) and isinstance(call.index, typed.Operation)
    events = [h.event for h in made.roles[0].handlers[1:]]
    kinds = [type(e.index) for e in events if isinstance(e, typed.OnIndication)]
    assert kinds == [typed.Bind, typed.Equals]


# ---- properties -------------------------------------------------------------------------------

DOES = "upon request submit(m) { perform m  deliver(m) }"


@pytest.mark.parametrize("over", ["deliveries", "processings", "effects"])
def test_the_three_questions(over: str) -> None:
    most = asked(f"at_most_once over {over}", DOES)
    least = asked(f"at_least_once over {over}", DOES)
    both = asked(f"exactly_once over {over}", DOES)
    assert over in most.document and over in both.document
    assert isinstance(most.formula, typed.Temporal) and most.formula.op == "always"
    assert isinstance(least.formula, typed.Quantified)
    assert isinstance(least.formula.body, typed.Temporal) and least.formula.body.op == "~>"
    assert isinstance(both.formula, typed.Operation) and both.formula.op == "and"
    assert [type(p) for p in both.formula.args] == [typed.Temporal, typed.Quantified]


def test_acts_that_carry_the_request() -> None:
    least = asked("at_least_once over effects", "upon request submit(m) { perform (self, m) }")
    assert isinstance(least.formula, typed.Quantified)
    assert isinstance(least.formula.body, typed.Temporal)
    goal = least.formula.body.args[1]
    assert isinstance(goal, typed.Quantified) and goal.kind == "exists"
    assert isinstance(goal.binders[0].pattern, typed.Parts)


def test_what_cannot_be_asked() -> None:
    assert codes("upon init { skip }", "at_most_once over processings") == ["C018"]
    assert codes("upon init { perform 1 }", "at_least_once over effects") == ["C018"]
    assert codes(DOES, "exactly_once") == ["C018"]
    assert codes(DOES, "exactly_once over tea") == ["C018"]
    own = "property exactly_once: always true"
    assert codes(own, "exactly_once") == [] and asked("exactly_once", own).text == "always true"


def test_what_properties_read_of_acts_and_detectors() -> None:
    formulas = (
        "always forall m in performed: not repeated(performed, m)",
        "always forall m in Msg: m in effects => m in performed",
        "always #effects <= #performed",
        "forall p in Proc, m in Msg: correct(p) and m in submitted(p) ~> m in performed",
    )
    for formula in formulas:
        assert codes(f"{DOES} property p: {formula}") == [], formula
    text = """protocol F implements FailureDetector {
  property p: forall p, q in Proc: eventually always q in suspected(p)
}
protocol L implements LeaderDetector {
  property p: forall p, q in Proc: eventually always trusted(p) == {q}
}
protocol N implements FailureDetector {
  type Mood = enum { performed, effects }
  state mood : Mood = performed
  property p: always forall p in Proc: p.mood == performed or p.mood == effects
}
"""
    load_text(text, "a.bcast")
