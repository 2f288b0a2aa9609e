"""Twenty thousand texts, most of them wrong: a module or a list of diagnostics, nothing else."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker import resources
from checker.diagnostics import SpecError
from checker.language.load import load_text
from tests.selection import WHOLE, first_by_default

PAGE = """protocol TwoPhaseCommit {
  role coordinator(1) {
    state outcome : enum { undecided, committed, aborted } = undecided
    upon condition outcome == undecided and #received(PREPARED) == #participant {
      outcome := committed  send COMMIT to all participant }
    upon condition outcome == undecided { outcome := aborted  send ABORT to all participant }
  }
  role participant(n) {
    state vote : enum { working, prepared, committed, aborted } = working
    upon condition vote == working { vote := prepared  send PREPARED to coordinator }
    upon receive COMMIT { vote := committed }
    upon receive ABORT  { vote := aborted }
  }
  message PREPARED  message COMMIT  message ABORT
  property consistent: always forall p, q in participant:
    not (p.vote == committed and q.vote == aborted)
}
"""
BRACHA = """protocol BrachaBroadcast(sender: Proc) implements ReliableBroadcast requires n > 3 * f {
  message SEND(m: Msg)  message READY(m: Msg)
  state echoed = false
  state log : map<Proc, seq<(0..3, Msg), max 3>> = []
  upon request broadcast(m) at sender { send SEND(m) to all }
  upon receive SEND(m) from p when p == sender and not echoed { echoed := true  send READY(m) to p }
  upon condition 2 * #received(READY(m)) > n + f when not echoed {
    either { deliver(sender, m) } or when self in { q for q in Proc } { log[self] += (1, m) } }
}
check four of BrachaBroadcast { n = 4  f = 1  faults crash <= 1  links fifo, bounded 2
  clients { p1 broadcasts a }  prove validity, agreement  expect agreement violated }
"""
TOKEN = re.compile(r'\s+|[A-Za-z_]\w*|\d+|"[^"\n]*"|.', re.S)
ODD = [
    "\0",
    "\r",
    "\n",
    '"',
    "//",
    "\U0001f600",
    "\ud800",
    "\u2028",
    "{",
    "}",
    "(",
    ")",
    "{|",
    "_",
    "99999999999",
    "self",
    "forall",
    "upon",
    "received(",
    "in",
    "when",
    ":=",
    "..",
    "none",
]
SHARDS = 16
MUTATED = 16_000
SOUPS = 3_000
SLOWEST = 5.0


def corpus() -> list[list[str]]:
    """The library and two examples as tokens, cut where they are long."""
    texts = [PAGE, BRACHA]
    texts += [p.read_text(encoding="utf-8") for p in sorted(resources.specs().rglob("*.bcast"))]
    return [TOKEN.findall(re.sub(r"//[^\n]*", "", t)) for t in texts]


CORPUS = corpus()
WORDS = sorted({w for tokens in CORPUS for w in tokens if not w.isspace()})


def accepted(text: str) -> bool:
    """Whether ``text`` is a spec; anything but a module or a ``SpecError`` fails the test."""
    start = time.perf_counter()
    try:
        load_text(text, "fuzz/a.bcast")
    except SpecError as error:
        assert error.diagnostics
        assert all(d.span and d.span.line >= 1 and d.message for d in error.diagnostics)
        return False
    finally:
        assert time.perf_counter() - start < SLOWEST
    return True


def mutated(rng: random.Random) -> str:
    """A spec, or a stretch of one, with a few tokens deleted, doubled, swapped or spliced in."""
    tokens = list(rng.choice(CORPUS))
    if len(tokens) > 150 and rng.random() < 0.9:
        start = rng.randrange(len(tokens) - 100)
        tokens = tokens[start : start + rng.randrange(20, 150)]
        tokens = [*rng.choice((["protocol P {\n"], [])), *tokens, *rng.choice((["\n}"], []))]
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        match rng.randrange(6):
            case 0:
                del tokens[at : at + rng.choice((1, 1, 1, 5))]
            case 1:
                tokens.insert(at, rng.choice(tokens))
            case 2:
                other = rng.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                source = rng.choice(CORPUS)
                start = rng.randrange(len(source))
                tokens[at:at] = source[start : start + rng.randrange(10)]
            case 4:
                tokens[at] = rng.choice(WORDS)
            case _:
                tokens[at] = rng.choice(ODD)
    return "".join(tokens)


@pytest.mark.parametrize("shard", first_by_default(range(SHARDS), 1))
def test_mutated_specs(shard: int) -> None:
    rng = random.Random(shard)
    good = sum(accepted(mutated(rng)) for _ in range(MUTATED // SHARDS))
    assert 0 < good < MUTATED // SHARDS


def test_soups_of_words_and_bytes() -> None:
    rng = random.Random(2001)
    for round_ in range(SOUPS):
        if round_ % 3:
            words = rng.choices(WORDS + ODD, k=rng.randrange(1, 40))
            accepted(rng.choice(("", "protocol P { ", "check c of P { ")) + " ".join(words))
        else:
            accepted(rng.randbytes(rng.randrange(200)).decode("latin-1"))


LEAVES = st.sampled_from(
    [
        "0",
        "1",
        "true",
        "none",
        "self",
        "m",
        "p",
        "n",
        "color",
        "red",
        "{}",
        "[]",
        "{||}",
        "Proc",
        "bool",
        "Msg",
        "seen",
        "slots",
        "chosen",
        "log",
        "STOP",
    ]
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda e: st.one_of(
        st.tuples(
            e,
            st.sampled_from(
                [
                    "==",
                    "!=",
                    "<",
                    "+",
                    "-",
                    "*",
                    "in",
                    "and",
                    "or",
                    "=>",
                    "++",
                    "union",
                    "minus",
                    "subset",
                ]
            ),
            e,
        ).map(lambda t: f"({' '.join(t)})"),
        st.tuples(e, e).map(lambda t: f"({', '.join(t)})"),
        e.map(lambda t: f"{{{t}}}"),
        e.map(lambda t: f"#{t}"),
        e.map(lambda t: f"some({t})"),
        e.map(lambda t: f"get({t})"),
        e.map(lambda t: f"{{ x for x in {t} }}"),
        e.map(lambda t: f"(forall x in {t}: x == x)"),
        st.tuples(e, e).map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(e, e, e).map(lambda t: f"(if {t[0]} then {t[1]} else {t[2]})"),
        e.map(lambda t: f"#received(DATA({t}))"),
    ),
    max_leaves=8,
)
HOME = """protocol P implements ReliableBroadcast {
  message DATA(m: Msg)  message STOP
  state color : enum { red, green } = red  state seen : set<Msg> = {}
  state slots : map<0..3, bool> = false  state chosen : option<Proc> = none
  state log : seq<(Proc, Msg), max 3> = []
  upon receive DATA(m) from p when %s { color := %s  log += %s  send %s to %s }
  upon condition %s { let y = %s }
  property a: always forall p in Proc, m in Msg: %s
}
"""


@settings(
    max_examples=200 if WHOLE else 50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.tuples(*[EXPRESSIONS] * 8))
def test_made_expressions(parts: tuple[str, ...]) -> None:
    accepted(HOME % parts)
