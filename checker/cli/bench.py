"""``bivalence bench``: compares verdicts and numbers with those of a published table."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from checker.cli import console
from checker.cli.settings import QUERY_TIMEOUT, SEARCH

if TYPE_CHECKING:
    from checker.diagnostics import Diagnostic
    from checker.engines.options import Options
    from checker.proving.published import Published
    from checker.proving.threshold import FileReport, Specifications
    from checker.results.answer import Listener
    from checker.results.verdict import PropertyVerdict
    from checker.sweep.cells import Status

BUDGET = 300.0
"""Seconds for each file or check."""

TABLES = {"tla": "oracles/tla.tsv", "qvbs": "chance/qvbs.tsv"}
"""The tables of published numbers, in the library."""


@click.command()
@click.argument("kind", type=click.Choice(["threshold", *TABLES]))
@click.argument("path", metavar="[DIR|TABLE]", required=False)
@click.option(
    "--budget",
    type=click.FloatRange(min=0.001),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time limit per file or check.",
)
@QUERY_TIMEOUT
@SEARCH
@click.option(
    "--markdown",
    metavar="FILE",
    help="Also write the table into FILE, between the lines `<!-- KIND: begin -->` and"
    " `<!-- KIND: end -->`.",
)
def bench(
    kind: str,
    path: str | None,
    budget: float,
    query_timeout: float | None,
    search: int | None,
    markdown: str | None,
) -> int:
    """Compare verdicts and numbers with published ones.

    `threshold` proves the specifications of all threshold automata (.ta, .eta) in DIR and its
    subfolders, and measures seconds of a processor. The verdict and the seconds are of the safety
    specifications; `live` counts the others that are decided. DIR/expected.tsv, if present, has
    columns `file`, `verdict` (safe, unsafe or -) and `best_published_seconds`.

    `tla` runs the checks of the library that say models of the TLA+ examples, and compares numbers
    of distinct states and depths. `qvbs` does the same with models of the Quantitative Verification
    Benchmark Set, and compares exact probabilities and expected values. TABLE replaces the table of
    the library.

    A process is started for each run, and killed if it ignores the time limit: then its row is not
    decided, and the other rows follow.

    Exit codes: 0 all as published, 1 something differs, 3 something was not decided, 2 no such
    folder or table, or a check can't run; the other rows are compared all the same.
    """
    from checker import resources
    from checker.cli.bench_numbers import compare_numbers
    from checker.engines.options import Options
    from checker.results.answer import Limits

    if search is not None and kind in TABLES:
        raise click.UsageError("--search applies to threshold automata only")
    page = None if markdown is None else _Page(Path(markdown), kind)
    options = Options(limits=Limits(max_states=search, timeout=budget), query_timeout=query_timeout)
    if kind in TABLES:
        table = resources.specs() / TABLES[kind] if path is None else Path(path)
        code, lines = compare_numbers(table, options)
    elif path is None:
        raise click.UsageError("`bench threshold` needs a folder")
    else:
        code, lines = _compare_verdicts(Path(path), options)
    if page is not None:
        page.write(lines)
    return code


def _compare_verdicts(folder: Path, options: Options) -> tuple[int, list[str]]:
    """Proves the files in ``folder``; returns the exit code and the lines of a page."""
    from checker.cli.bench_runs import in_turn
    from checker.proving.published import files_in, read_published

    paths = files_in(folder)
    published = read_published(folder, paths)
    width = max(len(name) for name in paths)
    titles = f"{'verdict':8} {'expected':8} {'cpu s':>7} {'best s':>7} {'live':>8} {'cpu s':>7}"
    console.print_line(f"{'file':{width}}  {titles}")
    files = [
        _File(i, file, options, published.get(name)) for i, (name, file) in enumerate(paths.items())
    ]
    rows = []
    for name, row in zip(paths, in_turn(files, _row, _lost), strict=True):
        rows.append(row)
        if row.error is not None:
            console.print_note(console.render_with_source(row.error).rstrip("\n"))
        if row.why:
            console.print_note(f"{name}: {row.why}")
        console.print_line(f"{name:{width}}  {row.line}")
        console.flush_stdout()
    code, total = _total(rows, bool(published))
    console.print_line()
    console.print_line("\n".join(total))
    return code, _table(dict(zip(paths, rows, strict=True)), total)


class _Page:
    """A page with a place for a table of this kind.  Raises ``UsageError`` where it has none."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        self.begin, self.end = f"<!-- {kind}: begin -->", f"<!-- {kind}: end -->"
        text = path.read_text("utf-8") if path.is_file() else ""
        self.before, begin, rest = text.partition(f"{self.begin}\n")
        _, end, self.after = rest.partition(f"{self.end}\n")
        if not begin or not end:
            raise click.UsageError(f"`{path}` has no lines `{self.begin}` and `{self.end}`")

    def write(self, lines: list[str]) -> None:
        text = "\n".join(lines)
        page = f"{self.before}{self.begin}\n\n{text}\n\n{self.end}\n{self.after}"
        self.path.write_text(page, "utf-8")


