"""Verdicts: every state and step, and then every question, by brute force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tests.world.pausing import BEGINNING
from tests.world.protocol import Question, Spec
from tests.world.running import Way, ways
from tests.world.steps import begin, steps
from tests.world.system import TOP, Model, State


class TooMany(Exception):
    """There are more states than anybody wants to see."""


@dataclass(frozen=True)
class Edge:
    """A step that was made; ``sent``: promises of ``fair_loss`` links that it gives rise to."""

    target: int
    kept: Hashable
    sent: frozenset[Hashable]
    finite: bool
    name: str = field(compare=False)


@dataclass
class Graph:
    """All states; of each its distance, its edges, and what is promised in it; which of them are
    ``beyond`` the bound, so that no step leads on from them and no fair run stays there."""

    model: Model
    states: list[State] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    edges: list[set[Edge]] = field(default_factory=list)
    weak: list[set[Hashable]] = field(default_factory=list)
    strong: list[set[Hashable]] = field(default_factory=list)
    came: list[tuple[int, str]] = field(default_factory=list)
    beyond: set[int] = field(default_factory=set)

    def breaks_a_promise(self, component: set[int]) -> bool:
        """Whether an oracle owes something in all of these states, even if nobody can take it."""
        unkept = (self.model.oracle.unkept(self.states[here]) for here in component)
        return bool(self.model.oracles) and bool(frozenset.intersection(*unkept))


def explore(spec: Spec, most: int = 3000) -> Graph:
    """Every state that can be reached, nearest first."""
    model = Model(spec)
    graph, known = Graph(model), dict[Hashable, int]()

    def found(state: State, depth: int, came: tuple[int, str]) -> int:
        key = frozenset(state.items())
        if key not in known:
            if len(known) >= most:
                raise TooMany
            known[key] = len(graph.states)
            graph.states.append(state)
            graph.depth.append(depth)
            graph.came.append(came)
        return known[key]

    for way in ways(model, {}, begin(model), BEGINNING):
        found(way.state, 0, (-1, "start"))
    here = 0
    while here < len(graph.states):
        edges, weak, strong = set[Edge](), set[Hashable](), set[Hashable]()
        if _is_beyond(model, graph.states[here]):
            graph.beyond.add(here)
        possible = steps(model, graph.states[here]) if here not in graph.beyond else ()
        alike = Counter[str]()
        for step in possible:
            which = None if step.whole else (step.name, alike[step.name])
            alike[step.name] += 1
            for way in ways(model, graph.states[here], step.does, which):
                target = found(way.state, graph.depth[here] + 1, (here, step.name))
                sent = frozenset(way.sent)
                edges.add(Edge(target, step.promise, sent, step.finite, step.name))
                if step.promise is not None:
                    (strong if step.strong else weak).add(step.promise)
        graph.edges.append(edges)
        graph.weak.append(weak)
        graph.strong.append(strong)
        here += 1
    return graph


def _is_beyond(model: Model, state: State) -> bool:
    limit = model.world.limit
    if limit is None:
        return False
    looks = (Look(model, state, names) for names in bindings(model, limit))
    return any(
        (limit.premise is None or limit.premise.value(look)) and not limit.conclusion.value(look)
        for look in looks
    )


# ---- what a property reads --------------------------------------------------------------------


@dataclass
class Look:
    """A state, seen by a formula whose parameters are ``names``."""

    model: Model
    state: State
    names: dict[str, Any]

    def of(self, p: str, variable: str) -> Any:
        return self.state[self.model.key(TOP, variable, p)]

    def history(self, word: str, p: str) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self.state.get((word, p), ())
        return found

    def crashed(self, p: str) -> bool:
        return p in self.state["down"]

    def told(self, p: str) -> Any:
        return self.state["told", p]

    def acts(self, word: str) -> tuple[Any, ...]:
        """What was performed; of effects an idempotent act that came again is none."""
        done = self.state["performed", ""]
        if word == "effects":
            done = [d for i, d in enumerate(done) if d[0] == "plain" or d not in done[:i]]
        return tuple(act for _, act in done)


# ---- verdicts ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """``length``: the steps of a shortest run to a bad state, where one state is enough."""

    violated: bool
    length: int | None = None
    witness: int | None = None


def judge(graph: Graph) -> dict[str, Verdict]:
    """The verdict of each question of the spec."""
    return {q.name: _verdict(graph, q) for q in graph.model.spec.questions}


def _verdict(graph: Graph, question: Question) -> Verdict:
    found: Verdict | None = None
    for names in bindings(graph.model, question):
        verdict = about(graph, question, names)
        shorter = found is None or (verdict.length or 0) < (found.length or 0)
        if verdict.violated and shorter:
            found = verdict
    return found or Verdict(False)


def bindings(model: Model, question: Question) -> Iterator[dict[str, Any]]:
    """All values of the parameters of ``question``."""
    parameters = (*question.processes, *question.payloads)
    everybody = {"Proc": model.processes, **model.roles}
    domains = [everybody[question.domain(p)] for p in question.processes]
    domains += [model.payloads] * len(question.payloads)
    for values in product(*domains):
        yield dict(zip(parameters, values, strict=True))


def about(graph: Graph, question: Question, names: dict[str, Any]) -> Verdict:
    """The verdict of ``question`` for these values of its parameters."""
    model, asked = graph.model, [names[p] for p in question.correct]

    def true(formula: Any, here: int) -> bool:
        return formula is None or bool(formula.value(Look(model, graph.states[here], names)))

    def in_question(here: int) -> bool:
        return true(question.premise, here) and not true(question.conclusion, here)

    everything = range(len(graph.states))
    if question.kind == "always":
        bad = [h for h in everything if in_question(h) and _can_be_correct(graph, h, asked)]
        if not bad:
            return Verdict(False)
        first = min(bad, key=lambda h: graph.depth[h])
        return Verdict(True, graph.depth[first], first)

    def to_the_end(here: int) -> bool:
        return _stays_correct(graph.states[here], asked)

    good = {h for h in everything if to_the_end(h)} - graph.beyond
    fails = {h for h in good if not true(question.conclusion, h)}
    if question.kind in ("leads", "comes"):
        begun = {h for h in everything if in_question(h)}
        if question.kind == "comes":
            begun = {h for h in begun if graph.depth[h] == 0}
        without = {h for h in everything if not true(question.conclusion, h)}
        meant = _reached(graph, begun, without) & good
        return Verdict(any(fair(graph, meant, lambda inside: True)))
    if question.kind == "recurs":
        return Verdict(any(fair(graph, fails, lambda inside: True)))
    if question.kind == "starts":
        begun = {h for h in everything if graph.depth[h] == 0 and true(question.premise, h)}
        good &= _reached(graph, begun, set(everything))
    else:
        assert question.kind == "stays"
    return Verdict(any(fair(graph, good, lambda inside: bool(inside & fails))))


def _can_be_correct(graph: Graph, here: int, asked: list[str]) -> bool:
    """Whether a run that has come here can be one in which all ``asked`` are correct."""
    state = graph.states[here]
    faulty = state["byzantine"] | state["omitted"] | state["doomed"]
    back = graph.model.world.recovering or graph.model.roles
    for p in state["down"]:
        if not graph.model.world.recover or graph.model.role[p] not in back:
            faulty |= {p}
    return not faulty & set(asked)


def _stays_correct(state: State, asked: list[str]) -> bool:
    """Whether all ``asked`` are correct in a run that repeats here."""
    return not (state["byzantine"] | state["omitted"] | state["down"]) & set(asked)


def _reached(graph: Graph, begun: set[int], inside: set[int]) -> set[int]:
    """What can be reached from ``begun`` without leaving ``inside``."""
    found, left = set(begun), list(begun)
    while left:
        for edge in graph.edges[left.pop()]:
            if edge.target in inside and edge.target not in found:
                found.add(edge.target)
                left.append(edge.target)
    return found


# ---- fair runs --------------------------------------------------------------------------------


def fair(
    graph: Graph, states: set[int], wanted: Callable[[set[int]], bool]
) -> Iterator[frozenset[int]]:
    """Sets of ``states`` in which a fair run can repeat forever (or stay: then nothing that is
    promised is left to do, or only what leaves everything as it is), if they are ``wanted``."""

    def edges(inside: set[int], banned: frozenset[Hashable]) -> Callable[[int], list[Edge]]:
        def leaving(here: int) -> list[Edge]:
            return [
                e
                for e in graph.edges[here]
                if e.target in inside and not e.finite and not e.sent & banned
            ]

        return leaving

    def search(inside: set[int], banned: frozenset[Hashable]) -> Iterator[frozenset[int]]:
        leaving = edges(inside, banned)
        for component in components(inside, leaving):
            within = [e for h in component for e in leaving(h) if e.target in component]
            kept = {e.kept for e in within}
            put_off = set.intersection(*(graph.weak[h] for h in component)) - kept
            if put_off or graph.breaks_a_promise(component):
                continue
            asked = set.union(*(graph.strong[h] for h in component))
            asked |= {promise for e in within for promise in e.sent}
            missing = asked - kept
            if not missing:
                if wanted(component):
                    yield frozenset(component)
                continue
            smaller = {h for h in component if not graph.strong[h] & missing}
            if smaller:
                yield from search(smaller, banned | missing)

    yield from search(set(states), frozenset())


def components(inside: set[int], leaving: Callable[[int], list[Edge]]) -> list[set[int]]:
    """Strongly connected sets of states: each can be reached from each (and stays where it is)."""
    order, seen = list[int](), set[int]()
    into: dict[int, list[int]] = {h: [] for h in inside}
    for root in inside:
        stack = [(root, False)]
        while stack:
            here, is_done = stack.pop()
            if is_done:
                order.append(here)
            elif here not in seen:
                seen.add(here)
                stack.append((here, True))
                for edge in leaving(here):
                    into[edge.target].append(here)
                    stack.append((edge.target, False))
    found, placed = [], set[int]()
    for root in reversed(order):
        if root in placed:
            continue
        component, left = {root}, [root]
        placed.add(root)
        while left:
            for other in into[left.pop()]:
                if other not in placed:
                    placed.add(other)
                    component.add(other)
                    left.append(other)
        found.append(component)
    return found


def path(graph: Graph, here: int) -> list[str]:
    """The steps of a shortest run to a state, in words."""
    told: list[str] = []
    while here >= 0:
        here, name = graph.came[here]
        told.append(name)
    return told[::-1]


__all__ = ["Graph", "TooMany", "Verdict", "Way", "explore", "judge", "path"]
