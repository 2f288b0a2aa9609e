"""Kafka's answer of 2017 in a simulator: transactions, and what a reader of committed records sees.

`python examples/partitioned_log/transactions.py` plays all scenes and prints a line for each; with
the name of one it prints the whole report. There is no broker here: see simulator.py.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from checker.record import Recorder  # noqa: E402
from examples.partitioned_log.simulator import Log, Member, Producer, Rules  # noqa: E402
from examples.telling import Story, tell  # noqa: E402

SCENES = {
    "right": Rules(),
    "without_a_marker": Rules(markers=False),
    "sees_open_ones": Rules(stable=False),
    "sees_aborted_ones": Rules(drops_aborted=False),
}


def play(name: str, folder: Path) -> None:
    """Plays a scene; the logs are in ``folder/logs`` then.

    A worker appends an invoice and a parcel for each order, in one transaction. It aborts the
    second, and tries it again. Readers look at each moment.
    """
    log = Log(SCENES[name])
    with ExitStack() as stack:

        def recorder(process: str) -> Recorder:
            file = folder / "logs" / f"{process}.ndjson"
            return stack.enter_context(Recorder(file, process))

        worker = Producer("worker", log, recorder("worker"))
        reader = Member("reader", log, worker.recorder)  # in the same program
        other = Member("other", log, recorder("other"))
        reader.places, other.places = {"x": 0}, {"y": 0}
        for order, tries in enumerate((1, 2, 1)):
            for again in range(tries):
                transaction = f"t{order}.{again}"
                message = f"{order}.{again}"
                worker.send(f"invoice{message}", "x", transaction)
                worker.send(f"parcel{message}", "y", transaction)
                reader.poll("x")
                worker.end(transaction, commit=again == tries - 1)
                reader.poll("x")
                other.poll("y")


STORY = Story(tuple(SCENES), play, "TransactionalLog", clients=("worker",))

if __name__ == "__main__":
    sys.exit(tell(STORY))
