"""Ends runs by signals at random moments, resumes them, and compares them with undisturbed ones.

python -m tests.cli.resuming --runs 100
python -m tests.cli.resuming --runs 5 --only "on Spark"
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.cli.signalling import Ended, Moment, ended_by

NONE = "--reduce none --no-explain"
EXPLAINED = "explained"
CASES = {
    "invariant holds": f"specs/oracles/two_phase.bcast::three --set n=8 {NONE}",
    "invariant is violated": f"specs/byzantine/bracha.bcast::four.any_sender {NONE}",
    "liveness holds": f"specs/broadcast/uniform_all_ack.bcast::majority_may_crash --set n=4 {NONE}",
    "a run ends badly": f"specs/byzantine/bracha.bcast::four.few_echoes {NONE}",
    "some of each": f"specs/broadcast/eager_reliable.bcast::crash_two --set n=4 {NONE}",
    "with reductions": "specs/byzantine/bracha.bcast::four --coverage",
    EXPLAINED: "specs/byzantine/bracha.bcast::four.any_sender --explain 600",
    "rows on disk": f"specs/oracles/two_phase.bcast::three --set n=8 {NONE} --memory 25M",
    "on Spark": f"specs/oracles/two_phase.bcast::three --set n=6 {NONE} --engine spark"
    " --master local[2] --shards 2",
}
"""Checks, and how they are run; each is searched for about a second."""
SPARK = "on Spark"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
COUNTS = ("distinct_states", "depth", "transitions", "exhaustive", "stopped", "exit_code")
LEGS = 3
"""At most so many sessions of a run are ended."""
OF_THE_MACHINE = ("seconds", "liveness_seconds", "bytes_per_state", "bytes_per_edge", "kept")
"""What a report says of the session, and not of the check."""


def result(document: Path) -> dict[str, Any]:
    """Returns all that a report of one check says of the check: counts, depth, verdicts, traces."""
    (report,) = json.loads(document.read_text("utf-8"))["reports"]
    report["notes"] = [note for note in report["notes"] if not note.startswith("spark: ")]
    return {name: value for name, value in report.items() if name not in OF_THE_MACHINE}


def decided(report: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of a result that is known when the search is complete."""
    words = {each["property"]: each["verdict"] for each in report["verdicts"]}
    return {**{name: report[name] for name in COUNTS}, **words}


def differences(whole: dict[str, Any], resumed: dict[str, Any]) -> list[str]:
    """Returns the fields in which two results differ, with both values."""
    names = sorted(whole.keys() | resumed.keys())
    return [
        f"{name}: {str(whole.get(name))[:300]} / {str(resumed.get(name))[:300]}"
        for name in names
        if whole.get(name) != resumed.get(name)
    ]


