"""A message that is handed out twice, and one that is lost, made to happen in RabbitMQ.

The checker finds both in a spec (`hands_out.bcast`); each is exported as a harness, and played with
workers that acknowledge messages, and with those that do not have to: what the one has, the other
one lacks.  `python examples/rabbitmq/hands_out.py` prints a line for each.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.made_to_happen import Example, Scene, tell  # noqa: E402

MANUAL, AUTOMATIC = {"RABBITMQ_ACKS": "manual"}, {"RABBITMQ_ACKS": "automatic"}
ACKS = Example(
    HERE / "hands_out.bcast",
    HERE / "hooks.py",
    {
        "twice": Scene("acknowledged", "automatic", MANUAL, AUTOMATIC),
        "lost": Scene("automatic_and_a_crash", "acknowledged_and_a_crash", AUTOMATIC, MANUAL),
    },
)

if __name__ == "__main__":
    sys.exit(tell(ACKS))
