"""The checkers that are compared: how each is built for a case, run, and understood.

A contestant is a function from a :class:`Case` to a :class:`Sample`. It does the whole way from the
text of the model to the verdict, each time anew, inside the folder it is given. Those that leave
nothing out have to find the case's number of states; the others no more than that.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.measure import COMPILER, Finished, Stopwatch

ROOT = Path(__file__).resolve().parent.parent
PEERS = Path(__file__).resolve().parent / "peers"

C_FLAGS = ("-std=gnu11", "-O3", "-march=native")
SPIN_FLAGS = ("-O2", "-DSAFETY")
RUMUR_OPTIONS = (
    *("--threads", "1", "--deadlock-detection", "off"),
    *("--pack-state", "off", "--output-format", "machine-readable"),
)
RUMUR_FLAGS = ("-std=c11", "-O3", "-march=native", "-mtune=native", "-flto", "-fwhole-program")


def _ours() -> str:
    """Our command: the one of the environment that this runs in, or else any."""
    beside = Path(sys.executable).with_name("bivalence")
    return str(beside) if beside.exists() else "bivalence"


OUR_COMMAND = _ours()
MEGABYTE = 1 << 20


class Who(StrEnum):
    """The contestants, in the order of the table."""

    OURS = "bivalence"
    C = "C"
    SPIN = "SPIN"
    COLLAPSE = "SPIN COLLAPSE"
    RUMUR = "Rumur"
    OURS_SYMMETRY = "bivalence symmetry"
    OURS_AUTO = "bivalence auto"
    SPIN_ORDER = "SPIN por"
    RUMUR_SYMMETRY = "Rumur symmetry"


class Misunderstood(Exception):
    """A checker's output lacks what has to be in it, or says that something is wrong."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one contestant.

    ``search`` seconds are those of the exploration, ``whole`` all from the text of the model to the
    verdict (generate, compile, run); ``peak`` bytes are those of the process that explores,
    ``stored`` those that it says it needs for the states and whatever it finds them by (``None``
    where it doesn't say). ``depth`` is the largest distance from the initial states, ``None`` where
    a tool doesn't say or has left something out. ``used``: reductions by which it explored less.
    """

    states: int
    depth: int | None
    search: float
    whole: float
    peak: int
    stored: int | None = None
    used: tuple[str, ...] = ()


Contest = Callable[[Case, Stopwatch, Path], Sample]


def counted(spec: str, folder: Path) -> str:
    """``FILE::CHECK`` as it is, or of a copy in ``folder`` that expects no number of states.

    Where that is expected all states are explored, whatever else is wanted.
    """
    file, _, check = spec.partition("::")
    text = (ROOT / file).read_text()
    if not re.search(r"^ *expect states ", text, flags=re.MULTILINE):
        return spec
    copy = folder / Path(file).name
    copy.write_text(re.sub(r"^ *expect states .*\n", "", text, flags=re.MULTILINE))
    return f"{copy}::{check}"


def ours(reduce: str, case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """``bivalence check``; the search is timed by the command itself.

    It is run twice: for the whole way nothing is compiled yet, for the search all is.
    """
    command = [OUR_COMMAND, "check", counted(case.spec, folder), "--no-explain"]
    for name, value in case.parameters.items():
        command += ["--set", f"{name}={value}"]
    command += ["--threads", "1", "--reduce", reduce, "--json", "-"]
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    first = stopwatch.run(command, ROOT, settings=cache)
    done = stopwatch.run(command, ROOT, settings=cache)
    document = report_of(done)
    if document.get("exhaustive") is not True:
        raise Misunderstood(f"{OUR_COMMAND} did not explore all of {case.name}: {done.output}")
    used = tuple(document["reduced"]["used"])
    states = int(document["distinct_states"])
    return Sample(
        states=states,
        depth=None if used else int(document["depth"]),
        search=float(document["seconds"]),
        whole=first.seconds,
        peak=done.peak,
        stored=int(float(document["bytes_per_state"]) * states),
        used=used,
    )


def hand_written_c(case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """The C program of the model; the search is timed by the program itself."""
    source = str(PEERS / f"{case.model}.c")
    built = stopwatch.run([COMPILER, *C_FLAGS, *case.macros(), "-o", "search", source], folder)
    done = stopwatch.run(["./search"], folder)
    document = json_object(done)
    return Sample(
        states=int(document["states"]),
        depth=int(document["depth"]),
        search=float(document["seconds"]),
        whole=built.seconds + done.seconds,
        peak=done.peak,
    )


def spin(flags: tuple[str, ...], case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """SPIN, depth first; the search is the whole run of the verifier.

    Its table has one to two slots for each state.
    """
    source = str(PEERS / f"{case.model}.pml")
    generated = stopwatch.run(["spin", *case.macros(), "-a", source], folder)
    built = stopwatch.run([COMPILER, *SPIN_FLAGS, *flags, "-o", "pan", "pan.c"], folder)
    slots = max(16, case.states.bit_length())
    done = stopwatch.run(["./pan", "-E", f"-m{case.depth}", f"-w{slots}"], folder)
    if _number(r"errors: (\d+)", done) or "search depth too small" in done.output:
        raise Misunderstood(f"SPIN on {case.name}: {done.output}")
    found = re.search(r"([\d.]+)\s+actual memory usage for states", done.output)
    rows = 0.0 if found is None else float(found.group(1)) * MEGABYTE
    return Sample(
        states=_number(r"(\d+) states, stored", done) - case.before,
        depth=None,
        search=done.seconds,
        whole=generated.seconds + built.seconds + done.seconds,
        peak=done.peak,
        stored=int(rows) + 8 * (1 << slots) if found is not None else None,
        used=() if "-DNOREDUCE" in flags else ("por",),
    )


def rumur(symmetry: bool, case: Case, stopwatch: Stopwatch, folder: Path) -> Sample:
    """Rumur, built as its own wrapper does; the search is the whole run of the verifier."""
    text = (PEERS / f"{case.model}{'_symmetric' if symmetry else ''}.m").read_text()
    for name, value in case.given().items():
        text = re.sub(rf"^(  {name}): \d+;", rf"\1: {value};", text, flags=re.MULTILINE)
    (folder / "model.m").write_text(text)
    renaming = ("--symmetry-reduction", "heuristic" if symmetry else "off")
    options = (*RUMUR_OPTIONS, *renaming, *case.options)
    generated = stopwatch.run(["rumur", *options, "-o", "model.c", "model.m"], folder)
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
        used=("symmetry",) if symmetry else (),
    )


@dataclass(frozen=True, slots=True)
class Contestant:
    """A function that plays, the program that it needs, and the end of its file in ``peers/``."""

    play: Contest
    needs: str | None
    file: str | None

    def missing(self, case: Case) -> str | None:
        """Why it can't take part, in words, or ``None``."""
        if self.needs is not None and shutil.which(self.needs) is None:
            return f"{self.needs} is not installed"
        if self.file is None:
            spec = case.spec.partition("::")[0]
            return None if (ROOT / spec).is_file() else f"there is no {spec}"
        name = f"{case.model}{self.file}"
        return None if (PEERS / name).is_file() else f"there is no peers/{name}"


CONTESTANTS: Mapping[Who, Contestant] = {
    Who.OURS: Contestant(partial(ours, "none"), OUR_COMMAND, None),
    Who.C: Contestant(hand_written_c, None, ".c"),
    Who.SPIN: Contestant(partial(spin, ("-DNOREDUCE",)), "spin", ".pml"),
    Who.COLLAPSE: Contestant(partial(spin, ("-DNOREDUCE", "-DCOLLAPSE")), "spin", ".pml"),
    Who.RUMUR: Contestant(partial(rumur, False), "rumur", ".m"),
    Who.OURS_SYMMETRY: Contestant(partial(ours, "symmetry"), OUR_COMMAND, None),
    Who.OURS_AUTO: Contestant(partial(ours, "auto"), OUR_COMMAND, None),
    Who.SPIN_ORDER: Contestant(partial(spin, ()), "spin", ".pml"),
    Who.RUMUR_SYMMETRY: Contestant(partial(rumur, True), "rumur", "_symmetric.m"),
}
"""In the order of the table. A C compiler is not among the needs: nothing is measured without."""
FULL = (Who.OURS, Who.C, Who.SPIN, Who.COLLAPSE, Who.RUMUR)
"""Those that leave nothing out."""


def report_of(done: Finished) -> dict[str, Any]:
    """The report on the one check of which a process of ours printed a document."""
    found = json_object(done).get("reports")
    if not isinstance(found, list) or len(found) != 1:
        raise Misunderstood(f"not one report: {done.output[:2000]}")
    return dict(found[0])


def json_object(done: Finished) -> dict[str, Any]:
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
