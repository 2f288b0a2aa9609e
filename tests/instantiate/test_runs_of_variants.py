"""A variant runs as the copy that it stands for, by every engine and step size, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.engines.options import Options
from checker.language.load import Spec
from checker.results.verdict import Report
from checker.session import pipeline

ORIGINAL = """protocol Once(limit: Nat = 2) implements ReliableBroadcast {
  message DATA(m: Msg)
  stable state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p when m not in seen {
    atomic {
      seen += m
      deliver(p, m)
    }
  }
}
"""
VARIANT = """variant Forgets of Once {
  state seen : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to self }
}
"""
COPY = (
    ORIGINAL.replace("protocol Once", "protocol Forgets")
    .replace("stable ", "")
    .replace("DATA(m) to all", "DATA(m) to self")
)
CHECK = """check one of Forgets {
  n = 2
  faults crash <= 1, recover
  links duplicating
  clients { p1 broadcasts a }
  expect no_duplication violated
  expect agreement violated
  expect no_creation holds
}
"""


def found(text: str, engine: str, fine: bool) -> Report:
    options = Options(engine=engine, fine_steps=fine)
    return pipeline.run_check(Spec(text, "a.bcast"), "one", options)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("fine", [False, True])
def test_as_the_copy(engine: str, fine: bool) -> None:
    one = found(ORIGINAL + VARIANT + CHECK, engine, fine)
    other = found(ORIGINAL + COPY + CHECK, engine, fine)
    assert [(v.property, v.word) for v in one.verdicts] == [
        (v.property, v.word) for v in other.verdicts
    ]
    for name in ("distinct_states", "depth", "transitions", "exit_code"):
        assert getattr(one, name) == getattr(other, name)
    assert one.exit_code == 0
    difference = "variant of Once: replaces state seen, upon request broadcast(m)"
    assert difference in one.notes
    assert not [note for note in other.notes if "variant" in note]


def test_a_layer_that_is_a_variant_is_named() -> None:
    top = """protocol Top implements ReliableBroadcast {
  uses rb : ReliableBroadcast
  message IN(m: Msg)
  upon request broadcast(m) { rb.broadcast(IN(m)) }
  upon rb.deliver(p, IN(m)) { deliver(p, m) }
}
check one of Top {
  n = 2
  given rb as Forgets
  clients { p1 broadcasts a }
  prove validity
}
"""
    text = ORIGINAL + VARIANT + top
    note = "`Forgets` is a variant of Once: replaces state seen, upon request broadcast(m)"
    assert note in found(text, "reference", False).notes


def test_show_prints_both_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.bcast"
    spec.write_text(ORIGINAL + VARIANT + CHECK, encoding="utf-8")
    assert main(["show", str(spec)]) == 0
    assert capsys.readouterr().out.startswith("""Forgets is a variant of Once
  replaces state seen
    - stable state seen : set<Msg> = {}
    + state seen : set<Msg> = {}
  replaces upon request broadcast(m)
    - upon request broadcast(m) { send DATA(m) to all }
    + upon request broadcast(m) { send DATA(m) to self }
""")
