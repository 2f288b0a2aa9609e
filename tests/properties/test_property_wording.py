"""How properties read: every kind of formula, said of a run that violates it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.explain.claims import claims, obligations
from checker.explain.verdict_sentences import sentences
from checker.instantiate.assemble import instantiate
from checker.model.dump import dump
from checker.model.ir import Property
from checker.properties import formula as compiling
from checker.properties.formula import ask
from checker.properties.property_wording import verbs
from checker.resources import specs
from checker.results.events import Requested
from checker.session.pipeline import checks_in, load_check
from tests.explain.violations import Violation, violation

INTERFACE = """
interface Post {
  request write(m: Msg)
  indication deliver(p: Proc, m: Msg)
  indication note(k: 0..9)
}
"""

PROTOCOL = """
protocol P implements Post {
  message DATA(m: Msg)
  message HELLO
  state mood : enum { calm, angry } = calm
  state count : 0..3 = 0
  state seen : set<Msg> = {}
  state done = false
  state votes : map<Proc, 0..2> = 0
  shared state total : 0..9 = 0
  upon request write(m) {
    count += 1
    total += 2
    mood := angry
    done := true
    seen := seen + m
    votes[self] := 2
    note(7)
    send DATA(m) to all
  }
  upon receive DATA(m) from p { deliver(p, m) }
  property asked: FORMULA
}
check c of P { n = 2  clients { p1 writes a }  prove asked }
"""

SAID = {
    "always forall p in Proc: p.mood == calm": "p1.mood is angry, not calm",
    "always forall p in Proc: p.mood != angry": "p1.mood is angry",
    "always forall p in Proc: p.count < 1": "p1.count is 1, not below 1",
    "always forall p in Proc: 0 >= p.count": "p1.count is 1, not at most 0",
    "always total <= 1": "total is 2, not at most 1",
    "always forall p in Proc: not p.done": "p1.done is true",
    "always forall p in Proc, m in p.seen: m in p.seen and not p.done": (
        "a is in p1.seen and p1.done is true"
    ),
    "always forall p in Proc, m in Msg: not (m in p.seen)": "a is in p1.seen",
    "always forall p in Proc: #p.seen < 1": "the size of p1.seen is 1, not below 1",
    "always #{ p for p in Proc when p.done } == 0": (
        "the size of { p for p in Proc when p.done } is 1, not 0"
    ),
    "always forall p in Proc: p.votes[p] <= 1": "p1.votes[p1] is 2, not at most 1",
    "always forall p in Proc, m in Msg: not (m in written(p))": "p1 wrote a",
    "always forall p in Proc, k in noted(p): k < 7": "p1 noted 7",
    "always forall p in Proc, (s, m) in delivered(p): s != p": "p1 delivered a",
    "always forall p in Proc, m in Msg: m in written(p) => (p, m) in delivered(p)": (
        "p1 wrote a and has not delivered it"
    ),
    "always forall p in Proc, m in written(p): exists q in Proc: (p, m) in delivered(q)": (
        "p1 wrote a and no process delivered a"
    ),
    "always forall p in Proc: p.done == (p.count == 2)": "p1.done is true; p1.count is 1, not 2",
    "forall p, q in Proc, m in Msg: (p, m) in delivered(q) ~> (q, m) in delivered(p)": (
        "p2 delivered a and p1 never delivers a from p2"
    ),
    "forall p in Proc: eventually p.done": "p2.done is never true",
    "forall p in Proc: eventually always p.mood == calm": "p1.mood is never again calm",
    "forall p, q in Proc: eventually always p.count == q.count": (
        "p1.count never again equals p2.count, which is 0"
    ),
    "forall p in Proc: p.done ~> exists k in noted(p): k == 8": None,
    "forall p in Proc, m in Msg: m in written(p) ~> repeated(delivered(p), (p, m))": (
        "p1 wrote a and never delivers a twice"
    ),
    "eventually forall p in Proc: p.done": "p2.done is never true",
    "forall m in Msg: (exists p in Proc: m in written(p)) ~> exists p in Proc: p.count == 3": None,
    "forall p in Proc: correct(p) ~> exists (s, m) in delivered(p): s != p1": (
        "`exists (s, m) in delivered(p1): s != p1` never holds"
    ),
    "always not (exists p in Proc: p.done and p.count == 1)": ("p1.done is true and p1.count is 1"),
}
"""For each formula what is said of the shortest run that violates it; ``None``: something."""


def found_for(folder: Path, formula: str, **edits: str) -> Violation:
    text = INTERFACE + PROTOCOL.replace("FORMULA", formula)
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    return violation(path, "c", "asked")


def first_sentence(found: Violation) -> str:
    return sentences(found.system, found.prop, found.run, found.trace)[0]


@pytest.mark.parametrize(("formula", "expected"), SAID.items(), ids=SAID)
def test_sentences(tmp_path: Path, formula: str, expected: str | None) -> None:
    found = found_for(tmp_path, formula)
    said = first_sentence(found)
    assert said.startswith("`asked` fails: ")
    assert said != found.trace.sentence
    if expected is not None:
        assert said == f"`asked` fails: {expected}."
    made = claims(found.system, found.prop, found.run, found.trace)
    assert made
    assert all(len(claim.truths) == len(found.trace.steps) for claim in made)


def test_formulas_have_the_runs_values(tmp_path: Path) -> None:
    formula = "forall p, q in Proc, m in Msg: (p, m) in delivered(q) ~> (q, m) in delivered(p)"
    found = found_for(tmp_path, formula)
    made = claims(found.system, found.prop, found.run, found.trace)
    assert [(claim.formula, claim.role) for claim in made] == [
        ("(p1, a) in delivered(p2)", "premise"),
        ("(p2, a) in delivered(p1)", "goal"),
    ]
    first, *_ = obligations(found.system, found.prop, found.run, found.trace)
    assert (first.text, first.met) == ("p1 delivers a from p2", None)


def test_a_message_of_several_senders_keeps_its_sender(tmp_path: Path) -> None:
    formula = "always forall p in Proc, (s, m) in delivered(p): s != p"
    found = found_for(tmp_path, formula, **{"p1 writes a": "p1 writes a  p2 writes a"})
    if len({event.process for step in found.trace.steps for event in step.events
            if isinstance(event, Requested)}) == 2:  # fmt: skip
        assert "from" in first_sentence(found)
    else:
        assert "from" not in first_sentence(found)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("deliver", ("delivered", "has not delivered", "{} delivers")),
        ("decide", ("decided", "has not decided", "{} decides")),
        ("broadcast", ("broadcast", "has not broadcast", "{} broadcasts")),
        ("send", ("sent", "has not sent", "{} sends")),
        ("write", ("wrote", "has not written", "{} writes")),
        ("reply", ("replied", "has not replied", "{} replies")),
        ("push", ("pushed", "has not pushed", "{} pushes")),
        ("lock_room", ("lock roomed", "has not lock roomed", "{} lock rooms")),
    ],
)
def test_verbs(op: str, expected: tuple[str, str, str]) -> None:
    assert verbs(op) == expected


def test_nothing_that_is_explored_depends_on_how_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Names, their numbers too, and all that is written of a system are the same without it."""
    path = str(specs() / "broadcast" / "eager_reliable.bcast")

    def written(fine: bool) -> tuple[str, tuple[Property, ...]]:
        check = load_check(path, "crash_one", {})
        system = instantiate(check, {}, ask, fine=fine).system
        return dump(system), system.properties

    told = [written(fine) for fine in (False, True)]
    monkeypatch.setattr(compiling, "reading", lambda *_, **__: None)
    silent = [written(fine) for fine in (False, True)]
    assert told == silent
    assert all(prop.reading is not None for _, properties in told for prop in properties)
    assert all(prop.reading is None for _, properties in silent for prop in properties)


def test_every_property_of_the_library_reads() -> None:
    """A reading is there for each, and survives a system whose effects are steps."""
    for file in sorted((specs() / "exactly_once").glob("*.bcast")):
        for name in checks_in(str(file))[:2]:
            made = instantiate(load_check(str(file), name, {}), {}, ask, fine=True)
            assert all(prop.reading is not None for prop in made.system.properties)
            assert all(prop.reading.looking for prop in made.system.properties if prop.reading)
