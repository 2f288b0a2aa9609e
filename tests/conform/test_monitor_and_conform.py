"""A monitor says of the lines that have come what `conform` says of them as a log, at every line,
whenever it is killed and starts again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checker.conform.conform_log import Asked, conform
from checker.conform.local_system import NotLocal
from checker.conform.monitor import Monitor
from checker.conform.read_log import RowsOfLines
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.model.ir import TransitionSystem
from checker.results.answer import Limits
from checker.results.conformance_lines import LoggedLine
from checker.results.monitoring import Lost, Noticed, Overdue, Resumed, Summary, Wrong
from checker.results.verdict import Word
from checker.session.pipeline import read_spec
from tests.conform.projection import Row, draw_run, is_log_of_a_run, logs_of, write
from tests.conform.test_local_systems import changed_value, small
from tests.conform.test_random_logs import change, forget
from tests.documents import validator

SCHEMA = validator("monitoring")
LIMIT, MOST = 1_500, 600
LINE = LoggedLine("p1.ndjson", 3, "p1", "p1 sends PUT")
KINDS = ("request", "indicate", "send", "receive", "handler")


def as_written(noticed: Noticed) -> Any:
    return msgspec.json.decode(msgspec.json.encode(noticed))


@pytest.mark.parametrize(
    "noticed",
    [
        Wrong(LINE, True, ("x is 1",), ("send PUT",)),
        Overdue(LINE, "p2", 5.0),
        Lost("", "too much is unknown"),
        Resumed(LINE),
        Summary(Word.UNKNOWN, "nothing is wrong", 3, stopped="stopped by a signal"),
    ],
)
def test_what_is_noticed_has_a_schema(noticed: Noticed) -> None:
    document = as_written(noticed)
    SCHEMA.validate(document)
    assert not SCHEMA.is_valid({**document, "surprise": 1})
    assert not SCHEMA.is_valid({**document, "event": "other"})
    for key in document:
        assert not SCHEMA.is_valid({k: v for k, v in document.items() if k != key}), key


class Case:
    """A random small spec, a random run of it, and what of it is logged."""

    def __init__(self, seed: int, folder: Path, steps: int) -> None:
        self.draw = random.Random(seed)
        self.system: TransitionSystem = small(seed, folder).system
        self.kinds = [kind for kind in KINDS if self.draw.random() < 0.8] or [*KINDS]
        options = Options(engine="reference", limits=Limits(MOST))
        mapping = LogMapping(logged=tuple(self.kinds))
        self.asked = Asked(read_spec(str(folder / "small.bcast")), None, options, mapping, replay=0)
        _, run = draw_run(self.system, self.draw, steps)
        self.logs = logs_of(self.system, run, self.kinds)

    def changed(self, row: Row, other: Row) -> Row:
        """A line that says something else."""
        if self.draw.random() < 0.5:
            return changed_value(row, self.draw)
        return change(row, other, self.draw)


def merged(logs: dict[str, list[Row]], draw: random.Random) -> list[Row]:
    """The lines of all processes in some order of arrival."""
    left = {p: [{"pos": n, **row} for n, row in enumerate(rows, 1)] for p, rows in logs.items()}
    found = []
    while any(left.values()):
        process = draw.choice([p for p, rows in left.items() if rows])
        found.append(left[process].pop(0))
    return found


class Watched:
    """A monitor that may be killed between two lines, and starts again from its file."""

    def __init__(self, asked: Asked, **options: Any) -> None:
        self.asked, self.options = asked, options
        self.noticed: list[Noticed] = []
        self.reader = RowsOfLines("log", asked.mapping, None)
        self.monitor = self.new()

    def new(self) -> Monitor:
        return Monitor(
            self.asked, self.noticed.append, clock=lambda: 0.0, tried=MOST, **self.options
        )

    def feed(self, rows: list[Row]) -> None:
        """Takes rows; what is noticed is what the schema says."""
        before = len(self.noticed)
        self._feed(rows)
        for each in self.noticed[before:]:
            SCHEMA.validate(as_written(each))

    def _feed(self, rows: list[Row]) -> None:
        found = [each for row in rows for each in self.reader.of(row["pos"], json.dumps(row))]
        self.monitor.feed(found)

    def kill(self) -> None:
        data = msgspec.json.decode(msgspec.json.encode(self.monitor.to_data()))
        self.monitor = self.new()
        assert self.monitor.restore(data)

    @property
    def is_wrong(self) -> bool:
        return any(isinstance(each, Wrong) for each in self.noticed)

    @property
    def is_lost(self) -> bool:
        return any(isinstance(each, Lost) for each in self.noticed)


def prefix_of(rows: list[Row], logs: dict[str, list[Row]]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {p: [] for p in logs}
    for row in rows:
        found[row["process"]].append({k: v for k, v in row.items() if k != "pos"})
    return found


def compared(seed: int, folder: Path) -> tuple[int, bool]:
    """The number of prefixes of a log of which both say the same, and whether one is wrong."""
    case = Case(seed, folder, 6)
    draw, logs = case.draw, {p: list(rows) for p, rows in case.logs.items()}
    lines = [row for rows in logs.values() for row in rows]
    if lines and draw.random() < 0.7:
        process = draw.choice([p for p, rows in logs.items() if rows])
        at = draw.randrange(len(logs[process]))
        logs[process][at] = case.changed(logs[process][at], draw.choice(lines))
    if draw.random() < 0.3:
        logs = {p: [forget(row, draw) for row in rows] for p, rows in logs.items()}
    rows = merged(logs, draw)
    watched = Watched(case.asked, waits=False)
    for at, row in enumerate(rows, 1):
        try:
            watched.feed([row])
        except SpecError as error:  # a value of another message is none of this one
            assert {d.code for d in error.diagnostics} == {"E074"}
            return at - 1, False
        wanted = conform(case.asked, write(folder, prefix_of(rows[:at], logs)))
        if watched.is_lost or wanted.word is Word.UNKNOWN:
            return at - 1, False
        assert watched.is_wrong == (wanted.word is Word.VIOLATED), (seed, at, row)
        if watched.is_wrong:
            return at, True
        if draw.random() < 0.5:
            watched.kill()
    return len(rows), False


def not_local(*_: object) -> None:
    raise NotLocal("no process is followed alone")


@pytest.mark.parametrize("search_alone", [False, True])
def test_it_says_at_every_line_what_conform_says(
    search_alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if search_alone:
        monkeypatch.setattr("checker.conform.monitor.LocalFollower", not_local)
    found = [compared(seed, tmp_path) for seed in range(3000, 3012)]
    assert sum(prefixes for prefixes, _ in found) >= 40
    assert sum(is_wrong for _, is_wrong in found) >= 3


TWO_SENDS = """
protocol Pairs {
  message ONE
  message TWO
  state left : 0..3 = 3
  upon condition left > 0 { left -= 1  send ONE to all  send TWO to all }
  property fine "Nothing." : always forall p in Proc: p.left <= 3
}
check c of Pairs { n = 1  prove fine }
"""


@pytest.mark.parametrize("search_alone", [False, True])
@pytest.mark.parametrize(
    ("sent", "wrong_at"),
    [(["ONE", "TWO", "ONE"], 0), (["ONE", "ONE"], 2), (["ONE", "TWO", "TWO"], 3)],
)
def test_a_step_is_not_done_before_its_last_line(
    sent: list[str], wrong_at: int, search_alone: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if search_alone:
        monkeypatch.setattr("checker.conform.monitor.LocalFollower", not_local)
    (tmp_path / "pairs.bcast").write_text(TWO_SENDS, encoding="utf-8")
    spec, options = read_spec(str(tmp_path / "pairs.bcast")), Options(engine="reference")
    watched = Watched(Asked(spec, None, options, LogMapping(logged=("send",)), replay=0))
    for pos, message in enumerate(sent, 1):
        watched.feed([{"process": "p1", "pos": pos, "kind": "send", "message": message}])
        assert watched.is_wrong == (pos == wrong_at)
        watched.kill()


def outcome(watched: Watched, rows: list[Row], draw: random.Random, kills: float) -> Any:
    """What is noticed when rows come in pieces."""
    left = list(rows)
    while left:
        size = draw.randrange(1, 5)
        watched.feed(left[:size])
        left = left[size:]
        if draw.random() < kills:
            watched.kill()
    summary = watched.monitor.end()
    SCHEMA.validate(as_written(summary))
    wrong = [each.line for each in watched.noticed if isinstance(each, Wrong)]
    return summary.word, wrong[:1]


@pytest.mark.parametrize("seed", range(3100, 3106))
def test_neither_pieces_nor_kills_matter(seed: int, tmp_path: Path) -> None:
    case = Case(seed, tmp_path, 15)
    system, draw, asked = case.system, case.draw, case.asked
    rows, logs = merged(case.logs, draw), case.logs
    assert rows
    right = outcome(Watched(asked), rows, draw, 0.4)
    assert right in ((Word.HOLDS, []), (Word.UNKNOWN, []))
    at = draw.randrange(len(rows))
    rows[at] = {**case.changed(rows[at], draw.choice(rows)), "pos": rows[at]["pos"]}
    try:
        found = [outcome(Watched(asked, waits=False), rows, draw, kills) for kills in (0.0, 0.5)]
    except SpecError:
        return
    assert found[0] == found[1] or Word.UNKNOWN in (found[0][0], found[1][0])
    if found[0][0] is Word.VIOLATED:
        assert not is_log_of_a_run(system, prefix_of(rows, logs), case.kinds, LIMIT)
