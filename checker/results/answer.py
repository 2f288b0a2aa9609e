"""The answer of an engine about a transition system, before anything is replayed or judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct, field

from checker.diagnostics.english import count
from checker.model.types import Value
from checker.results.domains import Amount, Natural, Positive, Text
from checker.results.walks import WalkSummary

State = tuple[Value, ...]
"""Values of the variables, in the order of ``TransitionSystem.variables``."""

FOUND = "found"
"""The phase between a search and what is made of the states that it has found."""
INTERRUPTED = "interrupted"
"""Why something is not known, after an interrupt."""

DECIDED = "every property is decided"
"""Why an exploration ended, where every property was decided."""


def stop_reason(error: KeyboardInterrupt) -> str:
    """Returns why something is not known, where it was ended by ``error``: a budget
    (:class:`checker.engines.budgets.BudgetExhausted`), or an interrupt."""
    return str(error) or INTERRUPTED


def without_run(error: KeyboardInterrupt) -> str:
    """Returns why a property that was seen to fail is not reported as violated: there was no time
    to compute the execution."""
    return f"a violation was found, but not its run: {stop_reason(error)}"


class Limits(Struct, frozen=True):
    """Budgets of one exploration; ``None`` is unlimited.

    ``max_depth`` counts transitions from an initial state, ``timeout`` is in seconds, ``memory`` in
    bytes of the engine's own tables.  ``until_decided``: no engine continues beyond the level in
    which the last property is seen to fail (:data:`DECIDED`); its counts are then too small.
    ``until_reached``: an engine may end so, too, where a mark of each of these sets is reached;
    ``until_violated``: where one of these properties is seen to fail.
    """

    max_states: int | None = None
    max_depth: int | None = None
    timeout: float | None = None
    memory: int | None = None
    until_decided: bool = False
    until_reached: tuple[frozenset[int], ...] = ()
    until_violated: frozenset[str] = frozenset()

    @property
    def no_more_states(self) -> str:
        """Why an exploration ends at ``max_states``, in words."""
        return f"the limit of {count(self.max_states or 0, 'state')} was reached"

    @property
    def no_deeper(self) -> str:
        """Why an exploration ends at ``max_depth``, in words."""
        return f"the depth limit of {self.max_depth} was reached"

    @property
    def no_more_time(self) -> str:
        """Why an exploration ends at ``timeout``, in words."""
        return f"the time limit of {self.timeout:g} s was reached"


class Forecast(Struct, frozen=True):
    """An estimate of the rest of an exploration that is not over.

    From ``low`` to ``high`` states in all, in ``soonest`` to ``latest`` further seconds;
    ``memory``: bytes at most.
    """

    low: Natural
    high: Natural
    soonest: Amount
    latest: Amount
    memory: Natural


class Progress(Struct, frozen=True):
    """How far a running exploration came; ``memory`` in bytes, ``seconds`` since its start.

    ``phase``: what is done after the search is over, such as ``liveness: total_order``;
    ``forecast``: of the search, where there is one; ``news``: ``phase`` is an event that must be
    shown; ``answer``: what is known so far, where ``phase`` may take long.
    """

    states: int
    frontier: int
    depth: int
    seconds: float
    memory: int
    phase: str = ""
    forecast: Forecast | None = None
    news: bool = False
    answer: Answer | None = None


Listener = Callable[[Progress], None]


class Path(Struct, frozen=True):
    """An execution: consecutive states, the first one initial.

    ``then_fault``: an action of the last state fails with a run-time error.  ``loop``: the
    execution is infinite (a lasso): from the last state back to number ``loop`` (from 0), or, where
    that is the last state itself, by staying there.  ``values``: of the parameters of the
    ``LIVENESS`` property that it violates, in order.
    """

    states: tuple[State, ...]
    then_fault: bool = False
    loop: int | None = None
    values: tuple[Value, ...] = ()


class Weight(Struct, frozen=True):
    """Something in which states differ; without it there would be ``factor`` times fewer."""

    name: str
    factor: Annotated[float, Meta(ge=1)]


class Variety(Struct, frozen=True):
    """The number of different values that the variable ``name`` has in a sample of the states."""

    name: str
    values: Positive
    states: Positive


class StepCounts(Struct, frozen=True):
    """The numbers of ``steps`` of explored states: of ``states`` of them, or of ``every`` one;
    ``by_mark``: of these steps those that pass each mark of the system."""

    states: int
    every: bool
    steps: int
    by_mark: dict[int, int]


class Reduced(Struct, frozen=True):
    """The reductions of an exploration.

    ``used``: the names of the reductions; ``unused``: reductions that are not used, or less than
    they could be, each with the reason in words; ``text``: what is used, in words; ``without``: the
    number of states without them (``None``: not known), ``exact`` or estimated, or, ``at_least``, a
    lower bound of it.  ``keeps_lengths``: shortest executions are as long as without;
    ``shows_all``: what was not seen to happen never happens; ``titles``: what reports call the
    reductions, by their names.
    """

    used: tuple[Text, ...] = ()
    unused: tuple[tuple[Text, str], ...] = ()
    text: tuple[str, ...] = ()
    without: Natural | None = None
    exact: bool = False
    at_least: bool = False
    keeps_lengths: bool = True
    shows_all: bool = True
    titles: tuple[tuple[str, str], ...] = ()

    def title(self, name: str) -> str:
        """The name of a reduction in reports."""
        return dict(self.titles).get(name, name)


class Restart(Struct, frozen=True):
    """An exploration that found guessed capacities too small, and was followed by another.

    ``grown``: their names, with their old and new sizes; ``states``, ``depth``: its size
    when it ended; ``kept``: the next one continued from there instead of starting over.
    """

    grown: Annotated[tuple[tuple[str, Natural, Positive], ...], Meta(min_length=1)]
    states: Natural
    depth: Natural
    kept: bool = False


class Answer(Struct, frozen=True):
    """The result of an exploration; the same for every engine and any number of threads.

    * ``distinct_states``: reachable states found, initial ones included.
    * ``depth``: the largest distance of a found state from the initial states.
    * ``violations``: for each violated property a shortest path to the violating state.  Which
      ``LIVENESS`` properties are among them depends on the engine where not ``exhaustive``.
    * ``fault``: a shortest path to a state from which an action has an error, if there is one.
      Exploration stops at the end of the level in which one is found.
    * ``fair``: whether there is a fair execution; ``None`` where that was not determined: it is
      when there is a ``LIVENESS`` property and the exploration is exhaustive.
    * ``undecided``: the ``LIVENESS`` properties that could not be decided, each with the reason in
      words, although the exploration is exhaustive.
    * ``unmet``: the ``LIVENESS`` properties that hold because no fair execution satisfies their
      premise.
    * ``edges``, ``bytes_per_edge``: of the graph kept for liveness, 0 where an engine needed none.
      An edge is a step to another state: each way in which an instance of an action leads there.
    * ``liveness_seconds``: time for liveness, after the exploration.
    * ``reached_marks``: indices into ``TransitionSystem.marks``.
    * ``premises``: the properties whose premise held in some state.
    * ``ends``: number of admissible ends; only counted when there is a ``LIVENESS`` property.
    * ``beyond``: number of states beyond a bound of the check, where the engine counts them.
    * ``stopped``: why the exploration is not exhaustive (in words), or ``None``.
    * ``endless``: it was ended because a variable or the messages in flight outgrow every capacity.
    * ``reduced``: the reductions; the numbers refer to the explored part.
    * ``weights``: estimates of what multiplies the states most, if computed; ``varieties``: then
      the variables with several values, those with the most first.
    * ``step_counts``: the numbers of steps by what happens in them, if counted.
    * ``omission``: an upper bound on the probability that some state was omitted (``None``: none
      was).
    * ``remarks``: remarks on how it was explored.
    * ``up_to``: the largest length of the executions that an engine has checked, all of them: a
      property neither violated nor undecided holds in these; ``None`` for any other engine.
    * ``judged``: all states of the levels up to this one were found and checked (-1: of none).
    * ``restarts``: the explorations with smaller guesses before this one, in order.
    * ``unseen``: why events that were not seen might still be possible; empty: they are not, if
      ``exhaustive`` and ``reduced.shows_all``.
    * ``walks``: the random walks, if that is what they were; they can only find violations.
    * ``seconds``: of the search itself.
    * ``transitions``: successors generated, of levels that were expanded to their end.
    * ``bytes_per_state``: memory of states, visited set and what belongs to them, per state.
    """

    engine: str
    distinct_states: int
    depth: int
    exhaustive: bool
    seconds: float
    transitions: int = 0
    violations: dict[str, Path] = field(default_factory=dict)
    fault: Path | None = None
    reached_marks: frozenset[int] = frozenset()
    premises: frozenset[str] = frozenset()
    ends: int = 0
    beyond: int | None = None
    stopped: str | None = None
    endless: bool = False
    bytes_per_state: float = 0.0
    fair: bool | None = None
    undecided: dict[str, str] = field(default_factory=dict)
    unmet: frozenset[str] = frozenset()
    edges: int = 0
    bytes_per_edge: float = 0.0
    liveness_seconds: float = 0.0
    remarks: tuple[str, ...] = ()
    reduced: Reduced = Reduced()
    weights: tuple[Weight, ...] = ()
    varieties: tuple[Variety, ...] = ()
    step_counts: StepCounts | None = None
    omission: float | None = None
    up_to: int | None = None
    judged: int = -1
    restarts: tuple[Restart, ...] = ()
    unseen: str = ""
    walks: WalkSummary | None = None


def nothing_known(engine: str, seconds: float, error: KeyboardInterrupt) -> Answer:
    """Returns the answer of an engine that was ended before it had found anything."""
    return Answer(engine, 0, 0, False, seconds, stopped=stop_reason(error))


class Unsupported(Exception):
    """An engine can't take this system; the message says what and why, before any work starts."""
