"""What the library proves for every n, and how long that takes: `python benchmarks/proving.py`."""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, into_page, number  # noqa: E402
from checker.engines.options import Options  # noqa: E402
from checker.proving.parametric import prove_every  # noqa: E402
from checker.results.verdict import PropertyVerdict, Report, Word  # noqa: E402
from checker.session.load import load_check  # noqa: E402
from checker.session.pipeline import checks_in  # noqa: E402

IN_ALL = 60.0
"""Seconds for all checks together, replays of counterexamples included."""


@dataclass(frozen=True, slots=True)
class Proved:
    """A check about all sizes; ``spec``: its file under ``specs/``; ``seconds`` of all of it, and
    of processors (``cpu``), which other programs do not change much."""

    spec: str
    check: str
    report: Report
    seconds: float
    cpu: float


def parametric_checks() -> list[tuple[Path, str]]:
    """The library's checks about all sizes."""
    return [
        (path, name)
        for path in sorted((ROOT / "specs").rglob("*.bcast"))
        if "for all" in path.read_text(encoding="utf-8")
        for name in checks_in(str(path))
        if load_check(str(path), name, {}).every
    ]


def proved(path: Path, name: str) -> Proved:
    """One check; raises :class:`WrongAnswer` where something else comes out than it expects."""
    began, used = time.perf_counter(), time.process_time()
    report = prove_every(str(path), name, Options(), tight=False)
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    spec = str(path.relative_to(ROOT / "specs"))
    wrong = [f"{e.what}: {e.found}" for e in report.expectations if not e.met]
    if wrong or report.exit_code:
        raise WrongAnswer(f"{spec}::{name}: {', '.join(wrong) or report.exit_code}")
    return Proved(spec, name, report, seconds, cpu)


def scope(report: Report) -> str:
    """What a report is about."""
    return "" if report.proof is None else report.proof.scope.removeprefix("every ")


def verdict(found: PropertyVerdict) -> str:
    """In a cell of a table."""
    if found.word is not Word.VIOLATED or found.trace is None:
        return found.word.value
    named = {n: v for n, v in found.trace.header.parameters.items() if isinstance(v, int)}
    sizes = ", ".join(f"{name} = {value}" for name, value in named.items())
    return f"violated with {sizes}, in {len(found.trace.steps)} steps"


def of_checks(done: Sequence[Proved]) -> Table:
    """How large the automata are, and what each check takes."""
    rows = []
    for one in done:
        proof = one.report.proof
        assert proof is not None and proof.automaton is not None
        size = proof.automaton
        counts = (size.locations, size.rules, size.guards, proof.queries)
        seconds = (proof.seconds, one.seconds, one.cpu)
        rows.append([f"{one.spec}::{one.check}", *map(str, counts), *map(number, seconds)])
    total, cpu = sum(one.seconds for one in done), sum(one.cpu for one in done)
    return Table(
        "Automata",
        ["check", "locations", "rules", "comparisons", "queries", "z3 s", "all s", "processor s"],
        rows,
        [
            f"{len(done)} checks, {number(total)} s together, {number(cpu)} s of a processor.",
            "What other programs do meanwhile makes all columns longer but the last one.",
        ],
    )


def of_properties(done: Sequence[Proved]) -> Table:
    """What is proved, what is violated and where, and what that takes."""
    rows = []
    for one in done:
        asked = (f"{one.spec}::{one.check}", scope(one.report))
        for found in one.report.verdicts:
            took = (str(found.queries), number(found.seconds))
            rows.append([*asked, found.property, verdict(found), *took])
    return Table("Verdicts", ["check", "for all", "property", "verdict", "queries", "z3 s"], rows)


def document(done: Sequence[Proved]) -> dict[str, object]:
    """The same for another program."""
    return {
        "machine": {"kind": platform.machine(), "python": platform.python_version()},
        "checks": [
            {
                "spec": one.spec,
                "check": one.check,
                "scope": scope(one.report),
                "seconds": one.seconds,
                "cpu": one.cpu,
                "properties": [
                    {
                        "property": found.property,
                        "verdict": found.word.value,
                        "queries": found.queries,
                        "seconds": found.seconds,
                    }
                    for found in one.report.verdicts
                ],
            }
            for one in done
        ],
    }


@click.command()
@click.option("--only", multiple=True, help="Checks whose file or name has this in it.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all of it here.")
@click.option("--markdown", "page", type=click.Path(path_type=Path), help="Put the tables there.")
def main(only: Sequence[str], target: Path | None, page: Path | None) -> None:
    """Prove or refute every check of the library that is about all sizes, one after the other."""
    done = []
    for path, name in parametric_checks():
        if only and not any(part in f"{path}::{name}" for part in only):
            continue
        click.echo(f"{path.stem}::{name}", err=True)
        try:
            done.append(proved(path, name))
        except WrongAnswer as error:
            raise click.ClickException(str(error)) from error
    tables = [of_properties(done), of_checks(done)]
    for table in tables:
        click.echo(table.text())
    together = sum(one.seconds for one in done)
    if together > IN_ALL:
        click.echo(f"More than {number(IN_ALL)} s: {number(together)} s.", err=True)
    if target is not None:
        target.write_text(json.dumps(document(done), indent=2) + "\n")
    if page is not None:
        into_page(page, "\n\n".join(table.markdown() for table in tables))


if __name__ == "__main__":
    main()
