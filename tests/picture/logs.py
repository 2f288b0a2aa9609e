"""Random logs: runs of random protocols with a line changed or gone, which may conform or not, and
what processes did, of which an interface's properties are asked."""

from __future__ import annotations

import random
from pathlib import Path

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.resources import specs
from checker.session import pipeline
from tests.agreement.specs import random_spec
from tests.audit.random_logs import MANIFEST, random_run, write_runs
from tests.conform.projection import KINDS, draw_run, logs_of, write
from tests.picture.asking import Folder
from tests.picture.views import runs_in, show_run

INTERFACES = (
    "BestEffortBroadcast", "FifoReliableBroadcast", "CausalUniformReliableBroadcast",
    "TotalOrderBroadcast", "UniformTotalOrderBroadcast", "PrefixTotalOrderBroadcast", "Queue",
    "MessageConsensus", "ReplicatedLog",
)  # fmt: skip
AGAIN = 10
"""Of that number of runs of logs one is made again from its spec."""
NAMING = INTERFACES[:-3]
"""The interfaces whose indications name a sender."""


def text_of(seed: int) -> str:
    """Returns a random spec that imports the library by the name of its link."""
    return random_spec(seed).replace(str(specs()), "specs")


def show_conformance(folder: Folder, seed: int) -> None:
    """Writes what is said of the log of a random run, one line of which is changed or gone."""
    Path("random.bcast").write_text(text_of(seed), encoding="utf-8")
    try:
        system = pipeline.open_check("random.bcast", None, Options()).system
    except SpecError:
        return
    draw = random.Random(seed)
    _, run = draw_run(system, draw, 8)
    logs = logs_of(system, run, set(KINDS.values()))
    process = draw.choice(sorted(logs))
    rows = logs[process]
    if rows:
        at = draw.randrange(len(rows))
        kind = draw.randrange(4)
        if kind == 0:
            del rows[at]
        elif kind == 1:
            rows.insert(at, rows[draw.randrange(len(rows))])
        elif kind == 2:
            rows.reverse()
    files = [Path(file).name for file in write(Path(), logs)]
    asked = ("conform", "random.bcast", *files, "--engine", "reference")
    documents = ("--json", "report.json", "--trace-out", "run.json", "--html", "run.html")
    folder.put("random.bcast", Path("random.bcast").read_text(encoding="utf-8"))
    folder.keep("conform.txt", *asked, "--max-states", "2000", *documents)
    folder.take("report.json", "report.json")
    folder.take("run.html", "run.html")
    if Path("run.json").exists():
        show_run(folder, "run", again=seed % AGAIN == 0)


def show_audit(folder: Folder, interface: str, seed: int) -> None:
    """Writes the audit of a few random logs in one file."""
    draw = random.Random(f"{interface} {seed}")
    Path("manifest.toml").write_text(MANIFEST, encoding="utf-8")
    runs = [
        random_run(draw, interface in NAMING, 0, interface == "ReplicatedLog") for _ in range(3)
    ]
    log = write_runs(runs, Path()).name
    over = ("--over", "exactly_once over effects") if interface == "Queue" else ()
    asked = ("audit", log, "--as", interface, "--manifest", "manifest.toml", *over)
    folder.keep("audit.txt", *asked, "--json", "report.json")
    folder.keep("audit-120.txt", *asked, columns=120)
    folder.take("report.json", "report.json")
    for run, document in runs_in("report.json").items():
        Path(f"{run}.json").write_text(document, encoding="utf-8")
        show_run(folder, run, again=False)


def name_of(number: int) -> str:
    """Returns the number of a drawn subject as the name of its folder."""
    return f"{number:05}"