def _table(rows: dict[str, _Row], total: list[str]) -> list[str]:
    """Returns the lines of a Markdown table."""
    titles = "| file | published | ours | processor s | best published s | liveness | processor s |"
    lines = [titles, "| --- | --- | --- | ---: | ---: | --- | ---: |"]
    for name, row in rows.items():
        best = "" if row.best is None else f"{row.best:.2f}"
        live = f"{row.live} | {row.live_seconds:.2f}" if row.liveness else " | "
        safe = f"{row.expected} | {row.verdict} | {row.seconds:.2f} | {best}"
        lines.append(f"| {name} | {safe} | {live} |")
    return [*lines, "", *(f"- {line}." for line in total)]


class _Row:
    """The verdict on the safety of one file with the published one, and those on ``liveness``;
    ``error``: why it can't be read; ``why``: why its process ended."""

    def __init__(
        self,
        verdict: str,
        seconds: float,
        published: Published | None,
        error: Diagnostic | None = None,
        why: str = "",
    ) -> None:
        self.verdict, self.seconds = verdict, seconds
        self.error, self.why = error, why
        self.expected = "" if published is None else published.verdict
        self.best = None if published is None else published.seconds
        reached = verdict in ("safe", "unsafe")
        wanted = self.expected in ("safe", "unsafe")
        self.same = wanted and verdict == self.expected
        self.differs = wanted and reached and not self.same
        self.lacking = not reached and (wanted or published is None)
        self.more = reached and self.expected == "-"
        self.faster = self.best is not None and reached and seconds < self.best
        self.liveness: tuple[PropertyVerdict, ...] = ()
        self.live_seconds = 0.0

    @property
    def live(self) -> str:
        """How many of the liveness specifications are decided."""
        decided = sum(verdict.word != "unknown" for verdict in self.liveness)
        return f"{decided} of {len(self.liveness)}" if self.liveness else ""

    @property
    def line(self) -> str:
        best = "" if self.best is None else f"{self.best:7.2f}"
        live = f" {self.live:>8} {self.live_seconds:7.2f}" if self.liveness else ""
        mark = "  DIFFERS" if self.differs else ""
        found = f"{self.verdict:8} {self.expected:8} {self.seconds:7.2f} {best:>7}"
        return f"{found}{live}{mark}".rstrip()


class _File(Struct, frozen=True):
    """A file whose specifications are proved."""

    number: int
    path: Path
    options: Options
    published: Published | None

    @property
    def seconds(self) -> float | None:
        """The time limit: of safety, and then of liveness."""
        limit = self.options.limits.timeout
        return None if limit is None else 2 * limit


def _row(file: _File, listener: Listener) -> _Row:
    """Proves the specifications of a file, in another process."""
    from checker.diagnostics import SpecError
    from checker.proving.threshold import Specifications

    began = time.process_time()
    try:
        safety = _proved(file, Specifications.SAFETY)
    except SpecError as error:
        first, seconds = error.diagnostics[0], time.process_time() - began
        return _Row(first.code, seconds, file.published, first)
    row = _Row(safety.safety, time.process_time() - began, file.published)
    began = time.process_time()
    row.liveness = _proved(file, Specifications.LIVENESS).report.verdicts
    row.live_seconds = time.process_time() - began
    return row


def _lost(file: _File, status: Status, why: str, seconds: float) -> _Row:
    """Returns the row of a file whose process ended before it was proved."""
    return _Row("-", seconds, file.published, why=why)


def _proved(file: _File, which: Specifications) -> FileReport:
    from checker.proving.threshold import prove_file

    found = prove_file(str(file.path), file.options, smallest=False, which=which)
    if found.report.was_interrupted:
        raise KeyboardInterrupt
    return found


def _total(rows: list[_Row], compared: bool) -> tuple[int, list[str]]:
    """Returns the exit code, and lines that count the rows."""
    from checker.cli.errors import UNKNOWN, VIOLATED

    same, differ = sum(row.same for row in rows), sum(row.differs for row in rows)
    lacking, more = sum(row.lacking for row in rows), sum(row.more for row in rows)
    seconds = sum(row.seconds for row in rows)
    counted = f"{len(rows) - lacking} decided, {lacking} not decided"
    if compared:
        faster = sum(row.faster for row in rows)
        counted = (
            f"{same} as published, {differ} differ, {lacking} not decided, {more} decided that no"
            f" published verdict exists for, {faster} faster than the best published"
        )
    code = VIOLATED if differ else UNKNOWN if lacking else 0
    lines = [counted, f"{len(rows)} files, {seconds:.1f} s of a processor"]
    words = Counter(str(verdict.word) for row in rows for verdict in row.liveness)
    if words:
        live = sum(row.live_seconds for row in rows)
        said = ", ".join(f"{number} {word}" for word, number in sorted(words.items()))
        lines.append(f"{words.total()} liveness specifications, {live:.1f} s: {said}")
    return code, lines
