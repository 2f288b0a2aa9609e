"""Logs of random runs of random specs are accepted, whatever they leave out; changed ones are where
a plain search over all runs finds one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.conform.conform_log import Asked, conform
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import LogMapping
from checker.results.answer import Limits
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from checker.session import pipeline
from checker.simulate.prepared_check import PreparedCheck
from tests.agreement.specs import random_spec
from tests.conform.projection import (
    Row,
    draw_run,
    is_log_of_a_run,
    logs_of,
    variables_of,
    write,
)

ALWAYS = ("crash", "recover")
SOMETIMES = ("request", "indicate", "send", "receive", "handler")
LIMIT, MOST = 1_500, 2_000
ENGINES = ("reference", "native")


class Case:
    """A random spec, a random run of it, and what of it is logged."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.draw = random.Random(seed)
        self.spec = folder / "random.bcast"
        self.opened = self.open(seed)
        system = self.opened.system
        chosen = [kind for kind in SOMETIMES if self.draw.random() < 0.6]
        self.kinds = (*ALWAYS, *chosen)
        _, run = draw_run(system, self.draw, self.draw.randrange(1, 9))
        self.logs = logs_of(system, run, self.kinds)
        self.folder = folder

    def open(self, seed: int) -> PreparedCheck:
        """The first spec from ``seed`` on that makes sense."""
        while True:
            self.spec.write_text(random_spec(seed), encoding="utf-8")
            try:
                return pipeline.open_check(str(self.spec), None, Options())
            except SpecError:
                seed += 10_000

    def ask(self, logs: dict[str, list[Row]], engine: str) -> Conformance:
        mapping = LogMapping(logged=tuple(self.kinds))
        asked = Asked(str(self.spec), None, Options(engine=engine, limits=Limits(MOST)), mapping)
        return conform(asked, write(self.folder, logs))

    def lines(self) -> Iterator[Row]:
        return (row for rows in self.logs.values() for row in rows)


def forget(row: Row, draw: random.Random) -> Row:
    """A line with some of its fields."""
    kept = {
        name: value for name, value in row.items() if name in ("process", "kind", "message", "name")
    }
    for name in ("from", "to", "arguments"):
        if name in row and draw.random() < 0.5:
            kept[name] = row[name]
    for name in ("fields", "state"):
        if name in row and draw.random() < 0.7:
            kept[name] = {k: v for k, v in row[name].items() if draw.random() < 0.5}
    return kept


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(8))
def test_what_a_run_has_logged_is_accepted_whatever_is_left_out(
    seed: int, engine: str, tmp_path: Path
) -> None:
    case = Case(seed, tmp_path)
    if not any(case.logs.values()):
        assert case.ask(case.logs, engine).word is Word.VACUOUS
        return
    whole = case.ask(case.logs, engine)
    assert whole.word is Word.HOLDS, whole.obstacles
    assert whole.trace is not None
    less = {p: [forget(row, case.draw) for row in rows] for p, rows in case.logs.items()}
    assert case.ask(less, engine).word in (Word.HOLDS, Word.UNKNOWN)
    gone = {p: [r if case.draw.random() < 0.6 else None for r in rows] for p, rows in less.items()}
    some = {p: [*rows, {"process": p, "kind": "gap"}] for p, rows in gone.items()}
    assert case.ask(some, engine).word is not Word.VIOLATED
    alone = {p: rows for p, rows in less.items() if p != case.draw.choice(list(less))}
    assert case.ask(alone, engine).word is not Word.VIOLATED


def change(row: Row, other: Row, draw: random.Random) -> Row:
    """A line that says something else: what another line says, or another value."""
    changed = dict(row)
    name = draw.choice(
        [n for n in ("fields", "from", "state", "arguments", "message") if n in row] or ["kind"]
    )
    if name in other:
        changed[name] = other[name]
    if name == "state":
        part = draw.choice(list(row[name]) or [""])
        if isinstance(row[name].get(part), bool):
            changed[name] = {**row[name], part: not row[name][part]}
    return changed


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(1000, 1012))
def test_changed_logs_are_accepted_where_a_search_over_all_runs_finds_one(
    seed: int, engine: str, tmp_path: Path
) -> None:
    case = Case(seed, tmp_path)
    lines = list(case.lines())
    if len(lines) < 2:
        return
    logs = {p: list(rows) for p, rows in case.logs.items()}
    process = case.draw.choice([p for p, rows in logs.items() if rows])
    at = case.draw.randrange(len(logs[process]))
    kind = case.draw.randrange(4)
    if kind == 0:
        del logs[process][at]
    elif kind == 1 and at:
        logs[process][at - 1 : at + 1] = reversed(logs[process][at - 1 : at + 1])
    else:
        logs[process][at] = change(logs[process][at], case.draw.choice(lines), case.draw)
    system = case.opened.system
    wanted = is_log_of_a_run(system, logs, case.kinds, LIMIT)
    if wanted is None or not any(logs.values()):
        return
    try:
        found = case.ask(logs, engine).word
    except SpecError as error:  # a value of another message is none of this one
        assert {d.code for d in error.diagnostics} == {"E074"}
        assert not wanted
        return
    assert found in (Word.HOLDS if wanted else Word.VIOLATED, Word.UNKNOWN)


def test_the_plain_search_sees_variables(tmp_path: Path) -> None:
    case = Case(3, tmp_path)
    system = case.opened.system
    from checker.model import interpreter

    assert variables_of(system, interpreter.initial_states(system)[0], "p1")
