"""The checkers that are compared: how each is built for a case, run, and understood.

A contestant is a function from a :class:`Case` to a :class:`Sample`. It does the whole way from the
text of the model to the verdict, each time anew, inside the folder it is given.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import COMPILER, Finished, Stopwatch

ROOT = Path(__file__).resolve().parent.parent
PEERS = Path(__file__).resolve().parent / "peers"

C_FLAGS = ("-std=gnu11", "-O3", "-march=native")
SPIN_FLAGS = ("-O2", "-DSAFETY", "-DNOREDUCE")
SPIN_DEPTH = 10_000
"""Room on SPIN's depth-first stack, in steps; a longer run would be cut off and the count wrong."""
RUMUR_OPTIONS = (
    *("--threads", "1", "--deadlock-detection", "off", "--symmetry-reduction", "off"),
    *("--pack-state", "off", "--output-format", "machine-readable"),
)
RUMUR_FLAGS = ("-std=c11", "-O3", "-march=native", "-mtune=native", "-flto", "-fwhole-program")

OURS = "bivalence"


class Misunderstood(Exception):
    """A checker's output lacks what has to be in it, or says that something is wrong."""


@dataclass(frozen=True, slots=True)
class Case:
    """A model at one size.

    ``model`` is the stem of its files in ``peers/``, ``spec`` what our command checks.
    ``parameters`` go to our command as they are and to the peers as macros or constants in
    capitals. ``states`` is the number every contestant has to find, ``bits`` what one state needs
    at least when packed.
    """

    name: str
    model: str
    spec: str
    parameters: Mapping[str, int]
    states: int
    bits: int
    quick: bool

    def macros(self) -> list[str]:
        """The parameters as options of a C preprocessor."""
        return [f"-D{name.upper()}={value}" for name, value in self.parameters.items()]


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one contestant.

    ``search`` seconds are those of the exploration, ``whole`` all from the text of the model to the
    verdict (generate, compile, run); ``peak`` bytes are those of the process that explores.
    ``depth`` is the largest distance from the initial states, ``None`` where a tool doesn't say.
    """

    states: int
    depth: int | None
    search: float
    whole: float
    peak: int


Contest = Callable[[Case, Stopwatch, Path], Sample]


def ours(case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """``bivalence check``; the search is timed by the command itself."""
    del folder
    command = [OURS, "check", case.spec]
    for name, value in case.parameters.items():
        command += ["--set", f"{name}={value}"]
    done = stopwatch.run([*command, "--threads", "1", "--json", "-"], ROOT)
    document = _json_object(done)
    if document.get("exhaustive") is not True:
        raise Misunderstood(f"{OURS} did not explore all of {case.name}: {done.output}")
    return Sample(
        states=int(document["distinct_states"]),
        depth=int(document["depth"]),
        search=float(document["seconds"]),
        whole=done.seconds,
        peak=done.peak,
    )


def hand_written_c(case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """The C program of the model; the search is timed by the program itself."""
    source = str(PEERS / f"{case.model}.c")
    built = stopwatch.run([COMPILER, *C_FLAGS, *case.macros(), "-o", "search", source], folder)
    done = stopwatch.run(["./search"], folder)
    document = _json_object(done)
    return Sample(
        states=int(document["states"]),
        depth=int(document["depth"]),
        search=float(document["seconds"]),
        whole=built.seconds + done.seconds,
        peak=done.peak,
    )


def spin(case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """SPIN, depth first; the search is the whole run of the verifier."""
    source = str(PEERS / f"{case.model}.pml")
    generated = stopwatch.run(["spin", *case.macros(), "-a", source], folder)
    built = stopwatch.run([COMPILER, *SPIN_FLAGS, "-o", "pan", "pan.c"], folder)
    slots = max(16, case.states.bit_length() + 1)
    done = stopwatch.run(["./pan", "-E", f"-m{SPIN_DEPTH}", f"-w{slots}"], folder)
    if _number(r"errors: (\d+)", done) or "search depth too small" in done.output:
        raise Misunderstood(f"SPIN on {case.name}: {done.output}")
    return Sample(
        states=_number(r"(\d+) states, stored", done),
        depth=None,
        search=done.seconds,
        whole=generated.seconds + built.seconds + done.seconds,
        peak=done.peak,
    )


def rumur(case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """Rumur, built as its own wrapper does; the search is the whole run of the verifier."""
    text = (PEERS / f"{case.model}.m").read_text()
    for name, value in case.parameters.items():
        text = re.sub(rf"^(  {name.upper()}): \d+;", rf"\1: {value};", text, flags=re.MULTILINE)
    (folder / "model.m").write_text(text)
    generated = stopwatch.run(["rumur", *RUMUR_OPTIONS, "-o", "model.c", "model.m"], folder)
    wide = ("-mcx16",) if platform.machine() in {"x86_64", "AMD64"} else ()
    compile_ = [COMPILER, *RUMUR_FLAGS, *wide, "-o", "model", "model.c", "-lpthread"]
    built = stopwatch.run(compile_, folder)
    done = stopwatch.run(["./model"], folder)
    if _number(r'<summary [^>]*errors="(\d+)"', done):
        raise Misunderstood(f"Rumur on {case.name}: {done.output[-2000:]}")
    return Sample(
        states=_number(r'<summary states="(\d+)"', done),
        depth=None,
        search=done.seconds,
        whole=generated.seconds + built.seconds + done.seconds,
        peak=done.peak,
    )


@dataclass(frozen=True, slots=True)
class Contestant:
    """A function that plays, and the programs that it needs."""

    play: Contest
    needs: tuple[str, ...]

    def missing(self) -> str | None:
        """The first program that is needed and not installed."""
        return next((name for name in self.needs if shutil.which(name) is None), None)


CONTESTANTS: Mapping[str, Contestant] = {
    OURS: Contestant(ours, (OURS,)),
    "C": Contestant(hand_written_c, ()),
    "SPIN": Contestant(spin, ("spin",)),
    "Rumur": Contestant(rumur, ("rumur",)),
}
"""In the order of the table. A C compiler is not among the needs: nothing is measured without."""


def _json_object(done: Finished) -> dict[str, Any]:
    """What a process printed, which has to be one JSON object."""
    try:
        document = json.loads(done.output)
    except json.JSONDecodeError as error:
        raise Misunderstood(f"no JSON: {error}: {done.output[:2000]}") from error
    if not isinstance(document, dict):
        raise Misunderstood(f"not one JSON object: {done.output[:2000]}")
    return document


def _number(pattern: str, done: Finished) -> int:
    """The number that ``pattern`` captures in what a process printed."""
    found = re.search(pattern, done.output)
    if found is None:
        raise Misunderstood(f"no {pattern!r} in: {done.output[-2000:]}")
    return int(found.group(1))
