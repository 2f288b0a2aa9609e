"""Names of handlers: where the event would be shown, the name is."""

from __future__ import annotations

import pytest

from checker.engines.options import Options
from checker.language.load import Spec
from checker.session import pipeline

SPEC = """protocol P implements ReliableBroadcast {
  message DATA(m: Msg)
  state heard : set<Msg> = {}
  upon request broadcast(m) as asks { send DATA(m) to all }
  upon receive DATA(m) when m not in heard as hears { heard += m }
  upon condition heard != {} as tells {
    choose m in heard
    heard -= m
    deliver(self, m)
  }
  upon condition heard == {a} when false as never_taken { skip }
}
check one of P {
  n = 2
  clients { p1 broadcasts a }
  expect no_creation violated
  allow unused
  scenario told {
    p1 broadcasts a
    p1 receives DATA
    p1: tells
    then no_creation holds
  }
}
""".replace(" heard == {a} when false", " #heard > 1")


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("fine", [False, True])
def test_names_stand_for_events(engine: str, fine: bool) -> None:
    options = Options(engine=engine, fine_steps=fine, coverage=True)
    report = pipeline.run_check(Spec(SPEC, "a.bcast"), "one", options)
    assert report.coverage is not None
    shown = [covered.text for covered in report.coverage]
    assert [name for name in shown if name in ("asks", "hears", "tells", "never_taken")] == [
        "asks",
        "hears",
        "tells",
        "never_taken",
    ]
    assert not any("upon" in name for name in shown)
    (verdict,) = report.verdicts
    assert verdict.trace is not None
    names = [step.action for step in verdict.trace.steps]
    assert any("tells" in name for name in names) and not any("upon" in name for name in names)
    assert all(scenario.met for scenario in report.scenarios)
