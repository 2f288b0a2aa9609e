"""Judges one mutant as a task, here or in another process: by the checks of its spec, the quickest
first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from checker import kept
from checker.diagnostics import SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.language.load import Spec
from checker.model.ir import TransitionSystem
from checker.mutate.equivalence import Graph, graph_of, same_behaviour
from checker.mutate.reordered_code import same_but_for_order
from checker.records import replace
from checker.results.mutation import Fate, Kill, MutantResult
from checker.results.verdict import Report, Word, meets
from checker.session.load import load_check
from checker.session.small_systems import TooLarge
from checker.session.systems import instantiated

if TYPE_CHECKING:
    from checker.language.mutation.mutants import Mutant
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

STATES, SECONDS = 20_000, 10.0
"""The least limits on a check of a mutant."""
TIMES = 20
"""A mutant may take so many times the states and the time of its original."""
COMPARED = 20_000
"""The largest number of states of a check whose graph is compared with that of the original."""


class Asked(Struct, frozen=True):
    """A check of the original, which has ``states`` and took ``seconds``."""

    name: str
    states: int
    seconds: float

    def limited(self, options: Options) -> Options:
        """Returns ``options`` with the limits of the check on a mutant."""
        states = max(STATES, TIMES * self.states)
        seconds = max(SECONDS, TIMES * self.seconds)
        given = options.limits
        limits = replace(
            given,
            max_states=min(states, given.max_states or states),
            timeout=min(seconds, given.timeout or seconds),
        )
        return replace(options, limits=limits)


class MutantTask(Struct, frozen=True):
    """A mutant of ``original``, to be judged by the checks ``asked``; ``every_check``: also by
    those behind the first that notices it.  ``session``: a name that all mutants of a command
    share.  ``only``: the property that is changed, and judged alone; empty where the protocol is.
    """

    session: str
    number: int
    mutant: Mutant
    original: Spec
    asked: tuple[Asked, ...]
    options: Options
    every_check: bool
    only: str = ""

    def __str__(self) -> str:
        return f"mutant {self.number}"

    @property
    def seconds(self) -> float | None:
        """The time limit of all its checks together, and of the comparison with the original."""
        limits = (each.limited(self.options).limits.timeout for each in self.asked)
        return 3 * sum(limit for limit in limits if limit is not None)

    def result(self, fate: Fate, kills: tuple[Kill, ...] = (), reason: str = "") -> MutantResult:
        """Returns the mutant with its fate."""
        of = self.mutant
        return MutantResult(
            self.number, of.protocol, of.line, of.kind, of.change, fate, kills, reason
        )


def judge_mutant(task: MutantTask, listener: Listener) -> MutantResult:
    """Returns what becomes of a mutant.  Nothing of it is kept for later commands."""
    keeps = kept.is_used()
    kept.use(False)
    try:
        return _judged(task, listener)
    finally:
        kept.use(keeps)


def lost_mutant(task: MutantTask, status: Status, reason: str, seconds: float) -> MutantResult:
    """Returns what becomes of a mutant whose process ended."""
    return task.result(Fate.UNKNOWN, reason=f"{status.value}: {reason}")


def _judged(task: MutantTask, listener: Listener) -> MutantResult:
    from checker.proving.dispatch_check import answer_check

    try:
        spec = Spec(task.mutant.text, str(task.mutant.path))
        spec = spec.only([task.only]) if task.only else spec
    except SpecError as refused:
        return task.result(Fate.STILLBORN, reason=first_problem(refused))
    kills: list[Kill] = []
    unknown = ""
    same: set[str] = set()
    for asked in task.asked:
        try:
            if not task.only and _is_same_code(task, asked, spec):
                same.add(asked.name)
                continue
            report = answer_check(spec, asked.name, asked.limited(task.options), listener)
        except SpecError as refused:
            return task.result(Fate.STILLBORN, reason=f"{asked.name}: {first_problem(refused)}")
        if report.was_interrupted:
            raise KeyboardInterrupt
        kills += kills_of(report)
        if kills and not task.every_check:
            break
        unknown = unknown or undecided(report)
    if kills:
        return task.result(Fate.KILLED, tuple(kills))
    if unknown:
        return task.result(Fate.UNKNOWN, reason=unknown)
    if task.only:
        judges = f"judged by {', '.join(each.name for each in task.asked)}"
        unasked = f"no check expects {task.only} violated"
        return task.result(Fate.SURVIVED, reason=judges if task.asked else unasked)
    fate, reason = _compared(task, spec, same)
    return task.result(fate, reason=reason)


def kills_of(report: Report) -> Iterator[Kill]:
    """Yields the verdicts of a report that are decided, and not what is expected."""
    for verdict in report.verdicts:
        if verdict.word in (Word.UNKNOWN, Word.PENDING):
            continue
        if not meets(verdict.word, report.expected_word(verdict)):
            steps = None if verdict.trace is None else verdict.trace.length
            yield Kill(report.check, verdict.property, verdict.word.value, steps)


def undecided(report: Report) -> str:
    """Returns why a verdict is not known; empty where all are."""
    for verdict in report.verdicts:
        if verdict.word in (Word.UNKNOWN, Word.PENDING):
            return f"{report.check}, {verdict.property}: {verdict.reason}"
    return ""


def first_problem(refused: SpecError) -> str:
    """Returns the first of the diagnostics, in a line."""
    found = refused.diagnostics[0]
    return f"{found.code}: {found.message}"


def _is_same_code(task: MutantTask, asked: Asked, spec: Spec) -> bool:
    """Returns whether a check decides of a mutant as of its original, since both are the same code
    but for the order of independent statements."""

    def compare() -> bool:
        before = _of_original(task, asked.name).system
        return same_but_for_order(before, _system(spec, asked.name, task.options))

    return _in_time(asked.limited(task.options).limits.timeout, compare) or False


def _system(spec: Spec, name: str, options: Options) -> TransitionSystem:
    return instantiated(load_check(spec, name, options.settings), options).system


def _in_time(seconds: float | None, work: Callable[[], bool]) -> bool | None:
    """Returns the result of ``work``; ``None`` where a budget is used up first."""
    found: list[bool] = []
    with budgets.within(seconds):
        stopped = budgets.ended(lambda: found.append(work()))
    if stopped is not None and not isinstance(stopped, budgets.BudgetExhausted):
        raise stopped
    return found[0] if found else None


def _compared(task: MutantTask, spec: Spec, known: set[str]) -> tuple[Fate, str]:
    """Returns the fate of a mutant that no check notices: whether all checks have the same
    observable behaviour of it as of its original, as far as their graphs can be compared;
    ``known``: those that have."""
    if not task.asked:
        return Fate.SURVIVED, f"no check is about {task.mutant.protocol}"
    same: list[str] = []
    unknown: list[str] = []
    for asked in task.asked:
        alike = asked.name in known or _is_alike(task, asked, spec)
        if alike is False:
            return Fate.SURVIVED, ""
        (unknown if alike is None else same).append(asked.name)
    if not unknown:
        return Fate.EQUIVALENT, ""
    large = f"too large to compare: {', '.join(unknown)}"
    return Fate.SURVIVED, f"behaves as before in {', '.join(same)}; {large}" if same else large


def _is_alike(task: MutantTask, asked: Asked, spec: Spec) -> bool | None:
    """Returns whether a check has the same observable behaviour of a mutant as of its original;
    ``None``: the graphs are too large, or the time that the user gives a check is over."""
    if asked.states > COMPARED:
        return None

    def compare() -> bool:
        before = _of_original(task, asked.name).graph(task)
        return same_behaviour(before, graph_of(spec, asked.name, task.options, COMPARED))

    try:
        return _in_time(task.options.limits.timeout, compare)
    except (SpecError, TooLarge):
        return None


class _Original(Struct):
    """A check of an original, made once in this process."""

    name: str
    system: TransitionSystem
    made: Graph | None = None
    given_up: bool = False

    def graph(self, task: MutantTask) -> Graph:
        """Returns its graph; raises :class:`TooLarge`, also where it took too long before."""
        if self.given_up:
            raise TooLarge
        if self.made is None:
            self.given_up = True
            self.made = graph_of(task.original, self.name, task.options, COMPARED)
            self.given_up = False
        return self.made


_originals: dict[tuple[str, str], _Original] = {}
"""The checks of originals that this process has made, of one session."""


def _of_original(task: MutantTask, name: str) -> _Original:
    key = task.session, name
    if key not in _originals:
        if any(session != task.session for session, _ in _originals):
            _originals.clear()
        _originals[key] = _Original(name, _system(task.original, name, task.options))
    return _originals[key]
