"""Files of threshold automata: what is said of them, and the verdicts on their specifications."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import z3

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.render import render
from checker.engines.options import Options
from checker.parametric.automaton.automaton import sent_name
from checker.parametric.automaton.execution import Configuration, step
from checker.parametric.symbolic.decide import ParametricChecker
from checker.parametric.symbolic.runs import Runs, Shape, advance, begin
from checker.parametric.threshold.convert import convert
from checker.parametric.threshold.quotient import quotient
from checker.parametric.threshold.reader import read_text
from checker.parametric.threshold.specifications import questions_of
from checker.proving.published import files_in, read_published
from checker.proving.threshold import FileReport, Specifications, prove_file
from checker.records import replace
from checker.results.answer import Limits
from checker.results.proof import CountedRun, CountedStep
from checker.results.verdict import Word
from tests.parametric.threshold_texts import BROADCAST, CRASHES, ROUNDS, changed


def errors(text: str) -> tuple[Diagnostic, ...]:
    try:
        convert(read_text(text, "f.ta"))
    except SpecError as error:
        return error.diagnostics
    return ()


def proved(text: str, folder: Path) -> FileReport:
    path = folder / "f.ta"
    path.write_text(text, "utf-8")
    return prove_file(str(path), Options())


def words(text: str, folder: Path) -> dict[str, str]:
    return {v.property: v.word.value for v in proved(text, folder).report.verdicts}


def runs(text: str, folder: Path) -> dict[str, CountedRun]:
    return {v.property: v.counted for v in proved(text, folder).report.verdicts if v.counted}


@pytest.mark.every
@pytest.mark.parametrize(
    ("old", "new", "code", "underlined"),
    [
        ("skel B", "spec B", "E117", "spec"),
        ("rules (0)", "rules 0", "E117", "0"),
        ("told == 0;", "told == 0", "E117", "done"),
        ("told == 0;", "told == ;", "E117", ";"),
        ("parameters N", "unknowns N", "E117", "unknowns"),
        ("/* each", "/* /* each", "", ""),
        ("accepts */", "accepts", "E117", "/*"),
        ("told == 0;", "told # 0;", "E117", "#"),
        ("N > 3", "N > 3333333333333333333", "E117", "3333333333333333333"),
        ("pc;", "pc, sent;", "E118", "sent"),
        ("0: yes -> told", "0: yes -> tell", "E118", "tell"),
        ("unchanged(sent)", "unchanged(pc)", "E118", "pc"),
        ("sent >= ENOUGH", "sends >= ENOUGH", "E118", "sends"),
        ("nobody:", "unforgeable:", "E118", "unforgeable"),
        ("N > 3 * T", "N > F * T", "E119", "*"),
        ("N > 3 * T", "N > 3 / T", "E119", "/"),
        ("N > 3 * T", "N + T", "E119", "N + T"),
        ("N > 3 * T", "(N > 3) + T > 1", "E119", "(N > 3)"),
        ("N > 3 * T", "<>(N > T)", "E119", "<>(N > T)"),
        ("sent' == sent + 1", "sent' == T", "E120", "0: yes"),
        ("sent' == sent + 1", "sent' == sent - 1", "E120", "0: yes"),
        ("sent' == sent + 1", "sent' == sent + N", "E120", "0: yes"),
        ("(sent >= ENOUGH - F)", "(sent >= told)", "E121", "(sent >= told)"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_underlined(old: str, new: str, code: str, underlined: str) -> None:
    text = changed(BROADCAST, old, new)
    found = errors(text)
    if not code:
        assert found == ()
        return
    assert found and found[0].code == code
    span = found[0].span
    assert span is not None
    line = text.splitlines()[span.line - 1]
    assert line[span.column - 1 :].startswith(underlined)
    assert "^" in render(found[0], text)


def test_variables_are_not_compared_with_one_another() -> None:
    found = errors(changed(CRASHES, "(x < 1)", "(x < crashed)"))
    assert [each.code for each in found] == ["E121"]
    assert errors(changed(CRASHES, "(x < 1)", "(x + crashed < 1)")) == ()


def test_what_follows_the_end_is_reported() -> None:
    assert errors(BROADCAST + "x")[0].code == "E117"
    assert errors(BROADCAST.rstrip().removesuffix("}"))[0].message.endswith("the end of the file")


def test_deep_expressions_are_reported() -> None:
    deep = "(" * 5000 + "N" + ")" * 5000
    assert errors(changed(BROADCAST, "N > 3", f"{deep} > 3"))[0].code == "E117"


def test_an_assignment_counts_though_it_is_listed_as_unchanged() -> None:
    text = changed(BROADCAST, "sent + 1; };\n  2", "sent + 1; unchanged(sent); };\n  2")
    written = read_text(text, "f.ta")
    assert [(each.code, each.severity) for each in written.warnings] == [("E118", "warning")]
    assert convert(written)[0].rules == convert(read_text(BROADCAST, "f.ta"))[0].rules


def test_what_is_refused_takes_no_other_verdict_with_it(tmp_path: Path) -> None:
    found = proved(BROADCAST, tmp_path)
    verdicts = {v.property: v for v in found.report.verdicts}
    assert {name: v.word.value for name, v in verdicts.items()} == {
        "unforgeable": "proved", "nobody": "violated", "odd": "unknown",
    }  # fmt: skip
    assert "E122" in verdicts["odd"].reason
    assert found.safety == "unsafe"


FAIR = "<>[]((sent < T + 1 || no == 0) && (sent < N - T || told == 0) && (yes == 0))"
"""Whoever can move without the help of faulty processes does so."""


def test_liveness_is_decided_under_the_fairness_that_it_assumes(tmp_path: Path) -> None:
    """Srikanth and Toueg's broadcast: correctness and relay need n > 3t; a run that nothing moves
    on reaches nothing."""
    live = changed(
        BROADCAST,
        "    nobody: [](done == 0);",
        f"    nobody: [](done == 0); fair: {FAIR} -> ((no == 0) -> <>(done != 0));"
        f" relay: {FAIR} -> []((done != 0) -> <>(no == 0 && yes == 0 && told == 0));"
        " unfair: (no == 0) -> <>(done != 0);",
    )
    found = words(live, tmp_path)
    assert (found["fair"], found["relay"], found["unfair"]) == ("proved", "proved", "violated")
    assert words(changed(live, "N > 3 * T", "N > 2 * T"), tmp_path)["relay"] == "violated"


def test_one_process_more_breaks_the_resilience(tmp_path: Path) -> None:
    """With F > T faulty processes, a message that nobody has sent is accepted."""
    weaker = changed(BROADCAST, "T >= F;", "T + 1 >= F;")
    assert words(weaker, tmp_path)["unforgeable"] == "violated"


def test_a_violation_is_the_smallest_and_is_shown(tmp_path: Path) -> None:
    """T = 0 and one process that has the value suffice."""
    run = runs(BROADCAST, tmp_path)["nobody"]
    assert run.sizes == {"N": 1, "T": 0, "F": 0}
    assert run.begin == {"yes": 1}
    assert run.steps == (
        CountedStep(1, "yes", "told", "rule 0", 11), CountedStep(1, "told", "done", "rule 2", 13),
    )  # fmt: skip


@pytest.mark.parametrize(("assumed", "smallest"), [("N > 2", 3), ("N >= 2", 2), ("!(N <= 3)", 4)])
def test_a_comparison_means_what_it_says(assumed: str, smallest: int, tmp_path: Path) -> None:
    text = changed(BROADCAST, "N > 3 * T", assumed)
    assert runs(text, tmp_path)["nobody"].sizes["N"] == smallest


def test_guards_fall(tmp_path: Path) -> None:
    assert words(CRASHES, tmp_path) == {
        "alone": "proved", "bounded": "proved", "fewer": "violated", "order": "violated",
    }  # fmt: skip
    without = changed(CRASHES, "(x < 1)", "(x < 2)")
    assert words(without, tmp_path)["alone"] == "violated"


def test_a_specification_can_be_about_an_order(tmp_path: Path) -> None:
    """Who crashes does so after b is left for good, if only those in b crash, and one enters it."""
    ordered = changed(CRASHES, "1: a -> c when (crashed < F)", "1: a -> c when (false)")
    assert words(ordered, tmp_path)["order"] == "proved"


def test_a_location_sends_to_itself(tmp_path: Path) -> None:
    text = changed(BROADCAST, "when (true) do { };", "when (true) do { sent' == sent + 1; };")
    found = words(
        changed(text, "0: yes -> told when (true)", "0: yes -> told when (false)"), tmp_path
    )
    assert found["unforgeable"] == found["nobody"] == "proved"
    alone = changed(text, "1: no -> told when (sent >= ENOUGH - F)", "1: no -> told when (false)")
    alone = changed(alone, "0: yes -> told when (true)", "0: yes -> told when (false)")
    assert words(changed(alone, "told == 0;", "told == 1;"), tmp_path)["nobody"] == "violated"
    begun = changed(text, "told == 0;", "told == 1;")
    assert words(begun, tmp_path)["unforgeable"] == "violated"


def test_an_initial_value_that_is_not_given_may_be_any(tmp_path: Path) -> None:
    text = changed(BROADCAST, "sent == 0; }", "}")
    assert words(text, tmp_path)["unforgeable"] == "violated"
    bounded = changed(text, "done == 0; }", "done == 0; sent <= 0; }")
    assert words(bounded, tmp_path)["unforgeable"] == "proved"


def test_a_premise_that_no_run_begins_with_is_vacuous(tmp_path: Path) -> None:
    text = changed(BROADCAST, "(yes == 0) ->", "(yes > N) ->")
    assert words(text, tmp_path)["unforgeable"] == "vacuous"


def test_a_cycle_cannot_supply_itself(tmp_path: Path) -> None:
    """Processes go around between `yes` and `told`, and send each time: if there is one."""
    back = changed(BROADCAST, "3: told -> told", "3: told -> yes")
    once = changed(back, "nobody: [](done == 0)", "nobody: (yes <= 1) -> [](sent <= N + 1)")
    assert words(once, tmp_path) == {
        "unforgeable": "proved", "nobody": "violated", "odd": "unknown",
    }  # fmt: skip


def test_a_cycle_may_be_left_again(tmp_path: Path) -> None:
    merged = changed(BROADCAST, "done: [3];", "done: [3]; also: [4];")
    merged = changed(merged, "done == 0; sent", "done == 0; also == 0; sent")
    for ready in ("N - T - F", "N - T"):
        more = (
            "3: told -> also when (sent >= 1) do { };\n  4: also -> told when (true) do { };\n"
            f"  5: also -> done when (sent >= {ready}) do {{ }};"
        )
        found = words(changed(merged, "3: told -> told when (true) do { };", more), tmp_path)
        assert found["nobody"] == "violated"


@pytest.mark.parametrize(
    ("specification", "word"),
    [
        ("([]<>(yes >= 1)) -> <>[](told == 0)", "unknown"),
        ("(<>[](N == 1) && []<>(yes >= 1)) -> [](told == 0)", "violated"),
        ("(<>[](yes >= 1)) -> <>[](told == 0)", "violated"),
    ],
)
def test_what_recurs_on_a_cycle_is_decided_if_one_thing_does(
    specification: str, word: str, tmp_path: Path
) -> None:
    back = changed(BROADCAST, "3: told -> told", "3: told -> yes")
    found = proved(changed(back, "nobody: [](done == 0)", f"nobody: {specification}"), tmp_path)
    (verdict,) = (each for each in found.report.verdicts if each.property == "nobody")
    assert verdict.word.value == word
    assert ("E123" in verdict.reason) == (word == "unknown")


@pytest.mark.parametrize(("least", "word"), [("N - F", "proved"), ("N - F + 1", "violated")])
def test_nobody_begins_where_nobody_ever_is(least: str, word: str, tmp_path: Path) -> None:
    """Where nobody ever has the value, all begin without it, and stay there."""
    said = f"nobody: <>(yes != 0) || [](no >= {least})"
    assert words(changed(BROADCAST, "nobody: [](done == 0)", said), tmp_path)["nobody"] == word


def test_rounds_share_their_variables(tmp_path: Path) -> None:
    """Who decides has seen all votes of its round, as long as all leave a round before the next."""
    assert words(ROUNDS, tmp_path) == {
        "same": "proved", "never": "proved", "again": "violated", "later": "violated",
    }  # fmt: skip
    mixed = changed(ROUNDS, "4: low -> zero", "4: low -> one")
    assert words(mixed, tmp_path)["same"] == "proved"
    kept = changed(mixed, "votes' == 0; left", "left")
    assert words(kept, tmp_path)["same"] == "violated"


def test_a_violation_after_resets_is_shown(tmp_path: Path) -> None:
    run = runs(ROUNDS, tmp_path)["again"]
    assert run.sizes == {"N": 1}
    assert [step.rule for step in run.steps] == ["rule 0", "rule 2", "rule 3"]


def test_an_invariant_holds_behind_every_reset(tmp_path: Path) -> None:
    """With five processes and more no search finds it: the third round is behind two resets."""
    text = changed(ROUNDS, "left;", "left, round;")
    text = changed(text, "left == 0; }", "left == 0; round == 0; }")
    text = changed(text, "N >= 1;", "N >= 5;")
    text = changed(text, "left' == 0; };", "left' == 0; round' == round + 1; };")
    text = changed(text, "[](low == 0 || high == 0)", "[](round <= 1)")
    assert words(text, tmp_path)["same"] == "violated"


LATE = changed(
    changed(ROUNDS, "high: [4]; }", "high: [4]; back: [5]; }"),
    "high == 0;",
    "high == 0; back == 0;",
)
LATE = changed(changed(LATE, "N >= 1;", "N >= 5;"), "[](low == 0 || high == 0)", "[](back == 0)")
"""With five processes no search finds who is in the sixth location."""


def test_a_variable_is_zero_behind_its_reset(tmp_path: Path) -> None:
    """All N have voted when the first one prefers 0: only behind its reset are there no votes."""
    rule = "8: low -> back when (votes < 1) do { };\n  }\n  spec"
    text = changed(LATE, "}\n  spec", rule)
    assert words(text, tmp_path)["same"] == "violated"


def test_the_formula_has_no_configuration_behind_a_reset_that_it_forgets() -> None:
    """Directly behind the reset nobody has voted, and somebody had before."""
    automaton, _ = convert(read_text(ROUNDS, "f.ta"))
    checker = ParametricChecker(automaton)
    votes = sent_name([kind.name for kind in automaton.kinds].index("votes"))

    def behind(runs: Runs, least: int) -> list[z3.BoolRef]:
        last = runs.moments[-1].sent[votes]
        return [runs.condition(checker.assumed), least <= last, runs.moments[-2].sent[votes] >= 1]

    shape = Shape(resets=1, behind=True)
    found = [
        checker.refining.find(checker.asking, lambda runs, least=least: behind(runs, least), shape)[
            0
        ]
        for least in (0, 1)
    ]
    assert found[0] is not None and found[1] is None


def test_a_rule_that_resets_a_variable_may_count_in_it(tmp_path: Path) -> None:
    """Behind a reset to 0 + 1 there is exactly one vote, and N >= 5 in front of it."""
    rule = "8: low -> back when (votes == 1) do { };\n  }\n  spec"
    text = changed(changed(LATE, "}\n  spec", rule), "votes' == 0; left", "votes' == 1; left")
    assert words(text, tmp_path)["same"] == "violated"


def test_a_rule_first_resets_and_then_sends() -> None:
    """A variable that is set to 1 is 1 behind it, whatever it was: in executions and in the
    formula."""
    text = changed(ROUNDS, "zeros' == 0; votes' == 0; left", "zeros' == 0; votes' == 1; left")
    automaton, _ = convert(read_text(text, "f.ta"))
    votes = [kind.name for kind in automaton.kinds].index("votes")
    setting = (at for at, rule in enumerate(automaton.rules) if votes in rule.resets)
    low = next(at for at in setting if votes in automaton.rules[at].sends)
    many = (5,) * len(automaton.kinds)
    before = Configuration((1,) * len(automaton.locations), many, many)
    assert step(automaton, before, low).correct[votes] == 1

    asked = replace(automaton.rules[low], source=0)
    checker = ParametricChecker(replace(automaton, rules=(asked,)))
    runs = begin(checker.automaton)
    advance(runs, {0: runs.natural("taken")})
    solver = checker.asking.solver([*runs.assertions, runs.taken[0][0] == 1])
    last = runs.moments[-1].sent[sent_name(votes)]
    assert isinstance(checker.asking.ask(solver, last == 1), z3.ModelRef)
    assert checker.asking.ask(solver, last != 1) is None


def test_a_rule_that_resets_is_taken_by_one_process(tmp_path: Path) -> None:
    """Who leaves as the first takes from the others what they need to leave."""
    text = changed(LATE, "6: high -> one", "6: high -> back")
    text = changed(text, "7: high -> one when (left < 1)", "7: high -> one when (false)")
    text = changed(text, "4: low -> zero when (left < 1)", "4: low -> zero when (false)")
    text = changed(text, "[](back == 0)", "(zero == 0) -> [](back <= 1)")
    assert words(text, tmp_path)["same"] == "proved"


def test_an_invariant_compares_what_guards_compare(tmp_path: Path) -> None:
    """Rounds are counted up to 2: that they are no more is an invariant of the count."""
    text = changed(ROUNDS, "votes, left;", "votes, left, round;")
    text = changed(text, "left == 0; }", "left == 0; round == 0; }")
    text = changed(text, "(left >= N)", "(left >= N && round < 2)")
    text = changed(text, "left' == 0; };", "left' == 0; round' == round + 1; };")
    text = changed(text, "[](low == 0 || high == 0)", "[](round <= 2)")
    assert words(text, tmp_path)["same"] == "proved"


def test_a_variable_that_is_reset_may_have_been_larger(tmp_path: Path) -> None:
    """Whoever prefers 0 for good though all began with 1 has voted before."""
    voted = "later: (zero == 0 && <>[](low == 0 && wait == 0)) -> <>(votes >= 1)"
    text = changed(ROUNDS, "later: <>[](high == 0 && low == 0)", voted)
    assert words(text, tmp_path)["later"] == "unknown"


def test_a_variable_is_reset_to_its_initial_value(tmp_path: Path) -> None:
    begun = changed(ROUNDS, "left == 0; }", "left == 1; }")
    assert errors(begun)[0].code == "E120"
    same = changed(begun, "left' == 0", "left' == 1")
    later = changed(changed(same, "(left >= N)", "(left > N)"), "(left < 1)", "(left < 2)")
    assert words(later, tmp_path) == words(ROUNDS, tmp_path)


def test_locations_that_do_the_same_are_one() -> None:
    """With a copy of `told`, reached in its place by one rule, the question has the same size."""
    text = changed(BROADCAST, "told: [2];", "told: [2]; also: [4];")
    text = changed(text, "told == 0;", "told == 0; also == 0;")
    text = changed(text, "1: no -> told", "1: no -> also")
    text = changed(text, "3: told", "4: also -> done when (sent >= N - T - F) do { };\n  3: told")

    def size(of: str) -> tuple[int, int]:
        written = read_text(of, "f.ta")
        automaton, variables = convert(written)
        (question,) = questions_of(written.specifications[0], written, variables, automaton)
        merged = quotient(automaton, question.question)
        return len(merged.automaton.locations), len(merged.automaton.rules)

    assert size(text) == size(BROADCAST)


PUBLISHED = os.environ.get("BIVALENCE_THRESHOLD_BENCHMARKS", "")
"""A folder with published automata and ``expected.tsv``."""

CONTRADICTED = ("a run of small sizes violates it", "the interpreter refuses")


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED, reason="BIVALENCE_THRESHOLD_BENCHMARKS names no folder")
def test_published_verdicts_are_ours() -> None:
    folder = Path(PUBLISHED)
    paths = files_in(folder)
    differ = []
    for name, published in read_published(folder, paths).items():
        ours = prove_file(str(paths[name]), Options(), which=Specifications.SAFETY).safety
        if published.verdict != "-" and ours != published.verdict:
            differ.append((name, ours, published.verdict))
    assert differ == []


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED, reason="BIVALENCE_THRESHOLD_BENCHMARKS names no folder")
def test_what_is_decided_of_published_files_is_searched_and_replayed() -> None:
    options = Options(limits=Limits(max_states=100_000))
    wrong, seen = list[str](), Counter[str]()
    for name, path in files_in(Path(PUBLISHED)).items():
        for verdict in prove_file(str(path), options).report.verdicts:
            seen[str(verdict.word)] += 1
            searched = verdict.word is not Word.PROVED or "searched" in verdict.certificate
            if not searched or any(why in verdict.reason for why in CONTRADICTED):
                wrong.append(f"{name} {verdict.property}: {verdict.reason} {verdict.certificate}")
    assert wrong == []
    assert min(seen["proved"], seen["violated"]) > 50
