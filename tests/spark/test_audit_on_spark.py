"""Plans on Spark say of random logs what they say in this process."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

from checker.audit.audit import Request, audit
from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from checker.record import Recorder
from checker.words.steps import headline
from tests.audit import test_group_plans
from tests.audit.logs import rows, write
from tests.audit.random_logs import random_run
from tests.audit.test_circles import random_circles
from tests.audit.test_plans import INTERFACES, ONCE, UNNAMED, found_by_audit

CLUSTER = Cluster("local[2]")

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("one_session")]


def agree(interface: str, number: int, folder: Path) -> None:
    draw = random.Random(interface)
    named = interface not in UNNAMED
    offsets = interface == "ReplicatedLog"
    runs = [random_run(draw, named, 2, offsets) for _ in range(number)]
    over = tuple(ONCE) if interface == "Queue" else ()
    here = found_by_audit(runs, interface, folder, over)
    there = found_by_audit(runs, interface, folder, over, CLUSTER)
    assert here == there and set(here.values()) > {"violated"}


def test_both_engines_say_the_same(tmp_path: Path) -> None:
    log = "p1 0 broadcast a\np1 1 deliver a\np1 2 deliver b\np2 0 deliver a\np2 3 deliver a"
    asked = Request((write(tmp_path, log),), "ReliableBroadcast", only=("no_duplication",))
    here, there = audit(asked), audit(asked, cluster=CLUSTER)
    (one,), (other,) = here.report.verdicts, there.report.verdicts
    assert (one.word, one.reason) == (other.word, other.reason)
    assert one.trace is not None and other.trace is not None
    assert [*map(headline, one.trace.steps)] == [*map(headline, other.trace.steps)]


@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
def test_both_engines_say_the_same_of_all_properties(interface: str, tmp_path: Path) -> None:
    agree(interface, 60, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("interface", test_group_plans.INTERFACES)
def test_both_engines_say_the_same_of_groups(interface: str, tmp_path: Path) -> None:
    logs = test_group_plans.random_logs(4, 60)
    assert any(row.get("uncommitted") for rows in logs.values() for row in rows)
    here = test_group_plans.found_by_audit(logs, interface, tmp_path)
    there = test_group_plans.found_by_audit(logs, interface, tmp_path, CLUSTER)
    assert here == there and set(here.values()) >= {"violated", "unknown"}


@pytest.mark.slow
def test_circles_of_several_logs_are_found(tmp_path: Path) -> None:
    draw = random.Random(7)
    runs = [random_circles(draw) for _ in range(200)]
    here = found_by_audit(runs, "ReliableBroadcast", tmp_path)
    there = found_by_audit(runs, "ReliableBroadcast", tmp_path, cluster=CLUSTER)
    assert here == there and "no_creation" in {name for name, _ in here}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("p1 0 deliver a from p2\np1 1 deliver b", "E089"),
        ("p1 0 deliver a\np1 0 deliver b", "E083"),
        ("p1 0 deliver", "E081"),
    ],
)
def test_what_is_wrong_with_a_log_is_told(log: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        audit(Request((write(tmp_path, log),), "ReliableBroadcast"), cluster=CLUSTER)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert "log.ndjson" in (found.message if found.span is None else found.span.file)


@pytest.mark.slow
def test_an_unknown_column_is_told(tmp_path: Path) -> None:
    file = tmp_path / "log.ndjson"
    row = '{"process": "p1", "pos": 0, "kind": "deliver", "msg": "a", "offsett": 1}'
    file.write_text(f"{row}\n", encoding="utf-8")
    asked = Request((str(file),), "ReliableBroadcast", only=("no_duplication",))
    (warning,) = audit(asked, cluster=CLUSTER).warnings
    (here,) = audit(asked).warnings
    assert (warning.code, warning.message) == (here.code, here.message) == ("E084", here.message)


def same(asked: Request) -> None:
    """Both engines say the same: verdicts, all that was found with its places, and warnings; which
    of many findings is told first may differ."""
    here, there = audit(asked), audit(asked, cluster=CLUSTER)
    said = [[(v.property, v.word) for v in found.report.verdicts] for found in (here, there)]
    assert said[0] == said[1]
    tables = [sorted(map(str, found.violations.to_pylist())) for found in (here, there)]
    assert tables[0] == tables[1]
    warned = [[(w.code, w.message, w.span) for w in found.warnings] for found in (here, there)]
    assert warned[0] == warned[1]


def test_lines_of_recorders_and_half_a_line_mean_the_same(tmp_path: Path) -> None:
    for name in ("p1", "p2"):
        log = Recorder(tmp_path / f"{name}.ndjson", name)
        if name == "p1":
            log.request("broadcast", "a")
            log.request("broadcast", "b")
        log.indicate("deliver", "p1", "a")
        log.indicate("deliver", "p1", "a")
        log.close()
    with open(tmp_path / "p2.ndjson", "a", encoding="utf-8") as file:
        file.write('{"process": "p2", "po')
    only = ("no_duplication", "no_creation", "agreement")
    same(Request((str(tmp_path),), "ReliableBroadcast", only=only))


def test_a_process_that_goes_back_is_told(tmp_path: Path) -> None:
    file = write(tmp_path, "p1 3 deliver a\np2 1 deliver a\np1 2 deliver b")
    asked = Request((file,), "ReliableBroadcast")
    found = []
    for cluster in (None, CLUSTER):
        with pytest.raises(SpecError) as caught:
            audit(asked, cluster=cluster)
        found.append(caught.value.diagnostics)
    assert found[0] == found[1] and found[0][0].code == "E082"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "ndjson.gz"])
def test_text_formats_mean_the_same(suffix: str, tmp_path: Path) -> None:
    draw, kinds = random.Random(suffix), ["broadcast", "deliver", "deliver"]
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        lines = [
            f"p{draw.randint(1, 3)} {at} {draw.choice(kinds)} m{draw.randint(1, 4)}"
            for at in range(40)
        ]
        table = pa.Table.from_pylist(rows("\n".join(lines)))
        file = folder / f"log.{suffix}"
        if suffix == "csv":
            write_csv(table, file)
        else:
            text = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
            file.write_bytes(gzip.compress(text.encode()))
        same(Request((str(file),), "ReliableBroadcast"))
