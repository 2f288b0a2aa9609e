"""What a spec is made of when it runs: layers, variables, links, and who is who.

A state is a dictionary of plain values that can be hashed; its keys are tuples that say what they
are of: ``("var", path, name, process)``, ``("net", sender, receiver)``, ``("rest", process)``, …
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.world.protocol import CONDITION, Handler, Protocol, Spec, Uses, Variable, World

State = dict[Any, Any]
Path = tuple[tuple[str, int | None], ...]
TOP: Path = (("top", None),)


@dataclass(frozen=True)
class Layer:
    """One layer of the stack; the same for each process."""

    path: Path
    protocol: Protocol

    def variables(self) -> Iterator[Variable]:
        yield from self.protocol.variables

    def conditions(self) -> Iterator[Handler]:
        yield from (h for h in self.protocol.handlers if h.event == CONDITION)


class Model:
    """A spec, ready to run."""

    def __init__(self, spec: Spec) -> None:
        from tests.world.guesses import Detector, Oracle

        self.spec, self.world = spec, spec.world
        self.processes = tuple(f"p{i + 1}" for i in range(spec.world.n))
        payloads = {v for _, values in spec.world.clients for v in values}
        payloads |= {"forged"} if spec.world.byzantine else set()
        self.payloads = tuple(sorted(payloads))
        self.layers: dict[Path, Layer] = {}
        self.oracles: list[Path] = []
        self._stack(TOP, spec.protocol)
        self.links = Links(self.world, spec.text())
        self.detector = Detector(self)
        self.oracle = Oracle(self)

    def _stack(self, path: Path, protocol: Protocol) -> None:
        """Lists layers from the bottom up."""
        for used in protocol.uses:
            for below in _places(path, used):
                if used.name == self.world.oracle:
                    self.oracles.append(below)
                elif used.protocol is not None:
                    self._stack(below, used.protocol)
        self.layers[path] = Layer(path, protocol)

    def variable(self, path: Path, name: str) -> Variable:
        return next(v for v in self.layers[path].protocol.variables if v.name == name)

    def key(self, path: Path, name: str, p: str) -> tuple[Any, ...]:
        shared = self.variable(path, name).kind == "shared state"
        return ("var", path, name, "" if shared else p)

    def is_effect(self, path: Path, name: str) -> bool:
        """Whether an assignment to this can be seen by others, or after a crash."""
        return self.variable(path, name).kind != "state"

    def domain(self, sort: str, path: Path) -> tuple[Any, ...]:
        """All values of ``Proc`` or ``Msg``: to a layer below, the messages of the one above are
        what is opaque."""
        if sort == "Proc":
            return self.processes
        return self.payloads if path == TOP else tuple(self.messages(path[:-1]))

    def messages(self, path: Path) -> Iterator[tuple[Any, ...]]:
        """All messages that the layer at ``path`` may send."""
        for kind, sorts in self.layers[path].protocol.messages:
            for parts in product(*(self.domain(sort, path) for sort in sorts)):
                yield (kind, *parts)


def _places(path: Path, used: Uses) -> list[Path]:
    indices: list[int | None] = [None] if used.count is None else list(range(used.count))
    return [(*path, (used.name, index)) for index in indices]


Envelope = tuple[Path, tuple[Any, ...]]


class Links:
    """What is under way from each process to each other, and what may become of it."""

    def __init__(self, world: World, text: str) -> None:
        self.bound = world.bound
        self.fifo = "fifo" in world.links
        self.keeps = bool({"stubborn", "persistent"} & set(world.links))
        self.duplicates = "duplicating" in world.links
        self.loses = bool({"lossy", "fair_loss"} & set(world.links))
        self.strong = "fair_loss" in world.links
        self.promises = not {"lossy", "persistent"} & set(world.links)
        self.authenticated = "authenticated" in world.links
        self.recover = world.recover
        self.counted = {kind for kind in _kinds(text)}

    def put(self, way: Any, sender: str, receiver: str, envelope: Envelope) -> None:
        """Hands a copy to the link."""
        state, key = way.state, ("net", sender, receiver)
        if receiver in state["byzantine"] or (receiver in state["down"] and not self.recover):
            return
        if not {sender, receiver} & (state["down"] | state["omitted"] | state["byzantine"]):
            way.sent.add(("message", envelope, sender, receiver))
        queue: tuple[Envelope, ...] = state.get(key, ())
        if self.keeps:
            queue = tuple(sorted({*queue, envelope}, key=repr))
        elif self.bound is not None and self.loses:
            like = len(queue) if self.fifo else queue.count(envelope)
            if like < self.bound:
                queue = (*queue, envelope)
        else:
            queue = (*queue, envelope)
        state[key] = queue if self.fifo else tuple(sorted(queue, key=repr))

    def under_way(self, state: State) -> Iterator[tuple[str, str, int, Envelope]]:
        """All copies, of those that are alike one."""
        for key, queue in list(state.items()):
            if key[0] == "net":
                for position, envelope in enumerate(queue):
                    if self.fifo or envelope not in queue[:position]:
                        yield key[1], key[2], position, envelope

    def take(self, state: State, sender: str, receiver: str, position: int) -> None:
        key = ("net", sender, receiver)
        queue = state[key]
        left = queue[:position] + queue[position + 1 :]
        if left:
            state[key] = left
        else:
            del state[key]

    def forget(self, state: State, p: str) -> None:
        """Nobody will ever receive what is under way to ``p``."""
        for key in [k for k in state if k[0] == "net" and k[2] == p]:
            del state[key]

    def count(self, state: State, p: str, sender: str, envelope: Envelope) -> None:
        if envelope[1][0] in self.counted:
            state["received", p] |= {(envelope[0], envelope[1], sender)}


def _kinds(text: str) -> Iterator[str]:
    """The kinds of messages of which the text has ``received(KIND``."""
    for part in text.split("received(")[1:]:
        end = min(part.find(c) for c in "()" if c in part)
        yield part[:end]
