"""Caveats that a report states beside its verdicts: limits of the model that was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from checker.diagnostics.english import count, listing
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import evaluate_size
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.variable_names import IMMUNE, TIMER
from checker.language.link_kinds import Delivery
from checker.language.syntax import typed
from checker.language.syntax.stack import layers_of, stands_for
from checker.model.ir import Const, TransitionSystem, Variable, VariableKind
from checker.model.large_sets import is_finite_set
from checker.model.names import reads_in
from checker.model.tree import nodes as below
from checker.model.types import BagT, IntT, MapT, OptionT, SeqT, TupleT, Type, Value
from checker.results.answer import Answer, State
from checker.results.problems import Problem, problem_of
from checker.results.trace import ERRORS
from checker.results.verdict import NOT_SEEN, UNFALSIFIABLE, NotAsked, PropertyVerdict, Word
from checker.session.idle_faults import idle_faults

if TYPE_CHECKING:
    from checker.results.unseparated import Comparison

PILE = 16
"""From this many copies of one message in flight on, they are held to be unbounded."""

_DECLARED = (VariableKind.LOCAL, VariableKind.SHARED, VariableKind.GHOST)
"""Variables that handlers may read, and bound by what they read."""


def notes(check: typed.Check, made: Instantiated, fine: bool) -> tuple[str, ...]:
    """Returns what a reader must know to interpret the verdicts correctly; ``fine``: effects are
    steps."""
    return (
        *variants_of(check),
        *warning_notes(check),
        *_of_protocol(check, made),
        *_of_bounds(check, made),
        *_of_crashes(check, made, fine),
        *_of_roles(check),
        *(f"explored only with: {_budget(budget, made)}" for budget in check.budgets),
        *_of_world(check, made),
    )


def variants_of(check: typed.Check) -> tuple[str, ...]:
    """Returns how the protocols of ``check`` differ from those that they are variants of."""
    found = []
    protocols = (stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given))
    if all(p is None or p.variant is None for p in (check.protocol, *protocols)):
        return ()
    from checker.language.typecheck.variants import describe

    if check.protocol.variant is not None:
        found.append(describe(check.protocol.variant))
    for layer in layers_of(check.protocol, check.given):
        below = stands_for(layer, check.given)
        if below is not None and below.variant is not None:
            found.append(f"`{below.name}` is a {describe(below.variant)}")
    return tuple(dict.fromkeys(found))


def of_unseen(check: typed.Check, made: Instantiated, answer: Answer) -> tuple[str, ...]:
    """Returns what was not seen to happen where `allow unused` lets the check hold all the same,
    and reductions may have hidden it."""
    from checker.results.vacuity import never_happened

    if not check.allow_unused or not answer.exhaustive or answer.reduced.shows_all:
        return ()
    missing = never_happened(made.system, answer)
    return (f"{NOT_SEEN} (`--reduce none` decides): {'; '.join(missing)}",) if missing else ()


def of_unfalsifiable(
    made: Instantiated, answer: Answer, verdicts: Iterable[PropertyVerdict]
) -> Iterator[str]:
    """Yields which of the properties that hold no run could violate, and why."""
    from checker.results.unfalsifiable import unfalsifiable

    for verdict in verdicts:
        if verdict.word in (Word.HOLDS, Word.PROVED) and verdict.property != ERRORS:
            parts = made.system.parts_of(verdict.property)
            found = [unfalsifiable(made.system, answer, part) for part in parts]
            if found and all(found):
                yield f"{UNFALSIFIABLE}{verdict.property}: {found[0]}"


def of_view(made: Instantiated, answer: Answer) -> Iterator[str]:
    """Yields what a view of the check leaves open, where the engine has observed it."""
    from checker.results.unseparated import difference_text

    view = made.system.view
    if view is None or answer.up_to is not None or answer.walks is not None:
        return
    compared = _compared(made.system) if answer.exhaustive else None
    if compared is not None and compared.all:
        yield (
            f"the view is sound here: among all {compared.states} states, those with equal views"
            " behave alike"
        )
    if compared is not None and compared.found is not None:
        found = difference_text(made.system, compared.found)
        yield f"warning C052: line {view.place.line}: {found}"


def _compared(system: TransitionSystem) -> Comparison | None:
    """Returns what a comparison of states that are taken for one has shown, where there was
    time."""
    from checker.results.unseparated import compare

    try:
        return compare(system)
    except KeyboardInterrupt:
        return None


def uncounted_steps(check: typed.Check, fine: bool) -> tuple[str, ...]:
    """Returns what a number of steps does not count, stated beside what holds up to such a
    number."""
    if check.crash is None or fine:
        return ()
    return (
        "a crash inside a handler is merged with an indistinguishable one before or after it:"
        " the crash then takes a separate step",
    )


def not_promised(check: typed.Check, made: Instantiated) -> tuple[str, ...]:
    """Returns what liveness verdicts do not assume: what no fairness constraint covers, and the
    budgets of noise."""
    found = []
    kinds = {*check.links, *(kind for rule in check.link_rules for kind in rule.kinds)}
    unreliable = [kind for kind in kinds if kind.delivery is Delivery.NO_PROMISE]
    if unreliable:
        kind = min(unreliable, key=lambda kind: (not kind.loses, kind.name))
        may = "lose any message" if kind.loses else "keep any message forever"
        found.append(f"{kind.name} links may {may}: they promise {kind.delivery.value}")
    if check.crash is not None and check.recover:
        found.append(
            "no process is guaranteed to recover; a correct process is eventually up forever"
        )
    elif check.crash is not None:
        found.append(
            "no fairness is assumed for a process that crashes, or for messages from or to it"
        )
    if check.omission is not None:
        lock_step = check.timing is not None and check.timing.kind in ("synchronous", "partial")
        found.append(
            "for a process that omits messages, fairness is assumed only for its own steps"
            if lock_step
            else "no fairness is assumed for a process whose messages are lost"
        )
    if check.byzantine is not None:
        found.append("no fairness is assumed for a Byzantine process, or for its messages")
    found += [
        f"with {_budget(budget, made)}: after that, `{budget.handler}` is disabled"
        for budget in check.budgets
    ]
    if check.pausing:
        found.append("a paused process continues, with the same fairness as without pauses")
    if check.splits:
        found.append("a split network need not heal: no fairness is assumed for messages across it")
    if check.cuts:
        found.append(
            "a cut link need not heal: a message over it arrives if it is open again and again"
        )
    if check.crash is not None and any(kind.connects for kind in check.link_kinds):
        found.append("the notice that a connection to a crashed process is gone is received")
    fair = {clause.handler for clause in check.fair}
    optional = (h for p in _protocols(check) for h in _handlers(p) if not h.is_fair)
    free = [handler.label for handler in optional if handler.label not in fair]
    if free:
        shown = listing((f"`{label}`" for label in dict.fromkeys(free)), "or")
        found.append(f"no process ever has to take {shown}, which is written `may`")
    return (*found, *_noise(check, made))


def _handlers(protocol: typed.Protocol) -> Iterator[typed.Handler]:
    for role in protocol.roles:
        yield from role.handlers


def piles_up(system: TransitionSystem, answer: Answer) -> str:
    """Returns why no capacity would be large enough, where copies of one message accumulate on a
    link before the error of the execution; otherwise empty."""
    if answer.fault is None:
        return ""
    copies = _pile(system, answer.fault.states[-1])
    return _unbounded_copies(copies) if copies >= PILE else ""


def _pile(system: TransitionSystem, state: State) -> int:
    """Returns how many copies of one message are in flight in ``state``, at most."""
    pairs = zip(system.variables, state, strict=True)
    links = ((v, value) for v, value in pairs if v.kind is VariableKind.LINK)
    return max((_copies(v.type, value) for v, value in links), default=0)


def _unbounded_copies(copies: int) -> str:
    return (
        f"{copies} copies of one message are in flight, without a bound: it is sent again"
        " and again (`stubborn` links hold each message once; links that lose may be `bounded 1`)"
    )


def _copies(type_: Type, value: Value) -> int:
    """Returns the number of copies of the most frequent message in flight in ``value``."""
    match type_:
        case BagT() | SeqT():
            assert isinstance(value, tuple)
            return max(Counter(value).values(), default=0)
        case MapT(_, inner):
            assert isinstance(value, tuple)
            return max((_copies(inner, part) for part in value), default=0)
        case _:
            return 0


def why_unbounded(system: TransitionSystem, answer: Answer, capacity: str, size: int) -> str:
    """Returns why no size of ``capacity`` would be large enough, where the execution that outgrows
    ``size`` returns to an earlier state with more of it; otherwise empty.

    The same steps can be taken again: no step reads how many messages are in flight or how much has
    been noted.  A handler may read how large a variable has become, so larger sizes are tried
    first, and all of them where a step mentions a larger number, which may be its bound.  What a
    bound of the check reads does not grow without end.
    """
    if answer.fault is None:
        return ""
    states = answer.fault.states
    own = [v for v in system.variables if _room(v.type, capacity)]
    if any(is_finite_set(system, variable) for variable in own):
        return ""
    if not own or size < min(_patience(v) for v in own):
        return ""
    read = reads_in(tuple(p.bad for p in system.properties if p.is_bound))
    if any(variable.name in read for variable in own):
        return ""
    if all(v.kind in _DECLARED for v in own) and _largest_number(system) > size:
        return ""
    for later in range(1, len(states)):
        for earlier in range(later):
            if _dominates(system, states[earlier], states[later], capacity):
                copies = _pile(system, states[-1])
                if copies >= PILE // 4 and own[0].kind is VariableKind.LINK:
                    return _unbounded_copies(copies)
                return (
                    f"`{capacity}` grows without bound: after {count(later, 'step')} a run is in"
                    f" the same state as after {earlier}, but with more of it; give it a bound"
                )
    return ""


def _largest_number(system: TransitionSystem) -> int:
    """Returns the largest number that some step mentions; 0 where none does."""
    code = tuple((action.guard, action.params, action.body) for action in system.actions)
    numbers = (n.value for n in below(code) if isinstance(n, Const) and isinstance(n.type, IntT))
    return max((n for n in numbers if isinstance(n, int)), default=0)


def _patience(variable: Variable) -> int:
    """Returns the size of a capacity in ``variable`` from which on growth is held to be
    unbounded."""
    if variable.kind is VariableKind.LINK:
        return PILE
    return 4 * PILE if variable.kind is VariableKind.HISTORY else 16 * PILE - 1


def _dominates(system: TransitionSystem, one: State, other: State, capacity: str) -> bool:
    """Returns whether ``other`` is ``one`` with more of ``capacity``, and of what no step reads."""
    more = False
    for variable, before, after in zip(system.variables, one, other, strict=True):
        if before == after:
            continue
        unread = variable.kind in (VariableKind.LINK, VariableKind.HISTORY)
        if not _is_contained(variable.type, before, after, None if unread else capacity):
            return False
        more = more or _room(variable.type, capacity)
    return more


def _room(type_: Type, capacity: str) -> bool:
    """Returns whether ``capacity`` bounds some part of a value of ``type_``."""
    match type_:
        case IntT(grows=grows):
            return grows == capacity
        case SeqT(item, grows=grows) | BagT(item, grows=grows):
            return grows == capacity or _room(item, capacity)
        case MapT(_, inner) | OptionT(inner):
            return _room(inner, capacity)
        case TupleT(items):
            return any(_room(item, capacity) for item in items)
        case _:
            return False


def _is_contained(type_: Type, one: Value, other: Value, capacity: str | None) -> bool:
    """Returns whether ``one`` is ``other``, or less of ``capacity`` (``None``: of any that can
    grow)."""
    grows = getattr(type_, "grows", None)
    may_grow = grows is not None and capacity in (None, grows)
    match type_:
        case IntT() if may_grow:
            assert isinstance(one, int) and isinstance(other, int)
            return one <= other
        case SeqT() if may_grow:
            assert isinstance(one, tuple) and isinstance(other, tuple)
            return one == other[: len(one)]
        case BagT() if may_grow:
            assert isinstance(one, tuple) and isinstance(other, tuple)
            return Counter(one) <= Counter(other)
        case MapT(_, inner):
            assert isinstance(one, tuple) and isinstance(other, tuple)
            return all(map(partial(_is_contained, inner, capacity=capacity), one, other))
        case TupleT(items):
            assert isinstance(one, tuple) and isinstance(other, tuple)
            return all(map(partial(_is_contained, capacity=capacity), items, one, other))
        case _:
            return one == other


def why_nothing_explored(check: typed.Check) -> str:
    """Returns why the clients of ``check`` leave nothing to explore; empty where they do not."""
    interface = check.protocol.implements
    if interface is not None and interface.requests and not check.clients:
        return "the check has no `clients`, so nothing is ever requested"
    return ""


def warnings_of(check: typed.Check) -> tuple[Problem, ...]:
    """Returns the warnings of ``check``."""
    return tuple(problem_of(warning) for warning in check.warnings)


def not_asked(
    check: typed.Check, made: Instantiated, answer: Answer, verdicts: Iterable[PropertyVerdict]
) -> tuple[NotAsked, ...]:
    """Returns what the search has not met although the check allows it, and what no check of the
    file asks, where some verdict might be taken to be about it."""
    if not any(verdict.word in (Word.HOLDS, Word.PROVED) for verdict in verdicts):
        return ()
    unasked = (NotAsked(each.what, each.clause, each.excluded) for each in check.unasked)
    return (*idle_faults(check, made.system, answer), *unasked)


def warning_notes(check: typed.Check) -> Iterator[str]:
    """Yields the warnings of ``check`` as notes."""
    for warning in check.warnings:
        span = warning.span
        at = f"line {span.line}: " if span is not None and span.line else ""
        hint = f" ({warning.hint})" if warning.hint else ""
        yield f"warning {warning.code}: {at}{warning.message}{hint}"


def of_walks(check: typed.Check, answer: Answer) -> Iterator[str]:
    """Yields that random walks ignore probabilities."""
    if answer.walks is not None and check.chance:
        yield "random walks ignore the weights of coins: `bivalence check` computes probabilities"


def _of_protocol(check: typed.Check, made: Instantiated) -> Iterator[str]:
    requires = check.protocol.requires
    if requires is not None and not evaluate_size(requires, made.sizes.values):
        yield "outside the protocol's resilience: its `requires` does not hold here"
    if check.when is not None and not evaluate_size(check.when, made.sizes.values):
        yield "the check does not cover these sizes: its `when` does not hold here"
    if made.uses_shared:
        yield "processes read and write shared state, with no message between them"
    if made.at_once:
        names = ", ".join(made.at_once)
        yield f"received as soon as sent, since no property distinguishes it from later: {names}"
    if not check.chance and any(_is_draw(node) for p in _protocols(check) for node in nodes(p)):
        yield "coin flips are nondeterministic here: probabilities are not computed"


def _protocols(check: typed.Check) -> tuple[typed.Protocol, ...]:
    """Returns the protocol and the layers below it, each once."""
    below = (stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given))
    found = {p.name: p for p in (check.protocol, *below) if p is not None}
    return tuple(found.values())


def _is_draw(node: object) -> bool:
    """Returns whether ``node`` is a choice by chance."""
    return isinstance(node, typed.Choose) and node.weights is not None


def _of_bounds(check: typed.Check, made: Instantiated) -> Iterator[str]:
    """Yields the faults that the check declares, and that can't happen with these sizes."""
    bounds = {
        "crash": check.crash,
        "omission": check.omission,
        "byzantine": check.byzantine,
        "reset": check.resets,
    }
    for kind, bound in bounds.items():
        if bound is None or isinstance(bound, typed.Literal):
            continue
        if evaluate_size(bound, made.sizes.values) == 0:
            name = bound.name if isinstance(bound, typed.Param) else "…"
            yield f"`faults {kind} <= {name}` is 0 here: the check has no such fault"


