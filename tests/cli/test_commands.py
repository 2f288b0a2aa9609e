"""The commands, over a pipeline that is made by hand."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click import BadParameter, UsageError

from checker import cli
from checker.cli import console
from checker.cli.main import main
from checker.cli.progress import Meter
from checker.cli.settings import settings_of, size
from checker.diagnostics import Diagnostic, SpecError
from checker.formats.json_format import reports_of, trace_from_text, trace_to_json
from checker.model.evaluate import RunFault
from checker.records import replace
from checker.results.answer import Limits, Progress, Unsupported
from checker.results.mismatch import ReplayMismatch
from checker.results.verdict import Covered, Report, Word
from tests.cli.fake import Pipeline, held
from tests.documents import only_report
from tests.results.test_documents import made, trace_of

Out = pytest.CaptureFixture[str]
Reports = dict[str, Report | Exception]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    file = tmp_path / "a.bcast"
    file.write_text("// a spec\ncheck one of A {}\n")
    return str(file)


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    from checker import session

    fake = Pipeline({"one": held()})
    monkeypatch.setitem(sys.modules, "checker.session.pipeline", fake)
    monkeypatch.setattr(session, "pipeline", fake, raising=False)
    monkeypatch.setattr(
        console, "render_with_source", lambda found: f"{found.code}: {found.message}"
    )
    monkeypatch.setenv("COLUMNS", "80")
    return fake


def test_check_says_more_than_ok(spec: str, pipeline: Pipeline, capsys: Out) -> None:
    assert main(["check", spec]) == 0
    out = capsys.readouterr()
    assert "HOLDS" in out.out
    assert "exhaustive for n=3" in out.out
    assert out.err == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((Word.HOLDS, Word.UNKNOWN), 3),
        ((Word.UNKNOWN, Word.VACUOUS), 4),
        ((Word.VACUOUS, Word.VIOLATED), 1),
    ],
)
def test_the_worst_check_decides(
    words: tuple[Word, ...], code: int, spec: str, pipeline: Pipeline
) -> None:
    pipeline.reports = {f"c{i}": held(word=word) for i, word in enumerate(words)}
    assert main(["check", spec]) == code
    assert main(["test", spec]) == code


@pytest.mark.parametrize(
    "problem",
    [
        SpecError((Diagnostic("C200", "the check gives no value to `k`"),)),
        Unsupported("the native engine has no such thing"),
    ],
)
def test_a_check_that_cant_be_asked_does_not_end_the_others(
    problem: Exception, spec: str, pipeline: Pipeline, capsys: Out, tmp_path: Path
) -> None:
    pipeline.reports = {"bad": problem, "good": held(), "wrong": made(), "worse": problem}
    report = tmp_path / "report.json"
    assert main(["check", spec, "--json", str(report)]) == 2
    out = capsys.readouterr()
    assert out.err.count(str(problem)) == 2
    assert out.out.count("could not be run") == 2
    assert "1 holds" in out.out and "agreement violated, as expected" in out.out
    assert "2 of 4 checks as expected (not run: 2)" in out.out
    assert len(reports_of(report.read_text())) == 2


def test_an_error_before_the_first_state_is_a_violation(
    spec: str, pipeline: Pipeline, capsys: Out
) -> None:
    pipeline.reports = {"one": RunFault("R001", "4 is outside 0..3", None)}
    assert main(["check", spec]) == 1
    assert "no run can start: 4 is outside 0..3 (R001)" in capsys.readouterr().err


def test_a_check_without_sizes_does_not_end_the_test_of_its_file(
    spec: str, pipeline: Pipeline, capsys: Out
) -> None:
    problem = SpecError((Diagnostic("C200", "the check gives no value to `k`"),))
    pipeline.reports = {"bad": problem, "good": held()}
    assert main(["test", spec]) == 2
    out = capsys.readouterr()
    assert out.out.count("UNUSABLE") == 1 and "::bad" in out.out
    assert "1 of 2 as expected" in out.out


def test_options_reach_the_pipeline(spec: str, pipeline: Pipeline) -> None:
    arguments = "--set n=4 --set f=1 --engine reference --threads 2 --fine-steps --max-states 10"
    more = "--max-depth 3 --timeout 1.5 --memory 4G"
    assert main(["check", f"{spec}::one", *arguments.split(), *more.split()]) == 0
    (options,) = pipeline.asked
    assert options.settings == {"n": "4", "f": "1"}
    assert (options.engine, options.threads, options.fine_steps) == ("reference", 2, True)
    assert options.limits == Limits(10, 3, 1.5, 4 << 30)


def test_json_alone_goes_to_stdout(spec: str, pipeline: Pipeline, capsys: Out) -> None:
    assert main(["check", spec, "--json", "-"]) == 0
    assert only_report(capsys.readouterr().out)["check"] == "one"
    pipeline.reports["two"] = held()
    assert main(["check", spec, "--json", "-"]) == 0
    assert len(reports_of(capsys.readouterr().out)) == 2


def test_outputs_and_traces(spec: str, pipeline: Pipeline, capsys: Out, tmp_path: Path) -> None:
    pipeline.reports = {"three": made(), "two": made(limit=1)}
    files = [tmp_path / name for name in ("report.json", "trace.json", "trace.itf.json")]
    options = ("--json", "--trace-out", "--itf-out")
    pairs = [text for o, f in zip(options, files, strict=True) for text in (o, str(f))]
    assert main(["check", spec, "--show", "three", *pairs]) == 1
    out = capsys.readouterr()
    assert out.out.count("accepted by an independent replay") == 3
    assert "wrote only the first of 3 traces: agreement" in out.err
    assert trace_from_text(files[1].read_text()) == trace_of(made())
    assert json.loads(files[2].read_text())["#meta"]["format"] == "ITF"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["a.bcast", *(f.name for f in files)]
    )


def test_no_trace_to_write(spec: str, pipeline: Pipeline, capsys: Out, tmp_path: Path) -> None:
    assert main(["check", spec, "--trace-out", str(tmp_path / "t.json")]) == 0
    assert "no trace was written" in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


def test_quiet_shows_no_trace(spec: str, pipeline: Pipeline, capsys: Out) -> None:
    pipeline.reports = {"one": made()}
    assert main(["check", "-q", spec]) == 0
    assert "replay" not in capsys.readouterr().out


def test_an_interruption_stops_the_rest(spec: str, pipeline: Pipeline) -> None:
    stopped = held(word=Word.UNKNOWN, stopped="interrupted")
    pipeline.reports = {"one": stopped, "two": held()}
    assert main(["check", spec]) == 3
    assert len(pipeline.asked) == 1
    assert main(["test", spec]) == 3
    assert len(pipeline.asked) == 2


def test_an_interruption_while_liveness_is_decided_stops_the_rest_too(
    spec: str, pipeline: Pipeline, capsys: Out
) -> None:
    (verdict,) = held(word=Word.UNKNOWN).verdicts
    verdicts = (replace(verdict, reason="interrupted"),)
    pipeline.reports = {"one": replace(held(), verdicts=verdicts), "two": held()}
    assert main(["check", spec]) == 3
    assert len(pipeline.asked) == 1
    assert "interrupted" in capsys.readouterr().out


SPEC_ERROR = SpecError((Diagnostic("T101", "a type is wrong"), Diagnostic("T102", "and another")))


@pytest.mark.parametrize(
    ("problem", "code", "says"),
    [
        (SPEC_ERROR, 2, "T101: a type is wrong\nT102: and another\n"),
        (Unsupported("too large"), 2, "error: too large\n"),
        (ReplayMismatch("step 3"), 70, "internal error: ReplayMismatch: step 3; please report it"),
        (ZeroDivisionError("x"), 70, "internal error: ZeroDivisionError"),
        (MemoryError(), 3, "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device", "f"), 2, "f: No space left on device"),
        (console.WriteFailed(errno.ENOENT, "No such folder", "f"), 2, "error: f: No such folder"),
        (OSError(errno.EBADF, "Bad file descriptor"), 70, "error: Bad file descriptor"),
        (KeyboardInterrupt(), 3, "interrupted"),
    ],
)
def test_what_goes_wrong(
    problem: Exception, code: int, says: str, spec: str, pipeline: Pipeline, capsys: Out
) -> None:
    pipeline.reports = {"one": problem}
    assert main(["check", spec]) == code
    out = capsys.readouterr()
    assert says in out.err
    assert "Traceback" not in out.err
    assert out.out == ""


def test_tracebacks_are_for_those_who_ask(
    spec: str, pipeline: Pipeline, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIVALENCE_DEBUG", "1")
    pipeline.reports = {"one": ZeroDivisionError("x")}
    assert main(["check", spec]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("check", "Missing argument"),
        ("check SPEC --set n", "NAME=VALUE"),
        ("check SPEC --set n=3 --set n=4", "twice"),
        ("check SPEC --memory lots", "not an amount of memory"),
        ("check SPEC --json x --trace-out x", "same file"),
        ("check SPEC --json nowhere/x", "there is no folder nowhere"),
        ("check SPEC --trace-out .", "is a folder"),
        ("test nowhere", "can't read `nowhere`: there is no such file"),
        ("view nowhere.json", "can't read `nowhere.json`: there is no such file"),
        ("view nowhere.bcast::c", "is a spec, and this command needs a trace"),
        ("explain nowhere.bcast", "is a spec, and this command needs a trace"),
        ("diagnostic C23", "did you mean C023? `bivalence diagnostic` lists all"),
        ("diagnostic C0999", "did you mean C207, C210 or C211?"),
        ("diagnostic why", "unknown diagnostic WHY; `bivalence diagnostic` lists all"),
        ("frobnicate", "No such command"),
    ],
)
def test_usage_errors(
    arguments: str, says: str, spec: str, pipeline: Pipeline, capsys: Out
) -> None:
    assert main(arguments.replace("SPEC", spec).split()) == 2
    out = capsys.readouterr()
    assert says in out.err
    assert out.out == ""


def test_coverage_is_asked_for(spec: str, pipeline: Pipeline, capsys: Out) -> None:
    covered = (Covered("handler", "upon init", "a.bcast", 7, 3, False),)
    pipeline.reports = {"one": held(coverage=covered)}
    assert main(["check", spec, "--coverage"]) == 0
    assert pipeline.asked[-1].coverage
    assert "Coverage: 0 of 1 handlers reached" in capsys.readouterr().out
    main(["check", spec])
    assert not pipeline.asked[-1].coverage


def test_test_goes_through_folders(pipeline: Pipeline, capsys: Out, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.bcast").write_text("fine")
    assert main(["test", str(tmp_path)]) == 0
    assert "2 of 2 as expected" in capsys.readouterr().out
    (tmp_path / "b.bcast").write_text("wrong")
    pipeline.reports = {"one": made(limit=1)}
    assert main(["test", str(tmp_path)]) == 2
    out = capsys.readouterr()
    assert "UNEXPECTED" in out.out
    assert "states: expected 13, found at least" in out.out
    assert "0 of 2 as expected" in out.out
    assert "P001" in out.err


def test_view_and_replay(pipeline: Pipeline, capsys: Out, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps(trace_to_json(trace_of(made()))))
    assert main(["view", str(file)]) == 0
    seen = capsys.readouterr().out
    assert "►■ deliver(p1, a)" in seen
    assert "as recorded in the trace file" in seen
    assert seen.startswith("Recorded, not replayed:")
    assert main(["replay", str(file)]) == 1
    again = capsys.readouterr().out
    assert again.startswith("Replayed: the interpreter accepts all 2 steps, and agreement is viol")
    assert "accepted by an independent replay" in again
    assert "\n2  p2 receives DATA(p1, a) from p1\n" in again and "►■" not in again
    assert main(["view", "--steps", str(file)]) == 0
    assert "p2 receives DATA(p1, a) from p1" in capsys.readouterr().out
    file.write_text("{}")
    assert main(["view", str(file)]) == 2
    assert "E006" in capsys.readouterr().err


def test_a_trace_that_is_no_run_any_more_is_the_users_affair(
    pipeline: Pipeline, capsys: Out, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise ReplayMismatch("no transition leads to the state of step 2")

    monkeypatch.setattr(pipeline, "replay_trace", refuse)
    file = tmp_path / "t.json"
    file.write_text(json.dumps(trace_to_json(trace_of(made()))))
    assert main(["replay", str(file)]) == 2
    assert "E009" in capsys.readouterr().err


def test_show(spec: str, pipeline: Pipeline, capsys: Out) -> None:
    assert main(["show", spec, "--system", "--set", "n=4"]) == 0
    assert capsys.readouterr().out == "system one with {'n': '4'}\n"
    assert main(["show", spec]) == 0
    assert "validity (expected: holds)\n    what is sent arrives" in capsys.readouterr().out


def test_what_comes_before_a_search_is_told(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.cli.progress.EVERY", 0.01)
    said = ""
    with Meter("a", terminal=False) as meter:
        while "a: preparing, 0 s" not in said:
            said += capsys.readouterr().err
        meter(Progress(1, 1, 0, 0.0, 0))
        capsys.readouterr()
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_phase_that_takes_long_is_told_again(
    capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("checker.cli.progress.EVERY", 0.01)
    with Meter("a", terminal=False) as meter:
        meter(Progress(4000, 0, 4, 5.0, 0, "liveness: state graph"))
        said = ""
        while said.count("a: 4,000 states, liveness: state graph, 5 s\n") < 3:
            said += capsys.readouterr().err


def test_progress_on_a_terminal_and_elsewhere(capsys: Out) -> None:
    with Meter("a", terminal=False) as meter:
        meter(Progress(10, 5, 1, 0.5, 0))
        assert capsys.readouterr().err == ""
        meter(Progress(2000, 5, 3, 2.0, 1 << 20))
        meter(Progress(4000, 5, 4, 2.1, 1 << 20))
    line = "a: 2,000 states, depth 3, frontier 5, 1,000 states/s, 1 MiB, 2 s\n"
    assert capsys.readouterr().err == line
    with Meter("a", terminal=False) as meter:
        meter(Progress(4000, 0, 4, 5.0, 0, "liveness: agreement"))
    assert capsys.readouterr().err == "a: 4,000 states, liveness: agreement, 5 s\n"


def test_files_are_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.json"
    file.write_text("before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        console.write_file(str(file), "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_sizes_and_settings() -> None:
    sizes = {"500M": 500 << 20, "4G": 4 << 30, "1.5 GiB": 3 << 29, "17": 17, "2kb": 2048}
    assert {text: size(text) for text in sizes} == sizes
    for text in ("", "G", "-1G", "0", "4X"):
        with pytest.raises(BadParameter):
            size(text)
    assert settings_of(["n=4", "n=4", " f = 2*n "]) == {"n": "4", "f": "2*n"}
    for text in ("n", "=4", "n=", "1=2"):
        with pytest.raises(UsageError):
            settings_of([text])


HEAVY = ("lark", "llvmlite", "numba", "numpy", "rich", "z3", "pyspark", "checker.model")
LEAN = f"""
import sys
from checker.cli.main import main
assert main(["--help"]) == 0
assert main(["check", "--help"]) == 0
assert main(["--version"]) == 0
heavy = [m for m in {HEAVY!r} if m in sys.modules]
sys.exit(f"loaded: {{heavy}}" if heavy else 0)
"""


def test_the_start_is_lean() -> None:
    root = Path(cli.__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", LEAN], capture_output=True, text=True, cwd=root, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "0    all as expected" in run.stdout


def test_a_reader_that_leaves_is_not_complained_about() -> None:
    root = Path(cli.__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "checker.cli", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), error) == (141, b"")
