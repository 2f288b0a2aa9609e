"""The report on the valence of a check: initial states, levels, critical states, and runs.

Fischer, Lynch and Paterson, Impossibility of Distributed Consensus with One Faulty Process, J. ACM
32 (1985): lemma 2 (adjacent initial states), lemma 3 (critical states).  Völzer, A constructive
proof for FLP, Information Processing Letters 92 (2004): what can be decided without a process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from checker.engines import budgets
from checker.engines.valence import ValenceUnknown
from checker.instantiate.protocol.inputs import INPUT
from checker.model import interpreter
from checker.model.interpreter import State
from checker.model.types import MapT, universe
from checker.records import replace
from checker.results.answer import Path, stop_reason
from checker.results.narrate import narrate, narrate_step
from checker.results.replay import replay
from checker.results.rerun import Moment, run_from_start
from checker.results.show_values import show
from checker.results.trace import StillOpen, Trace
from checker.results.valence import (
    Adjacent,
    Blocking,
    Branch,
    Critical,
    Level,
    Loop,
    Nearest,
    Start,
    UndecidedRun,
    Valence,
    Without,
)
from checker.session.world_line import world_line
from checker.valence.compute import Computed
from checker.valence.corners import corners_of
from checker.valence.question import PROPERTY
from checker.words.steps import headline

SHOWN = 3
"""The largest number of critical states that are shown."""
LIKE = 4
"""They are chosen from so many times as many: some are reached, and left, in the same words."""


def analyse(computed: Computed) -> Valence:
    """Returns the report on the valence of a check; where a budget ends it, that it is unknown."""
    question, answer = computed.question, computed.graph.answer
    header = computed.header
    report = Valence(
        file=question.path,
        check=question.check.name,
        parameters=dict(header.parameters),
        engine=answer.engine,
        outcome=question.outcome,
        values=computed.decisions.names,
        processes=computed.made.system.processes,
        states=answer.distinct_states,
        depth=answer.depth,
        stopped=computed.stopped,
        seconds=answer.seconds,
        notes=tuple(_notes(computed)),
        world=world_line(question.check, computed.made.sizes),
    )
    if computed.stopped is not None:
        return report
    try:
        with budgets.raising_when_exhausted(late=True):
            return _known(computed, report)
    except KeyboardInterrupt as error:
        return replace(report, stopped=stop_reason(error))
    except ValenceUnknown as why:
        return replace(report, stopped=str(why))


def _notes(computed: Computed) -> Iterator[str]:
    """Yields what limits the report."""
    system = computed.made.system
    for prop in system.properties:
        if prop.is_bound:
            yield f"only runs within {prop.definition} are considered"
    if system.view is not None:
        yield "all states are explored, ignoring the `view` of the check"


def _known(computed: Computed, report: Valence) -> Valence:
    graph = computed.graph
    starts = tuple(_starts(computed))
    count, critical = graph.critical(SHOWN * LIKE)
    report = replace(
        report,
        edges=graph.edges,
        starts=starts,
        adjacent=tuple(_adjacent(starts)),
        levels=tuple(_levels(computed)),
        critical_states=count,
        critical=tuple(_different(_critical(computed, path) for path in critical)),
        blocking=tuple(_blocking(computed)),
        non_uniform=sum(
            n for word, n in _words(computed).items() if _is_non_uniform(computed, word)
        ),
        undecided=_undecided(computed),
        disagreement=_disagreement(computed),
        nearest=tuple(_nearest(computed)),
        graph_seconds=graph.seconds[0],
        word_seconds=graph.seconds[1],
        bytes_per_state=graph.bytes_per_state,
    )
    return replace(report, corners=corners_of(computed, report))


# ---- initial states ---------------------------------------------------------------------------


def _starts(computed: Computed) -> Iterator[Start]:
    """Yields the initial states, those of the same inputs and valence together."""
    layout, processes = computed.layout, computed.made.system.processes
    found: Counter[tuple[tuple[tuple[str, str], ...], int]] = Counter()
    for state in interpreter.initial_states(computed.made.system):
        found[_inputs(computed, state), computed.word(state)] += 1
    for (inputs, word), count in found.items():
        without = tuple(
            Without(process, computed.shown(layout.without(word, i)))
            for i, process in enumerate(processes)
        )
        yield Start(inputs, computed.shown(layout.open(word)), without, count)


def _inputs(computed: Computed, state: State) -> tuple[tuple[str, str], ...]:
    """Returns the inputs that were chosen for an initial state, by process."""
    system, found = computed.made.system, list[tuple[str, str]]()
    asked = {c.process for c in computed.question.check.clients if c.is_choice}
    for variable, value in zip(system.variables, state, strict=True):
        if not variable.name.startswith(f"{INPUT}.") or not isinstance(variable.type, MapT):
            continue
        assert isinstance(value, tuple)
        for key, given in zip(universe(variable.type.key), value, strict=True):
            process = show(variable.type.key, key)
            if "all" in asked or process in asked:
                found.append((process, show(variable.type.value, given)))
    return tuple(found)


def _adjacent(starts: Sequence[Start]) -> Iterator[Adjacent]:
    """Yields the pairs of inputs that differ in one process and are univalent for different
    values."""
    for (i, one), (j, other) in combinations(enumerate(starts), 2):
        changed = [p for (p, a), (_, b) in zip(one.inputs, other.inputs, strict=True) if a != b]
        if len(changed) != 1 or len(one.open) != 1 or len(other.open) != 1:
            continue
        if one.open != other.open:
            (process,) = changed
            alone = next(w.open for w in one.without if w.process == process)
            yield Adjacent(process, i, j, alone)


# ---- levels -----------------------------------------------------------------------------------


def _words(computed: Computed) -> Counter[int]:
    """Returns how many states have each word."""
    total: Counter[int] = Counter()
    for level in computed.graph.levels:
        total.update(level)
    return total


def _levels(computed: Computed) -> Iterator[Level]:
    layout, values = computed.layout, range(len(computed.decisions.names))
    for depth, level in enumerate(computed.graph.levels):
        silent = bivalent = split = 0
        one = [0 for _ in values]
        for word, count in level.items():
            found, decided = layout.open(word), layout.decided(word)
            if decided & (decided - 1):
                split += count
            elif layout.is_bivalent(word):
                bivalent += count
            elif found:
                one[found.bit_length() - 1] += count
            else:
                silent += count
        yield Level(depth, silent, tuple(one), bivalent, split)


def _blocking(computed: Computed) -> Iterator[Blocking]:
    layout, every = computed.layout, _words(computed)
    for i, process in enumerate(computed.made.system.processes):

        def blocks(word: int, i: int = i) -> bool:
            return bool(layout.open(word)) and not layout.without(word, i)

        states = sum(count for word, count in every.items() if blocks(word))
        if states:
            first = sum(c for word, c in computed.graph.levels[0].items() if blocks(word))
            yield Blocking(process, states, first)


def _is_non_uniform(computed: Computed, word: int) -> bool:
    """Returns whether for each of several values there is a process without which that can still be
    decided."""
    layout, found = computed.layout, 0
    for process in range(layout.processes):
        found |= layout.without(word, process)
    return bool(found & (found - 1)) and not layout.decided(word)


# ---- runs -------------------------------------------------------------------------------------


def _trace(computed: Computed, path: Path) -> Trace:
    """Returns a finite execution as a trace that says what is open after each step."""
    system = computed.made.system
    trace = narrate(system, run_from_start(system, path.states), None, computed.header)
    return _with_strip(computed, trace, path)


def _with_strip(computed: Computed, trace: Trace, path: Path) -> Trace:
    return replace(
        trace, still_open=tuple(StillOpen(computed.open(state)) for state in path.states)
    )


def _critical(computed: Computed, path: Path) -> Critical:
    """Returns a critical state with the steps that decide, each kind of step once."""
    system, state = computed.made.system, path.states[-1]
    branches: dict[Branch, None] = {}
    for transition in interpreter.successors(system, state):
        if transition.successor is None or transition.successor == state:
            continue
        moment = Moment(transition.successor, transition, transition.events)
        step = narrate_step(system, len(path.states), state, moment)
        actor = transition.action.actor
        process = "" if actor is None else step.process
        branches[Branch(headline(step), process, computed.open(transition.successor))] = None
    holder = _holder([*branches])
    without: tuple[str, ...] = ()
    if holder:
        number = system.processes.index(holder)
        without = computed.shown(computed.layout.without(computed.word(state), number))
    return Critical(_trace(computed, path), tuple(branches), holder, without)


def _different(found: Iterable[Critical]) -> list[Critical]:
    """Returns the first of ``found`` that differ in the words of their runs or steps."""
    told = dict[tuple[object, ...], Critical]()
    for each in found:
        words = (*map(headline, each.trace.steps), *each.branches)
        told.setdefault(words, each)
        if len(told) == SHOWN:
            break
    return [*told.values()]


def _holder(branches: Sequence[Branch]) -> str:
    """Returns the process whose steps lead to different values: empty where it is not one alone."""
    deciding = {b.process for b in branches if b.open}
    return deciding.pop() if len(deciding) == 1 else ""


def _undecided(computed: Computed) -> UndecidedRun | None:
    """Returns an admissible run that never decides: bivalent forever, if there is one."""
    kind: Loop
    kind, path = "bivalent", computed.graph.undecided_run(bivalent=True)
    if path is None:
        kind, path = "undecided", computed.graph.undecided_run(bivalent=False)
    if path is None:
        return None
    system = computed.made.system
    prop = next(p for p in system.properties if p.asked == PROPERTY)
    trace = _with_strip(computed, replay(system, path, prop, computed.header), path)
    return UndecidedRun(kind, trace, _schedule(trace))


def _schedule(trace: Trace) -> tuple[str, ...]:
    """Returns the steps of the loop in words; none where the run stays where it is."""
    if trace.closing is None or trace.loop is None:
        return ()
    return tuple(map(headline, (*trace.steps[trace.loop + 1 :], trace.closing)))


def _disagreement(computed: Computed) -> Trace | None:
    """Returns a shortest run in which several values are decided."""

    def split(word: int) -> bool:
        decided = computed.layout.decided(word)
        return bool(decided & (decided - 1))

    path = computed.graph.nearest(split)
    return None if path is None else _trace(computed, path)


def _nearest(computed: Computed) -> Iterator[Nearest]:
    """Yields a shortest run to a bivalent state, to one for each value, and to a silent one."""
    layout = computed.layout

    def is_one(word: int) -> bool:
        decided = layout.decided(word)
        return not decided & (decided - 1)

    path = computed.graph.nearest(lambda word: is_one(word) and layout.is_bivalent(word))
    if path is not None:
        yield Nearest(computed.open(path.states[-1]), _trace(computed, path))
    for bits in (*(1 << i for i in range(layout.values)), 0):
        path = computed.graph.nearest(lambda word, bits=bits: layout.open(word) == bits)  # type: ignore[misc]
        if path is not None:
            yield Nearest(computed.shown(bits), _trace(computed, path))
