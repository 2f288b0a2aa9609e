"""Two leaders in one term, made to happen in PySyncObj.

For each rule of an election that PySyncObj follows, the checker finds a run of the spec without it
(`elections.bcast`); it is exported as a harness, and played with servers that lack this rule, and
with PySyncObj as it is.  `python examples/pysyncobj/elections.py` prints a line for each.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.made_to_happen import Example, Scene, tell  # noqa: E402

FOUR = {"PYSYNCOBJ_SERVERS": "p1 p2 p3 p4"}
ELECTIONS = Example(
    HERE / "elections.bcast",
    HERE / "hooks.py",
    {
        "votes_twice": Scene("votes_twice", "right", {"PYSYNCOBJ_FAULT": "votes_twice"}),
        "half_elects": Scene(
            "half_elects", "right_of_four", {**FOUR, "PYSYNCOBJ_FAULT": "half_elects"}, FOUR
        ),
        "forgets_vote": Scene("forgets_vote", "right", {"PYSYNCOBJ_FAULT": "forgets_vote"}),
    },
)

if __name__ == "__main__":
    sys.exit(tell(ELECTIONS))
