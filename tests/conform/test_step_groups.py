"""Lines that are together one step: `[steps]` of a mapping."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.conform.conform_log import Asked, conform
from checker.conform.handler_bodies import handler_bodies
from checker.conform.lines import logged_of
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping, StepLines
from checker.logs.read_mapping import read_mapping
from checker.model.ir import MarkKind, TransitionSystem
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from tests.conform.projection import Row, draw_run, is_log_of_a_run, rows_of, write
from tests.conform.test_local_systems import changed_value, small

EVERY = ("request", "indicate", "send", "receive", "handler")

STORE = """
protocol Store {
  message PUT(k: 1..3)
  message KEPT(k: 0..3)
  message ASKED
  role client(1) {
    state sent : 0..3 = 0
    upon condition sent < 3 as puts { sent += 1  send PUT(sent) to server }
    upon receive KEPT(_) { skip }
  }
  role server(1) {
    state last : 0..3 = 0
    state asked : 0..3 = 0
    upon receive PUT(k) from c { last := k  send KEPT(k) to c }
    upon condition asked < 3 as asks { asked += 1 }
    upon condition asked < last as looks { asked := last }
  }
  property fine "" : always true
}
check one of Store { faults crash <= 1  allow unused  prove fine }
"""
PUT = {"kind": "receive", "message": "PUT", "from": "c1", "fields": {"k": 1}}
KEPT = {"kind": "send", "message": "KEPT", "receivers": ["c1"], "fields": {"k": 1}}
WAL = {"kind": "handler", "name": "wal"}
ASKS = {"kind": "handler", "name": "asks"}
LOOKS = {"kind": "handler", "name": "looks"}
STEPS = """
logged = ["receive", "send", "handler"]
[steps.puts]
is = "receive PUT"
lines = ["receive PUT", "handler wal", "send KEPT"]
"""
CLIENT: list[Row] = [
    {"kind": "handler", "name": "puts"},
    {"kind": "send", "message": "PUT", "receivers": ["s1"], "fields": {"k": 1}},
]


def judged(folder: Path, mapping: str, rows: list[Row], spec: str = STORE) -> Conformance:
    text, file = folder / "spec.bcast", folder / "mapping.toml"
    text.write_text(spec, encoding="utf-8")
    file.write_text(mapping, encoding="utf-8")
    logs = {"c1": CLIENT, "s1": rows}
    paths = []
    for process, lines in logs.items():
        path = folder / f"{process}.ndjson"
        written = [{"process": process, "pos": n, **row} for n, row in enumerate(lines, 1)]
        path.write_text("".join(json.dumps(line) + "\n" for line in written), encoding="utf-8")
        paths.append(str(path))
    asked = Asked(str(text), "one", Options(engine="reference"), read_mapping(str(file)))
    return conform(asked, paths)


def test_lines_in_another_order_are_one_step(tmp_path: Path) -> None:
    rows: list[Row] = [KEPT, WAL, {**PUT, "state": {"last": 1}}]
    assert judged(tmp_path, STEPS, rows).word is Word.HOLDS
    wrong: list[Row] = [KEPT, WAL, {**PUT, "state": {"last": 2}}]
    assert judged(tmp_path, STEPS, wrong).word is Word.VIOLATED
    without = 'logged = ["receive", "send", "handler"]\nignored = []\n'
    with pytest.raises(SpecError):  # the spec has no handler `wal`
        judged(tmp_path, without, rows)
    del rows[1]
    assert judged(tmp_path, without, rows).word is Word.VIOLATED


def test_the_order_can_be_required(tmp_path: Path) -> None:
    written = STEPS + 'order = "written"\n'
    right: list[Row] = [PUT, WAL, KEPT]
    assert judged(tmp_path, written, right).word is Word.HOLDS
    with pytest.raises(SpecError):  # `wal` is in no group, and no event of the spec
        judged(tmp_path, written, [WAL, PUT, KEPT])


def test_the_state_is_that_of_the_line_that_has_it(tmp_path: Path) -> None:
    rows: list[Row] = [{**PUT, "state": {"last": 2}}, {**WAL, "state": {"last": 1}}, KEPT]
    assert judged(tmp_path, STEPS + 'state = "handler wal"\n', rows).word is Word.HOLDS
    assert judged(tmp_path, STEPS + 'state = "first"\n', rows).word is Word.VIOLATED


def test_lines_of_other_steps_may_be_between_where_nobody_can_tell(tmp_path: Path) -> None:
    rows: list[Row] = [PUT, {**ASKS, "state": {"asked": 1}}, {**KEPT, "state": {"last": 1}}]
    assert judged(tmp_path, STEPS, rows).word is Word.HOLDS
    again: list[Row] = [PUT, ASKS, {**KEPT, "state": {"last": 1}}, ASKS]
    assert judged(tmp_path, STEPS, again).word is Word.HOLDS


@pytest.mark.parametrize(
    ("between", "said"),
    [
        (LOOKS, "reads or writes `last`"),
        ({**ASKS, "state": {"last": 0}}, "reads or writes `last`"),
        ({**PUT, "message": "KEPT", "kind": "send", "receivers": ["c1"]}, ""),
    ],
)
def test_what_is_seen_half_way_is_an_error(between: Row, said: str, tmp_path: Path) -> None:
    rows: list[Row] = [PUT, between, WAL, KEPT]
    if not said:  # a second KEPT ends the group, which is not complete
        assert judged(tmp_path, STEPS, [PUT, WAL, KEPT, KEPT]).word is Word.VIOLATED
        return
    with pytest.raises(SpecError) as error:
        judged(tmp_path, STEPS, rows)
    (found,) = error.value.diagnostics
    assert found.code == "E112"
    assert said in found.message
    assert found.span is not None
    assert found.span.line == 2


def test_an_answer_inside_is_an_error(tmp_path: Path) -> None:
    """What was sent early can't be sent late, once its answer is there."""
    spec = STORE.replace(
        "upon condition asked < 3", "upon receive ASKED { skip }\n    upon condition asked < 3"
    )
    spec = spec.replace(
        "upon receive KEPT(_) { skip }", "upon receive KEPT(_) { send ASKED to server }"
    )
    asked = {"kind": "receive", "message": "ASKED", "from": "c1"}
    with pytest.raises(SpecError, match="may be the answer"):
        judged(tmp_path, STEPS, [KEPT, asked, WAL, PUT], spec)


