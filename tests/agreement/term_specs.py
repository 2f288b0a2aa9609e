"""Random small specs of processes that crash and come back: numbers on disk that only grow, and
messages that are ignored by who has a larger one.
"""

from __future__ import annotations

import random

LINKS = ("persistent", "persistent", "persistent", "stubborn", "perfect", "duplicating", "lossy",
         "fifo", "persistent, lossy")  # fmt: skip
IN_ORDER = ("fifo", "fifo", "fifo", "fifo, lossy")
FAULTS = ("crash <= 1, recover", "crash <= 1, recover", "crash <= 2, recover", "crash <= 1")
GUARDS = (
    "t > term", "t >= term", "t == term", "t > term or (t == term and voted == none)",
    "t == term and phase == asks", "t == term and voted != none", "t > seen", "t >= term and late",
)  # fmt: skip
STATEMENTS = (
    "if t > term { term := t  voted := none }",
    "atomic { term := t  voted := none }",
    "if t > term { voted := none  term := t }",
    "if t >= term { term := t }",
    "if t > seen { seen := t }",
    "if voted == none { voted := some(p) }",
    "phase := rests", "if phase == asks { phase := leads }", "late := true",
    "if t > term { term := t  phase := rests  voted := none }",
    "var x = late  if x { term := t }", "heard += p",
    "var k = term  k := t  term := k", "var k = t  if late { k := term }  term := k",
)  # fmt: skip
OLD = "    send YES(0) to Proc minus {self}"
READ, TRAIL = "  message READ(t: 0..2)", "  state trail : seq<0..2, max 2> = []"
RISKY = (
    "late := trail[t] == term", "trail := trail + t", "term := trail[0]",
    "if term == 2 { late := trail[1] == t }", "seen := seen + 1",
)  # fmt: skip
"""Statements that may meet a run-time error."""

SENDS = (
    "send YES(t) to p",
    "send YES(term) to p",
    "if late { send ASK(term) to Proc minus {self} }",
)
PROPERTIES = (
    "property one : always forall p, q in Proc: p.phase == leads and q.phase == leads => p == q",
    "property low : always forall p in Proc: p.seen <= p.term",
    "property few : always forall p in Proc: #p.heard < 2",
    "property sure : always forall p in Proc: p.voted != none => p.term > 0",
    "property early : always forall p in Proc: p.late => p.term == 2",
    "property rises : forall p in Proc: correct(p) => eventually p.term > 0",
    "property over : forall p in Proc: eventually always p.phase == rests",
)


def _handler(draw: random.Random, message: str) -> str:
    guard = draw.choice(("", *(f" when {g}" for g in GUARDS)))
    body = draw.sample(STATEMENTS, 1 + draw.randrange(2))
    if draw.randrange(100) < 60:
        body.append(draw.choice(SENDS))
    if draw.randrange(100) < 25:
        draw.shuffle(body)
    return f"  upon receive {message}(t) from p{guard} {{ {'  '.join(body)} }}"


def _risky_handler(draw: random.Random) -> str:
    guard = draw.choice(("", " when t == 2", " when t == 2", " when late"))
    return f"  upon receive READ(t){guard} {{ {draw.choice(RISKY)} }}"


def random_term_spec(seed: int, in_order: bool = False, risky: bool = False) -> str:
    """A spec with one check, ``c``; it need not be one that the language takes.

    ``in_order``: messages are received in order, and only safety is asked; two handlers may take
    the same message.  ``risky``: a message is sent after others whose
    reception may meet a run-time error.
    """
    draw = random.Random(f"terms {seed}")
    kept = {name: draw.choice(("stable ", "stable ", "")) for name in ("term", "voted", "seen")}
    asked = draw.sample(PROPERTIES[: -2 if in_order else None], 1 + draw.randrange(3))
    start = draw.choice(("phase != leads and term < 2", "term < 2", "not late and term < 2"))
    enter = draw.choice(
        (
            "atomic { term := term + 1  voted := some(self) }",
            "term := term + 1  voted := some(self)",
            "let t = term + 1  voted := none  term := t",
        )
    )
    return "\n".join(
        [
            "protocol Random {",
            "  message ASK(t: 0..2)",
            "  message YES(t: 0..2)",
            f"  {kept['term']}state term : 0..2 = 0",
            f"  {kept['voted']}state voted : option<Proc> = none",
            f"  {kept['seen']}state seen : 0..2 = 0",
            "  state phase : enum { asks, leads, rests } = rests",
            "  state late = false",
            "  state heard : set<Proc> = {}",
            f"  upon condition {start} {{",
            f"    {enter}  phase := asks  send ASK(term) to Proc minus {{self}}",
            *((OLD, "    send READ(term) to Proc minus {self}") if risky else ()),
            "  }",
            _handler(draw, "ASK"),
            _handler(draw, "YES"),
            *((_handler(draw, "YES"),) if in_order and draw.randrange(2) else ()),
            *((READ, TRAIL, _risky_handler(draw)) if risky else ()),
            *(f"  {text}" for text in asked),
            "}",
            "check c of Random {",
            "  n = 2",
            f"  faults {draw.choice(FAULTS)}",
            f"  links {draw.choice(IN_ORDER if in_order else LINKS)}",
            "  allow unused",
            f"  prove {', '.join(text.split()[1] for text in asked)}",
            "}",
            "",
        ]
    )
