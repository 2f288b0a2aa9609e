"""The protocols that ladders are about, with all rules: `python benchmarks/ladders.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.native.codegen.layout import lay_out  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.results.verdict import Report  # noqa: E402
from checker.session.load import load_check  # noqa: E402
from checker.session.pipeline import run_check  # noqa: E402
from checker.session.systems import instantiated  # noqa: E402

BEGIN, END = "<!-- ladders: begin -->", "<!-- ladders: end -->"

STATES = {
    "replication/kafka_partition two": 16_981,
    "replication/kafka_partition three_two_epochs": 124_233,
    "replication/raft two_terms": 134_611,
    "replication/raft_disk term_first": 141_978,
    "replication/raft_snapshots two_terms": 680_275,
    "replication/raft_membership four": 445_438,
    "replication/chain any_one_dies": 727,
    "replication/viewstamped three_views": 384_839,
    "replication/state_machine one_client": 130_217,
    "total_order/crash_and_recovery two_crashes": 1_851,
    "registers/abd two_writes": 177_266,
    "consensus/flexible_paxos three_and_two": 7_959,
    "consensus/fast_paxos four": 586_565,
    "commit/paxos_commit leader_and_acceptor_die": 57_700,
}
"""The states of each check without dominance, as `specs/replication/README.md` has them; with it
there may be fewer."""


def row_of(case: str, states: int) -> list[str]:
    """One exploration with the reductions that are used by default.

    Raises :class:`WrongAnswer` where it has other states, or an expectation is not met.
    """
    file, check = case.split()
    path = str(ROOT / "specs" / f"{file}.bcast")
    report = run_check(path, check, Options())
    found, fewer = report.distinct_states, "dominance" in report.reduced.used
    if found > states or (found < states and not fewer):
        raise WrongAnswer(f"{case}: {found} states, not {states}")
    if not all(expected.met for expected in report.expectations):
        raise WrongAnswer(f"{case}: an expectation is not met")
    return [
        case,
        f"{report.distinct_states:,}",
        str(report.depth),
        f"{report.transitions:,}",
        str(_words(path, check, report)),
        ", ".join(dict(report.reduced.titles)[name] for name in report.reduced.used) or "none",
        f"about {number(report.seconds)}",
    ]


def _words(path: str, check: str, report: Report) -> int:
    """The words of a state of the system that was searched last, with its final capacities."""
    loaded = load_check(path, check, {})
    grown = {name: size for restart in report.restarts for name, _, size in restart.grown}
    first = instantiated(loaded, Options())
    made = instantiated(loaded, Options(), {**first.capacities, **grown}) if grown else first
    return lay_out(made.system).words


@click.command()
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the table there.")
def main(page: Path | None) -> None:
    """Each check, once."""
    headings = ("check", "states", "depth", "transitions", "words", "reductions", "s")
    rows = []
    for case, states in STATES.items():
        rows.append(row_of(case, states))
        click.echo("  ".join(rows[-1]))
    if page is not None:
        into_page(page, Table("With all rules", headings, rows).markdown(), BEGIN, END)


if __name__ == "__main__":
    main()
