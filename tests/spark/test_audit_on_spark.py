"""Plans on Spark say of random logs what they say in this process."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.audit.audit import Request, audit
from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster
from tests.audit.logs import write
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
    assert [step.headline for step in one.trace.steps] == [s.headline for s in other.trace.steps]


@pytest.mark.slow
@pytest.mark.parametrize("interface", INTERFACES)
def test_both_engines_say_the_same_of_all_properties(interface: str, tmp_path: Path) -> None:
    agree(interface, 60, tmp_path)


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
    assert found.code == code and "log.ndjson" in found.message


@pytest.mark.slow
def test_an_unknown_column_is_told(tmp_path: Path) -> None:
    file = tmp_path / "log.ndjson"
    row = '{"process": "p1", "pos": 0, "kind": "deliver", "msg": "a", "offsett": 1}'
    file.write_text(f"{row}\n", encoding="utf-8")
    asked = Request((str(file),), "ReliableBroadcast", only=("no_duplication",))
    (warning,) = audit(asked, cluster=CLUSTER).warnings
    (here,) = audit(asked).warnings
    assert (warning.code, warning.message) == (here.code, here.message) == ("E084", here.message)
