"""Audits of generated logs, with violations planted and counted: `python -m benchmarks.auditing`.

Five processes deliver all messages in one order, each in its own Parquet file; a sixth of the
events are requests.  What is planted has to be found exactly, or the run ends.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table  # noqa: E402
from checker.audit.audit import Request, audit  # noqa: E402
from checker.engines.cluster import Cluster  # noqa: E402
from checker.results.verdict import Word  # noqa: E402

PROCESSES = 5
PLANTED = 100
"""How many violations of each kind are planted."""
HEADINGS = ("events", "MiB", "planted", "s", "CPU s", "events/CPU s", "MiB of memory")
GROUP = 1 << 20
"""Rows of a row group."""


@dataclass(frozen=True)
class Plan:
    """What is planted: messages that p2 delivers twice, that p3 lacks, and places at which p4
    delivers two in the other order."""

    again: Any
    missing: Any
    swapped: Any


def plan_of(messages: int, planted: int, seed: int = 1) -> Plan:
    """Draws what is planted, each with messages of its own, which p1 requests."""
    draw = np.random.default_rng(seed)
    places = draw.choice(messages // PROCESSES, 3 * planted, replace=False) * PROCESSES
    return Plan(*np.split(places, 3))


def write_process(folder: Path, process: int, messages: int, plan: Plan, texts: bool) -> int:
    """Writes the log of a process, and returns its number of rows."""
    order = np.arange(messages, dtype=np.int64)
    if process == 3:
        order[plan.swapped], order[plan.swapped + 1] = plan.swapped + 1, plan.swapped
    own = np.arange(process, messages, PROCESSES)
    rows = messages + len(own)
    msg, kind = np.empty(rows, dtype=np.int64), np.ones(rows, dtype=np.int8)
    delivered = np.arange(messages) + (np.arange(messages) - process) // PROCESSES + 1
    msg[delivered] = order
    asked = own + (own - process) // PROCESSES
    msg[asked], kind[asked] = own, 0
    if process == 1:
        msg, kind = np.append(msg, plan.again), np.append(kind, np.ones_like(plan.again, np.int8))
    if process == 2:
        kept = ~(np.isin(msg, plan.missing) & (kind == 1))
        msg, kind = msg[kept], kind[kept]
    names = pa.array(msg) if not texts else pa.array(np.char.add("message-", msg.astype(str)))
    table = pa.table(
        {
            "process": pa.DictionaryArray.from_arrays(
                np.zeros(len(msg), np.int8), [f"p{process + 1}"]
            ),
            "pos": pa.array(np.arange(len(msg))),
            "kind": pa.DictionaryArray.from_arrays(pa.array(kind), ["broadcast", "deliver"]),
            "msg": names,
        }
    )
    pq.write_table(table, folder / f"p{process + 1}.parquet", row_group_size=GROUP)
    return len(msg)


def generate(folder: Path, events: int, planted: int, texts: bool) -> int:
    """Writes logs of about so many events, and returns how many there are."""
    messages = events // (PROCESSES + 1)
    plan = plan_of(messages, planted)
    return sum(write_process(folder, p, messages, plan, texts) for p in range(PROCESSES))


def measure(folder: Path, interface: str, planted: int, master: str | None) -> tuple[float, int]:
    """Returns seconds, and the most memory of this process in MiB; raises
    :class:`WrongAnswer` where something else than what was planted is found."""
    began = time.perf_counter()
    found = audit(
        Request((str(folder),), interface), cluster=None if master is None else Cluster(master)
    )
    seconds = time.perf_counter() - began
    kinds = found.violations.group_by(["property", "kind"]).aggregate([([], "count_all")])
    counts = {row["property"]: row["count_all"] for row in kinds.to_pylist()}
    expected = {"no_duplication": planted, "agreement": planted, "validity": 0, "no_creation": 0}
    expected |= {"total_order": planted, "global_order": planted}
    for verdict in found.report.verdicts:
        wanted = expected.get(verdict.property)
        if wanted is not None and counts.get(verdict.property, 0) != wanted:
            raise WrongAnswer(f"{verdict.property}: {counts} where {planted} are planted")
        if not planted and verdict.word is not Word.HOLDS:
            raise WrongAnswer(f"{verdict.property} is {verdict.word}, and nothing was planted")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return seconds, peak


@click.command()
@click.option("--events", type=int, default=10_000_000, show_default=True)
@click.option("--as", "interface", default="TotalOrderBroadcast", show_default=True)
@click.option("--planted", type=int, default=PLANTED, show_default=True)
@click.option("--texts", is_flag=True, help="Messages have texts as names, not integers.")
@click.option("--master", help="On Spark.")
def main(
    events: int,
    interface: str,
    planted: int,
    texts: bool,
    master: str | None,
) -> None:
    """Generate a log, audit it, and say how long that took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = generate(folder, events, planted, texts)
        size = sum(file.stat().st_size for file in folder.iterdir()) >> 20
        before = time.process_time()
        seconds, peak = measure(folder, interface, planted, master)
        used = time.process_time() - before
    cells = (
        f"{rows:,}",
        f"{size:,}",
        str(planted),
        f"{seconds:.1f}",
        f"{used:.1f}",
        f"{rows / used:,.0f}",
        f"{peak:,}",
    )
    title = f"{interface}, {'texts' if texts else 'integers'}, {master or 'this process'}"
    table = Table(title, HEADINGS, [cells])
    click.echo(table.text())


if __name__ == "__main__":
    main()