def _of_crashes(check: typed.Check, made: Instantiated, fine: bool) -> Iterator[str]:
    if check.crash is None:
        return
    if fine:
        steps = "every effect and every copy of a multicast is a separate step"
        yield f"{steps}{_whole(check, made)}"
    elif check.crash_points == "between_handlers":
        yield "crashes inside handlers are switched off: violations may be missed"
    if check.recover:
        bound = evaluate_size(check.crash, made.sizes.values)
        often = f"at most {bound} crash{'es' * (bound != 1)} in all"
        others = (("power failures", check.power), ("lost disks", check.wipe))
        if told := [what for what, bound in others if bound is not None]:
            left = "what is left of its `stable` state"
            often += f", {listing(told, 'and')} included"
        else:
            left = "only its `stable` state"
        yield f"a crashed process may recover, with {left}; {often}"
        if any(
            state.stable for p in _protocols(check) for role in p.roles for state in role.states
        ):
            if check.power is None:
                yield (
                    "an assignment to `stable` state is on disk at once, and in order:"
                    " with `faults power <= 1` it may be lost"
                )
            else:
                yield (
                    "when the power of a process fails, any of its assignments to a variable since"
                    " the variable's last `sync` may be lost; the others are applied in order"
                )
                yield (
                    "an assignment, or an `atomic` block, reaches the disk as a whole or not at all"
                )
            if check.sync is not None:
                yield (
                    "a `sync` that fails is reported once: until the variable is assigned again,"
                    " the next one succeeds and does nothing"
                )
    if check.recovering:
        yield f"only processes of {_roles(check.recovering)} recover"


