"""Markov decision processes from publications, built directly from their definitions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from checker.chance.decision_process import NO_CONSTRAINT, DecisionProcess

Choice = Mapping[Any, int]
"""A distribution: each state that follows, with its weight."""


@dataclass(frozen=True, slots=True)
class Model:
    """A process with the states that its numbers stand for."""

    process: DecisionProcess
    states: tuple[Any, ...]

    def where(self, holds: Callable[[Any], bool]) -> frozenset[int]:
        """Returns the numbers of the states in which something holds."""
        return frozenset(i for i, state in enumerate(self.states) if holds(state))


def explore(initial: Iterable[Hashable], choices: Callable[[Any], Sequence[Choice]]) -> Model:
    """Builds the process of all states that can be reached."""
    numbers = {state: i for i, state in enumerate(dict.fromkeys(initial))}
    count, states = len(numbers), list(numbers)
    first_choice, first_branch, target, weight = [0], [0], [], []
    for state in states:  # the list grows while it is read: breadth first
        for choice in choices(state):
            for successor, share in choice.items():
                if successor not in numbers:
                    numbers[successor] = len(states)
                    states.append(successor)
                target.append(numbers[successor])
                weight.append(share)
            first_branch.append(len(target))
        first_choice.append(len(first_branch) - 1)
    process = DecisionProcess(
        array("q", first_choice),
        array("q", first_branch),
        array("q", target),
        array("q", weight),
        tuple(range(count)),
        array("q", [NO_CONSTRAINT]) * (len(first_branch) - 1),
        array("q", [0]) * len(states),
    )
    return Model(process, tuple(states))


FLIP, WRITE, CHECK, FINISHED = range(4)


def shared_coin(n: int, k: int) -> Model:
    """The shared coin of Aspnes and Herlihy, Fast randomized consensus using shared memory (1990),
    as modelled by Kwiatkowska, Norman and Segala (CAV 2001).

    A state: the counter, and for each process what it does next and its coin.  The counter is
    bounded; a process that reads a value at or beyond ``k * n`` decides by its sign.
    """
    middle, left, right, top = (k + 1) * n, n, 2 * (k + 1) * n - n, 2 * (k + 1) * n

    def choices(state: tuple[int, ...]) -> list[Choice]:
        counter, found = state[0], []
        for i in range(n):
            does, coin = divmod(state[i + 1], 2)

            def after(what: int, side: int, count: int = counter, i: int = i) -> tuple[int, ...]:
                return (count, *state[1 : i + 1], 2 * what + side, *state[i + 2 :])

            if does == FLIP:
                found.append({after(WRITE, 0): 1, after(WRITE, 1): 1})
            elif does == WRITE:
                moved = counter + (1 if coin else -1)
                if 0 <= moved <= top:
                    found.append({after(CHECK, 0, moved): 1})
            elif does == CHECK and counter <= left:
                found.append({after(FINISHED, 0): 1})
            elif does == CHECK and counter >= right:
                found.append({after(FINISHED, 1): 1})
            elif does == CHECK:
                found.append({after(FLIP, 0): 1})
        if all(does // 2 == FINISHED for does in state[1:]):
            found.append({state: 1})
        return found

    return explore([(middle, *[0] * n)], choices)


def trap(n: int, up: int = 7, of: int = 10) -> Model:
    """The chain in which value iteration stops much too early (Haddad and Monmege 2018): from the
    middle to ``2 n`` with probability ``up / of``, otherwise to 0, each after ``n - 1`` heads in a
    row, and back to the middle with tails."""

    def choices(state: int) -> list[Choice]:
        if state in (0, 2 * n):
            return [{state: 1}]
        if state == n:
            return [{n + 1: up, n - 1: of - up}]
        return [{state + (1 if state > n else -1): 1, n: 1}]

    return explore([n], choices)


def herman(n: int) -> Model:
    """Herman's ring of ``n`` processes, Probabilistic self-stabilization (1990): a process with the
    same bit as its left neighbour has a token and draws its bit, the others copy; all states are
    initial."""

    def choices(state: tuple[int, ...]) -> list[Choice]:
        drawing = [i for i in range(n) if state[i] == state[i - 1]]
        found: dict[tuple[int, ...], int] = {}
        for drawn in range(1 << len(drawing)):
            bits = [state[i - 1] for i in range(n)]
            for j, i in enumerate(drawing):
                bits[i] = drawn >> j & 1
            found[tuple(bits)] = found.get(tuple(bits), 0) + 1
        return [found]

    return explore(product((0, 1), repeat=n), choices)


def tokens(state: tuple[int, ...]) -> int:
    """Returns how many processes of Herman's ring have a token."""
    return sum(state[i] == state[i - 1] for i in range(len(state)))


