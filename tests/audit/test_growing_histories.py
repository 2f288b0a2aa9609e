"""Histories of recorded runs, against the effects of a check; compiled formulas, against the
interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.audit import compiled as compiled_module
from checker.audit.compiled import compiled
from checker.audit.formulas import CRASHES, parts_of
from checker.audit.recorded_runs import DOWN, Event, Meaning, RecordedRun
from checker.audit.watch import Watch, instances
from checker.instantiate.world import REQUEST
from checker.language.load import open_spec
from checker.language.syntax import typed
from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.interpreter import outcomes

STORE = """
interface Store {{
  request print(item: Msg, size: 0..3)
  indication deliver(owner: Proc, item: Msg)
  indication display(item: Msg)
  property asked : always {formula}
}}
"""
FORMULAS = [
    "forall p in Proc, (o, m) in delivered(p): exists k in 0..3: (m, k) in printed(o)",
    "forall p, q in Proc, (o, m) in delivered(p): (o, m) in delivered(q) "
    " or m in displayed(q) or #displayed(q) < 3",
    "forall p in Proc, a, b in displayed(p): before(displayed(p), a, b) => (p, a) in delivered(p)",
    "forall p, q in Proc, a, b in Msg: before(displayed(p), a, b) and b in displayed(q)"
    " => before(displayed(q), a, b)",
    "forall p in Proc, m in displayed(p): not repeated(displayed(p), m) or (p, m) in delivered(p)",
    "forall p, q in Proc, m in Msg: (q, m) in delivered(p) and crashed(q) => m not in displayed(q)",
    "forall p in Proc: #{ m for m in Msg when m in displayed(p) } <= #{ m for m in Msg"
    " when exists q in Proc, k in 0..3: (m, k) in printed(q) } + 1",
    "forall p in Proc, m in displayed(p): #{ q for q in Proc when m in displayed(q) } <= 2",
    "forall p in Proc, (m, k) in printed(p): k <= #displayed(p) + 1 or (p, m) in delivered(p)",
    "forall p in Proc, (o, m) in delivered(p): m in displayed(o) or o == p or faulty(o)",
    "forall p in Proc, (o, m) in delivered(p): #displayed(o) > 0 or exists (a, k) in printed(o):"
    " a == m",
    "forall p, q in Proc: displayed(p) prefix displayed(q) or displayed(q) prefix displayed(p)"
    " or displayed(p) == displayed(q)",
    "forall p in Proc, m in displayed(p): (exists q in Proc: m in displayed(q) and q != p) or"
    " exists q in Proc: (p, m) in delivered(q)",
    "forall p in Proc, x, y in delivered(p): x == y or exists q in Proc, (o, m) in delivered(q):"
    " (o, m) == x and q != p",
    "forall p, q in Proc, x, y in delivered(p): x == y or #displayed(q) < 2",
    "forall p, q in Proc, x in delivered(q): x in delivered(p) => p == q or #displayed(q) < 2",
    "forall p in Proc, i in 0..2: i < #displayed(p) => displayed(p)[i] in displayed(p)",
    "forall p in Proc, m in displayed(p): displayed(p)[0] == m or (p, m) in delivered(p)",
]


def _interface(folder: Path, formula: str) -> typed.Interface:
    file = folder / "store.bcast"
    file.write_text(STORE.format(formula=formula), encoding="utf-8")
    return open_spec(str(file)).asked_of("Store")[0]


def _runs(draw: random.Random) -> Iterator[RecordedRun]:
    """Yields runs of three processes and three messages."""
    for _ in range(25):
        events: list[list[Event]] = [[], [], []]
        for _ in range(draw.randint(3, 14)):
            m, p = draw.randrange(3), draw.randrange(3)
            event = draw.choice(
                [
                    ("print", (m, draw.randrange(4))),
                    ("deliver", (p, m)),
                    ("display", (m,)),
                    ("display", (m,)),
                ]
            )
            if draw.random() < 0.1:
                event = (CRASHES, (draw.random() < 0.7,))
            events[draw.randrange(3)].append(Event(*event, {}))
        names = ["p1", "p2", "p3"]
        yield RecordedRun(
            names, names, frozenset({0, 1}), frozenset(), events, {"a": 0, "b": 1, "c": 2}
        )


def _walk(run: RecordedRun, draw: random.Random) -> Iterator[tuple[int, Event]]:
    rest = [list(line) for line in run.events]
    while any(rest):
        process = draw.choice([at for at, line in enumerate(rest) if line])
        yield process, rest[process].pop(0)


def _by_effect(meaning: Meaning, scope: Scope, process: int, event: Event) -> Scope:
    """Returns the state after ``event``, by the effects of a check."""
    if event.op == CRASHES:
        now = scope.state[DOWN] - {process} | ({process} if event.arguments[0] else frozenset())
        return Scope({**scope.state, DOWN: now}, {})
    name = event.op if event.op != "print" else f"{REQUEST}print"
    effect = meaning.world.effects[name if event.op == "print" else f"indicate.{event.op}"]
    values = (process, *event.arguments)
    names = {name: value for (name, _), value in zip(effect.params, values, strict=True)}
    (outcome,) = outcomes(effect.body, Scope(scope.state, names))
    assert outcome.scope is not None
    return Scope(outcome.scope.state, {})


def _value(expr: Any, scope: Scope) -> Any:
    try:
        return evaluate(expr, scope)
    except RunFault as fault:
        return fault.message


def _compiled_value(expr: Any, scope: Scope) -> Any:
    try:
        return compiled(expr)(scope)
    except RunFault as fault:
        return fault.message


@pytest.mark.parametrize("many", [1, 3, 17])
@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_have_the_values_of_the_interpreter(
    formula: str, many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In all states of a random order, with arrays for few values, too; and after each event."""
    monkeypatch.setattr(compiled_module, "MANY", many)
    draw = random.Random(formula)
    interface = _interface(tmp_path, formula)
    asked = next(p.formula for p in interface.properties if p.name == "asked")
    parts = parts_of(asked)
    assert parts is not None
    (part,) = parts.always
    found = set()
    for run in _runs(draw):
        meaning = Meaning(run, interface, asked)
        bad = instances(part.binders, part.premise, part.goal, meaning.env)
        watch = Watch(meaning, parts.always)
        scope = meaning.first()
        plain = Scope({n: v.initial for n, v in meaning.world.variables.items()}, {})
        held = _value(bad, plain) is False
        for process, event in _walk(run, draw):
            scope = meaning.after(scope, process, event)
            plain = _by_effect(meaning, plain, process, event)
            for name, value in plain.state.items():
                assert scope.state[name] == value, name
                assert [getattr(v, "plain", lambda v=v: v)() for v in scope.state[name]] == [*value]
            expected = _value(bad, plain)
            assert _compiled_value(bad, scope) == expected
            if held and isinstance(expected, bool):
                assert watch.still_holds(scope, process, event) is not expected
            held = expected is False
            found.add(expected)
        assert meaning.after_all(run.events).state == scope.state
    assert {True, False} <= found or "[i]" in formula