def budgets_of_handlers(check: typed.Check, made: Instantiated) -> str:
    """Returns how often handlers may run, in words: ``at most 2 elects``; empty without budgets."""
    return listing((_budget(budget, made) for budget in check.budgets), "and")


def _budget(budget: typed.HandlerBudget, made: Instantiated) -> str:
    number = evaluate_size(budget.bound, made.sizes.values)
    return f"at most {number} {budget.handler}{' per process' * budget.per_process}"


def _of_roles(check: typed.Check) -> Iterator[str]:
    """Yields which kinds of faults only some roles have."""
    for kind in dict.fromkeys(clause.kind for clause in check.role_faults if clause.alone):
        roles = [clause.role for clause in check.role_faults if clause.kind == kind]
        yield f"only processes of {_roles(roles)} have {kind} faults"


def _roles(names: Sequence[str]) -> str:
    return f"role{'s' * (len(names) > 1)} {listing((f'`{name}`' for name in names), 'and')}"


def _whole(check: typed.Check, made: Instantiated) -> str:
    """Returns which handlers stay one step where effects are steps."""
    bounds = (check.capacity, *(rule.capacity for rule in check.link_rules))
    kinds = {
        "assign shared state": made.uses_shared,
        "have an alternative with a budget": any(b.alternative for b in check.budgets),
        "call an oracle": any(layer.protocol is None for layer in check.given),
        "send over bounded links": any(bound is not None for bound in bounds),
        "have a `sync` that may fail": check.sync is not None,
    }
    found = [what for what, there in kinds.items() if there]
    return f", but for handlers that {' or '.join(found)}" if found else ""