class Disturbed:
    """One run of a case in ``folder``, each of whose sessions gets a signal until the last one."""

    def __init__(self, command: str, folder: Path, rng: random.Random) -> None:
        self.command, self.folder, self.rng = command, folder, rng
        self.run, self.document = folder / "run", folder / "report.json"
        self.sessions = 0
        self.moments: list[str] = []

    @property
    def kept(self) -> bool:
        """Whether there is something to resume."""
        return (self.run / "run.json").exists()

    def session(self, delay: float | None, *, saved: bool = False) -> Ended:
        """Runs until the end, or until a signal that comes ``delay`` seconds after the start;
        ``saved``: after some level was saved."""
        self.sessions += 1
        folder = self.folder / str(self.sessions)
        folder.mkdir()
        words = ["check", *self.command.split(), "--json", str(self.document)]
        words += ["--resume" if self.kept else "--checkpoint", str(self.run)]
        every = ("0",) if saved else ("0", "0", "0.3", "30")
        words += ["--checkpoint-every", self.rng.choice(every)]
        if "--master" in words:
            words += ["--exchange", self.rng.choice(("shuffle", "barrier"))]
        else:
            words += ["--threads", self.rng.choice("123")]
        number = self.rng.choice(ENDING)
        begun = (lambda: self.saved_levels > 1) if saved else None
        moment = Moment(number, 1e6 if delay is None else delay, begun=begun)
        if delay is not None:
            self.moments.append(f"{number.name} after {delay:.2f} s")
        return ended_by(words, moment, folder)

    @property
    def saved_levels(self) -> int:
        """The number of commits, of the initial states the first one."""
        return len([*self.run.glob("levels/*/_SUCCESS")])

    def problems(
        self, whole: dict[str, Any], delays: list[float], *, saved: bool = False
    ) -> list[str]:
        """Returns what is wrong with the run whose undisturbed result is ``whole``, one session of
        which is ended after each of ``delays``, in seconds; ``saved``: they begin when some level
        was saved."""
        found = list[str]()
        for delay in delays:
            begun = self.kept  # a session that is resumed may end before it opens the folder
            ended = self.session(delay, saved=saved)
            killed = ended.code == -signal.SIGKILL
            if ended.processes or (ended.files and not killed):
                found.append(f"left behind: {ended.processes} {ended.files}")
            if ended.code not in (0, 1, 3) and not killed:
                return [*found, f"exit code {ended.code}: {ended.out} {ended.err}"]
            if ended.code in (0, 1) and not self.kept:
                return [*found, *self._unlike(whole, signalled=True)]
            hint = "resume with:" in ended.out + ended.err
            if (hint and not self.kept) or (self.kept and not (hint or begun or killed)):
                found.append(f"the command to resume is {'' if hint else 'not '}printed")
        ended = self.session(None)
        if ended.code not in (0, 1):
            return [*found, f"exit code {ended.code}: {ended.out} {ended.err}"]
        return found + self._unlike(whole, signalled=False)

    def _unlike(self, whole: dict[str, Any], *, signalled: bool) -> list[str]:
        """Returns what differs where the run is complete.  If a signal came after the search, the
        trace need not be minimised, and what is unknown of it is reported."""
        found = [f"a file is left: {each}" for each in self.run.rglob("*")]
        both = [whole, result(self.document)]
        if signalled and any("interrupted" in note for note in both[1]["notes"]):
            both = [decided(one) for one in both]
        return found + differences(*both)


def undisturbed(command: str, folder: Path) -> tuple[dict[str, Any], float]:
    """Returns the result of a command without a folder, and the seconds that it takes with one."""
    document = folder / "whole.json"
    started = time.monotonic()
    (folder / "whole").mkdir()
    words = ["check", *command.split(), "--json", str(document)]
    ended = ended_by(words, Moment(signal.SIGTERM, 1e6), folder / "whole")
    assert ended.code in (0, 1), ended
    return result(document), time.monotonic() - started


def main() -> None:
    """Prints every difference, and how many sessions of each case were ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=CASES)
    given = parser.parse_args()
    names = [given.only] if given.only else [name for name in CASES if name != SPARK]
    ends, wrong = Counter[str](), 0
    with tempfile.TemporaryDirectory() as top:
        wholes = dict[str, tuple[dict[str, Any], float]]()
        for number in range(given.runs):
            name = names[number % len(names)]
            if name not in wholes:
                (Path(top) / name).mkdir()
                wholes[name] = undisturbed(CASES[name], Path(top) / name)
            rng = random.Random(f"{given.seed} {number}")
            with tempfile.TemporaryDirectory(dir=top) as folder:
                run = Disturbed(CASES[name], Path(folder), rng)
                whole, seconds = wholes[name]
                delays = [rng.uniform(0.2, seconds) for _ in range(rng.randint(1, LEGS))]
                found = run.problems(whole, delays)
            ends[name] += len(run.moments)
            wrong += bool(found)
            for each in found:
                print(f"run {number}, {name}, {', '.join(run.moments)}: {each}", flush=True)
    for name, count in ends.items():
        print(f"{name:24}{count:5} sessions ended")
    print(f"{sum(ends.values())} sessions of {given.runs} runs ended, {wrong} runs differ")


if __name__ == "__main__":
    main()
