"""`bivalence monitor`: what is reported, restarts, sources and their errors."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.conform.conform_log import Asked
from checker.conform.following import Following
from checker.conform.monitor import Monitor
from checker.conform.read_log import RowsOfLines
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.results.monitoring import Lost, Noticed, Overdue, Resumed, Wrong
from checker.results.verdict import Word
from tests.conform.test_windows_command import ASKS, COUNTER, adds

LOGGED = ("send", "receive", "handler")
MAPPING = LogMapping(logged=LOGGED)


def lines(process: str, rows: list[dict[str, Any]], first: int = 1) -> list[str]:
    return [json.dumps({"process": process, "pos": n, **row}) for n, row in enumerate(rows, first)]


def spec_in(folder: Path) -> str:
    spec = folder / "spec.bcast"
    spec.write_text(COUNTER, encoding="utf-8")
    (folder / "names.toml").write_text(f"logged = {json.dumps(LOGGED)}\n", encoding="utf-8")
    return str(spec)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Fed:
    """A monitor of the counter that gets texts, with a clock that stands still."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.noticed: list[Noticed] = []
        self.clock = Clock()
        asked = Asked(spec_in(folder), "one", Options(engine="reference"), MAPPING)
        self.monitor = Monitor(asked, self.noticed.append, clock=self.clock, **options)
        self.reader = RowsOfLines("log", MAPPING, None)

    def feed(self, texts: list[str]) -> None:
        self.monitor.feed(
            [row for n, text in enumerate(texts, 1) for row in self.reader.of(n, text)]
        )


def test_a_right_log_holds(tmp_path: Path) -> None:
    fed = Fed(tmp_path)
    fed.feed(lines("s1", adds(1, 3, 6)))  # they wait for the lines of the client
    fed.feed(lines("c1", ASKS))
    assert fed.monitor.end().word is Word.HOLDS
    assert not fed.noticed


def test_what_a_process_shows_is_said_at_once(tmp_path: Path) -> None:
    fed = Fed(tmp_path)
    fed.feed(lines("s1", adds(1, 4)))
    (wrong,) = fed.noticed
    assert isinstance(wrong, Wrong)
    assert wrong.alone
    assert (wrong.line.process, wrong.line.number) == ("s1", 4)
    assert "TOTAL(3)" in " ".join(wrong.reasons)
    assert fed.monitor.end().exit_code == 1


def test_what_all_processes_show_is_said_of_the_first_line(tmp_path: Path) -> None:
    fed = Fed(tmp_path)
    fed.feed([*lines("c1", ASKS[:2]), *lines("s1", [*adds(1), *adds(2)])])
    (wrong,) = fed.noticed
    assert isinstance(wrong, Wrong)
    assert not wrong.alone
    assert (wrong.line.process, wrong.line.number) == ("s1", 5)


def test_a_message_that_nobody_has_sent_is_overdue(tmp_path: Path) -> None:
    fed = Fed(tmp_path, lag=5.0)
    fed.feed(lines("s1", adds(1)))
    fed.clock.now = 5.0
    fed.monitor.tick()
    assert not fed.noticed
    fed.clock.now = 5.5
    fed.monitor.tick()
    (overdue,) = fed.noticed
    assert isinstance(overdue, Overdue)
    assert (overdue.sender, overdue.seconds) == ("c1", 5.5)
    assert fed.monitor.end().exit_code == 1


def test_track_is_lost_and_found_again(tmp_path: Path) -> None:
    fed = Fed(tmp_path)
    fed.feed(lines("c1", ASKS))
    fed.monitor.lose("s1", "a test")
    fed.feed(lines("s1", adds(9)))  # nothing is known before it
    fed.feed(lines("s1", adds(9)[:1], 3))
    assert [type(each) for each in fed.noticed] == [Lost, Lost, Resumed]
    fed.feed(lines("s1", [{**adds(0)[1], "state": {"total": 0}}], 4))
    assert isinstance(fed.noticed[-1], Wrong)


