"""Messages that are only counted are received at once, where nothing can tell it from later."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate.assemble import instantiate
from checker.language.load import load
from checker.properties.formula import ask
from tests.instantiate.tables import Case, compare, run, words
from tests.selection import first_by_default

THRESHOLDS = """
protocol Votes(enough: Nat, first: Proc, second: Proc) {
  message ASK
  message YES(k: 1..2)
  message OK
  state said : 0..2 = 0
  state done : 0..2 = 0
  state sure = false
  upon init at first { send ASK to all }
  upon receive ASK when said == 0 { choose k in (1..2)  said := k  send YES(k) to all }
  upon condition GUARD when done == 0 { done := k  send OK to all }
  upon condition #received(OK) > 1 when not sure { sure := true }
  property one : always forall p, q in Proc: p.done == 0 or q.done == 0 or p.done == q.done
  property all : (exists p in Proc: p.done > 0) ~> forall p in Proc: correct(p) => p.done > 0
  property told : forall p in Proc: correct(p) and p.done > 0 ~> p.sure
}
check c of Votes { n = 2  enough = ENOUGH  second = p2  faults WORLD  LINKS prove one, all, told }
"""

GUARDS = [
    "#received(YES(k)) >= enough",
    "2 * #received(YES(k)) > enough + 1",
    "enough <= #received(YES(k))",
    "second in received(YES(k))",
]


def _at_once(folder: Path, text: str, fine: bool = False) -> tuple[str, ...]:
    path = folder / "spec.bcast"
    path.write_text(text, encoding="utf-8")
    return instantiate(load(str(path)).checks[0], {}, ask, fine=fine).at_once


def _spec(guard: str, enough: int, world: str, links: str = "links authenticated") -> str:
    text = THRESHOLDS.replace("GUARD", guard).replace("ENOUGH", str(enough))
    return text.replace("WORLD", world).replace("LINKS", links)


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("enough", first_by_default([1, 2], 1))
@pytest.mark.parametrize("world", ["byzantine <= 0", "byzantine <= 1"])
def test_nothing_can_tell_it_from_later(
    guard: str, enough: int, world: str, tmp_path: Path
) -> None:
    """Under fine steps every message takes its time."""
    text = _spec(guard, enough, world)
    assert _at_once(tmp_path, text) == ("OK", "YES")
    assert _at_once(tmp_path, text, fine=True) == ()
    early = words(run(tmp_path, text, "native", False))
    late = words(run(tmp_path, text, "native", True))
    assert early == late
    compare(
        tmp_path,
        Case(guard, text, ", ".join(f"{n} {w}" for n, w in late.items())),
        "reference",
        False,
    )


@pytest.mark.parametrize(
    ("guard", "world", "links", "left"),
    [
        ("#received(YES(k)) == enough", "byzantine <= 1", "", ("OK",)),
        ("not (#received(YES(k)) < enough)", "byzantine <= 1", "", ("OK",)),
        ("#received(YES(k)) > #received(OK)", "byzantine <= 1", "", ()),
        (GUARDS[0], "crash <= 1", "", ()),
        (GUARDS[0], "omission <= 1", "", ()),
        (GUARDS[0], "partition <= 1", "", ()),
        (GUARDS[0], "byzantine <= 1", "links fifo", ()),
        (GUARDS[0], "byzantine <= 1", "links lossy", ()),
    ],
)
def test_where_something_could_tell_messages_take_their_time(
    guard: str, world: str, links: str, left: tuple[str, ...], tmp_path: Path
) -> None:
    assert _at_once(tmp_path, _spec(guard, 2, world, links)) == left
