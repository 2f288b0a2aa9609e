"""Finds the weakest worlds in which each property of a check holds, and so what it needs.

For a property that holds in the check's own world the search gives up assumptions from there.  For
one that the check expects to be violated it looks for what would have to be assumed in addition.
What is not varied is reported, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.options import Options
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.language.typecheck.world_axes import FAIRNESS, World, world_of
from checker.model.ir import FALSE, ActionKind, PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.verdict import PropertyVerdict, Report, Word, exit_code_of
from checker.results.weakest_worlds import Found, Needed, PropertyWorlds, Weakest, WeakestWorlds
from checker.worlds.asking import Asker, search_together
from checker.worlds.monotone import Answer, Boundary, Point, Search
from checker.worlds.points import PointOutcome, limited, of_budget, settings_text

FAIR_KINDS = {
    ActionKind.STEP: "a correct process takes the steps that it can",
    ActionKind.REQUEST: "clients make their requests",
    ActionKind.RECEIVE: "messages are received eventually",
    ActionKind.TIMEOUT: "running timers expire eventually",
    ActionKind.EFFECT: "a correct process finishes its handlers",
    ActionKind.DETECT: "the detector and oracles report eventually",
    ActionKind.WORLD: "time advances, and the detector settles",
}
"""Fairness that a world assumes, by the kind of actions."""
HELD = (Word.HOLDS, Word.PROVED)
FOUND: Mapping[Answer, Found] = {Answer.VACUOUS: "vacuous", Answer.UNKNOWN: "unknown"}


class Question(Struct, frozen=True):
    """The check ``name`` of ``spec``, as it is loaded with the settings of ``options``; ``report``:
    on it as it is."""

    spec: Spec
    name: str
    check: typed.Check
    options: Options
    report: Report

    @property
    def limited(self) -> Options:
        """The options for another world."""
        return limited(self.options, self.report.distinct_states, self.report.seconds)


def require_green(report: Report, code: str, *, shared: bool = False) -> None:
    """Raises :class:`SpecError` with ``code`` if the unchanged check is not as expected, or a limit
    ended it; ``shared``: its time limit was a share of the budget."""
    if report.exit_code == exit_code_of(Word.UNKNOWN):
        reasons = (v.reason for v in report.verdicts if v.word in (Word.UNKNOWN, Word.PENDING))
        reason = next(reasons, "")
        reason = of_budget(reason) if shared else reason
        message = f"{report.check} is not decided before any change: {reason}"
        hint = "allow it more with `--timeout`, `--budget` or `--memory`"
        raise SpecError((Diagnostic(code, message.removesuffix(": "), hint=hint),))
    if report.exit_code != 0:
        message = f"{report.check} is not as expected before any change"
        hint = f"see `bivalence check {report.file}::{report.check}`"
        raise SpecError((Diagnostic(code, message, hint=hint),))


def fairness_of(check: typed.Check, options: Options) -> tuple[dict[str, str], frozenset[str]]:
    """Returns the kinds of actions for which the world of ``check`` assumes fairness, in words, and
    the properties that need whole runs: only to these does fairness matter."""
    from checker.session.systems import instantiated

    system: TransitionSystem = instantiated(check, options).system
    live = {p.asked for p in system.properties if p.kind is PropertyKind.LIVENESS}
    fair = {action.kind for action in system.actions if action.promised != FALSE}
    words = {kind.value: said for kind, said in FAIR_KINDS.items() if live and kind in fair}
    return words, frozenset(live)


class Assumptions:
    """The search for the assumptions of one check: :meth:`run`, and what is known at any time,
    :meth:`report`."""

    def __init__(self, question: Question) -> None:
        self._question = question
        words, self._live = fairness_of(question.check, question.options)
        self._world = world_of(question.check, words)
        self._options = question.limited
        self._possible: dict[Point, str] = {}
        self._started = time.monotonic()
        self._searches = {
            verdict.property: Search(*self._region(verdict), self._world.own, self._exists)
            for verdict in question.report.verdicts
            if not self._unasked(verdict)
        }
        self._asker: Asker | None = None

    @property
    def world(self) -> World:
        """The axes."""
        return self._world

    def run(self, asker: Asker) -> None:
        """Runs the search to its end; raises ``KeyboardInterrupt``."""
        self._asker = asker

        def ask(wanted: Mapping[tuple[str, Point], Point]) -> dict[tuple[str, Point], Answer]:
            options = {point: self.options_at(point) for point in set(wanted.values())}
            outcomes = asker.ask(options)
            return {key: outcomes[point].answer(key[0]) for key, point in wanted.items()}

        search_together(self._searches, ask)

    def report(self, stopped: str | None = None) -> WeakestWorlds:
        """Returns the report; ``stopped``: why the search did not end, if so."""
        question, report = self._question, self._question.report
        requires = question.check.protocol.requires
        from checker.language.syntax.constant_text import constant_text

        return WeakestWorlds(
            file=question.spec.path,
            check=question.name,
            world=report.world,
            properties=tuple(self._property(verdict) for verdict in report.verdicts),
            assumed=tuple(self._assumed(self._world.own)),
            never_asked=(*self._contradictory(), *self._world.left_out),
            requires="" if requires is None else constant_text(requires),
            runs=0 if self._asker is None else self._asker.done,
            stopped=stopped,
            seconds=time.monotonic() - self._started,
        )

    def boundary(self, name: str) -> Boundary:
        """Returns the boundary of the property ``name``, as far as it is known."""
        return self._searches[name].boundary()

    # ---- points -------------------------------------------------------------------------------

    def _region(self, verdict: PropertyVerdict) -> tuple[Point, Point]:
        """Returns the strongest and the weakest world to be asked about a property: fairness counts
        only where whole runs do."""
        own, axes = self._world.own, self._world.axes
        lives = verdict.property in self._live
        tops = zip(axes, self._world.top, strict=True)
        top = tuple(n if lives or a.part != FAIRNESS else a.at for a, n in tops)
        return (own, top) if verdict.word in HELD else ((0,) * len(own), own)

    def options_at(self, point: Point) -> Options:
        """Returns the options of the run at ``point``."""
        settings = {**self._options.settings, **self._world.settings(point)}
        return replace(self._options, settings=settings, unfair=self._world.unfair(point))

    def _exists(self, point: Point) -> bool:
        return not self._why_impossible(point)

    def _why_impossible(self, point: Point) -> str:
        """Returns why the settings of ``point`` contradict each other; empty if they do not."""
        from checker.session.load import load_check

        if point not in self._possible:
            try:
                load_check(
                    self._question.spec, self._question.name, self.options_at(point).settings
                )
                self._possible[point] = ""
            except SpecError as problem:
                self._possible[point] = problem.diagnostics[0].message
        return self._possible[point]

    def _outcome(self, point: Point) -> PointOutcome | None:
        return None if self._asker is None else self._asker.known(self.options_at(point))

    # ---- what is reported ---------------------------------------------------------------------

    def _unasked(self, verdict: PropertyVerdict) -> str:
        """Returns why no world is searched for a property; empty if one is."""
        if verdict.word in (*HELD, Word.VIOLATED):
            return ""
        return f"it is {verdict.label()} in the check's own world"

    def _property(self, verdict: PropertyVerdict) -> PropertyWorlds:
        name, why = verdict.property, self._unasked(verdict)
        if why:
            return PropertyWorlds(name, verdict.word, unasked=why)
        found = self.boundary(name)
        needed = (self._needed(name, point, answer) for point, answer in found.failing.items())
        return PropertyWorlds(
            property=name,
            verdict=verdict.word,
            weakest=tuple(self._weakest(point) for point in found.holding),
            needed=tuple(each for each in needed if each is not None),
            unneeded=self._unneeded(verdict, found),
            together=tuple(self._text(point) for point in sorted(found.undecided)),
            contradictions=tuple(
                (self._text(fails), self._text(holds)) for fails, holds in found.contradictions
            ),
            runs=len(found.answers),
            skipped=len(found.impossible),
            finite=name not in self._live,
        )

    def _text(self, point: Point) -> str:
        unfair = " ".join(f"without fairness of {kind}" for kind in self._world.unfair(point))
        text = settings_text(self._world.settings(point))
        return " ".join(each for each in (text, unfair) if each) or "as the check is"

    def _assumed(self, point: Point) -> list[tuple[str, str]]:
        """Returns the assumptions of the world at ``point``, by axis."""
        both = zip(self._world.axes, point, strict=True)
        return [(axis.name, axis.levels[n].words) for axis, n in both if axis.levels[n].words]

    def _weakest(self, point: Point) -> Weakest:
        outcome = self._outcome(point)
        states = 0 if outcome is None or outcome.report is None else outcome.report.distinct_states
        words = tuple(words for _, words in self._assumed(point))
        return Weakest(words, self._text(point), states)

    def _needed(self, name: str, point: Point, answer: Answer) -> Needed | None:
        """Returns what a smallest world in which ``name`` does not hold lacks: on each axis on
        which it is not at the bottom, the assumption of one level before."""
        bottom, _ = self._region(self._question_verdict(name))
        both = zip(self._world.axes, point, bottom, strict=True)
        lacking = [(a.name, a.levels[n - 1].words) for a, n, low in both if n > low]
        outcome = self._outcome(point)
        verdict = None if outcome is None else outcome.verdict(name)
        broken = verdict is not None and verdict.word is Word.ERROR
        found = FOUND.get(answer, "error" if broken else "violated")
        trace = None if verdict is None else verdict.trace
        return Needed(
            assumptions=tuple(words for _, words in lacking),
            axes=tuple(axis for axis, _ in lacking),
            settings=self._text(point),
            found=found,
            reason="" if outcome is None else outcome.why(name),
            steps=None if trace is None else trace.length,
            trace=trace,
        )

    def _question_verdict(self, name: str) -> PropertyVerdict:
        return next(v for v in self._question.report.verdicts if v.property == name)

    def _unneeded(self, verdict: PropertyVerdict, found: Boundary) -> tuple[tuple[str, str], ...]:
        """Returns the assumptions of the check that the property does not need: it holds in a
        world without the assumption, and fails in none because of its absence."""
        if verdict.word not in HELD:
            return ()
        own, unneeded = self._world.own, []
        for number, axis in enumerate(self._world.axes):
            given_up = any(point[number] > own[number] for point in found.holding)
            fails = any(
                answer is Answer.FAILS
                and point[number] > own[number]
                and (point[number] == own[number] + 1 or _several(point, own))
                for point, answer in found.failing.items()
            )
            if given_up and not fails:
                unneeded.append((axis.name, axis.levels[own[number]].words))
        return tuple(unneeded)

    def _contradictory(self) -> list[tuple[str, str]]:
        """Returns the levels that contradict the check's own world, with the reason."""
        found = []
        own = self._world.own
        for number, axis in enumerate(self._world.axes):
            for level in range(axis.at + 1, len(axis.levels)):
                point = cast(Point, (*own[:number], level, *own[number + 1 :]))
                why = self._why_impossible(point)
                if why and all(
                    self._why_impossible((*own[:number], n, *own[number + 1 :]))
                    for n in range(level, len(axis.levels))
                ):
                    found.append((f"{axis.name} {axis.levels[level].value}", why))
        return found


def _several(point: Point, own: Point) -> bool:
    """Returns whether more than one axis is above ``own``."""
    return sum(a > b for a, b in zip(point, own, strict=True)) > 1
