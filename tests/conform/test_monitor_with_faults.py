"""A monitor says at every line what `conform` says of the lines so far, also where messages are
forged, and where processes crash, lose their power or their disks, and come back up."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.conform.conform_log import Asked, conform
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.model.ir import MarkKind
from checker.records import replace
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import open_check, read_spec
from tests.conform.projection import Row, draw_run, logs_of
from tests.conform.projection import write as written
from tests.conform.test_local_systems import changed_value
from tests.conform.test_monitor_and_conform import Watched, merged, not_local, prefix_of
from tests.conform.test_random_logs import forget

SPEC = """
protocol Store {
  message PUT(v: 1..2)
  message KEPT(v: 1..2)
  stable STATE kept : 0..3 = 0
  state seen : 0..3 = 0
  state puts : 0..3 = 0
  upon condition puts < 2 as puts_one {
    puts += 1
    for q in Proc { if q != self { send PUT(puts) to q } }
  }
  upon receive PUT(v) from p { kept := v  SYNC  send KEPT(v) to p }
  upon receive KEPT(v) from p { seen := v }
  RECOVER
  property fine "" : always true
}
check c of Store { n = 2  FAULTS  allow unused  prove fine }
"""
WORLDS = {
    "forged": "faults byzantine <= 1  links authenticated",
    "crashes": "faults crash <= 1",
    "comes back": "faults crash <= 2, recover",
    "power": "faults power <= 1, recover",
    "power unsynced": "faults power <= 1, recover",
    "lost disk": "faults wipe <= 1, recover",
    "lost messages": "faults crash <= 1, recover  links lossy",
}
KINDS = ("send", "receive", "handler")


def spec_of(world: str, folder: Path) -> str:
    syncs = world == "power"
    text = SPEC.replace("FAULTS", WORLDS[world]).replace("SYNC", "sync" if syncs else "")
    text = text.replace("STATE", "synced state" if syncs else "state")
    text = text.replace("RECOVER", "upon recover { seen := kept }" if "recover" in text else "")
    (folder / "store.bcast").write_text(text, encoding="utf-8")
    return str(folder / "store.bcast")


class Compared:
    """One log in one world: at how many lines both said the same, and whether one was wrong; with
    the kinds of faults in it."""

    def __init__(self, world: str, seed: int, folder: Path) -> None:
        self.draw = random.Random(seed)
        self.folder = folder
        path = spec_of(world, folder)
        options = Options(engine="reference", limits=Limits(200))
        system = open_check(path, None, options).system
        kinds = [kind for kind in KINDS if self.draw.random() < 0.8] or [*KINDS]
        mapping = LogMapping(logged=tuple(kinds))
        self.asked = Asked(read_spec(path), None, options, mapping, replay=0)
        _, run = draw_run(system, self.draw, 7)
        self.faults = {system.marks[e.mark].kind for step in run for e in step.events}
        self.logs = logs_of(system, run, ("crash", "recover", *kinds))
        self.lines, self.is_wrong = self._compare()

    def _changed(self) -> list[Row]:
        """The lines in the order in which they come, perhaps one of them wrong."""
        draw, logs = self.draw, self.logs
        stated = [(p, n) for p, rows in logs.items() for n, r in enumerate(rows) if "state" in r]
        if stated and draw.random() < 0.8:
            process, at = draw.choice(stated)
            logs[process][at] = changed_value(logs[process][at], draw)
        if draw.random() < 0.3:
            self.logs = {p: [forget(row, draw) for row in rows] for p, rows in logs.items()}
        return merged(self.logs, draw)

    def _compare(self) -> tuple[int, bool]:
        rows = self._changed()
        watched = Watched(self.asked, waits=False)
        for at, row in enumerate(rows, 1):
            try:
                watched.feed([row])
            except SpecError as error:  # a value of another message is none of this one
                assert {d.code for d in error.diagnostics} == {"E074"}
                return at - 1, False
            wanted = conform(self.asked, written(self.folder, prefix_of(rows[:at], self.logs)))
            if watched.is_lost or wanted.word is Word.UNKNOWN:
                return at - 1, False
            assert watched.is_wrong == (wanted.word is Word.VIOLATED), (at, row)
            if watched.is_wrong:
                return at, True
            if self.draw.random() < 0.3:
                watched.kill()
        return len(rows), False


EXPECTED = {
    "forged": MarkKind.FORGE,
    "crashes": MarkKind.CRASH,
    "comes back": MarkKind.RECOVER,
    "power": MarkKind.POWER,
    "power unsynced": MarkKind.POWER,
    "lost disk": MarkKind.WIPE,
    "lost messages": MarkKind.LOSE,
}


@pytest.mark.parametrize("search_alone", [False, True])
@pytest.mark.parametrize("world", WORLDS)
def test_it_says_at_every_line_what_conform_says(
    world: str, search_alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if search_alone:
        monkeypatch.setattr("checker.conform.monitor.LocalFollower", not_local)
    found = [Compared(world, seed, tmp_path) for seed in range(4)]
    assert sum(each.lines for each in found) >= 15
    assert sum(each.is_wrong for each in found) >= 1
    kind = EXPECTED[world]
    assert any(kind in each.faults for each in found)


def test_a_crash_inside_a_loop_is_followed(tmp_path: Path) -> None:
    """What is in flight is not known to a process alone, and a loop does not look at it."""
    row: Row = {"process": "p1", "kind": "crash", "state": {"kept": 0, "seen": 0, "puts": 0}}
    path = spec_of("comes back", tmp_path)
    mapping = LogMapping(logged=("receive", "handler"))
    asked = Asked(read_spec(path), None, Options(engine="reference"), mapping, windows=True)
    report = conform(asked, written(tmp_path, {"p1": [row]}))
    assert report.windows is not None and report.windows.exit_code == 0
    watched = Watched(asked)
    watched.feed([{"pos": 1, **row}])
    assert not watched.noticed
    asked = replace(asked, mapping=LogMapping(logged=KINDS))
    inside = {"process": "p1", "kind": "handler", "name": "puts_one"}
    report = conform(asked, written(tmp_path, {"p1": [inside, row]}))  # nothing was sent
    assert report.windows is not None and report.windows.exit_code == 0
