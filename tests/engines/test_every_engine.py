"""Every registered engine on the same small checks, with answers that were worked out by hand.

What an engine can't do is what it declares: nothing else is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from checker.engines.capabilities import Can, Feature
from checker.engines.registry import engine_of, needs_cluster
from checker.extensions.tables import DEFINITION, ENGINES
from checker.records import replace
from checker.results.verdict import Report, Word
from checker.session.pipeline import Options, run_check
from checker.session.run_engine import shared_sessions
from tests.extensions.distributions import ENGINE, install

SPEC = """
protocol Counter {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property within : always forall p in Proc: p.x <= 3
  property small : always forall p in Proc: p.x <= 1
  property counts : eventually forall p in Proc: p.x == 3
  property turns : always eventually forall p in Proc: p.x == 0
}
check within of Counter { n = 2  prove within }
check small of Counter { n = 2  prove small }
check counts of Counter { n = 2  prove counts }
check turns of Counter { n = 2  prove turns }
protocol Overflow {
  state x : 0..3 = 0
  upon condition x <= 3 { x := x + 1 }
  property within : always forall p in Proc: p.x <= 3
}
check beyond of Overflow { n = 1  prove within }
protocol Pair {
  message M
  role server(1) { state up = true  upon init { send M to store } }
  role store(1) dies with server {
    stable state got = false
    upon receive M { got := true }
  }
  property both : always forall s in server, d in store: crashed(s) == crashed(d)
}
check together of Pair { faults crash <= 1, recover  prove both }
protocol Connected {
  message A
  role client(1) { upon init { send A to server } }
  role server(1) {
    state got : 0..2 = 0
    state told : 0..2 = 0
    upon receive A { got += 1 }
    upon disconnected p { told += 1 }
  }
  property once : always forall s in server: s.got <= 1 and s.told <= 1
  property untold : always forall s in server: s.told == 0
  property heard : eventually forall s in server: s.got == 1
}
check once_connected of Connected { links connected  faults reset <= 1  prove once }
check told of Connected { links connected  faults reset <= 1  prove untold }
check lost of Connected { links connected  faults reset <= 1  prove heard }
check once_cut of Connected { faults cut <= 1  prove once  allow unused }
check held_up of Connected { faults cut <= 1  prove heard  allow unused }
"""


@dataclass(frozen=True)
class Case:
    """A check, the feature that its property needs, and what is so.

    ``states``: of an exploration without reductions that is not cut short; ``steps``: of the
    shortest counterexample, where every engine has to find it.
    """

    check: str
    feature: Feature
    word: Word
    states: int | None = None
    steps: int | None = None
    options: Options = field(default_factory=lambda: Options(reduce="none"))


CASES = [
    Case("within", Feature.SAFETY, Word.HOLDS, states=16),
    Case("small", Feature.SAFETY, Word.VIOLATED, steps=2),
    Case("counts", Feature.STEADY, Word.HOLDS, states=16),
    Case("turns", Feature.FOLLOWED, Word.VIOLATED),
    Case("beyond", Feature.SAFETY, Word.ERROR),
    Case("together", Feature.SAFETY, Word.HOLDS, states=6),
    Case("once_connected", Feature.SAFETY, Word.HOLDS, states=12),
    Case("told", Feature.SAFETY, Word.VIOLATED, steps=2),
    Case("lost", Feature.STEADY, Word.VIOLATED),
    Case("once_cut", Feature.SAFETY, Word.HOLDS, states=6),
    Case("held_up", Feature.STEADY, Word.VIOLATED),
]
"""Two processes count from 0 to 3 in any order: 4 * 4 states.  The third increment of the last
counter leaves the range.  Where both of a pair stop at once, the message is under way or received
before, or neither after; they are down or back: 2 + 2 * 2 states.

Of a connection there are 2 states before it is reset.  Then the message is lost, was received, or
stands before the server's notice, which is the next to arrive in the first two cases or has
arrived; the client's notice has arrived or not: (2 + 2 + 1) * 2.  A link is not yet cut, cut, or
cut no longer, and the message under way or received: 3 * 2.
"""

MAY_SAY = {Can.YES: set[Word](), Can.PARTLY: {Word.UNKNOWN, Word.BOUNDED}}
"""What an engine may answer in place of what is so."""


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("specs") / "counter.bcast"
    path.write_text(SPEC)
    return str(path)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        points = "[bivalence.engines]\ntoy = toy:ENGINE\n"
        install(tmp_path_factory.mktemp("toy"), patch, ENGINE, points)
        yield


def _kinds() -> Iterator[object]:
    """The engines; one on a cluster takes half a minute, and has tests of its own."""
    for name in ENGINES.built_in:
        yield pytest.param(name, marks=pytest.mark.slow) if needs_cluster(name) else name
    yield "toy"


@pytest.fixture(scope="module", params=[*_kinds()])
def engine(request: pytest.FixtureRequest, toy: None) -> Iterator[str]:
    name: str = request.param
    if needs_cluster(name):
        pytest.importorskip("pyspark")
    with shared_sessions(Options(engine=name)):
        yield name


def run(spec: str, case: Case, engine: str) -> Report:
    return run_check(spec, case.check, replace(case.options, engine=engine))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.check)
def test_an_engine_says_what_is_so(case: Case, spec: str, engine: str) -> None:
    report = run(spec, case, engine)
    (verdict,) = report.verdicts[:1]
    able = engine_of(engine).ability(case.feature).can
    assert report.engine == engine
    assert verdict.word is case.word or verdict.word in MAY_SAY.get(able, {Word.UNKNOWN})
    assert (verdict.trace is not None) == (verdict.word in (Word.VIOLATED, Word.ERROR))
    if case.steps is not None:
        assert verdict.trace is not None
        assert verdict.trace.length == case.steps
    if case.states is not None and report.exhaustive:
        assert report.distinct_states == case.states


def test_the_definition_withholds_nothing(spec: str) -> None:
    for case in CASES:
        assert run(spec, case, DEFINITION).verdicts[0].word is case.word


@pytest.mark.parametrize(("check", "told"), [("once_connected", True), ("once_cut", False)])
@pytest.mark.parametrize("name", [DEFINITION, "native"])
def test_a_handler_of_a_connection_is_covered_where_one_breaks(
    check: str, told: bool, name: str, spec: str
) -> None:
    report = run_check(spec, check, Options(engine=name, coverage=True))
    assert report.coverage is not None
    reached = {covered.text: covered.reached for covered in report.coverage}
    assert reached == {"upon init": True, "upon receive A": True, "upon disconnected p": told}
