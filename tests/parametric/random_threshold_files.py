"""Random files of threshold automata, and a plain search of what they do at given sizes.

The search reads nothing of the tool: it knows the parts from which a file was written, and goes
through all numbers of processes in locations and all values of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random

LOCATIONS = ("a", "b", "c", "d")
VARIABLES = ("x", "y")
SIZES = [{"N": n, "T": t} for n in range(4) for t in range(2)]
ASSUMED = "N <= 3; T <= 1;"
MOST = 5
"""Values of variables that are told apart: no comparison has a larger bound."""

Numbers = dict[str, int]
State = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Compared:
    """A comparison, as text and as what it means."""

    text: str
    true: Callable[[Numbers], bool]


def comparison(random: Random, names: tuple[str, ...]) -> Compared:
    name = random.choice(names)
    bound = random.choice(["N", "T", "T + 1", "1", "2", "N - T"])
    value = {
        "N": lambda v: v["N"], "T": lambda v: v["T"], "T + 1": lambda v: v["T"] + 1,
        "1": lambda _: 1, "2": lambda _: 2, "N - T": lambda v: v["N"] - v["T"],
    }[bound]  # fmt: skip
    means = {
        ">=": lambda a, b: a >= b, "<": lambda a, b: a < b, "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b, ">": lambda a, b: a > b,
    }  # fmt: skip
    sign = random.choice([">=", ">=", "<", "<", "==", "!=", ">"])
    mean = means[sign]
    return Compared(f"{name} {sign} {bound}", lambda v: mean(v[name], value(v)))


def formula(random: Random, names: tuple[str, ...]) -> Compared:
    """One comparison, or two that are joined."""
    one = comparison(random, names)
    shape = random.randrange(6)
    if shape >= 3:
        return one
    other = comparison(random, names)
    if shape == 0:
        return Compared(f"({one.text}) || {other.text}", lambda v: one.true(v) or other.true(v))
    if shape == 1:
        return Compared(
            f"!({one.text} && {other.text})", lambda v: not (one.true(v) and other.true(v))
        )
    return Compared(f"{one.text} && {other.text}", lambda v: one.true(v) and other.true(v))


@dataclass(frozen=True)
class Step:
    source: int
    target: int
    guard: Compared
    more: tuple[int, ...]
    resets: tuple[bool, ...] = (False,) * len(VARIABLES)


@dataclass
class File:
    """A random automaton; ``begin``: the locations in which all processes may begin; ``resets``:
    rules may reset variables."""

    seed: int
    resets: bool = False
    begin: list[int] = field(init=False)
    steps: list[Step] = field(init=False)
    specifications: dict[str, tuple[str, Callable[[Graph], bool]]] = field(init=False)

    def __post_init__(self) -> None:
        random = Random(self.seed)
        self.begin = sorted(random.sample(range(3), random.choice([1, 2, 2])))
        cyclic = self.resets or random.randrange(3) == 0
        self.steps = [self._step(random, cyclic) for _ in range(random.randrange(2, 8))]
        self.specifications = {
            f"s{at}": self._specification(random, shape)
            for at, shape in enumerate(random.sample(range(9), 4))
        }

    def _step(self, random: Random, cyclic: bool) -> Step:
        source, target = random.randrange(4), random.randrange(4)
        if target < source and not cyclic:
            source, target = target, source
        more = tuple(random.choice([0, 0, 1, 1, 2]) for _ in VARIABLES)
        guard = Compared("true", lambda _: True)
        if random.randrange(4):
            guard = formula(random, VARIABLES)
        if cyclic and target < source and random.randrange(3):
            more = (0, 0)
        resets = tuple(self.resets and not random.randrange(4) for _ in VARIABLES)
        return Step(source, target, guard, more, resets)

    def _specification(self, random: Random, shape: int) -> tuple[str, Callable[[Graph], bool]]:
        """A specification, and whether a graph violates it."""
        counted = (*LOCATIONS, *LOCATIONS, *VARIABLES)
        good, other = formula(random, counted), formula(random, counted)

        def bad(state: Numbers) -> bool:
            return not good.true(state)

        def begins(graph: Graph) -> bool:
            starts = [at for at in graph.starts if other.true(graph.numbers(at))]
            return any(bad(graph.numbers(at)) for at in graph.reached(starts))

        def later(graph: Graph) -> bool:
            seen = [at for at in graph.reached(graph.starts) if other.true(graph.numbers(at))]
            return any(bad(graph.numbers(at)) for at in graph.reached(seen))

        def earlier_or_later(graph: Graph) -> bool:
            all_bad = [at for at in graph.reached(graph.starts) if bad(graph.numbers(at))]
            return later(graph) or any(
                other.true(graph.numbers(at)) for at in graph.reached(all_bad)
            )

        def ends_badly(graph: Graph) -> bool:
            """It never reaches what is good, and stays where the other condition is true."""
            starts = [at for at in graph.starts if bad(graph.numbers(at))]
            found = graph.reached(starts, bad)
            return any(other.true(graph.numbers(at)) for at in found)

        def answered(graph: Graph) -> bool:
            found = [graph.numbers(at) for at in graph.reached(graph.starts)]
            return any(other.true(state) and bad(state) for state in found)

        def settles(graph: Graph) -> bool:
            all_bad = [at for at in graph.reached(graph.starts) if bad(graph.numbers(at))]
            return any(other.true(graph.numbers(at)) for at in graph.reached(all_bad))

        def recurs(graph: Graph) -> bool:
            """Both recur: in one configuration where it stays, or around a cycle."""
            found = graph.reached(graph.starts)
            ones = [at for at in found if other.true(graph.numbers(at))]
            after = {at: graph.reached([at]) for at in found if bad(graph.numbers(at))}
            return any(
                other_one in reached and at in (after.get(other_one) or graph.reached([other_one]))
                for at, reached in after.items()
                for other_one in ones
            )

        always = (
            f"[]({good.text})",
            lambda graph: any(bad(graph.numbers(at)) for at in graph.reached(graph.starts)),
        )
        return [
            always,
            (f"({other.text}) -> []({good.text})", begins),
            (f"[](({other.text}) -> []({good.text}))", later),
            (f"(<>({other.text})) -> []({good.text})", earlier_or_later),
            (f"(<>[]({other.text})) -> <>({good.text})", ends_badly),
            (f"[](({other.text}) -> <>({good.text}))", answered),
            (f"([]<>({other.text})) -> []({good.text})", settles),
            (f"([]<>({other.text})) -> <>[]({good.text})", recurs),
            (f"<>[]({other.text}) -> <>[]({good.text})", answered),
        ][shape]

    @property
    def text(self) -> str:
        inits = [f"{' + '.join(LOCATIONS[at] for at in self.begin)} == N;"]
        inits += [f"{each} == 0;" for at, each in enumerate(LOCATIONS) if at not in self.begin]
        inits += [f"{each} == 0;" for each in VARIABLES]
        rules = []
        for number, step in enumerate(self.steps):
            actions = " ".join(
                f"{name}' == {more};"
                if reset
                else f"{name}' == {name} + {more};"
                if more
                else f"{name}' == {name};"
                for name, more, reset in zip(VARIABLES, step.more, step.resets, strict=True)
            )
            rules.append(
                f"{number}: {LOCATIONS[step.source]} -> {LOCATIONS[step.target]}"
                f" when ({step.guard.text}) do {{ {actions} }};"
            )
        specifications = [f"{name}: {text};" for name, (text, _) in self.specifications.items()]
        return "\n".join(
            [
                "skel Random {", "local pc;", "shared x, y;", "parameters N, T;",
                f"assumptions (0) {{ {ASSUMED} }}",
                "locations (0) {",
                *(f"{each}: [{at}];" for at, each in enumerate(LOCATIONS)), "}",
                "inits (0) {", *inits, "}", "rules (0) {", *rules, "}",
                "specifications (0) {", *specifications, "}", "}",
            ]
        )  # fmt: skip

    def violated(self, name: str) -> bool:
        """Whether the specification is violated at any of the sizes."""
        violates = self.specifications[name][1]
        return any(violates(Graph(self, sizes)) for sizes in SIZES)


class Graph:
    """The states of a file at given sizes.  A variable that exceeds ``most`` stays there: no
    comparison sees the difference."""

    def __init__(self, file: File, sizes: Numbers, most: int = MOST) -> None:
        self.file, self.sizes, self.most = file, sizes, most
        self.following: dict[State, list[State]] = {}
        self.starts = list(self._starts())

    def _starts(self) -> Iterator[State]:
        for where in product(range(self.sizes["N"] + 1), repeat=len(LOCATIONS)):
            if sum(where) == self.sizes["N"] and not any(
                there for at, there in enumerate(where) if at not in self.file.begin
            ):
                yield where, (0,) * len(VARIABLES)

    def numbers(self, state: State) -> Numbers:
        where, values = state
        return {
            **self.sizes, **dict(zip(LOCATIONS, where, strict=True)),
            **dict(zip(VARIABLES, values, strict=True)),
        }  # fmt: skip

    def next(self, state: State) -> list[State]:
        if state not in self.following:
            self.following[state] = list(self._next(state))
        return self.following[state]

    def _next(self, state: State) -> Iterator[State]:
        where, values = state
        for step in self.file.steps:
            if not where[step.source] or not step.guard.true(self.numbers(state)):
                continue
            there = list(where)
            there[step.source] -= 1
            there[step.target] += 1
            more = zip(values, step.more, step.resets, strict=True)
            yield (
                tuple(there),
                tuple(min(by if reset else value + by, self.most) for value, by, reset in more),
            )

    def reached(
        self, starts: list[State], within: Callable[[Numbers], bool] = lambda _: True
    ) -> set[State]:
        """The states on paths from ``starts`` through states in which ``within`` is true."""
        seen, todo = set(starts), list(starts)
        while todo:
            for state in self.next(todo.pop()):
                if state not in seen and within(self.numbers(state)):
                    seen.add(state)
                    todo.append(state)
        return seen
