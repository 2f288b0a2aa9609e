"""What `conform` proposes to write in a mapping where lines of one step make windows red."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.conform import propose_steps
from checker.conform.changed_values import changes
from checker.conform.conform_log import Asked, conform
from checker.conform.explain_events import Observation
from checker.conform.lines import Logged
from checker.conform.read_log import Log, read_log
from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.logs.mapping import NO_MAPPING, LogMapping
from checker.logs.read_mapping import read_mapping
from checker.model.ir import MarkKind
from checker.records import replace
from checker.results.conformance import Conformance
from checker.results.verdict import Word
from tests.conform.projection import Row, draw_run, rows_of, write
from tests.conform.test_local_systems import small
from tests.conform.test_step_groups import (
    ASKS,
    CLIENT,
    EVERY,
    KEPT,
    PUT,
    STORE,
    group_of,
    shuffled,
)
from tests.documents import only_report

END: Row = {"kind": "end"}
LOGGED = 'logged = ["receive PUT", "send", "handler"]\n'


def asked_of(folder: Path, rows: list[Row], mapping: str) -> tuple[Asked, list[str]]:
    text, file = folder / "spec.bcast", folder / "mapping.toml"
    text.write_text(STORE, encoding="utf-8")
    file.write_text(mapping, encoding="utf-8")
    paths = []
    for process, lines in {"c1": CLIENT, "s1": rows}.items():
        path = folder / f"{process}.ndjson"
        written = [{"process": process, "pos": n, **row} for n, row in enumerate(lines, 1)]
        path.write_text("".join(json.dumps(line) + "\n" for line in written), encoding="utf-8")
        paths.append(str(path))
    options = Options(engine="reference")
    return Asked(str(text), "one", options, read_mapping(str(file)), proposals=True), paths


def proposed(folder: Path, rows: list[Row], mapping: str = LOGGED) -> Conformance:
    asked, paths = asked_of(folder, rows, mapping)
    report = conform(asked, paths)
    without = conform(replace(asked, proposals=False), paths)
    changed = {"proposals": (), "seconds": 0.0}
    assert replace(report, **changed) == replace(without, **changed), "a proposal was applied"
    for each in report.proposals:
        (folder / "pasted.toml").write_text(f"{mapping}{each.toml}\n", encoding="utf-8")
        pasted = read_mapping(str(folder / "pasted.toml"))
        judged = conform(replace(asked, mapping=pasted, windows=True), paths)
        assert judged.windows is not None
        assert sum(one.red for one in judged.windows.handlers) == each.left, each.toml
        assert not each.conforms or judged.word is Word.HOLDS
    return report


def test_another_order_of_lines_is_proposed_with_its_price(tmp_path: Path) -> None:
    report = proposed(tmp_path, [{**KEPT}, {**PUT, "state": {"last": 1}}, {"kind": "end"}])
    assert report.word is Word.VIOLATED
    first = report.proposals[0]
    assert first.step == "receive PUT"
    assert first.toml.splitlines()[:3] == [
        "[steps.put]",
        'is = "receive PUT"',
        'lines = ["send KEPT", "receive PUT"]',
    ]
    assert 'order = "written"' in first.toml
    assert first.conforms
    assert 0 < first.rejected <= first.changes == 200


def test_the_state_on_another_line_is_proposed(tmp_path: Path) -> None:
    first: Row = {**PUT, "state": {"last": 1}}  # said before the line about sending
    rows: list[Row] = [first, {**ASKS, "state": {"asked": 1}}, {**KEPT, "state": {"last": 1}}]
    report = proposed(tmp_path, rows)
    assert [each.step for each in report.proposals]
    assert all(each.conforms for each in report.proposals)
    stale: list[Row] = [{**KEPT, "state": {"last": 0}}, {**PUT, "state": {"last": 1}}]
    assert proposed(tmp_path, stale).proposals
    stale = [{**PUT, "state": {"last": 1}}, {**KEPT, "state": {"last": 0}}, END]
    found = proposed(tmp_path, stale).proposals
    assert any('state = "first"' in each.toml for each in found)
    assert not any('state = "last"' in each.toml for each in found)
    assert all(0 < each.rejected < each.changes for each in found)  # one state is not read


def test_a_kind_without_lines_is_proposed_as_unlogged(tmp_path: Path) -> None:
    rows: list[Row] = [{**PUT, "state": {"last": 1}}, END]
    (found,) = proposed(tmp_path, rows).proposals
    assert found.toml == 'unlogged = ["send KEPT"]'
    assert found.conforms


def test_a_wrong_value_is_not_explained_away(tmp_path: Path) -> None:
    rows: list[Row] = [{**PUT, "state": {"last": 3}}, {**KEPT, "state": {"last": 3}}]
    assert not proposed(tmp_path, rows).proposals
    rows = [{**PUT}, {**KEPT, "fields": {"k": 3}}]
    assert not proposed(tmp_path, rows).proposals


def test_what_would_be_an_error_is_not_proposed(tmp_path: Path) -> None:
    """`looks` reads what the step writes, so its lines are not one step (E112)."""
    looks = {"kind": "handler", "name": "looks", "state": {"asked": 1}}
    rows: list[Row] = [{**PUT, "state": {"last": 1}}, looks, KEPT]
    assert not [p for p in proposed(tmp_path, rows).proposals if "steps" in p.toml]


def test_what_makes_another_window_red_is_not_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, paths = asked_of(tmp_path, [KEPT, {**PUT, "state": {"last": 1}}, END], LOGGED)
    assert conform(asked, paths).proposals
    first, judge = [True], propose_steps.judged

    def another_red(observation: Observation) -> object:
        found = judge(observation)
        if first.pop() if first else False:
            return found
        return replace(found, red={**found.red, ("another", 1): Logged(MarkKind.TIMEOUT, "t")})

    monkeypatch.setattr(propose_steps, "judged", another_red)
    assert not conform(asked, paths).proposals


def test_what_the_search_rejects_is_not_proposed(tmp_path: Path) -> None:
    """The messages that are received again were sent once, so no run has the log."""
    one: list[Row] = [{**KEPT}, {**PUT, "state": {"last": 1}}]
    asked, paths = asked_of(tmp_path, [*one, *one, END], LOGGED)
    assert not conform(asked, paths).proposals
    asked, paths = asked_of(tmp_path, [*one, END], LOGGED)
    assert conform(asked, paths).proposals


def test_red_windows_of_other_steps_are_left(tmp_path: Path) -> None:
    rows: list[Row] = [{**ASKS, "state": {"asked": 3}}, KEPT, {**PUT, "state": {"last": 1}}, END]
    found = proposed(tmp_path, rows).proposals
    assert found
    assert {each.left for each in found} == {1}
    assert not any(each.conforms for each in found)


def test_a_log_without_red_windows_has_no_proposal(tmp_path: Path) -> None:
    rows: list[Row] = [PUT, KEPT, PUT, KEPT]  # it was sent once
    report = proposed(tmp_path, rows)
    assert report.word is Word.VIOLATED
    assert not report.proposals


def test_in_the_terminal_and_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, paths = asked_of(tmp_path, [KEPT, {**PUT, "state": {"last": 1}}], LOGGED)
    out = tmp_path / "out.json"
    spec, mapping = str(tmp_path / "spec.bcast::one"), str(tmp_path / "mapping.toml")
    asked = ["conform", spec, *paths, "--mapping", mapping, "--json", str(out)]
    assert main(asked) == 1
    shown = capsys.readouterr().out
    assert "none is applied" in shown
    assert "[steps.put]" in shown
    assert max(map(len, shown.splitlines())) <= 100
    report = only_report(out.read_text(encoding="utf-8"))
    assert report["proposals"][0]["toml"].startswith("[steps.put]")
    assert main([*asked[:-2], "--json", "-", "--quiet"]) == 1
    capsys.readouterr()


def test_a_list_where_a_field_has_one_value_has_a_hint(tmp_path: Path) -> None:
    batch: Row = {**PUT, "fields": {"k": [1, 1]}}
    asked, paths = asked_of(tmp_path, [batch, KEPT], LOGGED)
    with pytest.raises(SpecError) as error:
        conform(asked, paths)
    (found,) = error.value.diagnostics
    assert found.code == "E074"
    assert '[steps.put] is = "receive PUT", repeat = "k"' in found.hint
    batch = {**PUT, "fields": {"k": ["x"]}}
    asked, paths = asked_of(tmp_path, [batch, KEPT], LOGGED)
    with pytest.raises(SpecError) as error:
        conform(asked, paths)
    assert not error.value.diagnostics[0].hint


# ---- changed values --------------------------------------------------------------------------


def test_a_changed_log_differs_in_one_value(tmp_path: Path) -> None:
    _, paths = asked_of(tmp_path, [PUT, {**KEPT, "state": {"last": 1}}], "")
    log = read_log(paths, NO_MAPPING)
    drawn = [change for change, _ in zip(changes(log, 7), range(50), strict=False)]
    again = [change for change, _ in zip(changes(log, 7), range(50), strict=False)]
    assert [c.rows for c in drawn] == [c.rows for c in again]
    for change in drawn:
        before = log.rows[change.process]
        different = [n for n, row in enumerate(before) if row != change.rows[n]]
        assert different == [change.index]
    assert len({(c.process, c.index, repr(c.rows[c.index].data)) for c in drawn}) > 3
    assert not list(changes(Log(()), 7))


# ---- random specs ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_a_proposal_explains_lines_in_another_order(seed: int, tmp_path: Path) -> None:
    """Right runs of random specs, with the lines of some steps in another order: each proposal that
    is pasted removes what it says, and some proposal does where the order inside steps is all that
    is wrong."""
    draw = random.Random(seed)
    system = small(seed, tmp_path).system
    group = group_of(system)
    if group is None:
        return
    _, run = draw_run(system, draw, 12)
    mixed: dict[str, list[Row]] = {name: [] for name in system.processes}
    for transition in run:
        rows = rows_of(system, transition, EVERY)
        if rows:
            one = rows[0].get("message") == "ONE"
            mixed[rows[0]["process"]] += shuffled(rows, draw) if one else rows
    paths, options = write(tmp_path, mixed), Options(engine="reference")
    mapping = LogMapping(logged=EVERY)
    asked = Asked(str(tmp_path / "small.bcast"), None, options, mapping, 2_000, True, True)
    report = conform(asked, paths)
    with_group = conform(replace(asked, mapping=replace(mapping, steps=(group,))), paths)
    assert report.windows is not None
    if report.windows.exit_code == 1 and with_group.word is Word.HOLDS:
        assert report.proposals
        assert any(each.conforms for each in report.proposals)
    for each in report.proposals:
        text = f"logged = {json.dumps(EVERY)}\n{each.toml}\n"
        (tmp_path / "pasted.toml").write_text(text, encoding="utf-8")
        pasted = conform(replace(asked, mapping=read_mapping(str(tmp_path / "pasted.toml"))), paths)
        assert pasted.windows is not None
        assert sum(one.red for one in pasted.windows.handlers) == each.left
        assert pasted.word is Word.HOLDS or not each.conforms