def _of_world(check: typed.Check, made: Instantiated) -> Iterator[str]:
    if check.byzantine is not None:
        whose = (
            "its own name only"
            if any(kind.authenticates for kind in check.links)
            else "anybody's name"
        )
        yield (
            f"a Byzantine process sends any well-typed message, in {whose}; where messages carry"
            " payloads, one of them is `forged`, which no client sends"
        )
        if any(i.protocol is None for i in check.given):
            yield (
                "an oracle indicates, as from a Byzantine process, all that the properties of its"
                " interface allow"
            )
    if any(i.protocol is None for i in check.given) and _require_in_an_answer(check):
        yield (
            "an oracle says what it has to say: runs in which `require` keeps a handler from"
            " taking it are left out"
        )
    yield from _of_pauses(check, made)
    timing = check.timing
    if timing is not None and timing.kind in ("synchronous", "partial") and check.clients:
        when = "" if timing.kind == "synchronous" else ", once it is synchronous"
        yield f"in lock step{when}: clients make their requests before the round ends"
    if check.recover and any(i.protocol is None for i in check.given):
        yield (
            "an oracle treats every process that recovers as correct, although one"
            " that stays down would not constrain it"
        )
    if _spares_one(check, made):
        yield (
            "the detector's guarantee needs a process that is never faulty: runs in which"
            " every process becomes faulty are excluded"
        )
    yield from (f"explored only with: {limit}" for limit in _noise(check, made))


