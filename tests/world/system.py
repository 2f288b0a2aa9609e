"""What a spec is made of when it runs: layers, variables, links, and who is who.

A state is a dictionary of plain values that can be hashed; its keys are tuples that say what they
are of: ``("var", path, name, process)``, ``("net", sender, receiver)``, ``("rest", process)``, …
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

from tests.world.disks import STABLE
from tests.world.protocol import Handler, Protocol, Spec, Uses, Variable, World
from tests.world.sorts import Sort, order

State = dict[Any, Any]
Path = tuple[tuple[str, int | None], ...]
TOP: Path = (("top", None),)
Cut = frozenset[str] | tuple[str, str]
"""A link, or the way from one process to another."""


def unit_of(state: State, p: str) -> tuple[str, ...]:
    """The processes that stop when ``p`` does, itself among them, the lead first."""
    found: tuple[str, ...] = state.get(("unit", p), (p,))
    return found


def is_shut(state: State, sender: str, receiver: str) -> bool:
    """Whether nothing gets from one process to another now."""
    if receiver in unit_of(state, sender):
        return False
    side = state["split"]
    if side and (sender in side) != (receiver in side):
        return True
    ways: tuple[Cut, ...] = (frozenset((sender, receiver)), (sender, receiver))
    return any(way in ways for _, way in state["cut"])


@dataclass(frozen=True)
class Layer:
    """One layer of the stack; the same for each process."""

    path: Path
    protocol: Protocol

    def variables(self, role: str) -> Iterator[Variable]:
        """Those that a process of ``role`` has."""
        yield from (v for v in self.protocol.variables if v.role in ("", role))

    def handlers(self, role: str) -> Iterator[Handler]:
        """Those that a process of ``role`` has."""
        yield from (h for h in self.protocol.handlers if h.role in ("", role))


class Model:
    """A spec, ready to run."""

    def __init__(self, spec: Spec) -> None:
        from tests.world.guesses import Detector, Oracle

        self.spec, self.world = spec, spec.world
        self.roles = _members(spec)
        self.processes = tuple(p for members in self.roles.values() for p in members)
        self.role = {p: role for role, members in self.roles.items() for p in members}
        wishes = [wish for _, values in spec.world.clients for wish in values]
        wanted = {v for wish in wishes for v in (wish if isinstance(wish, tuple) else [wish])}
        payloads = {v for v in wanted if isinstance(v, str)} | {*spec.world.payloads}
        payloads |= {"forged"} if spec.world.byzantine else set()
        self.payloads = tuple(sorted(payloads))
        self.layers: dict[Path, Layer] = {}
        self.oracles: dict[Path, str] = {}
        self._stack(TOP, spec.protocol)
        self.units = {p: self._unit(p) for p in self.processes}
        self.links = Links(self.world, self.role, spec.text(), self.units)
        self.detector = Detector(self)
        self.oracle = Oracle(self)

    def _unit(self, p: str) -> tuple[str, ...]:
        lead_of = dict(self.spec.protocol.together)
        position = self.roles[self.role[p]].index(p)
        lead = lead_of.get(self.role[p], self.role[p])
        roles = [lead, *(role for role, other in lead_of.items() if other == lead)]
        return tuple(self.roles[role][position] for role in roles)

    def lead(self, p: str) -> str:
        return self.units[p][0]

    def _stack(self, path: Path, protocol: Protocol) -> None:
        """Lists layers from the bottom up."""
        for used in protocol.uses:
            for below in _places(path, used):
                if used.name in self.world.oracles:
                    self.oracles[below] = used.interface
                elif used.protocol is not None:
                    self._stack(below, used.protocol)
        self.layers[path] = Layer(path, protocol)

    def has_room(self, kind: str, faulty: Collection[str]) -> bool:
        """Whether all of ``faulty`` may be so, as far as roles are limited; one that crashes again
        is there again."""
        world, limited = self.world, [each for each in self.world.of_roles if each[0] == kind]
        roles = {role for _, role, _ in limited}
        if kind in world.alone and any(self.role[p] not in roles for p in faulty):
            return False
        return all(sum(self.role[p] == role for p in faulty) <= most for _, role, most in limited)

    @cached_property
    def cuts(self) -> tuple[frozenset[Cut], ...]:
        """For each clause what it may cut: links, or one way of them."""
        everybody = {"": self.processes, "Proc": self.processes, **self.roles}
        found = list[frozenset[Cut]]()
        for sender, receiver, _ in self.world.cuts:
            ways = product(everybody[sender], everybody[receiver])
            apart = [(p, q) for p, q in ways if q not in self.units[p]]
            found.append(frozenset(apart) if sender else frozenset(map(frozenset, apart)))
        return tuple(found)

    def variable(self, path: Path, name: str, p: str) -> Variable:
        """What is called ``name`` in the role of ``p``."""
        layer = self.layers[path]
        mine = layer.variables(self.role[p]) if p else layer.protocol.variables
        return next(v for v in mine if v.name == name)

    def key(self, path: Path, name: str, p: str) -> tuple[Any, ...]:
        shared = self.variable(path, name, p).kind.endswith("shared state")
        return ("var", path, name, "" if shared else p)

    def is_effect(self, path: Path, name: str, p: str) -> bool:
        """Whether an assignment of ``p`` to this can be seen by others, or after a crash."""
        return self.variable(path, name, p).kind in (*STABLE, "shared state")

    def is_synced(self, path: Path, name: str, p: str) -> bool:
        """Whether each assignment of ``p`` to this is synced."""
        return self.variable(path, name, p).kind == "stable synced state"

    @cached_property
    def ghosts(self) -> frozenset[tuple[Path, str]]:
        """The paths and names of ghosts."""
        return frozenset(
            (path, v.name)
            for path, layer in self.layers.items()
            for v in layer.protocol.variables
            if v.kind.startswith("ghost")
        )

    def is_ghost(self, key: tuple[Any, ...]) -> bool:
        return key[0] == "var" and key[1:3] in self.ghosts

    def observed(self, state: State) -> State:
        """``state`` without its ghosts, and without what a disk may have, which nobody sees."""
        seen = state.items()
        return {k: v for k, v in seen if not self.is_ghost(k) and k[0] != "disk"}

    def domain(self, sort: Sort, path: Path) -> tuple[Any, ...]:
        """All values of a type: to a layer below, the messages of the one above are ``Msg``."""

        def basic(name: str) -> tuple[Any, ...]:
            if name == "Proc":
                return self.processes
            return self.payloads if path == TOP else tuple(self.messages(path[:-1]))

        return sort.values(basic)

    def messages(self, path: Path) -> Iterator[tuple[Any, ...]]:
        """All messages that the layer at ``path`` may send."""
        for kind, sorts in self.layers[path].protocol.messages:
            for parts in product(*(self.domain(sort, path) for sort in sorts)):
                yield (kind, *parts)


def _places(path: Path, used: Uses) -> list[Path]:
    indices: list[int | None] = [None] if used.count is None else list(range(used.count))
    return [(*path, (used.name, index)) for index in indices]


def _members(spec: Spec) -> dict[str, tuple[str, ...]]:
    """The processes of each role; ``""`` is that of all others."""
    roles = spec.protocol.roles or (("", spec.world.n),)
    names = called([role for role, _ in roles])
    return {role: tuple(f"{names[role]}{i + 1}" for i in range(size)) for role, size in roles}


def called(roles: Sequence[str]) -> dict[str, str]:
    """What the members of each role are called: its first letter, or all of its name where that is
    the first letter of another, too."""
    initials = [role[:1] for role in roles]
    return {r: r if initials.count(r[:1]) > 1 else (r or "p")[0].lower() for r in roles}


Envelope = tuple[Path, tuple[Any, ...]]
GONE: Envelope = ((), ("disconnected",))
"""What stands behind the messages of a connection that is gone."""


class Link:
    """What may become of what is under way."""

    def __init__(self, kinds: tuple[str, ...], bound: int | None) -> None:
        self.bound = bound
        self.connected = "connected" in kinds
        self.fifo = "fifo" in kinds or self.connected
        self.keeps = bool({"stubborn", "persistent"} & set(kinds))
        self.stubborn = "stubborn" in kinds
        self.duplicates = "duplicating" in kinds
        self.loses = bool({"lossy", "fair_loss"} & set(kinds))
        self.strong = "fair_loss" in kinds
        self.promises = not {"lossy", "persistent"} & set(kinds)
        self.authenticated = "authenticated" in kinds


class Links:
    """What is under way from each process to each other."""

    def __init__(
        self, world: World, role: dict[str, str], text: str, units: dict[str, tuple[str, ...]]
    ) -> None:
        self.role, self.recover, self.units = role, world.recover, units
        self.others = Link(world.links, world.bound)
        self.ruled = {(a, b): Link(kinds, None) for a, b, kinds in world.rules}
        self.counted = {kind for kind in _kinds(text)}
        self.pauses = "yield" in text.split() or bool(world.cuts)
        self.may_be_shut = bool(world.partition or world.cuts)

    def between(self, sender: str, receiver: str) -> Link:
        found = self.ruled.get((self.role[sender], self.role[receiver]), self.others)
        if sender != receiver and receiver in self.units[sender] and self._may_miss(found):
            return self._safe(found)
        return found

    def _may_miss(self, link: Link) -> bool:
        return link.strong or not link.promises

    def _safe(self, link: Link) -> Link:
        """Like ``link``, but everything arrives."""
        kinds = [
            kind
            for kind in ("fifo", "duplicating")
            if getattr(link, kind.replace("duplicating", "duplicates"))
        ]
        return Link((*kinds, "stubborn") if link.keeps else tuple(kinds), None)

    def put(self, way: Any, sender: str, receiver: str, envelope: Envelope) -> None:
        """Hands a copy to the link."""
        state, key, link = way.state, ("net", sender, receiver), self.between(sender, receiver)
        if receiver in state["byzantine"] or (receiver in state["down"] and not self.recover):
            return
        if link.strong and not {sender, receiver} & (
            state["down"] | state["omitted"] | state["byzantine"]
        ):
            self._promise(way, ("message", envelope, sender, receiver))
        if self._is_untold(state, sender, receiver) and way.may_be_dropped():
            return
        queue: tuple[Envelope, ...] = state.get(key, ())
        if link.keeps:
            queue = tuple(sorted({*queue, envelope}, key=order))
        elif link.bound is not None and link.loses:
            like = len(queue) if link.fifo else queue.count(envelope)
            if like < link.bound:
                queue = (*queue, envelope)
        else:
            queue = (*queue, envelope)
        state[key] = queue if link.fifo else tuple(sorted(queue, key=order))

    def _is_untold(self, state: State, sender: str, receiver: str) -> bool:
        """Whether the connection to ``receiver`` is gone, and ``sender`` has not been told."""
        ways = self.between(sender, receiver), self.between(receiver, sender)
        both = all(link.connected for link in ways)
        return both and GONE in state.get(("net", receiver, sender), ())

    def _promise(self, way: Any, promise: tuple[Any, ...]) -> None:
        """What is sent again and again arrives again and again; where the way is shut, it counts
        when that is open.  In lock step it counts only if it could be received in its round."""
        if is_shut(way.state, *promise[2:]):
            way.state["held"] |= {promise}
        elif not (self.may_be_shut and way.state["lock step"]):
            way.sent.add(promise)

    def opened(self, way: Any) -> None:
        """Some way is open again."""
        now = {p for p in way.state["held"] if not is_shut(way.state, *p[2:])}
        way.state["held"] -= now
        way.sent |= now

    def under_way(self, state: State) -> Iterator[tuple[str, str, int, Envelope]]:
        """All copies, of those that are alike one."""
        for key, queue in list(state.items()):
            if key[0] == "net":
                fifo = self.between(key[1], key[2]).fifo
                for position, envelope in enumerate(queue):
                    if fifo or envelope not in queue[:position]:
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

    def forget_between(self, state: State, unit: tuple[str, ...]) -> None:
        """What is under way from one of ``unit`` to another is gone."""
        for p, q in permutations(unit, 2):
            state.pop(("net", p, q), None)

    def breaks(self, way: Any, sender: str, receiver: str) -> None:
        """Of what is under way from one to another the rest is lost from somewhere on, and then
        stands there that it was."""
        if self.between(sender, receiver).connected:
            queue = way.state.get(("net", sender, receiver), ())
            kept = way.pick_fault(range(len(queue) + 1))
            way.state["net", sender, receiver] = (*queue[:kept], GONE)

    def ends(self, way: Any, p: str) -> None:
        """``p`` crashes: those who are up will know; what is under way to it is gone."""
        up = [q for q in {*self.role} - {p} if q not in way.state["down"]]
        for q in sorted(self.role):
            if self.between(q, p).connected:
                way.state.pop(("net", q, p), None)
            if self.between(p, q).connected and q not in up:
                way.state.pop(("net", p, q), None)
        for q in sorted(up):
            self.breaks(way, p, q)

    def count(self, state: State, p: str, sender: str, envelope: Envelope) -> None:
        if envelope[1][0] in self.counted:
            state["received", p] |= {(envelope[0], envelope[1], sender)}


def _kinds(text: str) -> Iterator[str]:
    """The kinds of messages of which the text has ``received(KIND``."""
    for part in text.split("received(")[1:]:
        end = min(part.find(c) for c in "()" if c in part)
        yield part[:end]
