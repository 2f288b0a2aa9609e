"""Renders a report as a table: each property's verdict and why, and the search's extent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import assert_never

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.terminal.canvas import pairs, stack
from checker.render.terminal.chance import chance_view
from checker.render.terminal.coverage import coverage_view
from checker.render.terminal.log_rows import log_rows
from checker.render.terminal.proof import proof_rows
from checker.render.terminal.reduction_summary import reduction_rows, tells_reductions
from checker.render.terminal.walk_rows import walk_rows
from checker.results.answer import DECIDED
from checker.results.origin import sources
from checker.results.phrases import continuations_text, restarts_text, unless_omitted
from checker.results.proof import Proof
from checker.results.verdict import Expected, PropertyVerdict, Report, Word, meets

STYLES = {
    Word.PROVED: "bold green",
    Word.HOLDS: "green",
    Word.WITHIN: "yellow",
    Word.BOUNDED: "yellow",
    Word.VIOLATED: "red",
    Word.VACUOUS: "yellow",
    Word.PENDING: "yellow",
    Word.UNKNOWN: "yellow",
    Word.ERROR: "bold red",
}

LABEL = 8
WIDEST = 40
"""The columns of a question at most."""
NOT_SHIPPED = " (not the library's)"
LIMITS, PART_OF_A_LOG = "a bound or a view", "a part of the log"
"""What limits the verdicts on a check, and those on a log."""

MOST_NOT_ASKED = 3
"""The most parts of the world that are named as not asked."""


def report_view(report: Report, *, verbose: bool = False) -> RenderableType:
    """Renders the whole report without traces: :func:`headline_view`, then :func:`figures_view`."""
    return stack([headline_view(report), figures_view(report, verbose=verbose)])


def headline_view(report: Report) -> RenderableType:
    """Renders the name of the check, its sizes, and the outcome in one sentence."""
    title = Text(f"{report.file}::{report.check}", style="bold")
    sizes = _sizes(report)
    if sizes:
        title.append(f"  {sizes}", style="default not bold")
    return Group(title, Text(conclusion_text(report)))


def figures_view(report: Report, *, verbose: bool = False) -> RenderableType:
    """Renders each property's verdict and why, the search's extent, and everything that limits what
    the verdicts say; ``verbose``: also assumptions, reductions and statistics."""
    parts: list[RenderableType] = []
    if report.verdicts:
        parts.append(_table(report))
    parts += [
        chance_view(verdict)
        for verdict in report.verdicts
        if verdict.chance is not None and (verbose or verdict.word is Word.VIOLATED)
    ]
    parts.append(_facts(report, verbose))
    if report.coverage is not None:
        parts.append(coverage_view(report.coverage, report.steps))
    return stack(parts)


def _sizes(report: Report) -> str:
    return ", ".join(f"{name}={value}" for name, value in report.parameters.items())


def _table(report: Report) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("property", overflow="fold", max_width=WIDEST)
    whole = not any(verdict.within for verdict in report.verdicts)
    table.add_column("verdict", no_wrap=whole, overflow="fold")
    table.add_column("expected", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    counted = any(verdict.queries for verdict in report.verdicts)
    if counted:
        table.add_column("queries", justify="right", no_wrap=True)
        table.add_column("s", justify="right", no_wrap=True)
    table.expand = True
    first = dict[tuple[Word, str], str]()
    for verdict in report.verdicts:
        why = _why(verdict, report.proof)
        told = first.setdefault((verdict.word, why), verdict.property)
        table.add_row(
            _name_text(verdict),
            Text(verdict.loud_label(), style=STYLES[verdict.word]),
            _expectation_text(verdict, report.expected_word(verdict)),
            Text(f"as {told}" if _is_repeated(verdict, told) else why),
            *(() if not counted else (str(verdict.queries), f"{verdict.seconds:.2f}")),
        )
    return table


def _is_repeated(verdict: PropertyVerdict, told: str) -> bool:
    """Returns whether the reason of ``verdict`` was already given for the property ``told``."""
    return verdict.word in (Word.UNKNOWN, Word.ERROR) and told != verdict.property


def _name_text(verdict: PropertyVerdict) -> Text:
    """Returns the name of a property, and that it is not the library's where it hides that."""
    name = Text(verdict.property, style="bold")
    return name.append(NOT_SHIPPED, style="yellow") if verdict.hides() else name


def _expectation_text(verdict: PropertyVerdict, wanted: str | None) -> Text:
    return Text(wanted or "none", style="dim" if meets(verdict.word, wanted) else "red")


def _why(verdict: PropertyVerdict, proof: Proof | None) -> str:
    prefix = f"{verdict.property} is violated "
    reason = verdict.reason.removeprefix(prefix)
    if proof is not None and proof.scope and reason == f"for {proof.scope}":
        return "for all these sizes"
    return reason


