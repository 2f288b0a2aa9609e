"""The warning about a `require` behind an effect, where the process may stop between the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.session.load import load_check

SPEC = """interface Pair {{ request ask() indication tell() }}
protocol P implements Pair {{
  message M
  state a = false
  state b = false
  state c = false
  stable state kept = false
  shared state common = false
  procedure sends() {{ send M to all }}
  upon request ask() {{ skip }}
  upon receive M {{ skip }}
  upon condition not c {{
    c := true
    {body}
  }}
  property calm : always forall p in Proc: p.kept or not p.kept
}}
check c of P {{ n = 1  {faults}  prove calm  allow unused }}
"""
CRASH, PAUSE = "faults crash <= 1, recover", "faults pause <= 1"


@pytest.mark.every
@pytest.mark.parametrize(
    ("body", "faults", "warned"),
    [
        ("send M to all  require a", CRASH, True),
        ("send M to all  require a", PAUSE, True),
        ("send M to all  require a", "", False),
        ("send M to all  require a", "links lossy", False),
        ("require a  send M to all", CRASH, False),
        ("b := true  require a", CRASH, False),
        ("kept := true  require a", CRASH, True),
        ("common := true  require a", CRASH, True),
        ("perform 1  require a", CRASH, True),
        ("tell()  require a", CRASH, True),
        ("sends()  require a", CRASH, True),
        ("send M to all  sends()  require a  require b", CRASH, True),
        ("if b { send M to all }  require a", CRASH, True),
        ("if b { send M to all } else { require a }", CRASH, False),
        ("either { send M to all } or { require a }", CRASH, False),
        ("either { send M to all } or { skip }  require a", CRASH, True),
        ("for p in Proc { require a  send M to p }", CRASH, True),
        ("for p in Proc { require a  b := true }", CRASH, False),
        ("atomic { send M to all  require a }", CRASH, False),
        ("send M to all  atomic { require a  kept := true }", CRASH, True),
        ("atomic { send M to all  b := true }  require a", CRASH, True),
        ("sync kept else { require a }", CRASH, True),
        ("send M to all  await b  require a", CRASH, False),
        ("send M to all  yield  require a", CRASH, False),
        ("await b  send M to all  require a", CRASH, True),
    ],
)
def test_it_comes_where_a_stop_would_be_missed(
    body: str, faults: str, warned: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(SPEC.format(body=body, faults=faults), encoding="utf-8")
    found = [w for w in load_check(str(file), "c", {}).warnings if w.code == "C044"]
    assert bool(found) == warned
    assert len({w.span for w in found}) == len(found) == (body.count("require") if warned else 0)


def test_it_names_the_stop(tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    for faults, stop in ((CRASH, "crash"), (PAUSE, "pause")):
        file.write_text(
            SPEC.format(body="send M to all  require a", faults=faults), encoding="utf-8"
        )
        (found,) = (w for w in load_check(str(file), "c", {}).warnings if w.code == "C044")
        assert f"no process can {stop} between" in found.message
        assert found.span.line == 14
