"""Memory limits bind: what is counted is what the process uses, and nothing is made that is not
counted."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.engines import budgets
from checker.engines.native import engine as native
from checker.engines.native.codegen.fields import Worker
from checker.engines.native.search import memory, store
from checker.engines.native.search.memory import Buffer, MemoryBudget
from checker.engines.native.search.store import OutOfMemory, Store
from checker.resources import specs
from checker.results.answer import Answer, Limits
from tests.native.models import two_phase
from tests.native.test_graphs import RING, again_and_again, of
from tests.native.test_store import kernel_of

MIB = 1 << 20
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def unreserved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_reserve", lambda *_: None)


def reserved(_: pytest.MonkeyPatch) -> None:
    pass


@LINUX
def test_addresses_are_reserved() -> None:
    """Whether Python has a name for the flag or not."""
    rows = Buffer(MIB, 1 << 30)
    assert rows.grows_in_place
    assert rows.larger(1 << 29, MIB) is rows


@LINUX
def test_rows_on_the_disk_keep_their_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of which most are on the disk grow beyond the memory that the machine has."""
    monkeypatch.setattr(store, "installed_memory", lambda: 4 * MIB)
    rows = store.private_memory("rows-0", MIB)
    assert rows.larger(32 * MIB, MIB) is rows


@LINUX
@pytest.mark.parametrize("addresses", [reserved, unreserved])
def test_the_process_uses_what_is_counted(
    addresses: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where rows have to be copied to grow: what went to the disk stays there."""
    addresses(monkeypatch)
    words, limit, most = 6, 12 * MIB, 0
    before, rng = budgets.resident(), random.Random(1)
    kept = Store(kernel_of(words), 1, limit)
    (crew,) = kept.workers

    def fill() -> None:
        nonlocal most
        for depth in range(1, 1000):
            if kept.scarce:
                kept.grow()
            begin, fresh = crew.count, min(kept.room, 12_000)
            rows = crew.rows.words()[begin * words : (begin + fresh) * words]
            rows[:] = memoryview(rng.randbytes(8 * words * fresh)).cast("Q")
            rows.release()
            crew.put(Worker.COUNT, begin + fresh)
            kept.kernel.reinsert(kept.context_address, crew.address, begin, begin + fresh, 0)
            kept.open_level(depth)
            most = max(most, budgets.resident() - before)

    with pytest.raises(OutOfMemory, match="memory limit"):
        fill()
    assert crew.spilled > 8 * MIB
    assert kept.states * 8 * words > limit
    assert most < limit + 12 * MIB


def test_what_is_made_is_counted_as_long_as_it_is_used() -> None:
    budget = MemoryBudget(4 * MIB, lambda: MIB)
    with budget.enforced():
        one, two = Buffer(MIB), Buffer(8 * MIB, counted=MIB)
        with pytest.raises(MemoryError, match=r"memory limit of 4,194,304 bytes"):
            Buffer(MIB + 1)
        assert budget.bytes == one.counted + two.counted == 2 * MIB
        del one
        Buffer(MIB + 1)
    Buffer(9 * MIB)
    assert budget.bytes == MIB


def test_every_phase_of_liveness_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the limit, what is in use is less, and what is decided is right."""
    most, reserved_before = [0], MemoryBudget.reserve

    def reserve(budget: MemoryBudget, buffer: Buffer) -> None:
        reserved_before(budget, buffer)
        most[0] = max(most[0], budget.bytes + budget._others())

    monkeypatch.setattr(MemoryBudget, "reserve", reserve)
    model = of(RING, again_and_again("p", 2))
    free = native.explore(model, Limits(), threads=1)
    (whole,), most[0] = most, 0
    known = []
    for limit in range(1 << 17, whole + 8193, 8192):
        answer = native.explore(model, Limits(memory=limit), threads=1)
        assert most[0] <= limit
        assert "p" in answer.undecided or answer.violations == free.violations
        known.append("p" not in answer.undecided)
    assert known == sorted(known)
    assert {*known} == {False, True}


@LINUX
@pytest.mark.parametrize("compact", [False, True])
def test_a_search_uses_what_is_counted(compact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LEAST", 1 << 14)
    before, most, told = budgets.resident(), [0], [0]

    def listener(_: object) -> None:
        most[0] = max(most[0], budgets.resident() - before)
        told[0] += 1

    limits = Limits(memory=8 * MIB)
    answer: Answer = native.explore(
        two_phase(9), limits, threads=1, listener=listener, compact=compact
    )
    assert answer.stopped and "memory limit" in answer.stopped
    assert told[0] > 5
    assert most[0] < 8 * MIB + 48 * MIB  # what was compiled is beside it


def test_a_folder_in_memory_is_no_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not memory.is_in_memory(str(tmp_path)) or sys.platform != "linux"
    monkeypatch.setattr(memory, "is_in_memory", lambda folder: folder != "/var/tmp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.mkstemp", lambda **asked: (_ for _ in ()).throw(OSError(asked)))
        with pytest.raises(OSError, match="/var/tmp"):
            memory.unnamed_file()
    monkeypatch.setattr(memory, "is_in_memory", lambda _: True)
    with pytest.raises(OSError, match="in memory"):
        memory.unnamed_file()


# ---- whole processes --------------------------------------------------------------------------

BESIDE = 200 * MIB
"""What Python, its libraries and the compiler take."""

GROWING = {
    "exact": ("replication/kafka_partition.bcast::three", "--reduce", "none"),
    "compact": ("replication/kafka_partition.bcast::three", "--reduce", "none", "--compact"),
    "symmetric": ("consensus/paxos.bcast::crash_and_loss", "--set", "n=5"),
}

MEASURED = """
import re, sys
from checker.cli.main import main
code = main(sys.argv[1:])
said = open("/proc/self/status").read()
print("PEAK", int(re.search(r"VmHWM:\\s+(\\d+)", said)[1]) << 10, file=sys.stderr)
"""


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("kind", GROWING)
@pytest.mark.parametrize("limit", [100, 300])
def test_a_process_stays_within_its_limit(kind: str, limit: int) -> None:
    """As the system counts it."""
    spec, *options = GROWING[kind]
    asked = ("check", str(specs() / spec), *options, "--memory", f"{limit}M", "--threads", "2")
    watched = ("--explain", "0", "--quiet", "--timeout", "60")
    said = subprocess.run(
        [sys.executable, "-c", MEASURED, *asked, *watched],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"PEAK (\d+)", said.stderr)
    assert found is not None, said.stderr
    assert int(found[1]) <= limit * MIB + BESIDE
