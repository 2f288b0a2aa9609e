"""Random protocols that count: what is proved of their automata is so in the finite systems.

Guards, messages and faults are drawn at random; at small numbers what z3 says of the automaton is
compared with what the interpreter finds.  An automaton may do more than the systems, never less.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.parametric.automaton.automaton import And, Outcome
from checker.parametric.symbolic.decide import ParametricChecker
from checker.proving.parametric import automaton_of
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import run_check

SEEDS = 400 if os.environ.get("BIVALENCE_LONG") else 6
SIZES = [(1, 0, 0), (1, 0, 1), (2, 0, 0), (2, 0, 1), (2, 1, 0), (2, 1, 1), (2, 2, 1), (3, 1, 0)]
STATES = ("s1", "s2", "out")
DECLARED = {"A": "message A", "B": "message B(v: bool)", "C": "message C"}
BOUNDS = "1|2|T|T + 1|n - T|n - f|f + 1|2 * T + 1|(n + f) div 2 + 1|n div 2|n".split("|")
FAULTS = ("byzantine <= f", "crash <= f", "byzantine <= f, crash <= 1")

PROPERTIES = """
  property unforged :
    always forall q in Proc: correct(q) and q.{a} => exists p in Proc: {some}p.wants
  property apart : always forall p, q in Proc: not (p.s1 and q.s2)
  property relayed : forall p, q in Proc: correct(p) and correct(q) and p.{a} ~> q.{b}
  property comes :
    forall q in Proc: correct(q) and (forall p in Proc: correct(p) => p.wants) ~> q.{a}
}}
check c of R {{
  for all n, T, f
  faults {faults}
  links authenticated{stubborn}
  prove unforged, apart, relayed, comes
  allow unused
}}
"""

# A process that had done without a message was once taken for one that had received it.
FORGOTTEN = """
protocol R(T: Nat) {
  message C
  state out = false
  state s1 = false
  state s2 = false
  upon condition not out { out := true }
  upon receive C from p when not s1 { s1 := true  send C to all }
  upon condition out and not s1 { s1 := true }
  upon receive C from p when not s2 { s2 := true }
  property relayed : forall p, q in Proc: correct(p) and correct(q) and p.out ~> q.s2
}
check c of R { for all n, T, f  faults byzantine <= f  links authenticated, stubborn
  prove relayed  allow unused }
"""


class Drawn:
    """A protocol made with the numbers of ``rng``."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.messages = rng.choice([["A"], ["B"], ["A", "B"], ["A", "C"], ["A", "B", "C"]])
        self.sent: set[str] = set()

    def count(self) -> str:
        message = self.rng.choice(self.messages)
        if message == "B":
            message = self.rng.choice(["B(true)", "B(false)", "B(_)"])
        times = "2 * " if self.rng.random() < 0.15 else ""
        own = " + (if s1 then 1 else 0)" if self.rng.random() < 0.15 else ""
        return f"{times}#received({message}){own}"

    def condition(self, inner: bool = False) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            return self.rng.choice(["wants", "not wants", *STATES])
        if inner or kind < 0.8:
            compared = self.rng.choice([">=", ">=", ">=", ">", "<", "=="])
            return f"{self.count()} {compared} {self.rng.choice(BOUNDS)}"
        word = self.rng.choice(["and", "or"])
        return f"({self.condition(True)} {word} {self.condition(True)})"

    def body(self, flag: str) -> str:
        parts = [f"{flag} := true"]
        free = [m for m in self.messages if m not in self.sent]
        if free and self.rng.random() < 0.75:
            message = self.rng.choice(free)
            self.sent.add(message)
            if message == "B":
                message = self.rng.choice(["B(true)", "B(false)", "B(wants)"])
            sending = f"send {message} to {self.rng.choice(['all', 'Proc minus {self}'])}"
            some = self.rng.random() < 0.2
            parts.append(f"if {self.condition()} {{ {sending} }}" if some else sending)
        self.rng.shuffle(parts)
        return "  ".join(parts)

    def handler(self, flag: str) -> str:
        if self.rng.random() < 0.25:
            message = self.rng.choice(self.messages)
            message = "B(v)" if message == "B" else message
            return f"  upon receive {message} from p when not {flag} {{ {self.body(flag)} }}"
        return f"  upon condition {self.condition()} and not {flag} {{ {self.body(flag)} }}"

    def text(self) -> str:
        lines = ["protocol R(T: Nat) {", *(f"  {DECLARED[m]}" for m in self.messages)]
        lines += ["  state wants = false", "  init choose wants"]
        lines += [f"  state {name} = false" for name in STATES]
        for flag in self.rng.sample(STATES, 3):
            lines += [self.handler(flag) for _ in range(self.rng.choice([1, 1, 2]))]
        faults = self.rng.choice(FAULTS)
        some = "" if "crash" in faults else "correct(p) and "
        a, b = self.rng.choice(STATES), self.rng.choice(STATES)
        stubborn = self.rng.choice(["", ", stubborn"])
        how = {"a": a, "b": b, "some": some, "faults": faults, "stubborn": stubborn}
        return "\n".join(lines) + PROPERTIES.format(**how)


def compared(path: Path, sizes: tuple[int, int, int]) -> int:
    """How many properties of the check in ``path`` are decided by both, at ``sizes``."""
    try:
        automaton, questions = automaton_of(str(path), "c", Options())
    except SpecError as outside:
        assert all(found.code[0] == "T" for found in outside.diagnostics)
        return 0
    numbers = dict(zip(("n", "T", "f"), sizes, strict=True))
    counting = ParametricChecker(automaton, fixed=numbers, resilience=And(()))
    said = {question.property: counting.decide(question).outcome for question in questions}
    settings = {name: str(value) for name, value in numbers.items()}
    limits = Limits(max_states=1_500)
    report = run_check(
        str(path), "c", Options(settings=settings, engine="reference", limits=limits)
    )
    assert {v.property for v in report.verdicts} == said.keys()
    for verdict in report.verdicts:
        if verdict.word is Word.VIOLATED:
            assert said[verdict.property] is Outcome.VIOLATED, verdict.property
    return sum(v.word in (Word.HOLDS, Word.VIOLATED) for v in report.verdicts)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_proved_is_so(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = tmp_path / "random.bcast"
    path.write_text(Drawn(rng).text(), encoding="utf-8")
    compared(path, rng.choice(SIZES))


@pytest.mark.parametrize("sizes", [(1, 0, 0), (1, 0, 1), (2, 1, 0)])
def test_who_has_done_without_a_message_has_not_received_it(
    sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    path = tmp_path / "forgotten.bcast"
    path.write_text(FORGOTTEN, encoding="utf-8")
    assert compared(path, sizes) == 1