def leader_election(n: int, k: int) -> Model:
    """Itai and Rodeh, Symmetry breaking in distributed networks (1990): each of ``n`` processes in
    a synchronous ring draws a number below ``k``, and all see all numbers after ``n - 1`` steps;
    the largest that is drawn once elects its process, otherwise they draw again.

    A state: what is done next (draw, read, decide, or over), how many reads were made, and for each
    process whether its number may be unique, the number that it passes on, and its own.
    """

    def choices(state: tuple[Any, ...]) -> list[Choice]:
        does, reads, rows = state
        if does == "draw":
            return [
                {
                    ("read", 1, tuple((True, x, x) for x in drawn)): 1
                    for drawn in product(range(k), repeat=n)
                }
            ]
        if does == "read":
            last = reads == n - 1
            return [{("decide" if last else "read", min(reads + 1, n - 1), read(rows, last)): 1}]
        nothing = ((False, 0, 0),) * n
        if does == "decide" and not any(unique for unique, _, _ in rows):
            return [{("draw", 1, nothing): 1}]
        return [{("over", reads, nothing): 1}]

    def read(rows: tuple[Any, ...], last: bool) -> tuple[Any, ...]:
        found = []
        for i, (unique, _, own) in enumerate(rows):
            passed = rows[(i + 1) % n][1]
            unique = unique and own != passed
            found.append((unique, 0 if last else passed, own if unique and not last else 0))
        return tuple(found)

    return explore([("draw", 1, ((False, 0, 0),) * n)], choices)


def retransmission(n: int, most: int) -> Model:
    """The bounded retransmission protocol: Helmink, Sellink and Vaandrager, Proof-checking a data
    link protocol (1994), with the probabilities of D'Argenio, Jeannet, Jensen and Larsen (2001): a
    file of ``n`` frames, each sent again ``most`` times at most; a frame is lost with probability
    1/50, an acknowledgement with 1/100.

    A state is a record of the sender (``s``, its report, retransmissions, frame and bits), the
    receiver (``r``) and the two channels (``k``, ``l``).
    """
    start = dict.fromkeys(("s", "srep", "nrtr", "i", "r", "rrep", "k", "l"), 0)
    bits = ("bs", "s_ab", "fs", "ls", "fr", "lr", "br", "r_ab", "recv", "begun")
    start |= dict.fromkeys(bits, False)
    names = tuple(start)

    def choices(state: tuple[Any, ...]) -> list[Choice]:
        v = dict(zip(names, state, strict=True))

        def to(**changes: Any) -> tuple[Any, ...]:
            return tuple(changes.get(name, v[name]) for name in names)

        return [*_of_sender(v, to, n, most), *_of_receiver(v, to)] or [{state: 1}]

    return explore([tuple(start.values())], choices)


def _of_sender(v: dict[str, Any], to: Any, n: int, most: int) -> list[Choice]:
    found: list[Choice] = []
    sent = {"fs": v["i"] == 1, "ls": v["i"] == n, "bs": v["s_ab"]}
    if v["s"] == 0 and not v["begun"]:
        found.append({to(s=1, i=1, srep=0, begun=True): 1})
    if v["s"] == 1 and v["k"] == 0:
        found.append({to(s=2, nrtr=0, k=1, **sent): 49, to(s=2, nrtr=0, k=2, **sent): 1})
    if v["s"] == 2 and v["l"] == 1:
        found.append({to(s=4, s_ab=not v["s_ab"], l=0): 1})
    if v["s"] == 2 and v["k"] == 2:
        found.append({to(s=3, k=0): 1})
    if v["s"] == 2 and v["l"] == 2:
        found.append({to(s=3, l=0): 1})
    if v["s"] == 3 and v["nrtr"] < most and v["k"] == 0:
        more = sent | {"nrtr": v["nrtr"] + 1}
        found.append({to(s=2, k=1, **more): 49, to(s=2, k=2, **more): 1})
    if v["s"] == 3 and v["nrtr"] == most:
        found.append({to(s=5, srep=1 if v["i"] < n else 2): 1})
    if v["s"] == 4:
        found.append({to(s=1, i=v["i"] + 1) if v["i"] < n else to(s=0, srep=3): 1})
    if v["s"] in (5, 6):
        found += _resynchronised(v, to)
    return found


def _resynchronised(v: dict[str, Any], to: Any) -> list[Choice]:
    sender = {"s": 6} if v["s"] == 5 else {"s": 0, "s_ab": False}
    match v["r"]:
        case 0:
            return [{to(**sender): 1}]
        case 4:
            return [{to(**sender, r=5, **({} if v["ls"] else {"rrep": 4})): 1}]
        case 5:
            return [{to(**sender, r=0, rrep=0): 1}]
    return []


def _of_receiver(v: dict[str, Any], to: Any) -> list[Choice]:
    got = {"fr": v["fs"], "lr": v["ls"], "br": v["bs"], "recv": True, "k": 0}
    expected = v["r_ab"] == v["br"]
    if v["r"] in (0, 4) and v["k"] == 1:
        return [{to(r=1 if v["r"] == 0 else 2, **got): 1}]
    if v["r"] == 1:
        return [{to(r=2, r_ab=v["br"]): 1}]
    if v["r"] == 2 and expected:
        return [{to(r=3, rrep=1 if v["fr"] else 3 if v["lr"] else 2): 1}]
    if v["r"] in (2, 3) and v["l"] == 0:
        back = {} if v["r"] == 2 else {"r_ab": not v["r_ab"]}
        return [{to(r=4, l=1, **back): 99, to(r=4, l=2, **back): 1}]
    return []
