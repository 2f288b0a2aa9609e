"""The counterexamples of wrong broadcasts, made to happen in real processes.

For each fault of `node.py` the checker finds a run of the spec that has the same fault
(`faults.bcast`); it is exported as a harness, and played with the wrong code and with the right
one.
`python examples/broadcast/faults.py` prints a line for each; with names of faults, for those alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from examples import made_to_happen  # noqa: E402
from examples.made_to_happen import Example, Played, Scene, tell  # noqa: E402

SPEC = HERE / "faults.bcast"
RIGHT = {
    "no_relay": "--relay",
    "relay_in_own_name": "--relay",
    "seen_not_asked": "--relay",
    "seen_lost": "--relay --disk NODE.seen",
    "no_lock": "--relay --disk NODE.seen",
    "majority_off_by_one": "--majority",
}
"""The options of `node.py` without each fault, which is the name of a check, too."""
CHECKS = {"seen_lost": "durable", "no_lock": "durable", "majority_off_by_one": "majority"}
"""The checks of right specs, where that is not `relay`."""
FAULTS = Example(
    SPEC,
    HERE / "hooks.py",
    {
        fault: Scene(
            fault,
            CHECKS.get(fault, "relay"),
            {"BROADCAST_OPTIONS": f"{options} --fault {fault}"},
            {"BROADCAST_OPTIONS": options},
        )
        for fault, options in RIGHT.items()
    },
)


def harness(fault: str, folder: Path, spec: Path = SPEC) -> Path:
    """Writes the harness of a fault's counterexample below ``folder``, and returns its folder."""
    return made_to_happen.harness(fault, folder, spec)


def play(folder: Path, options: str, *more: str) -> Played:
    """Plays a harness with nodes that have ``options``."""
    return made_to_happen.play(folder, HERE / "hooks.py", {"BROADCAST_OPTIONS": options}, *more)


if __name__ == "__main__":
    sys.exit(tell(FAULTS))
