"""Mistakes of a failure detector about single roles: ``noise 1 of broker``."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.session.pipeline import run_check

WATCH = """
protocol Watch {
  uses fd : FailureDetector
  message GO
  role client(1) {
    state brokers = 0
    state disks = 0
    upon fd.suspect(p) {
      if p in broker and brokers < 3 { brokers := brokers + 1 }
      if p in disk and disks < 3 { disks := disks + 1 }
    }
    upon fd.restore(p) { skip }
  }
  role broker(2) { upon receive GO { skip } }
  role disk(1) { upon receive GO { skip } }
  PROPERTIES
}
check c of Watch { detector eventually P NOISE  expect EXPECT  allow unused }
"""
MODES = ("reference", "native", "native plain", "native fine")


def most(noise: str, folder: Path, mode: str) -> tuple[int, int, int]:
    """How often brokers, disks and both are suspected at most, where nobody crashes."""
    terms = {"b": "brokers", "d": "disks", "s": "brokers + c.disks"}
    names = [f"{name}{k}" for name in terms for k in range(4)]
    text = "\n  ".join(
        f"property {name}{k} : always forall c in client: c.{term} <= {k}"
        for name, term in terms.items()
        for k in range(4)
    )
    spec = WATCH.replace("PROPERTIES", text).replace("NOISE", noise)
    path = folder / "watch.bcast"
    path.write_text(spec.replace("expect EXPECT", f"prove {', '.join(names)}"), encoding="utf-8")
    engine, *how = mode.split()
    reduce = "none" if "plain" in how else "auto"
    options = Options(engine=engine, reduce=reduce, fine_steps="fine" in how)
    words = {v.property: v.word.value for v in run_check(str(path), None, options).verdicts}
    found = [next((k for k in range(4) if words[f"{name}{k}"] == "holds"), 4) for name in terms]
    return found[0], found[1], found[2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        ("noise 2", (2, 2, 2)),
        ("noise 2 of broker", (2, 0, 2)),
        ("noise 1 of broker, 1 of disk", (1, 1, 2)),
        ("noise 2, 1 of broker", (1, 2, 2)),
        ("noise 1, 2 of disk", (1, 1, 1)),
        ("noise 0 of broker, 1 of disk", (0, 1, 1)),
    ],
)
def test_mistakes_about_a_role_have_a_bound_of_their_own(
    noise: str, expected: tuple[int, int, int], mode: str, tmp_path: Path
) -> None:
    """A clause about a role bounds mistakes about its members; without one about all, the detector
    is never wrong about others."""
    assert most(noise, tmp_path, mode) == expected


def test_a_report_says_about_whom_a_detector_is_wrong(tmp_path: Path) -> None:
    text = WATCH.replace("NOISE", "noise 3, 1 of broker").replace("expect EXPECT", "prove x")
    path = tmp_path / "watch.bcast"
    path.write_text(
        text.replace("PROPERTIES", "property x : always forall c in client: c.brokers <= 3")
    )
    report = run_check(str(path), None, Options())
    assert "detector eventually P with noise 3, 1 of broker" in report.world
    said = " ".join(report.notes)
    assert "at most 3 times the detector is wrong" in said
    assert "at most 1 time the detector is wrong about a broker" in said


@pytest.mark.parametrize(
    ("noise", "code"),
    [
        ("noise 1 of brokers", "C005"),
        ("noise 1 of broker, 2 of broker", "C009"),
        ("noise 1, 2", "C009"),
        ("noise 0 - 1 of broker", "C010"),
    ],
)
def test_what_is_refused(noise: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        most(noise, tmp_path, "reference")
    assert code in [d.code for d in refused.value.diagnostics]
