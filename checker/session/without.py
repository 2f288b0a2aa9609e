"""Judges ``expect … violated without "WORDS"``: a counterexample in which no step fits the words.

Where steps of a counterexample fit them, the check is explored again in a system that lacks these
steps, as long as there is another counterexample.  What a step is said to be depends on its leading
event, so the steps that are taken out are those of the same action with the same event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.engines.options import Options
from checker.instantiate.faults.budgeted import Passed, forbid
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.answer import Answer
from checker.results.events import AlternativeTaken
from checker.results.mark_events import SILENT, event_of
from checker.results.narrate import narrate
from checker.results.replay import path_of
from checker.results.rerun import Run, rerun
from checker.results.trace import Header, Trace
from checker.results.verdict import Expected, PropertyVerdict, Word
from checker.session.attempts import too_small_capacities
from checker.session.judged import Judged
from checker.session.run_engine import answer_of
from checker.session.trace_header import header_of
from checker.simulate.choices import phrases_of_transition
from checker.simulate.phrase_matching import best_matches
from checker.simulate.prepared_check import PreparedCheck
from checker.words.events import sentence
from checker.words.steps import leading

MOST_SEARCHES = 200
"""Explorations at most for one expectation."""
MOST_STEPS = 20_000
"""Steps at most that are looked at for one that the words fit."""


def not_judged(check: typed.Check) -> tuple[Expected, ...]:
    """Returns the expectations of ``check`` with ``without``, where nothing is known of them."""
    asked = (each for each in check.expect if each.without is not None)
    return tuple(_expected(each, Word.UNKNOWN.value) for each in asked)


def judge_without(
    path: str,
    check: typed.Check,
    made: Instantiated,
    verdicts: tuple[PropertyVerdict, ...],
    options: Options,
) -> Judged:
    """Judges the expectations of ``check`` with ``without``; ``verdicts``: those on its properties,
    in the system ``made``.

    Raises :class:`SpecError` where a property is not about single states (C037), or the words fit
    no step (E092).
    """
    known = {verdict.property: verdict for verdict in verdicts}
    judged = Judged(())
    for each in check.expect:
        if each.without is None:
            continue
        verdict = known.get(each.what)
        found = _Found("not checked" if verdict is None else verdict.label())
        if verdict is not None and verdict.word is Word.VIOLATED:
            search = _Search(path, check, each.without, each.what, options, made)
            found = search.run(verdict)
            known[each.what] = _with_trace(verdict, found.trace, each.without.text)
        judged = Judged(
            (),
            (*judged.expectations, _expected(each, found.word)),
            (*judged.notes, *([f"{_label(each)}: {found.why}"] if found.why else [])),
        )
    return replace(judged, verdicts=tuple(known[verdict.property] for verdict in verdicts))


def _label(each: typed.Expectation) -> str:
    assert each.without is not None
    return f'{each.what} without "{each.without.text}"'


def _expected(each: typed.Expectation, found: str) -> Expected:
    word = Word.VIOLATED.value
    return Expected(_label(each), word, found, found == word)


def _with_trace(verdict: PropertyVerdict, trace: Trace | None, words: str) -> PropertyVerdict:
    if trace is None:
        return verdict
    others = (*verdict.others, trace)
    return replace(verdict, others=others, of_others=f'the last one without "{words}"')


class _Found(Struct, frozen=True):
    word: str
    why: str = ""
    trace: Trace | None = None


class _Left(Struct, frozen=True):
    """Steps that are taken out: those of the action that pass these marks; ``exact``: the words fit
    all of them."""

    action: str
    passed: tuple[Passed, ...]
    exact: bool


class _Search(Struct):
    path: str
    check: typed.Check
    words: typed.Happening
    what: str
    options: Options
    made: Instantiated
    left_out: list[_Left] = field(default_factory=list)

    def run(self, verdict: PropertyVerdict) -> _Found:
        """Returns what is found, where the property is violated as ``verdict`` says."""
        trace = verdict.trace
        assert trace is not None
        asked = self._asked(self.made.system)
        if not asked:
            message = f"`without` needs a property of states; `{self.what}` is about whole runs"
            hint = "use it with a safety property, such as `always …`"
            raise SpecError((Diagnostic("C037", message, self.words.span, hint=hint),))
        if trace.loop is not None and trace.closing is not None:
            run, system = None, self.made.system
        else:
            system = self.made.system
            prop = system.violated_part(self.what, lasso=False)
            run = None if prop is None else rerun(system, path_of(system, trace), prop)
        if run is not None and not self._take(system, run):
            why = self._why_not_possible(system, run)
            return _Found(Word.UNKNOWN.value, why) if why else _Found(Word.VIOLATED.value)
        options = self.options
        opened = PreparedCheck(
            self.check, options.settings, self._header, fine=options.fine_steps, made=self.made
        )
        for _ in range(MOST_SEARCHES):
            system, answer = self._explore(opened)
            found = next((p for p in system.properties if p.name in answer.violations), None)
            if found is None:
                return self._none(answer)
            run = rerun(system, answer.violations[found.name], found)
            if not self._take(system, run):
                if not self.left_out and (why := self._why_not_possible(system, run)):
                    return _Found(Word.UNKNOWN.value, why)
                told = narrate(system, run, found, self._header(opened.made))
                return _Found(Word.VIOLATED.value, trace=told)
        why = f"after {MOST_SEARCHES} searches each counterexample had another such step"
        return _Found(Word.UNKNOWN.value, why)

    def _header(self, made: Instantiated) -> Header:
        return header_of(self.path, self.check, made, self.options)

    def _asked(self, system: TransitionSystem) -> tuple[Property, ...]:
        return tuple(p for p in system.parts_of(self.what) if p.kind is PropertyKind.INVARIANT)

    def _explore(self, opened: PreparedCheck) -> tuple[TransitionSystem, Answer]:
        """Explores the system without the steps that are left out, in one that is large enough."""
        limits = replace(self.options.limits, until_decided=True)
        options = replace(
            self.options, limits=limits, checkpoint=None, resume=None, states_out=None
        )
        while True:
            asked = tuple(replace(prop, given=None) for prop in self._asked(opened.system))
            system = replace(opened.system, properties=asked, view=None)
            for left in self.left_out:
                system = forbid(system, left.action, left.passed)
            answer = answer_of(system, options, None, None)
            grows = () if answer.violations else too_small_capacities(system, answer)
            if not grows or not all(opened.enlarge(name) for name in grows):
                return system, answer

    def _none(self, answer: Answer) -> _Found:
        """Returns what is known where no further counterexample was found."""
        if not answer.exhaustive or answer.fault is not None:
            return _Found(Word.UNKNOWN.value, answer.stopped or "the search met an error")
        if all(left.exact for left in self.left_out):
            return _Found(Word.HOLDS.value, "every run that violates it has such a step")
        why = "the words say how a step continues, and all steps that begin alike were left out"
        return _Found(Word.UNKNOWN.value, why)

    # ---- which steps the words fit ------------------------------------------------------------

    def _take(self, system: TransitionSystem, run: Run) -> bool:
        """Leaves out the steps of ``run`` that the words fit; returns whether there are any."""
        before, found = run.moments[0].state, False
        for moment in run.moments[1:]:
            assert moment.transition is not None
            if self._fits(system, before, moment.transition):
                found = True
                self.left_out.append(self._step(system, moment.transition))
            before = moment.state
        return found

    def _fits(self, system: TransitionSystem, state: State, step: Transition) -> bool:
        return self._fit(phrases_of_transition(system, state, step))

    def _fit(self, phrases: tuple[str, ...]) -> bool:
        return bool(best_matches(self.words.text, [(True, phrases)]))

    def _step(self, system: TransitionSystem, step: Transition) -> _Left:
        """Returns the steps to leave out for ``step``, which the words fit."""
        marks = [e for e in step.events if system.marks[e.mark].kind not in SILENT]
        told = [event_of(system, each) for each in marks]
        lead = leading(step.action.kind.value, tuple(told))
        at = next((n for n, each in enumerate(told) if each is lead), None)
        chosen = [step.events[0] if at is None else marks[at]]
        exact = lead is not None and self._fit((sentence(lead),))
        taken = [n for n, each in enumerate(told) if isinstance(each, AlternativeTaken)]
        if lead is not None and at is not None and not exact and len(taken) == 1 and taken[0] > at:
            told_as = told[taken[0]]
            assert isinstance(told_as, AlternativeTaken)
            chosen.append(marks[taken[0]])
            exact = self._fit((f"{sentence(lead)} as {told_as.alternative}",))
        passed = tuple((system.marks[each.mark], each) for each in chosen)
        return _Left(step.action.name, passed, exact)

    def _why_not_possible(self, system: TransitionSystem, run: Run) -> str:
        """Returns why it is not known that the words fit a step at all; empty where one was seen.

        Raises :class:`SpecError` (E092) where none fits.
        """
        around = _steps(system, [moment.state for moment in run.moments])
        for seen, (state, step) in enumerate(around, start=1):
            if self._fits(system, state, step):
                return ""
            if seen == MOST_STEPS:
                return f"none of the first {count(seen, 'step')} fits these words"
        message = f"no step of this check fits `{self.words.text}`"
        hint = "`bivalence explore` shows the steps of each state in words"
        raise SpecError((Diagnostic("E092", message, self.words.span, hint=hint),))


def _steps(system: TransitionSystem, first: list[State]) -> Iterator[tuple[State, Transition]]:
    """Yields the steps from these states, those of the other initial states, and all behind."""
    waiting = deque(dict.fromkeys((*first, *interpreter.initial_states(system))))
    known = set(waiting)
    while waiting:
        state = waiting.popleft()
        try:
            steps = interpreter.successors(system, state)
        except RunFault:
            continue
        for step in steps:
            if step.successor is None:
                continue
            yield state, step
            if step.successor not in known:
                known.add(step.successor)
                waiting.append(step.successor)
