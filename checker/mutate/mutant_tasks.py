"""Judges one mutant as a task, here or in another process: by the checks of its spec, the quickest
first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker import kept
from checker.diagnostics import SpecError
from checker.engines import budgets
from checker.engines.options import Options
from checker.language.load import Spec
from checker.model.ir import TransitionSystem
from checker.mutate.equivalence import Graph, graph_of, same_behaviour
from checker.mutate.reordered_code import same_but_for_order
from checker.mutate.shares import Pace
from checker.records import replace
from checker.results.mutation import Fate, Kill, MutantResult
from checker.results.verdict import Report, Word, meets
from checker.session.load import load_check
from checker.session.result_cache import digest_of, outcome
from checker.session.small_systems import TooLarge
from checker.session.systems import instantiated
from checker.worlds import points

if TYPE_CHECKING:
    from checker.language.mutation.mutants import Mutant
    from checker.results.answer import Listener
    from checker.sweep.cells import Status

DEEP_TIMES = 3
"""Up to the same depth, a mutant may have so many times the states of its original."""
COMPARED = 20_000
"""The largest number of states of a check whose graph is compared with that of the original."""
COMPARING = 60.0
"""The seconds for graphs if the user gives no limit; they may take as long as the check, if that is
more."""
ENOUGH = 10
"""No check is begun with less than one part in so many of a share."""
UNDECIDED = "equivalence not decided"
LATER = "there was no time"
LARGE = "its graph is too large"
SLOW = "the graph of the original takes too long"
"""Why a mutant is not compared with its original."""
WITH_RUNS = (Word.VIOLATED.value, Word.ERROR.value)
"""The verdicts that a finite run shows."""


class Asked(Struct, frozen=True):
    """A check of the original, which has ``states`` and took ``seconds``; ``variant``: the variant
    of the mutated protocol that it is about, if it is.

    ``depth``: of a check that is not decided, how many steps of each run were searched
    (:mod:`checker.mutate.levels`), for its ``safe`` properties; ``None``: it is decided.
    """

    name: str
    states: int
    seconds: float
    variant: str = ""
    depth: int | None = None
    safe: tuple[str, ...] = ()

    def limited(self, options: Options) -> Options:
        """Returns ``options`` with the limits of the check on a mutant."""
        limited = points.limited(options, self.states, self.seconds)
        if self.depth is None:
            return limited
        most = options.limits.max_states or max(points.STATES, DEEP_TIMES * self.states)
        limits = replace(limited.limits, max_states=most, max_depth=self.depth)
        return replace(limited, limits=limits)

    def judges(self, spec: Spec) -> Spec:
        """Returns ``spec`` with what the check asks of a mutant."""
        return spec if self.depth is None else spec.only(self.safe)

    @property
    def tag(self) -> str:
        """What tells its stored outcomes from those of other depths."""
        return "" if self.depth is None else f", up to {self.depth} steps"

    def compared_for(self, options: Options) -> float:
        """Returns how many seconds its graph may take, with the comparison."""
        limit = self.limited(options).limits.timeout or 0.0
        return limit if options.limits.timeout else max(COMPARING, limit)


class MutantTask(Struct, frozen=True):
    """A mutant of ``original``, to be judged by the checks ``asked``; ``every_check``: also by
    those behind the first that notices it.  ``session``: a name that all mutants of a command
    share.  ``only``: the property that is changed, and judged alone; empty where the protocol is.
    ``share``: seconds of the processor for all of it, where the time of the command is shared out;
    ``compares``: whether a survivor is compared with its original; ``unasked``: checks that are
    about it, and were not decided of the original in their share of the time.
    """

    session: str
    number: int
    mutant: Mutant
    original: Spec
    asked: tuple[Asked, ...]
    options: Options
    every_check: bool
    only: str = ""
    share: float | None = None
    compares: bool = True
    unasked: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"mutant {self.number}"

    def with_share(self, share: float, *, first: bool) -> MutantTask:
        """Returns the task with a share; with its ``first`` one nothing is compared: to find those
        that are killed comes before that."""
        return replace(self, share=share, compares=not first)

    @property
    def seconds(self) -> float | None:
        """The time limit of all its checks together, and of the comparison with the original;
        ``None`` with a share, which the command's time ends."""
        if self.share is not None:
            return None
        checks = (each.limited(self.options).limits.timeout or 0.0 for each in self.asked)
        return 2 * sum(checks) + sum(each.compared_for(self.options) for each in self.asked)

    def result(self, fate: Fate, kills: tuple[Kill, ...] = (), reason: str = "") -> MutantResult:
        """Returns the mutant with its fate."""
        of = self.mutant
        return MutantResult(
            self.number, of.protocol, of.line, of.kind, of.change, fate, kills, reason
        )


