"""What a report says beside its verdicts, by what the check says of its world."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import compute
from checker.language.load import load
from checker.session.caveats import not_promised, notes, why_nothing_explored
from checker.session.pipeline import Options, run_check
from tests.results.relay import relay

SPEC = """
interface Service {{ request ask(m: Msg)  indication answer(m: Msg) }}
protocol P implements Service {{
  {layers}
  message DATA(m: Msg)
  stable state log : set<Msg> = {{}}
  state heads = false
  upon request ask(m) {{ {body} }}
  {handlers}
}}
check c of P {{
  n = 3
  {world}
  expect states 1
}}
"""


def said(
    tmp_path: Path,
    world: str,
    body: str = "answer(m)",
    layers: str = "",
    handlers: str = "",
    fine: bool = False,
) -> tuple[str, str]:
    """The notes, and what is not promised."""
    path = tmp_path / "a.bcast"
    path.write_text(SPEC.format(world=world, body=body, layers=layers, handlers=handlers))
    (check,) = load(str(path)).checks
    made = Instantiated(relay(), compute(check, {}), {}, uses_shared=False)
    return "\n".join(notes(check, made, fine)), "\n".join(not_promised(check, made))


@pytest.mark.parametrize(
    ("world", "noted", "unpromised"),
    [
        ("faults crash <= 1", "", "no fairness is assumed for a process that crashes"),
        (
            "faults crash <= 2, recover",
            "may recover, with only its `stable` state; at most 2 crashes in all",
            "a correct process is eventually up forever",
        ),
        ("faults omission <= 1", "", "a process whose messages are lost"),
        ("faults byzantine <= 1", "in anybody's name; where messages", "a Byzantine process"),
        (
            "faults byzantine <= 1  links authenticated",
            "in its own name only",
            "a Byzantine process",
        ),
        ("faults partition <= 1", "", "a split network need not heal"),
        ("faults cut <= 1", "", "a cut link need not heal"),
        ("faults crash <= 1  links connected", "", "is gone is received"),
        ("links lossy", "", "lossy links may lose any message"),
        (
            "timing partial noise 2",
            "explored only with: a timeout comes too early at most 2 times",
            "a timeout comes too early at most 2 times",
        ),
        ("timing clocks drift 1", "no two clocks are more than 1 tick apart", "more than 1 tick"),
        (
            "faults crash <= 1  crash points between_handlers",
            "crashes inside handlers are switched off",
            "a process that crashes",
        ),
    ],
)
def test_the_world_in_words(tmp_path: Path, world: str, noted: str, unpromised: str) -> None:
    handlers = "upon timeout t { skip }" if "timing" in world else ""
    body = "start t" if "timing" in world else "answer(m)"
    found, lacking = said(tmp_path, world, body, handlers=handlers)
    assert noted in found
    assert unpromised in lacking


def test_noise_of_a_detector(tmp_path: Path) -> None:
    world = "faults crash <= 1  detector eventually P noise 1"
    found, lacking = said(tmp_path, world, layers="uses fd : FailureDetector")
    assert "explored only with: at most 1 time the detector is wrong, before it settles" in found
    assert "at most 1 time the detector is wrong" in lacking


SPARED = """
protocol W {
  uses LAYER
  state told = 0
  upon INDICATION { told := 1 }
  property somebody_is_up : always exists p in Proc: not crashed(p)
}
check c of W { n = 2  WORLD  prove somebody_is_up  allow unused }
"""


@pytest.mark.parametrize(
    ("world", "spares"),
    [
        ("faults crash <= 2  detector S", True),
        ("faults crash <= 2  detector eventually S noise 1", True),
        ("faults crash <= 2  detector Omega noise 1", True),
        ("faults crash <= 2, recover  detector S", True),
        ("faults crash <= 1  faults omission <= 1  detector S", True),
        ("faults crash <= 1  detector S", False),
        ("faults crash <= 2  detector P", False),
        ("faults crash <= 2  detector eventually P noise 1", False),
    ],
)
def test_a_detector_that_needs_a_correct_process_leaves_out_the_last_fault(
    tmp_path: Path, world: str, spares: bool
) -> None:
    omega = "Omega" in world
    text = SPARED.replace("LAYER", "l : LeaderDetector" if omega else "fd : FailureDetector")
    text = text.replace("INDICATION", "l.trust(q)" if omega else "fd.suspect(q)")
    path = tmp_path / "a.bcast"
    path.write_text(text.replace("WORLD", world))
    report = run_check(str(path), None, Options())
    said = "runs in which every process becomes faulty are excluded"
    assert any(said in note for note in report.notes) == spares
    everybody_may_crash = "crash <= 2" in world
    (verdict,) = report.verdicts
    assert verdict.word.value == ("violated" if everybody_may_crash and not spares else "holds")


@pytest.mark.parametrize("body", ["let c = flip()  heads := c", "heads := flip()", "if flip() { }"])
def test_coins_are_no_probabilities(tmp_path: Path, body: str) -> None:
    assert "probabilities are not computed" in said(tmp_path, "", body)[0]
    assert "probability" not in said(tmp_path, "", "choose c in bool  heads := c")[0]


def test_warnings_of_the_front_end(tmp_path: Path) -> None:
    found, _ = said(tmp_path, "faults crash <= 1", handlers="upon recover { skip }")
    unused = "`upon recover` in `P` has no effect"
    assert f"warning C017: line 11: no process recovers here: {unused}" in found


def test_nobody_asks(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    for world, asks in (("", False), ("clients { p1 asks x }", True)):
        path.write_text(SPEC.format(world=world, body="answer(m)", layers="", handlers=""))
        (check,) = load(str(path)).checks
        assert (why_nothing_explored(check) == "") is asks


def test_of_fine_steps_it_is_said_what_stays_one_step(tmp_path: Path) -> None:
    whole = "every copy of a multicast is a separate step"
    noted, _ = said(tmp_path, "faults crash <= 1", fine=True)
    assert whole in noted and "but for" not in noted
    noted, _ = said(tmp_path, "faults crash <= 1  links lossy, bounded 1", fine=True)
    assert f"{whole}, but for handlers that send over bounded links" in noted
