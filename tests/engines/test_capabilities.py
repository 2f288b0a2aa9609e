"""The table of what engines can do: what it says is refused is refused before any work, what it
says is ignored is, and what it says is limited is named where the limit is met."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.diagnostics.codes import codes
from checker.engines.capabilities import Ability, Can, Feature
from checker.engines.native import engine as native
from checker.engines.options import Options
from checker.engines.reference import engine as reference
from checker.engines.registry import engine_of, ignored_features, table, what_is_wrong
from checker.extensions.tables import ENGINES
from checker.model.build import equal, integer
from checker.model.ir import TRUE, Property, PropertyKind, Read, Variable, VariableKind
from checker.model.types import IntT
from checker.records import replace
from checker.resources import specs
from checker.results.answer import Limits, Unsupported
from checker.results.verdict import Word
from checker.session.chance import chance_verdicts
from checker.session.load import load_check
from checker.session.pipeline import run_check
from checker.session.state_tables import require_exportable
from checker.valence.question import question_of
from tests.agreement.textbook import random_model, system_of

SPEC = str(specs() / "links" / "stubborn.bcast")
CHECK = "lossy"
DOCS = Path(__file__).parents[2] / "docs" / "engines.md"

VIEWED = """
protocol Tries {
  state tries : Nat max 3 = 0
  upon condition tries < 3 { tries := tries + 1 }
  property low : always forall p in Proc: p.tries <= 3
}
check viewed of Tries { n = 1  view p.tries > 0  prove low }
"""

WANTED = {
    Feature.RUNS: Options(checkpoint="kept"),
    Feature.TABLES: Options(states_out="tables"),
    Feature.MEMORY: Options(limits=Limits(memory=1)),
    Feature.THREADS: Options(threads=2),
    Feature.REDUCTIONS: Options(reduce="all"),
    Feature.COMPACT: Options(compact=True),
    Feature.COVERAGE: Options(coverage=True),
    Feature.VIEW: Options(),
}
"""How what some engine can't do is asked for."""


TABLE: dict[Feature, dict[str, Ability]] = {
    feature: {name: engine_of(name).ability(feature) for name in ENGINES.built_in}
    for feature in Feature
}


def with_(can: Can) -> list[tuple[Feature, str]]:
    return [(f, e) for f, abilities in TABLE.items() for e in abilities if abilities[e].can is can]


def test_every_feature_is_declared_for_every_engine() -> None:
    for name in ENGINES.built_in:
        assert engine_of(name).capabilities.keys() == set(Feature)
        assert what_is_wrong(engine_of(name), name) == ""
    for abilities in TABLE.values():
        for ability in abilities.values():
            assert bool(ability.note) == (ability.can is not Can.YES)
            assert ability.code in codes()


REFUSED = [(feature, engine) for feature, engine in with_(Can.NO) if feature is not Feature.CHANCE]
"""Questions about chance stand beside properties, which the engine decides."""


@pytest.mark.parametrize(("feature", "engine"), REFUSED)
def test_what_an_engine_can_not_do_is_refused_before_any_work(
    feature: Feature,
    engine: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reference, "explore", None)
    options = replace(WANTED.get(feature, Options()), engine=engine)
    spec, check = SPEC, CHECK
    if feature is Feature.VIEW:
        viewed = tmp_path_factory.mktemp("specs") / "viewed.bcast"
        viewed.write_text(VIEWED, encoding="utf-8")
        spec, check = str(viewed), "viewed"

    def run() -> None:
        if feature is Feature.VALENCE:
            question_of(SPEC, CHECK, options, "deliver", free_inputs=False)
        require_exportable(options)
        run_check(spec, check, options)

    with pytest.raises(SpecError) as refused:
        run()
    (diagnostic,) = refused.value.diagnostics
    ability = TABLE[feature][engine]
    assert diagnostic.code == ability.code
    assert ability.note in diagnostic.message
    assert diagnostic.hint
    assert not list(tmp_path.iterdir())


def test_questions_about_chance_are_left_unknown_before_any_work() -> None:
    check = load_check(str(specs() / "chance" / "herman_ring.bcast"), "three", {})
    engines = [engine for feature, engine in with_(Can.NO) if feature is Feature.CHANCE]
    assert engines
    for engine in engines:
        note = TABLE[Feature.CHANCE][engine].note
        for verdict in chance_verdicts(check, Options(engine=engine)):
            assert verdict.word is Word.UNKNOWN and note in verdict.reason


@pytest.mark.parametrize(("feature", "engine"), with_(Can.IGNORED))
def test_what_an_engine_does_not_observe_it_does_not(feature: Feature, engine: str) -> None:
    if engine in ("spark", "symbolic"):  # neither says here how many states there are
        note = TABLE[feature][engine].note
        assert ignored_features(engine, [feature]) == (f"the {engine} engine {note}",)
        return
    plain = run_check(SPEC, CHECK, Options(engine=engine))
    report = run_check(SPEC, CHECK, replace(WANTED[feature], engine=engine))
    said = [note for note in report.notes if TABLE[feature][engine].note in note]
    assert len(said) == 1, "the report says so"
    assert (report.distinct_states, report.exhaustive) == (plain.distinct_states, True)


def test_what_does_not_fit_registers_is_refused() -> None:
    """And so is a limit that only some engines have: its day is over when this fails."""
    assert TABLE[Feature.LARGE]["native"].can is Can.PARTLY
    numbers = IntT(0, 1 << 70)
    large = Variable("large", numbers, 0, VariableKind.SHARED)
    never = Property(
        "q", PropertyKind.INVARIANT, equal(Read(numbers, "large"), integer(1)), TRUE, ""
    )
    system = system_of(random_model(1))
    variables, properties = (*system.variables, large), (*system.properties, never)
    system = replace(system, variables=variables, properties=properties)
    assert reference.explore(system, Limits()).exhaustive
    with pytest.raises(Unsupported):
        native.explore(system, Limits(), threads=1)


def test_the_page_has_the_table() -> None:
    assert "\n".join(table()) in DOCS.read_text(encoding="utf-8")
