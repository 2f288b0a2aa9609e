"""Trace documents that somebody has edited: each is shown, or refused with a diagnostic."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.cli.main import main
from checker.diagnostics import SpecError
from checker.formats.json_format import trace_from_text
from tests.render.every_view import draw

SPEC = """
interface Service { request ask(m: Msg)  indication answer(m: Msg) }
protocol Echo implements Service {
  state got : 0..2 = 0
  upon request ask(m) { send PING(m) to all }
  message PING(m: Msg)
  upon receive PING(m) from p { got := 1  answer(m) }
  property quiet "Nobody gets anything." : always forall p in Proc: p.got == 0
  property all_get "All do." : forall p in Proc: correct(p) ~> p.got == 1
}
check two of Echo { n = 2  faults crash <= 1  clients { p1 asks a }  prove quiet }
check all of Echo { n = 2  faults crash <= 1  clients { p1 asks a }  prove all_get }
"""
MISSING = object()
VALUES: tuple[Any, ...] = (
    MISSING, None, True, -1, 10**30, 1.5, "", "zz", "\x1b[31m\u202e", "9" * 5000, [], {}, [1],
    [[]], [None], ["p1"], {"a": 1}, {"#map": 3}, {"#set": [{"#set": []}]}, {"#bigint": "x"},
)  # fmt: skip
TRIED = 150
Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="module", params=["two", "all"])
def document(request: pytest.FixtureRequest, tmp_path_factory: Any) -> dict[str, Any]:
    spec = tmp_path_factory.mktemp("spec") / "echo.bcast"
    spec.write_text(SPEC)
    trace = spec.with_suffix(".json")
    assert main(["check", f"{spec}::{request.param}", "-q", "--trace-out", str(trace)]) == 1
    return dict(json.loads(trace.read_text()))


def paths(part: Any, to: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all parts of a document."""
    keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
    for key in keys:
        if to or key != "sources":
            yield (*to, key)
            yield from paths(part[key], (*to, key))


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    again = copy.deepcopy(document)
    part: Any = again
    for key in path[:-1]:
        part = part[key]
    if value is MISSING:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return again


def test_whatever_is_changed_is_shown_or_refused(document: dict[str, Any]) -> None:
    chance, ways = random.Random(1), list(paths(document))
    told = 0
    for _ in range(TRIED):
        path, value = chance.choice(ways), chance.choice(VALUES)
        try:
            trace = trace_from_text(json.dumps(changed(document, path, value)))
        except SpecError as problem:
            assert {found.code for found in problem.diagnostics} <= {"E005", "E006"}
            told += 1
        else:
            try:
                draw(trace)
            except Exception as problem:
                raise AssertionError((path, value)) from problem
    assert TRIED // 3 < told < TRIED


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("steps", 1, "kind"), "zz", "steps[1].kind: invalid enum value 'zz'"),
        (("steps", 1, "events", 0, "kind"), "zz", "steps[1].events[0].kind: invalid"),
        (("steps", 1, "events", 0, "kind"), "receive", "missing required field `message`"),
        (("fates", 0, "process"), "p9", "'p9' is not a process"),
        (("fates", 0, "faulty"), "zz", "fates[0].faulty: invalid enum value 'zz'"),
        (("explanation", "context"), [99], "there is no step 99"),
        (("explanation", "claims", 0, "truths"), [True], "1 truths in"),
        (("processes",), [], "no processes"),
        (("sentence",), MISSING, "missing required field `sentence`"),
        (("steps",), [], "steps: expected `array` of length >= 1"),
        (("loop",), 99, "no loop: 99"),
        (("steps", 0, "number"), 10**30, "is numbered"),
        (("steps", 0, "number"), 1.0, "steps[0].number: expected `int`, got `float`"),
        (("variables", 0, "kind"), 3, "variables[0].kind: expected `str`"),
    ],
)
def test_what_is_wrong_is_said(
    path: tuple[Any, ...], value: Any, says: str, document: dict[str, Any], tmp_path: Path,
    capsys: Out,
) -> None:  # fmt: skip
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(changed(document, path, value)))
    for command in (["view"], ["replay"], ["export", "--to", "csv"], ["explain"]):
        assert main([*command, str(file)]) == 2
        err = capsys.readouterr().err
        assert "error[E006]" in err
        assert says in err


@pytest.mark.parametrize("depth", [190, 500, 100_000])
@pytest.mark.parametrize("key", ["values", "state", "definition", "all"])
def test_a_document_that_nests_deeply(
    depth: int, key: str, document: dict[str, Any], tmp_path: Path, capsys: Out
) -> None:
    nest = "[" * depth + "]" * depth
    path = {"values": ("values",), "state": ("steps", 0, "state", "got")}.get(key, (key,))
    text = json.dumps(changed(document, path, "@")).replace('"@"', nest)
    if key == "values":
        text = text.replace(f'"values": {nest}', f'"values": [{{"name": "p", "value": {nest}}}]')
    file = tmp_path / "deep.json"
    file.write_text(nest if key == "all" else text)
    for command in (["view"], ["replay"], ["view", "--html", f"{file}.html"],
                    ["export", "--to", "itf"]):  # fmt: skip
        assert main([*command, str(file)]) in (0, 2), command
        err = capsys.readouterr().err
        assert "internal error" not in err


def test_signs_that_act_do_not_reach_the_terminal(
    document: dict[str, Any], tmp_path: Path, capsys: Out
) -> None:
    harm = "\x1b[2J\u202e\x9b"
    file = tmp_path / f"{harm}.json"
    edited = changed(document, ("sentence",), harm)
    file.write_text(json.dumps({**edited, "file": harm, "tool": harm, "definition": harm}))
    commands = (["view", "--steps"], ["replay"], ["view", "--svg", "-"], ["export", "--to", "json"])
    for command in (*commands, ["view", "--html", "-"], ["check"], ["frobnicate"]):
        main([*command, str(file)])
        out = capsys.readouterr()
        assert out.out or out.err
        assert not set(harm[:1] + harm[-2:]) & set(out.out + out.err), command
