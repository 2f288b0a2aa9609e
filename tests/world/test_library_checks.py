"""Checks of the library: the tool says what the second definition says of the same typed protocol.

All of them: ``python -m tests.world.library``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.session.load import load_check
from scripts.named_checks import named_checks
from tests.world.library import SPECS, compared
from tests.world.reading import spec_of

FEW = (
    "broadcast/uniform_all_ack.bcast::half_may_crash",
    "broadcast/eager_reliable.bcast::any_layer",
    "broadcast/eager_reliable_without_relay.bcast::crash_one",
    "broadcast/gossip.bcast::two_rounds_crash_one",
    "commit/two_phase_commit.bcast::one_says_no.one_vote_is_enough",
    "broadcast/causal_waiting.bcast::fifo_too.own_number_ignored",
    "incidents/sequence_error.bcast::error_for_a_copy",
)
STATES = 300
PROMISES = """
protocol Promises {
  state asked = false
  state done = false
  state left = false
  may upon condition not asked { asked := true }
  upon condition not done { done := true }
  may upon condition done and not left { left := true }

  property asks "Nobody has to ask." : eventually forall p in Proc: p.asked
  property acts "Everybody has to act." : eventually forall p in Proc: p.done
  property leaves "Nobody has to leave." : eventually forall p in Proc: p.left
}

check two of Promises {
  n = 2
  expect asks violated
  expect acts holds
  expect leaves violated
}
"""


def test_a_few_checks_are_what_the_definition_says() -> None:
    """One test of all of them, so that none is left out of the default run."""
    for file, name in named_checks([str(SPECS / check) for check in FEW]):
        found = compared(file, name, STATES)
        assert found.verdicts and found.observed, found.line
        assert not found.different, found.line


def test_only_what_may_happen_need_not_happen(tmp_path: Path) -> None:
    """Handlers with and without ``may``, so that neither can be read as the other."""
    (tmp_path / "promises.bcast").write_text(PROMISES, encoding="utf-8")
    found = compared(str(tmp_path / "promises.bcast"), "two", STATES)
    assert not found.different, found.line
    assert {name: v.violated for name, v in found.verdicts.items()} == {
        "asks": True,
        "acts": False,
        "leaves": True,
    }


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(SPECS.rglob("*.bcast")), ids=lambda file: file.stem)
def test_a_file_is_what_the_definition_says(file: Path) -> None:
    lines = [compared(path, name, STATES) for path, name in named_checks([str(file)])]
    assert not [each.line for each in lines if each.different]


def test_each_process_asks() -> None:
    check = load_check(str(SPECS / "commit/paxos_commit.bcast"), "one_acceptor", {})
    assert [p for p, _ in spec_of(check).world.clients] == ["p1", "p2", "a1", "l1", "s1"]