def _require_in_an_answer(check: typed.Check) -> bool:
    """Tells whether a handler of an indication has a `require`."""
    protocols = (check.protocol, *(i.protocol for i in check.given if i.protocol is not None))
    handlers = (n for n in nodes(protocols) if isinstance(n, typed.Handler))
    told = (h for h in handlers if isinstance(h.event, typed.OnIndication))
    return any(isinstance(n, typed.Require) for handler in told for n in nodes(handler.body))


def _of_pauses(check: typed.Check, made: Instantiated) -> Iterator[str]:
    """Yields notes on where no process pauses."""
    clocks = check.timing is not None and check.timing.kind == "clocks"
    if clocks and not check.pausing and any(TIMER in v.name for v in made.system.variables):
        yield "time waits for expired timers to be handled, unless `faults pause` is declared"
    if check.timing is not None and check.timing.until is not None and not check.pausing:
        yield "a handler takes no time, unless its process pauses inside it (`faults pause`)"
    kinds = {
        "use shared state": made.uses_shared,
        "have an alternative with a budget": any(b.alternative for b in check.budgets),
        "call an oracle": any(layer.protocol is None for layer in check.given),
        "make random choices": bool(check.chance),
    }
    whole = [what for what, there in kinds.items() if there]
    if check.pausing and whole:
        yield f"handlers that {' or '.join(whole)} have no pauses inside, except at a `yield`"