def test_memory_is_bounded(tmp_path: Path) -> None:
    fed = Fed(tmp_path, most=3)
    fed.feed(lines("c1", ASKS))
    fed.feed(lines("s1", adds(1, 3, 6)))
    assert fed.monitor.end().word is Word.HOLDS
    assert len(fed.monitor.search.snapshot().way) == 3
    assert all(stream.base > 0 for stream in fed.monitor.search.streams)


def test_a_run_whose_start_is_forgotten_survives_a_restart(tmp_path: Path) -> None:
    fed, again = Fed(tmp_path, most=3), Fed(tmp_path, most=3)
    fed.feed(lines("c1", ASKS))
    fed.feed(lines("s1", adds(1, 3)))
    data = json.loads(json.dumps(fed.monitor.to_data()))
    assert data["search"]["whole"] is False
    assert again.monitor.restore(data)
    again.feed(lines("s1", adds(1, 3, 6)))  # the first ones are known
    assert not again.noticed
    assert again.monitor.end().word is Word.HOLDS


def test_a_message_that_is_waited_for_is_overdue_after_a_restart_too(tmp_path: Path) -> None:
    fed, again = Fed(tmp_path), Fed(tmp_path)
    fed.feed(lines("s1", adds(1)))
    assert again.monitor.restore(json.loads(json.dumps(fed.monitor.to_data())))
    again.clock.now = 6.0
    again.monitor.tick()
    assert [type(each) for each in again.noticed] == [Overdue]


def test_too_many_local_states_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.conform.local_log.MOST_STATES", 0)
    fed = Fed(tmp_path)
    fed.feed(lines("c1", ASKS))
    fed.feed(lines("s1", adds(1, 3)))
    lost = [each for each in fed.noticed if isinstance(each, Lost)]
    assert lost == fed.noticed
    assert {each.process for each in lost} == {"c1", "s1"}
    assert fed.monitor.end().word is Word.UNKNOWN


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (['{"process": "s1", "pos": 1, "kind": "timeout", "name": "t"}'], "E074"),
        (['{"process": "s9", "pos": 1, "kind": "receive", "message": "ADD"}'], "E074"),
        (['{"process": "c1", "pos": 1, "kind": "handler", "name": "asks", "run": "a"}',
          '{"process": "c1", "pos": 2, "kind": "handler", "name": "asks", "run": "b"}'], "E073"),
        (['{"process": "c1", "pos": 1, "kind": "handler", "name": "asks"}',
          '{"process": "c1", "pos": 1, "kind": "receive", "message": "TOTAL"}'], "E109"),
    ],
)  # fmt: skip
def test_lines_that_can_not_be_used(texts: list[str], code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        Fed(tmp_path).feed(texts)
    assert [d.code for d in error.value.diagnostics] == [code]


def test_a_kind_that_is_not_declared(tmp_path: Path) -> None:
    asked = Asked(spec_in(tmp_path), "one", Options(), LogMapping(logged=("handler",)))
    monitor = Monitor(asked, lambda _: None)
    (row,) = RowsOfLines("log", MAPPING, None).of(1, lines("s1", adds(1))[0])
    with pytest.raises(SpecError) as error:
        monitor.feed([row])
    assert error.value.diagnostics[0].code == "E108"
    with pytest.raises(SpecError) as error:
        Monitor(Asked(spec_in(tmp_path), "one", Options()), lambda _: None)
    assert error.value.diagnostics[0].code == "E107"


# ---- the command -----------------------------------------------------------------------------


def test_a_file_with_a_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, log, state = spec_in(tmp_path), tmp_path / "log", tmp_path / "state.json"
    words = ["monitor", f"{spec}::one", str(log), "--once", "--mapping"]
    words += [str(tmp_path / "names.toml"), "--state", str(state), "--json", "-", "--quiet"]
    right = [*lines("c1", ASKS), *lines("s1", adds(1, 3, 6))]
    log.write_text("".join(text + "\n" for text in right[:8]), encoding="utf-8")
    assert main(words) == 0
    with open(log, "a", encoding="utf-8") as more:
        more.write("".join(text + "\n" for text in right[8:]))
    assert main(words) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["event"], each["lines"]) for each in said] == [("summary", 8), ("summary", 12)]
    (tmp_path / "names.toml").write_text('logged = ["send", "receive"]\n', encoding="utf-8")
    assert main(words) == 2
    assert "E110" in capsys.readouterr().err
    state.write_text("{", encoding="utf-8")
    assert main(words) == 2
    assert "E110" in capsys.readouterr().err


