"""A Byzantine process can forge every message that a correct one can notice.

Which messages these are is read off the typed protocols of the stack: what a handler receives and
what `received` asks about, whoever sends it.
"""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.instantiate.protocol import stack
from checker.instantiate.protocol.sizes import compute
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.sizes import Sizes
from checker.language.load import load
from checker.language.syntax import typed
from checker.model import ir
from checker.model.interpreter import initial_states, name_values, successors
from checker.model.types import Type, Value, VariantT
from checker.properties.formula import ask
from checker.resources import specs
from tests.agreement.specs import random_spec
from tests.agreement.test_random_protocols import Drawn
from tests.finite_checks import bodies, finite_checks
from tests.instantiate.tables import WAYS, Case, compare, run, words

Said = tuple[str, str]
"""A layer and the name of a message of it."""

INTERFACE_OF_LOW = "interface Up { request go(v: 0..1)  indication done(v: 0..1) }\n"

LOW = """
protocol Low implements Up {
  message L
  state x = false
  upon condition #received(L) >= 1 and not x { x := true  done(1) }
  upon request go(v) { skip }
}
"""

STATE = "message V(v: bool)  message W  state b = false"
END = "check c of P {{ n = 2  faults byzantine <= 1  links {}  {}  prove never  allow unused }}"
NEVER = "property never : always forall p in Proc: correct(p) => not p.b\n"


def _counts(title: str, body: str, *, more: str = "", world: str = "", before: str = "") -> Case:
    """A case in which somebody goes on by messages that only a Byzantine process sends."""
    text = f"{before}protocol P {{ {STATE}\n{body}\n{NEVER}}}\n"
    return Case(title, text + END.format(f"authenticated{more}", world), "never violated")


CASES = [
    _counts(
        "counted in a condition",
        "upon condition #received(V(_)) >= 1 and not b { b := true }",
    ),
    _counts(
        "a value of its own to be counted",
        """upon condition #received(V(true)) >= 1 and #received(V(false)) >= 1 and not b {
          b := true }""",
    ),
    _counts(
        "beside a message that is sent",
        """state t = false
        upon condition not t { t := true  send W to all }
        upon condition #received(V(_)) >= 1 and not b { b := true }""",
    ),
    _counts(
        "counted in a guard",
        """state t = false
        upon condition not t when #received(W) >= 1 { t := true  b := true }""",
    ),
    _counts(
        "counted in a statement",
        """state t : 0..3 = 0
        upon condition t < 3 { t := t + 1  if exists p in Proc: p in received(W) { b := true } }""",
    ),
    _counts(
        "counted by a layer below",
        "uses low : Low  upon low.done(v) { b := true }",
        before=INTERFACE_OF_LOW + LOW,
    ),
    _counts(
        "counted by one of a family of layers",
        """uses low[0..1] : Low  state t = false
        upon low[1].done(v) { b := true }""",
        before=INTERFACE_OF_LOW + LOW,
    ),
    _counts(
        "counted when a timer expires",
        "upon timeout when #received(V(true)) >= 1 { b := true }",
        world="timing asynchronous",
    ),
    _counts(
        "counted at the end of a round",
        "upon timeout when #received(V(true)) >= 1 { b := true }",
        world="timing synchronous",
    ),
    _counts(
        "counted on links that keep an order",
        "upon condition #received(W) >= 1 and not b { b := true }",
        more=", fifo",
    ),
    Case(
        "counted by one role only",
        """
        protocol P {
          message READY
          role client(1) { state t = false  upon condition not t { t := true } }
          role server(2) {
            state b = false
            upon condition #received(READY) >= 1 and not b { b := true }
          }
          property never : always forall s in server: correct(s) => not s.b
        }
        check c of P { faults byzantine <= 1  links authenticated  prove never  allow unused }
        """,
        "never violated",
    ),
    Case(
        "counted by a property",
        """
        protocol P {
          message V
          state t = false
          upon condition not t { t := true }
          property never : always forall p in Proc: correct(p) => p.received(V) == {}
        }
        check c of P { n = 2  faults byzantine <= 1  prove never  allow unused }
        """,
        "never violated",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), [*WAYS, ("symbolic", False)])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_what_is_only_counted_is_forged(
    case: Case, engine: str, fine: bool, tmp_path: Path
) -> None:
    compare(tmp_path, case, engine, fine)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_without_reductions(case: Case, tmp_path: Path) -> None:
    assert words(run(tmp_path, case.text, reduce="none")) == case.verdicts()


