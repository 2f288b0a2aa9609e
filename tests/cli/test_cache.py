"""``check --cache`` and ``watch``: what has not changed is answered at once, nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checker import resources
from checker.engines.options import Options
from checker.formats.json_format import report_to_json, reports_of
from checker.language.load import open_spec
from checker.proving.dispatch_check import answer_check
from checker.records import replace
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session import result_cache
from checker.session.result_cache import CACHED, cached

SPEC = """\
protocol P {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property small "It stays small." : always forall p in Proc: p.x <= 3
  property smaller : always forall p in Proc: p.x <= 2
}
check one of P { n = 1 prove small expect smaller violated }
check two of P { n = 2 prove small }
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "a.bcast"
    path.write_text(SPEC, encoding="utf-8")
    return path


def ask(path: Path, name: str, **how: Any) -> Report:
    spec, options = open_spec(path), Options(**how)
    return cached(spec, name, options, lambda: answer_check(spec, name, options))


def is_cached(report: Report) -> bool:
    return CACHED in report.notes


def without_note(report: Report) -> dict[str, Any]:
    return report_to_json(replace(report, notes=tuple(n for n in report.notes if n != CACHED)))


def test_the_second_answer_is_the_first_one(spec: Path) -> None:
    first = ask(spec, "one", explain=1.0)
    again = ask(spec, "one", explain=1.0)
    assert not is_cached(first) and is_cached(again)
    assert without_note(again) == without_note(first)
    assert again.exit_code == first.exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "hits"),
    [
        ("n = 2", "n = 3", {"one"}),
        ("x + 1", "x + 2 - 1", set()),
        ("x <= 3\n", "x <= 4\n", set()),
        ("It stays small.", "It never grows.", set()),
        ("expect smaller violated", "expect smaller holds", {"two"}),
        ("check two", "// another comment\ncheck two", {"one"}),
        ("check one", "\ncheck one", set()),
        ("prove small }\n", "prove small } // behind\n", {"one", "two"}),
    ],
)
def test_what_has_changed_is_run_again(spec: Path, old: str, new: str, hits: set[str]) -> None:
    """A place that moved counts as a change: reports name lines."""
    for name in ("one", "two"):
        ask(spec, name)
    assert old in SPEC
    spec.write_text(SPEC.replace(old, new), encoding="utf-8")
    assert {name for name in ("one", "two") if is_cached(ask(spec, name))} == hits