class Judged(Struct, frozen=True):
    """The fate of a mutant; ``hurried``: its share of the time was over before that was known."""

    result: MutantResult
    hurried: bool = False

    @property
    def number(self) -> int:
        """The number of the mutant."""
        return self.result.number


class _Said(Struct, frozen=True):
    """The judgement of a check on a mutant: its ``kills``, or why it is ``undecided``;
    ``same_code``: it was not run, since the mutant is the same but for the order of independent
    statements.  ``searched``: it is not decided of the original either, and of the mutant it was
    searched as deep, without a kill."""

    kills: tuple[Kill, ...] = ()
    undecided: str = ""
    same_code: bool = False
    searched: bool = False


class _Compared(Struct, frozen=True):
    """Whether a check behaves alike of a mutant and its original; ``None``: that is not decided,
    and ``why``."""

    alike: bool | None
    why: str = ""


class _NotCompared(Exception):
    """There is no graph of the original, for the reason that it has."""


def judge_mutant(task: MutantTask, listener: Listener) -> Judged:
    """Returns what becomes of a mutant.  What is decided of it is kept for later commands, and none
    of what was made on the way."""
    keeps = kept.is_used()
    kept.use(False)
    try:
        return _Judge(task, listener, keeps).judged()
    finally:
        kept.use(keeps)


def lost_mutant(task: MutantTask, status: Status, reason: str, seconds: float) -> Judged:
    """Returns what becomes of a mutant whose process ended."""
    return Judged(task.result(Fate.UNKNOWN, reason=f"{status.value}: {reason}"))


