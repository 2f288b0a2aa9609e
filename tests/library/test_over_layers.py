"""What holds over any layer that keeps an interface holds over those of the library that keep it.

Small protocols whose handlers ask a layer, store, act and tell in every order are asked what comes
before what, once with the layer given as an oracle, and once for each implementation that keeps the
interface in that world.  For all of them, with figures:
``BIVALENCE_LONG=1 pytest tests/library/test_over_layers.py -s``.
"""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.language.load import load
from checker.resources import specs
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import run_check

LONG = bool(os.environ.get("BIVALENCE_LONG"))
STATES = 100_000 if LONG else 5_000
UPPERS = 24 if LONG else 2
"""So many protocols stand on each layer in each world."""

WORLDS = {
    "no fault": "",
    "crash": "faults crash <= 1",
    "recovery": "faults crash <= 1, recover",
    "stubborn links": "faults crash <= 1  links stubborn",
}
GOOD = (Word.HOLDS, Word.VACUOUS)


@dataclass(frozen=True)
class Layer:
    """An implementation of ``interface`` in a file of the library, and what its world has to have.

    ``request`` and ``told`` are how an upper protocol asks it for a message, and what it is told.
    """

    interface: str
    protocol: str
    file: str
    world: str = ""
    request: str = "broadcast({})"
    told: str = "deliver(_, {})"
    clients: str = "p1 broadcasts a, b  p2 broadcasts c"

    def __str__(self) -> str:
        return self.protocol

    @property
    def path(self) -> Path:
        return specs() / self.file


def _consensus(interface: str, protocol: str, file: str, world: str = "") -> Layer:
    asked = "p1 proposes a, b"
    return Layer(interface, protocol, file, world, "propose({})", "decide({})", asked)


def _link(protocol: str, file: str, world: str = "") -> Layer:
    asked = "p1 sends (p1, a), (p1, b)  p2 sends (p2, c)"
    return Layer("PerfectLink", protocol, file, world, "send(self, {})", "deliver(_, {})", asked)


LAYERS = [
    Layer("ReliableBroadcast", "ThriftyReliableBroadcast", "broadcast/thrifty_reliable.bcast"),
    Layer("BestEffortBroadcast", "BasicBroadcast", "interfaces/best_effort_broadcast.bcast"),
    _consensus(
        "MessageConsensus", "HierarchicalConsensus", "consensus/hierarchical.bcast", "detector P"
    ),
    _link("EliminateDuplicatesOnly", "links/perfect.bcast"),
    Layer("ReliableBroadcast", "EagerReliableBroadcast", "broadcast/eager_reliable.bcast"),
    Layer("FifoReliableBroadcast", "FifoBroadcast", "broadcast/fifo.bcast"),
    Layer(
        "ReliableBroadcast", "LazyReliableBroadcast", "broadcast/lazy_reliable.bcast", "detector P"
    ),
    Layer(
        "UniformReliableBroadcast", "AllAckUniformBroadcast", "broadcast/uniform_all_ack.bcast",
        "detector P",
    ),
    _link("LoggedLink", "links/crash_and_recovery.bcast", "timing synchronous"),
    Layer("CausalReliableBroadcast", "CausalWaiting", "broadcast/causal_waiting.bcast"),
    Layer("TotalOrderBroadcast", "LamportTotalOrder", "total_order/lamport_clock.bcast"),
]  # fmt: skip
SOME = [
    (layer, "crash" if layer.protocol == "ThriftyReliableBroadcast" else "no fault")
    for layer in LAYERS[:4]
]
PAIRS = [*itertools.product(LAYERS, WORLDS)] if LONG else SOME


# ---- the protocols above ------------------------------------------------------------------------

FACTS = {
    "logged": "m in p.log",
    "acted": "m in performed",
    "noted": "m in noted(p)",
    "heard": "m in p.heard",
    "answered": "m in p.answered",
}
ORDERS = {
    f"{one}_after_{other}": f"always forall p in Proc, m in posted(p): {first} => {second}"
    for (one, first), (other, second) in itertools.permutations(FACTS.items(), 2)
}
LATER = {
    "comes_to_all": "forall p, q in Proc, m in Msg: "
    "correct(p) and correct(q) and m in posted(p) ~> m in q.heard",
    "is_noted": "forall p in Proc, m in Msg: correct(p) and m in posted(p) ~> m in noted(p)",
    "agreed": "forall p, q in Proc, m in Msg: "
    "correct(p) and correct(q) and m in noted(p) ~> m in noted(q)",
    "noted_once": "always forall p in Proc, m in noted(p): not repeated(p, m)",
}
PROPERTIES = {**ORDERS, **LATER}

UPPER = """
interface Board {{
  request post(m: Msg)
  indication note(m: Msg)
}}
protocol Upper implements Board {{
  uses x : {interface}
  message ONE(m: Msg)
  message TWO(m: Msg)
  {kept}state log : set<Msg> = {{}}
  state todo : set<Msg> = {{}}
  state heard : set<Msg> = {{}}
  state answered : set<Msg> = {{}}
{handlers}
{properties}
}}
check over of Upper {{
  n = 2
  {world}
  given x as {what}
  clients {{ p1 posts a }}
  prove {asked}
  allow unused
}}
"""