def test_sources_that_can_not_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = spec_in(tmp_path)
    words = ["monitor", f"{spec}::one", "--mapping", str(tmp_path / "names.toml")]
    assert main([*words, str(tmp_path / "none")]) == 2
    assert "E111" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main([*words, "--listen", str(taken.getsockname()[1])]) == 2
    assert "E111" in capsys.readouterr().err


def following(folder: Path, noticed: list[Noticed]) -> Following:
    asked = Asked(spec_in(folder), "one", Options(engine="reference"), MAPPING)
    return Following(asked, noticed.append, 5.0)


def test_a_file_that_grows_is_replaced_and_becomes_shorter(tmp_path: Path) -> None:
    noticed: list[Noticed] = []
    log, found = tmp_path / "log", following(tmp_path, noticed)
    right = lines("s1", adds(1, 3, 6))
    log.write_text(right[0] + "\n" + right[1][:10], encoding="utf-8")
    found.follow(str(log), once=False)
    assert found.step(0.0)
    assert found.monitor.lines == 1  # the rest of the second line is not there yet
    with open(log, "a", encoding="utf-8") as more:
        more.write(right[1][10:] + "\n")
    found.step(0.0)
    assert found.monitor.lines == 2
    log.rename(tmp_path / "old")
    log.write_text("".join(text + "\n" for text in right[2:]), encoding="utf-8")
    for _ in range(3):
        found.step(0.0)
    assert (found.monitor.lines, noticed) == (6, [])
    os.truncate(log, 0)
    found.step(0.0)
    assert {type(each) for each in noticed} == {Lost}
    found.close()


def test_connections(tmp_path: Path) -> None:
    noticed: list[Noticed] = []
    found = following(tmp_path, noticed)
    found.listen(0)
    host, port = found.names[0].split(":")
    assert host == "127.0.0.1"
    with socket.create_connection((host, int(port))) as client:
        client.sendall("".join(text + "\n" for text in lines("c1", ASKS[:4])).encode())
        client.sendall(lines("c1", ASKS[4:], 5)[0].encode()[:-5])
    for _ in range(4):
        found.step(1.0)
    assert found.monitor.lines == 4
    assert found.monitor.processes["c1"].last == 5  # the line that was cut short is a gap
    found.close()


def test_a_signal_ends_it_with_a_summary(tmp_path: Path) -> None:
    spec, log, state = spec_in(tmp_path), tmp_path / "log", tmp_path / "state.json"
    log.write_text("".join(t + "\n" for t in lines("s1", adds(1, 4))), encoding="utf-8")
    words = [sys.executable, "-m", "checker.cli", "monitor", f"{spec}::one", str(log)]
    words += ["--mapping", str(tmp_path / "names.toml"), "--json", "-", "--state", str(state)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        assert isinstance(running.stdout, io.TextIOBase)
        first = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGTERM)
        summary = json.loads(running.stdout.read())
    assert first["event"] == "wrong"
    assert (summary["event"], summary["wrong"]) == ("summary", 1)
    assert running.returncode == 1
    assert json.loads(state.read_text(encoding="utf-8"))["monitor"]["wrong"] == 1
