"""``bivalence explore``: what is said, and what is answered."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.simulate.session import SteppingSession

EAGER = "specs/broadcast/eager_reliable.bcast::crash_one"
LOSSY = "specs/links/alternating_bit.bcast::lossy_fifo"

Said = Callable[..., str]


@pytest.fixture
def explore(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs the command with these lines as its input, and returns what it says."""
    monkeypatch.setenv("COLUMNS", "80")

    def said(name: str, *lines: str, options: tuple[str, ...] = ("--no-diagram",)) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["explore", name, *options]) == 0
        return capsys.readouterr().out

    return said


def test_what_can_happen_is_listed_by_process(explore: Said) -> None:
    assert explore(EAGER, "q") == (
        "\np1\n    1  p1 broadcasts a\n    2  p1 crashes\n"
        "p2\n    3  p2 crashes\np3\n    4  p3 crashes\n> q\n"
    )


def test_steps_are_taken_by_number_or_by_words(explore: Said) -> None:
    out = explore(EAGER, "1", "p1 receives COPY", "crash p1", "q")
    assert "step 1: p1 broadcasts a\n" in out
    assert "step 2: p1 receives COPY(DATA(p1, a)) from p1\n" in out
    assert "step 3: p1 crashes\n" in out
    assert "VIOLATED if it ends here: uniform_agreement\n" in out


def test_the_run_is_drawn(explore: Said) -> None:
    out = explore(EAGER, "1", "q", options=())
    assert "▷ broadcast(a)" in out
    assert "violated" not in out


def test_back_and_forth(explore: Said) -> None:
    out = explore(EAGER, "1", "2", "u", "r", "u 2", "u", "jump 1", "jump 7", "undo x")
    assert "undone: p1 crashes\n" in out
    assert out.count("step 2: p1 crashes\n") == 2
    assert "this is the start: there is nothing to undo\n" in out
    assert "the run has no step 7: it has steps 0 to 2\n" in out
    assert "expected a number, not `x`\n" in out


def test_what_is_not_possible_says_what_is(explore: Said) -> None:
    lines = ("9", "p1", "p1 recovers", "crash", "crash p9", "drop 1", "randm", "why not")
    out = explore(EAGER, *lines)
    assert "choose a step from 1 to 4; `show` lists them\n" in out
    assert "`p1` can mean 2 different steps; there is\n    1  p1 broadcasts a\n" in out
    assert "`p1 recovers` can't happen here; there is\n" in out
    assert "`crash` needs a process that can crash: p1, p2, p3\n" in out
    assert "no message can be lost here" in out
    assert "did you mean `random`?" in out
    assert "`why not` needs a step" in out


def test_why_not(explore: Said) -> None:
    lines = ("why not p1 broadcasts a", "why not p2 receives COPY", "1", "crash p3")
    out = explore(EAGER, *lines, "why not p3 receives COPY", "why not p2 receives X from p1")
    assert "it can: 1  p1 broadcasts a\n" in out
    assert "no COPY is on its way to p2: none has been sent\n" in out
    assert "p3 has crashed in step 2\n" in out
    assert "no X from p1 is on its way to p2: none has been sent\n" in out
    out = explore(EAGER, "1", "why not p1 broadcasts a")
    assert "it has already happened, in step 1\np1 has made this request already\n" in out


def test_messages_are_dropped(explore: Said) -> None:
    out = explore(LOSSY, "1", "drop", "drop 1", "messages")
    assert "`drop` needs the number of a step with a message: 3\n" in out
    assert "step 2: the link loses DATA(false, 1) from s1 to r1\n" in out
    assert out.endswith("> messages\n  no messages in flight\n")


def test_what_the_run_has_come_to(explore: Said) -> None:
    out = explore(EAGER, "1", "p1 receives COPY", "state p1", "deliveries", "messages", "state q")
    assert "  p1     seen = {(p1, a)}\n" in out
    assert "  p1: deliver(p1, a)\n  p2: nothing\n" in out
    assert "  COPY(DATA(p1, a)) from p1 to p2\n" in out
    assert "there is no process q: p1, p2, p3\n" in out


