"""What a check costs before its search: loading, instantiating, planning, machine code.

    python -m benchmarks.planning                          # every twelfth check of the library
    python -m benchmarks.planning --every 1 --against main --markdown docs/benchmarks.md

With ``--against`` the tool of another revision takes turns, and its plans have to be the same, for
random systems as well: other plans end the run with an error.  Seconds are of the processor, the
least of all turns for each check and stage.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from benchmarks.comparing import WrongAnswer
from benchmarks.tables import Table, into_page, number

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- planning: begin -->", "<!-- planning: end -->"
STAGES = ("load", "instantiate", "plan", "generate", "compile")
"""The stages, in this order; they are measured by :mod:`benchmarks.stages`."""

Row = Mapping[str, Any]
Pass = Mapping[str, Row]
"""By the name of the check: seconds by stage, and the digest of its plans."""


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The tool as it was at ``revision``, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", str(tree), revision)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True)


def one_pass(tree: Path, every: int, digests: bool) -> Pass:
    """One pass over the library by the tool in ``tree``."""
    program = [sys.executable, str(ROOT / "benchmarks" / "stages.py"), str(every)]
    program.append("digests" if digests else "times")
    done = subprocess.run(program, cwd=tree, check=True, capture_output=True, text=True)
    found: Pass = json.loads(done.stdout)
    return found


def least(passes: list[Pass]) -> dict[str, float]:
    """The seconds of each stage, of all checks together: the least of each in all passes."""
    return {
        stage: sum(
            min(one[name][stage] for one in passes)
            for name, row in passes[0].items()
            if stage in row
        )
        for stage in STAGES
    }


def agree(now: Pass, before: Pass) -> None:
    """Raises :class:`WrongAnswer` where the plans of what both know differ."""
    other = [n for n in now if n in before and now[n]["digest"] != before[n]["digest"]]
    if other:
        raise WrongAnswer(f"other plans than before: {', '.join(other)}")


def table(now: Mapping[str, float], before: Mapping[str, float] | None, checks: int) -> Table:
    """Seconds by stage, beside those of another revision where there is one."""
    lines = []
    for stage in (*STAGES, "all"):
        ours = sum(now.values()) if stage == "all" else now[stage]
        cells = [stage, number(ours), f"{1000 * ours / checks:.1f}"]
        if before is not None:
            theirs = sum(before.values()) if stage == "all" else before[stage]
            cells += [number(theirs), f"{theirs / ours:.2f}x"]
        lines.append(tuple(cells))
    headings = ["stage", "s", "ms a check", *([] if before is None else ["before s", "less"])]
    return Table(f"Before the search, {checks} checks", headings, lines)


@click.command()
@click.option("--every", type=click.IntRange(1), default=12, help="One of so many checks.")
@click.option("--repeat", type=click.IntRange(1), default=3, help="Turns of each.")
@click.option("--against", metavar="REVISION", help="The tool at another revision takes turns.")
@click.option("--markdown", type=click.Path(path_type=Path), help="A page to put the table into.")
def main(every: int, repeat: int, against: str | None, markdown: Path | None) -> None:
    """Measures what a check costs before its search."""
    ours, theirs = list[Pass](), list[Pass]()
    if against is None:
        ours = [one_pass(ROOT, every, False) for _ in range(repeat)]
    else:
        with checked_out(against) as tree:
            for turn in range(repeat):
                ours.append(one_pass(ROOT, every, turn == 0))
                theirs.append(one_pass(tree, every, turn == 0))
        agree(ours[0], theirs[0])
    checks = sum("plan" in row for row in ours[0].values())
    found = table(least(ours), least(theirs) if theirs else None, checks)
    click.echo(found.text())
    if markdown is not None:
        into_page(markdown, found.markdown(), BEGIN, END)


if __name__ == "__main__":
    main()
