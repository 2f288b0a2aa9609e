"""The command line of an exported harness."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import importlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .acts import Act
from .drive import Outcome, Try
from .failures import CannotRun
from .hook_process import Hooks
from .judge import HOLDS, UNKNOWN, VACUOUS, VIOLATED, WORDS, Verdict, history, judged
from .plan import plan, with_cuts
from .processes import kept

HAPPENED, WRONG, NOT_SEEN = 1, 2, 3
"""Exit codes."""


SHOWN = 5
"""Lines that are shown of what the trace does not have."""
NAMES: dict[str, type] = {
    "SPEC": str, "SETTINGS": list, "PROPERTY": str, "INTERFACE": str, "OBJECT": str,
    "BIVALENCE": list, "PROCESSES": list, "PUPPETS": list, "ENDS": bool, "NOTES": list,
    "STEPS": list,
}  # fmt: skip
"""What ``schedule.py`` has to define."""


def main(folder: Path, arguments: Sequence[str] | None = None) -> int:
    """Plays the schedule in ``folder`` with the hooks there; returns the exit code: 1 where the
    violation happened, 2 where the harness can't run, 3 where it did not happen in any try."""
    parser = argparse.ArgumentParser(description="Makes a counterexample happen in a real system.")
    parser.add_argument("--plan", action="store_true", help="say what can be forced, and end")
    parser.add_argument("--tries", type=int, default=10, metavar="N", help="tries at most (10)")
    patience = "seconds without anything new, after which a step is given up (5)"
    parser.add_argument("--patience", type=float, default=5.0, metavar="SECONDS", help=patience)
    parser.add_argument("--hooks", type=Path, default=folder / "hooks.py", metavar="FILE",
                        help="hooks.py of this folder by default")  # fmt: skip
    parser.add_argument("--spec", metavar="FILE::CHECK", help="hold the logs to another check")
    asked = parser.parse_args(arguments)
    if asked.tries < 1 or asked.patience <= 0:
        parser.error("--tries and --patience are positive")
    return kept(lambda: _guarded(folder, asked))


def _schedule(folder: Path) -> Any:
    """Returns the schedule in ``folder``; raises :class:`CannotRun` (E139) where it is none."""
    try:
        found = importlib.import_module("schedule")
    except Exception as problem:
        line = getattr(problem, "lineno", None)
        place = f"schedule.py:{line}" if line else "schedule.py"
        said = " ".join(str(problem).split())
        raise CannotRun("E139", f"{place}: {type(problem).__name__}: {said}") from None
    for name, kind in NAMES.items():
        if not isinstance(getattr(found, name, None), kind):
            raise CannotRun("E139", f"schedule.py: {name} has to be a {kind.__name__}")
    for number, act in enumerate(found.STEPS, 1):
        if not isinstance(act, Act):
            raise CannotRun(
                "E139", f"schedule.py: item {number} of STEPS is not an act: {act!r:.60}"
            )
        if act.process not in ("", *found.PROCESSES):
            raise CannotRun("E139", f"schedule.py: step {act.number}: no process {act.process}")
    return found


def _guarded(folder: Path, asked: argparse.Namespace) -> int:
    try:
        return _play(_schedule(folder), folder, asked)
    except CannotRun as problem:
        print(f"error {problem.code}: {problem}", file=sys.stderr)
        return WRONG


