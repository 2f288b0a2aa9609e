"""Clauses of the world that settings replace: the same as if the check said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.language.typecheck.world_settings import WORDS, world_of
from checker.session.pipeline import Options, dump, load_check, replay_trace, run_check

SPEC = """interface Bell { request ring()  indication rung() }
protocol Talk(crash: 0..3 = 0) {
  uses fd : FailureDetector
  uses bell : Bell
  message DATA
  state heard = false
  state over = false
  upon init { bell.ring()  send DATA to all }
  upon receive DATA { heard := true }
  upon fd.suspect(p) { over := true }
  upon timeout { skip }
  property quiet : always forall p in Proc: not p.over
}
protocol Deaf implements FailureDetector { }
protocol Silver implements Bell { upon request ring() { rung() } }
protocol Golden implements Bell { upon request ring() { rung()  rung() } }
check c of Talk { n = 2 timing asynchronous given bell as Silver %s
  prove quiet }
"""
BEGIN = "detector P links perfect faults crash <= 1"


def spec(folder: Path, world: str, *, own: bool = False) -> str:
    """A spec with ``world``; unless ``own``, its protocol has no parameter named like a clause."""
    path = folder / f"{abs(hash(world))}.bcast"
    text = SPEC if own else SPEC.replace("(crash: 0..3 = 0)", "")
    path.write_text(text % world, "utf-8")
    return str(path)


def system(path: str, settings: dict[str, str]) -> str:
    return dump(path, "c", Options(settings=settings))


@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ({"links": "fifo"}, "detector P links fifo faults crash <= 1"),
        ({"links": "fair_loss + fifo"}, "detector P links fair_loss, fifo faults crash <= 1"),
        ({"links": "fifo,bounded 2"}, "detector P links fifo, bounded 2 faults crash <= 1"),
        ({"crash": "2"}, "detector P links perfect faults crash <= 2"),
        ({"crash": "n - 1", "n": "3"}, "n = 3 detector P links perfect faults crash <= n - 1"),
        ({"crash": "none"}, "detector P links perfect"),
        ({"recover": "yes"}, "detector P links perfect faults crash <= 1, recover"),
        ({"recover": "no"}, BEGIN),
        ({"omission": "1"}, f"{BEGIN} faults omission <= 1"),
        (
            {"byzantine": "1", "crash": "none", "detector": "none", "given": "fd as Deaf"},
            "given fd as Deaf links perfect faults byzantine <= 1",
        ),
        ({"partition": "any"}, f"{BEGIN} faults partition"),
        ({"partition": "1"}, f"{BEGIN} faults partition <= 1"),
        ({"detector": "eventually S noise 1"}, BEGIN.replace("P", "eventually S noise 1", 1)),
        ({"detector": "none", "given": "fd as Deaf"}, f"given fd as Deaf {BEGIN[10:]}"),
        ({"crash_points": "between_handlers"}, f"{BEGIN} crash points between_handlers"),
    ],
)
def test_a_setting_is_as_good_as_a_clause(
    settings: dict[str, str], written: str, tmp_path: Path
) -> None:
    given = written.replace("n = 3 ", "")
    numbers = {k: v for k, v in settings.items() if k == "n"}
    assert system(spec(tmp_path, BEGIN), settings) == system(spec(tmp_path, given), numbers)


def test_timing_and_layers(tmp_path: Path) -> None:
    path = spec(tmp_path, BEGIN)
    partial = load_check(path, "c", {"timing": "partial noise 2"}).timing
    assert partial is not None and (partial.kind, partial.noise is None) == ("partial", False)
    golden = load_check(path, "c", {"given": "bell as Golden+fd as Deaf", "detector": "none"})
    stands = {g.layer: g.protocol and g.protocol.name for g in golden.given}
    assert stands == {"bell": "Golden", "fd": "Deaf"}


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"links": "fi"}, "C004"),
        ({"links": "perfect+lossy"}, "C003"),
        ({"links": "bounded"}, "C010"),
        ({"links": "perfect 2"}, "C010"),
        ({"links": "a -> b lossy"}, "E030"),
        ({"links": "perfect clients { p1 broadcasts a }"}, "E030"),
        ({"links": "perfect } check d of Talk {"}, "E030"),
        ({"links": "perfect+"}, "E030"),
        ({"crash": "1 prove other"}, "E030"),
        ({"crash": "1, recover"}, "E030"),
        ({"crash": "1+"}, "E030"),
        ({"crash": "q"}, "N002"),
        ({"recover": "maybe"}, "E030"),
        ({"recover": "yes", "crash": "none"}, "C012"),
        ({"timing": "none"}, "C013"),
        ({"timing": "clocks"}, "C010"),
        ({"detector": "none"}, "C014"),
        ({"detector": "Omega"}, "C014"),
        ({"given": "bell as Talk"}, "C016"),
        ({"given": "bell"}, "E030"),
        ({"crash_points": "outside"}, "C010"),
    ],
)
def test_what_can_not_be_set(settings: dict[str, str], code: str, tmp_path: Path) -> None:
    path = spec(tmp_path, BEGIN)
    with pytest.raises(SpecError) as refused:
        load_check(path, "c", settings)
    (found,) = {d.code: d for d in refused.value.diagnostics}.values()
    assert found.code == code
    options = {f"--set {name}={value}" for name, value in settings.items()}
    assert found.span is not None and found.span.file in {path, *options}
    assert found.code != "E030" or found.expected in WORDS.values()


def test_a_parameter_of_the_protocol_comes_before_the_world(tmp_path: Path) -> None:
    path = spec(tmp_path, BEGIN, own=True)
    with_one = load_check(path, "c", {"crash": "2"})
    assert with_one.overridden == () and with_one == load_check(path, "c", {})
    assert world_of({"crash": "1", "links": " a  b "}, {"crash"}) == {"links": "a b"}


def test_an_unknown_name_is_told_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        run_check(spec(tmp_path, BEGIN), "c", Options(settings={"lonks": "fifo"}))
    (found,) = refused.value.diagnostics
    assert found.code == "E003" and "links, crash" in found.hint


def test_reports_and_traces_know_their_world(tmp_path: Path) -> None:
    path = spec(tmp_path, BEGIN)
    report = run_check(path, "c", Options(settings={"crash": "2", "n": "2"}))
    assert report.parameters == {"n": 2, "f": 2, "crash": 2}
    trace = report.verdicts[0].trace
    assert trace is not None and dict(trace.header.settings)["crash"] == "2"
    assert replay_trace(trace) == trace
