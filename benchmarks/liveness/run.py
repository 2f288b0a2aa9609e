"""Measures what liveness costs beside the exploration, and holds the tool to verdicts and counts.

A wrong number of states or a wrong verdict is an error, not a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from checker.results.verdict import Report
from checker.session.pipeline import Options, run_check

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """A check with parameters, how many states it has, and what is true of its properties.

    The numbers for folklore are those of its source; those of library checks are the tool's own,
    so that two rows of a table are known to measure the same work.
    """

    spec: str
    states: int
    verdicts: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False

    @property
    def name(self) -> str:
        """The check, with its parameters."""
        path, _, check = self.spec.partition("::")
        return " ".join([f"{Path(path).stem}::{check}", *map("=".join, self.settings.items())])


def held(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "holds")


CASES = (
    Case(
        "benchmarks/liveness/folklore.bcast::four",
        3_700,
        held("correctness", "forward", "relay"),
        {"n": "3"},
        quick=True,
    ),
    Case(
        "benchmarks/liveness/folklore.bcast::four",
        501_552,
        held("correctness", "forward", "relay"),
    ),
    Case(
        "specs/broadcast/eager_reliable.bcast::crash_one",
        292_181,
        {**held("validity", "agreement"), "uniform_agreement": "violated"},
        {"n": "4"},
    ),
    Case(
        "specs/broadcast/uniform_majority_ack.bcast::minority_may_crash",
        64_616,
        held("validity", "uniform_agreement"),
        {"n": "4"},
    ),
    Case("specs/consensus/rotating_coordinator.bcast::settles", 83_130, held("termination")),
    Case(
        "specs/total_order/from_consensus.bcast::over_a_real_consensus",
        150_167,
        held("validity", "agreement"),
    ),
    Case("specs/byzantine/bracha.bcast::four", 1_828_947, held("validity", "totality")),
)

COLUMNS: Mapping[str, int] = {
    "check": 44,
    "states": 11,
    "edges": 12,
    "safety s": 9,
    "liveness s": 11,
    "ratio": 6,
    "B/state": 8,
    "B/edge": 7,
}
"""Headings of the table, and how wide the columns are."""


class WrongAnswer(click.ClickException):
    """The tool does not say what is known."""


def run(case: Case, threads: int | None, repeat: int) -> Report:
    """The run with the smallest ratio, of ``repeat`` ones, all of them right."""
    path, _, check = case.spec.partition("::")
    options = Options(settings=case.settings, threads=threads, reduce="none")
    reports = []
    for _ in range(repeat):
        report = run_check(str(ROOT / path), check, options)
        found = {verdict.property: str(verdict.word) for verdict in report.verdicts}
        wrong = {
            name: found.get(name)
            for name in case.verdicts
            if case.verdicts[name] != found.get(name)
        }
        if wrong:
            raise WrongAnswer(f"{case.name}: {wrong}, expected {dict(case.verdicts)}")
        if report.distinct_states != case.states:
            raise WrongAnswer(
                f"{case.name}: {report.distinct_states:,} states, not {case.states:,}"
            )
        reports.append(report)
    return min(reports, key=ratio)


def ratio(report: Report) -> float:
    """Seconds for liveness over seconds for the exploration."""
    return report.liveness_seconds / max(report.seconds, 1e-3)


def line(cells: Sequence[str]) -> str:
    first, *others = zip(cells, COLUMNS.values(), strict=True)
    return first[0].ljust(first[1]) + "".join(cell.rjust(width) for cell, width in others)


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes: to see that all works, not to measure.")
@click.option("--repeat", default=3, type=click.IntRange(min=1), help="Runs of each [3].")
@click.option("--threads", type=click.IntRange(min=1), help="How many may be used [all].")
def main(quick: bool, repeat: int, threads: int | None) -> None:
    """Measure what liveness costs beside the exploration."""
    click.echo(line(list(COLUMNS)))
    for case in CASES:
        if quick and not case.quick:
            continue
        report = run(case, threads, repeat)
        cells = (
            case.name,
            f"{report.distinct_states:,}",
            f"{report.edges:,}",
            f"{report.seconds:.2f}",
            f"{report.liveness_seconds:.2f}",
            f"{ratio(report):.1f}",
            f"{report.bytes_per_state:.1f}",
            f"{report.bytes_per_edge:.1f}",
        )
        click.echo(line(cells))


if __name__ == "__main__":
    main()
