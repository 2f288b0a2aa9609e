"""Seeded faults: the default run finds each of them, so what it leaves out is not missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.seeded import ROOT, TESTS_FAILED, Copy, Fault, faults
from tests.selection import left_out

FAULTS = faults()


def test_every_fault_can_still_be_seeded() -> None:
    assert {fault.name: fault.occurrences for fault in FAULTS if fault.occurrences != 1} == {}
    assert [fault.name for fault in FAULTS if fault.text in fault.seeded] == []


def test_the_tests_that_must_find_a_fault_are_there() -> None:
    named = {test.partition("::")[0] for fault in FAULTS for test in fault.found_by}
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []
    assert [fault.name for fault in FAULTS if not fault.found_by] == []


def test_no_case_that_must_find_a_fault_is_left_out() -> None:
    """Nor any case of a test that a fault names as a whole."""
    out = {f"{file}::{name}" for file, names in left_out().items() for name in names}
    out |= {case.partition("[")[0] for case in out}
    assert sorted(out & {test for fault in FAULTS for test in fault.found_by}) == []


def test_the_page_on_trust_says_how_many_there_are() -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert f"{len(FAULTS)} faults that are seeded" in page


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy.make(tmp_path_factory.mktemp("faults"))


@pytest.mark.slow
@pytest.mark.parametrize("test", sorted({test for fault in FAULTS for test in fault.found_by}))
def test_without_a_fault_the_tests_pass(test: str, copy: Copy) -> None:
    done = copy.run([test], "none")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(fault: Fault, copy: Copy) -> None:
    with copy.seeding(fault):
        done = copy.run(fault.found_by, fault.name)
    assert done.returncode == TESTS_FAILED, done.stdout + done.stderr


def test_a_fault_is_in_the_copy_only_while_it_is_seeded(tmp_path: Path) -> None:
    fault = FAULTS[0]
    file = tmp_path / fault.file
    file.parent.mkdir(parents=True)
    file.write_text((ROOT / fault.file).read_text(encoding="utf-8"), encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    with Copy(tmp_path, tmp_path).seeding(fault):
        assert file.read_text(encoding="utf-8").count(fault.seeded) == 1
    assert file.read_text(encoding="utf-8") == before
