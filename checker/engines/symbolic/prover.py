"""Proves properties of one system: lemmas that are guessed, *k*-induction, and Spacer, in turn.

Everything that one method proves is available to the next one.  Each stage of a proof is rechecked
independently (:mod:`checker.engines.symbolic.certificate`) before it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import z3
from msgspec import Struct, field

from checker.diagnostics.english import count
from checker.engines import budgets
from checker.engines.symbolic import invariants, reachable
from checker.engines.symbolic.candidates import Candidates, Clause, candidates
from checker.engines.symbolic.certificate import (
    Certificate,
    Fact,
    Faultless,
    Never,
    Safe,
    Stage,
    Typed,
    WrongCertificate,
    audit,
    describe_fact,
    goals,
    recheck,
)
from checker.engines.symbolic.encoding import Encoding
from checker.engines.symbolic.induction import NotExcluded, induct
from checker.engines.symbolic.interruptible import interruptible
from checker.engines.symbolic.sampling import Samples, sample
from checker.engines.symbolic.solver_queries import GaveUp, QueryBudget
from checker.model.ir import TransitionSystem
from checker.results.answer import INTERRUPTED, Listener, Path, Progress
from checker.results.trace import ERRORS

METHODS = ("invariants", "induction", "pdr")
"""The available methods, in this order."""

SAMPLING, FINDING, INDUCING = 0.1, 0.4, 0.5
"""Parts of the remaining time: for samples, for lemmas, for induction where Spacer follows."""


SIMPLEST = 0.2
"""Part of the remaining time for lemmas of one literal, where others took too long."""

DEEPER = 1000
"""The largest number of steps of an execution that Spacer claims to exist."""

CANCELED = "canceled"
"""The message of z3 where it has ended for a signal that it handled itself."""

SPARE = 1.0
"""Seconds after the time limit in which code that checks the clock has to notice it."""

PREMISES = 6
"""The depth of induction for premises that no sample satisfies."""


class ProofResult(Struct):
    """The results on the system's goals (:func:`certificate.goals`) and on some premises.

    ``proved``: the number, from 0, of the stage of ``certificate`` that proves a fact; ``refuted``:
    an execution to a state in which it is false, a shortest one unless the fact is in ``lengthy``;
    ``open``: neither, each with a counterexample to its induction if there is one; ``tried``: the
    methods tried on those, in words; ``depth``: they are false in no fewer than so many steps.
    ``without_premise``: properties whose premise is proved to be never satisfied, by number;
    ``queries``: those of the recheck.
    """

    samples: Samples = field(default_factory=Samples)
    certificate: Certificate = ()
    proved: dict[Fact, int] = field(default_factory=dict)
    refuted: dict[Fact, Path] = field(default_factory=dict)
    lengthy: set[Fact] = field(default_factory=set)
    open: dict[Fact, NotExcluded | None] = field(default_factory=dict)
    tried: list[str] = field(default_factory=list)
    depth: int = 0
    without_premise: set[int] = field(default_factory=set)
    queries: int = 0
    seconds: float = 0.0
    stopped: str | None = None

    @property
    def proved_facts(self) -> tuple[Fact, ...]:
        """Returns all facts that the certificate proves."""
        return tuple(fact for stage in self.certificate for fact in stage.facts)


def prove(
    system: TransitionSystem,
    clock: QueryBudget,
    *,
    methods: Sequence[str] = METHODS,
    deepest: int = 10,
    listener: Listener | None = None,
) -> ProofResult:
    """Proves or refutes the goals of ``system`` within the time limit.

    Raises :class:`checker.results.answer.Unsupported` where it can't be encoded, ``RunFault`` where
    no initial state can be computed, and :class:`certificate.WrongCertificate`.
    """
    work = _Work(system, clock, listener)
    try:
        with budgets.raising_when_exhausted(spare=SPARE):
            interruptible(lambda: work.run(methods, deepest))
    except (GaveUp, budgets.BudgetExhausted) as why:
        work.found.tried.append(f"{work.phase} ({why})")
    except KeyboardInterrupt:
        work.found.stopped = INTERRUPTED
    except z3.Z3Exception as problem:
        if CANCELED not in str(problem):
            raise
        work.found.stopped = INTERRUPTED
    work.found.seconds = clock.seconds_spent
    return work.found


class _Work:
    def __init__(
        self, system: TransitionSystem, clock: QueryBudget, listener: Listener | None
    ) -> None:
        self.system, self.clock, self.listener = system, clock, listener
        self.started = time.monotonic()
        self.phase = ""
        self.second: Encoding | None = None
        self.found = ProofResult(open=dict.fromkeys(goals(system)))

    def run(self, methods: Sequence[str], deepest: int) -> None:
        found = self.found
        self.tell("sampling states")
        found.samples = sample(self.system, self.clock.share(SAMPLING))
        self._discard_refuted()
        if not found.open:
            return
        self.tell("SMT encoding")
        encoding = self._make_encoding()
        if "invariants" in methods:
            self._find_lemmas(encoding)
        if not found.certificate and not self._add(Stage((Typed(),), 1)):
            return
        if "induction" in methods:
            share = self.clock.share(INDUCING) if "pdr" in methods else self.clock
            self._induct(encoding, deepest, share)
        if "pdr" in methods and self._provable():
            self._spacer(encoding)

    def _make_encoding(self) -> Encoding:
        """Returns formulas of the system, with room for the elements of states reachable from the
        initial ones.
        """
        return Encoding(self.system, reachable=True, look=self.clock.look)

    def _provable(self) -> list[Fact]:
        """Returns the open facts that no sample refutes."""
        return [fact for fact in self.found.open if fact not in self.found.lengthy]

    def tell(self, phase: str) -> None:
        self.phase = phase
        if self.listener is not None:
            samples, seconds = self.found.samples, time.monotonic() - self.started
            self.listener(Progress(len(samples.states), 0, self.found.depth, seconds, 0, phase))

    def _discard_refuted(self) -> None:
        """Removes goals that samples have refuted, which need no proof."""
        found, samples = self.found, self.found.samples
        paths: dict[Fact, tuple[str, Path]] = {}
        for fact in found.open:
            match fact:
                case Safe(index) if self.system.properties[index].name in samples.violated:
                    name = self.system.properties[index].name
                    paths[fact] = (name, samples.violated[name])
                case Faultless() if samples.fault is not None:
                    paths[fact] = (ERRORS, samples.fault)
        for fact, (name, path) in paths.items():
            found.refuted[fact] = path
            if name in samples.shortest:
                del found.open[fact]
            else:
                found.lengthy.add(fact)

    def _find_lemmas(self, encoding: Encoding) -> None:
        """Finds lemmas that are short clauses first; longer ones where those do not suffice."""
        found = self.found
        guessed = candidates(self.system, list(found.samples.states), self.clock.look)
        clock, known = self.clock.share(FINDING), tuple[Clause, ...]()
        for last, longer in ((False, ()), (True, guessed.longer)):
            wanted = (*(c for c in guessed.clauses if c not in set(known)), *longer)
            try:
                clauses = self._inductive(encoding, guessed, wanted, known, clock)
            except GaveUp as why:
                found.tried.append(f"lemmas from {len(wanted):,} candidates ({why})")
                if not found.certificate:
                    self._find_simplest(encoding, guessed)
                return
            found.tried.append(f"{len(clauses):,} lemmas from {len(wanted):,} candidates")
            known += clauses
            if found.certificate:
                stage = invariants.stage(guessed, clauses, first=False)
            else:
                stage = invariants.stage(guessed, known, first=True)
                stage = invariants.following(encoding, stage, clock.share(0.2))
                if invariants.has_sums(encoding, stage) and not last:
                    continue
            if not self._add(stage):
                return
            self._induct(encoding, 1, clock, last=False)
            if not self._provable():
                return

    def _find_simplest(self, encoding: Encoding, guessed: Candidates) -> None:
        """Finds lemmas of one literal only."""
        simple = tuple(clause for clause in guessed.clauses if len(clause) == 1)
        clock = self.clock.share(SIMPLEST)
        try:
            clauses = self._inductive(encoding, guessed, simple, (), clock)
        except GaveUp as why:
            self.found.tried.append(f"lemmas from {len(simple):,} candidates ({why})")
            return
        stage = invariants.following(
            encoding, invariants.stage(guessed, clauses, first=True), clock.share(0.5)
        )
        if self._add(stage):
            self.found.tried.append(f"{len(clauses):,} lemmas from {len(simple):,} candidates")

    def _inductive(
        self,
        encoding: Encoding,
        guessed: Candidates,
        wanted: tuple[Clause, ...],
        known: tuple[Clause, ...],
        clock: QueryBudget,
    ) -> tuple[Clause, ...]:
        return invariants.inductive(
            encoding,
            guessed,
            wanted,
            known,
            clock,
            lambda left: self.tell(f"{left:,} candidates for lemmas"),
        )

    def _add(self, stage: Stage) -> bool:
        """Adds ``stage`` to the certificate, if the recheck is done in time."""
        found = self.found
        self.tell("checking the proof again")
        certificate = (*found.certificate, stage)
        try:
            if self.second is None:
                self.second = self._make_encoding()
                audit(self.second, found.samples, self.clock)
            found.queries += recheck(self.second, certificate, self.clock, len(found.certificate))
        except GaveUp as why:
            found.tried.append(str(why))
            return False
        number = len(found.certificate)
        found.certificate = certificate
        for fact in stage.facts:
            if fact in found.refuted:
                raise WrongCertificate(
                    f"a run contradicts the proof of: {describe_fact(self.system, fact)}"
                )
            if fact in found.open:
                found.proved[fact] = number
                del found.open[fact]
        return True

    def _induct(
        self, encoding: Encoding, deepest: int, clock: QueryBudget, *, last: bool = True
    ) -> None:
        """Proves goals by induction; ``last``: reports what it does not prove."""
        found = self.found
        came = induct(
            encoding,
            found.proved_facts,
            tuple(found.open),
            deepest,
            clock,
            lambda k: self.tell(f"induction over {count(k, 'step')}"),
        )
        found.depth = came.depth
        for fact, states in came.refuted.items():
            found.refuted[fact] = Path(states, then_fault=isinstance(fact, Faultless))
            found.lengthy.discard(fact)
            del found.open[fact]
        for fact, excluded in came.open.items():
            found.open[fact] = excluded
        if came.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        for stage in came.stages:
            if not self._add(stage):
                break
        if last and self._provable():
            found.tried.append(came.stopped or "induction")

    def _spacer(self, encoding: Encoding) -> None:
        found, wanted = self.found, tuple(self._provable())
        self.tell(reachable.METHOD)
        try:
            written = reachable.invariant(encoding, found.proved_facts, wanted, self.clock)
        except GaveUp as why:
            found.tried.append(f"{reachable.METHOD} ({why})")
            return
        if written is None:
            found.tried.append(f"{reachable.METHOD} reports a run that refutes it")
            self._induct(encoding, DEEPER, self.clock)
            return
        self._add(Stage((written, *wanted), 1, method=reachable.METHOD))


def premises_that_never_hold(
    system: TransitionSystem, found: ProofResult, clock: QueryBudget
) -> set[int]:
    """Returns the numbers of those proved properties whose premise is proved to be always false.

    Only premises that no sample satisfies are checked; an aborted query proves nothing.
    """
    asked = tuple(
        Never(fact.index)
        for fact in found.proved
        if isinstance(fact, Safe)
        and system.properties[fact.index].name not in found.samples.premises
    )
    if not asked or found.stopped is not None:
        return set()
    never: set[int] = set()
    try:
        with budgets.raising_when_exhausted(spare=SPARE):
            interruptible(lambda: _ask_premises(system, found, clock, asked, never))
    except (GaveUp, KeyboardInterrupt):
        pass
    return never


def _ask_premises(
    system: TransitionSystem,
    found: ProofResult,
    clock: QueryBudget,
    asked: tuple[Never, ...],
    never: set[int],
) -> None:
    one, other = (Encoding(system, reachable=True, look=clock.look) for _ in range(2))
    came = induct(one, found.proved_facts, asked, PREMISES, clock)
    for fact in came.refuted:
        if isinstance(fact, Never):
            found.samples.premises.add(system.properties[fact.index].name)
    for stage in came.stages:
        found.queries += recheck(other, (*found.certificate, stage), clock, len(found.certificate))
        found.certificate = (*found.certificate, stage)
        never |= {fact.index for fact in stage.facts if isinstance(fact, Never)}
