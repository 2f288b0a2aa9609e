"""Writes the table of ``specs/consensus/flp/README.md``: protocols of the library by valence.

``python -m scripts.write_valence_table`` writes it; a test compares it with what this module makes.
"""

from __future__ import annotations

from pathlib import Path

from checker.engines.options import Options
from checker.results.valence import Valence
from checker.valence.analysis import analyse
from checker.valence.compute import compute
from checker.valence.question import question_of

SPECS = Path(__file__).resolve().parents[1] / "specs"
PAGE = SPECS / "consensus" / "flp" / "README.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
CHECKS = (
    "consensus/wait_for_all::no_fault",
    "consensus/wait_for_all::crash_one",
    "consensus/wait_for_all_but_one::crash_one",
    "consensus/leader::leader_crash_one",
    "consensus/leader::impatient_crash_one",
    "consensus/leader::zero_for_ones",
    "commit/two_phase_commit::crash_one",
    "commit/two_phase_commit::coordinator_or_participant",
    "consensus/paxos::outvoted",
    "consensus/paxos::duel",
    "consensus/rotating_coordinator::any_detector",
    "consensus/rotating_coordinator::half_may_crash",
    "consensus/rotating_coordinator::crash_one",
    "consensus/flood_set::two_rounds",
    "consensus/flood_set::one_round",
    "consensus/flood_set::without_rounds",
    "consensus/flp/rounds::no_coins",
    "consensus/flp/rounds::coins",
)
"""The checks of the table, as files of the library."""
HEAD = (
    "| check | bivalent inputs | states | bivalent | critical | agreement | nontriviality |"
    " termination | a run that never decides |"
)


def row(name: str, report: Valence) -> str:
    """Returns the row of a check."""
    bivalent = sum(len(start.open) > 1 for start in report.starts)
    holders = sorted({each.holder or "several" for each in report.critical})
    critical = f"{report.critical_states:,}" + (f" ({', '.join(holders)})" if holders else "")
    run = report.undecided
    never = "none" if run is None else ("bivalent" if run.kind == "bivalent" else "not bivalent")
    cells = (
        f"`{name}`",
        f"{bivalent} of {len(report.starts)}",
        f"{report.states:,}",
        f"{sum(level.bivalent for level in report.levels):,}",
        critical,
        *(corner.kept for corner in report.corners),
        never,
    )
    return f"| {' | '.join(cells)} |"


def report_on(name: str) -> Valence:
    """Returns the valence of a check of the library, for all inputs."""
    file, _, check = name.partition("::")
    asked = question_of(str(SPECS / f"{file}.bcast"), check, Options(), None, free_inputs=True)
    return analyse(compute(asked, None))


def table() -> str:
    """Returns the whole table."""
    lines = [HEAD, f"|---|{'---:|' * 4}{'---|' * 4}", *(row(n, report_on(n)) for n in CHECKS)]
    return "\n".join(lines) + "\n"


def write_table() -> None:
    """Writes the table into its page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write_table()