def _facts(report: Report, verbose: bool) -> RenderableType:
    rows = [
        *((("world", report.world),) if report.world else ()),
        *_not_asked(report),
        *(("origin", said) for said in sources(report.verdicts)),
        *_extent(report, verbose),
        *(("next", said) for said in report.next_steps),
        *(("asked", said) for said in _distinguished_questions(report)),
        *(("expected", said) for said in _expectations(report)),
        *(("scenario", said) for said in _scenarios(report)),
        *(("kinds", said) for said in _kinds(report)),
        *(("rests on", said) for said in excuses(report)),
        *(("assumed", assumption) for assumption in assumptions(report) if verbose),
        *(("never", never) for never in report.never),
        *(("note", note) for note in report.notes),
    ]
    shown = [(Text(name, style="dim"), Text(text)) for name, text in rows]
    return Group(pairs(shown, 0, LABEL))


def _not_asked(report: Report) -> Iterator[tuple[str, str]]:
    if said := not_asked_text(report):
        yield "unasked", said


def not_asked_text(report: Report) -> str:
    """Returns what no check of the file asks, in a line; empty where the file says why, or where
    nothing is left out."""
    said = [
        f"{one.what} (`{one.clause}`)" if one.clause else one.what
        for one in report.not_asked
        if not one.excluded
    ]
    more = [f"{len(said) - MOST_NOT_ASKED} more"] if len(said) > MOST_NOT_ASKED else []
    return ", ".join([*said[:MOST_NOT_ASKED], *more])


def _extent(report: Report, verbose: bool) -> Iterator[tuple[str, str]]:
    """Yields rows on what was searched, proved, walked or read."""
    if report.walks is not None:
        return walk_rows(report, report.walks)
    if report.log is not None:
        return log_rows(report, report.log)
    return _search(report, verbose) if report.proof is None else proof_rows(report)


def _search(report: Report, verbose: bool) -> Iterator[tuple[str, str]]:
    """Yields rows on how far the search came and the system searched; ``verbose``, or where it did
    not come to its end, also on reductions and the graph kept for liveness."""
    yield "searched", _search_text(report, verbose)
    if verbose:
        yield from (("liveness", said) for said in _liveness(report))
    yield from reduction_rows(report, verbose=verbose)
    if not report.exhaustive:
        restarted = (restarts_text(report.restarts), continuations_text(report.restarts))
        yield from (("restart", said) for said in restarted if said)
    yield "scope", scope_text(report)


def unmet(report: Report) -> list[Expected]:
    """Returns the expectations of the check that are not met."""
    return [e for e in report.expectations if not e.met]


def _expectations(report: Report) -> list[str]:
    """Returns unmet expectations, those of one kind together, and the numbers that were met (the
    table has the verdicts)."""
    verdicts = {v.property for v in report.verdicts}
    said, unmet_by = list[str](), dict[str, list[str]]()
    for e in report.expectations:
        if report.walks is not None and e.found == Word.UNKNOWN:
            continue  # walks decide nothing but what they violate
        if not e.met:
            unmet_by.setdefault(f"{e.expected}, but found {e.found}", []).append(e.what)
        elif e.what not in verdicts:
            said.append(f"{e.what}: {e.expected}, as found")
    return [*(f"{', '.join(names)}: {found}" for found, names in unmet_by.items()), *said]


def _scenarios(report: Report) -> Iterator[str]:
    """Yields each scenario of the check, and its deviation, if any."""
    for told in report.scenarios:
        if told.met:
            yield f"{told.name}: passed ({count(told.steps, 'step')})"
            continue
        after = f", after {count(told.steps, 'step')}" if told.steps and told.possible else ""
        yield f"{told.name}: FAILED, line {told.line}{after}: {told.reason}"
        if told.possible:
            yield f"{told.name}: possible there: {'; '.join(told.possible)}"


def _kinds(report: Report) -> Iterator[str]:
    """Yields how many equivalence classes of executions violate each property, where requested."""
    for verdict in report.verdicts:
        if verdict.of_others:
            found = 1 + len(verdict.others)
            shown = "1 kind of run violates" if found == 1 else f"{found} kinds of runs violate"
            yield f"{shown} {verdict.property}; {verdict.of_others}"


def _search_text(report: Report, verbose: bool) -> str:
    if any(verdict.word is Word.BOUNDED for verdict in report.verdicts):
        runs = f"all runs of up to {count(report.depth, 'step')}"
        return f"{runs}, {report.seconds:.2f} s; {report.engine} engine"
    counted = report.stopped in (None, DECIDED)  # all steps are counted
    timed = verbose and counted and report.seconds > 0.01
    rate = f" ({report.transitions / report.seconds:,.0f}/s)" if timed else ""
    parts = [
        f"{_states(report, verbose)} to depth {report.depth}",
        f"{count(report.transitions, 'transition')}{rate}",
        f"{report.seconds:.2f} s",
    ]
    if verbose and report.bytes_per_state:
        parts.append(f"{report.bytes_per_state:.0f} bytes/state")
    fine = ", fine steps" if report.fine_steps else ""
    return f"{', '.join(parts)}; {report.engine} engine{fine}"


