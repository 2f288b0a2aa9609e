"""Who knows more than a protocol can: failure detectors, and layers that are given as oracles.

What a class of detectors promises of "some correct process" is a process that is drawn before
anything else and never crashes; what it says wrongly, it says finitely often.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tests.world.pausing import is_busy
from tests.world.protocol import INDICATION
from tests.world.sorts import in_order
from tests.world.step import Step
from tests.world.system import TOP, Path, State

if TYPE_CHECKING:
    from tests.world.running import Rests, Way
    from tests.world.system import Model


class Detector:
    """The layer ``fd`` or ``leader`` of the protocol on top."""

    def __init__(self, model: Model) -> None:
        self.model, self.kind = model, model.world.detector
        self.favours_one = self.kind in ("S", "eventually S", "Omega")

    def begin(self, way: Way) -> None:
        for p in self.model.processes:
            way.state["told", p] = frozenset()
        way.state["noise"] = self.model.world.noise
        favoured = self.model.processes if self.favours_one else ("",)
        way.state["favoured"] = way.pick(favoured)

    def words(self, state: State) -> Iterator[Step]:
        """What the detector may say now."""
        if not self.kind:
            return
        for q in self.model.processes:
            if q in state["down"] or is_busy(state, q):
                continue
            for p in self.model.processes:
                if p == q and self.kind != "Omega":
                    continue
                word = "trust" if self.kind == "Omega" else "suspect"
                if p in state["told", q]:
                    if word == "trust":
                        continue
                    word = "restore"
                standing = self.standing(state, word, p)
                if standing != "never":
                    yield self.step(state, q, p, word, standing)

    def standing(self, state: State, word: str, p: str) -> str:
        """How a word stands to the truth: it is ``owed``, ``wrong``, neither, or never said."""
        down, favoured = p in state["down"], p == state["favoured"]
        if word == "trust":
            good = favoured
        elif self.kind in ("S", "eventually S") and not down and not favoured:
            return "free"
        else:
            good = (word == "suspect") == down
        if good:
            return "owed"
        if self.kind == "P" or (self.kind == "S" and favoured) or state["noise"] == 0:
            return "never"
        return "wrong"

    def step(self, state: State, q: str, p: str, word: str, standing: str) -> Step:
        def says(way: Way) -> None:
            told = way.state["told", q]
            changed = {"trust": {p}, "suspect": told | {p}, "restore": told - {p}}[word]
            way.state["told", q] = frozenset(changed)
            if standing == "wrong" and way.state["noise"] is not None:
                way.state["noise"] -= 1
            layer = "leader" if word == "trust" else "fd"
            way.run(q, lambda: way.call(q, TOP, INDICATION, f"{layer}.{word}", (p,)))

        key = ("word", q, "" if word == "trust" else p)
        promise = key if standing == "owed" else None
        return Step(f"{q} {word}s {p}", says, promise, finite=standing == "wrong")


class Oracle:
    """Layers that are given as oracles: what the properties of their interfaces leave them to say.

    Where some property binds it to correct processes only, whoever will crash is drawn before
    anything else: those processes crash, and no others.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.foresees = "Consensus" in model.oracles.values()

    def begin(self, way: Way) -> None:
        state = way.state
        for path in self.model.oracles:
            state["asked of", path] = frozenset()
            state["said by", path] = frozenset()
        mortal = [p for p in self.model.processes if p != state["favoured"]]
        most = self.model.world.crash if self.foresees else 0
        doomed = [some for k in range(most + 1) for some in combinations(mortal, k)]
        doomed = [some for some in doomed if self.model.has_room("crash", some)]
        state["doomed"] = frozenset(way.pick(doomed))

    def asked(self, way: Way, p: str, path: Path, values: tuple[Any, ...]) -> Rests:
        """A request, which is an effect; the oracle may speak at once."""

        def does() -> None:
            way.state["asked of", path] |= {(p, values[0])}

        way.effect(p, does)
        while possible := self.possible(way.state, p, path):
            said = way.pick((None, *possible))
            rests = () if said is None else self.says(way, p, path, said)
            if said is None or rests:
                return rests
        return ()

    def possible(self, state: State, q: str, path: Path) -> list[tuple[Any, ...]]:
        """What it may say to ``q``: a broadcast what was asked, once; a consensus one value."""
        asked, said = in_order(state["asked of", path]), state["said by", path]
        if "Consensus" not in self.model.oracles[path]:
            return [each for each in asked if (q, each) not in said]
        if any(p == q for p, _ in said):
            return []
        uniform = self.model.oracles[path] == "UniformConsensus"
        faulty = frozenset() if uniform else state["doomed"] | state["omitted"]
        binding = {v for p, v in said if not {p, q} & faulty}
        return [v for v in in_order({(v,) for _, v in asked}) if binding <= {v}]

    def says(self, way: Way, q: str, path: Path, said: tuple[Any, ...]) -> Rests:
        way.state["said by", path] |= {(q, said)}
        word = "decide" if "Consensus" in self.model.oracles[path] else "deliver"
        return way.indicate(q, path, word, said)

    def words(self, state: State) -> Iterator[Step]:
        for path in self.model.oracles:
            for q in self.model.processes:
                if q in state["down"] or q in state["byzantine"] or is_busy(state, q):
                    continue
                for said in self.possible(state, q, path):
                    yield self.step(state, path, q, said)

    def step(self, state: State, path: Path, q: str, said: tuple[Any, ...]) -> Step:
        def speaks(way: Way) -> None:
            way.run(q, lambda: self.says(way, q, path, said))

        key: tuple[Any, ...] | None = ("oracle", path, q, said)
        if "Consensus" in self.model.oracles[path]:
            key = ("oracle", path, q)
        if not self.owes(state, path, q, said):
            key = None
        return Step(f"the oracle tells {q} {said}", speaks, key)

    def unkept(self, state: State) -> frozenset[tuple[Path, str]]:
        """Whom it still owes something, of each layer: in no run for ever."""
        return frozenset(
            (path, q)
            for path in self.model.oracles
            for q in self.model.processes
            if any(self.owes(state, path, q, said) for said in self.possible(state, q, path))
        )

    def owes(self, state: State, path: Path, q: str, said: tuple[Any, ...]) -> bool:
        """Whether it has to say that to ``q`` (of several values of a consensus, one)."""
        faulty = state["down"] | state["omitted"] | state["byzantine"]
        if q in faulty:
            return False
        told = {p for p, each in state["said by", path] if each == said}
        match self.model.oracles[path]:
            case "BestEffortBroadcast":
                return said[0] not in faulty
            case "ReliableBroadcast":
                return (said[0] == q) or bool(told - faulty)
            case "UniformReliableBroadcast":
                return (said[0] == q) or bool(told)
            case _:
                return True
