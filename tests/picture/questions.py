"""The questions of chance, valence and sweeps that are asked of the library."""

from __future__ import annotations

import re
from pathlib import Path

from tests.picture.asking import Folder
from tests.picture.views import show_run

CHANCE = (
    "chance/ben_or_rounds.bcast", "chance/gossip.bcast", "chance/herman_ring.bcast",
    "chance/lossy_link.bcast", "chance/ring_leader.bcast",
)  # fmt: skip
"""Files whose checks end; some of `shared_coin` are bounded by time alone."""
VALENCE = (
    "consensus/leader.bcast::leader_crash_one",
    "commit/two_phase_commit.bcast::coordinator_or_participant",
    "consensus/paxos.bcast::duel",
)
"""The chapters of the gallery."""
SWEEPS = ("broadcast/eager_reliable.bcast::crash_one",)


def show_chance(folder: Folder, file: str) -> None:
    """Writes what is found about chance in a file: as text, report and page."""
    files = ("--json", "report.json", "--html", "report.html")
    folder.keep("check.txt", "check", file, "--threads", "1", "-v", *files, columns=100)
    for made in files[1::2]:
        folder.take(made, made)


def show_valence(folder: Folder, name: str) -> None:
    """Writes the valence of a check: as text, report and page."""
    files = ("--json", "report.json", "--html", "report.html")
    folder.keep("valence.txt", "valence", name, "--threads", "1", "--levels", *files)
    for made in files[1::2]:
        folder.take(made, made)


def show_sweep(folder: Folder, name: str) -> None:
    """Writes a sweep over faults and links, and all views of its traces; the seconds of each cell,
    which are measured in another process, are masked."""
    asked = ("sweep", name, "--grid", "crash=0..1,links={perfect,lossy}", "--jobs", "1", "-q")
    said = folder.ask(*asked, "--json", "report.json", "--traces", "traces")
    folder.put("sweep.txt", re.sub(r" +\d+\.\d$", " #", said, flags=re.MULTILINE))
    folder.take("report.json", "report.json")
    for trace in sorted(Path("traces").rglob("*.json")):
        show_run(folder, str(trace.with_suffix("")))
