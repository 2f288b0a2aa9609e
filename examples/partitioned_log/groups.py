"""The argument of 2017 in a simulator: what a log, a producer and a group can promise, audited.

`python examples/partitioned_log/groups.py` plays all scenes and prints a line for each; with the
name of one it prints the whole report. There is no broker here: see simulator.py.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.partitioned_log.simulator import (  # noqa: E402
    Log,
    Member,
    Producer,
    Rules,
    rebalance,
)
from examples.telling import Story, tell  # noqa: E402


@dataclass(frozen=True)
class Scene:
    """``rules``: of the log; ``commits_first``: the worker that dies had committed before it
    processed; ``remembers``: who receives the effects recognises repetitions."""

    rules: Rules = field(default_factory=Rules)
    commits_first: bool = False
    remembers: bool = True


SCENES = {
    "right": Scene(),
    "processes_first": Scene(remembers=False),
    "commits_first": Scene(commits_first=True),
    "without_numbers": Scene(Rules(numbers=False)),
    "without_copies": Scene(Rules(copies=False)),
    "two_owners": Scene(Rules(one_owner=False)),
    "forgets_commits": Scene(Rules(keeps_commits=False)),
}


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs are in ``folder/logs`` then.

    A producer sends twelve records to two partitions, and an answer is lost. A member of the group
    polls, and dies between processing a record and committing it, or the other way round. Another
    one takes over.
    """
    scene = SCENES[name]
    log = Log(scene.rules)
    effects: set[str] | None = set() if scene.remembers else None
    with ExitStack() as stack:

        def recorder(process: str) -> Recorder:
            file = folder / "logs" / f"{process}.ndjson"
            return stack.enter_context(Recorder(file, process))

        shop = Producer("shop", log, recorder("shop"))
        first = Member("first", log, recorder("first"))
        second = Member("second", log, recorder("second"))
        for number in range(6):
            shop.send(f"order{number}", "xy"[number % 2], answer_lost=number == 3)
        rebalance(log, first, second)
        for member in (first, second):
            _work(member, effects)
        log.elect("x")
        for number in range(6, 12):
            shop.send(f"order{number}", "xy"[number % 2])
        _dies(first, scene, effects)
        rebalance(log, second)
        _work(second, effects)


def _work(member: Member, effects: set[str] | None) -> None:
    """Polls, processes and commits all that there is."""
    for partition in [*member.places]:
        for message in member.poll(partition):
            member.perform(message, effects)
        member.commit(partition)


def _dies(member: Member, scene: Scene, effects: set[str] | None) -> None:
    """Polls a record and dies between processing and committing it."""
    (message,) = member.poll("x", 1)
    if scene.commits_first:
        member.commit("x")
    else:
        member.perform(message, effects)
    member.recorder.record("crash")


STORY = Story(
    tuple(SCENES),
    play,
    "ConsumerGroup",
    over=("exactly_once over effects",),
    clients=("shop",),
)

if __name__ == "__main__":
    sys.exit(tell(STORY))