def _mentioned(check: typed.Check, sizes: Sizes) -> set[Said]:
    """What the correct processes of ``check`` can notice."""
    found = set[Said]()
    layers = stack.start(check, sizes, {}, False).instances
    asked = tuple(prop.formula for prop in check.prove)
    for layer in layers:
        roots = (layer.protocol, asked if layer is layers[0] else ())
        for node in nodes(roots):
            if isinstance(node, typed.OnReceive | typed.Received):
                found.add((f"{layer.path}{layer.protocol.name}", node.message))
    return found


def _said(type_: Type, value: Value) -> Said:
    assert isinstance(type_, VariantT) and isinstance(value, tuple)
    case = value[0]
    assert isinstance(case, int)
    if type_.name == "network":
        return _said(type_.cases[case].fields[0][1], value[1])
    return type_.name, type_.cases[case].name


def _forged(system: ir.TransitionSystem, state: tuple[Value, ...]) -> set[tuple[int, int, Said]]:
    """Who can forge what for whom in ``state``."""
    found = set[tuple[int, int, Said]]()
    for step in successors(system, state):
        for event in step.events:
            info = system.marks[event.mark]
            if info.kind is ir.MarkKind.FORGE:
                at = info.names.index("message")
                who, to = event.args[:2]
                assert isinstance(who, int) and isinstance(to, int)
                found.add((who, to, _said(info.types[at], event.args[at])))
    return found


def _all_is_forged(path: Path, name: str, *, fine: bool = False) -> int:
    """Compares what can be forged at the start with what can be noticed; how much that was."""
    check = next(c for c in load(str(path)).checks if c.name == name)
    assert check.byzantine is not None
    sizes = compute(check, {})
    system = instantiate(check, {}, ask, fine=fine).system
    mentioned = _mentioned(check, sizes)
    everybody = set(range(len(sizes.processes)))
    found = 0
    for state in initial_states(system):
        liars = name_values(system, state)["@byzantine"]
        assert isinstance(liars, frozenset)
        wanted = set(product(liars, everybody - liars, mentioned))
        assert wanted <= _forged(system, state)
        found += len(wanted)
    return found


_LIARS = re.compile(r"^[^/\n]*\bfaults\b[^/\n]*\bbyzantine\b", re.MULTILINE)


def _byzantine(path: Path) -> list[str]:
    """The finite checks in ``path`` in which some process is Byzantine, found without the tool."""
    text = path.read_text(encoding="utf-8")
    finite = set(finite_checks(text))
    return [name for name, body in bodies(text) if name in finite and _LIARS.search(body)]


LIBRARY = [(path, name) for path in sorted(specs().rglob("*.bcast")) for name in _byzantine(path)]


@pytest.mark.parametrize(("path", "name"), LIBRARY, ids=[f"{p.stem}-{n}" for p, n in LIBRARY])
def test_all_is_forged_in_the_library(path: Path, name: str) -> None:
    _all_is_forged(path, name)


@pytest.mark.parametrize("fine", [False, True])
def test_all_is_forged_in_random_broadcasts(fine: bool, tmp_path: Path) -> None:
    """Specs with layers, links and timing of all kinds; those that the language takes."""
    path, compared = tmp_path / "spec.bcast", 0
    for seed in range(60):
        path.write_text(random_spec(seed), encoding="utf-8")
        try:
            if _byzantine(path):
                compared += _all_is_forged(path, "c", fine=fine)
        except SpecError:
            continue
    assert compared


@pytest.mark.parametrize("silent", [False, True], ids=["as drawn", "nobody sends"])
def test_all_is_forged_in_random_protocols_that_count(silent: bool, tmp_path: Path) -> None:
    path, compared = tmp_path / "spec.bcast", 0
    every, one = "for all n, T, f\n", "n = 2  T = 1  f = 1\n"
    for seed in range(15):
        text = Drawn(random.Random(seed)).text().replace(every, one)
        if silent:
            text = re.sub(r"send \w+(\(\w+\))? to (all|Proc minus {self})", "skip", text)
        path.write_text(text, encoding="utf-8")
        if _byzantine(path):
            compared += _all_is_forged(path, "c")
    assert compared
