"""A known run in another protocol, and without its faults."""

from __future__ import annotations

from pathlib import Path

from checker.results.replay import path_of
from checker.results.trace import Trace
from checker.session import pipeline
from checker.simulate.run_transfer import phrases_of, transfer_run
from checker.simulate.scenario import as_choices
from checker.words.steps import headline

SPECS = Path(__file__).resolve().parents[2] / "specs"


def broken(file: str, check: str, name: str) -> Trace:
    report = pipeline.run_check(str(SPECS / file), check, pipeline.Options())
    (trace,) = [v.trace for v in report.verdicts if v.property == name and v.trace is not None]
    return trace


def phrases(trace: Trace, *, faults: bool = True) -> tuple[str, ...]:
    opened = pipeline.open_again(trace)
    return phrases_of(as_choices(opened, path_of(opened.system, trace)), faults=faults)


def followed(file: str, check: str, words: tuple[str, ...]) -> Trace:
    return transfer_run(pipeline.open_check(str(SPECS / file), check, pipeline.Options()), words)


WITHOUT_RELAY = ("broadcast/eager_reliable_without_relay.bcast", "crash_one", "agreement")


def test_the_same_steps_in_the_right_protocol_and_on_to_an_end() -> None:
    words = phrases(broken(*WITHOUT_RELAY))
    run = followed("broadcast/eager_reliable.bcast", "crash_one", words)
    assert run.word == "run" and run.ends
    assert [s.kind for s in run.steps[1:4]] == ["request", "receive", "crash"]
    assert all(fate.crashed or fate.deliveries for fate in run.fates)


def test_the_same_run_without_its_crash() -> None:
    words = phrases(broken(*WITHOUT_RELAY), faults=False)
    run = followed(*WITHOUT_RELAY[:2], words)
    assert run.word == "run" and run.ends
    assert not any(fate.crashed for fate in run.fates)
    assert all(fate.deliveries for fate in run.fates)


def test_a_crash_inside_a_handler_becomes_the_whole_handler() -> None:
    trace = broken("exactly_once/winch.bcast", "log_then_lower", "arrives")
    words = phrases(trace, faults=False)
    assert not any("crash" in phrase for phrase in words)
    run = followed("exactly_once/winch.bcast", "log_then_lower", words)
    assert run.fates[0].deliveries == ("perform 1", "perform 2")


def test_the_same_steps_in_the_same_protocol_violate_the_same_property() -> None:
    trace = broken("total_order/sequencer_takeover.bcast", "crash_one", "total_order")
    run = followed("total_order/sequencer_takeover.bcast", "crash_one", phrases(trace))
    assert run.steps[: len(trace.steps)] == trace.steps


def test_what_can_not_happen_is_left_out() -> None:
    run = followed("broadcast/eager_reliable.bcast", "no_fault", ("p9 flies", "p1 broadcasts a"))
    assert headline(run.steps[1]) == "p1 is asked: broadcast(a)"
    assert run.ends
