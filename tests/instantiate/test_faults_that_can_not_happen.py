"""A fault whose bound is 0 does not happen, although the check declares it."""

from __future__ import annotations

from pathlib import Path

import pytest

import checker

SPEC = """\
protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when m not in seen { seen += m  deliver(p, m) }
}
check c of P {
  n = 3  SIZE  faults KIND <= BOUND
  clients { p1 broadcasts a }
  prove no_duplication
}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def notes(kind: str, bound: str, size: str = "") -> list[str]:
    text = SPEC.replace("KIND", kind).replace("BOUND", bound).replace("SIZE", size)
    Path("p.bcast").write_text(text, "utf-8")
    return [note for note in checker.check("p.bcast").notes if "no such fault" in note]


@pytest.mark.parametrize("kind", ["crash", "omission", "byzantine"])
def test_a_bound_of_zero(kind: str) -> None:
    assert notes(kind, "f") == [f"`faults {kind} <= f` is 0 here: the check has no such fault"]
    assert notes(kind, "f", "f = 1") == []
    assert notes(kind, "1") == []
    assert notes(kind, "0") == [], "whoever writes 0 means it"
