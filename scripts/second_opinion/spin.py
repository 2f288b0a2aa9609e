"""Compiles and runs the verifiers that SPIN makes."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

from msgspec import Struct

from scripts.second_opinion.program import promela

OPTIONS = (32, 256, 2048)
"""Numbers of successors for which there is a verifier."""
TOO_MANY, TOO_FAIR = 77, 78
"""Exit codes of a verifier: a node has more successors, there are too many constraints."""
SEARCH = ("-DBFS", "-DSAFETY", "-DNOCLAIM")
CYCLES = ("-DNOFAIR",)
DEPTHS = (100_000, 5_000_000)
"""Limits of the length of paths that are tried one after another: memory is taken for all of it."""


class Unsettled(Exception):
    """SPIN did not end its search; the message says why."""


class Searched(Struct, frozen=True):
    """What SPIN and the program report of the reachable states; ``bad``: for each property whether
    its bad states are among them."""

    states: int
    depth: int
    ways: int
    ends: int
    faults: int
    bad: tuple[bool, ...]


def missing() -> str:
    """Returns why there can be no second opinion; empty where there can be one."""
    lacking = [name for name in ("spin", "gcc") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} not installed" if lacking else ""


class Verifiers:
    """Verifiers in ``folder``, each made on first use; ``seconds``: the limit of the processor
    time of one search, ``megabytes``: the limit of its memory."""

    def __init__(self, folder: Path, seconds: int, megabytes: int) -> None:
        self.folder, self.seconds, self.megabytes = folder, seconds, megabytes

    def compile_program(self, text: str, *, quickly: bool) -> None:
        """Compiles the program of a system, which replaces the last one; ``quickly``: it runs for a
        moment only."""
        source = self.folder / "system.c"
        source.write_text(text, "utf-8")
        self._gcc(
            "-O0" if quickly else "-O1", "-fno-strict-aliasing", "-c", source, "-o", self._object
        )

    @property
    def _object(self) -> Path:
        return self.folder / "system.o"

    def search(self, bytes_: int) -> Searched:
        """Returns what a breadth-first search finds; raises :class:`Unsettled`."""
        out = self._run(bytes_, (), liveness=False)
        said = re.search(
            r"expanded (\d+) ways (\d+) ends (\d+) faults (\d+) unevaluable (\d+) bad ([01]*)", out
        )
        stored = re.search(r"(\d+) states, stored", out)
        depth = re.search(r"depth reached (\d+)", out)
        if said is None or stored is None or depth is None:
            raise Unsettled(f"no result: {out[-300:]}")
        if said[5] != "0":
            raise Unsettled("a property that can't be evaluated in some state")
        states = int(stored[1]) - 1
        if states != int(said[1]):
            raise Unsettled(f"{states} states stored, {said[1]} expanded")
        bad = tuple(bit == "1" for bit in said[6])
        ways, ends, faults = int(said[2]), int(said[3]), int(said[4])
        return Searched(states, int(depth[1]) - 1, ways, ends, faults, bad)

    def has_fair_cycle(self, number: int) -> bool:
        """Returns whether some fair run violates property ``number``; raises
        :class:`Unsettled`."""
        environment = {"SECOND_OPINION": f"L{number}"}
        for depth in DEPTHS:
            out = self._run(28, ("-a", f"-m{depth}"), liveness=True, environment=environment)
            if "search depth too small" not in out or "acceptance cycle" in out:
                break
        errors = re.search(r"errors: (\d+)", out)
        if errors is None:
            raise Unsettled(f"no result: {out[-300:]}")
        if int(errors[1]):
            if "acceptance cycle" not in out:
                raise Unsettled(f"another error: {out[:300]}")
            return True
        if "search depth too small" in out:
            raise Unsettled("the search is deeper than the limit")
        return False

    def _run(
        self, bytes_: int, how: tuple[str, ...], *, liveness: bool,
        environment: dict[str, str] | None = None,
    ) -> str:  # fmt: skip
        for options in OPTIONS:
            verifier = self._linked(bytes_, options, liveness=liveness)
            ended = subprocess.run(
                [verifier, "-E", "-w20", *how], capture_output=True, text=True, cwd=self.folder,
                env={**os.environ, **(environment or {})}, check=False, preexec_fn=self._limit,
            )  # fmt: skip
            if ended.returncode == -signal.SIGXCPU:
                raise Unsettled(f"more than {self.seconds} s of processor time")
            if ended.returncode == TOO_MANY:
                continue
            if ended.returncode == TOO_FAIR:
                raise Unsettled("too many fairness constraints")
            if "out of memory" in ended.stdout or "memory limit" in ended.stdout:
                raise Unsettled(f"more than {self.megabytes} MB")
            return ended.stdout + ended.stderr
        raise Unsettled(f"a state with more than {OPTIONS[-1]} successors")

    def _limit(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds + 1))

    def _linked(self, bytes_: int, options: int, *, liveness: bool) -> Path:
        room = 32
        while room < bytes_:
            room *= 2
        name = f"{'cycles' if liveness else 'search'}-{room}-{options}"
        verifier, made = self.folder / name, self.folder / f"{name}.o"
        if not made.exists():
            self._make(made, room, options, liveness=liveness)
        self._gcc(made, self._object, "-o", verifier)
        return verifier

    def _make(self, made: Path, room: int, options: int, *, liveness: bool) -> None:
        text = promela(room, options, liveness=liveness)
        (self.folder / "process.pml").write_text(text, "utf-8")
        subprocess.run(
            ["spin", "-a", "process.pml"], cwd=self.folder, check=True, capture_output=True
        )
        flags = CYCLES if liveness else SEARCH
        vector = f"-DVECTORSZ={room + 1024}"
        limit = f"-DMEMLIM={self.megabytes}"
        flags = (*flags, "-DNOREDUCE", vector, limit, "-O1" if options < OPTIONS[-1] else "-O0")
        self._gcc(*flags, "-c", self.folder / "pan.c", "-o", made)

    def _gcc(self, *words: str | Path) -> None:
        subprocess.run(["gcc", "-w", *words], cwd=self.folder, check=True)
