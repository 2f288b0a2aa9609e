"""The notebook of the documents runs, and what its cells end with shows itself."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from checker.api import audit, check, sweep
from checker.diagnostics import SpecError
from checker.results.frames import frame_of

ROOT = Path(__file__).resolve().parents[2]
EAGER = "broadcast/eager_reliable"


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Executes a cell as notebooks do; returns the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "docs" / "from_python.ipynb").read_text("utf-8"))
    assert notebook["nbformat"] == 4
    names: dict[str, Any] = {}
    shown = [
        run_cell("".join(cell["source"]), names)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    report, words, run, table, graph, grid, _, found, violations = shown
    assert "<pre" in report._repr_html_() and "<svg" in report._repr_html_()
    assert words["agreement"] == "holds" and words["uniform_agreement"] == "violated"
    assert "<svg" in run._repr_html_() and "uniform_agreement is violated" in run._repr_html_()
    assert {row["property"]: row["steps"] for row in table}["agreement"] is None
    assert graph._repr_html_().count("<g class") == len(graph.nodes)
    assert grid._repr_html_().count("<tr>") == 5
    assert names["sizes"].num_rows == 4
    assert "VIOLATED" in found._repr_html_()
    assert "no_duplication" in {each["property"] for each in violations}


def test_pictures_of_one_notebook_have_different_ids() -> None:
    first = check(EAGER, "crash_one")._repr_html_()
    second = check(EAGER, "crash_two")._repr_html_()
    ids = [{part.split('"')[0] for part in one.split(' id="')[1:]} for one in (first, second)]
    assert ids[0] and ids[1] and ids[0].isdisjoint(ids[1])


def test_a_table_has_the_verdicts_of_the_report() -> None:
    report = check(EAGER, "crash_one")
    rows = report.to_arrow().to_pylist()
    assert [row["property"] for row in rows] == [v.property for v in report.verdicts]
    for row, verdict in zip(rows, report.verdicts, strict=True):
        assert row["verdict"] == verdict.word.value
        assert row["steps"] == (None if verdict.trace is None else verdict.trace.length)
    assert list(report.to_pandas()["verdict"]) == [row["verdict"] for row in rows]


def test_a_sweep_is_a_table_with_a_row_for_each_cell() -> None:
    found = sweep(EAGER, "crash_one", grid={"n": [2, 3], "links": ["perfect", "fair_loss + fifo"]})
    rows = found.to_arrow().to_pylist()
    assert [(row["n"], row["links"]) for row in rows] == [
        (2, "perfect"), (2, "fair_loss + fifo"), (3, "perfect"), (3, "fair_loss + fifo"),
    ]  # fmt: skip
    alone = check(EAGER, "crash_one", settings={"n": 2})
    assert rows[0]["states"] == alone.distinct_states
    with pytest.raises(SpecError) as wrong:
        sweep(EAGER, "crash_one", grid={"colour": [1]})
    assert wrong.value.diagnostics[0].code


def test_what_a_log_says_is_escaped(tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"
    rows = [
        {"process": "p1", "pos": i, "kind": "deliver", "sender": "p2", "msg": "<b>"} for i in (1, 2)
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    html = audit([str(log)], "ReliableBroadcast")._repr_html_()
    assert "<b>" not in html.replace("<b>\n", "") and "VIOLATED" in html


def test_pandas_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SpecError) as wrong:
        frame_of(pa.table({"n": [1]}))
    (problem,) = wrong.value.diagnostics
    assert problem.code == "E128" and "to_arrow" in problem.hint
