"""The questions of chance, valence and sweeps that are asked of the library."""

from __future__ import annotations

from tests.picture.asking import Folder

CHANCE = (
    "chance/ben_or_rounds.bcast", "chance/gossip.bcast", "chance/herman_ring.bcast",
    "chance/lossy_link.bcast", "chance/ring_leader.bcast", "chance/shared_coin.bcast",
)  # fmt: skip
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
    """Writes a sweep over sizes and links, and what is shown of the traces that it leaves."""
    asked = ("sweep", name, "--grid", "n=2..3,crash=0..1,links={perfect,lossy}", "--jobs", "1")
    folder.keep("sweep.txt", *asked, "--json", "report.json", "--traces", "traces")
    folder.take("report.json", "report.json")