def _spares_one(check: typed.Check, made: Instantiated) -> bool:
    """Returns whether a failure detector exempts some process from a fault that the bounds
    allow."""
    bounds = (check.crash, check.omission, check.byzantine)
    faults = sum(evaluate_size(bound, made.sizes.values) for bound in bounds if bound is not None)
    if faults < len(made.sizes.processes):
        return False
    return any(variable.name == IMMUNE for variable in made.system.variables)


def _noise(check: typed.Check, made: Instantiated) -> tuple[str, ...]:
    """Returns the budgets of an environment that misbehaves for some time."""
    found = []
    timing, detector = check.timing, check.detector
    if timing is not None and timing.noise is not None:
        early = _times(timing.noise, made)
        found.append(f"a timeout comes too early {early}, before the system is synchronous")
    if timing is not None and timing.drift is not None:
        ticks = evaluate_size(timing.drift, made.sizes.values)
        found.append(f"no two clocks are more than {ticks} tick{'s' * (ticks != 1)} apart")
    if timing is not None and timing.until is not None:
        found.append(f"time ends when clocks show {evaluate_size(timing.until, made.sizes.values)}")
    if detector is not None and detector.noise is not None:
        wrong = "the detector is wrong, before it settles"
        if not detector.alone:
            found.append(f"{_times(detector.noise, made)} {wrong}")
        for noise in detector.of_roles:
            wrong = f"the detector is wrong about a {noise.role}, before it settles"
            found.append(f"{_times(noise.bound, made)} {wrong}")
        if detector.alone:
            found.append("the detector is never wrong about others")
    return tuple(found)


def _times(bound: typed.Expr, made: Instantiated) -> str:
    number = evaluate_size(bound, made.sizes.values)
    return f"at most {number} time{'s' * (number != 1)}"
