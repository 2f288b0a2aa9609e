"""The instances that all checkers look at: which model, how large, and how many states it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Case:
    """A model at one size.

    ``model`` is the stem of its files in ``peers/``, ``spec`` what our command checks.
    ``parameters`` go to our command as they are and to the peers, which get ``constants`` as well,
    as macros or constants in capitals. ``states`` is the number every contestant has to find that
    leaves nothing out, ``bits`` what one state needs at least when packed. ``orbits``: so many
    there are when processes that can be interchanged are, ``None`` where nobody else has said.
    ``before``: states that SPIN stores beside those of the model, before it has chosen where the
    model starts; ``depth``: room on SPIN's depth-first stack, in steps. ``options``: Rumur's own.
    """

    name: str
    model: str
    spec: str
    parameters: Mapping[str, int]
    states: int
    bits: int
    quick: bool = False
    orbits: int | None = None
    before: int = 0
    depth: int = 10_000
    options: tuple[str, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict)

    def given(self) -> dict[str, int]:
        """What peers are given, by name."""
        pairs = (*self.parameters.items(), *self.constants.items())
        return {name.upper(): value for name, value in pairs}

    def macros(self) -> list[str]:
        """The same as options of a C preprocessor."""
        return [f"-D{name}={value}" for name, value in self.given().items()]


def two_phase(n: int, states: int, orbits: int | None = None, *, quick: bool = False) -> Case:
    """Two-phase commit with ``n`` resource managers: 2 bits for each and 2 sets, then 4 bits."""
    spec = "specs/oracles/two_phase.bcast::three"
    name, bits = f"two_phase_{n}", 4 * n + 4
    return Case(name, "two_phase", spec, {"n": n}, states, bits, quick, orbits)


def bcast_folklore(n: int, f: int, states: int, *, quick: bool = False) -> Case:
    """Broadcast by diffusion among ``n``, ``f`` crashes: 2 bits and 1 + n sets for each."""
    spec = "specs/oracles/bcast_folklore.bcast::three"
    parameters = {"n": n, "F": f}
    bits = 3 * n + n * n
    return Case(f"bcast_folklore_{n}", "bcast_folklore", spec, parameters, states, bits, quick)


def bcast_byz(n: int, t: int, f: int, states: int, *, quick: bool = False) -> Case:
    """Broadcast by echoes: for each 2 bits, whether it lies, whether it has sent, and a set."""
    spec = "specs/oracles/bcast_byz.bcast::four"
    parameters = {"n": n, "T": t, "F": f}
    name, bits = f"bcast_byz_{n}", 4 * n + n * n
    return Case(name, "bcast_byz", spec, parameters, states, bits, quick, before=1)


def aba(n: int, t: int, f: int, states: int, orbits: int | None = None) -> Case:
    """Echo and ready with counters: for each 6 values and 2 counters, then 2 counters and liars."""
    spec = "specs/oracles/aba_asyn_byz.bcast::four"
    counter = n.bit_length()
    bits = n * (3 + 2 * counter) + 2 * counter + f.bit_length()
    name, parameters = f"aba_{n}_{f}", {"n": n, "T": t, "F": f}
    return Case(name, "aba_asyn_byz", spec, parameters, states, bits, orbits=orbits, before=1)


def paxos(top: int, values: int, states: int, *, quick: bool = False) -> Case:
    """Paxos with three acceptors: what they know, what they promised and voted for; 1a and 2a."""
    spec = "specs/oracles/paxos.bcast::three"
    ballots = top + 1
    vote, promise = (ballots * values).bit_length(), (1 + ballots * values).bit_length()
    acceptor = ballots.bit_length() + vote + ballots * (promise + 1)
    bits = 3 * acceptor + ballots * (1 + values.bit_length())
    parameters = {"top": top, "values": values}
    return Case(f"paxos_{top}_{values}", "paxos", spec, parameters, states, bits, quick)


WIDE = ("--value-type", "int16_t")
"""Rumur takes 8 bits for a parameter from 0 to 255 or undefined unless it is told otherwise."""


def ewd840(n: int, states: int, *, quick: bool = False) -> Case:
    """Termination detection: 2 bits for each node, the place of the token, its colour.

    Most of its states are initial ones, so it measures less than it seems to.
    """
    spec = "specs/oracles/ewd840.bcast::three"
    name, bits = f"ewd840_{n}", 2 * n + (n - 1).bit_length() + 1
    room = {"before": 1, "depth": 1_000_000}
    return Case(name, "ewd840", spec, {"n": n}, states, bits, quick, options=WIDE, **room)


def chang_roberts(n: int, states: int, *, quick: bool = False) -> Case:
    """Election on a ring: for each its ids to come, whether it initiates, runs; 3 outcomes."""
    spec = "specs/oracles/chang_roberts.bcast::three"
    name, bits = f"chang_roberts_{n}", n * n + 4 * n
    return Case(name, "chang_roberts", spec, {"n": n}, states, bits, quick, before=1, options=WIDE)


CASES: Mapping[str, Case] = {
    case.name: case
    for case in (
        two_phase(5, 8_832, 314, quick=True),
        two_phase(7, 296_448, 920),
        two_phase(8, 1_745_408),
        two_phase(9, 10_340_352),
        bcast_folklore(3, 1, 3_700, quick=True),
        bcast_folklore(4, 1, 501_552),
        bcast_byz(4, 1, 1, 14_424, quick=True),
        bcast_byz(5, 1, 1, 1_070_000),
        aba(4, 1, 0, 991_481, 49_801),
        aba(4, 1, 1, 5_843_977),
        paxos(1, 2, 3_921, quick=True),
        paxos(2, 4, 612_185),
        ewd840(3, 302, quick=True),
        ewd840(8, 786_942),
        chang_roberts(3, 137, quick=True),
        chang_roberts(8, 3_095_363),
    )
}
"""By name. Where no other checker's number is known all three have to find the same one."""
USUAL = (
    *("two_phase_8", "two_phase_9", "bcast_folklore_4", "bcast_byz_5"),
    *("aba_4_0", "aba_4_1", "paxos_2_4", "chang_roberts_8"),
)
"""Run when nothing else is asked for."""
