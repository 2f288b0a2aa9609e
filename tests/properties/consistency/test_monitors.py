"""The automata of calls and returns, asked of random histories, against all orders tried one by
one."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

from checker.instantiate.protocol import actions, stack
from checker.instantiate.protocol.sizes import compute
from checker.language.load import load_text
from checker.language.typecheck.objects import consistent_in
from checker.properties.consistency.automaton import Event
from checker.properties.consistency.observation import Observation, observation_of
from tests.world.orders import (
    OBJECTS,
    Operation,
    is_linearizable,
    is_regular,
    is_sequentially_consistent,
)


@dataclass(frozen=True)
class Kind:
    """The operations of an object: the types of arguments, and that of the result; values are 0 or
    1 unless said."""

    operations: dict[str, tuple[tuple[str, ...], str]]


VALUE = "0..1"
KINDS = {
    "Register": Kind({"read": ((), "option<0..1>"), "write": ((VALUE,), "")}),
    "CompareAndSwap": Kind(
        {
            "read": ((), "option<0..1>"),
            "write": ((VALUE,), ""),
            "cas": ((VALUE, VALUE), "bool"),
        }
    ),
    "Queue": Kind({"enqueue": ((VALUE,), ""), "dequeue": ((), "option<0..1>")}),
    "Log": Kind({"append": ((VALUE,), "Nat"), "entries": ((), "seq<0..1>")}),
    "KeyValueMap": Kind(
        {
            "get": ((VALUE,), "option<0..1>"),
            "put": ((VALUE, VALUE), ""),
            "remove": ((VALUE,), ""),
        }
    ),
    "Set": Kind({op: ((VALUE,), "bool") for op in ("add", "remove", "contains")}),
    "Lock": Kind({"acquire": ((), ""), "release": ((), "")}),
}


def spec_of(name: str, operations: list[Operation], ask: str, faults: str = "") -> str:
    lines = ["interface I {"]
    for op, (takes, gives) in KINDS[name].operations.items():
        fields = ", ".join(f"{op}_{i}: {type_}" for i, type_ in enumerate(takes))
        result = f"v: {gives}" if gives else ""
        lines.append(f"  request {op}({fields}) returns {op}_return({result})")
    lines += ["}", "protocol P implements I {"]
    for op, (takes, _) in KINDS[name].operations.items():
        lines.append(f"  upon request {op}({', '.join('_' for _ in takes)}) {{ skip }}")
    lines += ["}", "check c of P {", "  n = 3", f"  {faults}", "  clients {"]
    for one in operations:
        given = ", ".join(map(str, one.args))
        said = f"({given})" if len(one.args) > 1 else given
        lines.append(f"    p{one.process + 1} {one.op}s {said}")
    return "\n".join([*lines, "  }", f"  prove {ask}", "  allow unused", "}"])


def observed(text: str) -> Observation:
    (check,) = load_text(text, "spec.bcast").checks
    world = stack.start(check, compute(check, {}), {}, False)
    actions.declare_clients(world)
    (node, *_) = consistent_in(check.prove[0].formula)
    return observation_of(world, node)


def draw_operations(draw: random.Random, name: str, most: int) -> list[Operation]:
    found = []
    for _ in range(draw.randint(2, most)):
        op, (takes, _) = draw.choice(sorted(KINDS[name].operations.items()))
        args = tuple(draw.randrange(2) for _ in takes)
        found.append(Operation(draw.randrange(3), op, args))
    return sorted(found, key=lambda one: one.process)


def results_of(name: str, op: str) -> list[Any]:
    gives = KINDS[name].operations[op][1]
    options = {
        "": [None], "bool": [False, True], "option<0..1>": [None, (0,), (1,)], "Nat": [0, 1, 2],
        "seq<0..1>": [(), (0,), (1,), (0, 1), (1, 0), (0, 0), (1, 1)],
    }  # fmt: skip
    return options[gives]


def histories(draw: random.Random, name: str, operations: list[Operation], crashes: int) -> Any:
    """A random history: each process calls its operations in turn; up to ``crashes`` never
    return though their process goes on."""
    programs = {p: [i for i, o in enumerate(operations) if o.process == p] for p in range(3)}
    now: dict[int, int] = {}
    history: list[tuple[Any, ...]] = []
    while True:
        ways: list[tuple[Any, ...]] = []
        for p, left in programs.items():
            if p in now:
                ways += [("return", p)] * 2
            if left and (p not in now or crashes):
                ways.append(("call", p))
        if not ways or draw.random() < 0.04:
            return history
        what, p = draw.choice(ways)
        if what == "call":
            crashes -= p in now
            now[p] = programs[p].pop(0)
            history.append(("call", now[p]))
        else:
            number = now.pop(p)
            result = draw.choice(results_of(name, operations[number].op))
            history.append(("return", number, result))


def verdicts(seen: Observation, history: list[tuple[Any, ...]]) -> list[bool]:
    """Whether each beginning of ``history`` is correct."""
    state, found = 0, []
    for what, number, *result in history:
        event = Event(what, number, *result)
        state = seen.automaton.after(state, event)
        found.append(state != seen.automaton.violated)
    return found


def steered(draw: random.Random, name: str, operations: list[Operation], crashes: int) -> Any:
    """Of several random histories that whose first wrong result is latest."""
    tries = [histories(draw, name, operations, crashes) for _ in range(4)]
    return max(
        tries,
        key=lambda h: sum(is_linearizable(name, operations, h[:k]) for k in range(len(h) + 1)),
    )


@pytest.mark.parametrize("name", sorted(OBJECTS))
@pytest.mark.parametrize("kind", ["linearizable", "sequentially_consistent"])
@pytest.mark.parametrize("faults", ["", "faults crash <= 1, recover"])
def test_random_histories(name: str, kind: str, faults: str) -> None:
    draw = random.Random(f"{name} {kind} {faults}")
    judge = is_linearizable if kind == "linearizable" else is_sequentially_consistent
    seen_right = seen_wrong = 0
    for _ in range(6):
        operations = draw_operations(draw, name, 5)
        seen = observed(spec_of(name, operations, f"{kind} as {name}", faults))
        for _ in range(12):
            history = steered(draw, name, operations, 1 if faults else 0)
            so_far = True
            for k, found in enumerate(verdicts(seen, history), start=1):
                so_far = so_far and judge(name, operations, history[:k])
                assert found == so_far, (operations, history[:k])
                seen_right += found
                seen_wrong += not found
    assert seen_right > 100 and seen_wrong > 2


@pytest.mark.parametrize("kind", ["regular", "safe"])
@pytest.mark.parametrize("faults", ["", "faults crash <= 1, recover"])
def test_random_reads_of_one_writer(kind: str, faults: str) -> None:
    draw = random.Random(f"{kind} {faults}")
    seen_right = seen_wrong = 0
    for _ in range(20):
        operations = [
            one
            for one in draw_operations(draw, "Register", 6)
            if one.op == "read" or one.process == 0
        ]
        if not operations:
            continue
        seen = observed(spec_of("Register", operations, f"{kind} as Register", faults))
        for _ in range(20):
            history = histories(draw, "Register", operations, 1 if faults else 0)
            so_far = True
            for k, found in enumerate(verdicts(seen, history), start=1):
                so_far = so_far and is_regular(operations, history[:k], kind == "safe")
                assert found == so_far, (operations, history[:k])
                seen_right += found
                seen_wrong += not found
    assert seen_right > 100 and seen_wrong > 2


def test_what_a_crash_leaves_outstanding_may_take_effect_later() -> None:
    """A process that is back writes; then it reads what it was writing when it crashed."""
    operations = [
        Operation(0, "write", (1,)), Operation(0, "write", (0,)), Operation(0, "read", ())
    ]  # fmt: skip
    history = [("call", 0), ("call", 1), ("return", 1, None), ("call", 2), ("return", 2, (1,))]
    for kind in ("linearizable", "sequentially_consistent", "regular"):
        text = spec_of("Register", operations, f"{kind} as Register", "faults crash <= 1, recover")
        assert verdicts(observed(text), history) == [True] * 5, kind
    without = [*history[:2], ("return", 1, None), ("call", 2), ("return", 2, None)]
    text = spec_of(
        "Register", operations, "sequentially_consistent as Register", "faults crash <= 1, recover"
    )
    assert verdicts(observed(text), without) == [True] * 4 + [False]


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_what_is_linearizable_is_sequentially_consistent(name: str) -> None:
    """Also where processes crash and come back; an order that the one has does for the other."""
    draw = random.Random(f"both {name}")
    seen = 0
    for _ in range(4):
        operations = draw_operations(draw, name, 6)
        one, other = (
            observed(spec_of(name, operations, f"{kind} as {name}", "faults crash <= 2, recover"))
            for kind in ("linearizable", "sequentially_consistent")
        )
        for _ in range(40):
            history = histories(draw, name, operations, 2)
            pairs = list(zip(verdicts(one, history), verdicts(other, history), strict=True))
            assert (True, False) not in pairs, (operations, history)
            seen += sum(strict for strict, _ in pairs)
    assert seen > 50


def test_new_old_inversion() -> None:
    """A register may return the value that is being written, and then, regular but not atomic, the
    old one (Lamport 1986)."""
    operations = [Operation(0, "write", (1,)), Operation(1, "read", ()), Operation(2, "read", ())]
    history = [("call", 0), ("call", 1), ("return", 1, (1,)), ("call", 2), ("return", 2, None)]
    found = {
        kind: verdicts(observed(spec_of("Register", operations, f"{kind} as Register")), history)
        for kind in ("linearizable", "sequentially_consistent", "regular", "safe")
    }
    assert found == {
        "linearizable": [True, True, True, True, False],
        "sequentially_consistent": [True] * 5,
        "regular": [True] * 5,
        "safe": [True] * 5,
    }