REGISTER = """\
object Cell<V> {
  state value : option<V> = none
  operation read(): option<V> { return value }
  operation write(v: V) { value := some(v) }
}
interface Store {
  request read() returns read_return(v: option<Msg>)
  request write(v: Msg) returns write_return()
  property atomicity "Operations take effect at once." : linearizable as Cell
}
protocol P implements Store {
  define few(k: 0..3): Nat = if k == 0 then 0 else 1 + few(k - 1)
  state last : option<Msg> = none
  upon request read() { read_return(last) }
  upon request write(v) { last := some(v) write_return() }
  property small "It stays small." : always forall p in Proc: few(2) <= 2
}
check one of P { n = 1 clients { p1 writes a p1 reads } prove atomicity, small }
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("value := some(v)", "value := none   "), ("1 + few(k - 1)", "2 + few(k - 1)")],
)
def test_objects_and_recursive_definitions_determine_an_answer(
    spec: Path, old: str, new: str
) -> None:
    """And not where they are in memory."""
    spec.write_text(REGISTER, encoding="utf-8")
    assert ask(spec, "one").exit_code == 0
    assert is_cached(ask(spec, "one"))
    assert old in REGISTER
    spec.write_text(REGISTER.replace(old, new), encoding="utf-8")
    changed = ask(spec, "one")
    assert not is_cached(changed) and changed.exit_code == 1


def test_the_text_of_a_trace_is_that_of_the_file_now(spec: Path) -> None:
    ask(spec, "one")
    now = SPEC.replace("check two", "// said later\ncheck two")
    spec.write_text(now, encoding="utf-8")
    report = ask(spec, "one")
    assert is_cached(report)
    traces = [v.trace for v in report.verdicts if v.trace is not None]
    assert [t.header.sources[0].text for t in traces] == [now]


@pytest.mark.parametrize(
    "how",
    [{"settings": {"n": "2"}}, {"fine_steps": True}, {"reduce": "none"}, {"engine": "reference"}],
)
def test_other_options_are_another_question(spec: Path, how: dict[str, Any]) -> None:
    ask(spec, "one")
    assert not is_cached(ask(spec, "one", **how))


def test_another_version_never_answers(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(spec, "one")
    monkeypatch.setattr(result_cache, "tool_digest", lambda: b"of a source that was edited")
    assert not is_cached(ask(spec, "one"))


def test_the_digest_is_that_of_every_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "checker"
    (package / "deep").mkdir(parents=True)
    (package / "deep" / "a.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(resources, "__file__", str(package / "resources.py"))
    digest = result_cache.tool_digest.__wrapped__
    before = digest()
    (package / "deep" / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert digest() != before
    monkeypatch.setattr(resources, "installed_version", lambda name: "99")
    assert digest() != before


def test_what_a_budget_ended_is_not_kept(spec: Path) -> None:
    for _ in range(2):
        report = ask(spec, "two", limits=Limits(max_states=2))
        assert report.stopped is not None and not is_cached(report)


def test_a_damaged_answer_is_not_used(spec: Path) -> None:
    ask(spec, "one")
    folder = resources.cache_folder("reports")
    assert folder is not None
    (kept,) = folder.glob("*.json")
    kept.write_bytes(kept.read_bytes().replace(b'"holds"', b'"proved"'))
    assert not is_cached(ask(spec, "one"))


def test_runs_that_leave_something_behind_are_run(spec: Path, tmp_path: Path) -> None:
    for number in range(2):
        report = ask(spec, "one", states_out=str(tmp_path / f"tables{number}"))
        assert not is_cached(report)
        assert (tmp_path / f"tables{number}").is_dir()


def test_watching(spec: Path) -> None:
    """In a process of its own: at first, after a change with an error, and after its correction."""
    words = [sys.executable, "-m", "checker.cli", "watch", str(spec)]
    env = {**os.environ, "COLUMNS": "100"}
    with subprocess.Popen(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        said: list[str] = []

        def until(words: str) -> str:
            found: list[str] = []
            for line in running.stdout or ():
                found.append(line)
                said.append(line)
                if words in line:
                    return "".join(found)
            raise AssertionError("".join(said))

        until("2 checks, all as expected")
        spec.write_text(SPEC.replace("p.x <= 2", "p.y <= 2"), encoding="utf-8")
        assert "a.bcast has changed" in until("N002")
        spec.write_text(SPEC.replace("n = 2", "n = 3"), encoding="utf-8")
        again = until("2 checks, all as expected")
        assert "note one: from the cache" in " ".join(again.split())
        running.send_signal(signal.SIGINT)
        assert running.wait(60) in (0, 3)  # 3 where the last check was still about to end


def test_the_command_says_what_is_from_the_cache(spec: Path) -> None:
    from click.testing import CliRunner

    from checker.cli.commands import cli

    for expected in (False, True):
        found = CliRunner().invoke(cli, ["check", str(spec), "--cache", "--json", "-"])
        (one, two) = reports_of(found.stdout)
        assert [CACHED in each["notes"] for each in (one, two)] == [expected, expected]


class Answer(msgspec.Struct):
    """An outcome of a check."""

    said: str = ""


def test_outcomes_of_one_check_are_apart(spec: Path) -> None:
    def of(what: str, *digests: str | None, said: str) -> str:
        found = result_cache.outcome(
            what, digests, Answer, lambda: Answer(said), lambda answer: answer.said != "undecided"
        )
        return found.said

    assert of("one", "a", "b", said="first") == "first"
    assert of("one", "a", "b", said="again") == "first"
    assert of("other", "a", "b", said="other") == "other"
    assert of("one", "b", "a", said="another") == "another"
    assert of("one", "a", None, said="unknown") == "unknown"
    assert of("two", "a", "b", said="undecided") == "undecided"
    assert of("two", "a", "b", said="decided") == "decided"