def test_a_crash_cuts_a_group(tmp_path: Path) -> None:
    crash = {"kind": "crash"}
    rows: list[Row] = [{**PUT, "state": {"last": 3}}, WAL, crash]
    assert judged(tmp_path, STEPS, rows).word is Word.HOLDS
    without: list[Row] = [{**PUT, "state": {"last": 3}}, WAL, {"kind": "end"}]
    assert judged(tmp_path, STEPS, without).word is Word.VIOLATED


def test_a_field_is_repeated(tmp_path: Path) -> None:
    mapping = STEPS.partition("[steps")[0] + '[steps.batch]\nis = "receive PUT"\nrepeat = "k"\n'
    spec = STORE.replace("  send KEPT(k) to c }", " }")
    batch = {**PUT, "fields": {"k": [1]}, "state": {"last": 1}}
    assert judged(tmp_path, mapping, [batch], spec).word is Word.HOLDS
    twice = {**PUT, "fields": {"k": [1, 1]}}  # it was sent once
    assert judged(tmp_path, mapping, [twice], spec).word is Word.VIOLATED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[steps.a]\nlines = ["receive PUT"]\n', "must say what it `is`"),
        ('[steps.a]\nis = "receive PUT"\n', "either `lines` or a field"),
        ('[steps.a]\nis = "receive PUT"\nlines = ["send KEPT"]\n', "must be one of the lines"),
        ('[steps.a]\nis = "receive PUT"\nlines = ["receive PUT"]\norder = "x"\n', "not an order"),
        ('[steps.a]\nis = "receive PUT"\nlines = ["receive PUT"]\nstate = "x"\n', "not a line"),
        ('[steps.a]\nis = "receive PUT"\nlines = ["receive PUT"]\nwho = "x"\n', "unknown key"),
        ('[steps.a]\nis = "receive X"\nlines = ["receive X"]\n', "no step `receive X`"),
        (
            '[steps.a]\nis = "receive PUT"\nlines = ["receive PUT", "handler looks"]\n',
            "never does `handler looks`",
        ),
    ],
)
def test_mistakes_are_told(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        judged(tmp_path, text, [PUT])
    assert {d.code for d in error.value.diagnostics} == {"E097"}
    assert any(said in d.message for d in error.value.diagnostics)
    assert all(
        d.span is not None and d.span.file.endswith("mapping.toml") for d in error.value.diagnostics
    )


# ---- against logs in which each step's lines are together and in order -----------------------


def group_of(system: TransitionSystem) -> StepLines | None:
    """The lines of the handler of ONE, if it has more than one."""
    first = logged_of("receive ONE")
    (body,) = (each for each in handler_bodies(system) if each.has(first))
    kinds = (MarkKind.SEND, MarkKind.INDICATION)
    lines = [f"{NAMES[k.kind]} {k.name}" for k in body.events if k.kind in kinds]
    return StepLines("one", "receive ONE", ("receive ONE", *lines)) if lines else None


NAMES = {MarkKind.SEND: "send", MarkKind.INDICATION: "indicate"}


def shuffled(rows: list[Row], draw: random.Random) -> list[Row]:
    """The lines of a step, those behind the first one in another order; the last one has the
    state."""
    state = rows[-1].get("state")
    first, *mixed = [{k: v for k, v in row.items() if k != "state"} for row in rows]
    draw.shuffle(mixed)
    mixed = [first, *mixed]
    return [*mixed[:-1], {**mixed[-1], **({} if state is None else {"state": state})}]


@pytest.mark.parametrize("seed", range(12))
def test_the_order_inside_of_steps_does_not_matter(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    system = small(seed, tmp_path).system
    group = group_of(system)
    if group is None:
        return
    _, run = draw_run(system, draw, 12)
    plain: dict[str, list[Row]] = {name: [] for name in system.processes}
    mixed: dict[str, list[Row]] = {name: [] for name in system.processes}
    for transition in run:
        rows = rows_of(system, transition, EVERY)
        if not rows:
            continue
        if draw.random() < 0.1:
            rows[-1] = changed_value(rows[-1], draw)
        process = rows[0]["process"]
        plain[process] += rows
        mixed[process] += shuffled(rows, draw) if rows[0].get("message") == "ONE" else rows
    mapping = LogMapping(logged=EVERY, steps=(group,))
    spec, options = str(tmp_path / "small.bcast"), Options(engine="reference")
    wanted = conform(Asked(spec, None, options, LogMapping(logged=EVERY)), write(tmp_path, plain))
    found = conform(Asked(spec, None, options, mapping), write(tmp_path, mixed))
    assert found.word is wanted.word
    real = is_log_of_a_run(system, plain, EVERY, 3_000)
    assert real is None or (found.word is Word.HOLDS) == real
