"""What to do where a verdict is *unknown*: which limit to raise, and what else would decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from checker.diagnostics.english import listing
from checker.engines.options import Options
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.persistence import needs_automaton
from checker.records import replace
from checker.reductions.contract import MONITORED, Ask
from checker.reductions.registry import REDUCTIONS
from checker.reductions.table import against
from checker.results.answer import DECIDED, INTERRUPTED, Answer
from checker.results.verdict import Report, Word

MORE = 4
"""How many times as much of a budget is proposed, where no forecast says how much suffices."""


def with_next_steps(
    report: Report, options: Options, *, endless: bool = False, walks: bool = True
) -> Report:
    """Returns ``report`` with what would decide its unknown verdicts, if there are any.

    ``endless``: neither a budget nor smaller sizes help, since the states are infinitely many;
    ``walks``: random walks say something about the properties.
    """
    if not _is_open(report):
        return report
    said = dict.fromkeys((*report.next_steps, *_steps(report, options, endless, walks)))
    return replace(report, next_steps=tuple(said))


def with_steps_after_proof(report: Report) -> Report:
    """Returns ``report``, on a proof, with what would decide what it leaves unknown."""
    if not _is_open(report):
        return report
    named = f"bivalence check {report.file}::{report.check}"
    if report.proof is not None and report.proof.automaton is not None:
        return replace(report, next_steps=(f"`{named} --set n=4` explores one size",))
    said = ["a larger `--budget`, or another `--method`"] if report.stopped else []
    return replace(report, next_steps=(f"`{named}` explores all runs of these sizes", *said))


def steps_after_log(
    stopped: str, options: Options, silent: Sequence[str], *, windows: bool
) -> tuple[str, ...]:
    """Returns what would decide whether a log is of a run, where ``stopped`` ended the search.

    ``silent``: the kinds of events that are not logged; ``windows``: the log was scored by windows.
    """
    limits, said = options.limits, list[str]()
    if limits.max_states is not None and stopped == limits.no_more_states:
        said.append(f"`--max-states {_rounded(MORE * limits.max_states)}`")
    elif limits.timeout is not None and stopped == limits.no_more_time:
        said.append(f"`--timeout {_rounded(MORE * max(limits.timeout, 1))}`")
    elif limits.memory is not None and stopped != INTERRUPTED:
        said.append("a larger `--memory`")
    if silent:
        said.append(f"logging {listing(silent)} as well: fewer runs have such a log")
    if not windows:
        said.append("`--windows` decides each process by its own lines, without a search of runs")
    return tuple(said)


def _is_open(report: Report) -> bool:
    if not report.verdicts:
        return not report.exhaustive and not report.is_about_nothing
    return any(verdict.word is Word.UNKNOWN for verdict in report.verdicts)


def without_liveness(system: TransitionSystem, answer: Answer) -> str:
    """Returns the option that asks safety properties alone, with the reductions that only liveness
    properties forbid; empty if no reduction is forbidden by them alone."""
    live = [p for p in system.properties if p.kind is PropertyKind.LIVENESS]
    of_live = {p.asked for p in live}
    safe = dict.fromkeys(p.asked for p in system.properties if p.asked not in of_live)
    asked = [
        (ask, p.asked)
        for p in live
        for ask in (*([Ask.FOLLOWED] if needs_automaton(p) else []), Ask.END, Ask.FAIR)
    ]
    refused = [
        answer.reduced.title(name)
        for name in dict.fromkeys(name for name, _ in answer.reduced.unused)
        if all(_is_of_liveness(why, name, asked) for why in _reasons(answer, name))
    ]
    if not safe or not refused:
        return ""
    only = " ".join(f"--only {name}" for name in safe)
    return f"`{only}` asks safety alone, which admits reduction by {', '.join(refused)}"


def _is_of_liveness(why: str, reduction: str, asked: Sequence[tuple[Ask, str]]) -> bool:
    """Whether a reason is one against a reduction that liveness properties alone give."""
    monitored = [MONITORED.format(name=name) for ask, name in asked if ask is Ask.FOLLOWED]
    return why in against(REDUCTIONS[reduction], asked) or why.startswith(tuple(monitored))


def _reasons(answer: Answer, name: str) -> set[str]:
    return {why for refused, why in answer.reduced.unused if refused == name}


def _steps(report: Report, options: Options, endless: bool, walks: bool) -> Iterator[str]:
    named = f"{report.file}::{report.check}"
    if report.walks is not None:
        yield f"`bivalence check {named}` explores all runs"
        return
    if not endless:
        yield from _of_budget(report, options)
        yield from _of_sizes(report)
    if walks and report.stopped not in (None, DECIDED):
        yield f"`bivalence simulate {named}` explores deeper, without a guarantee"


def _of_budget(report: Report, options: Options) -> Iterator[str]:
    """Yields the option that admits more of what was used up."""
    limits, forecast = options.limits, report.forecast
    reasons = {report.stopped, *(verdict.reason for verdict in report.verdicts)}
    if report.stopped == INTERRUPTED:
        if options.checkpoint is None:
            yield "`--checkpoint DIR` keeps what is searched, and `--resume DIR` continues there"
    elif limits.max_states is not None and report.stopped == limits.no_more_states:
        enough = MORE * limits.max_states if forecast is None else forecast.high
        yield f"`--max-states {_rounded(max(enough, limits.max_states + 1))}`{_as_forecast(report)}"
    elif limits.timeout is not None and limits.no_more_time in reasons:
        more = limits.timeout * (MORE - 1) if forecast is None else forecast.latest
        yield f"`--timeout {_rounded(limits.timeout + max(more, 1))}`{_as_forecast(report)}"
    elif limits.max_depth is not None and report.stopped == limits.no_deeper:
        yield "without `--max-depth` all runs are explored, and more reductions are admitted"
    elif limits.memory is not None and report.stopped not in (None, DECIDED):
        yield "a larger `--memory`, or `--compact`, which stores fingerprints in place of states"
    if options.reduce == "none":
        yield "`--reduce auto` may explore fewer states"


def _as_forecast(report: Report) -> str:
    return "" if report.forecast is None else " suffices if the forecast is right"


def _rounded(number: float) -> int:
    """Rounds up to two digits."""
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def _of_sizes(report: Report) -> Iterator[str]:
    """Yields the sizes that could be smaller, where no variable is named that multiplies the
    states."""
    if report.smaller:
        return
    larger = {
        name: value
        for name, value in report.parameters.items()
        if isinstance(value, int) and value > 1 and name != "f"
    }
    if larger:
        sizes = ", ".join(f"{name}={value}" for name, value in larger.items())
        yield f"`--set` with smaller sizes (now {sizes}) leaves fewer states"