class _Judge:
    """Judges a mutant: by its checks, then by a comparison with its original."""

    def __init__(self, task: MutantTask, listener: Listener, keeps: bool) -> None:
        self._task, self._listener, self._keeps = task, listener, keeps
        self._pace = Pace()
        self._hurried = False
        self._digests: dict[str, tuple[str | None, ...]] = {}
        self._specs: dict[str, Spec] = {}

    def _own(self, seconds: float | None) -> float | None:
        """Returns a limit of a check in seconds by the clock: where the time is shared out, those
        that the user has not given are of the processor, as the share is."""
        given = self._task.options.limits.timeout is not None
        shared = self._task.share is not None
        return seconds * self._pace.slow if shared and seconds and not given else seconds

    def _limit(self, seconds: float | None) -> float | None:
        """Returns the smaller of a limit and of what is left of the share, in seconds by the clock;
        of a first share half of that, since one check may take long and the next one kill at once.
        On a busy machine one of the processor takes as many of these as it did so far."""
        share = self._task.share
        if share is None:
            return seconds
        left = max(0.0, share - self._pace.cpu) * self._pace.slow
        return least(seconds, left if self._task.compares else left / 2)

    @property
    def _is_over(self) -> bool:
        """Whether too little of the share is left for another check."""
        share = self._task.share
        return share is not None and share - self._pace.cpu < share / ENOUGH

    def _note_end(self, limit: float | None, seconds: float | None) -> None:
        """Remembers that work was ended at ``limit``, if the share made that smaller than
        ``seconds``."""
        if limit is not None and (seconds is None or limit < seconds):
            self._hurried = True

    def _determined_by(self, spec: Spec, name: str) -> tuple[str | None, ...]:
        """Returns the digests of a check of the original and of the mutant."""
        if not self._keeps:
            return (None,)
        if name not in self._digests:
            options = points.without_limits(self._task.options)
            original = _digest_of_original(self._task, name, options)
            self._digests[name] = original, digest_of(spec, name, options)
        return self._digests[name]

    def judged(self) -> Judged:
        """Returns what becomes of it."""
        task = self._task
        try:
            self._spec("")
        except SpecError as refused:
            return Judged(task.result(Fate.STILLBORN, reason=first_problem(refused)))
        kills: list[Kill] = []
        unknown = ""
        searched: list[Asked] = []
        same: set[str] = set()
        may: list[Asked] = []
        for asked in task.asked:
            if self._hurried and (task.compares or self._is_over):
                break
            try:
                said = self._say(self._spec(asked.variant), asked)
                may.append(asked)
            except SpecError as refused:
                if asked.variant:  # there is no such variant of the mutant
                    continue
                reason = f"{asked.name}: {first_problem(refused)}"
                return Judged(task.result(Fate.STILLBORN, reason=reason))
            if said.same_code:
                same.add(asked.name)
            if said.searched:
                searched.append(asked)
            kills += said.kills
            if kills and not task.every_check:
                break
            unknown = unknown or said.undecided
        if kills:
            hurried = self._hurried and task.every_check
            return Judged(task.result(Fate.KILLED, tuple(kills)), hurried)
        unknown = unknown or _undecided_checks(searched, task.unasked)
        if unknown:
            return Judged(task.result(Fate.UNKNOWN, reason=unknown), self._hurried)
        if task.only:
            judges = f"judged by {', '.join(each.name for each in task.asked)}"
            unasked = f"no check expects {task.only} violated"
            return Judged(task.result(Fate.SURVIVED, reason=judges if task.asked else unasked))
        return self._compared(may, same)

    def _spec(self, variant: str) -> Spec:
        """Returns the mutant, with the variant; raises :class:`SpecError`."""
        of, only = self._task.mutant, self._task.only
        if variant not in self._specs:
            spec = Spec(of.variants[variant] if variant else of.text, str(of.path))
            self._specs[variant] = spec.only([only]) if only else spec
        return self._specs[variant]

    def _say(self, spec: Spec, asked: Asked) -> _Said:
        """Returns what a check says; raises :class:`SpecError`."""
        tag = f"mutant, {'alone' if self._task.only else 'or the same code'}{asked.tag}"
        tag += ", each property" if self._task.every_check else ""
        return outcome(
            tag, self._determined_by(spec, asked.name), _Said,
            lambda: self._run(spec, asked), lambda said: not said.undecided,
        )  # fmt: skip

    def _run(self, spec: Spec, asked: Asked) -> _Said:
        from checker.proving.dispatch_check import answer_check

        if not self._task.only and self._is_same_code(spec, asked):
            return _Said(same_code=True)
        options = asked.limited(self._task.options)
        own = self._own(options.limits.timeout)
        judging = asked.judges(spec)
        limits = replace(options.limits, timeout=self._limit(own))
        if not self._task.every_check:
            limits = replace(limits, until_violated=self._noticing(judging, asked.name))
        options = replace(options, limits=limits)
        report = answer_check(judging, asked.name, options, self._listener)
        if report.was_interrupted:
            raise KeyboardInterrupt
        found = kills_of(report) if asked.depth is None else kills_with_runs(report)
        kills = tuple(found)
        if asked.depth is not None and not kills and report.stopped in (None, limits.no_deeper):
            return _Said(searched=True)
        reason = "" if kills else undecided(report)
        if reason and report.stopped is not None:
            self._note_end(limits.timeout, own)
        if limits.timeout is not None and (own is None or limits.timeout < own):
            reason = points.of_budget(reason)
        return _Said(kills, reason)

    def _noticing(self, spec: Spec, name: str) -> frozenset[str]:
        """Returns the properties of which one violation is enough: none is expected."""
        check = load_check(spec, name, self._task.options.settings)
        expected = {e.what for e in check.expect if e.value == Word.VIOLATED.value}
        return frozenset(p.name for p in check.prove) - expected

    def _is_same_code(self, spec: Spec, asked: Asked) -> bool:
        """Returns whether a check decides of a mutant as of its original, since both are the same
        code but for the order of independent statements."""
        task = self._task

        def compare() -> bool:
            before = _of_original(task, asked.name).system
            return same_but_for_order(before, _system(spec, asked.name, task.options))

        limit = self._limit(self._own(asked.limited(task.options).limits.timeout))
        return _in_time(limit, compare) or False

    def _compared(self, checks: list[Asked], known: set[str]) -> Judged:
        """Returns the fate of a mutant that none of ``checks`` notices: whether all have the same
        observable behaviour of it as of its original, as far as their graphs can be compared;
        ``known``: those that have."""
        task = self._task
        if not checks:
            reason = f"no check is about {task.mutant.protocol}"
            return Judged(task.result(Fate.SURVIVED, reason=reason))
        if not task.compares and known != {asked.name for asked in checks}:
            return Judged(task.result(Fate.SURVIVED, reason=f"{UNDECIDED}: {LATER}"), True)
        same: list[str] = []
        unknown: dict[str, str] = {}
        for asked in sorted(checks, key=lambda each: each.states):  # one that differs is enough
            spec = self._spec(asked.variant)
            found = _Compared(True) if asked.name in known else self._compare(spec, asked)
            if found.alike is False:
                return Judged(task.result(Fate.SURVIVED))
            if found.alike:
                same.append(asked.name)
            else:
                unknown[asked.name] = found.why
        stored = task.mutant.unread
        unread = f"no property reads `{stored}`" if stored else ""
        if not unknown:
            return Judged(task.result(Fate.EQUIVALENT, reason=unread))
        whys = (f"{name}: {why}" for name, why in unknown.items())
        reason = f"{UNDECIDED}: {'; '.join(whys)}"
        if same:
            reason = f"behaves as before in {', '.join(same)}; {reason}"
        if unread:
            reason = f"{unread}; {reason}"
        return Judged(task.result(Fate.SURVIVED, reason=reason), self._hurried)

    def _compare(self, spec: Spec, asked: Asked) -> _Compared:
        """Returns whether a check has the same observable behaviour of a mutant as of its
        original."""
        if asked.states > COMPARED:
            return _Compared(None, LARGE)
        task = self._task

        def compare() -> bool:
            before = _of_original(task, asked.name).graph(task)
            return same_behaviour(before, graph_of(spec, asked.name, task.options, COMPARED))

        def make() -> _Compared:
            own = self._own(asked.compared_for(task.options))
            limit = self._limit(own)
            try:
                alike = _in_time(limit, compare)
            except TooLarge:
                return _Compared(None, LARGE)
            except SpecError as refused:
                return _Compared(None, first_problem(refused))
            except _NotCompared as given_up:
                return _Compared(None, str(given_up))
            if alike is None:
                self._note_end(limit, own)
                return _Compared(None, f"not compared in {limit or 0.0:.3g} s")
            return _Compared(alike)

        return outcome(
            "compared", self._determined_by(spec, asked.name), _Compared, make,
            lambda found: found.alike is not None,
        )  # fmt: skip


