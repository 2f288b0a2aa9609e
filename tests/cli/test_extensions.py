"""Engines and exports of other distributions, used from the command line without any other file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.results.mismatch import ReplayMismatch
from checker.session.pipeline import Options, run_check
from tests.documents import only_report
from tests.extensions.distributions import ENGINE, EXPORT, install

ROOT = Path(__file__).resolve().parents[2]
Out = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
SPEC = """
protocol Counter {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property small : always forall p in Proc: p.x <= 1
  property within : always forall p in Proc: p.x <= 3
  property counts : eventually forall p in Proc: p.x == 3
}
check one of Counter { n = 1  prove small  prove within }
check all of Counter { n = 1  prove counts }
"""
"""One process counts from 0 to 3: four states, and two steps to the first violation."""

POINTS = "[bivalence.engines]\ntoy = toy:ENGINE\n[bivalence.exports]\ntoy = toy:export\n"
LIES = {
    "a run that starts elsewhere": "Path(((2,),))",
    "a step that nobody takes": "Path(((0,), (2,)))",
    "a run without violation": "Path(((0,), (1,)))",
    "no run at all": "Path(())",
    "states that are none": "Path((('x', 'y'), None))",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: Patch) -> Iterator[Path]:
    (tmp_path / "counter.bcast").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [n for n in sys.modules if n.partition(".")[0] in ("toy", "other")]:
        del sys.modules[name]


def check(*words: str, name: str = "one") -> int:
    return main(["check", f"counter.bcast::{name}", *words])


def refused(capsys: Out, *said: str) -> None:
    """What was printed is one diagnostic that says ``said``."""
    found = capsys.readouterr()
    assert found.err.count("error[E042]") == 1
    assert "Traceback" not in found.err + found.out
    for words in said:
        assert words in " ".join(found.err.split())


def test_an_engine_from_outside_answers(folder: Path, monkeypatch: Patch, capsys: Out) -> None:
    install(folder, monkeypatch, ENGINE + EXPORT, POINTS)
    assert check("--engine", "toy", "--json", "toy.json", "--trace-out", "t.json") == 1
    assert check("--engine", "reference", "--json", "reference.json") == 1
    toy, reference = (only_report(Path(f"{n}.json").read_text()) for n in ("toy", "reference"))
    assert (toy["engine"], toy["distinct_states"]) == ("toy", 4)
    words = {v["property"]: v["verdict"] for v in toy["verdicts"]}
    assert words == {"small": "violated", "within": "holds"}
    assert words == {v["property"]: v["verdict"] for v in reference["verdicts"]}
    capsys.readouterr()
    assert main(["export", "t.json", "--to", "toy"]) == 0
    assert capsys.readouterr().out == "small: 2 steps\n"


def test_silence_about_what_an_engine_does_not_claim_is_no_verdict(
    folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    install(folder, monkeypatch, ENGINE + EXPORT, POINTS)
    assert check("--engine", "toy", name="all") == 3
    assert "the toy engine does not support" in " ".join(capsys.readouterr().out.split())
    assert check("--engine", "toy", "--coverage") == 2
    assert "error[E007]" in capsys.readouterr().err
    assert check("--engine", "toy", "--max-states", "2") == 2
    assert "error[E007]" in capsys.readouterr().err
    assert check("--engine", "toy", "--checkpoint", "kept") == 2
    assert "error[E007]" in capsys.readouterr().err
    assert check("--engine", "toy", "--master", "local[2]") == 2
    assert "--master applies to --engine spark" in capsys.readouterr().err
    assert check("--engine", "toy", "--threads", "2") == 1
    assert "the toy engine does not support `--threads`" in capsys.readouterr().out


IMPATIENT = """
import sys
from checker.cli import supervisor
supervisor.SILENT, supervisor.GLANCE = 0.2, 0.1
from checker.cli.main import main
sys.exit(main())
"""


def test_an_engine_that_does_not_end_is_ended(folder: Path, monkeypatch: Patch) -> None:
    """It does not poll either, so its process is killed."""
    endless = "Toy.explore = lambda *_: max(x for x in iter(int, 1))\n"
    install(folder, monkeypatch, ENGINE + endless + EXPORT, POINTS)
    words = ["check", "counter.bcast::one", "--engine", "toy", "--timeout", "1"]
    done = subprocess.run(
        [sys.executable, "-c", IMPATIENT, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder / "site-toy"), str(ROOT)))},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done
    assert "the time limit of 1 s was reached" in " ".join(done.stdout.split())


def test_names_from_outside_are_shown(folder: Path, monkeypatch: Patch, capsys: Out) -> None:
    install(folder, monkeypatch, ENGINE + EXPORT, POINTS)
    for command in ("check", "export"):
        assert main([command, "--help"]) == 0
        assert "|toy]" in capsys.readouterr().out
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "engine toy: toy 1.0 (toy:ENGINE)" in out
    assert "export toy: toy 1.0 (toy:export)" in out
    assert check("--engine", "tyo") == 2
    assert "'tyo' is not one of" in capsys.readouterr().err


def test_cells_of_a_sweep_are_run_by_it(folder: Path, monkeypatch: Patch, capsys: Out) -> None:
    install(folder, monkeypatch, ENGINE + EXPORT, POINTS)
    words = ["sweep", "counter.bcast::one", "--grid", "n=1..2", "--engine", "toy", "--jobs", "1"]
    assert main([*words, "--json", "rows.json", "-q"]) == 0, capsys.readouterr().err
    rows = json.loads(Path("rows.json").read_text())["cells"]
    assert [row["engine"] for row in rows] == ["toy", "toy"]


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_about_a_run_is_refused(
    lie: str, folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    lying = ENGINE.replace("self.path(parent, state)", lie)
    assert lying != ENGINE
    install(folder, monkeypatch, lying, POINTS)
    assert check("--engine", "toy") == 2
    refused(capsys, "toy of toy 1.0 (toy:ENGINE) returned a run that the replay rejects")


def test_a_lie_of_an_engine_of_the_tool_is_a_bug(monkeypatch: Patch) -> None:
    from checker.engines.reference import engine

    explore = engine.explore

    def lying(*given: object, **named: object) -> object:
        from checker.records import replace
        from checker.results.answer import Path as Run

        found = explore(*given, **named)  # type: ignore[arg-type]
        return replace(found, violations={"small": Run(((2,),))})

    monkeypatch.setattr(engine, "explore", lying)
    with pytest.raises(ReplayMismatch):
        run_check("counter.bcast", "one", Options(engine="reference"))


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import nothing_of_that_name", "fails with ModuleNotFoundError"),
        ("raise SystemExit(0)", "fails with SystemExit"),
        ("def", "fails with SyntaxError"),
        ("", "fails with AttributeError"),
        ("ENGINE = 7", "is not an engine, but of type int"),
        (ENGINE + "ENGINE = Toy", "is not an engine, but of type"),
        (ENGINE + "Toy.name = 'native'", "calls itself 'native'"),
        (ENGINE + "del Toy.name", "fails with AttributeError"),
        (ENGINE + "Toy.capabilities = 3", "does not declare its capabilities as a mapping"),
        (ENGINE + "Toy.capabilities = {'all': True}", "declares True of 'all'"),
        (ENGINE + "Toy.capabilities = {Feature.RUNS: YES}", "is not a SearchEngine"),
        (ENGINE + "Toy.explore = lambda self: 1", "fails with TypeError"),
        (ENGINE + "Toy.explore = lambda *_: 1 / 0", "fails with ZeroDivisionError"),
        (ENGINE + "Toy.explore = lambda *_: None", "returned a NoneType"),
        (ENGINE.replace('"toy", len', '"native", len'), "returned an answer of 'native'"),
        (
            ENGINE.replace("setdefault(prop.name,", "setdefault('p',"),
            "a violation of 'p', which is not",
        ),
        (
            ENGINE.replace("self.path(parent, state)", "None"),
            "reported a violation of small without a run",
        ),
    ],
)
def test_an_engine_that_is_none_is_a_diagnostic(
    module: str, said: str, folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    install(folder, monkeypatch, module, POINTS)
    assert check("--engine", "toy") == 2
    refused(capsys, "toy of toy 1.0 (toy:ENGINE)", said)
    assert check() == 1, "the others work"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import nothing_of_that_name", "fails with ModuleNotFoundError"),
        ("export = 7", "is not a function, but of type int"),
        ("export = lambda: 1", "fails with TypeError"),
        ("export = lambda trace: trace.nothing", "fails with AttributeError"),
        ("export = lambda trace: 7", "returned not a string, but a value of type int"),
    ],
)
def test_an_export_that_is_none_is_a_diagnostic(
    module: str, said: str, folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    assert check("--trace-out", "t.json") == 1
    capsys.readouterr()
    install(folder, monkeypatch, module, POINTS)
    assert main(["export", "t.json", "--to", "toy"]) == 2
    refused(capsys, "toy of toy 1.0 (toy:export)", said)


def test_an_export_can_do_no_harm_to_a_terminal(
    folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    install(folder, monkeypatch, "def export(trace):\n    return '\\x1b[2Jgone'\n", POINTS)
    assert check("--trace-out", "t.json") == 1
    capsys.readouterr()
    assert main(["export", "t.json", "--to", "toy"]) == 0
    assert capsys.readouterr().out == "\\x1b[2Jgone"


@pytest.mark.parametrize("name", ["native", "auto"])
def test_an_engine_that_claims_a_name_of_the_tool_is_refused(
    name: str, folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    install(folder, monkeypatch, ENGINE, f"[bivalence.engines]\n{name} = toy:ENGINE\n")
    if name != "auto":
        assert check("--engine", name) == 2
        refused(capsys, "toy 1.0 (toy:ENGINE) can't be called 'native'")
    assert check() == 1, "what is asked for is never the one from outside"
    assert "native engine" in capsys.readouterr().out
    assert main(["doctor"]) == 0
    said = f"absent   engine {name}: engine: toy 1.0 (toy:ENGINE) can't be called"
    assert said in capsys.readouterr().out


def test_two_engines_of_one_name_are_refused(folder: Path, monkeypatch: Patch, capsys: Out) -> None:
    install(folder, monkeypatch, ENGINE, POINTS)
    install(folder, monkeypatch, ENGINE, POINTS.replace("toy:", "other:"), name="other")
    assert check("--engine", "toy") == 2
    refused(capsys, "have the same name 'toy'", "toy 1.0 (toy:ENGINE)", "other 1.0 (other:ENGINE)")


def test_what_is_installed_and_can_not_be_read_harms_nobody_else(
    folder: Path, monkeypatch: Patch, capsys: Out
) -> None:
    install(folder, monkeypatch, ENGINE, "[bivalence.engines]\nwithout an equals sign\n")
    assert check("--engine", "native") == 1
    assert check("--engine", "toy") == 2
    assert "is not one of" in capsys.readouterr().err
    assert main(["doctor"]) == 0
    assert "engines: " in capsys.readouterr().out