def test_steps_at_random_say_their_seed(explore: Said) -> None:
    out = explore(EAGER, "random 3", "?")
    assert "seed " in out
    assert "step 1: " in out
    assert "why not WORDS" in out


@pytest.mark.parametrize("typed", [True, False])
def test_an_interrupt_ends_the_command_of_who_types(
    typed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: SteppingSession) -> None:
        raise KeyboardInterrupt

    lines = io.StringIO("1\nundo\ndeliveries\n")
    monkeypatch.setattr(lines, "isatty", lambda: typed)
    monkeypatch.setattr(sys, "stdin", lines)
    monkeypatch.setattr(SteppingSession, "undo", interrupted)
    assert main(["explore", EAGER, "--no-diagram"]) == 0
    out = capsys.readouterr().out
    assert ("interrupted; `show` displays the run so far" in out) is typed
    assert ("  p1: nothing\n" in out) is typed


def test_inner_steps_say_whose_they_are(explore: Said) -> None:
    inner = ("1", "COPY(DATA(p1, a)) leaves p1 for p1", "p1 receives COPY(DATA(p1, a)) from p1")
    inner = (*inner, "p1 indicates deliver(p1, a)")
    out = explore(EAGER, *inner, options=("--no-diagram", "--fine-steps"))
    assert "step 4: p1 indicates deliver(p1, a)\n" in out


def test_a_check_is_no_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", EAGER]) == 2
    assert "name a scenario of a check as FILE::CHECK::SCENARIO" in capsys.readouterr().err


def test_a_start_is_drawn_where_there_are_several(explore: Said) -> None:
    out = explore("specs/byzantine/echo.bcast::built_for_one_with_one", "random 2")
    assert "step 0: the run starts with " in out


def test_a_run_is_saved_and_replayed(
    explore: Said, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "the_sender_dies.scenario"
    lines = ("1", "p1 receives COPY", "crash p1", f"save {file}", f"save {tmp_path}/no/x", "save")
    out = explore(EAGER, *lines)
    assert f"saved in {file}\n" in out
    assert "there is no folder" in out
    assert "`save` needs a name" in out
    assert file.read_text().endswith(
        "::crash_one\n\n"
        "scenario the_sender_dies {\n"
        "  p1 broadcasts a\n"
        "  p1 receives COPY(DATA(p1, a)) from p1\n"
        "  p1 crashes\n"
        "  then uniform_agreement violated\n"
        "}\n"
    )
    assert main(["replay", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "uniform_agreement: VIOLATED" in shown
    assert shown.endswith("the_sender_dies: passed\n")
    file.write_text(file.read_text().replace("p1 crashes", "p2 recovers"))
    assert main(["replay", str(file)]) == 1
    shown = capsys.readouterr().out
    assert f"{file}:6: the_sender_dies FAILED:\n  `p2 recovers` can't happen here" in shown


def test_it_begins_with_a_scenario_and_saves_at_the_end(explore: Said, tmp_path: Path) -> None:
    file = tmp_path / "again.scenario"
    options = ("--no-diagram", "--scenario", "told_to_nobody", "--save", str(file))
    out = explore(EAGER, "q", options=options)
    assert "VIOLATED if it ends here: uniform_agreement\n" in out
    assert "scenario again {\n  p1 broadcasts a\n" in file.read_text()
    out = explore(EAGER, options=("--no-diagram", "--scenario", str(file)))
    assert "VIOLATED if it ends here: uniform_agreement\n" in out


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch, explore: Said) -> None:
    class Leaving(io.StringIO):
        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            raise KeyboardInterrupt

    monkeypatch.setattr(io, "StringIO", Leaving)
    assert explore(EAGER).endswith("p3 crashes\n\n")


def test_names_that_are_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["explore", EAGER, "--scenario", "nobody"]) == 2
    assert "it has told_to_nobody, told_to_one" in capsys.readouterr().err
    assert main(["explore", "specs/broadcast/eager_reliable.bcast"]) == 2
    assert "has several checks" in capsys.readouterr().err
    other = tmp_path / "other.scenario"
    other.write_text("of nowhere\n")
    assert main(["replay", str(other)]) == 2
    assert "E040" in capsys.readouterr().err
