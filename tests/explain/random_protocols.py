"""Random small protocols, with and without one message: the guard of its handler drops it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

LINKS = ("perfect", "fifo", "lossy", "fair_loss", "fair_loss, fifo", "duplicating", "stubborn")
WORLDS = ("", "timing synchronous", "faults crash <= 1", "faults partition <= 1")
PROPERTIES = (
    "forall p in Proc: 0 in goed(p) ~> exists q in Proc: q.done",
    "forall p, q in Proc: correct(p) and correct(q) and 0 in noted(p) ~> 0 in noted(q)",
    "forall p in Proc: correct(p) and 0 in goed(p) ~> 1 in noted(p)",
    "always forall p in Proc: not before(p, 0, 1)",
    "always forall p, q in Proc: not (p.done and 1 in noted(q))",
    "always forall p in Proc: not repeated(p, 1)",
)

SPEC = """interface Random {{ request go(v: 0..1)  indication note(v: 0..1) }}
protocol P(sender: Proc, receiver: Proc) implements Random {{
  message M0
  message M1
  state done = false
  state said = false
  upon request go(v) {{ {asked} }}
  upon receive M0 from p {guard0} {{ {first} }}
  upon receive M1 from p {guard1} {{ {second} }}
  property q: {formula}
}}
check c of P {{
  n = 2
  sender = {sender}
  receiver = {receiver}
  links {links}
  {world}
  clients {{ p1 goes 0 }}
  prove q
}}
"""
STATEMENTS = (
    "note(0)",
    "note(1)",
    "done := true",
    "if not said { said := true  send M? to all }",
    "if not said { said := true  send M? to p }",
    "if done { note(1) } else { note(0) }",
    "if p == self { note(0) } else { note(1) }",
)


@dataclass(frozen=True)
class Drawn:
    """A random protocol in a random world."""

    parts: dict[str, str]

    def write(self, file: Path, without: tuple[str, str, str] | None = None) -> None:
        """Writes it to ``file``; ``without``: a message, its sender and its receiver, to whom it
        makes no difference."""
        message, sender, receiver = without or ("", "p1", "p1")
        parts = dict(self.parts, sender=sender, receiver=receiver)
        for number in (0, 1):
            drops = message == f"M{number}"
            guard = "when not (p == sender and self == receiver)" if drops else ""
            parts[f"guard{number}"] = guard
        file.write_text(SPEC.format(**parts))


def draw(seed: int) -> Drawn:
    """The protocol number ``seed``."""
    chance = random.Random(seed)

    def block(fewest: int) -> str:
        made = (chance.choice(STATEMENTS) for _ in range(chance.randint(fewest, 2)))
        return "  ".join(statement.replace("M?", chance.choice(("M0", "M1"))) for statement in made)

    asked = [f"send M{number} to all" for number in (0, 1) if chance.random() < 0.7]
    return Drawn(
        {
            "asked": "  ".join(asked or ["send M0 to all"]),
            "first": block(1),
            "second": block(0) or "skip",
            "formula": chance.choice(PROPERTIES),
            "links": chance.choice(LINKS),
            "world": chance.choice(WORLDS),
        }
    )
