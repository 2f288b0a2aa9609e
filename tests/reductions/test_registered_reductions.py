"""Reductions added from outside: they are chosen, reported and audited like the tool's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.cli.settings import REDUCE_MODES
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.model import ir
from checker.model.ir import TransitionSystem
from checker.model.tree import nodes
from checker.records import replace
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.contract import Ask, Column, Found, Reduction, TableEntry, Use
from checker.reductions.reduction_plan import PlanPart, Sorts, Symmetry
from checker.reductions.registry import REDUCTIONS, modes, register
from checker.reductions.table import markdown
from checker.session.pipeline import run_check
from tests.documents import only_report
from tests.reductions.test_table import FOLLOWED, SAFE, STEADY, system

ROOT = Path(__file__).parents[2]

SPEC = """
protocol P {
  message A(number: 0..2)
  state lately = 0
  state told = 0
  upon condition told < 2 { told := told + 1  send A(told) to all }
  upon receive A(number) { lately := number }
  state high = false
  upon condition told == LIMIT and not high { high := true }
  property few: always forall p in Proc: not p.high
}
check c of P { n = 2  allow unused  prove few }
"""
"""``lately`` is written and never read."""

YES = TableEntry(Use.PROVEN, "What is never read can have any value.", "", "")
NO = TableEntry(Use.NO, "Their number is another one.", "", "", "numbers are asked for")


def column(*no: Ask) -> Column:
    return {ask: NO if ask in no else YES for ask in Ask}


def initially(of: TransitionSystem, name: str) -> ir.Block:
    """Resets a variable to its initial value."""
    (found,) = [v for v in of.variables if v.name == name or v.title == name]
    target = ir.Target(found.type, found.name, True)
    return (ir.Assign(target, ir.Const(found.type, found.initial)),)


def find_unread(of: TransitionSystem) -> Found:
    code = (of.actions, of.monitor, of.properties, of.justice)
    read = {node.variable for node in nodes(code) if isinstance(node, ir.Read)}
    unread = [v for v in of.variables if v.name not in read and v.kind is ir.VariableKind.LOCAL]
    block = tuple(stmt for v in unread for stmt in initially(of, v.name))
    return (PlanPart("unread", resets=block) if block else None), ()


def find_high(of: TransitionSystem) -> Found:
    """A wrong analysis: the property reads what is reset."""
    return PlanPart("wrong", resets=initially(of, "high")), ()


NUMBERS = (Ask.LENGTH, Ask.STATES, Ask.COVERAGE)
UNREAD = Reduction("unread", "unread variables", "unread", column(*NUMBERS), find_unread)
WRONG = Reduction("wrong", "wrong resets", "wrong", column(*NUMBERS), find_high)


@pytest.fixture
def registry() -> Iterator[dict[str, Reduction]]:
    """The registry, which is afterwards as it was."""
    before = dict(REDUCTIONS)
    yield REDUCTIONS
    REDUCTIONS.clear()
    REDUCTIONS.update(before)


@pytest.fixture
def added(registry: dict[str, Reduction]) -> None:
    register(UNREAD)
    register(WRONG)


def spec(folder: Path, limit: int) -> str:
    path = folder / "spec.bcast"
    path.write_text(SPEC.replace("LIMIT", str(limit)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("limit", [2, 3])
def test_one_that_is_sound_explores_less_and_finds_the_same(
    limit: int, added: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = spec(tmp_path, limit), tmp_path / "report.json"
    words = ["check", path, "--reduce", "unread", "--audit-reductions", "--json", str(out)]
    assert main(words) == (limit == 2)
    said = " ".join(capsys.readouterr().out.split())
    assert "reduced by unread variables" in said
    assert "audit the same verdicts without reductions" in said
    report = only_report(out.read_text())
    assert report["reduced"]["used"] == ["unread"]
    assert report["audit"]["complete"]
    if limit == 3:
        assert report["distinct_states"] < report["audit"]["distinct_states"]


def test_one_that_is_wrong_is_caught_by_the_audit(
    added: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["check", spec(tmp_path, 2), "--reduce", "wrong"]
    assert main(words) == 0, "nobody has compared"
    capsys.readouterr()
    assert main([*words, "--audit-reductions"]) == 70
    assert "few is holds with, violated without" in capsys.readouterr().err


def test_what_is_not_proven_is_not_used(added: None, tmp_path: Path) -> None:
    path = spec(tmp_path, 3)
    report = run_check(path, None, Options(reduce="unread", coverage=True))
    assert report.reduced.used == ()
    assert report.reduced.unused == (("unread", "numbers are asked for"),)


def test_where_runs_go_round_what_needs_none_is_left_out(added: None) -> None:
    acyclic = {**column(), Ask.ROUND: replace(NO, why="the state graph has a cycle")}
    REDUCTIONS["wrong"] = replace(
        WRONG, column=acyclic, analyse=lambda of: (PlanPart("wrong", resets=initially(of, "w")), ())
    )
    plan = choose(system(SAFE, STEADY), "wrong", VERDICTS)
    assert plan.used == ("wrong",) and plan.acyclic and plan.fallback is not None
    assert plan.fallback.used == ()
    assert [one.why for one in plan.fallback.unused] == ["the state graph has a cycle"]
    assert not choose(system(SAFE), "wrong", VERDICTS).acyclic
    assert choose(system(FOLLOWED), "unread", VERDICTS).used == ()


def test_two_that_interfere_are_not_used_together(registry: dict[str, Reduction]) -> None:
    group = Symmetry(Sorts((("p",),)), (), "everything")
    resets = initially(system(SAFE), "w")
    found = {
        "one": PlanPart("one", group, resets),
        "two": PlanPart("two", group),
        "three": PlanPart("three", resets=resets),
    }
    for name, part in found.items():
        analyse = partial(lambda part, of: (part, ()), part)
        register(Reduction(name, f"the {name}", "these", column(), analyse))
    plan = choose(system(SAFE), "these", VERDICTS)
    assert plan.used == ("one",)
    assert {one.kind: one.why for one in plan.unused} == {
        "two": "another symmetry is used, the one",
        "three": "the one already covers `w`",
    }


def test_a_name_or_a_mode_means_one_thing() -> None:
    for name, mode in (("symmetry", "mine"), ("mine", "auto"), ("mine", "none"), ("mine", "all")):
        with pytest.raises(ValueError, match=name):
            register(replace(UNREAD, name=name, mode=mode))
    assert "mine" not in REDUCTIONS


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(
        "protocol P { state x = 0 }\ncheck c of P { n = 1  allow unused }\n", encoding="utf-8"
    )
    for mode in ("symmetry,dead,por", "dead", ""):
        with pytest.raises(SpecError) as refused:
            run_check(str(path), "c", Options(reduce=mode))
        assert [d.code for d in refused.value.diagnostics] == ["E008"], mode


def test_a_column_is_complete() -> None:
    some = {ask: YES for ask in Ask if ask is not Ask.FAULT}
    with pytest.raises(ValueError, match="FAULT"):
        Reduction("some", "some", "some", some, find_unread)


def test_tables_and_options_have_all_that_are_registered(added: None) -> None:
    assert markdown()[0].endswith(
        " | partial order | dominance | unread variables | wrong resets |"
    )
    assert modes() == ("auto", "none", "symmetry", "por", "unread", "wrong", "all")


def test_a_page_of_help_has_the_modes() -> None:
    assert f"[{'|'.join(modes())}]" == REDUCE_MODES


def test_the_registry_alone_names_reductions() -> None:
    objects = "SYMMETRY|DEAD_VALUES|PARTIAL_ORDER"
    names = "|".join(f'"{name}"' for name in REDUCTIONS)
    own = re.compile(r"checker/(reductions/(\w+/\w+_reduction|registry)|language/foreign)\.py")
    for path in sorted((ROOT / "checker").rglob("*.py")):
        where = path.relative_to(ROOT).as_posix()
        found = re.search(rf"\b({objects})\b|{names}", path.read_text(encoding="utf-8"))
        assert not found or own.fullmatch(where), f"{where}: {found}"
