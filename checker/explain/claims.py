"""The parts of a property with an execution's values substituted, and what it requires
eventually."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.explain.realisation import Voice
from checker.model.build import author_of
from checker.model.ir import (
    TRUE,
    Index,
    Local,
    Property,
    PropertyKind,
    Read,
    TransitionSystem,
    VariableKind,
)
from checker.model.reading import Atom, Join, Node, Phrase, Range, Timed
from checker.model.tree import nodes
from checker.records import replace
from checker.results.rerun import Run
from checker.results.trace import Claim, Obligation, Trace
from checker.results.truth import (
    Fact,
    LassoWord,
    Names,
    facts,
    observed_states,
    whole_word,
    word_of,
)

LOCAL, GHOST = VariableKind.LOCAL, VariableKind.GHOST

MOST_OBLIGATIONS = 12
MOST_ASSIGNMENTS = 300
"""At most so many assignments of a property's parameters are checked for obligations."""


def claims(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> tuple[Claim, ...]:
    """Returns the atoms of ``prop`` for the violated values, with their truth in each state of
    ``run``.

    Empty where the reading of ``prop`` does not give the violating values.
    """
    found = facts(system, prop, run)
    if not found:
        return ()
    voice, whole = Voice(word_of(system, prop, run), trace), whole_word(system, run)
    said: dict[tuple[str, str], Claim] = {}
    for fact in found:
        if fact.atom.expr == TRUE or fact.atom.kind == "values":
            continue
        text, formula = _affirmative_clause(voice, fact), _formula(voice, fact)
        row = tuple(row_of(whole, fact))
        said.setdefault((text, formula), Claim(text, formula, row, fact.role))
    return tuple(said.values())


def row_of(whole: LassoWord, fact: Fact) -> list[bool]:
    """Returns the truth in each state of what ``fact`` is about; of any process, where it is of
    none."""
    if fact.range is not None:
        one_of_several = isinstance(fact.range.body, Join) and fact.range.body.op == "or"
        about = replace(fact.range, body=fact.atom) if one_of_several else fact.range
        return whole.truth(about, fact.names)
    return whole.atom(fact.atom, fact.names)


def _affirmative_clause(voice: Voice, fact: Fact) -> str:
    """Returns the atom of ``fact`` as an affirmative clause."""
    some = replace(voice, determiner="some")
    return _joined(some.fill(fact.atom.subject, fact), fact.atom.yes, some.objects(fact))


def _joined(*parts: str) -> str:
    return " ".join(part.strip() for part in parts if part)


def _formula(voice: Voice, fact: Fact) -> str:
    return fill_in(voice, fact.atom.formula, fact)


def fill_in(voice: Voice, phrase: Phrase, fact: Fact) -> str:
    """Returns ``phrase`` as the spec has it; a name without a value stays a name."""
    return "".join(
        author_of(piece.name)
        if isinstance(piece, Local) and piece.name in fact.unknown
        else voice.fill((piece,), fact)
        for piece in phrase
    )


# ---- state of processes ------------------------------------------------------------------------


def entries(system: TransitionSystem, voice: Voice, fact: Fact) -> Iterator[tuple[str, str]]:
    """Yields the variables of processes that ``fact`` reads: the process, and the name."""
    variables = {v.name: v for v in system.variables if v.kind in (LOCAL, GHOST)}
    for node in nodes(fact.atom.expr):
        match node:
            case Index(base=Read(variable=name)) if name in variables:
                title = variables[name].title or name
                yield voice.fill((node.key,), fact), title.removeprefix("ghost ")


def read_when_down(system: TransitionSystem, prop: Property, run: Run, trace: Trace) -> str:
    """Returns a hint on the state of crashed processes that the violated parts of ``prop`` read at
    the end of ``trace``; empty where they read none, or also ask whether the process is down."""
    down = {fate.process for fate in trace.fates if fate.crashed}
    found = facts(system, prop, run) if down else ()
    if not found:
        return ""
    voice = Voice(word_of(system, prop, run), trace)
    for fact in found:
        if fact.atom.kind == "standing" and fact.atom.op == "crashed":
            down.discard(voice.fill(fact.atom.subject, fact))
    every = (entry for fact in found for entry in entries(system, voice, fact))
    read = dict.fromkeys((who, name) for who, name in every if who in down)
    if not read:
        return ""
    who = list(dict.fromkeys(process for process, _ in read))
    names = listing(f"`{process}.{name}`" for process, name in read)
    one = len(who) == 1
    wanted = "not crashed(p)" if trace.loop is None else "correct(p)"
    return (
        f"{listing(who)} {'is' if one else 'are'} down: {names} as when {'it' if one else 'they'}"
        f" stopped; if that is not intended, check `{wanted} => …`."
    )


# ---- obligations ------------------------------------------------------------------------------


class _Demand(Struct, frozen=True):
    """``premise ~> goal`` (``None``: from the start) for one assignment of the surrounding
    quantifiers."""

    premise: Node | None
    goal: Node
    names: Names


def obligations(
    system: TransitionSystem, prop: Property, run: Run, trace: Trace
) -> tuple[Obligation, ...]:
    """Returns what ``prop`` requires eventually in ``run``: the step that opened it, the one that
    met it.

    That of the violation comes first, then others that the execution opened: unmet ones, met ones.
    ``impossible`` is left open.  Empty for properties of single states.
    """
    return tuple(one for one, _, _ in obligations_of(system, prop, run, trace))


def obligations_of(
    system: TransitionSystem, prop: Property, run: Run, trace: Trace
) -> tuple[tuple[Obligation, Node, Names], ...]:
    """Returns the obligations, each with what would meet it, and the values of the names in
    that."""
    if prop.reading is None or prop.kind is not PropertyKind.LIVENESS or run.loop is None:
        return ()
    word, numbers = word_of(system, prop, run), observed_states(system, prop.reading, run)
    voice, whole = Voice(word, trace), whole_word(system, run)
    violated = [f.names for f in facts(system, prop, run) if not f.true or f.mode != "now"]
    found: dict[str, tuple[int, Obligation, _Demand]] = {}
    demands = islice(_demands(word, prop.reading.root, {}), MOST_ASSIGNMENTS)
    for demand in demands:
        opened = _open_and_met(word, demand)
        if opened is None:
            continue
        start, met = opened
        text = goal_text(voice, demand.goal, demand.names, start)
        here = any(demand.names.items() <= names.items() for names in violated)
        rank = 0 if here and met is None else 1 if met is None else 2
        first = _since(whole, demand.premise, demand.names, numbers, start)
        done = None if met is None else _since(whole, demand.goal, demand.names, numbers, met)
        one = Obligation(text, first, None if done is None else max(done, first))
        known = found.get(text)
        if known is None or (rank, one.opened) < (known[0], known[1].opened):
            found[text] = (rank, one, demand)
    ordered = sorted(found.values(), key=lambda each: (each[0], each[1].opened))
    return tuple((one, d.goal, d.names) for _, one, d in ordered[:MOST_OBLIGATIONS])


def _demands(word: LassoWord, node: Node, names: Names) -> Iterator[_Demand]:
    match node:
        case Range("forall", body=body):
            for value in word.values(node, names):
                if any(word.inside(node, value, names)):
                    yield from _demands(word, body, {**names, node.name: value})
        case Join("and", parts):
            for part in parts:
                yield from _demands(word, part, names)
        case Timed("~>", (premise, goal)):
            yield _Demand(premise, goal, names)
        case Timed("eventually", (goal,)):
            yield _Demand(None, goal, names)
        case Timed("always", (Timed("eventually", (goal,)),)):
            yield _Demand(None, goal, names)
        case Timed("always", (Join("=>", (premise, Timed("eventually", (goal,)))),)):
            yield _Demand(premise, goal, names)
        case Join("=>", (given, rest)):
            if word.truth(given, names)[0]:
                yield from _demands(word, rest, names)
        case _:
            return


def _open_and_met(word: LassoWord, demand: _Demand) -> tuple[int, int | None] | None:
    """Returns where ``demand`` was opened, and where it was met; for the occurrence that is never
    met, if there is one."""
    length = len(word.states)
    required = [True] * length
    if demand.premise is not None:
        required = word.truth(demand.premise, demand.names)
    goal = word.truth(demand.goal, demand.names)
    ahead = word.ahead(goal, any)
    opened = [at for at in range(length) if required[at]]
    if not opened:
        return None
    unmet = [at for at in opened if not ahead[at]]
    start = unmet[0] if unmet else opened[0]
    return start, next((at for at in range(start, length) if goal[at]), None)


def _since(whole: LassoWord, node: Node | None, names: Names, numbers: list[int], at: int) -> int:
    """Returns the step since which ``node`` is true at position ``at``: the property does not
    observe each state, and those after the previously observed one count, too."""
    row = [True] * len(whole.states) if node is None else whole.truth(node, names)
    before = numbers[at - 1] if at else -1
    number = numbers[at]
    while number - 1 > before and row[number - 1]:
        number -= 1
    return number


def goal_text(voice: Voice, node: Node, names: Names, at: int) -> str:
    """Returns what would meet the obligation, in words: ``p2 delivers a from p1``."""
    match node:
        case Atom():
            fact = Fact(node, names, True, "now", at)
            objects = voice.fill(node.objects, fact, brief=True)
            return _joined(voice.fill(node.subject, fact), node.from_now_on(""), objects)
        case Join("not", (Atom() as atom,)):
            fact = Fact(atom, names, False, "now", at)
            subject, objects = (voice.fill(part, fact) for part in (atom.subject, atom.objects))
            return _joined(subject, atom.no, objects)
        case Join("and" | "or" as op, parts):
            return f" {op} ".join(goal_text(voice, part, names, at) for part in parts)
        case Timed("always", (part,)):
            return f"from some time on {goal_text(voice, part, names, at)}"
        case Range("exists"):
            return _somebody(voice, node, names, at)
        case Range():
            return fill_in(voice, node.formula, Fact(_any_atom(node), names, True, "now", at))
        case _:
            return " and ".join(goal_text(voice, part, names, at) for part in node.parts)


def _somebody(voice: Voice, node: Range, names: Names, at: int) -> str:
    unknown = {node.name: node.noun}
    told = node.among if node.among is not None else node.body
    if isinstance(told, Atom):
        fact = Fact(told, names, True, "now", at, "", unknown)
        some = replace(voice, determiner="some")
        subject, objects = some.fill(told.subject, fact), some.objects(fact, brief=True)
        return _joined(subject, told.from_now_on(""), objects)
    return fill_in(voice, node.formula, Fact(_any_atom(node), names, True, "now", at))


def _any_atom(node: Node) -> Atom:
    """Returns some atom below ``node``, of which only the names are used."""
    match node:
        case Atom():
            return node
        case Range(body=body):
            return _any_atom(body)
        case Join(_, parts) | Timed(_, parts):
            return _any_atom(parts[0])