def least(one: float | None, other: float | None) -> float | None:
    """Returns the smaller limit; ``None`` is none."""
    given = [each for each in (one, other) if each is not None]
    return min(given, default=None)


def kills_of(report: Report) -> Iterator[Kill]:
    """Yields the verdicts of a report that are decided, and not what is expected."""
    for verdict in report.verdicts:
        if verdict.word in (Word.UNKNOWN, Word.PENDING):
            continue
        if not meets(verdict.word, report.expected_word(verdict)):
            steps = None if verdict.trace is None else verdict.trace.length
            yield Kill(report.check, verdict.property, verdict.word.value, steps)


def kills_with_runs(report: Report) -> Iterator[Kill]:
    """Yields those of :func:`kills_of` that a run shows."""
    yield from (kill for kill in kills_of(report) if kill.verdict in WITH_RUNS)


def _undecided_checks(searched: Sequence[Asked], unasked: Sequence[str]) -> str:
    """Returns why a mutant that no check notices has not survived; empty where it has."""
    depths = ", ".join(f"{each.depth} of {each.name}" for each in searched)
    found = [f"no check decides otherwise in the first steps: {depths}"] if searched else []
    if unasked:
        found.append(f"not asked: {', '.join(unasked)}")
    return "; ".join(found)


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


class _Original(Struct):
    """A check of an original, made once in this process."""

    name: str
    system: TransitionSystem
    made: Graph | None = None
    given_up: str = ""

    def graph(self, task: MutantTask) -> Graph:
        """Returns its graph; raises :class:`TooLarge`, and :class:`_NotCompared` where there was
        none before."""
        if self.given_up:
            raise _NotCompared(self.given_up)
        if self.made is None:
            try:
                self.made = graph_of(task.original, self.name, task.options, COMPARED)
            except TooLarge:
                self.given_up = LARGE
                raise
            except KeyboardInterrupt:
                self.given_up = SLOW if task.share is None else ""
                raise
        return self.made


_originals: dict[tuple[str, str], _Original] = {}
_digests: dict[tuple[str, str], str | None] = {}
"""The checks of originals that this process has made, and their digests, of one session."""


def _of_original(task: MutantTask, name: str) -> _Original:
    key = task.session, name
    if key not in _originals:
        _forget_others(_originals, task)
        _originals[key] = _Original(name, _system(task.original, name, task.options))
    return _originals[key]


def _digest_of_original(task: MutantTask, name: str, options: Options) -> str | None:
    key = task.session, name
    if key not in _digests:
        _forget_others(_digests, task)
        _digests[key] = digest_of(task.original, name, options)
    return _digests[key]


def _forget_others(known: dict[tuple[str, str], Any], task: MutantTask) -> None:
    if any(session != task.session for session, _ in known):
        known.clear()
