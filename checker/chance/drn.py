"""Writes decision processes in DRN, the explicit format of the Storm checker.

Hensel, Junges, Katoen, Quatmann and Volk, The probabilistic model checker Storm (2022);
https://www.stormchecker.org/documentation/background/drn.html.  Probabilities are written as
quotients, which Storm reads exactly.  Storm knows no fairness, and no state without a choice: an
end gets one that stays there.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TextIO

from checker.chance.decision_process import DecisionProcess


def write(
    process: DecisionProcess,
    out: TextIO,
    labels: Mapping[str, AbstractSet[int]] | None = None,
    rewards: Mapping[str, array[int]] | None = None,
) -> None:
    """Writes a process; ``labels``: names of sets of states, beside ``init``, the initial ones;
    ``rewards``: names of rewards, each with one for each choice (an end's is 0)."""
    out.writelines(f"{line}\n" for line in _lines(process, labels or {}, rewards or {}))


def _lines(
    process: DecisionProcess,
    labels: Mapping[str, AbstractSet[int]],
    rewards: Mapping[str, array[int]],
) -> Iterator[str]:
    ends = sum(not process.choices_of(state) for state in range(process.states))
    yield "// a Markov decision process without its fairness constraints"
    yield "@type: MDP"
    yield "@parameters"
    yield ""
    yield "@reward_models"
    yield " ".join(rewards)
    yield "@nr_states"
    yield str(process.states)
    yield "@nr_choices"
    yield str(process.choices + ends)
    yield "@model"
    initial = frozenset(process.initial)
    for state in range(process.states):
        named = ["init"] if state in initial else []
        named += [name for name, states in labels.items() if state in states]
        yield " ".join(["state", str(state), *named])
        for number, choice in enumerate(process.choices_of(state)):
            counted = [str(reward[choice]) for reward in rewards.values()]
            yield f"\taction {number}" + _bracketed(counted)
            yield from _branches(process, choice)
        if not process.choices_of(state):
            yield "\taction 0" + _bracketed(["0"] * len(rewards))
            yield f"\t\t{state} : 1"


def _bracketed(counted: list[str]) -> str:
    return f" [{', '.join(counted)}]" if counted else ""


def _branches(process: DecisionProcess, choice: int) -> Iterator[str]:
    """Yields the distribution of a choice; each state once, in the order of their numbers."""
    found: dict[int, int] = {}
    for branch in process.branches_of(choice):
        there = process.target[branch]
        found[there] = found.get(there, 0) + process.weight[branch]
    total = sum(found.values())
    for there in sorted(found):
        yield f"\t\t{there} : " + (f"{found[there]}/{total}" if found[there] < total else "1")