def _play(schedule: Any, folder: Path, asked: argparse.Namespace) -> int:
    hooks = Hooks(asked.hooks.resolve())
    own = bool(hooks.settings["OWN_COPIES"])
    steps = schedule.STEPS if hooks.held else with_cuts(schedule.STEPS)
    for line in plan(steps, hooks.level, own, "fire" in hooks.has, hooks.held):
        print(line)
    for note in schedule.NOTES:
        print(f"note: {note}")
    if asked.plan:
        return 0
    with _alone(folder):
        return _tried(schedule, steps, hooks, folder, asked)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps other runs of the harness away; raises :class:`CannotRun` (E145) if one is going on."""
    with (folder / "schedule.py").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CannotRun("E145", f"another run of {folder} is going on") from None
        yield


def _tried(
    schedule: Any, steps: Sequence[Act], hooks: Hooks, folder: Path, asked: argparse.Namespace
) -> int:
    tries = folder / "tries"
    shutil.rmtree(tries, ignore_errors=True)
    spec = asked.spec or _found(schedule.SPEC, folder)
    schedule.INTERFACE = _found(schedule.INTERFACE, folder)
    schedule.OBJECT = _found(schedule.OBJECT, folder)
    happened = finds = played = 0
    for number in range(1, asked.tries + 1):
        here = tries / str(number)
        here.mkdir(parents=True)
        played = number
        one = Try(steps, schedule.PROCESSES, schedule.PUPPETS, hooks, here,
                  asked.patience, schedule.ENDS)  # fmt: skip
        outcome = asyncio.run(one.play())
        conforms, holds = _verdicts(schedule, spec, folder, here, outcome)
        _say(number, schedule, spec, outcome, conforms, holds, here)
        finds += conforms.code == VIOLATED
        if holds.code == VIOLATED:
            happened += 1
            break
    return _sum(schedule, spec, happened, finds, played)


def _found(name: str, folder: Path) -> str:
    """Returns ``FILE::NAME`` with the file as it is found from anywhere, if it is in ``folder``."""
    file = name.rpartition("::")[0]
    return str(folder / name) if file and (folder / file).exists() else name


def _verdicts(
    schedule: Any, spec: str, folder: Path, here: Path, outcome: Outcome
) -> tuple[Verdict, Verdict]:
    logs = [str(log) for log in outcome.logs]
    if not logs:
        none = Verdict(2, "no node has written a log")
        return none, none
    mapping = folder / "names.toml"
    named = ["--map", str(mapping)] if mapping.exists() else []
    tool = list(schedule.BIVALENCE)
    held = [*tool, "conform", spec, *logs, *named, *schedule.SETTINGS, "--quiet"]
    asked = ["--as", schedule.INTERFACE, "--only", schedule.PROPERTY]
    audit = [*tool, "audit", *logs, *asked, *named, "--quiet"]
    if schedule.OBJECT:
        if why := history(outcome.logs, here / "history.ndjson"):
            (conforms,) = judged([(held, here / "conform.txt")])
            return conforms, Verdict(2, why)
        audit = [*tool, "judge", str(here / "history.ndjson"), "--as", schedule.OBJECT, *named]
    if schedule.INTERFACE or schedule.OBJECT:
        conforms, holds = judged([(held, here / "conform.txt"), (audit, here / "audit.txt")])
        return conforms, holds
    (conforms,) = judged([(held, here / "conform.txt")])
    return conforms, Verdict(2, f"no interface has {schedule.PROPERTY}")


def _say(
    number: int,
    schedule: Any,
    spec: str,
    outcome: Outcome,
    conforms: Verdict,
    holds: Verdict,
    here: Path,
) -> None:
    check = spec.rpartition("::")[2]
    allowed = {
        HOLDS: f"a run of {check}", VIOLATED: f"no run of {check}",
        UNKNOWN: f"perhaps a run of {check}", VACUOUS: "no events",
    }.get(conforms.code, f"not held to the spec: {conforms.why}")  # fmt: skip
    verdict = WORDS.get(holds.code, f"is not judged: {holds.why}")
    if conforms.code == VIOLATED:
        print(f"find: the code did what {check} does not allow: {here / 'conform.txt'}")
    steps = f"{outcome.steps} of {outcome.of} steps"
    print(f"try {number}: {steps}; {schedule.PROPERTY} {verdict}; {allowed}")
    if outcome.another_way:
        print(f"  another way at {outcome.another_way}")
    for line in outcome.others[:SHOWN]:
        print(f"  not in the trace: {line}")
    if len(outcome.others) > SHOWN:
        print(f"  and {len(outcome.others) - SHOWN} more")
    sys.stdout.flush()


def _sum(schedule: Any, spec: str, happened: int, finds: int, played: int) -> int:
    tries = f"{played} {'try' if played == 1 else 'tries'}"
    if finds:
        print(f"{finds} of {tries} did what {spec.rpartition('::')[2]} does not allow")
    if happened:
        print(f"it happened: {schedule.PROPERTY} is violated, after {tries}")
        return HAPPENED
    print(f"it did not happen in {tries}: {schedule.PROPERTY} was not seen violated")
    return NOT_SEEN