def _states(report: Report, verbose: bool) -> str:
    """Returns the number of states, of those within the bounds where these are not all, and of an
    exhaustive search that reductions leave some out, unless a row on reductions follows."""
    states, within = report.distinct_states, report.states_within
    said = [] if within in (None, states) else [f"{within:,} within the bound"]
    if report.exhaustive and report.reduced.used and not tells_reductions(report, verbose):
        said.append("reduced: `--reduce none` counts all")
    inside = f" ({'; '.join(said)})" if said else ""
    return f"{count(states, 'distinct state')}{inside}"


def _liveness(report: Report) -> Iterator[str]:
    if report.edges:
        bytes_each = f" ({report.bytes_per_edge:.0f} bytes each)" if report.bytes_per_edge else ""
        yield f"{count(report.edges, 'edge')} kept{bytes_each}, {report.liveness_seconds:.2f} s"


def _distinguished_questions(report: Report) -> Iterator[str]:
    """Distinguishes several properties with one name: ``at_most_once over effects``."""
    for verdict in report.verdicts:
        if " over " in verdict.property and verdict.definition:
            yield f"{verdict.property}: {' '.join(verdict.definition.split())}"


def scope_text(report: Report) -> str:
    """Returns whether all states were explored, of which sizes, and otherwise why not."""
    sizes = _sizes(report)
    if report.exhaustive:
        said = f"exhaustive for {sizes}" if sizes else "exhaustive"
        return said + unless_omitted(report.omission)
    of_sizes = f" for {sizes}" if sizes else ""
    if report.stopped == DECIDED:
        return f"search stopped early{of_sizes}: all properties are already decided"
    return f"NOT exhaustive{of_sizes}: {report.stopped or 'a run-time error stopped it'}"


def assumptions(report: Report) -> tuple[str, ...]:
    """Returns the assumptions of the report, each once."""
    return tuple(dict.fromkeys(a for v in report.verdicts for a in v.assumptions))


def excuses(report: Report) -> Iterator[str]:
    """Yields handlers whose ``promise`` decides a verdict by excusing a process from the goal."""
    for verdict in report.verdicts:
        for one in verdict.rests_on.handlers if verdict.rests_on is not None else ():
            if one.excuse:
                yield (
                    f"{verdict.property}: `{one.handler}` (line {one.at.line}) is eventually taken,"
                    f" which sets what `{one.excuse}` reads and sends nothing; write optional"
                    " steps as `may upon`"
                )


def conclusion_text(report: Report) -> str:
    """Returns the outcome in one sentence."""
    if not report.verdicts and report.walks is not None:
        return f"no property was checked; no error in {count(report.walks.walks, 'walk')}"
    if not report.verdicts and report.proof is not None:
        return "the check has no property, so nothing was proved"
    if not report.verdicts and report.log is not None:
        return "no property applies to this log"
    if not report.verdicts:
        asked = "no property was checked; the states were counted"
        if not report.exhaustive:
            asked += " that were explored"
        if report.is_about_nothing:
            return f"{asked}: add a property, or `expect states`"
        return asked if not unmet(report) else f"{asked}, and not as expected"
    said = tally_text([report])
    if report.walks is not None and not report.has_counterexample:
        return f"{said}: no violation found in {count(report.walks.walks, 'walk')}"
    match report.exit_code:
        case 0 if report.expectations or report.scenarios:
            return f"{said}: all as expected"
        case 0:
            return said
        case _ if (
            report.expectations or report.scenarios or any(v.expected for v in report.verdicts)
        ):
            return f"{said}: NOT as expected"
        case _:
            return said


def tally_text(reports: Sequence[Report]) -> str:
    """Returns how often each verdict was found: ``4 hold, 1 violated``."""
    found = Counter(verdict.word for report in reports for verdict in report.verdicts)
    limits = PART_OF_A_LOG if any(report.log is not None for report in reports) else LIMITS
    return ", ".join(verdict_count_text(word, found[word], limits) for word in Word if found[word])


def verdict_count_text(word: Word, number: int, limits: str = LIMITS) -> str:
    """Returns ``3 hold``, ``1 violated``: how often the verdict ``word`` was found; ``limits``:
    within what some only hold."""
    match word:
        case Word.HOLDS:
            return f"{number} {'holds' if number == 1 else 'hold'}"
        case Word.WITHIN:
            return f"{number} {'holds' if number == 1 else 'hold'} within {limits}"
        case Word.BOUNDED:
            held = "holds" if number == 1 else "hold"
            return f"{number} {held} up to the depth explored"
        case Word.ERROR:
            return f"{number} in error"
        case Word.PROVED | Word.VIOLATED | Word.VACUOUS | Word.PENDING | Word.UNKNOWN:
            return f"{number} {word.value}"
        case _:
            assert_never(word)