def handlers(layer: Layer, number: int) -> str:
    """The handlers of the upper protocol of that ``number``: orders of what they do, drawn."""
    draw = random.Random(number)

    def asks(message: str) -> str:
        return f"x.{layer.request.format(f'{message}(m)')}"

    def ordered(first: list[str], others: list[str]) -> str:
        some = [each for each in others if draw.random() < 0.6]
        return "  ".join(draw.sample([*first, *some], len(first) + len(some)))

    act = draw.sample([["perform m"], []], 2)  # here or there
    own = ordered([asks("ONE"), "log += m", *act[0]], ["note(m)", asks("TWO")])
    heard = ordered(["heard += m", *act[1]], ["note(m)", asks("TWO"), "log += m"])
    again = ordered(["answered += m"], ["note(m)", "perform m"])
    asked = f"upon request post(m) {{ {own} }}"
    if draw.random() < 0.4:
        asked = (
            "upon request post(m) { todo += m }\n"
            f"  upon condition todo != {{}} {{ choose m in todo  todo -= m  {own} }}"
        )
    one, two = (f"upon x.{layer.told.format(f'{name}(m)')}" for name in ("ONE", "TWO"))
    return f"  {asked}\n  {one} {{ {heard} }}\n  {two} {{ {again} }}"


def upper(layer: Layer, world: str, number: int, what: str) -> str:
    """The text of an upper protocol whose layer is ``what``, and a check of it."""
    return f'import "{layer.path}"\n' + UPPER.format(
        interface=layer.interface,
        kept="stable " if "recover" in world and number % 2 else "",
        handlers=handlers(layer, number),
        properties="\n".join(f"  property {name} : {text}" for name, text in PROPERTIES.items()),
        world=WORLDS[world] if what == "oracle" else f"{WORLDS[world]}  {layer.world}",
        what=what,
        asked=", ".join(PROPERTIES),
    )


# ---- what holds ---------------------------------------------------------------------------------


def verdicts(path: Path, text: str) -> Mapping[str, Word]:
    """Those of the only check of ``text``, which is written to ``path``."""
    path.write_text(text, encoding="utf-8")
    report = run_check(str(path), None, Options(limits=Limits(max_states=STATES), threads=1))
    return {v.property: v.word for v in report.verdicts}


@cache
def keeps(layer: Layer, world: str, folder: Path) -> bool:
    """Whether the layer has the properties of its interface there."""
    module = load(layer.path)
    protocol = next(p for p in module.protocols if p.name == layer.protocol)
    assert protocol.implements is not None and protocol.implements.name == layer.interface
    asked = ", ".join(p.name for p in protocol.implements.properties)
    where = f"n = 2  {WORLDS[world]}  {layer.world}  clients {{ {layer.clients} }}"
    text = f"check own of {layer.protocol} {{ {where}  prove {asked}  allow unused }}"
    found = verdicts(folder / "own.bcast", f'import "{layer.path}"\n{text}')
    return all(word in GOOD for word in found.values())


@pytest.mark.parametrize(("layer", "world"), PAIRS, ids=lambda each: str(each).replace(" ", "_"))
def test_what_holds_over_the_oracle(layer: Layer, world: str, tmp_path: Path) -> None:
    if not keeps(layer, world, tmp_path):
        assert LONG, "the sample has layers that keep their interface"
        pytest.skip("the layer does not keep its interface there")
    figures: Counter[str] = Counter()
    for number in range(UPPERS):
        texts = [upper(layer, world, number, what) for what in ("oracle", layer.protocol)]
        anything = verdicts(tmp_path / f"oracle{number}.bcast", texts[0])
        this = verdicts(tmp_path / f"layer{number}.bcast", texts[1])
        for name, word in anything.items():
            if word in GOOD and this[name] is not Word.UNKNOWN:
                assert this[name] in GOOD, f"{name} holds over the oracle, not over\n{texts[1]}"
                figures["held"] += 1
            elif Word.UNKNOWN in (word, this[name]):
                figures["unknown"] += 1
            else:
                figures["failed over the oracle"] += 1
                figures["and over the layer"] += this[name] is Word.VIOLATED
    if LONG:
        print(f"\n{layer} ({world}): {dict(figures)}")
    assert figures["held"] > figures["unknown"] and figures["failed over the oracle"]


# ---- what is said within a request --------------------------------------------------------------

WITHIN = """
import "{path}"
protocol Upper(asker: Proc) {{
  uses rb : ReliableBroadcast
  message ONE
  message TWO
  state asked = false
  state done = false
  state early = false
  upon condition not asked at asker {{ asked := true  rb.broadcast(ONE)  done := true }}
  {answers}
  property later : always forall p in Proc: not p.early
}}
check over of Upper {{ n = 2  given rb as {what}  prove later  allow unused }}
"""
ANSWERS = {
    "a word": "upon rb.deliver(p, ONE) at asker { if not done { early := true } }",
    "a word about a word": """
      upon rb.deliver(p, ONE) at asker { rb.broadcast(TWO) }
      upon rb.deliver(p, TWO) at asker { if not done { early := true } }""",
    "a word about a word, and more is done": """
      upon rb.deliver(p, ONE) at asker { rb.broadcast(TWO)  skip }
      upon rb.deliver(p, TWO) at asker { if not done { early := true } }""",
}


@pytest.mark.parametrize("answers", ANSWERS)
def test_what_a_layer_says_at_once_an_oracle_may(answers: str, tmp_path: Path) -> None:
    """A thrifty broadcast delivers to its sender before the request is over."""
    path = specs() / "broadcast" / "thrifty_reliable.bcast"
    for what in ("ThriftyReliableBroadcast", "oracle"):
        text = WITHIN.format(path=path, answers=ANSWERS[answers], what=what)
        assert verdicts(tmp_path / "over.bcast", text)["later"] is Word.VIOLATED, what
